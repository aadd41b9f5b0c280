"""Displays draw what they are given, in axes of their own or in those given."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import twoheads as th
from report.made import problem
from twoheads.evaluation import compare, compare_methods, learning_curve, method_curves, reliability_curve
from twoheads.report import (
    ComparisonDisplay,
    ConfusionDisplay,
    LearningCurveDisplay,
    MethodCurvesDisplay,
    MethodsDisplay,
    ReliabilityDisplay,
    TemperatureDisplay,
)


@pytest.fixture(scope="module")
def fitted():
    X, y = problem(200, ["a", "b", "c"])
    return th.ProbabilityLabelCombiner().fit(X[:100], y[:100]), X[100:], y[100:]


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_comparison(fitted, ax):
    display = ComparisonDisplay.from_estimator(*fitted, n_bootstrap=50).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert [label.get_text() for label in ax.get_yticklabels()] == ["combination", "model", "human"]
    found = compare(*fitted, n_bootstrap=50)
    points = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    assert points == pytest.approx(
        [100 * getattr(found, name).error.value for name in ("combination", "model", "human")]
    )


def test_reliability(fitted, ax):
    team, X, y = fitted
    display = ReliabilityDisplay.from_estimator(team, X, y, name="calibrated_model", n_bins=5).plot(ax)
    assert len(display.accuracy) == 5
    proba = team.predict_proba(X)
    curve = reliability_curve(y, proba, classes=team.classes_, n_bins=5)
    display = ReliabilityDisplay.from_estimator(team, X, y, n_bins=5).plot()
    np.testing.assert_array_equal(display.accuracy, curve.accuracy)
    direct = ReliabilityDisplay.from_predictions(y, proba, classes=team.classes_, n_bins=5)
    np.testing.assert_array_equal(direct.mean_confidence, curve.mean_confidence)
    labels = th.LabelLabelCombiner().fit(X, y)
    with pytest.raises(ValueError, match="LabelLabelCombiner does not calibrate its model"):
        ReliabilityDisplay.from_estimator(labels, X, y, name="calibrated_model")


def test_confusion(fitted, ax):
    ConfusionDisplay.from_estimator(fitted[0]).plot(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("answer", "truth")
    counted = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    np.testing.assert_array_equal(counted.human_given_true, [[0.5, 0.0], [0.5, 1.0]])
    text = {(t.get_position(), t.get_text()) for t in counted.plot().ax_.texts}
    assert ((1, 0), "50") in text  # the truth on the rows: of the items that are a, half are called b
    many = ConfusionDisplay(np.eye(40), np.arange(40)).plot()
    assert many.ax_.get_ylabel() == "human right, %"


def test_learning_curve(fitted, ax):
    display = LearningCurveDisplay.from_estimator(*fitted, sizes=[5, 40], n_repeats=2).plot(ax)
    curve = learning_curve(*fitted, sizes=[5, 40], n_repeats=2)
    np.testing.assert_array_equal(display.error, [score.value for score in curve.error])
    assert display.ax_.get_xscale() == "log"
    LearningCurveDisplay([5], [0.1], low=[0.0], high=[0.2], partners={"human": 0.2}).plot()


def test_temperature(fitted, ax):
    display = TemperatureDisplay.from_estimator(fitted[0]).plot(ax)
    peak = ax.lines[1].get_xdata()[np.argmax(ax.lines[1].get_ydata())]
    assert peak == pytest.approx(display.log_temperature, abs=0.05)
    held = th.ProbabilityLabelCombiner(calibrator=th.TemperatureScaling(estimate="likelihood")).fit(*fitted[1:])
    TemperatureDisplay.from_estimator(held).plot()
    assert TemperatureDisplay(0.3, None).plot().ax_.get_legend() is not None


def test_a_dollar_sign_is_no_formula(ax):
    display = ConfusionDisplay(np.eye(2), ["$x^", "b"]).plot(ax)
    display.figure_.canvas.draw()


def test_two_methods_over_each_other_have_two_colours_and_a_legend(ax):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    for name in ("one", "two"):
        proba = rng.dirichlet([1.0, 1.0], 90)
        display = ReliabilityDisplay.from_predictions(y, proba).plot(ax, name=name)
        assert len(display.accuracy) == 4  # 90 items, 20 to a bin
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    lines = [container.lines[0] for container in ax.containers]
    assert lines[0].get_color() != lines[1].get_color()
    LearningCurveDisplay([5, 10], [0.2, 0.1], low=[0.1, 0.0], high=[0.3, 0.2]).plot(
        other := Figure().add_subplot(), name="a", color="black", linewidth=3
    )
    LearningCurveDisplay([5, 10], [0.3, 0.2], low=[0.1, 0.0], high=[0.4, 0.3]).plot(other, name="b")
    assert [text.get_text() for text in other.get_legend().get_texts()] == ["a", "b"]
    assert other.lines[0].get_linewidth() == 3


def test_comparisons_and_temperatures_over_each_other(ax):
    errors = {who: {"value": 0.2, "low": 0.1, "high": 0.3} for who in ("human", "model", "combination")}
    ComparisonDisplay(errors).plot(ax, name="one")
    assert (ax.get_title(), ax.get_legend()) == ("one", None)
    ComparisonDisplay(errors).plot(ax, name="two")
    assert (ax.get_title(), [text.get_text() for text in ax.get_legend().get_texts()]) == ("", ["one", "two"])
    points = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert len({line.get_ydata()[0] for line in points}) == 6
    assert points[0].get_color() != points[3].get_color()
    other = Figure().add_subplot()
    TemperatureDisplay(0.1, 0.2, prior_mean=0.5, prior_sd=0.5).plot(other, name="one")
    TemperatureDisplay(2.5, 0.2, prior_mean=0.5, prior_sd=0.5).plot(other, name="two")
    assert [text.get_text() for text in other.get_legend().get_texts()] == ["prior", "one", "two"]
    assert len({line.get_color() for line in other.lines if line.get_label() in ("one", "two")}) == 2
    assert other.get_xlim()[1] >= 3.0


def test_long_names_are_cut_where_they_are_alike(ax):
    names = ["benign keratosis (left)", "benign keratosis (right)", "scar"]
    ConfusionDisplay(np.eye(3), names).plot(ax)
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown == ["benign …(left)", "benign …right)", "scar"]
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {60.0}


def test_one_persons_matrix():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    import pandas as pd

    X = pd.DataFrame({"human_ann": y, "human_bob": rng.integers(0, 2, 60), "p_0": 0.5, "p_1": 0.5})
    team = th.ProbabilityLabelCombiner().fit(X, y)
    display = ConfusionDisplay.from_estimator(team, annotator="bob").plot(name="Bob", color="purple")
    np.testing.assert_array_equal(display.human_given_true, team.confusion_.human_given_true_[1])
    assert display.ax_.get_title() == "Bob"
    with pytest.raises(ValueError, match="annotator must be one of ann, bob; it is 'eve'"):
        ConfusionDisplay.from_estimator(team, annotator="eve")


def test_methods_and_their_curves(fitted, ax):
    _, X, y = fitted
    methods = {"P+L": th.ProbabilityLabelCombiner(), "L+L": th.LabelLabelCombiner()}
    table = compare_methods(methods, X, y, metrics=["error", "mcc"])
    display = MethodsDisplay(table, "mcc").plot(ax, name="MCC")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["model", "human", "L+L", "P+L"]
    points = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    assert points == pytest.approx([row.scores["mcc"].value for row in reversed(table.rows)])
    assert display.ax_.get_xlabel().endswith("(more is better)")
    curves = MethodCurvesDisplay(method_curves(methods, X, y, sizes=[0, 20], n_repeats=2)).plot()
    assert [text.get_text() for text in curves.ax_.get_legend().get_texts()] == ["P+L", "L+L"]
    assert curves.ax_.lines[0].get_xdata().tolist() == [0, 20]
    assert curves.ax_.lines[1].get_xdata().tolist() == [20]  # L+L needs labels
    with pytest.raises(ValueError, match="metric must be 'error' or 'log_loss'; it is 'speed'"):
        MethodCurvesDisplay(curves.curves, "speed")


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_a_figure_is_saved_at_the_width_of_a_column(tmp_path, suffix):
    display = TemperatureDisplay(0.3, 0.1)
    with pytest.raises(ValueError, match="must be drawn before it is saved"):
        display.save(tmp_path / f"figure.{suffix}")
    path = tmp_path / f"figure.{suffix}"
    display.plot().save(path)
    content = path.read_bytes()
    assert (b'width="252pt"' if suffix == "svg" else b"/MediaBox [ 0 0 252 ") in content  # 3.5 inches
    assert display.figure_.get_size_inches()[0] == pytest.approx(4.2)
