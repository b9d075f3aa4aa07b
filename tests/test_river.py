"""Among river's models: its own checks, none excused, and features that come when they like."""

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from river import checks, datasets, preprocessing
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import Ridge

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from newfound.checks import check_interrupted
from newfound.river import RiverClassifier
from tests.covering import first_of
from tests.effort import share_of
from tests.oracles import one_hot

ESTIMATORS = [
    None,
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifier(penalty=0.1, fit_intercept=False),
    IncrementalRidgeClassifierCV(),
]
# Seven kinds of things, described with words that come and go.
RNG = np.random.default_rng(0)
NAMES = ["height", "width", "handle", "lid", ("nested", 1), 7, "spout"]
LABELS = RNG.choice(["mug", "cup", "jug"], 200, p=[0.6, 0.3, 0.1]).tolist()
THINGS = [
    {
        name: float(RNG.normal() + (label == "mug") * (name == "handle"))
        for name in NAMES[: 2 + step // 30]
        if RNG.random() < 0.7
    }
    for step, label in enumerate(LABELS)
]


def taught(estimator: Any, things: Any = THINGS, labels: Any = LABELS) -> RiverClassifier:
    model = RiverClassifier(estimator)
    for x, y in zip(things, labels, strict=True):
        model.learn_one(x, y)
    return model


def shares(model: RiverClassifier, things: Any = THINGS) -> Any:
    return np.array([list(model.predict_proba_one(x).values()) for x in things])


def every_check(estimator: Any) -> list[Callable[[Any], None]]:
    return [*checks.yield_checks(RiverClassifier(estimator))]


@pytest.mark.parametrize("part", first_of(range(4), slow=True))
@pytest.mark.parametrize(
    "estimator",
    first_of([IncrementalRidgeClassifier(), IncrementalRidgeClassifierCV()]),
    ids=str,
)
def test_river_finds_nothing_wrong(estimator: Any, part: int) -> None:
    for check in every_check(estimator)[part::4]:
        check(RiverClassifier(estimator))


def test_no_check_of_river_is_excused() -> None:
    assert RiverClassifier()._unit_test_skips() == set()  # noqa: SLF001  (river's own asks it)
    names = {check.__name__ for check in every_check(IncrementalRidgeClassifier())}
    assert {"check_emerging_features", "check_learn_many_matches_learn_one"} <= names


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_feature_that_comes_late_equals_one_that_was_zero_all_along(estimator: Any) -> None:
    late, early = taught(estimator), RiverClassifier(estimator)
    early.columns = dict(late.columns)  # which examples become witnesses depends on their order
    for x, y in zip(THINGS, LABELS, strict=True):
        early.learn_one({**dict.fromkeys(NAMES, 0.0), **x}, y)
    assert late.columns.keys() == early.columns.keys() == set(NAMES)
    assert late.model.n_features_in_ > early.model.n_features_in_
    for model in (late, early):
        if isinstance(model.model, IncrementalRidgeClassifierCV):
            model.model.reconsider()
    np.testing.assert_allclose(shares(late), shares(early), rtol=1e-8)


def test_the_scores_are_those_of_ridge_on_the_whole_table() -> None:
    model = taught(IncrementalRidgeClassifier(penalty=2.0, recoding=0.0))
    texts = [{str(name): value for name, value in x.items()} for x in THINGS]
    table = DictVectorizer(sparse=False).fit_transform(texts)
    peer = Ridge(alpha=2.0).fit(table, one_hot(LABELS, ["cup", "jug", "mug"]))
    rows = np.zeros((len(THINGS), model.model.n_features_in_))
    for row, x in zip(rows, THINGS, strict=True):
        row[[model.columns[name] for name in x]] = list(x.values())
    np.testing.assert_allclose(model.model.scores(rows), peer.predict(table), atol=1e-9)


def test_columns_that_no_feature_has_yet_weigh_nothing() -> None:
    model = taught(None)
    model.learn_one({"an eighth": 1.0, "a ninth": 2.0}, "cup")
    spare = model.model.n_features_in_ - len(model.columns)
    assert spare > 0
    assert (model.model.coef_[:, -spare:] == 0).all()


def test_the_order_of_features_changes_no_bit() -> None:
    turned = [dict(reversed(x.items())) for x in THINGS]
    np.testing.assert_array_equal(shares(taught(None)), shares(taught(None, turned), turned))


def test_a_feature_that_was_never_taught_changes_no_answer() -> None:
    model = taught(None)
    asked = {**THINGS[0], "colour": 1e6}
    assert model.predict_proba_one(asked) == model.predict_proba_one(THINGS[0])
    frame = pd.DataFrame([asked]).fillna(0.0)
    assert model.predict_many(frame).tolist() == [model.predict_one(THINGS[0])]


def test_before_anything_is_taught_there_are_no_answers() -> None:
    model, frame = RiverClassifier(), pd.DataFrame({"height": [0.1, 0.2]}, index=[5, 6])
    assert model.predict_one({"height": 0.1}) is None
    assert model.predict_proba_one({"height": 0.1}) == {}
    assert model.predict_many(frame).tolist() == [None, None]
    assert model.predict_proba_many(frame).empty
    assert model.predict_proba_many(pa.table({"height": [0.1]})).column_names == []


def test_a_row_without_features_can_be_taught_first() -> None:
    model = RiverClassifier()
    model.learn_one({}, "cup")
    model.learn_one({"handle": 1}, "mug")
    assert model.predict_one({"handle": 1}) == "mug"


def test_frames_keep_their_index_and_their_library() -> None:
    model = taught(None)
    table = pd.DataFrame(THINGS[:3], index=[7, 8, 9]).fillna(0.0)
    expected = [model.predict_one(x) for x in THINGS[:3]]
    labels, chances = model.predict_many(table), model.predict_proba_many(table)
    assert (labels.index.tolist(), labels.tolist()) == ([7, 8, 9], expected)
    assert chances.index.tolist() == [7, 8, 9]
    np.testing.assert_allclose(chances.to_numpy(), shares(model, THINGS[:3]))
    arrow = pa.Table.from_pandas(table[["height", "width"]], preserve_index=False)
    model.learn_many(arrow, pa.chunked_array([["mug", "cup", "jug"]]))
    assert model.predict_proba_many(arrow).column_names == ["cup", "jug", "mug"]


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ({"colour": "red"}, "cup", "feature 'colour' is 'red', which is not a number"),
        ({"colour": None}, "cup", "leave it out where it is missing"),
        ({"colour": float("nan")}, "cup", "NaN"),
        ({"colour": 1.0}, 3, "labels are strings"),
        ({"colour": 1.0}, None, "None"),
    ],
)
def test_what_cannot_be_learned_leaves_the_model_as_it_was(x: Any, y: Any, words: str) -> None:
    model = taught(None)
    before, columns = shares(model), dict(model.columns)
    with pytest.raises(ValueError, match=words):
        model.learn_one(x, y)
    assert model.columns == columns
    np.testing.assert_array_equal(shares(model), before)


@pytest.mark.parametrize("names", [["spout"], [f"name {number}" for number in range(20)]])
def test_ctrl_c_never_parts_a_name_from_its_column(names: list[str]) -> None:
    """Also where columns are doubled, and whatever comes next."""

    def look(model: RiverClassifier) -> list[Any]:
        seen = [model.columns, model.model.n_samples_seen_, shares(model)]
        model.learn_one({"another": 9.0}, "cup")
        return [*seen, model.columns, shares(model)]

    check_interrupted(
        lambda: taught(None, THINGS[:60], LABELS[:60]),
        lambda model: model.learn_one(dict.fromkeys(names, 7.0), "mug"),
        look,
        moments=share_of(60),
    )


def test_frames_with_holes_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        RiverClassifier().learn_many(pd.DataFrame({"a": [1.0, np.nan]}), pd.Series(["x", "y"]))


def test_the_estimator_that_is_given_is_not_taught() -> None:
    given = IncrementalRidgeClassifier(penalty=3.0)
    model = taught(given)
    assert not given.__sklearn_is_fitted__()
    assert model.model.penalty == 3.0
    assert not model.clone().model.__sklearn_is_fitted__()


def test_a_pickled_model_goes_on_where_it_was() -> None:
    here, there = taught(None, THINGS[:100], LABELS[:100]), RiverClassifier()
    there = pickle.loads(pickle.dumps(here))
    for model in (here, there):
        for x, y in zip(THINGS[100:], LABELS[100:], strict=True):
            model.learn_one(x, y)
    np.testing.assert_allclose(shares(there), shares(here), rtol=1e-9)


def test_features_emerge_from_a_pipeline() -> None:
    model = preprocessing.OneHotEncoder() | RiverClassifier()
    for colour, label in [("red", "apple"), ("yellow", "lemon"), ("green", "lime")] * 5:
        model.learn_one({"colour": colour}, label)
    assert model.predict_one({"colour": "green"}) == "lime"
    assert len(model["RiverClassifier"].columns) == 3


def test_labels_come_back_as_they_were_given() -> None:
    model = RiverClassifier()
    for x, y in datasets.Phishing().take(20):
        model.learn_one(x, y)
    assert {type(label) for label in model.predict_proba_one(x)} == {bool}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_an_example_of_weight_two_is_one_taught_twice(estimator: Any) -> None:
    one, two, many = (RiverClassifier(estimator) for _ in range(3))
    rows: list[Any] = [({"a": 1.0}, "x", 1), ({"a": 2.0, "b": 1.0}, "y", 2), ({"b": 3.0}, "x", 3)]
    for x, y, times in rows:
        one.learn_one(x, y, w=times)
        for _ in range(times):
            two.learn_one(x, y)
    frame = pd.DataFrame([x for x, _, _ in rows]).fillna(0.0)
    many.learn_many(frame, pd.Series([y for _, y, _ in rows]), w=pd.Series([1, 2, 3]))
    for model in (one, two, many):
        model.model.reconsider()
    asked: Any = {"a": 1.5, "b": 0.5}
    expected = two.predict_proba_one(asked)
    for model in (one, many):
        assert model.predict_proba_one(asked) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InputError, match="not negative"):
        one.learn_one({"c": 1.0}, "x", w=-1.0)
    assert "c" not in one.columns


def test_without_river_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river.base", None)
    monkeypatch.delitem(sys.modules, "newfound.river")
    with pytest.raises(ModuleNotFoundError, match=r"models of river need 'river' of the extra"):
        import newfound.river  # noqa: F401


def test_a_number_beyond_float_is_refused_as_any_other_that_is_no_feature() -> None:
    model = RiverClassifier()
    model.learn_one({"height": 1}, "cup")
    frame = pd.DataFrame({"height": [10**400]})
    asked: list[Callable[[], object]] = [
        lambda: model.learn_one({"height": 10**400}, "cup"),
        lambda: model.predict_one({"height": -(10**400)}),
        lambda: model.learn_many(frame, pd.Series(["cup"])),
        lambda: model.predict_many(frame),
    ]
    for ask in asked:
        with pytest.raises(InputError, match="float"):
            ask()
    assert (model.model.n_samples_seen_, model.predict_one({"pages": 10**400})) == (1, "cup")


@pytest.mark.parametrize("name", [float("nan"), np.float32("nan"), np.datetime64("NaT")], ids=repr)
def test_a_name_that_does_not_equal_itself_gets_no_column(name: Any) -> None:
    model = RiverClassifier()
    with pytest.raises(InputError, match="called NaN"):
        model.learn_one({name: 1.0, "height": 1.0}, "cup")
    assert (model.columns, model.predict_one({name: 1.0})) == ({}, None)
    model.learn_one({pd.NA: 1.0}, "cup")
    model.learn_one({pd.NA: 2.0}, "mug")
    assert len(model.columns) == 1


def test_weights_are_those_that_estimators_take() -> None:
    model = RiverClassifier()
    weights: list[Any] = [1 + 2j, "2", np.ma.masked, -1.0]
    for weight in weights:
        with pytest.raises(InputError, match="sample_weight"):
            model.learn_one({"height": 1.0}, "cup", w=weight)
    model.learn_one({"height": 1.0}, "cup", w=2)
    assert model.model.class_weight_sum_.tolist() == [2.0]
