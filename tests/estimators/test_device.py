"""Models on a device: the same laws, the same answers, and nothing goes where it should not.

Rows are torch's, on the device that NEWFOUND_TEST_DEVICE names, and array_api_strict's, which does
nothing that the standard does not say.
"""

import copy
import pickle
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_array_api_input_and_values

from newfound import (
    IncrementalRidge,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    checks,
    load,
)
from newfound.common.device import device_of, on_host
from newfound.common.errors import InputError, NotTaughtError
from newfound.learner.learner import Learner
from tests import oracles
from tests.background import together
from tests.covering import covering
from tests.devices import (
    CHOOSING,
    EVERYWHERE,
    NEEDS,
    PLACES,
    PLAIN,
    TORCH_DEVICE,
    OnTorch,
    device,
    placed,
)
from tests.effort import share_of
from tests.streams import Stream, saved, streams

pytestmark = pytest.mark.usefixtures("array_api")

KINDS = IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
QUESTIONS = ("scores", "decision_function", "predict", "predict_proba", "novelty", "unknown_proba")
# Among these, what is a number and no label.
NUMBERS = tuple(question for question in QUESTIONS if question != "predict")
WEIGHTS: list[Any] = [None, "balanced", {}, {"mug": 2.0}]
X, Y = checks.small_stream()
INTEGERS = np.unique(Y, return_inverse=True)[1]


def wide(n: int = 120, width: int = 30, seed: int = 0) -> tuple[Any, Any]:
    """Rows (n, d) of four classes; small batches of them change what is carried."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return rng.normal(size=(n, width)) + np.eye(4, width)[y], y


def at_home(rows: Any, model: Any) -> Any:
    """Rows of numpy's, where a model lives."""
    home = device_of(model.coef_)
    return rows if home is None else home.put(rows, double=False)


def assert_same(there: Any, here: Any, rows: Any, tolerance: float = 1e-10) -> None:
    """Two models know the same and answer alike, relative to the largest answer."""
    assert there.classes_.tolist() == here.classes_.tolist()
    assert there.class_count_.tolist() == here.class_count_.tolist()
    for what in (*NUMBERS, "coef_", "intercept_"):
        found, expected = (
            on_host(
                getattr(model, what)(at_home(rows, model))
                if what in NUMBERS
                else getattr(model, what)
            )
            for model in (there, here)
        )
        assert found.shape == expected.shape, what
        assert found.dtype == expected.dtype, what
        scale = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
        np.testing.assert_allclose(found, expected, atol=tolerance * scale, rtol=0, err_msg=what)


# The laws.

LAWFUL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": (PLAIN, {}),
    "balanced": (PLAIN, {"class_weight": "balanced"}),
    "sums per class": (PLAIN, {"class_weight": {}}),
    "weighted": (PLAIN, {"class_weight": {"mug": 2.0}, "recoding": 0.3}),
    "through the origin": (PLAIN, {"fit_intercept": False, "penalty": 0.1}),
    "choosing": (CHOOSING, {}),
    "choosing as the paper": (CHOOSING, {"rule": "paper", "class_weight": {}}),
    "choosing, balanced": (CHOOSING, {"class_weight": "balanced"}),
    "choosing, through the origin": (CHOOSING, {"fit_intercept": False, "witnesses": 5}),
}


@EVERYWHERE
@covering("check, kind, dtype", checks.MODEL_CHECKS, LAWFUL, (np.float64, np.float32))
def test_models_on_a_device_keep_the_laws(check: Any, kind: Any, dtype: Any, place: str) -> None:
    kinds, parameters = kind
    check(kinds[place](**parameters), *checks.small_stream(dtype))


@EVERYWHERE
@pytest.mark.parametrize("kinds", [PLAIN, CHOOSING], ids=["plain", "choosing"])
def test_the_models_of_these_tests_do_live_there(kinds: Any, place: str) -> None:
    model = kinds[place]().fit(X, Y)
    assert model.lives_there
    model.partial_fit(X, Y).forget(X[:3], Y[:3]).merge(kinds[place]().fit(X, Y))
    assert model.lives_there
    assert copy.deepcopy(model).lives_there
    assert pickle.loads(pickle.dumps(model)).lives_there
    assert kinds[place].from_state(model.learner_.to_state()).lives_there


class Contrary(OnTorch):
    """Answers on the host, whatever it was asked."""

    def _configured(self) -> Any:
        learner = super()._configured()
        answer = partial(Learner.predict, learner)
        vars(learner)["predict"] = lambda *args, **more: answer(*args, **more).on_host()
        return learner


@pytest.mark.needs("torch")
def test_a_model_that_answers_elsewhere_is_caught() -> None:
    with pytest.raises(AssertionError, match="answers elsewhere"):
        checks.check_order_does_not_matter(Contrary())


@pytest.mark.parametrize(
    ("namespace", "name", "dtype"),
    [
        pytest.param("torch", TORCH_DEVICE, "float64", marks=NEEDS["torch"]),
        pytest.param("torch", TORCH_DEVICE, "float32", marks=NEEDS["torch"]),
        ("array_api_strict", "CPU_DEVICE", "float64"),
        ("array_api_strict", "device1", "float32"),
    ],
)
@pytest.mark.parametrize(
    "model",
    [
        IncrementalRidgeClassifier(),
        IncrementalRidgeClassifier(class_weight="balanced"),
        IncrementalRidgeClassifier(fit_intercept=False),
        IncrementalRidgeClassifierCV(),
    ],
    ids=str,
)
def test_the_array_api_check_of_scikit_learn_passes(
    model: Any, namespace: str, name: str, dtype: str
) -> None:
    check_array_api_input_and_values(type(model).__name__, model, namespace, name, dtype)


# The same answers as on the host.


@EVERYWHERE
@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
@given(stream=streams(pool="strings"), intercept=st.booleans())
@settings(max_examples=share_of(8))
def test_any_stream_is_answered_as_on_the_host(
    place: str, class_weight: Any, stream: Stream, intercept: bool
) -> None:
    parameters = {"class_weight": class_weight, "fit_intercept": intercept, "penalty": 0.5}
    there, here = PLAIN[place](**parameters), IncrementalRidgeClassifier(**parameters)
    # On the host, float32 is carried as that.
    tolerance = 1e-10 if stream.X.dtype == np.float64 else 1e-4
    for rows, labels in stream.parts():
        there.partial_fit(rows, labels)
        here.partial_fit(rows, labels)
        assert_same(there, here, stream.X, tolerance)
    assert there.lives_there


@EVERYWHERE
@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
def test_a_life_on_a_device_is_that_on_the_host(place: str, class_weight: Any) -> None:
    """Rows, batches, new classes, other parameters, forgetting, renaming: all of it."""
    there, here = (
        kind(class_weight=class_weight) for kind in (PLAIN[place], IncrementalRidgeClassifier)
    )
    rows, y = wide(200)
    names = np.array(["mug", "cup", "jug", "ball"])[y]
    lessons = [slice(n, n + 1) for n in range(5)] + [slice(5, 11), slice(11, 60)]
    lessons += [slice(n, n + 1) for n in range(60, 100)] + [slice(100, 107), slice(107, 200)]
    for model in (there, here):
        model.partial_fit(rows[:1], names[:1], classes=["Krug", *np.unique(names).tolist()])
    for lesson in lessons:
        for model in (there, here):
            model.partial_fit(rows[lesson], names[lesson])
        if lesson.start in (0, 4, 5, 99, 100, 107):
            assert_same(there, here, rows)
    for changed in ({"penalty": 0.01}, {"recoding": 0.0}, {"fit_intercept": False}):
        for model in (there, here):
            model.set_params(**changed).partial_fit(rows[:1], names[:1])
        assert_same(there, here, rows)
    for gone in (slice(0, 1), slice(1, 6), slice(6, 90), slice(90, 91)):
        for model in (there, here):
            model.forget(rows[gone], names[gone])
        assert_same(there, here, rows)
    for model in (there, here):
        model.rename_class("mug", "Tasse").rename_class("jug", "cup")
    assert_same(there, here, rows)
    for model in (there, here):
        if class_weight is not None:
            model.set_params(class_weight={"cup": 3.0}).forget_class("Tasse")
        model.store(rows[:20], names[:20])
    assert_same(there, here, rows)


@pytest.mark.slow
@EVERYWHERE
def test_parameters_are_chosen_as_on_the_host(place: str) -> None:
    there, here = CHOOSING[place](witnesses=8), IncrementalRidgeClassifierCV(witnesses=8)
    rows, y = wide(150, width=12)
    for part in np.array_split(np.arange(150), 40):
        for model in (there, here):
            model.partial_fit(rows[part], y[part])
        assert there.penalty_ == pytest.approx(here.penalty_)
        assert_same(there, here, rows, 1e-9)
    for model in (there, here):
        model.forget(rows[:30], y[:30]).rename_class(3, 7).learner_.to_state()
    assert_same(there, here, rows, 1e-9)
    np.testing.assert_array_equal(there.witnesses_[0], here.witnesses_[0])


@pytest.mark.slow
@EVERYWHERE
def test_votes_under_way_go_on_wherever_the_model_goes(place: str) -> None:
    there, here = (IncrementalRidgeClassifierCV(witnesses=8) for _ in range(2))
    rows, y = wide(100, width=40)
    for model in (there, here):
        model.partial_fit(rows[:1], y[:1])
    for n in range(1, 100):
        for model in (there, here):
            model.partial_fit(at_home(rows[n : n + 1], model), y[n : n + 1])
        if n % 5 == 2:
            there.move_to(device(place) if n % 2 else None)
        if n % 5 == 4:
            there.learner_.to_state()  # which must not do the work of the model that goes on
            here.learner_.to_state()
        assert_same(there, here, rows, 1e-9)


@EVERYWHERE
def test_a_row_far_larger_than_all_others_is_taken_back(place: str) -> None:
    rows, y = wide(300, width=8)
    large = 1e6 * rows[:1]
    for class_weight in (None, "balanced"):
        there = PLAIN[place](class_weight=class_weight).fit(rows[:200], y[:200])
        there.partial_fit(large, [0]).forget(large, [0])
        here = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows[:200], y[:200])
        assert_same(there, here, rows, 1e-9)
        there.partial_fit(large, [0])
        there.forget(np.concatenate([rows[:100], large]), [*y[:100], 0])
        here.forget(rows[:100], y[:100])
        assert_same(there, here, rows, 1e-9)


@pytest.mark.filterwarnings("ignore:a penalty of")
@EVERYWHERE
def test_rounding_that_stays_is_warned_of(place: str) -> None:
    rows, y = wide(300, width=8)
    model = PLAIN[place]().fit(rows, y)
    large = 1e8 * rows[:40]
    model.partial_fit(large, y[:40])  # more than wait
    with pytest.warns(UserWarning, match="its rounding stays in the sums"):
        model.forget(large, y[:40])


@EVERYWHERE
def test_one_class_one_row_and_one_feature_will_do(place: str) -> None:
    model, twin = PLAIN[place](), IncrementalRidgeClassifier()
    for each in (model, twin):
        each.partial_fit(np.array([[2.0]]), ["mug"])
    assert_same(model, twin, np.array([[1.0], [3.0]]))
    assert model.predict(np.array([[1.0]])).tolist() == ["mug"]
    model.forget(np.array([[2.0]]), ["mug"])
    assert not model.__sklearn_is_fitted__()


# Where models live, and of what kind answers are.


def homes() -> Iterator[Any]:
    for home in (None, *PLACES):
        for asked in (None, *PLACES):
            marks = NEEDS["torch"] if "torch" in (home, asked) else []
            yield pytest.param(home, asked, marks=marks, id=f"{home}, {asked}")


@pytest.mark.slow
@pytest.mark.parametrize(("home", "asked"), [*homes()])
@pytest.mark.parametrize("kind", [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV])
def test_the_kind_that_was_fitted_is_the_kind_that_is_asked(
    kind: Any, home: Any, asked: Any
) -> None:
    rows = X if home is None else placed(X, home)
    questions = X if asked is None else placed(X, asked)
    model, words = kind().fit(rows, INTEGERS), kind().fit(rows, Y)
    twin = kind().fit(X, INTEGERS)
    if home != asked:
        before = saved(model)
        for question in QUESTIONS:
            with pytest.raises(
                InputError, match=rf"{kind.__name__}\.{question}\(\) must use the s"
            ):
                getattr(model, question)(questions)
        for lesson in (model.partial_fit, model.forget):
            with pytest.raises(InputError, match="move_to moves it"):
                lesson(questions, INTEGERS)
        assert saved(model) == before
        model, words = (
            each.move_to(None if asked is None else device(asked)) for each in (model, words)
        )
    at = None if asked is None else device(asked)
    for question in QUESTIONS:
        answer = getattr(model, question)(questions)
        assert device_of(answer) == at, question
        expected = getattr(twin, question)(X)
        np.testing.assert_allclose(on_host(answer), expected, atol=1e-9)
        assert on_host(answer).dtype == expected.dtype
    looked = model.learner_.predict(questions, leverage=True, unknown=True)
    assert {device_of(each) for each in (looked.scores, looked.leverage, looked.unknown)} == {at}
    assert device_of(looked.probabilities) == device_of(looked.novelty) == at
    assert isinstance(words.predict(questions), np.ndarray)
    assert words.predict(questions).tolist() == kind().fit(X, Y).predict(X).tolist()
    model.partial_fit(questions, INTEGERS).forget(questions, INTEGERS)
    assert device_of(model.coef_) == device_of(model.intercept_) == at


@EVERYWHERE
def test_without_dispatch_rows_of_numpy_go_wherever_the_model_is(place: str) -> None:
    model, twin = (
        IncrementalRidgeClassifier().fit(rows, INTEGERS) for rows in (placed(X, place), X)
    )
    with config_context(array_api_dispatch=False):
        for each in (model, twin):
            each.partial_fit(X[:3], INTEGERS[:3]).forget(X[:2], INTEGERS[:2])
        for question in QUESTIONS:
            answer = getattr(model, question)(X)
            assert isinstance(answer, np.ndarray)
            np.testing.assert_allclose(answer, getattr(twin, question)(X), atol=1e-10)
    assert device_of(model.coef_) == device(place)


@EVERYWHERE
@pytest.mark.parametrize(
    "labels",
    [
        np.array([7, -3, 10**12]),
        np.array([7, 3, 0], dtype=np.uint8),
        np.array([7, 3, 0], dtype=">i8"),
        np.array([1.0, 2.0, -4.0]),
        np.array([True, False, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_numbers_as_labels_come_back_as_arrays_of_the_device(place: str, labels: Any) -> None:
    y = labels[np.arange(60) % 3]
    answers = IncrementalRidgeClassifier().fit(placed(X, place), y).predict(placed(X, place))
    expected = IncrementalRidgeClassifier().fit(X, y).predict(X)
    assert device_of(answers) == device(place)
    np.testing.assert_array_equal(on_host(answers), expected)
    assert on_host(answers).dtype == expected.dtype.newbyteorder("=")


@EVERYWHERE
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.bool_])
def test_labels_may_be_on_the_device_too(place: str, dtype: Any) -> None:
    y = (INTEGERS % 2).astype(dtype)
    there, rows = placed(y, place), placed(X, place)
    model = IncrementalRidgeClassifier().partial_fit(rows, there, classes=there)
    assert model.classes_.tolist() == np.unique(y).tolist()
    assert model.classes_.dtype == dtype
    model.partial_fit(rows[:1, :], there[:1]).forget(rows, there)
    assert model.n_samples_seen_ == 1
    column = placed(y[:, None], place)
    with pytest.warns(UserWarning, match="1d array was expected"):
        model.partial_fit(rows, column)
    assert model.n_samples_seen_ == 61
    assert model.score(rows, there) == pytest.approx(np.mean(on_host(model.predict(rows)) == y))


@EVERYWHERE
@pytest.mark.parametrize("bad", [[0.5] * 60, [1.0] * 59, [np.nan] * 60])
def test_labels_on_a_device_are_checked(place: str, bad: list[float]) -> None:
    with pytest.raises(ValueError, match=r"label|samples"):
        IncrementalRidgeClassifier().fit(placed(X, place), placed(np.array(bad), place))


@pytest.mark.needs("torch")
def test_it_stands_in_a_pipeline() -> None:
    pipeline = make_pipeline(StandardScaler(), IncrementalRidgeClassifier())
    rows = placed(X, "torch")
    answers = pipeline.fit(rows, INTEGERS).predict(rows)
    assert device_of(answers) == device("torch")
    np.testing.assert_array_equal(on_host(answers), pipeline.fit(X, INTEGERS).predict(X))


@EVERYWHERE
def test_whole_numbers_are_rows_too(place: str) -> None:
    whole = np.round(10 * X).astype(np.int32)
    model = PLAIN[place]().fit(whole, Y)
    assert_same(model, IncrementalRidgeClassifier().fit(whole, Y), whole)
    assert model.learner_.engine.memory.sums.dtype == np.float64


# What torch has beside the standard.


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["float16", "bfloat16", "uint8", "bool"])
def test_tensors_of_other_types_become_double_precision(name: str) -> None:
    import torch

    rows = torch.asarray(X, device=TORCH_DEVICE).to(getattr(torch, name))
    expected = IncrementalRidgeClassifier().fit(on_host(rows.to(torch.float64)), Y)
    assert_same(OnTorch().fit(rows, Y), expected, X)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["float64", "float32", "float16"])
def test_rows_that_require_a_gradient_leave_none_behind(name: str) -> None:
    import torch

    rows = torch.asarray(X, device=TORCH_DEVICE).to(getattr(torch, name)).requires_grad_()
    for kind in (IncrementalRidgeClassifier, IncrementalRidgeClassifierCV):
        model = kind(class_weight="balanced").partial_fit(rows, Y).partial_fit(rows[:1], Y[:1])
        model.forget(rows[:1], Y[:1])
        answers = [getattr(model, question)(rows) for question in NUMBERS]
        assert not any(each.requires_grad for each in (*answers, model.coef_, model.intercept_))
        pickle.dumps(model)
    assert rows.grad is None


@pytest.mark.needs("torch")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_model_taught_in_inference_mode_goes_on_outside(class_weight: Any) -> None:
    import torch

    rows, y = wide()
    there = placed(rows, "torch")
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    with torch.inference_mode():
        model.partial_fit(there[:50] * 1.0, y[:50])
        model.predict(there)
        model.partial_fit(there[50:51], y[50:51])
        taken = copy.deepcopy(model)
        merged = IncrementalRidgeClassifier(class_weight=class_weight).merge(model)
    for each in (model, taken, merged):
        for n in range(51, 80):
            each.partial_fit(there[n : n + 1], y[n : n + 1])
        with torch.inference_mode():
            _ = each.forget(there[:3], y[:3]).coef_, each.novelty(there), each.calibration_
            each.set_params(penalty=2.0)
        each.partial_fit(there[80:], y[80:]).forget(there[3:4], y[3:4])
        expected = IncrementalRidgeClassifier(class_weight=class_weight, penalty=2.0)
        assert_same(each, expected.fit(rows[4:], y[4:]), rows)


@pytest.mark.needs("torch")
def test_defaults_of_torch_do_not_matter() -> None:
    import torch

    rows = torch.asarray(X, device=TORCH_DEVICE)
    try:
        torch.set_default_dtype(torch.float16)
        with torch.device("meta"):
            model = IncrementalRidgeClassifier().fit(rows, Y).partial_fit(rows[:1], Y[:1])
            model.forget(rows[:1], Y[:1])
            answers = [on_host(getattr(model, question)(rows)) for question in NUMBERS]
    finally:
        torch.set_default_dtype(torch.float32)
    twin = IncrementalRidgeClassifier().fit(X, Y)
    for question, answer in zip(NUMBERS, answers, strict=True):
        np.testing.assert_allclose(answer, getattr(twin, question)(X), atol=1e-10)


@pytest.mark.needs("torch")
def test_rows_may_lie_in_memory_as_they_like() -> None:
    rows, twin = placed(X, "torch"), IncrementalRidgeClassifier().fit(X, Y)
    twice = placed(np.repeat(X, 2, axis=0), "torch")
    for view in (twice[::2], rows.T.contiguous().T, rows.clone()[:, :]):
        assert_same(IncrementalRidgeClassifier().fit(view, Y), twin, X)
    model = IncrementalRidgeClassifier().fit(rows, Y)
    backwards = at_home(X[::-1], model)
    assert_same(model.partial_fit(backwards, Y[::-1]), twin.partial_fit(X[::-1], Y[::-1]), X[::-1])


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["meta", "nonsense", 3.5])
def test_a_device_that_keeps_nothing_is_refused(name: Any, tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    before = saved(model)
    with pytest.raises(InputError, match="no device"):
        model.move_to(name)
    assert saved(model) == before
    model.save(tmp_path / "model.newfound")
    with pytest.raises(InputError, match="no device"):
        load(tmp_path / "model.newfound", device=name)


@pytest.mark.needs("torch")
def test_a_device_has_one_name() -> None:
    import torch

    model = IncrementalRidgeClassifier().fit(X, Y).move_to(TORCH_DEVICE)
    assert device_of(model.coef_) == device("torch")
    number = torch.device(TORCH_DEVICE, 0) if TORCH_DEVICE == "cuda" else torch.device("cpu")
    engine = model.learner_.engine
    assert model.move_to(number).learner_.engine is engine
    assert model.move_to(TORCH_DEVICE).learner_.engine is engine


# What is refused, with nothing changed.


@EVERYWHERE
@covering("rows, value, class_weight", (1, 70), (np.nan, -np.inf, 1e200), (None, "balanced"))
def test_what_cannot_be_added_up_changes_nothing(
    place: str, class_weight: Any, value: float, rows: int
) -> None:
    model = PLAIN[place](class_weight=class_weight).fit(X, Y)
    before, answers = saved(model), model.scores(X)
    bad, y = np.ones((rows, 5)), Y[np.arange(rows) % 60]
    bad[-1, 3] = value
    for call in (model.partial_fit, model.forget, model.store, model.fit):
        with pytest.raises(ValueError, match=r"NaN|infinity|overflow"):
            call(bad, y)
    for question in QUESTIONS:
        with pytest.raises(ValueError, match=r"NaN|infinity|overflow"):
            getattr(model, question)(bad)
    assert saved(model) == before
    np.testing.assert_array_equal(model.scores(X), answers)


@EVERYWHERE
def test_rows_of_no_use_are_refused(place: str) -> None:
    model = IncrementalRidgeClassifier().fit(placed(X, place), Y)
    before = saved(model)
    for rows in (X[:0], X[0], X[:, 1:], X[None], np.hstack([X, X])):
        with pytest.raises(ValueError, match=r"\w"):
            model.partial_fit(placed(rows, place), Y[: len(rows)])
        with pytest.raises(ValueError, match=r"\w"):
            model.predict(placed(rows, place))
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.predict(device(place).xp.astype(placed(X, place), device(place).xp.complex128))
    with pytest.raises(NotTaughtError):
        model.forget(placed(1e3 + X[:1], place), Y[:1])
    assert saved(model) == before


@pytest.mark.needs("torch")
def test_sparse_tensors_are_refused() -> None:
    rows = placed(X, "torch").to_sparse()
    with pytest.raises(TypeError, match="to_dense"):
        IncrementalRidgeClassifier().fit(rows, Y)


@EVERYWHERE
@pytest.mark.parametrize("what", ["device_sums.DeviceCross.prepare", "gram.Gram.prepare"])
def test_where_there_is_no_room_nothing_is_learned(
    place: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = PLAIN[place](class_weight="balanced").fit(X, Y)
    before, answers = saved(model), model.scores(X)

    def fail(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(f"newfound.sums.{what}", fail)
        for lesson in (slice(0, 1), slice(0, 40)):
            with pytest.raises(MemoryError):
                model.partial_fit(X[lesson], [*Y[lesson][1:], "new"])
    assert saved(model) == before
    np.testing.assert_allclose(model.scores(X), answers, atol=1e-12)


@pytest.mark.needs("torch")
def test_without_dispatch_a_tensor_of_the_host_is_taken_for_an_array_of_numpy() -> None:
    import torch

    rows = torch.asarray(X)
    with config_context(array_api_dispatch=False):
        model = IncrementalRidgeClassifier().fit(rows, Y)
        assert isinstance(model.coef_, np.ndarray)
        for question in QUESTIONS:
            assert isinstance(getattr(model, question)(rows), np.ndarray)
        assert saved(model) == saved(IncrementalRidgeClassifier().fit(X, Y))
        there = IncrementalRidgeClassifier().fit(X, Y).move_to(TORCH_DEVICE)
        assert isinstance(there.predict(rows), np.ndarray)
        np.testing.assert_allclose(there.scores(X), model.scores(X), atol=1e-10)


@pytest.mark.needs("torch")
def test_without_dispatch_rows_elsewhere_are_refused_with_what_to_do() -> None:
    import torch

    rows = torch.empty((3, 5), device="meta" if TORCH_DEVICE == "cpu" else TORCH_DEVICE)
    with (
        config_context(array_api_dispatch=False),
        pytest.raises(InputError, match="array_api_dispatch=True"),
    ):
        IncrementalRidgeClassifier().fit(rows, [1, 2, 3])


# Memory: whose it is, and how much.


@EVERYWHERE
@covering("kind, class_weight, count", KINDS, (None, "balanced"), (1, 9, 60))
def test_what_the_user_does_with_rows_afterwards_does_not_matter(
    place: str, kind: Any, class_weight: Any, count: int
) -> None:
    rows, y = placed(X[:count], place), placed(INTEGERS[:count], place)
    model, twin = kind(class_weight=class_weight), kind(class_weight=class_weight)
    model.partial_fit(rows, y)
    model.predict(rows)
    np.testing.assert_array_equal(on_host(rows), X[:count])
    rows[:, :] = 7.0
    y[:] = 0
    assert_same(model, twin.partial_fit(X[:count], INTEGERS[:count]), X, 1e-9)
    if kind is IncrementalRidgeClassifierCV:
        assert_same(model.reconsider(), twin.reconsider(), X, 1e-9)


@EVERYWHERE
def test_what_was_handed_out_is_the_users(place: str) -> None:
    """Neither does it change with the model, nor the model with it."""
    model, rows = IncrementalRidgeClassifier(recoding=0.0), placed(X, place)
    model.fit(rows, INTEGERS)
    handed = [model.coef_, model.intercept_, *(getattr(model, ask)(rows) for ask in QUESTIONS)]
    copies = [np.array(on_host(each)) for each in handed]
    model.partial_fit(rows[:1, :], [3]).partial_fit(placed(-X[:2], place), [1, 1])
    for each, then in zip(handed, copies, strict=True):
        np.testing.assert_array_equal(on_host(each), then)
    model.forget(placed(-X[:2], place), [1, 1]).forget(rows[:1, :], [3])
    expected = on_host(model.scores(rows))
    for each in (model.coef_, model.intercept_, model.scores(rows)):
        each[...] = 0.0
    np.testing.assert_array_equal(on_host(model.scores(rows)), expected)


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_memory_does_not_grow_with_what_was_seen(place: str, class_weight: Any) -> None:
    rows, y = wide(300, width=20)
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    sizes = []
    for n in range(300):
        model.partial_fit(placed(rows[n : n + 1], place), y[n : n + 1])
        if n in (149, 299):
            model.predict(placed(rows, place))
            sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < 1.02 * sizes[0]


@pytest.mark.needs("torch")
def test_no_row_comes_to_the_host_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn a row, answer for another: a few numbers cross, whatever the number of features."""
    import torch

    rows, y = wide(400, width=50)
    there, labels = placed(rows, "torch"), y.tolist()
    model = IncrementalRidgeClassifier().fit(there[:100], labels[:100])
    model.predict(there[:1])
    crossed: list[int] = []

    def noted(name: str) -> Any:
        usual = getattr(torch.Tensor, name)

        def noting(self: Any, *args: Any, **options: Any) -> Any:
            crossed.append(self.numel())
            return usual(self, *args, **options)

        return noting

    with monkeypatch.context() as patch:
        ways = ("cpu", "item", "tolist", "__float__", "__bool__", "__int__", "__array__", "numpy")
        for way in ways:
            patch.setattr(torch.Tensor, way, noted(way))
        for n in range(100, 400):
            model.partial_fit(there[n : n + 1], labels[n : n + 1])
            answer = model.predict(there[n - 1 : n])
    assert device_of(answer) == device("torch")
    # But for two steps, as the squares double: they judge where rows are seen from.
    vectors = [size for size in crossed if size > 2]
    assert len(vectors) <= 2 * 16
    assert len(crossed) < 8 * 300
    crossed.clear()
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "cpu", noted("cpu"))
        model.forget(there[100:101], labels[100:101])
    assert crossed  # or nothing was noted at all


# Merging, saving and moving.


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs"), [*homes()])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_models_of_any_two_places_can_be_merged(ours: Any, theirs: Any, class_weight: Any) -> None:
    rows, y = wide(100, width=12)
    whole = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows, y)
    for cut in (3, 40):  # rows as they came, and rows added up
        parts = []
        for place, part in ((ours, slice(0, cut)), (theirs, slice(cut, None))):
            there = rows[part] if place is None else placed(rows[part], place)
            parts.append(IncrementalRidgeClassifier(class_weight=class_weight).fit(there, y[part]))
        before = saved(parts[1])
        merged = parts[0].merge(parts[1])
        assert device_of(merged.coef_) == (None if ours is None else device(ours))
        assert_same(merged, whole, rows)
        assert saved(parts[1]) == before
        sums = oracles.seen_from_zero(merged.learner_.engine.memory.sums)
        gram = on_host(sums.gram_times(merged.learner_.engine.memory.place(np.eye(12))))
        np.testing.assert_allclose(gram, rows.T @ rows, atol=1e-10)
    blank = IncrementalRidgeClassifier(class_weight=class_weight).merge(parts[1])
    assert device_of(blank.coef_) == (None if theirs is None else device(theirs))


@EVERYWHERE
@covering("kind, class_weight, count", KINDS, (None, "balanced"), (7, 60))
def test_moving_there_and_back_changes_nothing(
    place: str, kind: Any, class_weight: Any, count: int
) -> None:
    rows, y = wide(80, width=8)
    model = kind(class_weight=class_weight).fit(rows[:count], y[:count])
    twin = copy.deepcopy(model)
    for where in (device(place), device(place), None, device("strict"), device(place)):
        model.move_to(where)
        assert device_of(model.coef_) == where
        assert_same(model, twin, rows, 1e-9)
        for each in (model, twin):
            there = at_home(rows, each)
            each.partial_fit(there[count : count + 4, :], y[count : count + 4])
            each.forget(there[:2, :], y[:2]).partial_fit(there[:2, :], y[:2])
        assert_same(model, twin, rows, 1e-9)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("kind", [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_file_knows_no_device(kind: Any, dtype: Any, tmp_path: Path) -> None:
    path, rows = tmp_path / "model.newfound", X.astype(dtype)
    there = kind().fit(placed(rows, "torch"), Y)
    there.save(path)
    here, again = load(path), load(path, device=TORCH_DEVICE)
    assert isinstance(here.coef_, np.ndarray)
    assert device_of(again.coef_) == device("torch")
    tolerance = 1e-9 if dtype is np.float64 else 1e-5
    for model in (here, again):
        assert type(model) is kind
        assert_same(model, there, rows, tolerance)
        twin = load(path).partial_fit(rows, Y).reconsider()
        model.partial_fit(at_home(rows, model), Y)
        assert_same(model.reconsider(), twin, rows, tolerance)
    load(path, device=TORCH_DEVICE).save(tmp_path / "again.newfound")
    assert (tmp_path / "again.newfound").read_bytes() == path.read_bytes()


@EVERYWHERE
def test_rows_that_are_held_come_back_to_the_last_bit(place: str) -> None:
    few = X.astype(np.float32)[Y == "ball"]
    model = IncrementalRidgeClassifier(class_weight={}).fit(placed(few, place), ["ball", "ball"])
    kept = model.learner_.engine.memory.rows_of("ball")
    np.testing.assert_array_equal(kept, few)
    kept[:] = 0.0
    np.testing.assert_array_equal(model.learner_.engine.memory.rows_of("ball"), few)


@EVERYWHERE
def test_pickles_and_copies_live_where_the_model_did(place: str) -> None:
    rows, y = wide()
    model = IncrementalRidgeClassifier().fit(placed(rows[:50], place), y[:50])
    model.predict(at_home(rows, model))
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert device_of(other.coef_) == device(place)
        for n in range(50, 120):
            other.partial_fit(placed(rows[n : n + 1], place), y[n : n + 1])
        assert_same(other, IncrementalRidgeClassifier().fit(rows, y), rows)
    assert_same(model, IncrementalRidgeClassifier().fit(rows[:50], y[:50]), rows)


# Threads.


# A thread's first product on a GPU makes torch say so.
@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS:UserWarning")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("asked", [1, 40])
def test_an_answer_is_that_of_before_or_of_after_a_lesson(class_weight: Any, asked: int) -> None:
    rows, y = wide(160, width=16)
    there, questions = placed(rows, "torch"), placed(rows[:asked], "torch")
    model, twin = (
        IncrementalRidgeClassifier(class_weight=class_weight).fit(there[:100], y[:100])
        for _ in range(2)
    )
    allowed = [on_host(twin.scores(questions))]
    for n in range(100, 160):
        twin.partial_fit(there[n : n + 1], y[n : n + 1])
        allowed.append(on_host(twin.scores(questions)))
    heard: list[Any] = []
    done: list[bool] = []

    def teach() -> None:
        with config_context(array_api_dispatch=True):
            for n in range(100, 160):
                model.partial_fit(there[n : n + 1], y[n : n + 1])
        done.append(True)

    def ask() -> None:
        with config_context(array_api_dispatch=True):
            while not done:
                heard.append(model.scores(questions))

    together(teach, ask, ask)
    assert heard
    for scores in map(on_host, heard):
        assert any(np.allclose(scores, each, rtol=1e-8, atol=1e-10) for each in allowed)
    np.testing.assert_allclose(on_host(model.scores(questions)), allowed[-1], atol=1e-10)


# Length.


@pytest.mark.slow
@EVERYWHERE
def test_a_long_life_of_few_features_stays_exact(place: str) -> None:
    rows, y = wide(2300, width=3)
    there, here = PLAIN[place](penalty=1e-4), IncrementalRidgeClassifier(penalty=1e-4)
    for n in range(2300):
        there.partial_fit(rows[n : n + 1], y[n : n + 1])
    assert_same(there, here.fit(rows, y), rows[:50])


@pytest.mark.slow
@EVERYWHERE
def test_two_hundred_classes_arrive_one_by_one(place: str) -> None:
    rows, _ = wide(200, width=6)
    there, here = PLAIN[place](), IncrementalRidgeClassifier()
    for label in np.random.default_rng(0).permutation(200).tolist():
        for model in (there, here):
            model.partial_fit(rows[label : label + 1], [f"class {label}"])
    assert_same(there, here, rows)
    assert there.predict(rows).tolist() == here.predict(rows).tolist()


@EVERYWHERE
@pytest.mark.parametrize("penalty", [1.0, "auto"])
def test_a_regressor_learns_and_answers_as_on_the_host(place: str, penalty: Any) -> None:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 5)), rng.uniform(0.1, 3.0, 60)
    Y = X @ rng.normal(size=(5, 2)) + 0.1 * rng.normal(size=(60, 2))
    there, here = IncrementalRidge(penalty), IncrementalRidge(penalty)
    for part in np.array_split(np.arange(len(X)), 4):
        there.partial_fit(placed(X[part], place), placed(Y[part], place), w[part])
        here.partial_fit(X[part], Y[part], w[part])
    there.forget(placed(X[:3], place), Y[:3], w[:3])
    here.forget(X[:3], Y[:3], w[:3])
    there.merge(IncrementalRidge().fit(X[:9], Y[:9]))
    here.merge(IncrementalRidge().fit(X[:9], Y[:9]))
    answer = there.predict(placed(X, place))
    assert device_of(answer) == device(place)
    assert there.penalty_ == pytest.approx(here.penalty_)
    np.testing.assert_allclose(on_host(there.coef_), here.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(on_host(answer), here.predict(X), rtol=1e-7, atol=1e-9)
    moved = there.move_to(None)
    np.testing.assert_allclose(moved.predict(X), here.predict(X), rtol=1e-7, atol=1e-9)
