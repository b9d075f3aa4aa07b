"""Any ONNX image network, and any of its tensors, as an extractor."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.common.extras import imported_from
from newfound.features.extractor import Extractor
from newfound.features.identity import Identity
from newfound.features.preprocessing import Levels, Preprocessing, Size
from newfound.features.providers import asked_for, tell_of_fallback
from newfound.features.root import root_in_identity, take_root


class OnnxExtractor(Extractor):
    """Features from a network in an ONNX file.

    Parameters
    ----------
    path : path or bytes
        The file, or what is in it.
    output : str, optional
        Name of the tensor that is the features; it need not be an output of the network. One of
        more than two dimensions is made flat. By default the first output.
    size : int or (height, width), optional
        Size of the images the network takes. By default what the file says.
    mean, scale : float or one for each channel, red first
        The network is given (pixel - mean) / scale, with pixels from 0 to 255.
    channels : "rgb", "bgr" or "grey", default="rgb"
    crop : float, optional
        Side of a centred square to be used, as a part of the shorter side of the image. None, the
        default, squeezes the whole image into `size`.
    root : bool, default=False
        Take signed square roots of the features, and scale rows to unit length (`take_root`).
    provider : str, default="cpu"
        What onnxruntime computes with: "cuda", "tensorrt", "coreml" and so on, as its execution
        providers are called. Vectors are the same but for rounding, and so is their identity. Where
        it cannot be had, the processor is used, and a warning says so.

    Examples
    --------
    >>> OnnxExtractor("no such file.onnx")
    Traceback (most recent call last):
    FileNotFoundError: no network at no such file.onnx
    """

    # tensor: name of what it gives. takes_root: whether that becomes roots.

    batch_size = 16

    def __init__(
        self,
        path: str | os.PathLike[str] | bytes,
        output: str | None = None,
        *,
        size: Size | None = None,
        mean: Levels = 0.0,
        scale: Levels = 1.0,
        channels: Literal["rgb", "bgr", "grey"] = "rgb",
        crop: float | None = None,
        root: bool = False,
        provider: str = "cpu",
    ) -> None:
        said_of_root = root_in_identity(root)
        self.path, self.output, self.size, self.mean, self.scale = path, output, size, mean, scale
        self.channels, self.crop, self.root, self.provider = channels, crop, root, provider
        self.takes_root = root
        data = path if isinstance(path, bytes) else _read(path)
        with _naming(path):
            self.session, self.tensor = _session_with(data, output, provider)
            tell_of_fallback(self.session, provider, runtime(), stacklevel=2)
            self.input, layout, fixed, self.batch_limit = _input_of(self.session, channels)
            sides = fixed if size is None else size
            if sides is None:
                raise InputError("this network takes images of any size: say which with size=")
            self.prepare = Preprocessing(sides, mean, scale, channels, crop, layout)
            if fixed is not None and fixed != (asked := self.prepare.height_width):
                raise InputError(f"this network takes images of {fixed}, not of {asked}")
            self.batch_size = self.batch_limit or self.batch_size
            try:
                self.width = self.run(np.zeros((1, *self.prepare.shape), dtype=np.float32)).shape[1]
            except ValueError:
                raise
            except Exception as error:  # whatever onnxruntime makes of it
                raise InputError(f"this network does not take such images: {error}") from error
        preprocessing = {**self.prepare.to_json(), **said_of_root}
        weights = hashlib.sha256(data).hexdigest()
        self.identity = Identity("onnx", weights, self.tensor, preprocessing)

    def network(self) -> bytes:
        """Return the file that it was made from, as it was then, or raise ValueError."""
        if isinstance(self.path, bytes):
            return self.path
        data = _read(self.path)
        if hashlib.sha256(data).hexdigest() != self.identity.weights:
            raise InputError(f"{os.fspath(self.path)} has changed since it was read")
        return data

    def __getstate__(self) -> dict[str, Any]:
        # Who has a pickle need not have the file.
        path = self.path if isinstance(self.path, bytes) else self.network()
        return {**self.__dict__, "path": path, "session": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.session, _ = _session_with(self.network(), self.tensor, self.provider)

    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return features, shape (m, width), of what `prepare` made of m images."""
        m = len(batch)
        if self.batch_limit and m < self.batch_limit:  # networks of a fixed number of images
            missing = np.zeros((self.batch_limit - m, *batch.shape[1:]), dtype=np.float32)
            batch = np.concatenate([batch, missing])
        (features,) = self.session.run([self.tensor], {self.input: batch})
        if np.ndim(features) < 2 or len(features) != len(batch):
            raise InputError(
                f"{self.tensor} has shape {np.shape(features)} for {len(batch)} images: it is not "
                "one row each"
            )
        rows: NDArray[np.float32] = np.asarray(features, dtype=np.float32)[:m].reshape(m, -1)
        return take_root(rows) if self.takes_root else rows


@contextmanager
def _naming(path: str | os.PathLike[str] | bytes) -> Iterator[None]:
    """Let what is wrong with a network be said with the name of its file, if it has one."""
    try:
        yield
    except ValueError as error:
        if isinstance(path, bytes):
            raise
        raise InputError(f"{os.fspath(path)}: {error}") from error


def _read(path: str | os.PathLike[str]) -> bytes:
    if not Path(path).is_file():
        raise FileNotFoundError(f"no network at {os.fspath(path)}")
    return Path(path).read_bytes()


def _session_with(data: bytes, output: str | None, provider: str) -> tuple[Any, str]:
    """Return a session for the network, and the name of an output that it has."""
    session = _session(data, provider)
    outputs = [tensor.name for tensor in session.get_outputs()]
    if output is None or output in outputs:
        return session, output or outputs[0]
    with imported_from("vision"):
        import onnx
    model = onnx.load_from_string(data)
    inner = [name for node in model.graph.node for name in node.output if name]
    if output not in inner:
        near = get_close_matches(output, [*outputs, *inner], n=5, cutoff=0.3) or outputs
        raise InputError(f"no tensor {output!r} in this network; it has {', '.join(near)}, …")
    kind = onnx.TensorProto.FLOAT
    model.graph.output.append(onnx.helper.make_tensor_value_info(output, kind, None))
    return _session(model.SerializeToString(), provider), output


def runtime() -> Any:
    """Return onnxruntime, which keeps no record of its use unless the user wants that.

    Left to itself, it writes an id of the device and events to be sent into the user's home. It
    reads this setting while it is imported, and never again.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    with imported_from("vision"):
        import onnxruntime
    return onnxruntime


def _session(data: bytes, provider: str) -> Any:
    onnxruntime = runtime()
    providers = asked_for(provider, onnxruntime)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # images are spread over cores, not parts of one
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(data, options, providers=providers)
    except Exception as error:
        raise InputError(f"not a network that onnxruntime can run: {error}") from error


def _input_of(
    session: Any, channels: str
) -> tuple[str, Literal["chw", "hwc"], tuple[int, int] | None, int | None]:
    """Return name, layout, size if fixed, and number of images if fixed, of the only input."""
    inputs = session.get_inputs()
    shape = inputs[0].shape
    if len(inputs) != 1 or len(shape) != 4 or inputs[0].type != "tensor(float)":
        listed = ", ".join(f"{tensor.name}: {tensor.type} {tensor.shape}" for tensor in inputs)
        raise InputError(f"an image network has one float input of four dimensions; here {listed}")
    depth = 1 if channels == "grey" else 3
    if shape[1] == depth or (isinstance(shape[1], str) and shape[3] != depth):
        layout: Literal["chw", "hwc"] = "chw"
        height, width = shape[2:]
    elif shape[3] == depth:
        layout, (height, width) = "hwc", shape[1:3]
    else:
        raise InputError(f"the network's input is {shape}, which has no {depth} channels")
    fixed = (height, width) if isinstance(height, int) and isinstance(width, int) else None
    return inputs[0].name, layout, fixed, shape[0] if isinstance(shape[0], int) else None
