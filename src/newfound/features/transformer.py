"""What scikit-learn asks of a transformer, so that an extractor is one.

scikit-learn asks for methods and not for a base class. So these are written out here, and it is
imported only by those that it calls: a recogniser, which needs none of it, does without.
"""

import inspect
import sys
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.features.identity import Identity

# Letters of a value that are shown.
_SHOWN = 60


class Transformer(ABC):
    """Mixin for extractors: a step of a pipeline that has nothing to learn.

    A parameter of the constructor is an attribute of the same name, as it was given.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from newfound import IncrementalRidgeClassifier
    >>> from newfound.features import Pixels
    >>> dark, light = np.zeros((2, 8, 8), dtype=np.uint8) + np.array([[[9]], [[250]]], np.uint8)
    >>> pipeline = make_pipeline(Pixels(size=2), IncrementalRidgeClassifier(penalty=0.1))
    >>> pipeline.fit([dark, light], ["night", "day"]).predict([light // 2 + 99])
    array(['day'], dtype='<U5')
    """

    identity: Identity
    width: int
    # What scikit-learn looks for where its own mixin would put it: what may become a DataFrame.
    _sklearn_auto_wrap_output_keys: ClassVar[frozenset[str]] = frozenset({"transform"})

    @abstractmethod
    def __call__(self, images: Any) -> NDArray[np.float32]:
        """Return the features of images, shape (m, width)."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the network is trained already. Images are not looked at.

        Parameters
        ----------
        X : images
        y : ignored

        Returns
        -------
        self
        """
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of images.

        Parameters
        ----------
        X : list, array, Series or column of paths, bytes of files, PIL images or uint8 arrays
            Or one uint8 array of shape (m, h, w) or (m, h, w, 3).

        Returns
        -------
        ndarray of shape (m, width), float32
            Or a DataFrame, if `set_output` or scikit-learn's configuration says so.

        Raises
        ------
        UnreadableImageError
            If any of them cannot be used.

        Examples
        --------
        >>> from newfound.features import Pixels
        >>> Pixels(size=1).transform(np.full((2, 8, 8), 255, dtype=np.uint8))
        array([[1.],
               [1.]], dtype=float32)
        """
        rows = self(_images_in(X))
        if "sklearn" not in sys.modules:
            return rows
        from sklearn.utils._set_output import _wrap_data_with_container

        return _wrap_data_with_container("transform", rows, X, self)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return what `transform` does.

        Parameters
        ----------
        X : images
            As `transform` takes them.
        y : ignored

        Returns
        -------
        ndarray of shape (m, width), float32, or DataFrame

        Raises
        ------
        UnreadableImageError
            If any of them cannot be used.
        """
        return self.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for each feature: that of the class, in small letters, and a number.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of shape (width,) of str

        Examples
        --------
        >>> from newfound.features import Pixels
        >>> Pixels(size=(1, 2)).get_feature_names_out()
        array(['pixels0', 'pixels1'], dtype=object)
        """
        name = type(self).__name__.lower()
        return np.array([f"{name}{number}" for number in range(self.width)], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Say what `transform` returns.

        Parameters
        ----------
        transform : "default", "pandas", "polars" or None
            None leaves it as it is.

        Returns
        -------
        self

        Examples
        --------
        >>> from newfound.features import Pixels
        >>> images = np.full((1, 8, 8), 255, dtype=np.uint8)
        >>> Pixels(size=1).set_output(transform="pandas").fit_transform(images)
           pixels0
        0      1.0
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as they were given.

        Parameters
        ----------
        deep : ignored

        Returns
        -------
        dict

        Examples
        --------
        >>> from newfound.features import Pixels
        >>> Pixels(size=8).get_params()
        {'size': 8, 'range': (0.0, 1.0), 'channels': 'grey', 'root': False}
        """
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, all or none: it becomes what the constructor makes of them.

        Parameters
        ----------
        **params : dict
            By name.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If there is no such parameter, or it cannot be that.

        Examples
        --------
        >>> from newfound.features import Pixels
        >>> Pixels(size=8).set_params(root=True)
        Pixels(size=8, root=True)
        """
        present = self.get_params()
        for name in params.keys() - present.keys():
            raise InputError(
                f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(present)}"
            )
        if any(value is not present[name] for name, value in params.items()):
            other = type(self)(**{**present, **params})
            if other.identity.weights == self.identity.weights:  # then it is known by its name
                other.identity = replace(other.identity, name=self.identity.name)
            self.__dict__ = {**self.__dict__, **other.__dict__}
        return self

    def __sklearn_clone__(self) -> Self:
        # A network is read once, however many folds and candidates there are: it never changes.
        other = object.__new__(type(self))
        other.__dict__ = dict(self.__dict__)
        return other

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            no_validation=True,
            requires_fit=False,
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def __repr__(self) -> str:
        changed = {
            name: _shown(getattr(self, name, default))
            for name, default in _defaults(type(self)).items()
            if _shown(getattr(self, name, default)) != _shown(default)
        }
        options = ", ".join(f"{name}={value}" for name, value in changed.items())
        return f"{type(self).__name__}({options})"


def _defaults(kind: type) -> dict[str, Any]:
    """Return the names of a constructor's parameters, and what they are unless given."""
    parameters = inspect.signature(kind).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def _images_in(X: Any) -> Any:
    """Return images one by one, of what scikit-learn hands on: a list, an array, a column."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return X
    if len(shape) == 2 and (hasattr(X, "columns") or np.asarray(X).dtype.kind in "OU"):
        if shape[1] != 1:
            raise InputError(f"images come in one column, but X has {shape[1]}")
        return np.asarray(X)[:, 0].tolist()
    return list(np.asarray(X)) if len(shape) > 1 else np.asarray(X).tolist()


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
