"""A model without a face: sums, one solver derived from them, and a selector or none."""

import copy
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.device import Array, Device, on_host
from newfound.common.errors import NotTaughtError
from newfound.common.interrupts import uninterrupted
from newfound.common.pieces import at_once
from newfound.common.threads import alone, one_thread
from newfound.heads.probabilities import USUAL_SHARPNESS
from newfound.heads.recoding import recoding_factors
from newfound.heads.unknown import cosines, recalled
from newfound.selection.calibration import Calibration, calibrated_by_sums
from newfound.selection.findings import Findings, calibrated
from newfound.selection.panel import Panel
from newfound.selection.selector import Selector, Work
from newfound.selection.snapshot import snapshot_in_stages
from newfound.selection.witnesses import Witnesses
from newfound.solvers.base import Solver, solver_for
from newfound.solvers.rounding import rounding_left_by
from newfound.solvers.settings import SelectionSettings, Settings
from newfound.sums.arrays import moved
from newfound.sums.device import rows_at, weighted
from newfound.sums.sums import Sums

# Probability of being unknown beyond which examples are looked at, of so many classes; and how near
# they must be, in the usual distance, as a share of that to the mean, to be looked at closely.
DOUBTFUL, LIKELIEST, NEAR = 0.1, 3, 0.5


class Measures(NamedTuple):
    """What likeness and distances are measured by."""

    penalty: float  # that they are for
    norms: Floats  # of the classes, shape (T,)
    mean: Floats  # of all rows, shape (d,); zeros without an intercept


class Engine:
    """Learns labelled rows, forgets them, and says with which weights to score others.

    It takes rows and labels that were checked, and knows neither scikit-learn nor files.

    Parameters
    ----------
    sums : Sums
        Everything taught; taken over.
    settings : Settings or SelectionSettings
        Fixed parameters, or what to choose them from.
    selector : Selector, optional
        What a choice rests on; a new one if parameters are to be chosen.

    Examples
    --------
    >>> engine = Engine.blank(1, Settings(1.0, 0.7, None, True))
    >>> engine.learn(np.array([[0.0], [1.0]]), *engine.sums.locate(np.array(["cup", "mug"])))
    >>> engine.solver.weights.round(2), engine.penalty
    (array([[-0.33,  0.33]]), 1.0)
    """

    # _solver: for the present penalty and settings. None: to be made.
    # _by_sums: the calibration that follows from the sums, where there are no witnesses.
    # _measured: what likeness is measured by, for the present sums.
    #     Both None: to be worked out.
    # changes: how often something was learned or forgotten.

    def __init__(
        self,
        sums: Sums,
        settings: Settings | SelectionSettings,
        selector: Selector | None = None,
    ) -> None:
        solver_for(sums, settings)  # what these sums cannot serve is refused here
        self.sums = sums
        self.settings = settings
        if selector is None and isinstance(settings, SelectionSettings):
            selector = Selector(Witnesses(settings.random_state))
        self.selector = selector
        self._solver: Solver | None = None
        self._made_for: tuple[Any, ...] = ()
        self._by_sums: Calibration | None = None
        self._measured: Measures | None = None
        self.changes = 0

    @classmethod
    def blank(
        cls, width: int, settings: Settings | SelectionSettings, device: Device | None = None
    ) -> "Engine":
        """Return one that was taught nothing, for rows of so many features, on a device or not."""
        return cls(Sums(width, settings.class_weight is not None, device), settings)

    @property
    def device(self) -> Device | None:
        """Where its sums live; None: on the host."""
        return self.sums.device

    def placed(self, array: Array) -> Array:
        """Return an array from anywhere, of its own type, where the sums live."""
        return on_host(array) if self.device is None else self.device.put(array, double=False)

    def moved(self, device: Device | None) -> "Engine":
        """Return a copy that was taught the same, on another device, on the host or where it is.

        It has found out the same, too, but has derived nothing yet.
        """
        # Of a selector, only votes change in place: witnesses and findings are replaced.
        selector = copy.copy(self.selector)
        if selector is not None:
            selector.work = copy.copy(selector.work)
        stays = device == self.device  # then a plain copy is all that others wait for
        sums = copy.deepcopy(self.sums) if stays else moved(self.sums, device)
        return Engine(sums, self.settings, selector)

    def configure(self, settings: Settings | SelectionSettings) -> "Engine":
        """Use these parameters from now on, or raise ValueError if these sums cannot."""
        if settings is not self.settings and settings != self.settings:
            solver_for(self.sums, settings)
            self.settings = settings
            self._drop_readings()
        return self

    @property
    def findings(self) -> Findings:
        """What the choice of parameters rests on, worked out now if it has to be."""
        assert self.selector is not None
        found = self.selector.findings
        if found is None or found.settings != self.settings:
            return self._vote()
        return found

    @one_thread
    def _vote(self) -> Findings:
        """Let the witnesses vote now, on everything there is."""
        selector, settings = self.selector, self.settings
        assert selector is not None
        assert isinstance(settings, SelectionSettings)
        called = selector.call(self.sums, selector.witnesses, settings)
        found = called.finish() if isinstance(called, Work) else called
        selector.adopt(found)
        return found

    @property
    def penalty(self) -> float:
        """The penalty that is used."""
        if isinstance(self.settings, Settings):
            return self.settings.penalty
        return self.findings.penalty

    @property
    def recoding(self) -> float | Floats:
        """The recoding that is used: one for all classes, or one for each, shape (T,)."""
        if isinstance(self.settings, Settings):
            return self.settings.recoding
        return self.findings.recoding(self.sums.sizes)

    @property
    def solver(self) -> Solver:
        """The solver that answers."""
        penalty, key = self.penalty, (self.settings.class_weight, self.settings.fit_intercept)
        if self._solver is None or self._made_for != key:
            self._solver = solver_for(self.sums, self.settings, penalty)
            self._made_for = key
        if self._solver.penalty != penalty:
            self._solver.use(penalty)
        return self._solver

    @property
    def calibration(self) -> Calibration:
        """How sure answers may be, worked out now if it has to be."""
        if self.selector is None:
            if self._by_sums is None:
                self._by_sums = calibrated_by_sums(self.solver)
            return self._by_sums
        calibration = self.findings.calibration
        assert calibration is not None
        return calibration

    def catch_up(self) -> None:
        """Find out what versions from before did not ask for: how sure answers may be."""
        selector = self.selector
        if selector is None or selector.findings is None:
            return
        if selector.findings.calibration is None:
            selector.findings = self._calibrated(selector.findings)
        if selector.work is not None and selector.work.found is not None:
            coming, calibration = selector.work.found, selector.findings.calibration
            if coming.calibration is None:
                selector.work.found = coming._replace(calibration=calibration)

    @property
    def sharpness(self) -> float:
        """How sharp probabilities are; without witnesses, as they usually are."""
        return USUAL_SHARPNESS if self.selector is None else self.calibration.sharpness

    @one_thread
    def _calibrated(self, found: Findings) -> Findings:
        assert self.selector is not None
        witnesses, solver = self.selector.witnesses.capped(found.settings.witnesses), self.solver
        if self.device is not None:
            solver = solver_for(moved(self.sums, None), self.settings, solver.penalty)
        snapshot = at_once(snapshot_in_stages(solver, witnesses, found.settings.witnesses))
        panel = Panel(snapshot, found.settings.min_class_count, what_if=False)
        if np.count_nonzero(panel.votes) < 2:
            return found._replace(calibration=Calibration())
        basis = at_once(panel.basis_for(found.penalty))
        return at_once(calibrated(found, panel, basis))

    @property
    def norms(self) -> Floats:
        """Score of each class of the sum of its rows, shape (T,): what likeness is measured by."""
        return self._measures().norms

    def _measures(self) -> Measures:
        sums, solver = self.sums, self.solver
        if self._measured is None or self._measured.penalty != solver.penalty:
            masses = solver.masses
            weights = masses / np.where(sums.counts > 0, sums.masses, 1.0)
            own = self._column_products(sums.cross, solver.weights) * weights
            mean = on_host(sums.cross @ self.placed(weights))
            mean = mean / masses.sum() * solver.fit_intercept
            norms = own + masses * on_host(solver.intercept)
            self._measured = Measures(solver.penalty, norms, mean)
        return self._measured

    def _column_products(self, left: Array, right: Array) -> Floats:
        """Return the product of each column of two matrices (d, T) with its twin, shape (T,)."""
        if self.device is not None:
            return self.device.host(self.device.xp.sum(left * right, axis=0))
        products: Floats = np.einsum("ij,ij->j", left, right)
        return products

    def _drop_readings(self) -> None:
        self._by_sums = self._measured = None
        self.changes += 1

    @one_thread
    def unknown(self, X: Rows, scores: Floats, leverage: Floats) -> Floats:
        """Return how probable it is that rows are of no class that was taught, shape (m,).

        Parameters
        ----------
        X : array of shape (m, d)
            Where the sums live; all else is on the host.
        scores : ndarray of shape (m, T)
            Theirs, not recoded.
        leverage : ndarray of shape (m,)
            Theirs.
        """
        taught, masses = np.flatnonzero(self.sums.counts), self.solver.masses
        labels, leverage = self.sums.labels[taught], np.nan_to_num(leverage, nan=np.inf)
        total = float(masses.sum()) if self.solver.fit_intercept else None
        calibration = self.calibration
        if calibration.bound is None:
            return np.zeros(len(scores))
        found = cosines(scores[:, taught], leverage, self.norms[taught], masses[taught], total)
        likeness = calibration.likeness(found, leverage, labels)
        unknown = calibration.bound.unknown(likeness.max(axis=1))
        doubtful = np.flatnonzero(unknown > DOUBTFUL)
        if self.selector is not None and len(doubtful):
            best = labels[np.argsort(-likeness[doubtful], axis=1)[:, :LIKELIEST]]
            rows = on_host(rows_at(X, doubtful, self.device))
            far = self._distances(self.selector.witnesses, rows, best)
            unknown[doubtful] = recalled(unknown[doubtful], far)
        return unknown

    def _distances(self, witnesses: Witnesses, X: Rows, labels: Labels) -> Floats:
        """Return how far rows `X` (m, d) are from a witness of one of their labels (m, k) each.

        As a share of what they are from the mean of all rows, in the metric of the model, shape
        (m,); 1 where none is near.
        """
        rows, solver, mean = np.asarray(X, dtype=np.float64), self.solver, self._measures().mean
        share = 1 / float(solver.masses.sum()) if solver.fit_intercept else 0.0
        apart, distances = rows - witnesses.nearest(rows, labels), np.ones(len(rows))
        with np.errstate(all="ignore"):
            # Who is not near in the usual way is not asked for, which would cost another product.
            near = np.square(apart).sum(axis=1) < NEAR**2 * np.square(rows - mean).sum(axis=1)
            near = np.flatnonzero(near)
            if len(near):
                both = np.concatenate([apart[near] + mean, rows[near]])
                squares = np.maximum(on_host(solver.leverage(both)) - share, 0.0)
                ratios = np.sqrt(squares[: len(near)] / squares[len(near) :])
                distances[near] = np.nan_to_num(ratios, nan=0.0, posinf=1.0)
        return distances

    @property
    def factors(self) -> Floats:
        """Factors on the scores of each class, shape (T,)."""
        return recoding_factors(self.solver.masses, self.recoding)

    @property
    def witnesses(self) -> tuple[Rows, Labels]:
        """Copies of rows that vote on parameters, shape (m, d), and their labels, shape (m,)."""
        sums = self.sums
        witnesses = self.selector.witnesses if self.selector is not None else Witnesses(0)
        rows, index = witnesses.stacked(sums.labels, sums.width)
        return rows, sums.labels[index]

    def copy(self) -> "Engine":
        """Return one that was taught the same, and has derived nothing of it yet."""
        selector = Selector(self.selector.witnesses) if self.selector is not None else None
        return Engine(copy.deepcopy(self.sums), self.settings, selector)

    def fit(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Learn the first rows, all there are; parameters are chosen from all of them."""
        self.learn(X, index, labels, self.selector is not None, sample_weight)
        self.reconsider()

    def learn(
        self,
        X: Rows,
        index: Index,
        labels: Labels,
        put_off: bool = False,
        sample_weight: Floats | None = None,
    ) -> None:
        """Learn rows `X` (m, d) of classes `index` (m,), `labels` being all classes; all or none.

        If it is put off, nothing is derived before the next question. Each row counts as often as
        its weight (m,) says, which is above zero, if there are weights.
        """
        # A row that comes alone waits for no other thread.
        with one_thread, alone() if len(index) == 1 else nullcontext():
            if self.selector is None:
                self._add(X, index, labels, put_off, sample_weight)
            else:
                self._learn_and_vote(self.selector, X, index, labels, put_off, sample_weight)

    def _learn_and_vote(
        self,
        selector: Selector,
        X: Rows,
        index: Index,
        labels: Labels,
        put_off: bool,
        sample_weight: Floats | None,
    ) -> None:
        assert isinstance(self.settings, SelectionSettings)
        if self.sums.total and not put_off:
            _ = self.findings  # what is to be worked out rests on what is known now
        plan = selector.plan(self.sums, X, index, labels, self.settings, put_off, sample_weight)
        with uninterrupted():
            self._add(X, index, labels, put_off, sample_weight)
            selector.witnesses = plan.witnesses
            if put_off:
                selector.adopt(None)
        selector.follow(plan, self.sums, self.settings)
        self._follow_choice(selector)

    def _follow_choice(self, selector: Selector) -> None:
        """Have the solver prepare for a penalty that is to come, or use one that has."""
        solver, found = self._solver, selector.findings
        if solver is None or found is None or found.settings != self.settings:
            return
        if selector.foreseen is not None:
            solver.foresee(selector.foreseen)
        elif solver.penalty != found.penalty:
            solver.use(found.penalty)

    def _add(
        self,
        X: Rows,
        index: Index,
        labels: Labels,
        put_off: bool,
        sample_weight: Floats | None,
    ) -> None:
        """Add rows to the sums, and to what the solver carries."""
        self._drop_readings()
        # Where parameters are to be chosen, what was derived is kept current, whatever it is for.
        solver = self.solver if self.selector is None else self._solver
        try:
            if put_off and solver is not None:
                solver.discard()
            elif solver is not None:
                solver.learn(X, index, labels, sample_weight)
            self.sums.add(X, index, labels, sample_weight)
        except BaseException:
            # The sums are as they were; what the solver has learned of the rows is not.
            if solver is not None:
                solver.discard()
            raise

    @one_thread
    def forget(self, X: Rows, index: Index, sample_weight: Floats | None = None) -> float:
        """Forget rows `X` (m, d) of classes `index` (m,), all or none.

        With weights, these are what the rows were learned with.

        Returns how large an error they left in the weights, relative to these. Raises
        NotTaughtError, with nothing changed, if they cannot all have been taught.
        """
        sums, selector, y = self.sums, self.selector, self.sums.labels[index]
        there = on_host(X)
        self._drop_readings()
        # Whatever its penalty: several calls shall not each wait for votes.
        solver = self._solver if self._solver is not None else self.solver
        left = None
        if selector is not None:
            left = selector.witnesses.without(there, y, sample_weight)
        remove = sums.prepare_removal(X, index, sample_weight)
        try:
            solver.forget(X, index, sample_weight)
            if selector is not None and left is not None:
                selector.witnesses = left
            vanished = remove()
            solver.remove_classes(vanished)
        except NotTaughtError:
            raise
        except BaseException:
            solver.discard()
            raise
        if selector is not None and sums.total:
            if len(vanished):
                selector.witnesses = selector.witnesses.only(sums.labels.tolist())
                selector.drop_vanished()
            selector.note_forgotten(there, sums, self.settings.fit_intercept, sample_weight)
        gone = weighted(there, sample_weight, None)
        return rounding_left_by(gone, sums, solver.penalty, solver.fit_intercept)

    @one_thread
    def forget_class(self, label: Any) -> None:
        """Forget all rows of a class, whose own Gram is held."""
        self.sums.remove_classes(np.array([self.sums.position(label)]))
        self._rebase()

    def rename(self, old: Any, new: Labels) -> None:
        """Give class `old` the label in `new`, shape (1,); a class that has it takes `old` in."""
        sums, before, label = self.sums, self.sums.n_classes, new.tolist()[0]
        sums.rename(old, new)
        self._drop_readings()
        if self.selector is not None and label != old:
            assert isinstance(self.settings, SelectionSettings)
            self.selector.rename(old, label, self.settings.witnesses)
        if sums.n_classes < before or self.settings.class_weight:  # which goes by label
            self._rebase()

    def _rebase(self) -> None:
        """Begin anew with what the sums now are."""
        self._drop_readings()
        if self._solver is not None:
            self._solver.discard()
        if self.selector is not None:
            labels = self.sums.labels.tolist()
            self.selector.witnesses = self.selector.witnesses.only(labels)
            self.selector.adopt(None)

    @one_thread
    def merged(self, other: "Engine") -> "Engine":
        """Return an engine that was taught what both were, with the parameters of this one."""
        sums, there = copy.deepcopy(self.sums), other.device == self.device
        sums.merge(other.sums if there else moved(other.sums, self.device))
        selector = None
        if isinstance(self.settings, SelectionSettings) and self.selector is not None:
            theirs = other.selector.witnesses if other.selector else Witnesses(0)
            cap = self.settings.witnesses
            selector = Selector(self.selector.witnesses.merged(theirs, cap))
        return Engine(sums, self.settings, selector)

    def reconsider(self) -> None:
        """Let the witnesses vote now, on everything there is."""
        if self.selector is not None:
            self._vote()

    def prepare(self) -> None:
        """Work out now what the next question will need."""
        _ = self.calibration, self._measures()
