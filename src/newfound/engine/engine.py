"""A model without a face: a memory, a solver derived from it, and a choice of parameters."""

from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Labels
from newfound.common.device import Array, Device, on_host
from newfound.common.errors import InputError, NotTaughtError
from newfound.common.interrupts import uninterrupted
from newfound.common.threads import one_thread
from newfound.engine.predictor import ClassPredictor, Predictions, TargetPredictor
from newfound.engine.unknown import Metric
from newfound.heads.recoding import recoding_factors
from newfound.layers.layer import FIRST_ROWS, Layer, features_of
from newfound.memory.batch import Batch
from newfound.memory.memory import Memory
from newfound.selection.calibration import Calibration
from newfound.selection.choice import Choice
from newfound.selection.penalty import PenaltySelector
from newfound.selection.selector import Selector
from newfound.solvers.base import Solver, solver_for
from newfound.solvers.regression import RegressionSolver
from newfound.solvers.rounding import resolution, rounding_left, warn_of_penalty
from newfound.solvers.settings import (
    AnySettings,
    RegressionSettings,
    SelectionSettings,
    layer_of,
)
from newfound.sums.leading import leading

# How often larger than the one that was told an error must be to be told, too.
MORE = 10.0
# Features up to which BLAS keeps all that a row takes to the thread that calls it, by itself.
NARROW = 90
IN_THIS_THREAD = nullcontext()


class Engine:
    """Learns batches, forgets them, and says with which weights to answer questions.

    It takes batches that were checked, and knows neither scikit-learn nor files.

    Parameters
    ----------
    memory : Memory
        Everything taught; taken over.
    settings : Settings, SelectionSettings or RegressionSettings
        Fixed parameters, or what to choose them from.
    choice : Choice, optional
        What is known of parameters; a new one by default.

    Examples
    --------
    >>> from newfound.solvers.settings import Settings
    >>> engine = Engine.blank(1, Settings(1.0, 0.7, None, True))
    >>> engine.learn(engine.memory.batch(np.array([[0.0], [1.0]]), np.array(["cup", "mug"])))
    >>> engine.solver.weights.round(2), engine.penalty
    (array([[-0.33,  0.33]]), 1.0)
    """

    # _solver: for the present settings. None: to be made.
    # _made_for: the class weights and the intercept that it is for, and whether it is for all
    #     features or for those that rows have without a layer.
    # _coming: a solver for the other of these two, while it is derived. None: no other is to come.
    # _calibration, _known_metric: of the present memory. None: to be worked out.
    # _predictor: what answers are made with. None: something has changed.
    # changes: how often something was learned or forgotten.
    # _judgements: how often the sums were judged when the penalty was looked at beside them.
    # _is_said: that it is less than their rounding was said.
    # _rounding: what forgetting had left in the weights when that was told last. None: not asked.

    def __init__(self, memory: Memory, settings: AnySettings, choice: Choice | None = None) -> None:
        self.memory, self.settings = memory, settings
        self.choice = choice_for(settings) if choice is None else choice
        _new_solver(memory, 1.0, settings)  # what these sums cannot serve is refused here
        self._solver: Any = None
        self._made_for: tuple[Any, ...] = ()
        self._coming: Any = None
        self._calibration: Calibration | None = None
        self._known_metric: Metric | None = None
        self._predictor: Any = None
        self.changes, self._judgements, self._is_said = 0, memory.sums.judgements, False
        self._rounding: float | None = None
        memory.keep(settings.quota, settings.seed)
        memory.centre(settings.fit_intercept)

    @classmethod
    def blank(
        cls, width: int, settings: AnySettings, device: Device | None = None, targets: int = 0
    ) -> "Engine":
        """Return one that was taught nothing, for rows of so many features, on a device or not."""
        per_class = settings.class_weight is not None
        layer, units = layer_of(settings)
        if layer is not None and layer.inputs != width:
            raise InputError(f"X has {width} features, but layer is for {layer.inputs}")
        memory = Memory.blank(
            width,
            per_class=per_class,
            targets=targets,
            device=device,
            layer=layer,
            units=units,
            seed=settings.seed,
        )
        return cls(memory, settings)

    def copy(self) -> "Engine":
        """Return another that was taught the same and knows the same, and has derived nothing."""
        return self.move(self.memory.device)

    def move(self, device: Device | None) -> "Engine":
        """Return such a copy on a device or, with None, on the host."""
        moved = Engine(self.memory.move(device), self.settings, self.choice.copy())
        moved._is_said, moved._rounding = self._is_said, self._rounding
        return moved

    def configure(self, settings: AnySettings) -> "Engine":
        """Use these parameters from now on, or raise ValueError if these sums cannot."""
        if settings is self.settings or settings == self.settings:
            return self
        (layer, units), memory = layer_of(settings), self.memory
        if units < memory.units and not memory.targets:
            memory = memory.cut(units)
        if units != memory.units or layer not in (None, memory.layer):
            raise InputError(
                "once rows are learned, a layer cannot change, but for having fewer of its units "
                "in a classifier: fit anew"
            )
        _new_solver(memory, 1.0, settings)
        with uninterrupted():
            memory.centre(settings.fit_intercept)
            memory.keep(settings.quota, settings.seed)
            if memory is not self.memory:
                self.memory, self._solver, self._coming = memory, None, None
            if isinstance(self.choice, Selector) and isinstance(settings, SelectionSettings):
                self.choice.settings = settings  # what it knows may be of use
            else:
                self.choice = choice_for(settings)
            self.settings = settings
            self._note_change()
        return self

    @property
    def penalty(self) -> float:
        """The penalty that is used."""
        return self.choice.penalty(self.memory)

    @property
    def calibration(self) -> Calibration:
        """How sure answers may be, worked out now if it has to be."""
        if self._calibration is None:
            self._calibration = self.choice.calibration(self.memory, self.solver)
        return self._calibration

    @property
    def factors(self) -> Floats:
        """Factors on the scores of each class, shape (T,)."""
        _, recoding, _ = self.choice.parameters(self.memory)
        return recoding_factors(self.solver.weight_sums, recoding)

    @property
    def layer(self) -> Layer | None:
        """What stands before the weights that answer."""
        return self.memory.layer if self.choice.uses_layer(self.memory) else None

    @property
    def solver(self) -> Solver:
        """The solver that answers."""
        solver: Solver = self._solver_for(self.choice.penalty(self.memory))
        return solver

    def _solver_for(self, penalty: float) -> Any:
        settings, memory = self.settings, self.memory
        uses_layer = self.choice.uses_layer(memory)
        key = (settings.class_weight, settings.fit_intercept, uses_layer)
        if self._solver is None or self._made_for != key:
            coming, self._coming = self._coming, None
            is_it = coming is not None and self._made_for == (*key[:2], not uses_layer)
            self._solver = coming if is_it else _new_solver(memory, penalty, settings, uses_layer)
            self._made_for, self._judgements = key, -1
        if self._solver.penalty != penalty:
            self._solver.use(penalty)
            self._judgements = -1
        if self._judgements != self.memory.sums.judgements:
            self._look_at_penalty(penalty)
        return self._solver

    def _note_change(self) -> None:
        self._calibration = self._known_metric = self._predictor = None
        self.changes += 1

    def learn(self, batch: Batch, defer: bool = False) -> None:
        """Learn rows, all or none; if deferred, nothing is derived before a question."""
        if self.memory.is_young and self.memory.sums.total + batch.size >= FIRST_ROWS:
            grown, changes = self.copy(), self.changes + 1  # so that all or none are learned
            grown.grow(batch, defer)
            with uninterrupted():
                vars(self).update(vars(grown) | {"changes": changes})
        else:
            self._learn(batch, defer)

    def grow(self, batch: Batch, defer: bool) -> None:
        """Learn rows, some of which complete those that the layer is made of."""
        room = FIRST_ROWS - self.memory.sums.total
        self._learn(batch.first(room), defer)
        self.memory = self.memory.grown()
        self._solver, self._judgements = None, -1
        rest = batch.part(slice(room, None))
        if rest.size:
            self._learn(rest._replace(features=self.memory.features(rest.rows)), defer)

    def _learn(self, batch: Batch, defer: bool = False) -> None:
        """Learn rows that all are of one kind: before there is a layer, or behind it."""
        memory, is_fixed = self.memory, self.choice.is_fixed
        few = memory.sums.width <= NARROW and len(batch.of_class) == 1
        with IN_THIS_THREAD if few else one_thread:
            plan = None if is_fixed else self.choice.plan(memory, batch, defer)
            self._note_change()
            solver = self.solver if is_fixed and self._solver is None else self._solver
            self._solver = None  # it may have learned what the memory has not, until all is done
            if solver is not None and defer:
                solver.discard()
            elif solver is not None:
                solver.learn(_seen_by(solver, batch.features), *batch[2:])
            coming, self._coming = self._coming, None
            if coming is not None and not defer:
                coming.learn(_seen_by(coming, batch.features), *batch[2:])
            if is_fixed:
                memory.add(batch)
            else:
                memory.add(batch, partial(self.choice.follow, plan, memory))
                if solver is not None and self.choice.uses_layer(memory) == self._made_for[-1]:
                    self.choice.guide(solver)
            self._solver = solver
            if memory.layer is not None and solver is not None and not defer:
                self._coming = self._prepared(coming)
            if is_fixed and memory.sums.judgements != self._judgements:
                self._look_at_penalty(self.choice.penalty(memory))

    def _prepared(self, coming: Any) -> Any:
        """Return a solver that is to come because of the layer, begun if it is not yet."""
        soon = self.choice.coming()
        if soon is None or soon[1] == self._made_for[-1]:
            return coming
        if coming is None or coming.penalty != soon[0]:
            coming = _new_solver(self.memory, soon[0], self.settings, soon[1])
            coming.begin()
        return coming

    def _look_at_penalty(self, penalty: float) -> None:
        """Warn if the penalty is lost beside the sums, once; they are asked as they double."""
        sums = self.memory.sums
        self._judgements = sums.judgements
        least = resolution(sums.squares[: sums.width - self.memory.targets])
        if penalty < least and not self._is_said:
            self._is_said = True
            warn_of_penalty(penalty, least)

    @one_thread
    def forget(self, batch: Batch) -> float:
        """Forget rows, all or none; with weights, those that they were learned with.

        Returns how large an error all that went has left in the weights, relative to these; 0
        where that was told before, or hardly more. Raises NotTaughtError, with nothing changed, if
        they cannot all have been taught.
        """
        memory = self.memory
        self._note_change()
        # Whatever its penalty: several calls shall not each wait for a selection.
        solver = self._solver if self._solver is not None else self.solver
        remove = memory.prepare_removal(batch)
        self._coming = None
        if self._rounding is None:
            self._rounding = _rounding(self, solver.penalty)
        self._solver = None  # as when it learns
        try:
            solver.forget(_seen_by(solver, batch.features), batch.of_class, batch.weights)
        except NotTaughtError:  # it has not
            self._solver = solver
            raise
        vanished = remove()
        solver.remove_classes(vanished)
        self._solver = solver
        if not self.choice.is_fixed:
            self.choice.forgot(batch, vanished, memory)
        return self._more_rounding(solver.penalty)

    def _more_rounding(self, penalty: float) -> float:
        """Return how large an error is left now, or 0 where that was told before."""
        error, before = _rounding(self, penalty), self._rounding or 0.0
        if error < MORE * before:
            return 0.0
        self._rounding = error
        return error

    @one_thread
    def forget_class(self, label: Any) -> float:
        """Forget all rows of a class, whose own Gram is held; return what `forget` does."""
        penalty = self.solver.penalty
        if self._rounding is None:
            self._rounding = _rounding(self, penalty)
        self.memory.remove_class(label)
        self._rebase()
        return self._more_rounding(penalty)

    def rename(self, old: Any, new: Labels) -> None:
        """Give class `old` the label in `new`, shape (1,); a class that has it takes `old` in."""
        before, label = self.memory.sums.n_classes, new.tolist()[0]
        self.memory.rename(old, new)
        self._note_change()
        if label != old:
            self.choice.rename(old, label)
        # Class weights go by label.
        if self.memory.sums.n_classes < before or self.settings.class_weight:
            self._rebase()

    def _rebase(self) -> None:
        """Begin anew with what the memory now is."""
        self._note_change()
        self._coming = None
        if self._solver is not None:
            self._solver.discard()
        self.choice.discard()

    @one_thread
    def merged(self, other: "Engine") -> "Engine":
        """Return an engine that was taught what both were, with the parameters of this one."""
        memory = self.memory.copy()
        memory.merge(other.memory)
        return Engine(memory, self.settings)

    def reconsider(self) -> None:
        """Choose parameters now, from everything there is."""
        self._calibration = self._predictor = None
        self.choice.reconsider(self.memory)

    def prepare(self) -> None:
        """Work out now what the next question will need."""
        _ = self.calibration, self._metric()

    def _metric(self) -> Metric:
        solver, known = self.solver, self._known_metric
        if known is None or known.solver is not solver or known.penalty != solver.penalty:
            self._known_metric = known = Metric(self.memory, solver, self.layer)
        return known

    def predictor(self) -> Any:
        """Return what answers are made with now; of use until something is learned."""
        if self._predictor is None:
            self._predictor = self._new_predictor()
        return self._predictor

    def _new_predictor(self) -> Any:
        memory, sums = self.memory, self.memory.sums
        if memory.targets:
            return TargetPredictor(self.layer, self.solver.weights, self.solver.intercept)
        penalty, recoding, sharpness = self.choice.parameters(memory)
        labels, order = sums.sorted_classes
        solver = self._solver_for(penalty)
        factors = recoding_factors(solver.weight_sums, recoding)
        classes = labels, order, sums.counts, factors
        return ClassPredictor(solver, self.layer, *classes, sharpness, sums.dtype)

    @one_thread
    def examine(self, predictions: Predictions, rows: Array, unknown: bool) -> Predictions:
        """Return predictions of rows (m, d) with their leverage, and how probably unknown."""
        leverage = self.solver.leverage(features_of(rows, self.layer))
        predictions = predictions._replace(leverage=leverage)
        if not unknown:
            return predictions
        shares = np.zeros(len(on_host(leverage)))
        if self.calibration.bound is not None:
            scores = on_host(self.predictor().plain_scores(rows))
            shares = self._metric().unknown(self.calibration, rows, scores, on_host(leverage))
        device = self.memory.device
        return predictions._replace(unknown=shares if device is None else device.put(shares))

    def left_out(self, batch: Batch) -> Labels:
        """Return what the model would say of rows that it learned, had each alone not come."""
        sums, solver, predictor = self.memory.sums, self.solver, self.predictor().copy()
        own, taught = batch.of_class, np.where(sums.counts > 0, sums.weight_sums, 1.0)
        # In ridge regression, a row's own share in its scores is known: its leverage, weighted.
        features = _seen_by(solver, batch.features)
        share = on_host(solver.leverage(features)) * (solver.weight_sums / taught)[own]
        scores = predictor.plain_scores(on_host(batch.rows))
        scores[np.arange(len(scores)), own] -= share
        scores /= np.maximum(1 - share, np.finfo(np.float64).eps)[:, None]
        labels: Labels = predictor.predictions(scores * predictor.factors).best
        return labels


def _seen_by(solver: Any, features: Array) -> Array:
    """Return of features (m, D) those that a solver is for: all, or those without a layer."""
    width = solver.sums.width
    return features if features.shape[1] == width else features[:, :width]


def _rounding(engine: Engine, penalty: float) -> float:
    return rounding_left(engine.memory.sums, penalty, engine.settings.fit_intercept)


def _new_solver(
    memory: Memory, penalty: float, settings: AnySettings, uses_layer: bool = True
) -> Any:
    sums = memory.sums
    if isinstance(settings, RegressionSettings):
        return RegressionSolver(sums, memory.targets, penalty, settings.fit_intercept)
    return solver_for(sums if uses_layer else leading(sums, memory.width), settings, penalty)


def choice_for(settings: AnySettings) -> Choice:
    """Return what chooses parameters: somebody has, or they are selected."""
    if isinstance(settings, SelectionSettings):
        return Selector(settings)
    if isinstance(settings, RegressionSettings):
        if settings.penalty == "auto" or len(settings.penalty) > 1:
            return PenaltySelector(settings)
        return Choice(settings.penalty[0])
    return Choice(settings.penalty, settings.recoding)
