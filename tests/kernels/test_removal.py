"""The points at which answers are left out, and what is between them, against rows at the answers' own weights."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.confusion import HierarchicalConfusion
from twoheads.kernels.confusion.removal import EXACT, HEAVIEST, Removals


def points(removals):
    return removals.column, removals.truth, removals.weight


def interpolated(confusion, column, truth, weight):
    removals = Removals.of_answers([(column * 3 + truth, weight)], 3)
    rows = confusion.leave_one_out_rows(*points(removals))
    point, share = removals.places(column, truth, weight)
    return removals, sum(part * rows(at, None) for at, part in zip(point, share, strict=True))


def answers(n_people, n, rng, weight):
    truth = np.tile(rng.integers(3, size=n), n_people)
    answer = np.where(rng.random(n * n_people) < 0.7, truth, rng.integers(3, size=n * n_people))
    column, weight = np.repeat(np.arange(n_people), n) * 3 + answer, np.tile(weight, n_people)
    counts = np.zeros((n_people * 3, 3))
    np.add.at(counts, (column, truth), weight)
    return HierarchicalConfusion().fit_counts(counts.reshape(n_people, 3, 3)), column, truth, weight


def test_few_weights_of_a_cell_are_points_themselves():
    cell, weight = np.array([4, 4, 0, 4, 0]), np.array([2.0, 1.0, 3.0, 2.0, 3.0])
    removals = Removals.of_answers([(cell[:2], weight[:2]), (cell[2:], weight[2:])], 3)
    assert [each.tolist() for each in points(removals)] == [[0, 1, 1], [0, 1, 1], [3.0, 1.0, 2.0]]
    point, share = removals.places(np.array([1, 0, 1]), np.array([1, 0, 1]), np.array([2.0, 3.0, 1.0]))
    used = (share * point).sum(axis=0)
    assert used.tolist() == [2.0, 0.0, 1.0]
    assert share.sum(axis=0).tolist() == [1.0, 1.0, 1.0]


def test_answers_of_the_weight_1_have_one_point_a_cell():
    removals = Removals.of_cells(np.array([0, 5]), 3)
    assert len(removals.number) == 1
    point, share = removals.places(np.array([1, 0, 1]), np.array([2, 0, 2]), None)
    assert point[0].tolist() == [1, 0, 1]
    assert share.tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.parametrize("n_people", [1, 3])
@pytest.mark.parametrize("draw", ["uniform", "lognormal", "pareto"])
def test_between_points_rows_are_those_at_the_own_weight(n_people, draw):
    rng = np.random.default_rng(2)
    weight = {
        "uniform": rng.uniform(0.5, 10.0, 400),
        "lognormal": rng.lognormal(1.0, 1.0, 400),
        "pareto": 1.0 + rng.pareto(1.2, 400),
    }[draw]
    confusion, column, truth, own = answers(n_people, 400, rng, weight)
    removals, found = interpolated(confusion, column, truth, own)
    assert len(removals.column) <= EXACT * 9 * n_people < len(column)
    exact = confusion.leave_one_out_rows(column, truth, own)(np.arange(len(column)), None)
    np.testing.assert_allclose(np.log(found), np.log(exact), atol=1e-9)
    heavy = np.argsort(-own)[:HEAVIEST]
    np.testing.assert_allclose(found[:, heavy], exact[:, heavy], rtol=1e-12)


@pytest.mark.parametrize("blocks", [1, 7])
def test_points_do_not_depend_on_blocks(blocks):
    rng = np.random.default_rng(3)
    cell, weight = rng.integers(9, size=300), rng.uniform(1, 5, 300)
    whole = Removals.of_answers([(cell, weight)], 3)
    parts = Removals.of_answers(list(zip(np.array_split(cell, blocks), np.array_split(weight, blocks), strict=True)), 3)
    for one, other in zip(points(whole), points(parts), strict=True):
        np.testing.assert_array_equal(one, other)
