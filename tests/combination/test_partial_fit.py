"""Learning on: in any chunks, on separate shards, from a file alone, and forgetting."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import twoheads as th
from strategies import simulate, softmax
from twoheads.combination.statistics.reservoir import SampleSum, sample_block, sample_size
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.answers import pack_answers
from twoheads.kernels.arrays import MISSING
from twoheads.kernels.numerics.sampling import reservoir_keys
from twoheads.observations import Observations

TEAMS = {
    "recommended": th.recommended,
    "P+L": th.ProbabilityLabelCombiner,
    "fully Bayesian": lambda: th.ProbabilityLabelCombiner(
        th.DirichletConfusion(estimate="mean"), th.TemperatureScaling(estimate="mean")
    ),
}


def one_person(n_items=900, seed=0, labels=1.0):
    problem = simulate(n_items, 3, seed=seed)
    truth = np.where(np.random.default_rng(seed).random(n_items) < labels, problem.truth, MISSING)
    return Observations.from_arrays(problem.human, problem.model), truth


def crowd(n_items=900, seed=0, labels=1.0, n_people=12, per_item=3):
    problem = simulate(n_items, 3, seed=seed, sharpness=1.0)
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), per_item)
    person = np.argsort(rng.random((n_items, n_people)), axis=1)[:, :per_item].ravel()
    right = rng.random(len(item)) < 0.5 + 0.04 * person
    label = np.where(right, problem.truth[item], rng.integers(3, size=len(item)))
    answers = pack_answers(item, person * 3 + label, n_items)
    names = tuple(f"person {at:02}" for at in range(n_people))
    seen = Observations(np.arange(3), (problem.model,), answers, names, np.arange(n_items))
    return seen, np.where(rng.random(n_items) < labels, problem.truth, MISSING)


def chunks(n_items, sizes):
    edges = np.cumsum([0, *sizes])
    assert edges[-1] == n_items
    return [np.arange(first, last) for first, last in pairwise(edges)]


def learnt_in(make, seen, truth, parts):
    team = make()
    for rows in parts:
        team.partial_fit(seen.take(rows), truth[rows])
    return team


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
@pytest.mark.parametrize("data", [one_person, crowd])
@pytest.mark.parametrize("sizes", [(900,), (450, 450), (1, 99, 300, 500), (300,) * 3])
def test_any_chunks_give_the_fit_of_all(make, data, sizes):
    seen, truth = data()
    whole, parts = make().fit(seen, truth), learnt_in(make, seen, truth, chunks(900, sizes))
    assert parts.annotators_ == whole.annotators_
    np.testing.assert_array_equal(parts.confusion_.counts_, whole.confusion_.counts_)
    np.testing.assert_allclose(parts.confusion_.human_given_true_, whole.confusion_.human_given_true_, rtol=1e-9)
    assert parts.calibrator_.log_temperature_ == pytest.approx(whole.calibrator_.log_temperature_, abs=1e-6)
    np.testing.assert_allclose(parts.annotator_stats_["agreement"], whole.annotator_stats_["agreement"], rtol=1e-9)
    assert (parts.n_labelled_, parts.n_unlabelled_) == (whole.n_labelled_, whole.n_unlabelled_)
    # All items are still in the sample: the rest is the same but for the folds of a crowd.
    same = 1e-6 if data is one_person else 0.01
    np.testing.assert_allclose(parts.predict_proba(seen), whole.predict_proba(seen), atol=same)


@pytest.mark.parametrize("data", [one_person, crowd])
@pytest.mark.parametrize("labels", [0.1, 0.0])
def test_items_without_truth_are_learnt_from_as_well(data, labels):
    seen, truth = data(labels=labels)
    whole = th.recommended().fit(seen, truth)
    parts = learnt_in(th.recommended, seen, truth, chunks(900, (400, 500)))
    # The agreement with the model is that of 300 items, evenly spaced: others where items stand in another order.
    assert np.abs(parts.predict_proba(seen) - whole.predict_proba(seen)).mean() < 0.03


def test_more_items_than_are_remembered():
    seen, truth = one_person(3 * sample_size(3))
    whole, parts = (
        learnt_in(th.recommended, seen, truth, chunks(len(truth), sizes))
        for sizes in ((len(truth),), (1000, len(truth) - 1000))
    )
    np.testing.assert_array_equal(parts.confusion_.counts_, whole.confusion_.counts_)
    assert parts.calibrator_.log_temperature_ == pytest.approx(whole.calibrator_.log_temperature_, abs=1e-6)
    assert parts.statistics_.labelled.n_items == whole.statistics_.labelled.n_items == sample_size(3)
    np.testing.assert_array_equal(parts.statistics_.labelled.key, whole.statistics_.labelled.key)
    assert np.abs(parts.predict_proba(seen) - whole.predict_proba(seen)).mean() < 0.01


def test_a_sample_stands_for_all_items():
    seen, truth = one_person(10_000)
    block = th.recommended().fit(seen, truth).statistics_.labelled.block(for_all=True)
    assert block.weight.sum() == pytest.approx(10_000, rel=0.1)
    shares = np.bincount(block.true_label, block.weight) / block.weight.sum()
    np.testing.assert_allclose(shares, np.bincount(truth) / 10_000, atol=0.04)


@pytest.mark.parametrize("size", [1, 7, 300])
def test_samples_of_parts_add_up_to_the_smallest_keys_of_all(size):
    seen, truth = one_person(n_items=600)
    key = reservoir_keys(seen.block(slice(0, 600), true_label=truth))
    parts = [seen.block(slice(at, at + 1), true_label=truth) for at in range(600)]
    alone = [SampleSum([sample_block(part, 50, np.inf)], 50) for part in parts]
    grouped = [reduce(add, alone[at : at + size]) for at in range(0, 600, size)]
    found = reduce(add, grouped).merged()
    assert found.key.tolist() == np.sort(key)[:50].tolist()
    assert found.threshold == np.sort(key)[50]


@pytest.mark.parametrize("data", [one_person, crowd])
def test_merging_is_commutative_and_associative(data):
    seen, truth = data()
    a, b, c = (th.recommended().fit(seen.take(rows), truth[rows]) for rows in chunks(900, (200, 300, 400)))
    whole = th.recommended().fit(seen, truth)
    for merged in (a.merge(b, c), c.merge(a, b), a.merge(b).merge(c), a.merge(b.merge(c))):
        np.testing.assert_array_equal(merged.confusion_.counts_, whole.confusion_.counts_)
        np.testing.assert_allclose(merged.confusion_.human_given_true_, whole.confusion_.human_given_true_, rtol=1e-9)
        assert merged.calibrator_.log_temperature_ == pytest.approx(whole.calibrator_.log_temperature_, abs=1e-6)
        np.testing.assert_allclose(merged.predict_proba(seen), whole.predict_proba(seen), atol=0.01)
    assert a.n_labelled_ == 200  # as it was


def test_people_who_come_later_and_people_of_other_shards():
    seen, truth = crowd()
    early = replace(seen.take(np.arange(400)), annotators=tuple(f"early {at:02}" for at in range(12)))
    late = replace(seen.take(np.arange(400, 900)), annotators=tuple(f"late {at:02}" for at in range(12)))
    first, second = th.recommended().fit(early, truth[:400]), th.recommended().fit(late, truth[400:])
    on = th.recommended().fit(early, truth[:400]).partial_fit(late, truth[400:])
    assert on.annotators_ == (*early.annotators, *late.annotators)
    np.testing.assert_array_equal(on.confusion_.counts_[:12], first.confusion_.counts_)
    np.testing.assert_array_equal(on.confusion_.counts_[12:], second.confusion_.counts_)
    np.testing.assert_array_equal(first.merge(second).confusion_.counts_, on.confusion_.counts_)


def test_a_file_alone_is_enough(tmp_path):
    seen, truth = crowd()
    th.recommended().fit(seen.take(np.arange(500)), truth[:500]).save(tmp_path / "team.json")
    loaded = th.load(tmp_path / "team.json").partial_fit(seen.take(np.arange(500, 900)), truth[500:])
    straight = learnt_in(th.recommended, seen, truth, chunks(900, (500, 400)))
    np.testing.assert_array_equal(loaded.predict_proba(seen), straight.predict_proba(seen))


def test_confidence_and_several_models_are_learnt_on():
    problem = simulate(800, 3, seed=3)
    rng = np.random.default_rng(4)
    other = softmax(1.5 * np.eye(3)[problem.truth] + rng.normal(size=(800, 3)))
    seen = Observations.from_arrays(problem.human, {"one": problem.model, "two": other})
    seen = replace(seen, confidence=rng.beta(np.where(problem.human == problem.truth, 4, 2), 2))
    whole = th.recommended().fit(seen, problem.truth)
    parts = learnt_in(th.recommended, seen, problem.truth, chunks(800, (400, 400)))
    assert len(parts.response_.bounds_) == 3
    np.testing.assert_allclose(parts.pool_.weight_, whole.pool_.weight_, atol=0.02)
    # Levels of confidence are cut at the quartiles of the first chunk.
    assert np.abs(parts.predict_proba(seen) - whole.predict_proba(seen)).mean() < 0.01


def test_teams_with_other_levels_of_confidence_merge():
    problem = simulate(900, 3, seed=8)
    seen = Observations.from_arrays(problem.human, problem.model)
    sure = np.random.default_rng(9).beta(np.where(problem.human == problem.truth, 4, 2), 2)
    coarse = np.where(np.arange(900) < 450, sure, np.round(sure))
    seen = replace(seen, confidence=coarse)
    teams = [th.recommended().fit(seen.take(rows), problem.truth[rows]) for rows in chunks(900, (450, 450))]
    assert len(teams[0].response_.bounds_) == 3
    assert len(teams[1].response_.bounds_) == 1
    for merged in (teams[0].merge(teams[1]), teams[1].merge(teams[0])):
        counts = merged.statistics_.response_counts
        np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(problem.truth))
        assert np.isfinite(merged.predict_proba(seen)).all()


def test_what_is_forgotten_counts_for_less():
    good, bad = simulate(1000, 3, seed=5, accuracy=0.95), simulate(1000, 3, seed=6, accuracy=0.4)
    rows = [np.column_stack([each.human, each.model]) for each in (good, bad)]
    team = th.recommended().fit(rows[0], good.truth)
    kept, changed = (
        th.recommended().fit(rows[0], good.truth).partial_fit(rows[1], bad.truth, forget=forget) for forget in (0, 0.9)
    )
    np.testing.assert_allclose(
        changed.confusion_.counts_, 0.1 * team.confusion_.counts_ + (kept.confusion_.counts_ - team.confusion_.counts_)
    )
    fresh = th.recommended().fit(rows[1], bad.truth)
    trace = [np.trace(each.confusion_.human_given_true_) for each in (fresh, changed, kept, team)]
    assert trace == sorted(trace)
    now = simulate(2000, 3, seed=7, accuracy=0.4)
    use = np.column_stack([now.human, now.model])

    def log_loss(each):
        return -each.predict_log_proba(use)[np.arange(2000), now.truth].mean()

    assert log_loss(changed) < log_loss(kept) < log_loss(team)


def test_weights_count_as_repeated_items():
    seen, truth = one_person(300)
    weight = np.random.default_rng(1).integers(1, 4, 300)
    again = np.repeat(np.arange(300), weight)
    weighted = th.ProbabilityLabelCombiner().fit(seen.take(np.arange(100)), truth[:100], weight[:100])
    weighted.partial_fit(seen.take(np.arange(100, 300)), truth[100:], sample_weight=weight[100:])
    repeated = th.ProbabilityLabelCombiner().fit(seen.take(again), truth[again])
    np.testing.assert_allclose(weighted.predict_proba(seen), repeated.predict_proba(seen), atol=1e-6)


def test_mistakes_are_told():
    seen, truth = one_person(60)
    team = th.recommended().fit(seen, truth)
    with pytest.raises(InvalidParameter, match=r"^forget must be at least 0 and below 1; it is 1\."):
        team.partial_fit(seen, truth, forget=1)
    with pytest.raises(InvalidParameter, match=r"^others must be teams of the same kind and parameters"):
        team.merge(th.ProbabilityLabelCombiner().fit(seen, truth))
    four = simulate(50, 4, seed=1)
    with pytest.raises(
        InvalidObservations,
        match=r"^others must have the classes of the earlier fit, in their order, \[0, 1, 2\]; they are \[0, 1, 2, 3\]",
    ):
        team.merge(th.recommended().fit(np.column_stack([four.human, four.model]), four.truth))
    with pytest.raises(InvalidObservations):
        team.partial_fit(np.column_stack([four.human, four.model]), four.truth)
    rows = np.column_stack([four.human, four.model])
    with pytest.raises(InvalidParameter, match=r"^ReleasedEM cannot continue a fit with more items"):
        th.paper_2021("P+L-EM").fit(rows).partial_fit(rows)


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
def test_no_items_are_told_and_the_team_is_as_it_was(make):
    seen, truth = crowd(60)
    team = make().fit(seen, truth)
    before, expected = set(vars(team)), team.predict_proba(seen)
    for nothing in (seen[:0], np.empty((0, 4))):
        with pytest.raises(InvalidObservations, match=r"^X must have at least one row; it has none\."):
            team.partial_fit(nothing, truth[:0])
    assert set(vars(team)) == before
    np.testing.assert_array_equal(team.predict_proba(seen), expected)


def test_a_failure_leaves_the_team_as_it_was(tmp_path):
    seen, truth = crowd(120, labels=0.5)
    later = replace(seen, annotators=tuple(f"new {name}" for name in seen.annotators))

    def saved():
        team.save(tmp_path / "team.json")
        return (tmp_path / "team.json").read_text()

    team = th.recommended().fit(seen, truth)
    team.set_params(class_prior="no such prior")
    before = saved()
    with pytest.raises(InvalidParameter, match=r"^class_prior must be"):  # before anything is learnt
        team.partial_fit(later, truth)
    assert saved() == before
    team.set_params(class_prior="model", max_iter=1)
    before = saved()
    with pytest.raises(ConvergenceWarning):  # an error here; most is learnt by then
        team.partial_fit(later, truth)
    assert saved() == before
    team = th.recommended().set_params(max_iter=1)
    with pytest.raises(ConvergenceWarning):
        team.partial_fit(seen)
    with pytest.raises(NotFittedError):
        team.predict(seen)


def alike(kind, n_items=460, seed=0):
    """Items of which many are alike: no model row, or one of a few rows; some answers are "unsure"."""
    rng = np.random.default_rng(seed)
    problem = simulate(n_items, 3, seed=seed)
    model = softmax(2.0 * np.eye(3)[problem.model.argmax(axis=1)]) if kind == "few rows" else problem.model.copy()
    if kind == "no row":
        model[rng.random(n_items) < 0.3] = np.nan
    said = np.array(["0", "1", "2"], dtype=object)[np.maximum(problem.human, 0)]
    if kind == "unsure":
        said[rng.random(n_items) < 0.1] = "unsure"
    frame = pd.DataFrame({"human": said} | {f"p_{at}": model[:, at] for at in range(3)})
    return Observations.from_frame(frame, classes=["0", "1", "2"]), np.where(
        rng.random(n_items) < 0.2, problem.truth, -1
    )


@pytest.mark.parametrize("kind", ["no row", "few rows", "unsure", "crowd"])
def test_a_sample_that_holds_all_items_gives_the_fit_of_all(kind):
    # Folds, and the items that stand for those without truth, are those of one fit, in any order of the chunks.
    seen, truth = crowd(600, labels=0.3, per_item=1) if kind == "crowd" else alike(kind)
    once = th.recommended().fit(seen, truth).predict_proba(seen)
    parts = np.array_split(np.random.default_rng(1).permutation(len(seen)), 3)
    for order in (parts, parts[::-1]):
        np.testing.assert_allclose(learnt_in(th.recommended, seen, truth, order).predict_proba(seen), once, atol=1e-9)


@pytest.mark.parametrize("first", ["nobody unsure", "no confidence", "somebody unsure, no confidence"])
def test_answers_without_confidence_and_unsure_count_in_chunks_as_in_one_fit(first):
    # Levels of confidence are cut by the first chunk that has any.
    seen, truth = one_person(400)
    model = {f"p_{at}": seen.model_proba[0][:, at] for at in range(3)}
    words, number, late = pd.DataFrame({"human": seen.answers.column.astype(str)} | model), np.arange(400), 200
    if first != "no confidence":
        words.loc[(number % 3 == 0) & ((number >= late) | (first != "nobody unsure")), "human"] = "unsure"
    if first != "nobody unsure":
        words["confidence"] = np.where(number >= late, number % 5, np.nan)
    whole = Observations.from_frame(words, classes=["0", "1", "2"])
    once = th.recommended().fit(whole, truth)
    parts = [np.arange(late), np.arange(late, 400)]
    one, other = (th.recommended().fit(whole.take(rows), truth[rows]) for rows in parts)
    for team in (learnt_in(th.recommended, whole, truth, parts), one.merge(other), other.merge(one)):
        np.testing.assert_allclose(team.response_.counts_, once.response_.counts_)
        np.testing.assert_allclose(team.predict_proba(whole), once.predict_proba(whole), atol=1e-9)
