"""Learning curves: held-out parts, few fits, and an answer in words."""

import json
from typing import ClassVar

import numpy as np
import pytest

import twoheads as th
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation import LearningCurve, Score, learning_curve


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), y] += 1.5
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    human = np.where(rng.random(n) < 0.7, (y + 1) % 3, y)  # more often than not the next class: worth learning
    return np.column_stack([human, proba]), y


def test_a_human_worth_learning_is_learnt():
    X, y = problem(600)
    curve = learning_curve(th.ProbabilityLabelCombiner(), X, y, sizes=[3, 30, 450])
    assert curve.sizes == [3, 30, 450]
    assert curve.error[0].value > curve.error[1].value > curve.error[2].value
    assert all(score.low < score.value < score.high for score in curve.error)
    assert curve.n_fits == 24
    json.dumps(curve.as_dict(), allow_nan=False)


def test_held_out_items_are_not_learnt_from():
    class Memory(th.ProbabilityLabelCombiner):
        seen: ClassVar[list] = []

        def fit(self, X, y=None, sample_weight=None):
            Memory.seen.append(set(X.items[[label is not None for label in y]].tolist()))
            return super().fit(X, y, sample_weight)

        def predict_proba(self, X):
            assert not Memory.seen[-1] & set(X.items.tolist())
            return super().predict_proba(X)

    X, y = problem(40)
    learning_curve(Memory(), X, y, sizes=[5, 20], n_repeats=3)
    assert [len(items) for items in Memory.seen] == [5, 20] * 3


@pytest.mark.parametrize(
    ("n", "sizes"), [(8, [3, 6]), (40, [5, 7, 9, 11, 15, 30]), (4000, [5, 21, 87, 360, 1500, 3000])]
)
def test_default_sizes(n, sizes):
    X, y = problem(n)
    assert learning_curve(th.ProbabilityLabelCombiner(), X, y, n_repeats=2).sizes == sizes


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (
            Score(0.012, 0.004, 0.02),
            "Over the last doubling, to 200 truth labels, the error changed by −1.2 points [−2.0 to −0.4]: "
            "more labels help; another 200 would gain at most about as much.",
        ),
        (
            Score(0.0, -0.004, 0.004),
            "Over the last doubling, to 200 truth labels, the error changed by 0.0 points [−0.4 to +0.4]: "
            "the curve is flat; more labels would hardly lower the error.",
        ),
        (
            Score(0.01, -0.01, 0.03),
            "Over the last doubling, to 200 truth labels, the error changed by −1.0 points [−3.0 to +1.0]: "
            "no significant gain; more labels may help a little, if at all.",
        ),
        (None, "There are too few truth labels to estimate the gain from more: label some more and repeat."),
    ],
)
def test_verdicts(gain, words):
    assert LearningCurve([100, 200], [], [], gain, 300, 10).verdict() == words


def test_wrong_input_says_so():
    X, y = problem(40)
    team = th.ProbabilityLabelCombiner()
    with pytest.raises(InvalidObservations, match="needs at least 8 items of known truth; there are 3"):
        learning_curve(team, X, [*y[:3], *[None] * 37])
    with pytest.raises(
        InvalidParameter, match="sizes must be at most 30, the labels that are not held out; the largest is 31"
    ):
        learning_curve(team, X, y, sizes=[31])
    with pytest.raises(InvalidParameter, match="held_out must be between 0 and 1; it is 1"):
        learning_curve(team, X, y, held_out=1)
