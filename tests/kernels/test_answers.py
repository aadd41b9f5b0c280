"""The answer matrix S against the matrix itself, written out."""

import numpy as np
import pytest

from twoheads.kernels.answers import (
    Answers,
    answer_log_likelihood,
    hard_counts,
    pack_answers,
    permute_classes,
    soft_counts,
    sum_by_item,
)
from twoheads.kernels.arrays import MISSING

# 4 items, 2 people, 3 classes. Item 0: person 0 says 2, person 1 says 0; item 1: nobody; item 2: person 1 says 1;
# item 3: person 0 says 0 and later 2.
CROWD = Answers(np.array([2, 3, 4, 0, 2]), np.array([0, 2, 2, 3, 5]))
CROWD_S = np.array([[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0]])
ALONE = Answers(np.array([2, MISSING, 4, 0]))
ALONE_S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]])
BOTH = pytest.mark.parametrize(("answers", "matrix"), [(CROWD, CROWD_S), (ALONE, ALONE_S)])
TABLE = np.log(np.arange(1.0, 19.0).reshape(6, 3) / 19)


def written_out(answers):
    matrix = np.zeros((len(answers), 6), dtype=int)
    start = answers.start if answers.start is not None else np.arange(len(answers) + 1)
    for item in range(len(answers)):
        for column in answers.column[start[item] : start[item + 1]]:
            matrix[item, column] += column != MISSING
    return matrix


@BOTH
def test_how_many_answers_each_item_has(answers, matrix):
    assert answers.per_item().tolist() == matrix.sum(axis=1).tolist()


@BOTH
@pytest.mark.parametrize("rows", [slice(0, 4), slice(1, 3), slice(2, 4), slice(0, 0), slice(3, 9), slice(None)])
def test_consecutive_items(answers, matrix, rows):
    assert written_out(answers.rows(rows)).tolist() == matrix[rows].tolist()


@BOTH
@pytest.mark.parametrize("items", [[0, 1, 2, 3], [3, 0, 3], [1], []])
def test_items_in_any_order(answers, matrix, items):
    taken = answers.take(np.array(items, dtype=np.intp))
    assert len(taken) == len(items)
    assert written_out(taken).tolist() == matrix[items].tolist()


@BOTH
def test_items_without_their_answers(answers, matrix):
    items = np.array([True, True, False, False])
    assert written_out(answers.without(items)).tolist() == np.where(items[:, None], 0, matrix).tolist()


@BOTH
def test_log_likelihood_is_the_product_with_the_table(answers, matrix):
    np.testing.assert_allclose(answer_log_likelihood(answers, TABLE), (matrix @ TABLE).T, rtol=1e-14)


def test_an_impossible_answer_is_minus_infinity_and_never_nan():
    table = np.log(np.array([[1.0, 0.5], [1e-300, 0.5]]))
    table[1, 0] = -np.inf
    said = answer_log_likelihood(Answers(np.array([1, MISSING, 0])), table)
    assert said.tolist() == [[-np.inf, 0.0, 0.0], [np.log(0.5), 0.0, np.log(0.5)]]
    crowd = answer_log_likelihood(Answers(np.array([1, 0]), np.array([0, 2, 2])), table)
    assert crowd[:, 0].tolist() == [-np.inf, 2 * np.log(0.5)]
    assert crowd[:, 1].tolist() == [0.0, 0.0]


@BOTH
def test_soft_counts_are_the_product_with_the_responsibilities(answers, matrix):
    share = np.random.default_rng(0).dirichlet(np.ones(3), 4).T
    np.testing.assert_allclose(soft_counts(answers, share, 6), matrix.T @ share.T, atol=1e-15)
    weight = np.array([1.0, 0.0, 0.25, 2.0])
    expected = matrix.T @ (share * weight).T
    for order in "CF":
        found = soft_counts(answers, np.asarray(share, order=order), 6, weight)
        np.testing.assert_allclose(found, expected, atol=1e-15)


@BOTH
@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 3.0, 0.5])])
def test_hard_counts_are_soft_counts_of_known_truth(answers, matrix, weight):
    truth = np.array([1, 0, MISSING, 2])
    hot = np.zeros((4, 3))
    hot[[0, 1, 3], [1, 0, 2]] = 1.0 if weight is None else weight[[0, 1, 3]]
    counts = hard_counts(answers, truth, weight, 6, 3)
    assert counts.dtype == np.float64
    np.testing.assert_allclose(counts, matrix.T @ hot)


def test_hard_counts_where_all_is_known():
    assert hard_counts(Answers(np.array([0, 1, 1])), np.array([0, 0, 1]), None, 2, 2).tolist() == [[1, 0], [1, 1]]


def test_packing_is_the_same_in_any_order():
    item, column = np.array([3, 0, 2, 0, 3]), np.array([2, 3, 4, 2, 0])
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        packed = pack_answers(item[order], column[order], 4)
        assert packed.column.tolist() == CROWD.column.tolist()
        assert packed.start.tolist() == CROWD.start.tolist()


def test_packing_one_answer_per_item_at_most():
    packed = pack_answers(np.array([3, 0, 2]), np.array([0, 2, 4]), 4)
    assert packed.start is None
    assert packed.column.tolist() == [2, MISSING, 4, 0]
    assert pack_answers(np.array([], dtype=int), np.array([], dtype=int), 2).column.tolist() == [MISSING] * 2


@BOTH
def test_classes_may_change_their_places(answers, matrix):
    place = np.array([1, 2, 0])  # class 0 is now called 1, 1 is 2, 2 is 0
    moved = permute_classes(answers, place)
    expected = np.zeros_like(matrix)
    for person in (0, 3):
        expected[:, person + place] = matrix[:, person : person + 3]
    assert written_out(moved).tolist() == expected.tolist()


@BOTH
def test_sums_over_the_answers_of_each_item(answers, matrix):
    n_answers = int(matrix.sum())
    rows = np.arange(1.0, 2 * n_answers + 1).reshape(2, n_answers)
    item = np.repeat(np.arange(4), matrix.sum(axis=1))
    expected = np.array([[row[item == at].sum() for at in range(4)] for row in rows])
    assert sum_by_item(answers, rows).tolist() == expected.tolist()


def test_sums_of_no_answers_are_zeros_that_can_be_added_to():
    for nobody in (Answers(np.empty(0, np.intp), np.array([0, 0, 0])), Answers(np.full(2, MISSING))):
        total = sum_by_item(nobody, np.empty((3, 0)))
        total += 0.5
        assert total.tolist() == [[0.5, 0.5]] * 3
