"""A metric is one entry and one kernel: the table, the JSON and the page show it."""

import json
from html import unescape

import numpy as np
import pytest

import twoheads as th
from twoheads.cli.results import print_comparison
from twoheads.evaluation import METRICS, Metric, compare
from twoheads.evaluation.bootstrap import mean_score
from twoheads.report import page, summary


def problem(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    proba = rng.dirichlet(np.ones(3), n) + np.eye(3)[y]
    human = np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n))
    return np.column_stack([human, proba / proba.sum(axis=1, keepdims=True)]), y


def truth_probability(items):
    truth = items.known_proba[items.true_label, np.arange(items.true_label.size)]
    return mean_score(truth, items.weight, items.replicates)


@pytest.fixture
def fake():
    metric = Metric(
        "truth_probability",
        truth_probability,
        "probability of the truth",
        "P(truth)",
        "The mean probability of the true class.",
        "%",
        2,
        less_is_better=False,
    )
    METRICS.append(metric)
    yield metric
    METRICS.remove(metric)


@pytest.fixture
def team():
    return th.ProbabilityLabelCombiner().fit(*problem())


def test_a_new_metric_is_in_the_comparison_and_its_json(fake, team):
    X, y = problem()
    found = compare(team, X, y, n_bootstrap=20, held_out=True)
    expected = team.predict_proba(X)[np.arange(len(y)), y].mean()
    assert found.combination.truth_probability.value == pytest.approx(expected)
    assert found.human.truth_probability is None
    json_content = json.loads(json.dumps(found.as_dict()))
    assert json_content["combination"]["truth_probability"]["value"] == pytest.approx(expected)
    assert list(json_content["combination"]) == ["n_items", *(metric.name for metric in METRICS if metric.shown)]


def test_a_new_metric_is_in_the_table_of_the_command_line(fake, team, capsys):
    X, y = problem()
    found = compare(team, X, y, n_bootstrap=20)
    print_comparison(found.as_dict())
    printed = capsys.readouterr().out
    assert "P(truth) %" in printed
    score = found.combination.truth_probability
    assert f"{100 * score.value:.2f} [{100 * score.low:.2f}, {100 * score.high:.2f}]" in printed


def test_a_new_metric_is_in_the_header_the_table_and_the_glossary_of_the_page(fake, team):
    X, y = problem()
    found = summary(team, X, y, n_bootstrap=20)
    text = unescape(page(found)).replace("\u00a0", " ")
    assert "probability<br>of the truth" in text
    assert f"{100 * found['comparison']['combination']['truth_probability']['value']:.2f} %" in text
    assert "<dd>The mean probability of the true class. Larger is better.</dd>" in text


def test_an_unknown_metric_is_an_attribute_error(team):
    member = compare(team, *problem(), n_bootstrap=20).combination
    with pytest.raises(AttributeError, match="a Member has no metric 'accuracy'; it has error, log_loss, expected"):
        _ = member.accuracy
