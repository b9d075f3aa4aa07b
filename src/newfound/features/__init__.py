"""From an image to a vector: checked images, networks, and what their vectors are known by."""

from newfound.features.caffenet import caffenet as caffenet
from newfound.features.efficientnet import EfficientNetLite0 as EfficientNetLite0
from newfound.features.extractor import Extracted as Extracted
from newfound.features.extractor import Extractor as Extractor
from newfound.features.images import UnreadableImageError as UnreadableImageError
from newfound.features.onnx_network import OnnxExtractor as OnnxExtractor
from newfound.features.pixels import Pixels as Pixels
from newfound.vectors import Identity as Identity
from newfound.vectors import Vectors as Vectors

__all__ = [
    "EfficientNetLite0",
    "Extracted",
    "Extractor",
    "Identity",
    "OnnxExtractor",
    "Pixels",
    "UnreadableImageError",
    "Vectors",
    "caffenet",
]
