"""What a team knows of each of its people: recovered from simulation, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

import twoheads as th
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations


def crowd(seed, n_items=2000, n_people=200, n_classes=5, per_item=10):
    """People of known accuracies, as many of them on each item; nobody knows the truth."""
    rng = np.random.default_rng(seed)
    accuracy = rng.beta(8, 2, n_people)
    truth = rng.integers(n_classes, size=n_items)
    item = np.repeat(np.arange(n_items), per_item)
    person = np.argsort(rng.random((n_items, n_people)), axis=1)[:, :per_item].ravel()
    right = rng.random(len(item)) < accuracy[person]
    label = np.where(right, truth[item], (truth[item] + rng.integers(1, n_classes, len(item))) % n_classes)
    answers = pack_answers(item, person * n_classes + label, n_items)
    names = tuple(f"person {number}" for number in range(n_people))
    return Observations(np.arange(n_classes), (), answers, names, np.arange(n_items)), accuracy, truth


def test_accuracies_are_found_again_without_any_truth():
    coverage, correlation = [], []
    for seed in range(5):
        seen, accuracy, truth = crowd(seed)
        team = th.recommended().fit(seen)
        stats = team.annotator_stats_
        inside = (stats["accuracy_low"] < accuracy) & (accuracy < stats["accuracy_high"])
        coverage.append(inside.mean())
        correlation.append(np.corrcoef(stats["accuracy"], accuracy)[0, 1])
        assert team.score(seen, truth) > 0.99
        assert set(stats["kind"]) == {"believed"}
        assert not stats["judged"].any()
    assert np.mean(coverage) >= 0.9  # wider than this crowd needs: it is independent, and nobody can know
    assert np.mean(correlation) >= 0.94


def test_agreement_and_information_by_hand():
    # Two people answer three items alike and one not; a third answers one alone.
    answers = pack_answers(np.array([0, 0, 1, 1, 2, 2, 3, 3, 4]), np.array([0, 2, 1, 3, 0, 2, 0, 3, 5]), 5)
    proba = np.full((5, 2), 0.5)
    seen = Observations(np.array(["a", "b"]), (proba,), answers, ("ann", "bob", "cy"), np.arange(5))
    team = th.ProbabilityLabelCombiner(th.DirichletConfusion(estimate="likelihood"))
    stats = team.fit(seen, ["a", "b", "a", "a", "b"]).annotator_stats_
    assert stats["annotator"].tolist() == ["ann", "bob", "cy"]
    assert stats["answers"].tolist() == [4, 4, 1]
    assert stats["judged"].tolist() == [4, 4, 1]
    np.testing.assert_allclose(stats["agreement"], [0.75, 0.75, np.nan])
    # Ann is always right: an answer tells the class, whose entropy at shares 6/11 + 1/11 of "a" (one more each) it is.
    prevalence = np.array([6 + 1, 3 + 1]) / 11
    assert stats["bits"][0] == pytest.approx(-(prevalence * np.log2(prevalence)).sum())
    assert stats["bits"][1] < stats["bits"][0]


def test_truth_that_is_known_is_what_people_are_judged_by():
    seen, _, truth = crowd(7, n_items=600)
    stats = th.recommended().fit(seen, truth).annotator_stats_
    person, label = np.divmod(seen.answers.column, 5)
    right = np.bincount(person, label == truth[np.repeat(np.arange(600), 10)])
    given = np.bincount(person)
    np.testing.assert_array_equal(stats["judged"], given)
    assert np.corrcoef(stats["accuracy"], right / given)[0, 1] > 0.99
