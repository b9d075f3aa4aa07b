"""What onnxruntime computes with: the processor, or a device by one of its execution providers."""

import warnings
from typing import Any

from newfound.common.errors import InputError

CPU = "CPUExecutionProvider"
# What each is asked for, beside its name. All bits of float32 count: vectors of one network are
# compared with each other, wherever they were made.
_OPTIONS: dict[str, dict[str, str]] = {"CUDAExecutionProvider": {"use_tf32": "0"}}
_NVIDIA = "pip install onnxruntime-gpu in place of onnxruntime, and NVIDIA's driver, bring it"


def provider_named(name: str, onnxruntime: Any) -> str:
    """Return the execution provider that goes by a short name, "cuda" say, or raise InputError.

    Examples
    --------
    >>> import onnxruntime
    >>> provider_named("cuda", onnxruntime)
    'CUDAExecutionProvider'
    >>> provider_named("abacus", onnxruntime)
    Traceback (most recent call last):
    newfound.InputError: no provider 'abacus': onnxruntime knows ..., cpu, ...
    """
    providers = {
        provider.removesuffix("ExecutionProvider").lower(): provider
        for provider in onnxruntime.get_all_providers()
    }
    if not isinstance(name, str) or name.lower() not in providers:
        raise InputError(f"no provider {name!r}: onnxruntime knows {', '.join(sorted(providers))}")
    return str(providers[name.lower()])


def asked_for(name: str, onnxruntime: Any) -> list[tuple[str, dict[str, str]]]:
    """Return what to ask onnxruntime for: a provider if it has it, and the processor."""
    provider, processor = provider_named(name, onnxruntime), (CPU, dict[str, str]())
    if provider == CPU or provider not in onnxruntime.get_available_providers():
        return [processor]
    return [(provider, _OPTIONS.get(provider, {})), processor]


def tell_of_fallback(session: Any, name: str, onnxruntime: Any, stacklevel: int) -> None:
    """Warn, in one sentence, if a session runs on the processor though more was asked for.

    onnxruntime falls back by itself, too: where a library of the provider's is missing.
    """
    if session.get_providers()[0] != provider_named(name, onnxruntime):
        nvidia = name.lower() in ("cuda", "tensorrt")
        warnings.warn(
            f"onnxruntime cannot use {name!r} here, so images are looked at on the processor; "
            f"{_NVIDIA if nvidia else 'another build of it may'}",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
