"""The comparison of methods in a report: the numbers of compare_methods, on the page and in the words."""

import re
from html import unescape

import numpy as np
import pytest

import twoheads as th
from report.made import problem
from twoheads.errors import InvalidParameter
from twoheads.evaluation import compare_methods
from twoheads.report import page, summary
from twoheads.report.plain import plain

METHODS = {"P+L": th.ProbabilityLabelCombiner(), "L+L": th.LabelLabelCombiner()}


def text_of(html):
    """What a reader sees of a page, descriptions of figures included."""
    shown = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", shown)).replace("\u00a0", " "))


def two_models(n):
    X, y = problem(n, ["no", "yes"], people=2)
    X = X.rename(columns={"p_no": "A.p_no", "p_yes": "A.p_yes"})
    return X.assign(**{"B.p_no": 0.5 * X["A.p_no"] + 0.1, "B.p_yes": 0.5 * X["A.p_yes"] + 0.4}), y


@pytest.fixture(scope="module")
def refused():
    X, y = two_models(150)
    team = th.ProbabilityLabelCombiner().fit(X[:50], y[:50])
    return X[50:], y[50:], summary(team, X[50:], y[50:], n_bootstrap=20, methods=METHODS)


@pytest.fixture(scope="module")
def learnt():
    X, y = problem(80, ["no", "yes"])
    return summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=20, methods=METHODS)


def test_the_numbers_are_those_of_compare_methods(refused):
    X, y, found = refused
    direct = plain(compare_methods(METHODS, X, y).as_dict())
    assert {name: found["methods"][name] for name in direct} == direct
    rows = {row["name"]: row["scores"]["error"]["value"] for row in found["methods"]["rows"] if not row["refusal"]}
    assert rows["A"] == np.mean(np.where(X["A.p_yes"] > X["A.p_no"], "yes", "no") != y)
    members = {rival["key"]: rival["error"]["value"] for rival in found["comparison"]["rivals"]}
    assert rows["majority"] == members["majority"]  # the same items as the rest of the page


def test_a_refused_method_shows_why(refused):
    *_, found = refused
    (why,) = (row["refusal"] for row in found["methods"]["rows"] if row["refusal"])
    shown = text_of(page(found))
    assert f"L+L Not fitted: {why}" in shown
    assert "P+L reference" in shown
    assert found["methods"]["words"] in shown
    assert found["methods"]["words"].startswith("Of the methods, P+L errs least, on ")


def test_of_a_team_that_is_cross_validated_the_same_method_has_the_same_error(learnt):
    row = learnt["methods"]["rows"][0]
    assert learnt["data"]["how"] == learnt["methods"]["how"] == "5-fold cross-validation"
    assert row["scores"]["error"]["value"] == learnt["comparison"]["combination"]["error"]["value"]


def test_the_page_speaks_of_the_team_alone(learnt):
    assert "combination" not in text_of(page(learnt))
    assert "the team errs on" in learnt["statistics"]
    assert "the combination errs on" in learnt["headline"]


def test_without_methods_there_is_no_section_and_no_word_of_it():
    X, y = problem(40, ["no", "yes"])
    found = summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=20)
    assert found["methods"] == {"available": False, "words": "No methods were given to compare."}
    assert "Methods" not in text_of(page(found))


def test_methods_that_cannot_be_compared_are_named_in_a_remark():
    X, y = two_models(30)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    found = summary(team, X, n_bootstrap=20, methods=METHODS)
    reason = "This needs items of known truth, and there are none here."
    assert found["methods"] == {"available": False, "words": reason}
    assert found["notes"][-1] == f"Methods are not compared: {reason}"
    found = summary(team, X, y, n_bootstrap=20, methods={"L+L": th.LabelLabelCombiner()})
    assert not found["methods"]["available"]
    assert found["notes"][-1].startswith("Methods are not compared: methods must hold one at least")


def test_no_method_at_all_is_a_mistake():
    X, y = problem(40, ["no", "yes"])
    with pytest.raises(InvalidParameter, match="methods must hold at least one method by its name; it is empty"):
        summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=20, methods={})
