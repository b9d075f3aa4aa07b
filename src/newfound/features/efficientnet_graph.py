"""EfficientNet-Lite0 as an ONNX graph, made from its weights."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.extras import imported_from

with imported_from("vision"):
    from onnx import TensorProto, checker, helper, numpy_helper

SIZE = 224
# Repeats, stride, expansion, as in Table 1 of the paper (Tan and Le, 2019); kernels and channels
# are those of the weights. Lite variants leave squeeze and excitation out.
_STAGES = ((1, 1, 1), (2, 2, 6), (2, 2, 6), (3, 2, 6), (3, 1, 6), (4, 2, 6), (1, 1, 6))
_BATCH_NORM_EPSILON = 1e-3
_IR_VERSION, _OPSET = 8, 13

Weights = Mapping[str, NDArray[Any]]


class _Graph:
    """An ONNX graph being written, one layer after the other."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output

    def convolution(
        self, x: str, conv: str, norm: str, *, stride: int = 1, active: bool = True
    ) -> str:
        """Convolve, with the batch normalisation folded into kernel and bias; then ReLU6."""
        kernel = self.weights[f"{conv}.weight"].astype(np.float64)
        scale, shift, mean, variance = (
            self.weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = scale / np.sqrt(variance + _BATCH_NORM_EPSILON)
        folded = (kernel * scale[:, None, None, None]).astype(np.float32)
        bias = (shift - mean * scale).astype(np.float32)
        size = kernel.shape[2]
        x = self.node(
            "Conv",
            [x, self.constant(f"{conv}.kernel", folded), self.constant(f"{conv}.bias", bias)],
            conv,
            group=len(kernel) if "_depthwise" in conv else 1,
            kernel_shape=[size, size],
            auto_pad="SAME_UPPER",  # as TensorFlow: an odd row or column goes below or to the right
            strides=[stride, stride],
        )
        return self.node("Clip", [x, "zero", "six"], f"{conv}.relu6") if active else x

    def block(self, x: str, index: int, stride: int, expand: bool, skip: bool) -> str:
        name, before = f"_blocks.{index}", x
        if expand:
            x = self.convolution(x, f"{name}._expand_conv", f"{name}._bn0")
        x = self.convolution(x, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride)
        x = self.convolution(x, f"{name}._project_conv", f"{name}._bn2", active=False)
        return self.node("Add", [x, before], f"{name}.sum") if skip else x


def efficientnet_lite0(weights: Weights) -> bytes:
    """Return the network as a serialised ONNX model.

    Input `images`, shape (m, 3, 224, 224); outputs `features`, shape (m, 1280), the global mean of
    the last layer, and `logits`, shape (m, 1000), of the classes of ImageNet.

    Parameters
    ----------
    weights : mapping of str to ndarray
        The state dict of the PyTorch port, by its own names.
    """
    graph = _Graph(weights)
    for name, value in (("zero", 0.0), ("six", 6.0)):
        graph.constant(name, np.array(value, dtype=np.float32))
    x, index = graph.convolution("images", "_conv_stem", "_bn0", stride=2), count()
    for repeats, first_stride, expansion in _STAGES:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            x = graph.block(x, next(index), stride, expansion > 1, repeat > 0)
    x = graph.convolution(x, "_conv_head", "_bn1")
    graph.node("Flatten", [graph.node("GlobalAveragePool", [x], "pool")], "features", axis=1)
    fc = [graph.constant(f"_fc.{part}", weights[f"_fc.{part}"]) for part in ("weight", "bias")]
    graph.node("Gemm", ["features", *fc], "logits", transB=1)
    images, features, logits = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["m", *shape])
        for name, shape in (("images", [3, SIZE, SIZE]), ("features", [1280]), ("logits", [1000]))
    )
    network = helper.make_graph(
        graph.nodes, "EfficientNet-Lite0", [images], [features, logits], graph.constants
    )
    model = helper.make_model(
        network,
        producer_name="newfound",
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET)],
    )
    checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data
