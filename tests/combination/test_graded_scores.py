"""Scores of three and more ordered classes: judges whose probabilities are known, and what a team says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import twoheads as th
from twoheads import policy
from twoheads.combination.items import open_items
from twoheads.errors import InvalidObservations
from twoheads.evaluation import compare

SD = np.array([0.5, 0.7, 0.9, 1.2])
N_TEST = 2000


def judged(n_classes, *, n, n_levels=10, shares=None, seed=0):
    """Truth, scores of four judges by the graded-response model, and the log of the exact posterior.

    A judge's impression is normal about the truth plus a bias of their own, and cut into levels at even thresholds.
    """
    rng = np.random.default_rng(seed)
    shares = np.full(n_classes, 1.0 / n_classes) if shares is None else np.asarray(shares)
    truth = rng.choice(n_classes, n, p=shares)
    bias = rng.normal(0.0, 0.5, len(SD))
    edges = np.linspace(-0.7, n_classes - 0.3, n_levels + 1)
    edges[[0, -1]] = -np.inf, np.inf
    scores = np.searchsorted(edges[1:-1], truth[:, None] + bias + SD * rng.normal(size=(n, len(SD))))
    log_proba = np.tile(np.log(shares), (n, 1))
    for judge, (sd, own) in enumerate(zip(SD, bias, strict=True)):
        ends = norm.cdf((edges[:, None] - np.arange(n_classes) - own) / sd)
        log_proba += np.log(np.maximum(np.diff(ends, axis=0)[scores[:, judge]], 1e-300))
    return truth, scores, log_proba - np.logaddexp.reduce(log_proba, axis=1, keepdims=True)


def observed(scores, n_classes, kind="score", positive=None):
    frame = pd.DataFrame({f"judge{at}.{kind}": column for at, column in enumerate(scores.T)})
    return th.Observations.from_frame(frame, classes=np.arange(1, n_classes + 1), positive=positive)


def log_loss(proba, truth):
    return -np.log(proba[np.arange(len(truth)), truth]).mean()


def held_out(X, truth, n_labels):
    """A team's log loss on the last items, fitted on the others with so many labels."""
    n = len(truth) - N_TEST
    known = np.where(np.arange(n) < n_labels, truth[:n] + 1, -1)
    team = th.recommended().fit(X.take(np.arange(n)), known)
    return log_loss(team.predict_proba(X.take(np.arange(n, len(truth)))), truth[n:])


@pytest.mark.parametrize("n_classes", [3, 5])
def test_three_hundred_labels_come_near_the_exact_posterior(n_classes):
    truth, scores, exact = judged(n_classes, n=1000 + N_TEST)
    found = held_out(observed(scores, n_classes), truth, 300)
    best = log_loss(np.exp(exact[-N_TEST:]), truth[-N_TEST:])
    # A logistic regression on the scores and their squares, from the same labels, independently of all here.
    features = np.hstack([scores, scores**2]) / 9.0
    rival = LogisticRegression(C=10.0, max_iter=5000).fit(features[:300], truth[:300])
    rounded = np.clip(np.round((scores + 0.5) / 10.0 * n_classes - 0.5), 0, n_classes - 1).astype(int) + 1
    assert best < found < best + 0.05
    assert found < log_loss(rival.predict_proba(features[-N_TEST:]), truth[-N_TEST:]) + 0.01
    assert found < held_out(observed(rounded, n_classes, "label"), truth, 300) - 0.05


@pytest.mark.parametrize("n_classes", [3, 5])
def test_many_labels_come_nearer(n_classes):
    truth, scores, exact = judged(n_classes, n=4000 + N_TEST, seed=1)
    best = log_loss(np.exp(exact[-N_TEST:]), truth[-N_TEST:])
    assert held_out(observed(scores, n_classes), truth, 4000) < best + 0.02


@pytest.mark.parametrize(("n_classes", "most"), [(3, 0.25), (5, 0.35)])
def test_without_labels_equally_frequent_classes_are_found(n_classes, most):
    truth, scores, exact = judged(n_classes, n=1000 + N_TEST, seed=2)
    team = th.recommended().fit(observed(scores[:1000], n_classes))
    wrong = team.predict(observed(scores[-N_TEST:], n_classes)) != truth[-N_TEST:] + 1
    assert (exact[-N_TEST:].argmax(axis=1) != truth[-N_TEST:]).mean() < wrong.mean() < most


@pytest.mark.parametrize("n_labels", [0, 50, 300])
def test_scores_that_are_the_classes_are_about_as_good_as_labels(n_labels):
    rng = np.random.default_rng(3)
    truth = rng.choice(5, 1000 + N_TEST, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    step = rng.choice([-1, 0, 1], (len(truth), 4), p=[0.15, 0.7, 0.15])
    given = np.clip(truth[:, None] + step, 0, 4) + 1
    by_score, by_label = (held_out(observed(given, 5, kind), truth, n_labels) for kind in ("score", "label"))
    assert by_score < by_label + 0.02


def test_a_score_without_information_changes_nothing():
    truth, scores, _ = judged(3, n=600)
    noise = np.random.default_rng(9).integers(0, 10, (600, 1))
    known = truth + 1
    plain, noisy = observed(scores, 3), observed(np.hstack([scores, noise]), 3)
    one, other = (th.recommended().fit(X, known).predict_proba(X) for X in (plain, noisy))
    assert np.abs(one - other).mean() < 0.02
    assert abs(log_loss(one, truth) - log_loss(other, truth)) < 0.01
    constant = observed(np.hstack([scores, np.full((600, 1), 7)]), 3)
    assert np.allclose(th.recommended().fit(constant, known).predict_proba(constant), one, atol=0.01)


def test_a_reader_who_gives_a_number_is_a_person():
    truth, scores, _ = judged(3, n=400)
    frame = pd.DataFrame({"human_ann.score": scores[:, 0], "judge.score": scores[:, 1], "human_bob": truth + 1})
    X = th.Observations.from_frame(frame)
    team = th.recommended().fit(X.take(np.arange(200)), truth[:200] + 1)
    assert (team.annotators_, team.machines_) == (("bob", "judge", "ann"), ("judge",))
    rest = X.take(np.arange(200, 400))
    assert compare(team, rest, truth[200:] + 1, n_bootstrap=20).combination.scores["error"].value < 0.2
    hidden = th.Observations.from_frame(frame[["judge.score"]][200:], classes=np.array([1, 2, 3]))
    assert set(policy.choose(team, hidden, 20).annotator) <= {"ann", "bob"}
    explained = team.explain(rest)
    odds = np.exp(-explained.log_odds)
    assert np.allclose(odds / odds.sum(axis=1, keepdims=True), team.predict_proba(rest))


def test_a_panel_explains_what_it_predicts():
    truth, scores, _ = judged(4, n=500)
    X = observed(np.hstack([scores, scores[:, :1]]), 4)  # the first judge and a copy are related
    team = th.recommended().fit(X, truth + 1)
    assert team.panel_ is not None
    assert len(team.panel_.scored_) == 5
    explained = team.explain(X)
    odds = np.exp(-explained.log_odds)
    assert np.allclose(odds / odds.sum(axis=1, keepdims=True), team.predict_proba(X))


def test_saved_continued_and_merged(tmp_path):
    truth, scores, _ = judged(5, n=600 + N_TEST)
    X, known = observed(scores, 5), truth + 1
    parts = [np.arange(300), np.arange(300, 600), np.arange(600, len(truth))]
    first, second = (th.recommended().fit(X.take(part), known[part]) for part in parts[:2])
    whole = th.recommended().fit(X.take(np.arange(600)), known[:600])
    continued = th.recommended().fit(X.take(parts[0]), known[parts[0]]).partial_fit(X.take(parts[1]), known[parts[1]])
    rest, expected = X.take(parts[2]), log_loss(whole.predict_proba(X.take(parts[2])), truth[parts[2]])
    for other in (continued, first.merge(second)):
        assert abs(log_loss(other.predict_proba(rest), truth[parts[2]]) - expected) < 0.02
        counts = other.confusion_.counts_.sum(axis=(1, 2))
        assert np.allclose(counts, whole.confusion_.counts_.sum(axis=(1, 2)))
        other.save(tmp_path / "team.json")
        loaded = th.load(tmp_path / "team.json")
        assert np.array_equal(loaded.predict_proba(rest), other.predict_proba(rest))
        assert loaded.describe() == other.describe()
    # Continued with the levels of the fit, counts add up exactly.
    items = open_items(X.take(parts[1]), known[parts[1]], classes=first.classes_, levels=first.levels_)
    (block,) = items.blocks(min_items=1000)
    more = first.response_.counts(block, np.eye(5)[:, block.true_label])
    once = th.recommended().fit(X.take(parts[0]), known[parts[0]]).statistics_.response_counts
    assert np.allclose(continued.statistics_.response_counts, once + more)


def test_merged_counts_of_sides_follow_the_new_levels():
    truth, scores, _ = judged(3, n=400)
    easy = np.argsort(truth, kind="stable")  # most of the first part is of the smallest class: other cuts
    X, known = observed(scores, 3), truth + 1
    first, second = (th.recommended().fit(X.take(rows), known[rows]) for rows in (easy[:250], easy[150:]))
    assert not np.array_equal(first.levels_.cuts, second.levels_.cuts)
    merged = first.merge(second)
    rows = merged.statistics_.response_counts[: 10 * len(SD)].reshape(len(SD), 10, 3)
    for counts, own, cuts in zip(merged.confusion_.counts_, rows, merged.levels_.cuts, strict=True):
        assert np.allclose(counts, [side.sum(axis=0) for side in np.split(own, cuts)])


@pytest.mark.parametrize("n_labels", [0, 100])
def test_reversed_scores_of_five_classes_are_named(n_labels):
    truth, scores, _ = judged(5, n=600)
    scores[:, 2] = 9 - scores[:, 2]
    X, known = observed(scores, 5), np.where(np.arange(600) < n_labels, truth + 1, -1)
    team = th.recommended().fit(X, known)
    found = team.facts()["scores"]
    assert list(found["reversed"]) == ["judge2"]
    assert found["reversed"]["judge2"]["correlation_high"] < 0
    assert "unclear" not in found
    assert found.get("equal_shares", False) == (n_labels == 0)
    believed = "" if n_labels else "believed to be "
    words = team.describe()
    assert (
        "Scores of judge2 look reversed: low ones mean '5', and the team uses them so. Read as given, they are "
        f"{believed}against the order of the classes: judge2 (rank correlation -0." in words
    )
    assert ("scores are cut as if all classes were equally frequent" in words) == (n_labels == 0)
    assert np.mean(team.predict(X) == truth + 1) > 0.7


def test_scores_whose_direction_is_not_significant_are_unclear():
    truth, rng = np.arange(24) % 3, np.random.default_rng(1)
    vague = np.arange(24) // 3 < 5 - truth  # high for 5, 4 and 3 of 8
    X = observed(np.stack([truth + 0.1 * rng.normal(size=24), vague], axis=1), 3)
    team = th.recommended().fit(X, truth + 1)
    (facts,) = team.facts()["scores"]["unclear"].values()
    assert facts["correlation"] < 0 <= facts["correlation_high"]
    assert (
        "It is not clear that high scores of judge1 mean '3'. Read so, they are against the order of the classes, but "
        in (team.describe())
    )


def test_scores_in_the_order_of_the_classes_are_not_reversed():
    truth, scores, _ = judged(3, n=300)
    team = th.recommended().fit(observed(scores, 3), truth + 1)
    sizes = dict(zip(team.levels_.names, team.levels_.sizes, strict=True))
    assert team.facts()["scores"] == {"positive": "3", "levels": sizes}
    turned = th.recommended().fit(observed(9 - scores, 3, positive=1), truth + 1)
    assert turned.facts()["scores"] == {"positive": "1", "levels": sizes}


def test_methods_without_scores_refuse_those_of_three_classes():
    truth, scores, _ = judged(3, n=60)
    with pytest.raises(InvalidObservations, match="X must hold labels or probabilities for this method"):
        th.LogisticCombiner().fit(observed(scores, 3), truth + 1)
