"""Laws that every model and every solver of this package keeps, to be run on those of your own.

Each law is a function that teaches copies of what it is given. If a copy breaks the law, it raises
AssertionError, which says how. Laws of models take what `check_model` takes, and laws of solvers
what `check_solver` takes: these two run all of their kind. None needs pytest.

>>> from newfound import IncrementalRidgeClassifier
>>> check_model(IncrementalRidgeClassifier(class_weight="balanced"))
"""

import copy
import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from newfound.common.arrays import Counts, Index, Labels, Rows
from newfound.common.ctrl_c import CtrlC
from newfound.common.device import device_of, on_host, precision_of
from newfound.estimators.loading import load
from newfound.solvers.base import Solver
from newfound.solvers.cholesky import Equations, solve
from newfound.storage.format import read
from newfound.sums.device import rows_at
from newfound.sums.sums import Sums

# How far numbers that mathematics says are equal may differ, beside the largest of them.
TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-3}


def small_stream(dtype: Any = np.float64, seed: int = 0) -> tuple[Rows, Labels]:
    """Return rows (60, 5) and labels (60,) that are hard enough to tell right from wrong.

    Four uneven classes that do not come in the order of their names, the rarest with two examples;
    features far from zero, some rows twice.

    Parameters
    ----------
    dtype : dtype, default=float64
    seed : int, default=0

    Returns
    -------
    X : ndarray of shape (60, 5)
    y : ndarray of shape (60,)

    Examples
    --------
    >>> X, y = small_stream()
    >>> [f"{label}: {np.sum(y == label)}" for label in np.unique(y)]
    ['ball: 2', 'cup: 18', 'jug: 29', 'mug: 11']
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(["mug", "jug", "cup", "ball"], [11, 29, 18, 2]))
    X = rng.normal(size=(60, 5)) + np.eye(4, 5)[np.unique(y, return_inverse=True)[1]] + 3
    for label in ("mug", "jug"):  # two examples that are the same
        one, other = np.flatnonzero(y == label)[:2]
        X[other] = X[one]
    return X.astype(dtype), y


def check_model(model: Any, X: Any = None, y: Any = None) -> None:
    """Run all checks of models; each can be called alone, with the same parameters.

    Parameters
    ----------
    model : IncrementalRidgeClassifier
        Of whatever subclass and parameters; it is cloned, and not changed.
    X, y : array-like of shape (m, d) and (m,), optional
        Rows and labels, of three classes or more, to be taught; by default `small_stream()`.

    Raises
    ------
    AssertionError
        If the model breaks one of the laws.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_model(IncrementalRidgeClassifier(fit_intercept=False))
    """
    for check in MODEL_CHECKS:
        check(model, X, y)


def check_splitting_does_not_matter(model: Any, X: Any = None, y: Any = None) -> None:
    """One call that learns everything equals many that learn a part each.

    A model that chooses its parameters does so at certain moments of a stream, however that is
    split; it is compared with one call once it has reconsidered.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_splitting_does_not_matter(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    whole, parts, rows = clone(model).fit(X, y), clone(model), clone(model)
    for part in np.array_split(np.arange(len(X)), 5):
        parts.partial_fit(X[part], y[part])
    for row, label in zip(X[:, None], y[:, None], strict=True):
        rows.partial_fit(row, label)
    _assert_close(_answers(parts, X), _answers(rows, X), "parts and single rows", X.dtype)
    _assert_alike(whole, parts, X, "fit and partial_fit")
    _assert_alike(whole, rows, X, "fit and single rows")


def check_order_does_not_matter(model: Any, X: Any = None, y: Any = None) -> None:
    """The same rows in another order make the same model.

    A model that chooses its parameters may then keep other witnesses (exemplars: a reservoir sample
    per class): of one that has a `penalty_`, only classes and counts are compared.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_order_does_not_matter(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    there, back, mixed = clone(model), clone(model), clone(model)
    shuffled = np.random.default_rng(0).permutation(len(X))
    for part in np.array_split(np.arange(len(X)), 4):
        there.partial_fit(X[part], y[part])
        back.partial_fit(X[::-1][part], y[::-1][part])
        mixed.partial_fit(X[shuffled[part]], y[shuffled[part]])
    _assert_alike(there, back, X, "a stream and the same backwards", chosen_anew=True)
    _assert_alike(there, mixed, X, "a stream and the same shuffled", chosen_anew=True)


def check_forgetting_undoes_learning(model: Any, X: Any = None, y: Any = None) -> None:
    """What was taught and forgotten leaves no trace, and a class without examples is gone.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_forgetting_undoes_learning(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    stays = y != y[-1]
    never, taught = clone(model).fit(X[stays], y[stays]), clone(model).fit(X[stays], y[stays])
    taught.partial_fit(X[~stays], y[~stays])
    for row, label in zip(X[~stays, None], y[~stays, None], strict=True):
        taught.forget(row, label)
    _assert_alike(never, taught, X, "never taught and taught and forgotten")
    taught.forget(X[stays], y[stays])
    try:
        taught.predict(X)
    except NotFittedError:
        return
    raise AssertionError("what has forgotten everything still answers")


def check_merging_is_the_union(model: Any, X: Any = None, y: Any = None) -> None:
    """Two models merged are one that was taught both streams; the other is not changed.

    Of a model that chooses its parameters only classes and counts are compared: see
    `check_order_does_not_matter`.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_merging_is_the_union(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    first = y == y[0]
    first[len(first) // 2 :] = True  # so that each knows a class that the other does not
    first &= y != y[-1]
    one, other = (clone(model).fit(X[part], y[part]) for part in (first, ~first))
    before = _saved(other)
    both, reverse = copy.deepcopy(one).merge(other), clone(model).merge(other).merge(one)
    whole = clone(model).fit(X, y)
    _assert_alike(whole, both, X, "one model and two merged", chosen_anew=True)
    _assert_alike(whole, reverse, X, "one model and two merged", chosen_anew=True)
    assert _saved(other) == before, "merging changed the other model"


def check_a_late_class_is_as_good_as_an_early_one(model: Any, X: Any = None, y: Any = None) -> None:
    """A class that comes last equals the same announced from the start.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_a_late_class_is_as_good_as_an_early_one(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    late = np.unique(y)[-1]
    order = np.argsort(y == late, kind="stable")
    X, y = X[order], y[order]
    surprised, announced = clone(model), clone(model)
    for part in np.array_split(np.arange(len(X)), 6):
        surprised.partial_fit(X[part], y[part])
        announced.partial_fit(X[part], y[part], classes=np.unique(y))
        untaught = late not in y[: part[-1] + 1].tolist()
        assert not (untaught and late in announced.predict(X)), "predicts a class never taught"
    _assert_alike(surprised, announced, X, "a late class and one announced")


def check_bad_input_changes_nothing(model: Any, X: Any = None, y: Any = None) -> None:
    """What cannot be learned or forgotten raises ValueError and leaves the model as it was.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_bad_input_changes_nothing(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    taught = clone(model).fit(X, y)
    before, answers = _saved(taught), _answers(taught, X)
    for what, refused in _nonsense(taught, X, y):
        words = None
        try:
            refused()
        except (ValueError, TypeError) as error:
            words = str(error)
        assert words is not None, f"{what} is not refused"
        assert words.strip(), f"{what} is refused without a word"
        assert _saved(taught) == before, f"{what} is refused, but leaves a trace in what is saved"
    _assert_close(answers, _answers(taught, X), "before and after what was refused", X.dtype)


def check_asking_changes_nothing(model: Any, X: Any = None, y: Any = None) -> None:
    """What a model answers later does not depend on what it was asked before.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_asking_changes_nothing(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    silent, asked = clone(model), clone(model)
    for part in np.array_split(np.arange(len(X)), 6):
        silent.partial_fit(X[part], y[part])
        asked.partial_fit(X[part], y[part])
        before = _saved(asked)
        asked.predict(X), asked.decision_function(X), asked.predict_proba(X)
        asked.novelty(X), asked.unknown_proba(X)
        repr(asked), asked.coef_, asked.intercept_, asked.class_count_
        assert _saved(asked) == before, "asking changed what is saved"
    _assert_alike(silent, asked, X, "never asked and asked all the time")


def check_saving_and_loading(model: Any, X: Any = None, y: Any = None) -> None:
    """A saved model comes back as it was, goes on alike, and is saved as the same bytes.

    `newfound.load` reads the package's own models; others are read by their `from_state`.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_saving_and_loading(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    taught = clone(model).fit(X[: len(X) // 2], y[: len(X) // 2])
    saved = _saved(taught)
    assert _saved(copy.deepcopy(taught)) == saved, "saving twice gives different bytes"
    loaded = _loaded(type(taught), saved)
    assert type(loaded) is type(taught), f"a {type(loaded).__name__} comes back"
    assert _saved(loaded) == saved, "saving what was loaded gives different bytes"
    _assert_same_and_going_on(taught, loaded, X, y, "saved and loaded")


def check_pickling(model: Any, X: Any = None, y: Any = None) -> None:
    """A model that was pickled or copied is as it was and goes on alike; a clone is untaught.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_pickling(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    taught = clone(model).fit(X[: len(X) // 2], y[: len(X) // 2])
    others = {"pickled": pickle.loads(pickle.dumps(taught)), "copied": copy.deepcopy(taught)}
    for what, other in others.items():
        _assert_alike(taught, other, X, what)
        _assert_same_and_going_on(copy.deepcopy(taught), other, X, y, what)
    assert not clone(taught).__sklearn_is_fitted__(), "a clone has been taught"


def check_classes_are_sorted(model: Any, X: Any = None, y: Any = None) -> None:
    """Classes are sorted whenever they come, and all that is listed by class follows them.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_classes_are_sorted(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    taught = clone(model)
    for index, (row, label) in enumerate(zip(X[:, None], y[:, None], strict=True), start=1):
        taught.partial_fit(row, label)
        if index in (1, 2, len(X) // 3, len(X)):
            _assert_in_order(taught, X, y[:index])


def check_storing_is_learning(model: Any, X: Any = None, y: Any = None) -> None:
    """Rows that were stored, piece by piece, are learned as well as rows that were taught.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_storing_is_learning(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    third = len(X) // 3
    taught, stored = (clone(model).fit(X[:third], y[:third]) for _ in range(2))
    taught.partial_fit(X[third:], y[third:])
    stored.store(X[third:], y[third:])
    _assert_alike(taught, stored, X, "taught and stored")


def check_renaming_changes_names_alone(model: Any, X: Any = None, y: Any = None) -> None:
    """A class that was renamed is as good as one that always had that name.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_renaming_changes_names_alone(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    first, last = np.unique(y)[[0, -1]].tolist()
    renamed = clone(model).fit(X, y).rename_class(last, first)
    always = clone(model).fit(X, np.where(y == last, np.asarray(first, dtype=y.dtype), y))
    _assert_alike(always, renamed, X, "renamed and always called so", chosen_anew=True)


def check_interrupts_leave_no_halves(model: Any, X: Any = None, y: Any = None) -> None:
    """Ctrl-C at any moment leaves a model as it was, or as it is once all is done.

    `check_interrupted` is this law of whatever can be changed, at more moments.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> check_interrupts_leave_no_halves(IncrementalRidgeClassifier())
    """
    X, y = _stream(X, y)
    half = len(X) // 2
    taught, more = clone(model).fit(X[:half], y[:half]), clone(model).fit(X[half:], y[half:])

    def make() -> Any:
        asked = copy.deepcopy(taught)
        asked.predict(X)
        return asked

    def look(model: Any) -> list[Any]:
        if not model.__sklearn_is_fitted__():
            return []
        scores = model.scores(X)
        seen = [_saved(model), scores, model.unknown_proba(X).astype(scores.dtype)]
        model.partial_fit(X[:3], y[:3])  # and it goes on alike
        return [*seen, _saved(model), model.scores(X)]

    for change in (
        lambda model: model.partial_fit(X[half : half + 1], y[half : half + 1]),
        lambda model: model.partial_fit(X[half:], y[half:]),
        lambda model: model.fit(X[half:], y[half:]),
        lambda model: model.forget(X[:2], y[:2]),
        lambda model: model.forget(X[:half], y[:half]),
        lambda model: model.merge(more),
        lambda model: model.rename_class(*y[[0, half]].tolist()),
    ):
        check_interrupted(make, change, look)


def check_interrupted(
    make: Callable[[], Any],
    change: Callable[[Any], object],
    look: Callable[[Any], list[Any]],
    moments: int = 10,
) -> None:
    """Ctrl-C at any moment of a change leaves a thing as it was, or as it is once changed.

    Call it in the main thread: no other is interrupted.

    Parameters
    ----------
    make : callable
        Returns the thing, the same each time.
    change : callable
        Takes the thing, and changes it.
    look : callable
        Takes the thing, and returns all that is seen of it. Arrays of floats may differ by
        rounding; all else has to be equal.
    moments : int, default=10
        At how many moments Ctrl-C comes, one a time; they are spread evenly.

    Examples
    --------
    >>> check_interrupted(list, lambda numbers: numbers.extend([1, 2]), list)
    """
    before, changed, whole = look(make()), make(), CtrlC()
    whole.during(partial(change, changed))
    after = look(changed)
    for moment in np.unique(np.linspace(1, whole.moments, moments).astype(int)).tolist():
        thing, ctrl_c = make(), CtrlC(moment)
        ctrl_c.during(partial(change, thing))
        seen = look(thing)
        assert _look_alike(seen, before) or _look_alike(seen, after), (
            f"interrupted at {ctrl_c.where}, it is neither as before nor as after"
        )


def check_solver(
    make: Callable[[Sums], Solver], per_class: bool = False, X: Any = None, y: Any = None
) -> None:
    """Run all checks of solvers; each can be called alone, with the same parameters.

    Parameters
    ----------
    make : callable
        Returns a new solver on the sums it is given.
    per_class : bool, default=False
        Whether the solver needs sums that are held per class.
    X, y : array-like of shape (m, d) and (m,), optional
        Rows of a device are learned there, by sums that live there.

    Raises
    ------
    AssertionError
        If the solver breaks one of the laws.

    Examples
    --------
    >>> from newfound.solvers.recursive import RecursiveSolver
    >>> check_solver(lambda sums: RecursiveSolver(sums, penalty=2.0, fit_intercept=True))
    """
    for check in SOLVER_CHECKS:
        check(make, per_class, X, y)


def check_solver_equals_cholesky(
    make: Callable[[Sums], Solver], per_class: bool = False, X: Any = None, y: Any = None
) -> None:
    """After every row and every batch, a solver answers as a factorisation from scratch would.

    The weight of an example is what the solver's `weight_sums` say, over the count of its class.

    Examples
    --------
    >>> from newfound.solvers.weighted import RebalancedSolver
    >>> check_solver_equals_cholesky(
    ...     lambda sums: RebalancedSolver(sums, 2.0, True, "balanced"), per_class=True
    ... )
    """
    X, y = _stream(X, y, there=True)
    learner = _Learner(make, X, y, per_class)
    third = len(y) // 3
    for index in range(third):
        learner.learn(np.array([index]))
    learner.learn(np.arange(third, len(y)))
    learner.learn(np.arange(3))  # once more: a batch that is small beside the features


def check_solver_forgets(
    make: Callable[[Sums], Solver], per_class: bool = False, X: Any = None, y: Any = None
) -> None:
    """After rows, or all rows of a class, were taken out, a solver answers as without them.

    Examples
    --------
    >>> from newfound.solvers.recursive import RecursiveSolver
    >>> check_solver_forgets(lambda sums: RecursiveSolver(sums, 2.0, fit_intercept=False))
    """
    X, y = _stream(X, y, there=True)
    learner = _Learner(make, X, y, per_class)
    learner.learn(np.arange(len(y)))
    for index in range(3):
        learner.forget(np.array([index]))
    learner.forget(np.arange(3, 6))
    labels, counts = np.unique(y, return_counts=True)
    extremes = labels[np.argsort(counts)[[0, -1]]]
    rarest, commonest = (np.flatnonzero(y == label) for label in extremes)
    for index in np.setdiff1d(rarest, np.arange(6)):  # until its column is gone
        learner.forget(np.array([index]))
    learner.forget(np.setdiff1d(commonest, np.arange(6)))
    learner.learn(np.arange(6))


def check_solver_can_be_discarded(
    make: Callable[[Sums], Solver], per_class: bool = False, X: Any = None, y: Any = None
) -> None:
    """All that a solver holds is derived: thrown away at any moment, it comes back from the sums.

    Examples
    --------
    >>> from newfound.solvers.recursive import RecursiveSolver
    >>> check_solver_can_be_discarded(lambda sums: RecursiveSolver(sums, 2.0, True))
    """
    X, y = _stream(X, y, there=True)
    learner = _Learner(make, X, y, per_class)
    for part in np.array_split(np.arange(len(y)), 5):
        learner.learn(part)
        learner.solver.discard()
        learner.compare("after all was discarded")
        learner.solver.discard()  # now with rows to come before the next question


MODEL_CHECKS: tuple[Callable[..., None], ...] = (
    check_splitting_does_not_matter,
    check_order_does_not_matter,
    check_forgetting_undoes_learning,
    check_merging_is_the_union,
    check_a_late_class_is_as_good_as_an_early_one,
    check_bad_input_changes_nothing,
    check_asking_changes_nothing,
    check_saving_and_loading,
    check_pickling,
    check_classes_are_sorted,
    check_storing_is_learning,
    check_renaming_changes_names_alone,
    check_interrupts_leave_no_halves,
)
SOLVER_CHECKS: tuple[Callable[..., None], ...] = (
    check_solver_equals_cholesky,
    check_solver_forgets,
    check_solver_can_be_discarded,
)


class _Learner:
    """A solver with its sums, and the rows that both were taught, to compare the two."""

    def __init__(self, make: Callable[[Sums], Solver], X: Rows, y: Labels, per_class: bool) -> None:
        self.X, self.y = on_host(X), y
        self.there, self.dtype = X, precision_of(X)
        self.sums = Sums(X.shape[1], per_class, device_of(X))
        self.solver = make(self.sums)
        self.taught: list[int] = []

    def learn(self, places: Index) -> None:
        rows = rows_at(self.there, places, self.sums.device)
        index, labels = self.sums.locate(self.y[places])
        self.solver.learn(rows, index, labels)
        self.sums.add(rows, index, labels)
        self.taught += places.tolist()
        self.compare(f"after {len(places)} rows were learned")

    def forget(self, places: Index) -> None:
        rows = rows_at(self.there, places, self.sums.device)
        index, _ = self.sums.locate(self.y[places])
        remove = self.sums.prepare_removal(rows, index)
        self.solver.forget(rows, index)
        self.solver.remove_classes(remove())
        for index in places.tolist():
            self.taught.remove(index)
        self.compare(f"after {len(places)} rows were forgotten")

    def compare(self, when: str) -> None:
        """Assert that the solver answers as one that has nothing but the rows."""
        solver, places = self.solver, np.array(self.taught)
        X, index = self.X[places].astype(np.float64), self.sums.locate(self.y[places])[0]
        counts: Counts = np.bincount(index, minlength=self.sums.n_classes)
        weight = solver.weight_sums / counts
        targets = np.eye(len(counts))[index] * weight[index, None]
        gram = np.asfortranarray(X.T @ (X * weight[index, None]))
        equations = Equations(gram, X.T @ targets, solver.weight_sums)
        direct = solve(equations, solver.penalty, solver.fit_intercept)
        half = np.linalg.solve(np.tril(direct.factor), (self.X - direct.mean).T)
        leverage = (half**2).sum(axis=0) + solver.fit_intercept / solver.weight_sums.sum()
        for name, value, expected in (
            ("weights", solver.weights, direct.weights),
            ("intercept", solver.intercept, direct.intercept),
            ("leverage", solver.leverage(self.there), leverage),
        ):
            what = f"{name} from scratch and from the solver, {when}"
            _assert_close(expected, on_host(value), what, self.dtype)


def _look_alike(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    for here, there in zip(one, other, strict=True):
        if isinstance(here, np.ndarray) and here.dtype.kind == "f":
            try:
                _assert_close(here, there, "", here.dtype)
            except AssertionError:
                return False
        elif not np.array_equal(here, there):
            return False
    return True


def _stream(X: Any, y: Any, there: bool = False) -> tuple[Any, Any]:
    """Return rows and labels, as numpy's; but rows that may be `there` stay on their device."""
    if X is None or y is None:
        return small_stream()
    rows, labels = X if there and device_of(X) is not None else np.asarray(X), np.asarray(y)
    assert rows.shape[0] == len(labels) >= 12, "checks need a dozen rows, with a label each"
    assert len(np.unique(labels)) > 2, "checks need three classes"
    return rows, labels


def _answers(model: Any, X: Any) -> Any:
    return model.scores(X).astype(np.float64)


def _assert_close(one: Any, other: Any, what: str, dtype: Any) -> None:
    assert one.shape == other.shape, f"{what}: shapes {one.shape} and {other.shape}"
    finite = np.isfinite(one)
    assert (finite == np.isfinite(other)).all(), f"{what}: infinite in different places"
    far = np.abs(one[finite] - other[finite]).max(initial=0.0)
    scale = max(1.0, np.abs(one[finite]).max(initial=0.0))
    limit = TOLERANCE.get(np.dtype(dtype), TOLERANCE[np.dtype(np.float64)])
    assert far <= limit * scale, f"{what}: {far:.1e} apart, beside numbers up to {scale:.1e}"


def _assert_alike(one: Any, other: Any, X: Any, what: str, chosen_anew: bool = False) -> None:
    """Two models know the same and, unless each chose its parameters, score alike."""
    assert one.classes_.tolist() == other.classes_.tolist(), f"{what}: other classes"
    assert one.class_count_.tolist() == other.class_count_.tolist(), f"{what}: other counts"
    if hasattr(one, "penalty_"):
        if chosen_anew:
            return
        one, other = (copy.deepcopy(model).reconsider() for model in (one, other))
    _assert_close(_answers(one, X), _answers(other, X), f"{what}: scores", X.dtype)


def _assert_same_and_going_on(one: Any, other: Any, X: Any, y: Any, what: str) -> None:
    _assert_alike(one, other, X, what)
    for model in (one, other):
        model.partial_fit(X[len(X) // 2 :], y[len(X) // 2 :]).forget(X[:2], y[:2])
    _assert_alike(one, other, X, f"{what}, and taught more")


def _assert_in_order(model: Any, X: Any, y: Any) -> None:
    """Classes are sorted, and all that is listed by class, after `y` was taught, follows them."""
    labels, counts = np.unique(y, return_counts=True)
    assert model.classes_.tolist() == labels.tolist(), f"{model.classes_} are not {labels}"
    assert model.class_count_.tolist() == counts.tolist(), "counts are not those of the classes"
    assert model.n_samples_seen_ == len(y), f"{len(y)} rows taught, {model.n_samples_seen_} seen"
    proba, scores = model.predict_proba(X), _answers(model, X)
    assert proba.shape == (len(X), len(labels)), "probabilities are not one a class"
    assert np.allclose(proba.sum(axis=1), 1), "probabilities do not add up to one"
    best = labels[scores.argmax(axis=1)]
    assert (model.predict(X) == best).all(), "predicts not the class of the highest score"
    chosen = np.take_along_axis(proba, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
    assert (chosen == proba.max(axis=1)).all(), "the best class is not the most probable"
    novelty = model.novelty(X)
    assert ((novelty >= 0) & (novelty < 1)).all(), "novelty leaves [0, 1)"
    unknown = model.unknown_proba(X)
    assert ((unknown >= 0) & (unknown <= 1)).all(), "the unknown leaves [0, 1]"
    decision = scores[:, 1] - scores[:, 0] if len(labels) == 2 else scores
    assert (model.decision_function(X) == decision).all(), "decides by something else than scores"


def _nonsense(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what no model takes: its name, and a call that should raise."""
    row, label = X[:1], y[:1]
    learned: dict[str, tuple[Any, Any]] = {
        "NaN": (row * np.nan, label),
        "infinity": (row * np.inf, label),
        "a value whose square overflows": (row.astype(np.float64) * 0 + 1e300, label),
        "a row of another width": (np.hstack([row, row]), label),
        "more rows than labels": (X[:2], label),
        "no rows": (X[:0], y[:0]),
        "a row without its brackets": (X[0], label),
        "words for numbers": (np.full(row.shape, "mug"), label),
        "no label": (row, [None]),
        "a broken number as a label": (row, [0.5]),
        "a label of another type": (row, [True]),
    }
    for what, (rows, labels) in learned.items():
        yield f"partial_fit of {what}", partial(model.partial_fit, rows, labels)
        yield f"forget of {what}", partial(model.forget, rows, labels)
    unknown = f"{y[0]}?" if np.asarray(y).dtype.kind == "U" else 10**6
    many = np.repeat(row, len(X) + 1, axis=0)
    yield "forgetting an unknown class", lambda: model.forget(row, [unknown])
    yield "forgetting more than was taught", lambda: model.forget(many, np.repeat(label, len(many)))
    yield "forgetting what was not taught", lambda: model.forget(1e3 + 1e3 * row, label)
    yield "renaming an unknown class", lambda: model.rename_class(unknown, label[0])
    yield "merging another width", lambda: model.merge(clone(model).fit(X[:, 1:], y))


def _saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.newfound")
        return (Path(folder) / "model.newfound").read_bytes()


def _loaded(kind: Any, data: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.newfound"
        path.write_bytes(data)
        is_ours = kind.__module__.startswith("newfound.")
        return load(path) if is_ours else kind.from_state(read(path))
