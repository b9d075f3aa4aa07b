"""From an engine to all that a file holds of it, and back."""

from typing import Any

import numpy as np

from newfound.common.errors import InputError
from newfound.engine.engine import Engine
from newfound.layers.layer import FIRST_ROWS, Layer
from newfound.layers.projection import Projection
from newfound.memory.memory import EVERYTHING, Memory
from newfound.memory.reservoir import Reservoir, rank
from newfound.memory.witnesses import Witnesses, hashes_of
from newfound.selection.selector import Selector
from newfound.solvers.settings import (
    MOST_WITNESSES,
    RegressionSettings,
    SelectionSettings,
    from_json,
    layer_of,
    to_json,
)
from newfound.storage.format import State
from newfound.storage.selection import pack_selector, unpack_selector
from newfound.storage.table import Arrays, Sizes, require
from newfound.sums.rows import LARGEST_SQUARE
from newfound.sums.sums import Sums

PROJECTION = ("projection.inputs", "projection.outputs", "projection.seed")
LAYER = ("layer.mean", "layer.scale", "layer.factor", "layer.units", "layer.seed")
# How far witnesses may outweigh their class, by rounding.
SLACK = 1 + 1e-9


def state_of(
    kind: str,
    engine: Engine,
    names: list[str] | None,
    is_flat: bool,
    projection: Projection | None = None,
) -> State:
    """Return the state of a model of this kind on the host; its sums are those of the engine.

    Raises ValueError if it could not be read again.
    """
    memory, settings = engine.memory, engine.settings
    arrays = {}
    if memory.cap:
        arrays = pack_witnesses(memory.witnesses, memory.sums, memory.width + memory.targets)
    if isinstance(engine.choice, Selector):
        arrays |= pack_selector(engine.choice, memory)
    if memory.layer is not None:
        arrays |= pack_layer(memory.layer)
    parameters = to_json(settings)
    width = None if memory.layer is None else memory.width
    if projection is not None:
        arrays |= pack_projection(projection)
        width = projection.inputs
    rest = arrays, memory.targets, is_flat, width
    state = State(kind, parameters, memory.sums, names, None, *rest)
    engine_of(state, type(settings))  # what could not be read is not written
    return state


def engine_of(state: State, settings_type: Any) -> Engine:
    """Return the engine that a state was made of, which takes over its sums, or raise ValueError.

    Parameters
    ----------
    state : State
    settings_type : type
        Of its parameters.
    """
    layer = unpack_layer(state.arrays) if "layer.units" in state.arrays else None
    projection = unpack_projection(state.arrays)
    try:
        settings = from_json(settings_type, state.parameters, layer)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"its parameters are not a model's ({error!r})") from error
    sums, targets, choice, witnesses = state.sums, state.targets, None, Witnesses(settings.seed)
    one_class = sums.labels.tolist() == [EVERYTHING] and sums.per_class
    is_regression = isinstance(settings, RegressionSettings)
    require(is_regression == (targets > 0) and (one_class or not targets), "targets")
    width = sums.width - targets if state.width is None else state.width
    if projection is not None:
        require(projection.inputs == width, "projection")
        width = projection.outputs
    given, units = layer_of(settings)
    require(given is None or given == layer, "layer")
    require(layer is None or (layer.units == units and layer.inputs == width), "layer")
    require(sums.width - targets == (width if layer is None else layer.outputs), "features")
    memory = Memory(sums, witnesses, settings.quota, targets, layer, units)
    if memory.cap:
        memory.witnesses = unpack_witnesses(state.arrays, sums, settings.seed, width + targets)
    require(not memory.is_young or (sums.total < FIRST_ROWS and memory.holds_all), "witnesses")
    if isinstance(settings, SelectionSettings):
        choice = unpack_selector(state.arrays, sums, settings)
        uses_layer = choice.latest is not None and choice.latest.uses_layer
        require(not uses_layer or layer is not None, "layer")
    return Engine(memory, settings, choice)


def pack_projection(projection: Projection) -> dict[str, Any]:
    """Return a projection as arrays: what it is made of.

    >>> unpack_projection(pack_projection(Projection(20_000, seed=3)))
    Projection(inputs=20000, outputs=2048, seed=3)
    """
    numbers = projection.inputs, projection.outputs, projection.seed
    kinds = np.int64, np.int64, np.uint64
    return {
        name: np.array([number], dtype=kind)
        for name, number, kind in zip(PROJECTION, numbers, kinds, strict=True)
    }


def unpack_projection(arrays: Arrays) -> Projection | None:
    """Return the projection that was packed, if one was, or raise ValueError."""
    if not any(name in arrays for name in PROJECTION):
        return None
    sizes = Sizes()
    return Projection(*(int(sizes.take(arrays, name)[0]) for name in PROJECTION))


def pack_layer(layer: Layer) -> dict[str, Any]:
    """Return a layer as arrays: all that it is drawn from, and not what is drawn.

    >>> unpack_layer(pack_layer(Layer.of([[0.0], [2.0]], units=7))).units
    7
    """
    return {
        "layer.mean": layer.mean,
        "layer.scale": layer.scale,
        "layer.factor": np.array([layer.factor]),
        "layer.units": np.array([layer.units], dtype=np.int64),
        "layer.seed": np.array([layer.seed], dtype=np.uint64),
    }


def unpack_layer(arrays: Arrays) -> Layer:
    """Return the layer that was packed, or raise ValueError."""
    sizes = Sizes()
    mean, scale, factor, units, seed = (sizes.take(arrays, name) for name in LAYER)
    return Layer(mean, scale, float(factor[0]), int(units[0]), int(seed[0]))


def pack_witnesses(witnesses: Witnesses, sums: Sums, width: int) -> dict[str, Any]:
    """Return the witnesses, of this width, as arrays under the names that model files use.

    Examples
    --------
    >>> sums = Sums.of([[1.0], [2.0]], ["cup", "mug"])
    >>> witnesses = Witnesses(0).add(np.array([[1.0], [2.0]]), np.array(["cup", "mug"]), 9)
    >>> arrays = pack_witnesses(witnesses, sums, 1)
    >>> arrays["witnesses.rows"].tolist(), arrays["witnesses.class"].tolist()
    ([[1.0], [2.0]], [0, 1])
    >>> unpack_witnesses(arrays, sums, 0, 1)["mug"].rows
    (array([2.]),)
    """
    labels = sums.labels
    rows, index = witnesses.stack(labels, width)
    keys = [witnesses[label].keys for label in labels.tolist()]
    arrays = {
        "witnesses.rows": rows.astype(sums.dtype or np.float64),
        "witnesses.class": index.astype(np.int64),
        "witnesses.keys": np.concatenate([np.zeros(0, dtype=np.uint64), *keys]),
    }
    weights = witnesses.weights(labels)
    if (weights != 1).any():
        arrays["witnesses.weights"] = weights
    return arrays


def unpack_witnesses(arrays: Arrays, sums: Sums, seed: int, width: int) -> Witnesses:
    """Return the witnesses that were packed, or raise ValueError."""
    sizes, what = Sizes(sums.dtype or np.float64, E=width), "witnesses"
    rows = sizes.take(arrays, "witnesses.rows").astype(sums.dtype or np.float64)
    index = sizes.take(arrays, "witnesses.class", high=sums.n_classes - 1).astype(np.intp)
    keys, weights = sizes.take(arrays, "witnesses.keys"), np.ones(len(rows))
    if "witnesses.weights" in arrays:
        weights = sizes.take(arrays, "witnesses.weights")
    require(float(np.vdot(rows, rows.astype(np.float64))) < LARGEST_SQUARE, what)
    require(bool(sums.counts[index].all() and weights.all() and (np.diff(index) >= 0).all()), what)
    counts = np.bincount(index, minlength=sums.n_classes)
    require(bool((counts <= np.minimum(sums.counts, MOST_WITNESSES)).all()), what)
    heavy = np.bincount(index, weights, sums.n_classes) > sums.weight_sums * SLACK
    require(not heavy.any(), what)
    of_class, ends, hashes = {}, np.cumsum(counts).tolist(), hashes_of(rows)
    for place in np.flatnonzero(sums.counts).tolist():
        own = slice(ends[place] - int(counts[place]), ends[place])
        ranks = list(map(rank, keys[own].tolist(), weights[own].tolist()))
        require(ranks == sorted(ranks), what)
        kept = hashes[own], keys[own], weights[own], np.array(ranks, dtype=np.float64)
        of_class[sums.labels[place].item()] = Reservoir(*kept, tuple(rows[own]))
    return Witnesses(seed, of_class)
