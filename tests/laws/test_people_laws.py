"""People's 90 % intervals hold: measured with few truths and many items without, believed with no truth at all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta

import twoheads as th
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations

N_PEOPLE, PER_ITEM, N_CLASSES = 12, 4, 3


def world(seed, n_items=330, *, difficulty=1.0):
    """People who err together on hard items, and a model that errs on them too.

    Returns observations, truth, and each person's accuracy: over all answers given, and over answers to come.
    """
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(N_CLASSES, size=n_items), rng.normal(0, difficulty, n_items)
    ability = logit(rng.beta(8, 4, N_PEOPLE))
    person = np.argsort(rng.random((n_items, N_PEOPLE)), axis=1)[:, :PER_ITEM].ravel()
    item = np.repeat(np.arange(n_items), PER_ITEM)
    lure = (truth + rng.integers(1, N_CLASSES, n_items)) % N_CLASSES
    right = rng.random(len(item)) < expit(ability[person] + hard[item])
    answers = pack_answers(item, person * N_CLASSES + np.where(right, truth[item], lure[item]), n_items)
    model = np.where(rng.random(n_items) < expit(1.0 + hard), truth, lure)
    proba = np.full((n_items, N_CLASSES), 0.2)
    proba[np.arange(n_items), model] = 1 - 0.2 * (N_CLASSES - 1)
    names = tuple(f"p{at:02}" for at in range(N_PEOPLE))
    seen = Observations(np.arange(N_CLASSES), (proba,), answers, names, np.arange(n_items))
    node, weight = np.polynomial.hermite_e.hermegauss(41)
    to_come = expit(ability[:, None] + difficulty * node) @ weight / weight.sum()
    return seen, truth, np.bincount(person, right) / np.bincount(person), to_come


def coverage(make, seeds, n_truths, *, of_answers_to_come=False):
    """How often the accuracy is covered, and the mean width over that of the labelled answers alone."""
    held, widths = [], []
    for seed in seeds:
        seen, truth, *accuracies = world(seed)
        accuracy = accuracies[of_answers_to_come]
        y = np.where(np.arange(len(truth)) < n_truths, truth, -1)
        stats = make().fit(seen, y).annotator_stats_
        assert set(stats["kind"]) <= ({"measured", "believed"} if n_truths else {"believed"})
        held.append((stats["accuracy_low"] <= accuracy) & (accuracy <= stats["accuracy_high"]))
        widths.append((stats["accuracy_high"] - stats["accuracy_low"]).mean() / alone(seen, y))
    return np.mean(held), np.mean(widths)


def alone(seen, y):
    """Mean width of Jeffreys' intervals of the labelled answers."""
    person, label = np.divmod(seen.answers.column, N_CLASSES)
    truth = np.repeat(y, PER_ITEM)
    n = np.bincount(person[truth >= 0], minlength=N_PEOPLE)
    k = np.bincount(person, (label == truth) & (truth >= 0), N_PEOPLE)
    return np.diff(beta.interval(0.9, k + 0.5, n - k + 0.5), axis=0).mean()


def test_intervals_hold_with_few_truths():
    held, width = coverage(th.ProbabilityLabelCombiner, range(6), 30)
    assert held >= 0.8
    assert width < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("n_truths", "of_answers_to_come"), [(30, False), (300, True)])
def test_measured_intervals_hold_at_their_level(n_truths, of_answers_to_come):
    # With few truths they are about the answers given here, with most of them known about answers to come.
    held, width = coverage(th.recommended, range(40), n_truths, of_answers_to_come=of_answers_to_come)
    assert 0.86 <= held <= 0.97
    assert width < 1.0


@pytest.mark.slow
def test_believed_intervals_hold_where_people_err_together():
    held, _ = coverage(th.recommended, range(20), 0)
    assert held >= 0.8
