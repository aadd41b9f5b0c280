"""The truth of a data frame: matched by index, and its own column ``truth``."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import twoheads as th
from strategies import simulate
from twoheads.errors import InvalidObservations
from twoheads.evaluation import compare, cross_validated
from twoheads.observations import matched_rows

PROBLEM = simulate(120, 3, seed=4)
NAMES = np.array(["a", "b", "c"])
FRAME = pd.DataFrame(PROBLEM.model, columns=[f"p_{name}" for name in NAMES], index=[f"i{row}" for row in range(120)])
FRAME["human"] = NAMES[PROBLEM.human]
TRUTH = pd.Series(NAMES[PROBLEM.truth], index=FRAME.index)
WEIGHT = pd.Series(PROBLEM.weight, index=FRAME.index, dtype=float)
SHUFFLED = TRUTH.sample(frac=1, random_state=0)

TEAMS = {
    "recommended": th.recommended,
    "P+L": th.ProbabilityLabelCombiner,
    "L+L": th.LabelLabelCombiner,
    "LR": th.LogisticCombiner,
}


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
def test_a_series_in_another_order_is_matched_by_its_index(make):
    expected = make().fit(FRAME, TRUTH, sample_weight=WEIGHT).predict_proba(FRAME)
    shuffled = make().fit(FRAME, SHUFFLED, sample_weight=WEIGHT[SHUFFLED.index[::-1]]).predict_proba(FRAME)
    np.testing.assert_array_equal(shuffled, expected)


def test_so_it_is_in_scores_and_evaluations():
    team = th.ProbabilityLabelCombiner().fit(FRAME, TRUTH)
    assert team.score(FRAME, SHUFFLED) == team.score(FRAME, TRUTH)
    assert compare(team, FRAME, SHUFFLED).combination.error == compare(team, FRAME, TRUTH).combination.error
    found, expected = (cross_validated(team, FRAME, y, random_state=0) for y in (SHUFFLED, TRUTH))
    np.testing.assert_array_equal(found.combined_proba, expected.combined_proba)
    calibrator = th.TemperatureScaling()
    assert calibrator.fit(FRAME, SHUFFLED).temperature_ == th.TemperatureScaling().fit(FRAME, TRUTH).temperature_


def test_without_an_index_rows_are_matched_by_position():
    expected = th.ProbabilityLabelCombiner().fit(FRAME, TRUTH).predict_proba(FRAME)
    for y in (TRUTH.to_numpy(), TRUTH.tolist(), pl.Series(TRUTH.tolist())):
        np.testing.assert_array_equal(th.ProbabilityLabelCombiner().fit(FRAME, y).predict_proba(FRAME), expected)
    array = np.column_stack([PROBLEM.human, PROBLEM.model])
    found = th.ProbabilityLabelCombiner().fit(array, SHUFFLED.sort_index()[FRAME.index]).predict_proba(array)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            TRUTH.rename({"i3": "elsewhere"}),
            "y must have the index of X, in any order; it has no entry for 'i3' (1 of 120 rows of X have none). "
            "Give y the index of X, or y.to_numpy() if its rows are in the order of those of X.",
        ),
        (
            TRUTH.reset_index(drop=True),
            "y must have the index of X, in any order; it has no entry for 'i0' (120 of 120 rows of X have none). "
            "Give y the index of X, or y.to_numpy() if its rows are in the order of those of X.",
        ),
    ],
)
def test_another_index_is_refused(y, message):
    with pytest.raises(InvalidObservations) as refused:
        th.ProbabilityLabelCombiner().fit(FRAME, y)
    assert str(refused.value) == message


def test_repeated_labels_of_an_index_are_matched_only_where_the_order_is_the_same():
    frame, truth = FRAME.set_axis(["x"] * 120), TRUTH.set_axis(["x"] * 120)
    assert matched_rows(frame, truth)[0] is truth
    other = truth.set_axis(["x"] * 119 + ["y"])
    with pytest.raises(InvalidObservations, match=r"labels of the index are repeated"):
        matched_rows(frame.set_axis(["y"] + ["x"] * 119), other)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_column_of_the_truth_is_used(library):
    known = TRUTH.where(np.arange(120) < 80)
    X = library(FRAME.assign(truth=known))
    expected = th.ProbabilityLabelCombiner().fit(FRAME, known)
    found = th.ProbabilityLabelCombiner().fit(X)
    assert found.n_labelled_ == 80
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(FRAME))
    beside = th.ProbabilityLabelCombiner().fit(X, known.to_numpy())
    np.testing.assert_array_equal(beside.predict_proba(FRAME), expected.predict_proba(FRAME))


def test_another_truth_beside_the_column_is_refused():
    y = TRUTH.to_numpy().copy()
    y[[7, 9]] = ""
    with pytest.raises(InvalidObservations) as refused:
        th.ProbabilityLabelCombiner().fit(FRAME.assign(truth=TRUTH), y)
    assert str(refused.value) == (
        f"y must be the column truth of X where X has one; row 7 differs: X has {TRUTH.iloc[7]!r} "
        "(2 of 120 rows are off). Drop that column of X, or leave y out."
    )
