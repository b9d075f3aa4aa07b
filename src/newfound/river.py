"""The river face: features as dictionaries, whose names and labels nobody has to announce."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from newfound.common.arrays import Rows
from newfound.common.errors import InputError
from newfound.common.extras import imported_from
from newfound.common.interrupts import uninterrupted
from newfound.estimators.classification import BaseIncrementalClassifier
from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.estimators.classifier_cv import IncrementalRidgeClassifierCV
from newfound.storage.widening import widened

with imported_from("river"):
    from river.base import MiniBatchClassifier
    from river.utils import dataframe

__all__ = ["RiverClassifier"]


class RiverClassifier(MiniBatchClassifier):
    """Incremental ridge classifier that takes what river's models take.

    Features come as dictionaries. One that is not in a row counts as zero there, and one that was
    never seen before counts as zero in all that was taught: at every moment, the model is that of
    `IncrementalRidgeClassifier`, taught the whole table with zeros where nothing was.

    Each name gets a column when it is first taught. When they do not suffice, the columns are
    doubled: those that no name has yet are zero, and ridge regression leaves their weights at
    zero. Learning takes O(d^2) time and memory for d columns, so this is for hundreds or some
    thousands of names, not for the words of a language.

    Parameters
    ----------
    estimator : IncrementalRidgeClassifier or IncrementalRidgeClassifierCV, optional
        Whose parameters to learn with; it is copied, and not taught itself. By default, an
        `IncrementalRidgeClassifier()`.

    Attributes
    ----------
    model : IncrementalRidgeClassifier
        What was taught: the estimator for rows of all columns. It can be asked for more, such as
        `novelty` or `penalty_`.
    columns : dict
        The column of each feature's name in rows of `model`.

    Examples
    --------
    >>> from newfound.river import RiverClassifier
    >>> model = RiverClassifier()
    >>> model.learn_one({"height": 0.1}, "cup")
    >>> model.learn_one({"height": 0.1, "handle": 1}, "mug")
    >>> model.predict_one({"height": 0.2, "handle": 1})
    'mug'
    >>> {label: round(share, 2) for label, share in model.predict_proba_one({}).items()}
    {'cup': 0.98, 'mug': 0.02}
    """

    def __init__(self, estimator: BaseIncrementalClassifier | None = None) -> None:
        if estimator is not None and not isinstance(estimator, BaseIncrementalClassifier):
            raise TypeError(f"estimator must be a classifier of newfound's, got {estimator!r}")
        self.estimator = estimator
        self.model: BaseIncrementalClassifier = (
            IncrementalRidgeClassifier() if estimator is None else clone(estimator)
        )
        self.columns: dict[Hashable, int] = {}

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x : mapping of feature names to numbers
        y : str, bool or int
            Its label; a new one becomes a new class.
        w : float, default=1.0
            As how many examples it counts.

        Raises
        ------
        ValueError
            If a feature is not a finite number, or `y` cannot be a label here; then the model is
            as it was.

        Examples
        --------
        >>> model = RiverClassifier()
        >>> model.learn_one({"height": 0.1}, "cup")
        >>> model.columns, model.model.classes_.tolist()
        ({'height': 0}, ['cup'])
        """
        self._learn(list(x), [_numbers(x)], [y], w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the rows of a DataFrame, with the same result as one by one.

        Parameters
        ----------
        X : DataFrame of shape (m, d)
            Of pandas, or of another library that river takes. No value may be missing.
        y : Series of shape (m,)
            Labels.
        w : float or Series of shape (m,), default=1.0
            As how many examples each counts.

        Raises
        ------
        ValueError
            If a feature is not a finite number, or labels cannot be labels here; then the model is
            as it was.

        Examples
        --------
        >>> import pandas as pd
        >>> model = RiverClassifier()
        >>> model.learn_many(pd.DataFrame({"height": [0.1, 0.3]}), pd.Series(["cup", "jug"]))
        >>> model.predict_one({"height": 0.3})
        'jug'
        """
        frame = dataframe.into_frame(X)
        self._learn(frame.columns, _matrix(frame), y, w)

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """Return the label of the highest score.

        Parameters
        ----------
        x : mapping of feature names to numbers
            Names that were never taught change nothing.
        **kwargs : dict
            Not used; river's models take them.

        Returns
        -------
        str, bool or int
            None if nothing was taught.

        Raises
        ------
        ValueError
            If a feature that was taught is not a finite number.

        Examples
        --------
        >>> print(RiverClassifier().predict_one({"height": 0.1}))
        None
        """
        if not self.model.learner_.is_fitted:
            return None
        return self.model.predict(self._row(x)).tolist()[0]

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label.

        Parameters
        ----------
        x : mapping of feature names to numbers
            Names that were never taught change nothing.
        **kwargs : dict
            Not used; river's models take them.

        Returns
        -------
        dict
            Empty if nothing was taught.

        Raises
        ------
        ValueError
            If a feature that was taught is not a finite number.

        Examples
        --------
        >>> model = RiverClassifier()
        >>> model.learn_one({"height": 0.1}, "cup")
        >>> model.predict_proba_one({"height": 0.5})
        {'cup': 1.0}
        """
        if not self.model.learner_.is_fitted:
            return {}
        shares = self.model.predict_proba(self._row(x)).tolist()[0]
        return dict(zip(self.model.classes_.tolist(), shares, strict=True))

    def predict_many(self, X: Any) -> Any:
        """Return the label of the highest score for each row.

        Parameters
        ----------
        X : DataFrame of shape (m, d)

        Returns
        -------
        Series of shape (m,)
            Of the library that `X` is of. Its labels are None if nothing was taught.

        Raises
        ------
        ValueError
            If a feature that was taught is not a finite number.

        Examples
        --------
        >>> import pandas as pd
        >>> model = RiverClassifier()
        >>> model.learn_one({"height": 0.1}, "cup")
        >>> model.predict_many(pd.DataFrame({"height": [0.1, 0.3]})).tolist()
        ['cup', 'cup']
        """
        frame = dataframe.into_frame(X)
        taught = self.model.learner_.is_fitted
        labels = self.model.predict(self._table(frame)).tolist() if taught else [None] * len(frame)
        return dataframe.to_native_series(labels, name=None, like=frame)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of each label for each row.

        Parameters
        ----------
        X : DataFrame of shape (m, d)

        Returns
        -------
        DataFrame of shape (m, T)
            One column a label, of the library that `X` is of. Empty if nothing was taught.

        Raises
        ------
        ValueError
            If a feature that was taught is not a finite number.

        Examples
        --------
        >>> import pandas as pd
        >>> model = RiverClassifier()
        >>> model.learn_one({"height": 0.1}, "cup")
        >>> model.predict_proba_many(pd.DataFrame({"height": [0.1, 0.3]})).columns.tolist()
        ['cup']
        """
        frame = dataframe.into_frame(X)
        if not self.model.learner_.is_fitted:
            return frame.select([]).to_native()
        shares = self.model.predict_proba(self._table(frame)).T
        by_label = dict(zip(self.model.classes_.tolist(), shares, strict=True))
        return dataframe.to_native_frame(by_label, like=frame)

    # What river asks of its models.

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": IncrementalRidgeClassifier()}
        yield {"estimator": IncrementalRidgeClassifierCV()}

    def _learn(self, names: Iterable[Hashable], values: ArrayLike, y: ArrayLike, w: Any) -> None:
        """Learn rows (m, k) of these k features. All that can fail is done on the side."""
        columns, model = self._with_columns(names), self.model
        if model.learner_.is_fitted and len(columns) > model.n_features_in_:
            width = max(len(columns), 2 * model.n_features_in_)
            model = type(model).from_state(widened(model.learner_.to_state(), width))
        width = model.n_features_in_ if model.learner_.is_fitted else max(1, len(columns))
        rows = _placed(values, [columns[name] for name in names], width)
        with uninterrupted():  # or a row would be in a column that the next new name gets
            model.partial_fit(rows, y, sample_weight=w)
            self.model, self.columns = model, columns

    def _with_columns(self, names: Iterable[Hashable]) -> dict[Hashable, int]:
        """Return the columns once these names have some."""
        fresh = [name for name in names if name not in self.columns]
        if not fresh:
            return self.columns
        if any(map(_is_nan, fresh)):
            raise InputError("a feature is called NaN, which equals no name and is always new")
        # Sorted, so that the order of a dictionary does not even change how sums are rounded.
        new = enumerate(sorted(fresh, key=repr), start=len(self.columns))
        return {**self.columns, **{name: column for column, name in new}}

    def _row(self, x: Mapping[Hashable, Any]) -> Rows:
        """Return the features of a question that were taught, shape (1, d)."""
        known = {name: value for name, value in x.items() if name in self.columns}
        places = [self.columns[name] for name in known]
        return _placed([_numbers(known)], places, self.model.n_features_in_)

    def _table(self, frame: Any) -> Rows:
        """Return the features of questions that were taught, shape (m, d)."""
        values = _matrix(frame)
        known = [place for place, name in enumerate(frame.columns) if name in self.columns]
        places = [self.columns[frame.columns[place]] for place in known]
        return _placed(values[:, known], places, self.model.n_features_in_)


def _is_nan(name: Hashable) -> bool:
    """Tell whether a name does not equal itself: no dictionary finds it again."""
    differs = name != name
    return isinstance(differs, bool | np.bool_) and bool(differs)  # pandas' NA cannot tell


def _matrix(frame: Any) -> Rows:
    """Return the values of a DataFrame, shape (m, d); raises ValueError where one is no number."""
    try:
        values: Rows = dataframe.to_numpy(frame)
    except (OverflowError, TypeError) as error:
        raise InputError(f"X must hold numbers only that a float can be: {error}") from error
    return values


def _numbers(x: Mapping[Hashable, Any]) -> list[float]:
    """Return the values of features, or raise ValueError where one is not a number."""
    for name, value in x.items():
        if not isinstance(value, int | float | np.bool_ | np.integer | np.floating):
            raise InputError(
                f"feature {name!r} is {value!r}, which is not a number; encode it first, for "
                "example with river's OneHotEncoder, or leave it out where it is missing"
            )
    try:
        return [float(value) for value in x.values()]
    except OverflowError as error:
        raise InputError("a feature is a whole number beyond what a float can be") from error


def _placed(values: ArrayLike, places: list[int], width: int) -> Rows:
    """Return rows (m, width) that hold these values in these columns, and zeros in all others."""
    values = np.asarray(values, dtype=np.float64)
    rows = np.zeros((len(values), width))
    rows[:, places] = values
    return rows
