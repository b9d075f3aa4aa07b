"""A layer of random units beside the features: what a plane cannot tell apart, units can."""

from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from newfound.common.arrays import Floats, Rows
from newfound.common.device import Array, Device, device_of, namespace_of
from newfound.common.errors import InputError
from newfound.layers.scale import scales_of
from newfound.layers.units import directions
from newfound.sums.rows import as_rows

# Rows that a layer is made of, and units that it has, unless somebody says otherwise.
FIRST_ROWS, UNITS = 100, 2000
MOST_UNITS, MOST_SEED = 20_000, 2**64 - 1
# Features are seen in steps of this, and no farther than so many lengths of a row: products with
# directions are then whole numbers of steps below 2^53, and so are exact, in any order.
STEP, FARTHEST = 2.0**-21, 256.0
# Rows whose features are made at a time.
SOME_ROWS = 2048


@dataclass(frozen=True, eq=False)
class Layer:
    """Random units beside the features: a row x becomes ``(x, sqrt(L / M) |W z + w0|)``.

    z is x around a mean, in units of a scale; W and w0 are M random directions with a bias, and L
    is the mean squared length of rows around their mean. ``|u|`` is what two ReLU units have in
    common, ``relu(u) = (u + |u|) / 2``, and what they differ in is linear: x stands beside the
    units, so that all of them serve the other half. The model that is linear in x is a part of the
    one behind it.

    The same row has the same features to the last bit: alone or among others, here or on any other
    machine or device. Nothing is learned: all that a model does behind a layer is as exact as
    without it.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Where z is zero.
    scale : ndarray of shape (d,)
        What each feature is divided by, above zero.
    factor : float
        What units are multiplied by, the root of L / M.
    units : int, default=2000
        M.
    seed : int, default=0
        What directions are drawn from.

    Examples
    --------
    >>> layer = Layer.of([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], units=3)
    >>> layer.inputs, layer.outputs
    (2, 5)
    >>> layer(np.array([[0.0, 1.0]]))[:, :2]
    array([[0., 1.]])
    >>> layer == Layer.of([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], units=3)
    True
    """

    mean: Floats
    scale: Floats
    factor: float
    units: int = UNITS
    seed: int = 0

    def __post_init__(self) -> None:
        _check_drawn(self.units, self.seed)

    @classmethod
    def of(cls, X: ArrayLike, units: int = UNITS, seed: int = 0) -> "Layer":
        """Return the layer that suits rows such as these; a hundred are enough.

        Give it to several models before they learn, and they can be merged.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Some rows, of any classes, or of one.
        units : int, default=2000
        seed : int, default=0

        Returns
        -------
        Layer

        Raises
        ------
        ValueError
            If `X` is not m rows of d finite numbers, or there cannot be so many units.

        Examples
        --------
        >>> Layer.of([[0.0], [2.0]], units=10).mean
        array([1.])
        """
        _check_drawn(units, seed)
        rows = np.asarray(as_rows(X), dtype=np.float64)
        if not len(rows):
            raise InputError("X holds no rows, but a layer is made of some")
        mean = rows.mean(axis=0)
        scale, length = scales_of(rows - mean)
        return cls(mean, scale, length / float(np.sqrt(units)), units, seed)

    @property
    def inputs(self) -> int:
        """How many features rows have, d."""
        return len(self.mean)

    @property
    def outputs(self) -> int:
        """How many features they have behind it, d + M."""
        return self.inputs + self.units

    def cut(self, units: int) -> "Layer":
        """Return the layer of the first units alone, which are what they were.

        Parameters
        ----------
        units : int
            Of those there are.

        Returns
        -------
        Layer

        Raises
        ------
        ValueError
            If there are not so many.

        Examples
        --------
        >>> rows = np.array([[0.0], [2.0], [3.0]])
        >>> layer = Layer.of(rows, units=10)
        >>> np.array_equal(layer.cut(4)(rows), layer(rows)[:, :5])
        True
        """
        if not 0 < units <= self.units:
            raise InputError(f"units must be from 1 to the {self.units} there are, got {units!r}")
        return replace(self, units=units)

    def __call__(self, rows: Array) -> Array:
        """Return the features of rows (m, d), where they live and in their type, (m, d + M)."""
        if type(rows) is not np.ndarray or len(rows) <= SOME_ROWS:
            return self._features(rows)
        features = np.empty((len(rows), self.outputs), dtype=rows.dtype)
        for start in range(0, len(rows), SOME_ROWS):  # or what is in between would take as much
            some = slice(start, start + SOME_ROWS)
            features[some] = self._features(rows[some])
        return features

    def _features(self, rows: Array) -> Array:
        device, xp = device_of(rows), namespace_of(rows)
        mean, inverse, weights, bias = _arrays(self, device)
        z = (xp.astype(rows, xp.float64) - mean) * inverse
        z = xp.round(xp.clip(z, -FARTHEST, FARTHEST) * (1 / STEP)) * STEP
        units = xp.abs(z @ weights + bias) * self.factor
        # In the precision of float32, whatever rows have: else the same row would differ in both.
        units = xp.astype(xp.astype(units, xp.float32), rows.dtype)
        return xp.concat([rows, units], axis=1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        numbers = self.mean.tobytes(), self.scale.tobytes()
        return (*numbers, self.factor, self.units, self.seed)


def _check_drawn(units: Any, seed: Any) -> None:
    """Raise ValueError unless so many directions can be drawn from such a seed."""
    bounds = {"units": (units, 1, MOST_UNITS), "seed": (seed, 0, MOST_SEED)}
    for name, (value, least, most) in bounds.items():
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or not least <= int(value) <= most:
            raise InputError(f"{name} must be a whole number from {least} to {most}, got {value!r}")


@lru_cache(maxsize=8)
def _arrays(layer: Layer, device: Device | None) -> tuple[Array, ...]:
    """Return what rows are taken apart with, on their device."""
    both = directions(layer.inputs + 1, layer.units, layer.seed)
    arrays: list[Rows] = [layer.mean, 1 / layer.scale, both[:-1], both[-1]]
    return tuple(arrays if device is None else [device.put(array) for array in arrays])


def features_of(rows: Array, layer: Layer | None) -> Array:
    """Return what is added up of rows (m, d): all of it, where nothing stands before the sums."""
    return rows if layer is None else layer(rows)
