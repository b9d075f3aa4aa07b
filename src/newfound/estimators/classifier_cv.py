"""The estimator that chooses its penalty and recoding inside the stream."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.arrays import Floats
from newfound.common.locks import locked
from newfound.engine.engine import Engine
from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.estimators.constraints import SELECTION_CONSTRAINTS
from newfound.estimators.learner import CHOOSING
from newfound.estimators.seeds import Seed, plain_seed
from newfound.solvers.settings import (
    ClassWeight,
    SelectionSettings,
    checked_selection_settings,
)


class IncrementalRidgeClassifierCV(IncrementalRidgeClassifier):
    """Incremental ridge classifier that chooses penalty and recoding while it learns.

    Nobody knows the right penalty, or how far to raise a class seen three times. This learns every
    example, and keeps copies of a few of each class: its *witnesses*. Ridge regression knows what
    it would say about an example had it never seen it, so the witnesses can vote on candidates
    without being held back: leave-one-out, exactly and in fixed time.

    The default rule asks *what if*: what if only four examples had been taught of a class that is
    known well? The sums tell which penalty and which recoding would then have served all known
    classes best (docs/selection.md). Votes are weighed against what is usually right, and so they
    decide where they are many and clear. The recoding depends on the number of examples, so every
    class has its own.

    Votes are called for when there are twice as many examples as the last time, when two classes
    can vote or are known well for the first time, and after forgetting. They are cast a piece at a
    time with every example that is learned; `fit` and `reconsider` do it at once, on all there is.

    Parameters
    ----------
    penalties : "auto" or sequence of float, default="auto"
        Ridge penalties to choose from. "auto" is half decades around the mean squared length of a
        row (around the mean, with an intercept), so that the scale of the features does not
        matter: first a few far apart, then the neighbours of the best.
    recodings : float or sequence of float, default=(0, 0.1, …, 1)
        Recodings to choose from.
    rule : "what-if", "paper" or None, default="what-if"
        "paper" is the strongest recoding under which the classes that vote, each recoding with
        its best penalty, do not fare worse than without recoding. None chooses the penalty alone,
        for one recoding.
    witnesses : int, default=40
        Copies of examples that are kept of each class, at most. All examples of a class that weigh
        the same are equally likely to be among them; those that are equal are one.
    min_class_count : int, default=30
        Only classes of which so many examples were taught are pretended rare in what-ifs, if they
        have a quarter of what is usual among such classes. All classes with two witnesses vote on
        the model as it is; until there are two such classes, what is usually right is used.
    tolerance : float, default=0.0
        How much accuracy may suffer from recoding under rule "paper".
    class_weight : None, "balanced" or mapping of label to float, default=None
        As in `IncrementalRidgeClassifier`. When a witness is left out, weights stay as they are.
        Under "balanced" there is nothing to recode, and the penalty is chosen alone.
    fit_intercept : bool, default=True
    random_state : int, RandomState, Generator or None, default=0
        Seed of which examples become witnesses, and of the what-ifs. From a generator of numpy's,
        or from numpy's own with None, a seed is drawn when the first rows are learned: by every
        `fit` anew, and once in a stream, which keeps it, also in its file. A number that is set
        later counts from then on.

    Attributes
    ----------
    penalty_ : float
        The penalty chosen for now.
    recoding_ : ndarray of shape (T,)
        The recoding chosen for now, of each class.
    penalty, recoding
        The same, under the names they have in `IncrementalRidgeClassifier`.
    validation_scores_ : dict of ndarrays
        How the witnesses voted on each candidate.
    classes_, class_count_, coef_, intercept_, n_features_in_, feature_names_in_, n_samples_seen_
        As those of `IncrementalRidgeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from newfound import IncrementalRidgeClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> model = IncrementalRidgeClassifierCV().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.88
    True
    """

    _SETTINGS: ClassVar[Any] = SelectionSettings
    _parameter_constraints: ClassVar[dict[str, Any]] = SELECTION_CONSTRAINTS

    def __init__(
        self,
        penalties: Literal["auto"] | ArrayLike = CHOOSING.penalties,
        recodings: float | ArrayLike = CHOOSING.recodings,
        rule: Literal["what-if", "paper"] | None = CHOOSING.rule,
        witnesses: int = CHOOSING.witnesses,
        min_class_count: int = CHOOSING.min_class_count,
        tolerance: float = CHOOSING.tolerance,
        class_weight: ClassWeight | None = CHOOSING.class_weight,
        fit_intercept: bool = CHOOSING.fit_intercept,
        random_state: Seed = CHOOSING.random_state,
    ) -> None:
        self.penalties = penalties
        self.recodings = recodings
        self.rule = rule
        self.witnesses = witnesses
        self.min_class_count = min_class_count
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    @locked
    def penalty_(self) -> float:
        """The penalty chosen for now."""
        self._taught()
        return self._ready().penalty

    @property
    @locked
    def recoding_(self) -> Floats:
        """The recoding chosen for now, of each class, shape (T,)."""
        order = self._taught().order
        recoding: Floats = np.asarray(self._ready().recoding)[order]
        return recoding.copy()

    # Parameters of the plain estimator, which may be set there; here they are chosen.

    @property
    def penalty(self) -> float:  # type: ignore[override]
        """The penalty chosen for now."""
        return self.penalty_

    @property
    def recoding(self) -> Floats:  # type: ignore[override]
        """The recoding chosen for now, of each class, shape (T,)."""
        return self.recoding_

    @property
    @locked
    def validation_scores_(self) -> dict[str, NDArray[np.float64]]:
        """How the witnesses voted: columns of a table with one line for each candidate tried.

        "penalty" and "recoding"; "accuracy" of the known classes, from 0 to 1, the mean over all
        pretended counts, NaN if nobody could vote; "rare", that of the classes pretended rare;
        and "prior", which a penalty that is not the usual one must be better by.
        """
        self._taught()
        found = self._ready().findings
        grid = np.meshgrid(found.penalties, found.settings.recodings, indexing="ij")
        columns = {"penalty": grid[0], "recoding": grid[1]}
        for name, table in (("accuracy", found.table), ("rare", found.rare)):
            columns[name] = table.mean(axis=0) if found.voters else np.full(grid[0].shape, np.nan)
        columns["prior"] = np.repeat(found.prior[:, None] / 100, grid[0].shape[1], axis=1)
        return {name: column.ravel() for name, column in columns.items()}

    @locked
    def plot_validation(self, axes: Any = None) -> Any:
        """Plot how the witnesses voted: on the penalty, and on the recoding.

        Left, accuracy against the penalty, with what it is after the prior, and the choice.
        Right, accuracy against the recoding for classes pretended rare and for all known ones, at
        the penalty chosen, and the recoding chosen for each pretended count.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional

        Returns
        -------
        ndarray of two matplotlib Axes

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
        >>> [each.get_xlabel() for each in model.plot_validation()]
        ['penalty', 'recoding']
        """
        from newfound.selection.plot import plot  # matplotlib takes its time, and may be absent

        self._taught()
        return plot(self._ready().findings, axes)

    def _settings(self, stream: Engine | None = None) -> SelectionSettings:
        begun = None if stream is None else stream.settings
        seed = begun.random_state if isinstance(begun, SelectionSettings) else None
        return checked_selection_settings(
            self.penalties,
            self.recodings,
            self.rule,
            self.witnesses,
            self.min_class_count,
            self.tolerance,
            self.class_weight,
            self.fit_intercept,
            plain_seed(self.random_state, seed),
        )
