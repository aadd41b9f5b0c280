"""Several methods on the same items."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as sk

import twoheads as th
from crowds import crowd
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation import (
    FitWithoutTruth,
    agreement,
    compare,
    compare_methods,
    compare_predictions,
    cross_validated,
    method_curves,
    score_members,
)


def problem(n=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    proba = rng.dirichlet(np.ones(n_classes), n) + 0.7 * np.eye(n_classes)[y]
    human = np.where(rng.random(n) < 0.8, y, rng.integers(0, n_classes, n))
    return np.column_stack([human, proba / proba.sum(axis=1, keepdims=True)]), y


METHODS = {"P+L": th.ProbabilityLabelCombiner(), "L+L": th.LabelLabelCombiner(), "LR": th.LogisticCombiner()}


@pytest.fixture(scope="module")
def found():
    return compare_methods(METHODS, *problem())


def test_each_method_has_the_numbers_of_its_own_evaluation(found):
    for name, team in METHODS.items():
        alone = compare_predictions(cross_validated(team, *problem()))
        assert found.row(name).scores == alone.combination.scores
    assert found.row("model").scores == alone.model.scores
    assert found.row("human").scores["error"] == alone.human.error
    assert found.how == "5-fold cross-validation"


def test_the_difference_from_the_reference_is_paired_and_corrected(found):
    apart = found.row("L+L").differences["error"]
    own = found.row("L+L").scores["error"].value - found.row("P+L").scores["error"].value
    assert apart.value == pytest.approx(own)
    assert apart.low <= apart.value <= apart.high
    p = [row.differences["error"].p_value for row in found.rows if row.name != "P+L"]
    smallest = min(row.differences["error"].corrected_p_value for row in found.rows if row.name != "P+L")
    assert smallest == pytest.approx(min(1.0, min(p) * len(p)))
    assert found.row("P+L").differences == {}
    # Chance is in a calibration error: its difference has no interval.
    assert found.row("L+L").differences["expected_calibration_error"].low is None


def test_a_member_can_be_the_reference():
    found = compare_methods(METHODS, *problem(), reference="human", metrics="error")
    exact = compare_predictions(cross_validated(METHODS["P+L"], *problem()))
    assert found.row("P+L").differences["error"].p_value == pytest.approx(exact.rivals[0].p_value)


def test_a_method_that_refuses_the_items_has_a_row_that_says_why():
    observations, _, _ = crowd()
    y = np.array(["a", "b", "c", "a"] * 10)
    found = compare_methods({"P+L": th.ProbabilityLabelCombiner(), "L+L": th.LabelLabelCombiner()}, observations, y)
    assert "one model" in found.row("L+L").refusal
    assert found.row("L+L").n_items == 0
    kinds = [row.kind for row in found.rows]
    assert kinds[:2] == ["method", "method"]
    assert {"person", "majority", "model", "models", "best_person"} <= set(kinds)
    assert "L+L: X must hold one model" in found._repr_html_()
    with pytest.raises(InvalidParameter, match=r"reference must be one of .* it is 'L\+L', which refuses"):
        compare_methods(
            {"P+L": th.ProbabilityLabelCombiner(), "L+L": th.LabelLabelCombiner()}, observations, y, reference="L+L"
        )
    with pytest.raises(InvalidObservations, match=r"L\+L refuses"):
        compare_methods({"L+L": th.LabelLabelCombiner()}, observations, y)


def test_held_out_items_are_judged_by_teams_fitted_on_the_others():
    X, y = problem(80)
    found = compare_methods(METHODS, X[:50], y[:50], test=(X[50:], y[50:]))
    expected = (th.LabelLabelCombiner().fit(X[:50], y[:50]).predict(X[50:]) != y[50:]).mean()
    assert found.row("L+L").scores["error"].value == pytest.approx(expected)
    assert found.how == "none recognised as learnt from"
    assert found.n_items == 30


def test_items_of_unknown_truth_are_learnt_from_where_a_method_can():
    X, y = problem(80)
    hidden = np.where(np.arange(80) < 40, y, -1).astype(object)
    hidden[40:] = None
    semi = cross_validated(th.ProbabilityLabelCombiner(), X, hidden)
    found = compare_methods({"P+L": th.ProbabilityLabelCombiner()}, X, hidden)
    assert found.n_items == 40
    assert found.row("P+L").scores["log_loss"].value == compare_predictions(semi).combination.log_loss.value


def test_without_truth_means_without_truth():
    X, y = problem()
    one = FitWithoutTruth(th.ProbabilityLabelCombiner()).fit(X, y)
    two = th.ProbabilityLabelCombiner().fit(th.as_observations(X), None)
    assert np.allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-12)


def test_progress_is_told():
    told = []
    compare_methods(METHODS, *problem(), metrics="error", progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_metrics_by_name_and_by_class():
    X, y = problem()
    team = th.ProbabilityLabelCombiner().fit(X, y)
    found = score_members(team, X, y, metrics=["sensitivity", "auc", "auc[2]", "mcc"], held_out=True)
    proba = team.predict_proba(X)
    scores = found.row("combination").scores
    recall = sk.recall_score(y, proba.argmax(axis=1), average=None)
    assert [scores[f"sensitivity[{code}]"].value for code in range(3)] == pytest.approx(recall.tolist(), abs=1e-10)
    assert scores["auc"].value == pytest.approx(sk.roc_auc_score(y, proba, multi_class="ovr"), abs=1e-10)
    assert scores["auc[2]"].value == pytest.approx(sk.roc_auc_score(y == 2, proba[:, 2]), abs=1e-10)
    assert found.row("human").scores["auc"] is None
    assert found.row("human").scores["mcc"].value == pytest.approx(sk.matthews_corrcoef(y, X[:, 0]), abs=1e-10)
    with pytest.raises(InvalidParameter, match="'accuracies' is none"):
        score_members(team, X, y, metrics="accuracies")
    with pytest.raises(InvalidParameter, match="the classes are 0, 1, 2"):
        score_members(team, X, y, metrics="ppv[9]")


def test_specificity_and_predictive_values_against_scikit_learn():
    X, y = problem(n_classes=2)
    names = ["specificity[1]", "ppv[1]", "npv[1]", "sensitivity[1]"]
    found = score_members(th.ProbabilityLabelCombiner().fit(X, y), X, y, metrics=names)
    human = X[:, 0].astype(int)
    scores = {name: score.value for name, score in found.row("human").scores.items()}
    assert scores == pytest.approx(
        {
            "specificity[1]": sk.recall_score(y, human, pos_label=0),
            "ppv[1]": sk.precision_score(y, human),
            "npv[1]": sk.precision_score(y, human, pos_label=0),
            "sensitivity[1]": sk.recall_score(y, human),
        },
        abs=1e-10,
    )


def test_a_persons_area_is_by_confidence():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 50)
    sure = rng.integers(1, 6, 50)
    human = np.where(rng.random(50) < 0.5 + 0.08 * sure, y, 1 - y)
    X = th.Observations.from_arrays(human, np.full((50, 2), 0.5), confidence=sure.astype(float))
    found = score_members(th.ProbabilityLabelCombiner().fit(X, y), X, y, metrics="auc")
    person = next(row for row in found.rows if row.kind == "human")
    signed = np.where(human == 1, sure, -sure)
    assert person.scores["auc"].value == pytest.approx(sk.roc_auc_score(y, signed), abs=1e-10)


def test_agreement_of_people():
    frame = pd.DataFrame({f"human_{name}": [0, 1, 1, 0, 1, 0] for name in "ab"} | {"p_0": 0.5, "p_1": 0.5})
    assert agreement(frame).krippendorff_alpha.value == pytest.approx(1.0)
    assert agreement(frame[["human_a", "p_0", "p_1"]]) is None
    assert "Fleiss' kappa 1.00" in agreement(frame).sentence()
    opposed = frame.assign(human_b=1 - frame["human_a"])
    assert "Fleiss' kappa −1.00, " in agreement(opposed).sentence()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.cells = [], 0

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.cells += tag == "td"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_table_as_text_frame_html_json_and_latex(found):
    assert len(repr(found)) < 800
    parser = Tags()
    parser.feed(found._repr_html_())
    assert not parser.open
    assert parser.cells == len(found.rows) * (len(found.metrics) + 4)
    assert json.loads(json.dumps(found.as_dict()))["rows"][0]["name"] == "P+L"
    latex = found.to_latex()
    assert latex.startswith("\\begin{tabular}{l")
    assert "error \\%" in latex
    assert found.best("error").name in {"P+L", "L+L", "LR"}
    with pytest.raises(InvalidParameter, match="metric must be one of"):
        found.best("speed")


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.table)])
def test_a_frame_is_of_the_callers_kind(kind, frame):
    X, y = problem(30)
    given = frame({"human": X[:, 0].astype(int).tolist()} | {f"p_{code}": X[:, 1 + code].tolist() for code in range(3)})
    made = compare_methods({"P+L": th.ProbabilityLabelCombiner()}, given, y, metrics="error").to_frame()
    assert type(made).__module__.partition(".")[0] == kind
    assert made.shape == (3, 13)


def test_curves_begin_without_a_label_and_share_their_draws():
    X, y = problem(40)
    methods = {
        "P+L": th.ProbabilityLabelCombiner(),
        "again": th.ProbabilityLabelCombiner(),
        "LR": th.LogisticCombiner(),
    }
    found = method_curves(methods, X, y, sizes=[0, 10, 30], n_repeats=2)
    assert found.error["P+L"] == found.error["again"]
    assert found.error["LR"][0] is None
    assert "LR" in found.refusals
    assert found.error["P+L"][0].value < 0.5
    assert len(repr(found)) < 800
    assert len(found.to_frame()) == 18
    with pytest.raises(InvalidParameter, match="sizes must be at most 30"):
        method_curves(methods, X, y, sizes=[31])


def test_curves_are_a_table_in_notebooks():
    X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 4
    curves = method_curves({"P+L": th.ProbabilityLabelCombiner()}, X, [0, 1, 0, 1] * 4, sizes=[0, 8], n_repeats=2)
    shown = curves._repr_html_()
    assert "<th>truth labels</th><th>0</th><th>8</th>" in shown
    assert "<td>P+L</td><td>error %</td>" in shown


def test_a_minus_is_one_in_latex():
    y = np.array([0, 1] * 20)
    wrong = np.where(np.arange(40) < 12, 1 - y, y)
    X = np.column_stack([wrong, np.where(np.arange(2) == y[:, None], 0.9, 0.1)])
    table = compare_methods({"P+L": th.ProbabilityLabelCombiner()}, X, y, reference="human")
    assert "$-$30.0 [$-$" in table.to_latex()


def test_a_score_is_the_same_label_beside_methods_as_among_the_rivals():
    rng = np.random.default_rng(0)
    good = rng.random(400) < 0.6
    X = pd.DataFrame({"human_ann": np.where(rng.random(400) < 0.8, good, ~good)})
    for judge in ["a", "b", "c"]:
        X[f"{judge}.score"] = np.round(np.where(good, 6, 4) + 2 * rng.normal(size=400))
    y = np.where(np.arange(400) < 80, good, None)
    team = th.recommended().fit(X, y)
    expected = {rival.name: rival.error.value for rival in compare(team, X, y, n_bootstrap=20).rivals if rival.name}
    assert set(expected) == {"a", "b", "c"}
    beside = compare_methods({"team": th.recommended()}, X, y, metrics=["error"])
    for table in (beside, score_members(team, X, y, metrics=["error"])):
        assert {name: table.row(name).scores["error"].value for name in expected} == pytest.approx(expected)
    fitted_on, new = (X[:200], y[:200]), (X[200:], good[200:].tolist())  # held out: scores are labels as at the fit
    team = th.recommended().fit(*fitted_on)
    rivals = compare(team, *new, n_bootstrap=20, held_out=True).rivals
    expected = {rival.name: rival.error.value for rival in rivals if rival.name}
    held_out = score_members(team, *new, metrics=["error"], held_out=True)
    assert {name: held_out.row(name).scores["error"].value for name in expected} == pytest.approx(expected)
    beside = compare_methods({"team": th.recommended()}, *fitted_on, test=new, metrics=["error"])
    assert {name: beside.row(name).scores["error"].value for name in expected} == pytest.approx(expected)
