"""From an image to a vector: checked images, networks, and what their vectors are known by."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newfound.features.caffe import caffenet as caffenet
    from newfound.features.efficientnet import EfficientNetLite0 as EfficientNetLite0
    from newfound.features.extractor import Extracted as Extracted
    from newfound.features.extractor import Extractor as Extractor
    from newfound.features.identity import Identity as Identity
    from newfound.features.onnx import OnnxExtractor as OnnxExtractor
    from newfound.features.pixels import Pixels as Pixels
    from newfound.features.root import take_root as take_root

# Imported on first use: identities and roots need nothing, the rest the extra `vision`.
_HOME = {
    "EfficientNetLite0": "efficientnet",
    "Extracted": "extractor",
    "Extractor": "extractor",
    "Identity": "identity",
    "OnnxExtractor": "onnx",
    "Pixels": "pixels",
    "caffenet": "caffe",
    "take_root": "root",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
