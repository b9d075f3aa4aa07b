"""The estimator that chooses its penalty and recoding inside the stream."""

import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.errors import InputError, NotTaughtError
from newfound.common.interrupts import uninterrupted
from newfound.common.locks import locked
from newfound.estimators.classifier import IncrementalRidgeClassifier, Lessons
from newfound.heads.recoding import recoding_factors
from newfound.selection.holdout import HeldBack
from newfound.selection.rules import Choice
from newfound.selection.selector import ALL_ALIKE, Selector, right_answers
from newfound.solvers.base import Solver, solver_for
from newfound.solvers.grid import Candidates
from newfound.solvers.settings import (
    ClassWeight,
    SelectionSettings,
    Settings,
    checked_selection_settings,
)
from newfound.storage.format import State
from newfound.storage.selection import packed, unpacked
from newfound.sums.labels import as_labels
from newfound.sums.sums import Sums


class IncrementalRidgeClassifierCV(IncrementalRidgeClassifier):
    """Incremental ridge classifier that chooses penalty and recoding while it learns.

    Nobody knows the right penalty, or how far to raise a class seen three times. This holds out
    every sixth example of a class and validates the candidates on them: hold-out validation inside
    the stream, not cross-validation. One solver for each penalty is kept current, in fixed time;
    recodings cost nothing but a product.

    The default rule asks *what if*: what if only three examples had been taught of a class that
    is known well? The sums tell which penalty and which recoding would then have served all known
    classes best (docs/selection.md). The answer depends on the number of examples, so every class
    has its own recoding, which fades as it becomes known.

    Parameters
    ----------
    penalties : "auto" or sequence of float, default="auto"
        Ridge penalties to choose from. "auto" is ten of them, from 10 to 100,000 times the mean
        square of a feature (around its mean, with an intercept), so that the scale of the
        features does not matter.
    recodings : float or sequence of float, default=(0, 0.1, …, 1)
        Recodings to choose from.
    rule : "what-if", "paper" or None, default="what-if"
        "paper" is the strongest recoding under which the classes of the validation set, each
        recoding with its best penalty, do not fare worse than without recoding. None chooses the
        penalty alone, for one recoding.
    holdout_every : int, default=6
        Hold out every `holdout_every`-th example of each class.
    holdout_cap : int, default=200
        Hold out at most so many examples of a class at a time. Beyond, they are a reservoir:
        every example that was offered is equally likely to be in it, and what leaves is learned.
    min_class_count : int, default=30
        Only classes of which so many examples were taught validate; the others are rare.
    tolerance : float or "one-se", default=0.0
        How much the validation accuracy may suffer from recoding under rule "paper": the paper's
        0, an allowance, or one standard error of the difference, over classes.
    validation : "holdout" or "progressive", default="holdout"
        "progressive" holds out no more than the few examples that the what-ifs need (none, for
        the other rules). Instead it tests every candidate on every example just before that is
        learned (of several learned in one call, before that call), and counts, for each class
        alike and with fading memory, who was right.
    class_weight : None, "balanced" or mapping of label to float, default=None
        As in `IncrementalRidgeClassifier`, for every candidate. Under "balanced" there is nothing
        to recode, and the penalty is chosen alone.
    fit_intercept : bool, default=True
    random_state : int, default=0
        Seed of what is held out once there is too much, and of the what-ifs.

    Attributes
    ----------
    penalty_ : float
        The penalty chosen for now.
    recoding_ : ndarray of shape (T,)
        The recoding chosen for now, of each class.
    validation_scores_ : dict of ndarrays
        How each candidate fares with the validation examples, and in the what-ifs.
    classes_, coef_, intercept_, n_features_in_, feature_names_in_
        As those of `IncrementalRidgeClassifier`.
    class_count_, n_samples_seen_
        Likewise; examples held out are part of them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from newfound import IncrementalRidgeClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> model = IncrementalRidgeClassifierCV().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.88
    True
    """

    _LEARNED: ClassVar[tuple[str, ...]] = ("_sums", "_derived", "_selector")
    _SETTINGS: ClassVar[Any] = SelectionSettings

    _selector: Selector  # what the choice rests on: saved and merged, too

    def __init__(
        self,
        penalties: Literal["auto"] | ArrayLike = "auto",
        recodings: float | ArrayLike = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        rule: Literal["what-if", "paper"] | None = "what-if",
        holdout_every: int = 6,
        holdout_cap: int = 200,
        min_class_count: int = 30,
        tolerance: float | Literal["one-se"] = 0.0,
        validation: Literal["holdout", "progressive"] = "holdout",
        class_weight: ClassWeight | None = None,
        fit_intercept: bool = True,
        random_state: int = 0,
    ) -> None:
        self.penalties = penalties
        self.recodings = recodings
        self.rule = rule
        self.holdout_every = holdout_every
        self.holdout_cap = holdout_cap
        self.min_class_count = min_class_count
        self.tolerance = tolerance
        self.validation = validation
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def merge(self, other: IncrementalRidgeClassifier) -> Self:
        """Learn everything another model was taught; classes are matched by label.

        What the other model holds out is held out here, too, as far as there is room; the rest
        is learned. Parameters of this model stay as they are, and the other is not changed.

        Parameters
        ----------
        other : IncrementalRidgeClassifier
            This class or the one it is derived from, of as many features.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If widths, names of features or types of labels differ, or if only this model holds
            sums per class; then it is as it was.

        Examples
        --------
        >>> one = IncrementalRidgeClassifierCV().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> two = IncrementalRidgeClassifierCV().fit([[2.0]], ["jug"])
        >>> one.merge(two).classes_
        array(['cup', 'jug', 'mug'], dtype='<U3')
        """
        return super().merge(other)

    @locked
    def _merge(self, theirs: Lessons) -> Self:
        self._check_at_rest()
        settings, names = self._settings(), self._common_names(theirs)
        ours = getattr(self, "_selector", None) or Selector(HeldBack(settings.random_state), 0.0)
        others = theirs.selector or Selector(HeldBack(0), 0.0)
        sums = self._sums_with(theirs.sums, settings)
        held, spare, spare_labels = ours.held.merged(others.held).trimmed(ours.cap(settings))
        if spare:
            sums.add(np.array(spare), *sums.locate(as_labels(spare_labels)))
        merged = Selector(held, ours.scale or others.scale)
        merged.rescale(sums, settings)
        merged.progress_key = merged.key(settings)
        for part in (ours, others):
            if part.progress_key == merged.progress_key:
                merged.progress.merge(part.progress)
        return self._adopt(sums, names, settings, _selector=merged)

    @locked
    def reconsider(self) -> Self:
        """Bring the choice of penalty and recoding up to date now.

        Otherwise a choice is kept until much more was taught, and then renewed piece by piece with
        every call that learns. After a long lesson, ask for it at once.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If nothing was taught.

        Examples
        --------
        >>> model = IncrementalRidgeClassifierCV().fit([[0.0], [1.0]], ["cup", "mug"])
        >>> model.reconsider().classes_
        array(['cup', 'mug'], dtype='<U3')
        """
        sums, settings = self._taught(), self._settings()
        self._selector.rescale(sums, settings)
        self._selector.reconsider(self._candidates(settings), settings)
        return self

    @property
    @locked
    def class_count_(self) -> Counts:
        """Number of examples of each class, those held out included, shape (T,)."""
        sums = self._taught()
        return self._selector.counts(sums)[sums.order].copy()

    @property
    @locked
    def n_samples_seen_(self) -> int:
        """Number of examples taught and not forgotten, those held out included."""
        return int(self.class_count_.sum())

    @property
    @locked
    def holdout_(self) -> tuple[Rows, Labels]:
        """Rows (m, d) that are held out, and their labels (m,)."""
        sums = self._taught()
        rows, index = self._selector.held.stacked(sums.labels, sums.width)
        return rows, sums.labels[index]

    @locked
    def kept_rows(self, label: Any) -> Rows:
        """Return the examples of a class that are still held as they came: also those held out.

        Parameters
        ----------
        label : str, bool or int
            A class that was taught.

        Returns
        -------
        ndarray of shape (m, d)

        Raises
        ------
        ValueError
            If there is no such class.

        Examples
        --------
        >>> model = IncrementalRidgeClassifierCV(holdout_every=2)
        >>> model.fit([[1.0], [2.0], [3.0]], ["cup", "cup", "cup"]).kept_rows("cup")
        array([[2.]])
        """
        learned = super().kept_rows(label)
        held_out = self._selector.held.rows.get(label, [])
        return np.concatenate([learned, *(row[None] for row in held_out)])

    @locked
    def lessons(self) -> Lessons | None:
        """Return a copy of everything taught, whatever the parameters: what `merge` asks for.

        Returns
        -------
        Lessons or None
            None if nothing was taught.

        Examples
        --------
        >>> model = IncrementalRidgeClassifierCV(holdout_every=2).fit([[0.0], [1.0]], ["a", "a"])
        >>> model.lessons().rows
        array([[1.]])
        """
        theirs = super().lessons()
        return theirs and theirs._replace(selector=copy.deepcopy(self._selector))

    def _state(self, settings: SelectionSettings) -> State:
        arrays = packed(self._selector, self._sums, settings)
        unpacked(arrays, self._sums, settings)  # what could not be read is not written
        return super()._state(settings).keeping("selection", arrays)

    def _learned_in(self, state: State, settings: SelectionSettings) -> dict[str, Any]:
        try:
            kept = state.kept_by("selection")
            return {"_selector": unpacked(kept, state.sums, settings)}
        except KeyError as error:
            raise InputError(f"its selection lacks {error}") from error

    @property
    @locked
    def penalty_(self) -> float:
        """The penalty chosen for now."""
        self._taught()
        settings = self._settings()
        return self._candidates(settings).penalties[self._choice(settings).penalty]

    @property
    @locked
    def recoding_(self) -> Floats:
        """The recoding chosen for now, of each class, shape (T,)."""
        order = self._taught().order
        return self._choice(self._settings()).recoding[order].copy()

    @property
    @locked
    def validation_scores_(self) -> dict[str, NDArray[np.float64]]:
        """How each candidate fares: columns of a table with one line for each.

        "penalty" and "recoding"; "accuracy", the mean over the classes that validate, NaN if none;
        and, under the what-if rule, "what_if", the mean over known classes had some of them been
        taught as rarely as the rare ones were, NaN while too little is known for that.
        """
        sums, settings = self._taught(), self._settings()
        candidates, selector = self._candidates(settings), self._selector
        recodings = settings.recodings
        shape = (len(candidates.solvers), len(recodings))
        voting = selector.voting(candidates, settings, settings.min_class_count)
        accuracy = np.full(shape, np.nan) if voting is None else voting.table.mean(axis=2)
        grid = np.meshgrid(candidates.penalties, recodings, indexing="ij")
        columns = {"penalty": grid[0], "recoding": grid[1], "accuracy": accuracy}
        if settings.rule == "what-if":
            columns["what_if"] = np.full(shape, np.nan)
            schedule = selector.current_schedule(candidates, settings)
            if schedule is not None:
                rare = selector.rare_counts(sums, settings)
                present = schedule.present(rare, settings.min_class_count)
                columns["what_if"] = np.tensordot(present, schedule.table.mean(axis=3), 1)
        return {name: np.asarray(column).ravel() for name, column in columns.items()}

    @locked
    def plot_validation(self, ax: Any = None) -> Any:
        """Plot the accuracy of rare and of well-known classes against the recoding.

        Under the what-if rule, that of classes pretended as rare as the rare ones at hand, and of
        the other known ones, for the penalty chosen. Otherwise that of the classes that validate,
        and of those that do not but have examples held out, each recoding with its best penalty.
        The choice is marked; where classes have recodings of their own, the range of those of the
        rare.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        NotFittedError
            If nothing was taught.
        ModuleNotFoundError
            If matplotlib, of the extra `plots`, is not there.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> model = IncrementalRidgeClassifierCV().fit(*load_digits(return_X_y=True))
        >>> model.plot_validation().get_xlabel()
        'recoding'
        """
        from newfound.selection.plot import plot  # matplotlib takes its time, and may be absent

        self._taught()
        settings = self._settings()
        choice = self._choice(settings)
        return plot(self._selector, self._candidates(settings), choice, settings, ax)

    def _settings(self) -> SelectionSettings:
        return checked_selection_settings(
            self.penalties,
            self.recodings,
            self.rule,
            self.holdout_every,
            self.holdout_cap,
            self.min_class_count,
            self.tolerance,
            self.validation,
            self.class_weight,
            self.fit_intercept,
            self.random_state,
        )

    def _key(self, settings: SelectionSettings) -> tuple[Any, ...]:
        penalties = self._selector.penalties(settings)
        return penalties, settings.class_weight, settings.fit_intercept

    def _make_candidates(self, sums: Sums, settings: SelectionSettings) -> Candidates:
        shared = 0.0, settings.class_weight, settings.fit_intercept
        penalties = self._selector.penalties(settings)
        return Candidates([solver_for(sums, Settings(each, *shared)) for each in penalties])

    def _begin(self, rows: Rows, settings: SelectionSettings) -> None:
        super()._begin(rows, settings)
        around: Any = 0.0
        if settings.fit_intercept and len(rows) > 1:
            around = rows.mean(axis=0, dtype=np.float64)
        scale, squares = (
            float(np.square(rows - origin, dtype=np.float64).mean()) for origin in (around, 0.0)
        )
        scale = scale if scale > ALL_ALIKE * squares else 0.0
        self._selector = Selector(HeldBack(settings.random_state), scale)

    def _take_in(
        self,
        rows: Rows,
        index: Index,
        known: Labels,
        settings: SelectionSettings,
        put_off: bool,
    ) -> None:
        selector, sums = self._selector, self._sums
        selector.held.seed = settings.random_state
        self._trim(settings)
        candidates, labels = self._derived.candidates, known[index].tolist()
        plan = selector.held.plan(rows, labels, settings.holdout_every, selector.cap(settings))
        tested: list[Any] = []
        if settings.validation == "progressive" and sums.total:
            taught = np.append(sums.counts > 0, np.zeros(len(known), dtype=bool))[index]
            tested = [label for label, is_taught in zip(labels, taught, strict=True) if is_taught]
            right = [
                right_answers(solver, rows[taught], index[taught], settings.recodings)
                for solver in candidates.solvers
            ]
        with uninterrupted():
            if len(plan.learned):
                super()._take_in(plan.learned, index[plan.source], known, settings, put_off)
            elif len(known) > sums.n_classes:  # announced, with a row that is held out
                candidates.discard()
                sums.add(plan.learned, index[plan.source], known)
            plan.commit()
            if sums.dtype != rows.dtype:  # rows held out have a say in that, too
                sums.dtype = np.dtype(np.float64)
            selector.revision += 1
            if tested:
                selector.count_tests(settings, tested, np.moveaxis(np.array(right), 2, 0))

    def _after_change(self, settings: SelectionSettings) -> None:
        self._selector.rescale(self._sums, settings)
        self._selector.advance(self._candidates(settings), settings)

    def _trim(self, settings: SelectionSettings) -> None:
        """Learn what is held out beyond what may be."""
        selector, cap = self._selector, self._selector.cap(settings)
        if max(map(len, selector.held.rows.values()), default=0) > cap:
            held, rows, labels = selector.held.trimmed(cap)
            index, known = self._sums.locate(as_labels(labels))
            with uninterrupted():
                super()._take_in(np.array(rows), index, known, settings, put_off=False)
                selector.held, selector.work = held, None

    def _drop_class(self, index: int) -> None:
        super()._drop_class(index)
        self._drop_traces()

    def _rename(self, old: Any, new: Labels) -> None:
        settings, selector, label = self._settings(), self._selector, new.tolist()[0]
        super()._rename(old, new)
        if label != old:
            selector.held = selector.held.renamed(old, label)
            selector.progress.rename(old, label)
            selector.work = None
            selector.revision += 1
            self._trim(settings)

    def _take_out(self, rows: Rows, index: Index, settings: SelectionSettings) -> None:
        sums, selector = self._sums, self._selector
        labels = sums.labels[index].tolist()
        going = np.bincount(index, minlength=sums.n_classes)
        for label, held, gone in zip(
            sums.labels.tolist(), selector.counts(sums), going, strict=True
        ):
            if gone > held:
                raise NotTaughtError(
                    f"cannot forget {gone} examples of {label!r}: {held} of them were taught"
                )
        found, left = selector.held.plan_removal(rows, labels)
        rows, index = rows[~found], index[~found]
        # A class all of whose learned rows go lives on in those held out: they are learned.
        gone = sums.counts == np.bincount(index, minlength=sums.n_classes)
        orphans: list[Any] = []
        of_class: list[Any] = []
        for label in sums.labels[gone & (sums.counts > 0)].tolist():
            orphans += left.rows.get(label, [])
            of_class += [label] * left.count(label)
            left.rows[label], left.offered[label] = [], 0
        if orphans:
            self._replace_all(rows, index, np.array(orphans), as_labels(of_class), settings)
        elif len(rows):
            super()._take_out(rows, index, settings)
        selector.held = left
        self._drop_traces()

    def _replace_all(
        self, rows: Rows, index: Index, others: Rows, labels: Labels, settings: SelectionSettings
    ) -> None:
        """Learn `others` and forget `rows`, all that was learned of some classes."""
        # On a copy: whatever cannot be forgotten, not even rounding shall tell of it.
        sums = copy.deepcopy(self._sums)
        sums.add(others, *sums.locate(labels))
        remove = sums.prepare_removal(rows, index)
        self._make_candidates(sums, settings).solvers[0].forget(rows, index)
        remove()
        self._sums = sums
        self._candidates(settings)

    def _drop_traces(self) -> None:
        """Drop what is kept of classes that are no more, and work with rows that may be gone."""
        selector = self._selector
        selector.revision += 1
        selector.work = None
        present = set(self._sums.labels.tolist())
        if not present.issuperset(selector.held.labels):
            selector.held = selector.held.only(present)
        for label in set(selector.progress.tests) - present:
            del selector.progress.tests[label], selector.progress.hits[label]

    def _choice(self, settings: SelectionSettings) -> Choice:
        return self._selector.current_choice(self._candidates(settings), settings)

    def _answering(self, settings: SelectionSettings) -> tuple[Solver, Floats]:
        candidates, choice = self._candidates(settings), self._choice(settings)
        solver = candidates.solvers[choice.penalty]
        return solver, recoding_factors(solver.masses, choice.recoding)
