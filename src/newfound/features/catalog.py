"""Extractors by name, and from what a model remembers of them."""

import re
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from newfound.common.errors import InputError
from newfound.features.caffe import caffenet
from newfound.features.efficientnet import EfficientNetLite0
from newfound.features.extractor import Extractor
from newfound.features.identity import Identity
from newfound.features.onnx import OnnxExtractor
from newfound.features.pixels import Pixels

DEFAULT = "efficientnet-lite0"
_YES_OR_NO = {"yes": True, "no": False}


def extractor_from_name(text: str, root: bool | None = None) -> Extractor:
    """Return the extractor that a text such as "pixels:size=8" names.

    Parameters
    ----------
    text : str
        "efficientnet-lite0", "pixels", "caffenet" or the path of an ONNX file, then, if wished, a
        colon and options of the extractor such as `size=227,channels=bgr,mean=104/117/123` or
        `root=yes`.
    root : bool, optional
        Whether vectors are roots (`take_root`) where the text does not say. By default
        what the extractor does by default.

    Returns
    -------
    Extractor

    Examples
    --------
    >>> extractor_from_name("pixels:size=8,range=-1/1").identity.preprocessing["range"]
    [-1.0, 1.0]
    >>> extractor_from_name("pixies")
    Traceback (most recent call last):
    newfound.InputError: no extractor 'pixies': there are efficientnet-lite0, pixels, ...
    """
    makers: dict[str, Any] = {DEFAULT: EfficientNetLite0, "pixels": Pixels, "caffenet": caffenet}
    name, _, option_text = text.partition(":")
    make = makers.get(name)
    if make is None:  # a path, which may hold a colon, too
        file = re.fullmatch(r"(.*\.onnx)(?::(.*))?", text, re.DOTALL)
        if file is None:
            there = ", ".join(makers)
            raise InputError(f"no extractor {name!r}: there are {there} and ONNX files")
        name, option_text = file.groups("")
        make = partial(OnnxExtractor, name)
    options = _options(name, option_text, list(signature(make).parameters))
    if root is not None:
        options.setdefault("root", root)
    if name == "caffenet" and "path" not in options:
        raise InputError("caffenet needs its file: caffenet:path=caffenet-12.onnx")
    extractor: Extractor = make(**options)
    return extractor


def _options(name: str, text: str, allowed: list[str]) -> dict[str, Any]:
    """Return what a text such as "size=8,crop=0.5" says about an extractor."""
    options: dict[str, Any] = {}
    for pair in filter(None, text.split(",")):
        option, sign, value = pair.partition("=")
        if not sign or option in options:
            raise InputError(
                f"cannot read {pair!r} in {f'{name}:{text}'!r}: options are name=value, once each"
            )
        if option not in allowed:
            raise InputError(f"{name} has no option {option!r}; it has {', '.join(allowed)}")
        options[option] = _value(option, value)
    return options


def extractor_from_identity(identity: Identity, network: str | None = None) -> Extractor:
    """Return the extractor that an identity is of, or raise ValueError if it cannot be had.

    Parameters
    ----------
    identity : Identity
    network : path, optional
        Where the ONNX file is, for extractors that were made from one.

    Returns
    -------
    Extractor

    Examples
    --------
    >>> pixels = Pixels(size=8)
    >>> extractor_from_identity(pixels.identity).identity == pixels.identity
    True
    """
    try:
        extractor = _remade(identity, network)
    except (TypeError, KeyError) as error:  # options that such an extractor does not have
        raise InputError(f"no extractor is {identity} ({error})") from error
    if extractor.identity != identity:
        raise InputError(
            f"vectors of {identity} are needed, but this makes those of {extractor.identity}"
        )
    return extractor


def _remade(identity: Identity, network: str | None) -> Extractor:
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in identity.preprocessing.items()
        if name != "layout"
    }
    if identity.name == "pixels":
        return Pixels(**options)
    if identity.name == DEFAULT:
        output: Any = identity.output
        return EfficientNetLite0(output, crop=options["crop"], root=identity.root)
    if network is None or not Path(network).is_file():
        raise InputError(
            f"this model was taught vectors of {identity}: say where that network's file is, "
            "with --extractor FILE.onnx"
        )
    if identity.name == "caffenet":
        layer: Any = identity.output.partition("_")[0]
        return caffenet(network, layer, root=identity.root)
    return OnnxExtractor(network, identity.output, **options)


def _value(option: str, text: str) -> Any:
    """Return what a text says: words for some options, yes or no for one, numbers for others."""
    if option in ("output", "channels", "path", "layer", "provider"):
        return text
    if option == "root":
        if text.lower() not in _YES_OR_NO:
            raise InputError(f"root must be yes or no, got {text!r}")
        return _YES_OR_NO[text.lower()]
    if text.lower() == "none":
        return None
    try:
        numbers = tuple(map(int if option == "size" else float, text.split("/")))
    except ValueError:
        raise InputError(
            f"{option} must be numbers, such as 224 or 104/117/123, got {text!r}"
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers
