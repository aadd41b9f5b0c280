"""Nothing is called held out that a team has learnt from, however it learnt, and whatever form the item has."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import twoheads as th
from twoheads import Observations
from twoheads.combination.items.open import open_items
from twoheads.combination.learnt import LearntItems, learnt_items
from twoheads.evaluation import compare, predictions
from twoheads.evaluation.leakage import NOT_RECOGNISED
from twoheads.report import summary, write_report
from twoheads.report.displays import ReliabilityDisplay

CLASSES = ["bird", "cat", "dog"]
N, N_FIT = 90, 60


def world(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, N)
    proba = 0.6 * rng.dirichlet([0.6] * 3, N) + 0.4 * np.eye(3)[truth]
    human = np.where(rng.random(N) < 0.75, truth, rng.integers(0, 3, N))
    return human, proba, np.array(CLASSES)[truth]


HUMAN, PROBA, TRUTH = world()
IDS = np.array([f"item-{number}" for number in range(N)])


def items(rows, proba=PROBA, *, ids=False):
    return Observations.from_arrays(HUMAN[rows], proba[rows], classes=CLASSES, items=IDS[rows] if ids else None)


def frame(rows, proba=PROBA, *, ids=False):
    found = pd.DataFrame(
        {"human": np.array(CLASSES)[HUMAN[rows]]} | {f"p_{c}": proba[rows, k] for k, c in enumerate(CLASSES)}
    )
    return found.assign(item=IDS[rows]) if ids else found


FIRST, REST, ALL = np.arange(N_FIT), np.arange(N_FIT, N), np.arange(N)


def fitted(ids=False):
    return th.recommended().fit(items(FIRST, ids=ids), TRUTH[FIRST])


def partially(ids=False):
    team = th.recommended().partial_fit(items(FIRST[:30], ids=ids), TRUTH[:30], classes=CLASSES)
    return team.partial_fit(items(FIRST[30:], ids=ids), TRUTH[30:N_FIT])


def merged(ids=False):
    one, two = (th.recommended().fit(items(rows, ids=ids), TRUTH[rows]) for rows in (FIRST[:30], FIRST[30:]))
    return one.merge(two)


def forgetful(ids=False):
    return fitted(ids).partial_fit(items(FIRST[:5], ids=ids), TRUTH[:5], forget=0.5)


ROADS = [fitted, partially, merged, forgetful]


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("road", ROADS)
def test_every_road_of_a_fit_is_remembered(road, ids, tmp_path):
    team = road(ids)
    team.save(tmp_path / "team.json", keep_sample=False)
    for known in (team, th.load(tmp_path / "team.json")):
        assert known.learnt_.n_items == N_FIT
        np.testing.assert_array_equal(known.learnt_.recognise(items(ALL, ids=ids)).learnt, ALL < N_FIT)


@pytest.mark.parametrize("method", ["recommended", "L+L", "LR", "P+L"])
def test_every_method_remembers(method):
    team = {
        "recommended": th.recommended,
        "L+L": th.LabelLabelCombiner,
        "LR": th.LogisticCombiner,
        "P+L": th.ProbabilityLabelCombiner,
    }[method]()
    team.fit(items(FIRST), TRUTH[FIRST])
    assert predictions(team, items(REST), TRUTH[REST]).how == NOT_RECOGNISED
    assert predictions(team, items(FIRST), TRUTH[FIRST]).how == "learnt from: too kind"


FORMS = {
    "as it was": lambda proba: proba,
    "float32": lambda proba: proba.astype(np.float32),
    "four decimals": lambda proba: proba.round(4),
    "three decimals": lambda proba: proba.round(3) / proba.round(3).sum(axis=1, keepdims=True),
    "halves of rounding": lambda proba: np.floor(proba * 1e4) / 1e4 + 0.00005,
}


@pytest.mark.parametrize("fit_ids", [False, True])
@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_an_item_is_recognised_in_another_form_and_order(form, ids, fit_ids):
    order = np.random.default_rng(1).permutation(N)
    proba = FORMS[form](PROBA)
    if form == "halves of rounding":
        proba = proba / proba.sum(axis=1, keepdims=True)
        known = LearntItems.of(items(FIRST, proba, ids=fit_ids), FIRST)
        proba = proba.round(4)
    else:
        known = fitted(fit_ids).learnt_
    found = known.recognise(items(order, proba, ids=ids))
    assert found.learnt[order < N_FIT].all()
    assert not found.learnt[order >= N_FIT].any() or not found.certain


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("made", [frame, lambda rows, **options: pl.from_pandas(frame(rows, **options))])
def test_frames_are_recognised(made, ids):
    team = th.recommended().fit(made(FIRST, ids=ids), TRUTH[FIRST])
    assert predictions(team, items(FIRST), TRUTH[FIRST]).how == "learnt from: too kind"
    found = compare(team, made(ALL, ids=ids), TRUTH, n_bootstrap=10)
    assert (found.how, found.n_items) == ("held out" if ids else NOT_RECOGNISED, N - N_FIT)


def test_log_probabilities_are_those_of_the_probabilities():
    logs = Observations.from_arrays(HUMAN, np.log(PROBA), classes=CLASSES, model_scale="log")
    assert fitted().learnt_.recognise(logs).learnt.tolist() == (ALL < N_FIT).tolist()


def test_tables_in_chunks_are_remembered_as_in_memory(tmp_path):
    frame(ALL, ids=True).assign(truth=[*TRUTH[FIRST], *[None] * (N - N_FIT)]).to_parquet(tmp_path / "table.parquet")
    table = th.tables.scan(tmp_path / "table.parquet")
    chunked, here = open_items(table, max_numbers=0), open_items(table)
    assert type(chunked) is not type(here)
    for found in (chunked.learnt(), here.learnt(), replace(chunked, known=None).learnt()):
        assert found.n_items == N_FIT
        np.testing.assert_array_equal(found.recognise(items(ALL)).learnt, ALL < N_FIT)
    assert (here.learnt().id_hash == chunked.learnt().id_hash).all()


def test_an_id_is_enough_and_row_numbers_are_no_ids():
    other = world(seed=5)[1]
    asked_again = replace(items(ALL, ids=True), answers=items(ALL[::-1]).answers)
    assert fitted(ids=True).learnt_.recognise(asked_again).learnt.tolist() == (ALL < N_FIT).tolist()
    numbered = Observations.from_arrays(HUMAN[FIRST], PROBA[FIRST], classes=CLASSES, items=1 + FIRST)
    again = Observations.from_arrays(HUMAN[FIRST], other[FIRST], classes=CLASSES, items=1 + FIRST)
    assert not LearntItems.of(numbered, FIRST).recognise(again).learnt.any()
    assert LearntItems.of(numbered, FIRST).recognise(numbered).learnt.all()


def test_ids_that_begin_anew_for_other_items_are_said_to_be_unclear():
    found = compare(fitted(ids=True), items(ALL, world(seed=5)[1], ids=True), TRUTH, n_bootstrap=10)
    assert (found.how, found.n_items) == ("whether held out cannot be known", N)
    assert found.notes()[0].startswith("60 of 90 items with truth have ids of items the team was fitted on, but other")


def numbered(rows, first, proba=PROBA):
    """Items with consecutive numbers as ids."""
    ids = np.arange(first, first + len(rows))
    return Observations.from_arrays(HUMAN[rows], proba[rows], classes=CLASSES, items=ids)


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_that_go_on_where_those_at_fit_end_are_of_other_items(first):
    team = th.recommended().fit(numbered(FIRST, first), TRUTH[FIRST])
    found = compare(team, numbered(REST, first + N_FIT), TRUTH[REST], n_bootstrap=10)
    assert (found.how, found.n_items) == ("held out", len(REST))
    # the same items under such numbers are known by what they hold
    again = compare(team, numbered(FIRST, first + N_FIT), TRUTH[FIRST], n_bootstrap=10)
    assert again.how == "5-fold cross-validation"
    # and no other numbers show anything
    for other in (0, 1, first + N_FIT - 1, first + N_FIT + 1, 1000):
        found = compare(team, numbered(REST, other), TRUTH[REST], n_bootstrap=10)
        assert found.how == "none recognised as learnt from"


def test_numbers_tell_items_of_the_same_contents_apart_only_where_they_go_on():
    coarse = np.tile([[0.6, 0.3, 0.1]], (N, 1))
    learnt = LearntItems.of(numbered(FIRST, 0, coarse), FIRST)
    on, anew = learnt.recognise(numbered(REST, N_FIT, coarse)), learnt.recognise(numbered(REST, 0, coarse))
    assert (on.learnt.any(), on.certain, on.by_id) == (False, True, True)
    assert (anew.learnt.any(), anew.certain, anew.by_id) == (True, False, False)


def test_numbers_of_a_table_too_large_to_be_compared_at_once_go_on_as_a_whole(monkeypatch):
    learnt = LearntItems.of(numbered(FIRST[:12], 0), FIRST[:12])
    monkeypatch.setattr(learnt_items, "MAX_ITEMS", 15)
    assert learnt.recognise(numbered(REST, 12)).by_id  # 30 items
    assert not learnt.recognise(numbered(REST, 13)).by_id


def test_numbers_of_joined_tables_go_on_only_if_each_goes_on_with_the_one_before():
    def joined(*firsts):
        return LearntItems.joined([LearntItems.of(numbered(FIRST[:20], first), FIRST[:20]) for first in firsts])

    assert joined(0, 20).span == (0, 40)
    assert joined(0, 20).recognise(numbered(REST, 40)).by_id
    for firsts in ((0, 0), (20, 0), (0, 21)):
        assert joined(*firsts).span == (0, 0)
        assert not joined(*firsts).recognise(numbered(REST, 40)).by_id


def test_it_is_said_why_ids_do_not_tell_and_what_to_do():
    coarse = np.tile([[0.6, 0.3, 0.1]], (N, 1))
    plain, known = LearntItems.of(items(FIRST, coarse), FIRST), LearntItems.of(items(FIRST, coarse, ids=True), FIRST)
    by_row = LearntItems.of(numbered(FIRST, 0, coarse), FIRST)
    some = f"ids 0 to {len(REST) - 1} only number the rows"
    assert known.recognise(numbered(REST, 0, coarse)).advice.startswith(some)
    assert plain.recognise(numbered(REST, 0, coarse)).advice.startswith(some)
    assert by_row.recognise(items(REST, coarse, ids=True)).advice.startswith(f"the ids at fit, 0 to {N_FIT - 1}, only")
    assert plain.recognise(items(REST, coarse, ids=True)).advice.startswith(
        "some items that the team was fitted on had"
    )
    assert known.recognise(items(REST, coarse)).advice == "give ids (a column item) to distinguish them"


def test_no_remark_asks_for_ids_that_are_there():
    team = th.recommended().fit(numbered(FIRST, 0), TRUTH[FIRST])
    said = compare(team, numbered(REST, 0), TRUTH[REST], n_bootstrap=10).notes()
    assert any(note.startswith(f"Ids 0 to {len(REST) - 1} only number the rows") for note in said)
    assert not any("give ids" in note.lower() for note in said)


def test_the_same_contents_are_told_apart_by_ids_alone():
    coarse = np.tile([[0.6, 0.3, 0.1]], (N, 1))
    with_ids = LearntItems.of(items(FIRST, coarse, ids=True), FIRST)
    found = with_ids.recognise(items(ALL, coarse, ids=True))
    assert found.certain
    assert found.learnt.tolist() == (ALL < N_FIT).tolist()
    assert not with_ids.recognise(items(REST, coarse)).certain


def crowd_frame(rows, people, proba=PROBA):
    """Answers of some of thirty people, half of whom answered about an item."""
    rng = np.random.default_rng(9)
    answer = np.where(rng.random((30, N)) < 0.7, HUMAN, rng.integers(0, 3, (30, N)))
    found = pd.DataFrame(
        {
            f"human_{person}": np.where(rng.permutation(N) % 2, np.array(CLASSES)[answer[person]], None)[rows]
            for person in range(30)
        }
    )
    kept = found[[f"human_{person}" for person in people]]
    return kept.assign(**{f"p_{c}": proba[rows, k] for k, c in enumerate(CLASSES)})


@pytest.mark.filterwarnings("ignore:X has ")
@pytest.mark.parametrize(
    ("fitted_on", "judged_on"), [(range(3), range(4)), (range(4), range(3)), (range(3), range(1, 4))]
)
def test_an_item_with_other_answers_is_recognised_by_its_probabilities(fitted_on, judged_on):
    team = th.recommended().fit(crowd_frame(FIRST, fitted_on), TRUTH[FIRST])
    found = compare(team, crowd_frame(ALL, judged_on), TRUTH, n_bootstrap=10)
    assert (found.how, found.n_items) == (NOT_RECOGNISED, N - N_FIT)
    assert compare(team, crowd_frame(FIRST, judged_on), TRUTH[FIRST], n_bootstrap=10).how == "5-fold cross-validation"


def test_an_item_with_other_probabilities_is_recognised_by_who_answered_what():
    team = th.recommended().fit(crowd_frame(FIRST, range(30)), TRUTH[FIRST])
    sharper = PROBA**2 / (PROBA**2).sum(axis=1, keepdims=True)
    found = compare(team, crowd_frame(ALL, range(30), sharper), TRUTH, n_bootstrap=10)
    assert (found.how, found.n_items) == (NOT_RECOGNISED, N - N_FIT)


def another_model(sharper=1.0, noise=0.8):
    """Rows of a model that was asked about the same items."""
    rng = np.random.default_rng(4)
    logits = sharper * np.log(PROBA) + noise * rng.normal(size=PROBA.shape)
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("rows", [FIRST, FIRST[10:50]])
def test_answers_in_the_same_order_beside_another_model_are_not_called_held_out(rows):
    found = compare(fitted(), items(rows, another_model()), TRUTH[rows], n_bootstrap=10)
    assert (found.how, found.n_items) == ("whether held out cannot be known", len(rows))
    assert found.notes()[0].startswith("These may be items the team was fitted on, with probabilities of another model")


@pytest.mark.parametrize(("n_rows", "model"), [(60, another_model()), (45, np.eye(3)[PROBA.argmax(axis=1)])])
def test_shuffled_items_beside_another_model_are_not_called_held_out(n_rows, model):
    # All of them, whose answers are as often each class; or some, beside a model that is always sure.
    rows = np.random.default_rng(2).permutation(FIRST)[:n_rows]
    assert predictions(fitted(), items(rows, model), TRUTH[rows]).how == "whether held out cannot be known"


def test_a_shuffled_part_beside_an_alike_model_is_not_called_held_out():
    # Without ids nothing shows it: the words must be true nonetheless. Ids tell.
    rows, alike = np.random.default_rng(3).permutation(FIRST)[:40], another_model(noise=0.1)
    assert predictions(fitted(), items(rows, alike), TRUTH[rows]).how == NOT_RECOGNISED
    assert predictions(fitted(ids=True), items(rows, alike), TRUTH[rows]).how == NOT_RECOGNISED
    assert predictions(fitted(ids=True), items(rows, alike, ids=True), TRUTH[rows]).how != "held out"
    told = compare(fitted(), items(rows, alike), TRUTH[rows], held_out=True, n_bootstrap=10)
    assert told.how == "held out"  # the user's own word


def test_ids_tell_other_items_with_another_model_apart():
    found = predictions(fitted(ids=True), items(REST, another_model(sharper=4.0), ids=True), TRUTH[REST])
    assert found.how == "held out"


def test_what_the_user_says_of_items_that_may_be_others_is_taken():
    found = compare(fitted(), items(FIRST, another_model()), TRUTH[FIRST], held_out=True, n_bootstrap=10)
    assert found.how == "held out"


@pytest.mark.parametrize("decimals", [1, 2, 3, 9])
def test_other_items_are_not_taken_for_learnt_ones_by_chance(decimals):
    # Two classes, and a model that is sure of every other item: rounded probabilities are those of many items.
    rng = np.random.default_rng(decimals)
    first = np.where(np.arange(400) % 2, 1.0, rng.random(400)).round(decimals)
    human = rng.integers(0, 2, 400)
    seen = Observations.from_arrays(human, np.column_stack([first, 1 - first]), classes=[0, 1])
    learnt = LearntItems.of(seen.take(np.arange(200)), np.zeros(200, dtype=int))
    found = learnt.recognise(seen.take(np.arange(200, 400)))
    assert not found.certain or found.learnt.mean() <= 0.02


def test_what_compare_says():
    team = fitted()
    held_out = compare(team, items(REST), TRUTH[REST], n_bootstrap=10)
    assert (held_out.how, held_out.n_items) == (NOT_RECOGNISED, N - N_FIT)
    assert held_out.headline().startswith("On 30 items (none recognised as learnt from) the combination errs on ")
    own = compare(team, items(FIRST), TRUTH[FIRST], n_bootstrap=10)
    assert own.how == "5-fold cross-validation"
    assert own.notes()[0] == "The team was fitted on these items."
    words = "The team was evaluated by 5-fold cross-validation: each item by a copy"
    assert any(note.startswith(words) for note in own.notes())
    part = compare(team, items(ALL), TRUTH, sample_weight=np.ones(N), n_bootstrap=10)
    assert (part.how, part.n_items) == (NOT_RECOGNISED, N - N_FIT)
    assert part.notes()[0] == "The team was fitted on 60 of 90 items with truth; these are left out."
    told = compare(team, items(ALL), TRUTH, held_out=True, n_bootstrap=10)
    assert (told.how, told.n_items) == ("learnt from: too kind", N)
    assert "The team has learnt from these items: its errors here are too few." in told.notes()
    assert compare(team, items(REST), TRUTH[REST], held_out=False, n_bootstrap=10).how == "5-fold cross-validation"


def test_truth_that_comes_later_is_held_out():
    team = th.recommended().fit(items(ALL), [*TRUTH[FIRST], *[None] * (N - N_FIT)])
    found = compare(team, items(ALL), TRUTH, n_bootstrap=10)
    assert (found.how, found.n_items) == (NOT_RECOGNISED, N - N_FIT)


def test_a_team_fitted_without_truth_has_learnt_from_nothing():
    assert compare(th.recommended().fit(items(ALL)), items(ALL), TRUTH, n_bootstrap=10).how == "held out"


def test_reports_and_displays_cross_validate_what_was_learnt(tmp_path):
    team = partially()
    found = write_report(tmp_path / "report.html", team, items(FIRST), TRUTH[FIRST], n_bootstrap=10)
    assert found["data"]["how"] == "5-fold cross-validation"
    assert "(5-fold cross-validation)" in (tmp_path / "report.html").read_text()
    assert summary(team, items(ALL), TRUTH, n_bootstrap=10)["data"]["n_known"] == N - N_FIT
    drawn = ReliabilityDisplay.from_estimator(team, items(FIRST), TRUTH[FIRST], n_bins=4)
    kind = ReliabilityDisplay.from_predictions(
        TRUTH[FIRST], team.predict_proba(items(FIRST)), classes=CLASSES, n_bins=4
    )
    assert drawn.mean_confidence.tolist() != kind.mean_confidence.tolist()


def test_what_cannot_be_known_is_said(monkeypatch):
    class Foreign:
        """A team of another library."""

        def __init__(self, team):
            self.team, self.classes_, self.model_scale = team, team.classes_, "probability"
            self.annotators_ = team.annotators_

        def predict_proba(self, X):
            return self.team.predict_proba(X)

    found = compare(Foreign(fitted()), items(REST), TRUTH[REST], n_bootstrap=10)
    assert found.how == "whether held out cannot be known"
    assert found.notes()[0] == "Foreign does not know the items it has learnt from."
    monkeypatch.setattr(learnt_items, "MAX_ITEMS", 20)
    team = fitted()
    assert (team.learnt_.n_items, len(team.learnt_.key)) == (N_FIT, 20)
    assert compare(team, items(REST[:15]), TRUTH[REST[:15]], n_bootstrap=10).how == "whether held out cannot be known"
    assert compare(team, items(FIRST), TRUTH[FIRST], n_bootstrap=10).how == "5-fold cross-validation"


def test_items_that_may_be_others_are_neither_left_out_nor_called_held_out():
    rng = np.random.default_rng(3)
    coarse = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])[rng.integers(0, 3, N)]
    team = th.recommended().fit(items(FIRST, coarse), TRUTH[FIRST])
    rare = coarse.copy()
    rare[REST[0]] = [0.5, 0.3, 0.2]
    found = compare(team, items(REST, rare), TRUTH[REST], n_bootstrap=10)
    assert (found.how, found.n_items) == ("whether held out cannot be known", N - N_FIT)
    assert "give ids (a column item) to distinguish them" in found.notes()[0]


def test_a_saved_team_holds_no_item_in_the_clear(tmp_path):
    fitted(ids=True).save(tmp_path / "team.json", keep_sample=False)
    text = (tmp_path / "team.json").read_text()
    assert "item-7" not in text
    assert json.loads(text)["format"] == "twoheads"
