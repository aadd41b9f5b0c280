"""Learnt items are noticed where one is like another by chance, and where a member's column is absent."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import Observations
from twoheads.combination.learnt import LearntItems
from twoheads.evaluation import compare
from twoheads.evaluation.leakage import items_to_judge
from twoheads.tables.fingerprints import stirred, unstirred

UNKNOWN, CROSS = "whether held out cannot be known", "5-fold cross-validation"
N = 120


def table(seed, n=N, *, classes=("a", "b", "c"), people=("ann", "bob"), models=("model",), decimals=15, gaps=0.1):
    """Items with answers of people and rows of models."""
    rng = np.random.default_rng(seed)
    n_classes = len(classes)
    truth = rng.integers(0, n_classes, n)
    found = {}
    for who in people:
        said = np.where(rng.random(n) < 0.75, truth, rng.integers(0, n_classes, n))
        found[f"human_{who}"] = np.where(rng.random(n) < gaps, None, np.array(classes, dtype=object)[said])
    for model in models:
        rows = (0.5 * rng.dirichlet([0.6] * n_classes, n) + 0.5 * np.eye(n_classes)[truth]).round(decimals)
        before = "" if model == "model" else f"{model}."
        found |= {f"{before}p_{name}": rows[:, at] / rows.sum(axis=1) for at, name in enumerate(classes)}
    return pd.DataFrame(found), np.array(classes)[truth]


def with_other_numbers(X, seed=1):
    """The same items beside another model."""
    rng = np.random.default_rng(seed)
    columns = [name for name in X if ".p_" in name or name.startswith("p_")]
    odds = X[columns].to_numpy() ** 0.7 * np.exp(0.5 * rng.normal(size=(len(X), len(columns))))
    return X.assign(**dict(zip(columns, (odds / odds.sum(axis=1, keepdims=True)).T, strict=True)))


def shuffled(X, y, seed=2, n=None):
    rows = np.random.default_rng(seed).permutation(len(X))[:n]
    return X.iloc[rows].reset_index(drop=True), y[rows]


def test_stirred_words_are_found_again():
    words = np.random.default_rng(0).integers(0, 2**64, 1000, dtype=np.uint64)
    np.testing.assert_array_equal(unstirred(stirred(words.copy())), words)


@pytest.mark.parametrize("order", ["the same", "another"])
@pytest.mark.parametrize("n_alike", [0, 1, 3])
def test_items_asked_again_are_noticed_where_some_are_recognised(order, n_alike):
    X, y = table(0)
    team = th.recommended().fit(X, y)
    again = with_other_numbers(X)
    again.iloc[:n_alike] = X.iloc[:n_alike]
    again, y = (again, y) if order == "the same" else shuffled(again, y)
    found = compare(team, again, y, n_bootstrap=10)
    assert (found.how, found.n_items) == (UNKNOWN, N)


def test_other_items_beside_the_learnt_ones_are_not_taken_for_them():
    # Half of them are learnt from, which alone agree with the learnt ones row by row, and as often.
    alarms = 0
    for seed in range(100):
        X = table(seed, 2 * N)[0]
        learnt = LearntItems.of(Observations.from_frame(X[:N]), np.zeros(N, dtype=int))
        rows = np.r_[0 : N // 2, N : 3 * N // 2]
        these = Observations.from_frame(X.iloc[rows].reset_index(drop=True))
        recognised = learnt.recognise(these).learnt
        assert recognised.tolist() == [True] * (N // 2) + [False] * (N // 2)
        alarms += learnt.may_be_asked_again(these, recognised)
    assert alarms <= 8  # three signs of .01 each: 3, and three standard errors


@pytest.mark.filterwarnings("ignore:X ")
@pytest.mark.parametrize("decimals", [15, 2, 1])
@pytest.mark.parametrize("n", [N, N // 2])
def test_learnt_items_without_a_persons_column_are_recognised(decimals, n):
    X, y = table(3, decimals=decimals, classes=("no", "yes"), gaps=0.0)
    team = th.recommended().fit(X, y)
    again, y = shuffled(X.drop(columns="human_bob"), y, n=n)
    assert compare(team, again, y, n_bootstrap=10).how in (CROSS, UNKNOWN)
    blank = again.assign(human_bob=None)
    assert compare(team, blank, y, n_bootstrap=10).how in (CROSS, UNKNOWN)


@pytest.mark.filterwarnings("ignore:X ")
@pytest.mark.parametrize(
    ("models", "dropped"), [(("model",), "p_"), (("gpt", "vit"), "vit."), (("gpt", "vit", "old"), "old.")]
)
def test_learnt_items_without_a_models_columns_are_not_called_other_items(models, dropped):
    X, y = table(4, models=models, gaps=0.0)
    team = th.recommended().fit(X, y)
    again, y = shuffled(X.drop(columns=[name for name in X if name.startswith(dropped)]), y)
    assert compare(team, Observations.from_frame(again, classes=["a", "b", "c"]), y, n_bootstrap=10).how == UNKNOWN


def test_learnt_items_without_a_score_are_not_called_other_items():
    X, y = table(5, classes=("no", "yes"))
    X["judge.score"] = np.random.default_rng(5).normal(size=N) + (y == "yes")
    team = th.recommended().fit(Observations.from_frame(X, positive="yes"), y)
    again, y = shuffled(X.drop(columns="judge.score"), y)
    assert compare(team, Observations.from_frame(again), y, n_bootstrap=10).how == UNKNOWN


@pytest.mark.filterwarnings("ignore:X ")
def test_other_items_without_a_persons_column_are_not_taken_for_learnt_ones():
    learnt_from = 0
    for seed in range(20):
        X, y = table(seed, 2 * N, decimals=15)
        team = th.ProbabilityLabelCombiner().fit(X[:N], y[:N])
        rest = Observations.from_frame(X[N:].drop(columns="human_bob").reset_index(drop=True))
        found = items_to_judge(team, rest, np.searchsorted(["a", "b", "c"], y[N:]))
        learnt_from += found.status != "none recognised as learnt from"
    assert learnt_from <= 3
