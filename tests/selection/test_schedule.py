"""The schedule of what-ifs, beside one worked out the long way."""

import numpy as np
import pytest

from newfound.heads.recoding import recoding_factors
from newfound.selection.holdout import HeldBack
from newfound.selection.schedule import Key, Occasion, Work
from newfound.solvers.grid import Candidates
from newfound.solvers.recursive import RecursiveSolver
from newfound.sums.sums import Sums

WIDTH, PENALTIES, RECODINGS = 5, (2.0, 20.0), (0.0, 0.5, 1.0)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("pretended", [1, 2])
def test_a_schedule_equals_one_worked_out_the_long_way(intercept: bool, pretended: int) -> None:
    rng = np.random.default_rng(0)
    labels = ["a", "b", "c", "d", "rare"]
    counts = [40, 50, 45, 60, 3]
    means = rng.normal(size=(5, WIDTH))
    X = np.concatenate(
        [mean + rng.normal(size=(n, WIDTH)) for mean, n in zip(means, counts, strict=True)]
    )
    y = np.repeat(labels, counts)
    sums = Sums(WIDTH)
    sums.add(X, *sums.locate(y))
    held = HeldBack(seed=1)
    for label, mean in zip(labels[:4], means, strict=False):
        held.rows[label] = list(mean + rng.normal(size=(9, WIDTH)))
    candidates = Candidates([RecursiveSolver(sums, p, intercept) for p in PENALTIES])
    key = Key(PENALTIES, RECODINGS, None, intercept)
    work = Work(key, Occasion(198, 4, pretended), labels[:4], held, 45)
    while not work.is_done:
        work.advance(candidates)

    gram = X.T @ X
    mu = np.array([X[y == label].mean(axis=0) for label in labels])
    n = np.array(counts, dtype=float)
    scatter = (gram - (mu.T * n) @ mu) / n.sum()
    assert work.ladder.tolist() == [1, 2, 4, 8, 16, 32]
    for m, rung in enumerate(work.ladder):
        for k, penalty in enumerate(PENALTIES):
            found = []
            for scenario in work.scenarios:
                assert len(scenario) == pretended
                masses, centres, matrix = n.copy(), mu.copy(), gram.copy()
                votes = np.ones(len(work.voters), dtype=bool)
                for place in scenario:
                    if rung <= 4:  # of nine held back, four play the few that were taught
                        centres[place] = work.examples[place][: int(rung)].mean(axis=0)
                        taught = {row.tobytes() for row in work.examples[place][: int(rung)]}
                        votes &= [row.tobytes() not in taught for row in work.voters]
                    matrix -= (n[place] - rung) * scatter + n[place] * np.outer(
                        mu[place], mu[place]
                    )
                    matrix += rung * np.outer(centres[place], centres[place])
                    masses[place] = rung
                mean = masses @ centres / masses.sum() * intercept
                matrix -= masses.sum() * np.outer(mean, mean)
                right = (centres - mean).T * masses
                share = penalty * masses.sum() / n.sum()
                W = np.linalg.solve(matrix + share * np.eye(WIDTH), right)
                scores = (work.voters - mean) @ W + intercept * masses / masses.sum()
                accuracy = []
                for recoding in RECODINGS:
                    factors = recoding_factors(masses, recoding)[:4]
                    right_ones = (scores[:, :4] * factors).argmax(axis=1) == work.of_class
                    accuracy.append(
                        [right_ones[votes & (work.of_class == place)].mean() for place in range(4)]
                    )
                found.append(accuracy)
            np.testing.assert_allclose(work.table[m, k], np.mean(found, axis=0), atol=1e-12)
            rare = [
                np.array(a)[:, s].mean(axis=1) for a, s in zip(found, work.scenarios, strict=True)
            ]
            np.testing.assert_allclose(work.rare[m, k], np.mean(rare, axis=0), atol=1e-12)


def test_a_schedule_is_stale_when_anything_has_changed_twofold() -> None:
    then = Occasion(examples=1000, known=10, pretended=2)
    assert not then.has_changed(then, 2.0)
    assert not then.has_changed(Occasion(1900, 19, 3), 2.0)
    for now in ((2000, 10, 2), (500, 10, 2), (1000, 20, 2), (1000, 5, 2), (1000, 10, 4)):
        assert then.has_changed(Occasion(*now), 2.0)


def test_each_known_class_plays_a_rare_one_about_as_often() -> None:
    held = HeldBack(seed=0)
    labels = list("abcdefghij")
    for label in labels:
        held.rows[label] = list(np.random.default_rng(0).normal(size=(4, 2)))
    key = Key(PENALTIES, RECODINGS, None, True)
    for pretended, number in ((1, 8), (2, 5), (5, 4)):
        work = Work(key, Occasion(400, 10, pretended), labels, held, 40)
        assert len(work.scenarios) == number
        times = np.bincount(np.concatenate(work.scenarios), minlength=10)
        assert times.max() - times.min() <= 1
