"""The features of the ICRA 2017 paper: CaffeNet, from the file of the ONNX model zoo."""

import os
from dataclasses import replace
from typing import Literal

from newfound.common.errors import InputError
from newfound.features.onnx import OnnxExtractor

# Layer to tensor, after ReLU: fc6 is what the paper uses for RGB-D, fc7 for others.
_TENSORS = {"fc6": "fc6_2", "fc7": "fc7_2"}
# Mean pixel of ImageNet in Caffe's own examples, red first.
_MEAN = (123.68, 116.779, 103.939)


def caffenet(
    path: str | os.PathLike[str] | bytes,
    layer: Literal["fc6", "fc7"] = "fc7",
    *,
    root: bool = False,
    provider: str = "cpu",
) -> OnnxExtractor:
    """Return the extractor of the paper, given `caffenet-12.onnx` or one of its kin.

    docs/features.md says where the file is to be had. The whole image is squeezed into 224 x 224,
    blue comes first, and the mean pixel is taken off.

    Parameters
    ----------
    path : path or bytes
    layer : "fc6" or "fc7", default="fc7"
        4096 features each, after ReLU.
    root : bool, default=False
        Take signed square roots, and scale rows to unit length (`take_root`); the paper does not.
    provider : str, default="cpu"
        What to compute with, as in `OnnxExtractor`.

    Returns
    -------
    OnnxExtractor

    Examples
    --------
    >>> caffenet("caffenet-12.onnx", layer="fc8")
    Traceback (most recent call last):
    newfound.InputError: layer must be 'fc6' or 'fc7', got 'fc8'
    """
    if layer not in _TENSORS:
        raise InputError(f"layer must be 'fc6' or 'fc7', got {layer!r}")
    try:
        network = OnnxExtractor(
            path,
            _TENSORS[layer],
            size=224,
            mean=_MEAN,
            channels="bgr",
            root=root,
            provider=provider,
        )
    except ValueError as error:
        raise InputError(f"not the CaffeNet of the ONNX model zoo: {error}") from error
    if network.input != "data_0":
        name = "" if isinstance(path, bytes) else f"{os.fspath(path)}: "
        raise InputError(
            f"{name}not the CaffeNet of the ONNX model zoo: its input is {network.input!r}, "
            "not 'data_0'"
        )
    network.identity = replace(network.identity, name="caffenet")
    return network
