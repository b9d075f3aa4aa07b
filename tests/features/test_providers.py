"""Networks run on a device if onnxruntime can, and on the processor, with a word, if it cannot."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from newfound.common.errors import InputError
from newfound.features import OnnxExtractor
from newfound.features.catalog import extractor_from_name
from newfound.features.onnx import runtime
from newfound.features.providers import asked_for, tell_of_fallback
from tests.features.test_extractors import GREEN, small_network

NETWORK = small_network(["m", 3, 8, 8])


class Runtime:
    """An onnxruntime with a GPU that works, or that has lost a library."""

    def __init__(self, runs_on: str) -> None:
        self.runs_on = runs_on

    def get_all_providers(self) -> list[str]:
        return ["CUDAExecutionProvider", "CPUExecutionProvider"]

    get_available_providers = get_all_providers

    def get_providers(self) -> list[str]:  # those of a session
        return [self.runs_on, "CPUExecutionProvider"]


@pytest.mark.skipif(
    "CUDAExecutionProvider" in runtime().get_available_providers(), reason="there is a GPU"
)
@pytest.mark.parametrize("output", [None, "inner"])
def test_without_a_gpu_one_sentence_says_that_the_processor_has_to_do(output: Any) -> None:
    with pytest.warns(UserWarning, match="cannot use 'cuda' here, so images are") as said:
        network = OnnxExtractor(NETWORK, output, provider="cuda")
    assert len(said) == 1
    assert "onnxruntime-gpu" in str(said[0].message)
    network.smallest = 1
    plain = OnnxExtractor(NETWORK, output)
    plain.smallest = 1
    assert network.identity == plain.identity
    np.testing.assert_array_equal(network([GREEN]), plain([GREEN]))
    with warnings.catch_warnings():  # it was said already
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(network)).provider == "cuda"


@pytest.mark.parametrize("name", ["efficientnet-lite0", "caffenet", "x.onnx"])
def test_a_provider_can_be_named_on_the_command_line(name: str, tmp_path: Any) -> None:
    path = tmp_path / "x.onnx"
    path.write_bytes(small_network(["m", 3, 224, 224], input_name="data_0", inner="fc7_2"))
    text = {
        "caffenet": f"caffenet:path={path},provider=cpu",
        "x.onnx": f"{path}:provider=cpu",
    }.get(name, f"{name}:provider=CPU")
    assert extractor_from_name(text).provider.lower() == "cpu"  # type: ignore[attr-defined]


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no provider 'abacus'.*cpu, cuda"):
        OnnxExtractor(NETWORK, provider="abacus")
    with pytest.raises(InputError, match="no provider 3"):
        OnnxExtractor(NETWORK, provider=3)  # type: ignore[arg-type]


def test_a_gpu_is_asked_for_all_bits_and_the_processor_behind_it() -> None:
    asked = asked_for("cuda", Runtime("CUDAExecutionProvider"))
    assert asked == [("CUDAExecutionProvider", {"use_tf32": "0"}), ("CPUExecutionProvider", {})]
    assert asked_for("cpu", Runtime("CPUExecutionProvider")) == [("CPUExecutionProvider", {})]


def test_a_session_that_fell_back_by_itself_is_noticed() -> None:
    works, broken = Runtime("CUDAExecutionProvider"), Runtime("CPUExecutionProvider")
    tell_of_fallback(works, "cuda", works, stacklevel=1)
    with pytest.warns(UserWarning, match="cannot use 'cuda'"):
        tell_of_fallback(broken, "cuda", broken, stacklevel=1)
