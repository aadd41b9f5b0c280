"""What agreement can show: by hand, and by the rank of the equations that it gives."""

import numpy as np
import pytest

from twoheads.kernels.inference import overlap
from twoheads.kernels.inference.overlap import (
    CLOSING_ITEMS,
    ENOUGH_SHARED,
    constant_members,
    never_differing,
    shared_items,
    undecided_members,
)


def undecided(groups, n_members):
    """Whom agreement leaves open where each group of members shares so many items."""
    rows = [(group, n) for group, n in groups.items() for _ in range(n)]
    pairs = [(item, member) for item, (group, _) in enumerate(rows) for member in group]
    item, member = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    shared = shared_items(item, member, len(rows), n_members)
    return undecided_members(shared).nonzero()[0].tolist()


def test_items_that_two_members_share():
    item, member = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 0, 1, 1, 2])
    assert shared_items(item, member, 3, 3).toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("groups", "open_ones"),
    [
        ({(0, 1): 300}, [0, 1]),
        ({(0, 1, 2): 10}, []),
        ({(0, 1): 100, (1, 2): 100}, [0, 1, 2]),  # a chain
        ({(0, 1): 100, (1, 2): 100, (0, 2): 100}, []),  # a round of three
        ({(0, 1): 100, (1, 2): 100, (2, 3): 100, (0, 3): 100}, [0, 1, 2, 3]),  # a round of four
        ({(0, 1): 100, (2, 3, 4): 100}, [0, 1]),
        ({(0, 1): 100, (2, 3, 4): 100, (1, 2): 1}, []),
        ({(0, 1): 400, (0, 1, 2): CLOSING_ITEMS - 1}, [0, 1, 2]),  # too few for so many
        ({(0, 1): 400, (0, 1, 2): CLOSING_ITEMS}, []),
    ],
)
def test_members_that_agreement_leaves_open(groups, open_ones):
    n_members = 1 + max(member for group in groups for member in group)
    assert undecided(groups, n_members) == open_ones


@pytest.mark.parametrize("seed", range(30))
def test_members_left_open_are_those_whose_equations_have_several_solutions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 1.5 / n]
    # The logarithm of the agreement of two beyond chance is the sum of one number of each.
    equations = np.zeros((len(pairs), n))
    for row, pair in enumerate(pairs):
        equations[row, list(pair)] = 1.0
    rank = np.linalg.matrix_rank(equations) if pairs else 0
    several = [at for at in range(n) if np.linalg.matrix_rank(np.vstack([equations, np.eye(n)[at]])) > rank]
    assert undecided(dict.fromkeys(pairs, 1000), n) == several


def answers(n, *columns):
    item = np.repeat(np.arange(n), len(columns))
    return item, np.tile(np.arange(len(columns)), n), np.stack(columns, axis=1).ravel()


def test_members_that_repeat_each_other():
    rng = np.random.default_rng(0)
    one, copied, other = rng.integers(0, 3, (3, 100))
    item, member, answer = answers(100, copied, one, copied, other, copied)
    (group,) = never_differing(item, member, answer, 100, 5)
    assert group.tolist() == [0, 2, 4]
    changed = answer.copy()
    changed[[0, 4]] = (changed[[0, 4]] + [1, 2]) % 3  # the first and the last differ once
    assert never_differing(item, member, changed, 100, 5) == []
    few = item < ENOUGH_SHARED - 1
    assert never_differing(item[few], member[few], answer[few], 100, 5) == []


def test_members_who_differ_are_in_no_group_with_a_third_who_agrees_with_both():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 3, (2, 120))
    other[:60] = one[:60]
    item, member, answer = answers(120, one, one, other)
    asked = ~((member == 1) & (item >= 60))  # the second answers only where the first and the third agree
    (group,) = never_differing(item[asked], member[asked], answer[asked], 120, 3)
    assert group.tolist() == [0, 1]


def test_members_that_hardly_anybody_contradicts_are_no_copies():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 40)
    columns = [np.where(rng.random(40) < 0.97, truth, 1 - truth) for _ in range(6)]
    assert never_differing(*answers(40, truth, truth, *columns), 40, 8) == []


def test_members_that_always_give_the_same_answer():
    n = ENOUGH_SHARED
    _, member, answer = answers(n, np.zeros(n, dtype=int), np.arange(n) % 2, np.ones(n, dtype=int))
    assert constant_members(member, answer, 4).tolist() == [True, False, True, False]
    assert not constant_members(member[:-3], answer[:-3], 4).any()  # too few to know


@pytest.mark.parametrize("share", [1.0, 0.6, 0.05])
def test_shared_items_are_the_same_from_dense_and_sparse_products(share, monkeypatch):
    item, member = np.nonzero(np.random.default_rng(0).random((60, 40)) < share)
    found = overlap.shared_items(item, member, 60, 40).toarray()
    monkeypatch.setattr(overlap, "_DENSE_NUMBERS", 0)
    np.testing.assert_array_equal(found, overlap.shared_items(item, member, 60, 40).toarray())
    seen = np.zeros((60, 40))
    seen[item, member] = 1
    np.testing.assert_array_equal(found, (seen.T @ seen) * (1 - np.eye(40)))
