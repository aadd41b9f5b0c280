"""Clinical and agreement statistics in a report: the numbers of `score_members`, and what is said of them."""

import re

import pytest
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

import twoheads as th
from report.made import problem
from twoheads.evaluation import score_members
from twoheads.report import page, summary


@pytest.fixture(scope="module")
def made():
    X, y = problem(260, ["no", "yes"], seed=3, people=3)
    return th.ProbabilityLabelCombiner().fit(X[:100], y[:100]), X[100:].reset_index(drop=True), y[100:]


def test_two_classes_have_sensitivity_and_kappa(made):
    team, X, y = made
    found = summary(team, X, y, n_bootstrap=10)
    section = found["label_statistics"]
    assert section["metrics"] == [f"{name}[yes]" for name in ("sensitivity", "specificity", "ppv", "npv")] + [
        *("mcc", "kappa", "auc")
    ]
    rows = {row["name"]: row["scores"] for row in section["rows"]}
    assert set(rows) == {"combination", "one person", "majority", "model", "p0", "p1", "p2"}
    label = team.predict(X)
    assert rows["combination"]["mcc"]["value"] == pytest.approx(matthews_corrcoef(y, label), abs=1e-10)
    assert rows["combination"]["kappa"]["value"] == pytest.approx(cohen_kappa_score(y, label), abs=1e-10)
    expected = score_members(team, X, y, metrics=["sensitivity[yes]"], held_out=True).row("p1").scores
    assert rows["p1"]["sensitivity[yes]"]["low"] == expected["sensitivity[yes]"].low
    assert re.match(
        r"The highest Matthews' correlation is that of [a-z0-9 ]+\. Compared with the team's, ", section["words"]
    )
    assert "Agreement of 3 people on " in section["words"]
    assert ">sensitivity<br>of yes</th>" in page(found)


def test_more_classes_have_statistics_of_all(made):
    X, y = problem(120, ["a", "b", "c"], seed=4)
    section = summary(th.ProbabilityLabelCombiner().fit(X[:60], y[:60]), X[60:], y[60:], n_bootstrap=10)
    assert section["label_statistics"]["metrics"] == ["mcc", "kappa", "balanced_accuracy", "macro_f1", "auc"]
    assert section["label_statistics"]["agreement"] is None


def test_metrics_can_be_named(made):
    found = summary(*made, n_bootstrap=10, metrics=["gwet_ac1", "log_loss"])["label_statistics"]
    assert found["metrics"] == ["gwet_ac1", "log_loss"]
    with pytest.raises(th.InvalidParameter, match="'kapa' is none"):
        summary(made[0], made[1], n_bootstrap=10, metrics=["kapa"])


def test_without_truth_there_are_none(made):
    section = summary(made[0], made[1], n_bootstrap=10)["label_statistics"]
    assert not section["available"]
    assert section["words"] == "This needs items of known truth, and there are none here."


def test_many_classes_have_statistics_on_request_only(monkeypatch, made):
    monkeypatch.setattr("twoheads.report.sections.label_statistics_section._MAX_CLASSES", 1)
    team, X, y = made
    section = summary(team, X, y, n_bootstrap=10)["label_statistics"]
    assert section["words"] == (
        "With more than 1 classes a report has statistics of labels only if metrics (--metrics) names them; there are "
        "2."
    )
    assert summary(team, X, y, n_bootstrap=10, metrics=["kappa"])["label_statistics"]["available"]
