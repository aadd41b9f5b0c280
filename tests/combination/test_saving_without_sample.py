"""A team saved without its sample of training items; and teams that read a scanned table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import twoheads as th
from strategies import simulate
from twoheads import tables
from twoheads.policy import expected_gain


@pytest.fixture
def problem():
    return simulate(120, 3, seed=2)


def test_a_team_without_its_sample_predicts_and_asks_the_same(problem, tmp_path):
    team = th.recommended().fit(problem.X, problem.truth)
    team.save(tmp_path / "whole.json")
    team.save(tmp_path / "lean.json", keep_sample=False)
    lean = th.load(tmp_path / "lean.json")
    np.testing.assert_array_equal(lean.predict_proba(problem.X), team.predict_proba(problem.X))
    np.testing.assert_array_equal(expected_gain(lean, problem.X), expected_gain(team, problem.X))
    assert lean.describe() == team.describe()
    assert team.statistics_.has_sample  # the team itself stays as it was
    assert (tmp_path / "lean.json").stat().st_size < (tmp_path / "whole.json").stat().st_size
    statistics = json.loads((tmp_path / "lean.json").read_text())["object"]["fitted"]["statistics_"]["parameters"]
    assert statistics["labelled"] is statistics["unlabelled"] is None


def test_it_cannot_be_continued(problem, tmp_path):
    team = th.recommended().fit(problem.X, problem.truth)
    team.save(tmp_path / "lean.json", keep_sample=False)
    lean = th.load(tmp_path / "lean.json")
    message = (
        "the team was saved without its sample of training items, so its fit cannot be continued. "
        r"Fit again, and save with keep_sample=True \(without --no-sample\)."
    )
    with pytest.raises(th.InvalidParameter, match=message):
        lean.partial_fit(problem.X, problem.truth)
    for one, other in ((team, lean), (lean, team)):
        with pytest.raises(th.InvalidParameter, match=message):
            one.merge(other)
    again = lean.fit(problem.X, problem.truth)
    assert again.partial_fit(problem.X, problem.truth).n_labelled_ == 240


@pytest.fixture
def table(problem, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(problem.model, columns=["p_0", "p_1", "p_2"]).assign(human=problem.human, truth=problem.truth)
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tables.scan(tmp_path / "table.csv", truth_column="truth")


@pytest.mark.parametrize(
    "make", [th.recommended, th.LabelLabelCombiner, th.LogisticCombiner, lambda: th.paper_2021("P+L-EM")]
)
def test_every_combiner_fits_and_predicts_a_scanned_table(make, table):
    X, y = table.read()
    from_table, from_memory = make().fit(table), make().fit(X, y)
    np.testing.assert_array_equal(from_table.predict_proba(table), from_memory.predict_proba(X))
    np.testing.assert_array_equal(from_table.predict(table), from_memory.predict(X))
    if hasattr(from_table, "explain"):
        np.testing.assert_array_equal(from_table.explain(table).log_odds, from_memory.explain(X).log_odds)


def test_so_do_parts_and_policies(table):
    X, y = table.read()
    calibrator = th.TemperatureScaling().fit(table)
    np.testing.assert_array_equal(calibrator.predict_proba(table), th.TemperatureScaling().fit(X, y).predict_proba(X))
    confusion = th.HierarchicalConfusion().fit(table)
    np.testing.assert_array_equal(confusion.human_given_true_, th.HierarchicalConfusion().fit(X, y).human_given_true_)
    team = th.recommended().fit(table)
    np.testing.assert_array_equal(expected_gain(team, table), expected_gain(team, X))


def test_a_table_holds_its_own_truth(table):
    with pytest.raises(th.InvalidParameter, match="y must be None where X is a table"):
        th.LabelLabelCombiner().fit(table, [0] * 120)
