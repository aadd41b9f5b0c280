"""No team is evaluated on truth that it was fitted on."""

import numpy as np
import pytest

from twoheads import Observations
from twoheads.evaluation import leakage
from twoheads.evaluation.leakage import TrainingItems, held_out_items, training_items, training_items_of_blocks

TRUTH = np.array([0, 1, None, 0, 1, 1], dtype=object)


def items(n=6, first=0):
    rng = np.random.default_rng(first)
    ids = [f"item-{number}" for number in range(first, first + n)]
    return Observations.from_arrays(rng.integers(0, 2, n), rng.dirichlet([1, 1], n), items=ids)


def test_items_fitted_on_are_left_out_and_the_others_kept():
    trained_on = training_items(items().take(np.arange(3)), TRUTH[:3], has_ids=True)
    found = held_out_items(items(), TRUTH, trained_on, has_ids=True)
    assert found.observations.items.tolist() == ["item-2", "item-3", "item-4", "item-5"]
    assert found.y.tolist() == [None, 0, 1, 1]
    assert not found.fitted_on_same
    assert found.notes == ["The team was fitted on 2 of 5 items with truth; these are left out."]


def test_the_same_items_are_to_be_cross_validated():
    trained_on = training_items(items(), TRUTH, has_ids=True)
    found = held_out_items(items().take(np.arange(6)[::-1]), TRUTH[::-1], trained_on, has_ids=True)
    assert found.fitted_on_same
    assert len(found.observations) == 6


@pytest.mark.parametrize("has_ids", [True, False])
def test_other_items_are_evaluated_as_they_are(has_ids):
    trained_on = training_items(items(), TRUTH, has_ids=has_ids)
    found = held_out_items(items(6, first=6), TRUTH, trained_on, has_ids=has_ids)
    assert (found.fitted_on_same, found.notes, len(found.observations)) == (False, [], 6)


def test_without_ids_the_whole_table_is_recognised():
    trained_on = training_items(items(), TRUTH, has_ids=False, n_labelled=4)
    assert trained_on.item_hashes is None
    found = held_out_items(items(), TRUTH, trained_on, has_ids=False)
    assert found.fitted_on_same
    assert found.notes == ["The team was fitted on 4 items with truth; its copies here are fitted on more."]


def test_a_team_fitted_without_truth_cannot_leak():
    trained_on = training_items(items(), [None] * 6, has_ids=True, n_labelled=0)
    assert not held_out_items(items(), TRUTH, trained_on, has_ids=True).fitted_on_same


def test_nothing_is_known_of_a_team_without_provenance():
    assert not held_out_items(items(), TRUTH, TrainingItems(None, None), has_ids=True).fitted_on_same


def test_blocks_give_the_same_as_the_whole(monkeypatch):
    whole = training_items(items(), TRUTH, has_ids=True)
    blocks = [(items().take(rows), TRUTH[rows]) for rows in (np.arange(2), np.arange(2, 6))]
    found = training_items_of_blocks(blocks, has_ids=True)
    assert found.fingerprint == whole.fingerprint
    np.testing.assert_array_equal(found.item_hashes, whole.item_hashes)
    monkeypatch.setattr(leakage, "MAX_HASHES", 3)
    assert training_items_of_blocks(blocks, has_ids=True).item_hashes is None
