"""Extractors are transformers: scikit-learn's own pipelines, searches and clones take them."""

import io
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from PIL import Image
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_estimator_repr,
    check_get_params_invariance,
    check_valid_tag_types,
)
from sklearn.utils.validation import check_is_fitted

from newfound import (
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    InputError,
    UnreadableImageError,
)
from newfound.features import EfficientNetLite0, Extractor, OnnxExtractor, Pixels, caffenet
from tests.features.test_extractors import small_network

RNG = np.random.default_rng(0)
LABELS = ["night", "day"] * 6
IMAGES = [
    RNG.integers(0, 120, (20, 24, 3), dtype=np.uint8) + np.uint8(120 * (label == "day"))
    for label in LABELS
]


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    files = [tmp_path / f"{number}.png" for number in range(len(IMAGES))]
    for file, image in zip(files, IMAGES, strict=True):
        Image.fromarray(image).save(file)
    return files


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "caffenet-12.onnx"
    path.write_bytes(small_network([1, 3, 224, 224], input_name="data_0", inner="fc6_2"))
    return path


def extractors(network: Path) -> list[Extractor]:
    """Return one of every kind, with options."""
    return [
        EfficientNetLite0(crop=None),
        EfficientNetLite0("logits", root=True),
        OnnxExtractor(network, "fc6_2", mean=(1.0, 2.0, 3.0), crop=0.5, root=True),
        OnnxExtractor(network.read_bytes()),
        Pixels(size=(4, 6), range=(-1.0, 1.0), channels="rgb", root=True),
    ]


@pytest.mark.slow
def test_a_pipeline_learns_and_answers_paths(paths: list[Path]) -> None:
    pipeline = make_pipeline(EfficientNetLite0(), IncrementalRidgeClassifierCV())
    pipeline.fit(paths[:8], LABELS[:8])
    rows = EfficientNetLite0()(paths)
    apart = IncrementalRidgeClassifierCV().fit(rows[:8], LABELS[:8])
    np.testing.assert_array_equal(pipeline.predict(paths[8:]), LABELS[8:])
    np.testing.assert_array_equal(
        pipeline.decision_function(paths[8:]), apart.decision_function(rows[8:])
    )
    assert pipeline.score([str(path) for path in paths[8:]], LABELS[8:]) == 1


def as_png(image: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def test_images_come_in_whatever_holds_them(paths: list[Path]) -> None:
    objects = np.array(paths, dtype=object)
    expected, pixels = Pixels(size=4)(IMAGES), Pixels(size=4)
    for held in (
        paths,
        tuple(map(str, paths)),
        objects,
        objects[:, None],
        np.array(list(map(str, paths))),
        pd.Series(paths),
        pd.DataFrame({"photo": list(map(str, paths))}),
        [as_png(image) for image in IMAGES],
        [Image.fromarray(image) for image in IMAGES],
        IMAGES,
        np.stack(IMAGES),
    ):
        np.testing.assert_array_equal(pixels.transform(held), expected)
        np.testing.assert_array_equal(pixels.fit_transform(held, LABELS), expected)


def test_what_are_no_images_is_refused(paths: list[Path]) -> None:
    with pytest.raises(InputError, match="images come in one column, but X has 2"):
        Pixels().transform(pd.DataFrame({"photo": paths, "other": paths}))
    with pytest.raises(InputError, match="give a list of images, also of a single one"):
        Pixels().transform(str(paths[0]))
    with pytest.raises(UnreadableImageError, match=r"nowhere\.png: there is no such file"):
        Pixels().transform(np.array([*paths, "nowhere.png"], dtype=object))
    with pytest.raises(UnreadableImageError, match="an array of float64"):
        Pixels().transform(RNG.normal(size=(5, 64)))


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_a_search_tries_options_of_the_extractor(paths: list[Path], n_jobs: int | None) -> None:
    pipeline = make_pipeline(Pixels(size=1), IncrementalRidgeClassifier())
    grid = {"pixels__size": [4, 8], "incrementalridgeclassifier__penalty": [1.0, 1e9]}
    search = GridSearchCV(pipeline, grid, cv=2, n_jobs=n_jobs).fit(paths, LABELS)
    assert search.best_params_ == {"pixels__size": 4, "incrementalridgeclassifier__penalty": 1.0}
    assert search.best_score_ == 1
    assert search.best_estimator_[0].width == 16
    assert pipeline[0].width == 1


def test_folds_are_validated_across_with_paths_in_an_array(paths: list[Path]) -> None:
    pipeline = make_pipeline(Pixels(size=4), IncrementalRidgeClassifierCV())
    scores = cross_val_score(pipeline, np.array(paths, dtype=object), LABELS, cv=3)
    assert scores.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.slow
def test_parameters_are_what_was_given_and_make_the_same_extractor(network: Path) -> None:
    for extractor in extractors(network):
        made = type(extractor)(**extractor.get_params())
        assert made.identity == extractor.identity
        assert made.get_params() == extractor.get_params()
        check_get_params_invariance(type(extractor).__name__, extractor)
    assert EfficientNetLite0().get_params() == {
        "output": "features",
        "crop": 1.0,
        "root": None,
        "provider": "cpu",
    }


@pytest.mark.slow
def test_a_clone_gives_the_same_vectors_and_reads_no_network_again(
    network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = extractors(network)
    expected = [extractor(IMAGES) for extractor in before]
    monkeypatch.setattr("newfound.features.onnx._session", None)  # must not be called
    for extractor, rows in zip(before, expected, strict=True):
        cloned = clone(extractor)
        assert cloned is not extractor
        assert cloned.identity == extractor.identity
        np.testing.assert_array_equal(cloned(IMAGES), rows)


@pytest.mark.slow
def test_what_is_set_is_set_as_if_it_had_been_given_and_in_the_clone_alone() -> None:
    first = EfficientNetLite0().set_output(transform="pandas")
    second = clone(first).set_params(root=False, crop=0.5)
    assert second.identity == EfficientNetLite0(root=False, crop=0.5).identity
    np.testing.assert_array_equal(
        second.transform(IMAGES), EfficientNetLite0(root=False, crop=0.5)(IMAGES)
    )
    assert isinstance(second.transform(IMAGES[:1]), pd.DataFrame)
    assert first.identity == EfficientNetLite0().identity


def test_what_cannot_be_set_changes_nothing() -> None:
    pixels = Pixels(size=4)
    with pytest.raises(InputError, match="Pixels has no parameter 'colour'; it has size, range"):
        pixels.set_params(size=8, colour="red")
    with pytest.raises(InputError, match="root must be True or False"):
        pixels.set_params(size=8, root="yes")
    assert pixels.identity == Pixels(size=4).identity
    assert pixels.get_params() == Pixels(size=4).get_params()


def test_caffenet_is_still_known_by_its_name_when_options_change(network: Path) -> None:
    plain, rooted = caffenet(network, "fc6"), caffenet(network, "fc6", root=True)
    assert clone(plain).set_params(root=True).identity == rooted.identity
    other = network.with_name("other.onnx")
    other.write_bytes(small_network([1, 3, 224, 224], inner="fc6_2", width=6))
    assert plain.set_params(path=other).identity.name == "onnx"


def test_a_model_with_its_extractor_can_be_moved_without_the_file(
    network: Path, tmp_path: Path
) -> None:
    pipeline = make_pipeline(OnnxExtractor(network), IncrementalRidgeClassifier())
    pipeline.fit(IMAGES, LABELS)
    joblib.dump(pipeline, tmp_path / "pipeline.joblib")
    pickled = pickle.dumps(pipeline)
    expected = pipeline.decision_function(IMAGES)
    network.unlink()
    for moved in (joblib.load(tmp_path / "pipeline.joblib"), pickle.loads(pickled)):
        np.testing.assert_array_equal(moved.decision_function(IMAGES), expected)
        np.testing.assert_array_equal(
            clone(moved).fit(IMAGES, LABELS).decision_function(IMAGES), expected
        )
        assert len(repr(moved[0])) < 100
        assert moved[0].set_params(root=True).identity.root


def test_vectors_are_kept_where_a_pipeline_has_a_memory(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = make_pipeline(
        Pixels(size=4), IncrementalRidgeClassifier(), memory=str(tmp_path / "memory")
    )
    expected = pipeline.fit(paths, LABELS)[-1].coef_
    monkeypatch.setattr(Pixels, "run", None)  # must not be called
    again = clone(pipeline).set_params(incrementalridgeclassifier__penalty=1.0)
    np.testing.assert_array_equal(again.fit(paths, LABELS)[-1].coef_, expected)


def test_vectors_become_a_frame_with_names_and_the_index_of_what_was_given(
    paths: list[Path],
) -> None:
    index = [f"photo {number}" for number in range(len(paths))]
    series, pixels = pd.Series(paths, index=index), Pixels(size=2)
    frame = clone(pixels.set_output(transform="pandas")).transform(series)
    assert frame.columns.tolist() == ["pixels0", "pixels1", "pixels2", "pixels3"]
    assert frame.columns.tolist() == pixels.get_feature_names_out().tolist()
    assert frame.index.tolist() == index
    np.testing.assert_array_equal(frame.to_numpy(), pixels(paths))
    assert isinstance(pixels.set_output().transform(paths), pd.DataFrame)
    assert isinstance(pixels.set_output(transform="default").transform(series), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(Pixels(size=2).transform(paths), pd.DataFrame)
    with pytest.raises(ValueError, match="output config must be in"):
        Pixels().set_output(transform="paper").transform(paths)


def test_photos_go_beside_other_columns(paths: list[Path]) -> None:
    table = pd.DataFrame({"photo": list(map(str, paths)), "weight": np.arange(12.0)})
    columns = make_column_transformer((Pixels(size=2), "photo"), remainder="passthrough")
    pipeline = make_pipeline(columns, IncrementalRidgeClassifier()).fit(table, LABELS)
    assert pipeline.score(table, LABELS) == 1
    names = pipeline[0].get_feature_names_out().tolist()
    assert names[0] == "pixels__pixels0"
    assert names[-1] == "remainder__weight"
    np.testing.assert_array_equal(pipeline[0].transform(table)[:, -1], np.arange(12.0))


def test_two_extractors_go_side_by_side() -> None:
    both = make_union(Pixels(size=2), Pixels(size=3)).fit(IMAGES)
    expected = np.hstack([Pixels(size=2)(IMAGES), Pixels(size=3)(IMAGES)])
    np.testing.assert_array_equal(both.transform(IMAGES), expected)


def test_tags_say_that_there_is_nothing_to_fit_and_that_rows_are_no_numbers(network: Path) -> None:
    for extractor in extractors(network):
        tags = get_tags(extractor)
        assert not tags.requires_fit
        assert tags.transformer_tags is not None
        assert not tags.input_tags.two_d_array
        check_is_fitted(extractor)
        check_valid_tag_types(type(extractor).__name__, extractor)
        check_estimator_repr(type(extractor).__name__, extractor)
        assert extractor.fit(IMAGES) is extractor


def test_it_is_shown_with_what_was_given(network: Path) -> None:
    assert repr(EfficientNetLite0()) == "EfficientNetLite0()"
    assert repr(Pixels(8, root=True)) == "Pixels(size=8, root=True)"
    data = network.read_bytes()
    assert repr(OnnxExtractor(data)) == f"OnnxExtractor(path=<{len(data):,} bytes>)"
    pipeline = make_pipeline(Pixels(size=8), IncrementalRidgeClassifier())
    assert "Pixels(size=8)" in repr(pipeline)
    assert "Pixels" in pipeline._repr_html_()
