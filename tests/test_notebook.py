"""What a terminal and a notebook show of every public class: short, and valid HTML."""

import inspect
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

import twoheads as th
from crowds import crowd
from twoheads import evaluation, report
from twoheads.evaluation import METRICS, Metric
from twoheads.report import displays

VOID = {"br", "hr", "img", "input", "meta", "link", "path", "line", "circle", "rect"}


class Valid(HTMLParser):
    """Fails where tags are not closed in their order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def check(one):
    assert len(repr(one)) < 800
    parser = Valid()
    parser.feed(one._repr_html_())
    parser.close()
    assert not parser.open
    assert len(one._repr_html_()) > 20


@pytest.fixture(scope="module")
def made():
    """An object of each public class that shows something."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    proba = rng.dirichlet(np.ones(3), 60) + 0.7 * np.eye(3)[y]
    human = np.where(rng.random(60) < 0.8, y, rng.integers(0, 3, 60))
    X = np.column_stack([human, proba / proba.sum(axis=1, keepdims=True)])
    team = th.recommended().fit(X, y)
    predicted = evaluation.cross_validated(th.ProbabilityLabelCombiner(), X, y)
    compared = evaluation.compare_predictions(predicted)
    table = evaluation.compare_methods({"P+L": th.ProbabilityLabelCombiner()}, X, y)
    independent = evaluation.independence(X[:, 1:] / X[:, 1:].sum(axis=1, keepdims=True), human, y)
    blank = X.copy()
    blank[::2, 0] = -1
    plan = th.choose(team, blank, budget=5)
    observations, _, _ = crowd()
    small = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    return [
        *(team, th.LabelLabelCombiner().fit(X, y), th.LogisticCombiner().fit(X, y), th.ProbabilityLabelCombiner()),
        *(th.Identity(), th.TemperatureScaling(), th.EnsembleTemperatureScaling(), th.IMaxBinning()),
        *(th.VectorScaling(), th.DirichletCalibration(), th.HierarchicalConfusion(), th.DirichletConfusion()),
        *(th.OneCoinConfusion(), th.Dependence(), team.holdout_, team.confusion_, team.calibrator_),
        *(observations, th.as_observations(X), team.explain(X), plan),
        *(predicted, compared, compared.combination, compared.difference, compared.human_exchange, compared.rivals[0]),
        *(compared.combination.error, table, table.rows[0], table.rows[1].differences["error"], METRICS[0]),
        *(independent, independent.shift, evaluation.without_truth(team, X)),
        evaluation.learning_curve(th.ProbabilityLabelCombiner(), X, y, sizes=[10, 40], n_repeats=2),
        evaluation.method_curves({"P+L": th.ProbabilityLabelCombiner()}, X, y, sizes=[0, 40], n_repeats=2),
        evaluation.reliability_curve([0, 1, 1], small),
        evaluation.check_accuracy_bound(small, np.eye(2), [0, 1, 1], [0, 1, 1]),
        evaluation.check_estimation_error_bound(np.eye(2), small, [0, 1, 1], [0, 1, 1]),
        evaluation.agreement(observations),
        evaluation.FitWithoutTruth(th.ProbabilityLabelCombiner()),
        *th.simulate_asking(th.ProbabilityLabelCombiner().fit(X, y), blank, y).values(),
        team.annotator_stats_,
        team.class_stats(),
        team.confusion_columns(),
    ]


def test_every_public_class_is_shown_briefly_and_as_html(made):
    for one in made:
        check(one)
    abstract = {"Calibrator", "Confusion", "Team", "UnfittedTeam"}
    public = {
        name
        for module in (th, evaluation)
        for name in module.__all__
        if inspect.isclass(each := getattr(module, name)) and not issubclass(each, Exception)
    }
    assert public - abstract == {type(one).__name__ for one in made} & public


def test_every_display_is_shown_briefly_and_as_a_figure(made):
    curve, many = np.linspace(0.2, 0.9, 200), np.eye(40)
    curves = next(one for one in made if isinstance(one, evaluation.MethodCurves))
    table = next(one for one in made if isinstance(one, evaluation.ScoreTable))
    shown = [
        report.ComparisonDisplay({"human": {"value": 0.2, "low": 0.1, "high": 0.3}}),
        report.ConfusionDisplay(many, np.arange(40)),
        report.LearningCurveDisplay([5, 10], [0.2, 0.1], low=[0.1, 0.0], high=[0.3, 0.2]),
        report.MethodCurvesDisplay(curves),
        report.MethodsDisplay(table),
        report.ReliabilityDisplay(curve, curve, accuracy_low=curve, accuracy_high=curve),
        report.TemperatureDisplay(0.1, 0.2, prior_mean=0.5, prior_sd=0.5),
    ]
    assert {type(one).__name__ for one in shown} == set(displays.__all__)
    for one in shown:
        check(one)
        assert one._repr_html_().startswith("<table>")
        check(one.plot())
        assert one._repr_html_().startswith("<svg")


def test_thousands_of_classes_people_and_metrics_stay_brief():
    names = [f"a class with a long name, number {at}" for at in range(300)]
    X = th.Observations.from_arrays(np.zeros(5, dtype=int), np.full((5, 300), 1 / 300), classes=names)
    check(X)
    check(Metric("m" * 300, lambda items: None, "t" * 900, "s", "e" * 900))
    team = th.ProbabilityLabelCombiner().fit(X, [names[0]] * 5)
    check(team)
    assert "300 entries" in team._repr_html_()


def test_a_fitted_team_shows_what_was_learnt():
    X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    team = th.ProbabilityLabelCombiner()
    assert "What was learnt" not in team._repr_html_()
    team.fit(X, [0, 1, 0, 1])
    shown = team._repr_mimebundle_()["text/html"]
    assert "labelled items: 4; unlabelled: 0" in shown
    assert f"temperature of the model: {team.calibrator_.temperature_:.3g}" in shown


def test_names_are_escaped():
    X = pd.DataFrame({"human": ["<b>", "b", "<b>"], "p_<b>": [0.5, 0.4, 0.6], "p_b": [0.5, 0.6, 0.4]})
    team = th.ProbabilityLabelCombiner().fit(X, ["<b>", "b", "b"])
    assert "<b>" not in team.confusion_columns()._repr_html_()
    assert "&lt;b&gt;" in th.as_observations(X)._repr_html_()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_rows_are_frames_of_any_kind(made, kind):
    for one in made:
        if hasattr(one, "to_frame") and "kind" in inspect.signature(one.to_frame).parameters:
            frame = one.to_frame(kind)
            assert type(frame).__module__.partition(".")[0] == kind
            assert frame.shape[0] > 0


def test_observations_become_the_frame_that_they_are_read_from():
    observations, _, _ = crowd()
    again = th.as_observations(observations.to_frame())
    assert again.annotators == observations.annotators
    assert again.models == observations.models
    np.testing.assert_array_equal(again.answers.column, observations.answers.column)
    np.testing.assert_array_equal(again.model_proba[1], observations.model_proba[1])


def test_statistics_of_people_are_a_frame_and_a_dict():
    X = pd.DataFrame({"human_ann": [0, 1, 0, 1] * 5, "human_bob": [0, 1, 1, 1] * 5, "p_0": 0.5, "p_1": 0.5})
    team = th.ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1] * 5)
    frame = team.annotator_stats_.to_frame()
    assert frame["annotator"].tolist() == ["ann", "bob"]
    pd.testing.assert_frame_equal(frame, pd.DataFrame(dict(team.annotator_stats_)), check_dtype=False)
    bob = team.confusion_columns("bob").to_frame().set_index("answer")
    assert bob.loc["1", "truth 0"] == pytest.approx(team.confusion_.human_given_true_[1, 1, 0])
    with pytest.raises(th.InvalidParameter, match="annotator must be one of ann, bob; it is 'eve'"):
        team.confusion_columns("eve")


def test_weights_are_routed_inside_a_grid_search():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 40)
    one = np.clip(0.5 + 0.3 * (y - 0.5) + 0.2 * rng.normal(size=40), 0.05, 0.95)
    X = np.column_stack([np.where(rng.random(40) < 0.7, y, 1 - y), 1 - one, one])
    weight = rng.integers(0, 3, 40).astype(float)
    grid = {"unlabelled_weight": [1.0]}
    with config_context(enable_metadata_routing=True):
        team = th.ProbabilityLabelCombiner().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(team, grid, cv=2).fit(X, y, sample_weight=weight)
    expected = th.ProbabilityLabelCombiner().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(search.best_estimator_.predict_proba(X), expected.predict_proba(X), atol=1e-12)
    plain = th.ProbabilityLabelCombiner().fit(X, y)
    assert not np.allclose(search.best_estimator_.predict_proba(X), plain.predict_proba(X), atol=1e-6)
