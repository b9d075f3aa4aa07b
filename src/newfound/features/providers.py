"""What onnxruntime computes with: the processor, or a device by one of its execution providers."""

import warnings
from typing import Any

from newfound.common.errors import InputError

CPU = "CPUExecutionProvider"
# What each is asked for, beside its name. Of 32 bits all count: vectors of one network are compared
# with each other, wherever they were made.
_OPTIONS: dict[str, dict[str, str]] = {"CUDAExecutionProvider": {"use_tf32": "0"}}


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
    known = {
        each.removesuffix("ExecutionProvider").lower(): each
        for each in onnxruntime.get_all_providers()
    }
    if not isinstance(name, str) or name.lower() not in known:
        raise InputError(f"no provider {name!r}: onnxruntime knows {', '.join(sorted(known))}")
    found: str = known[name.lower()]
    return found


def session_on(data: bytes, options: Any, name: str, onnxruntime: Any) -> Any:
    """Return a session for a network, on a provider if it can be had, else on the processor.

    Parameters
    ----------
    data : bytes
        An ONNX file.
    options : onnxruntime.SessionOptions
    name : str
        "cpu", "cuda" or another of onnxruntime's providers, in small letters.
    onnxruntime : module

    Returns
    -------
    onnxruntime.InferenceSession

    Warns
    -----
    UserWarning
        In one sentence, if the processor has to do.
    """
    provider = provider_named(name, onnxruntime)
    if provider in onnxruntime.get_available_providers():
        chosen = [(provider, _OPTIONS.get(provider, {}))] + [(CPU, {})] * (provider != CPU)
        session = onnxruntime.InferenceSession(data, options, providers=chosen)
    else:
        session = onnxruntime.InferenceSession(data, options, providers=[CPU])
    if session.get_providers()[0] != provider:  # it falls back by itself where a library is missing
        warnings.warn(
            f"onnxruntime cannot use {name!r} here, so images are looked at on the processor; "
            f"{_advice(name)}",
            UserWarning,
            stacklevel=5,
        )
    return session


def _advice(name: str) -> str:
    if name.lower() in ("cuda", "tensorrt"):
        return "pip install onnxruntime-gpu in place of onnxruntime, and NVIDIA's driver, bring it"
    return "another build of onnxruntime may bring it"
