"""Folds by the content of items: even, and independent of rows, of annotators and of the names of classes."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from twoheads.kernels.answers import pack_answers
from twoheads.kernels.blocks import Block
from twoheads.kernels.numerics.content import (
    alike_hashes,
    content_hashes,
    content_order,
    dealt_folds,
    folds_in_turn,
    marks_of,
    name_hashes,
    places,
    sample_hashes,
)

N_ITEMS, N_PEOPLE = 400, 3
NAMES = name_hashes(("ann", "bob", "cid"))


def block(label, truth, confidence=None):
    """Items that everyone answered, (n_items, n_people) labels of two classes."""
    item, person = np.divmod(np.arange(label.size), label.shape[1])
    answers = pack_answers(item, person * 2 + label.ravel(), len(label))
    return Block(np.full((2, len(label)), np.log(0.5)), answers, truth, confidence=confidence)


def some(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(2, size=(N_ITEMS, N_PEOPLE)), rng.integers(2, size=N_ITEMS)


def folds(label, truth, names=NAMES):
    given = block(label, truth)
    alike = alike_hashes(given, marks_of(given, N_PEOPLE).annotators)
    return dealt_folds(content_hashes(given, names, places(2)), alike, 10)


def by_kind(label, truth, fold):
    """How many items of each content are in each fold, (n_kinds, n_folds)."""
    counts = np.zeros((2 ** (N_PEOPLE + 1), 10), dtype=int)
    np.add.at(counts, (np.column_stack([label, truth]) @ 2 ** np.arange(N_PEOPLE + 1), fold), 1)
    return counts


def test_items_that_look_alike_go_to_all_folds_in_turn():
    label, truth = some()
    counts = by_kind(label, truth, folds(label, truth))
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert counts.sum() == N_ITEMS


def test_the_order_of_items_and_of_annotators_does_not_matter():
    label, truth = some()
    expected = by_kind(label, truth, folds(label, truth))
    order = np.random.default_rng(1).permutation(N_ITEMS)
    np.testing.assert_array_equal(by_kind(label[order], truth[order], folds(label[order], truth[order])), expected)
    swapped = folds(label[:, ::-1], truth, NAMES[::-1])
    np.testing.assert_array_equal(swapped, folds(label, truth))


def test_the_names_of_classes_do_not_matter():
    label, truth = some()
    np.testing.assert_array_equal(folds(1 - label, 1 - truth), folds(label, truth))


def test_the_names_of_annotators_do_not_matter():
    label, truth = some()
    others = name_hashes(("zoe", "abe", "mia"))
    np.testing.assert_array_equal(folds(label, truth, others), folds(label, truth))
    given = block(label, truth)
    np.testing.assert_array_equal(folds_in_turn(given, others, 5), folds_in_turn(given, NAMES, 5))


def test_samples_depend_on_neither_names_nor_classes():
    # Items without a model, of which two people answered a part each: nothing but answers tells items apart.
    label, truth = some()
    person = np.array([0, 1, 2, 0])[np.arange(N_ITEMS) % 4]
    found = []
    for who, called in (((0, 1, 2), (0, 1)), ((2, 0, 1), (1, 0))):
        column = np.array(who)[person] * 2 + np.array(called)[label[:, 0]]
        given = Block(
            np.full((2, N_ITEMS), np.log(0.5)),
            pack_answers(np.arange(N_ITEMS), column, N_ITEMS),
            np.array(called)[truth],
            no_model=np.ones(N_ITEMS, dtype=bool),
        )
        own, content = sample_hashes(given, NAMES, marks_of(given, N_PEOPLE))
        rows = content_order(own, content)[:50]
        found.append(np.unique(np.column_stack([person, label[:, 0], truth])[rows], axis=0, return_counts=True))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_marks_add_up_over_blocks():
    label, truth = some()
    whole, parts = marks_of(block(label, truth), N_PEOPLE), (slice(0, 150), slice(150, None))
    found = [marks_of(block(label[rows], truth[rows]), N_PEOPLE) for rows in parts]
    for one, first, second in zip(whole, *found, strict=True):
        np.testing.assert_array_equal(one, first + second)


def test_all_that_a_fit_sees_of_an_item_is_content():
    label, truth = np.zeros((1, N_PEOPLE), dtype=int), np.array([0])
    sure = np.array([0.5, np.nan, 0.0])
    given = block(label, truth, sure)
    others = [
        block(label, 1 - truth, sure),
        block(1 - label, 1 - truth, sure),
        block(label, truth, sure[::-1].copy()),
        replace(given, weight=np.array([2.0])),
        replace(given, unsure=pack_answers(np.array([0]), np.array([1]), 1)),
    ]
    hashes = {int(content_hashes(each, NAMES, places(2))[0]) for each in (given, *others)}
    assert len(hashes) == len(others) + 1
    assert alike_hashes(given, NAMES) == alike_hashes(others[1], NAMES)


def test_hashes_of_names_are_the_same_in_every_process():
    assert name_hashes(("ann",)).tolist() == [int.from_bytes(blake2b(b"ann", digest_size=8).digest(), "little")]
    assert len(name_hashes(())) == 0


def in_turn(label, truth, weight=None):
    return folds_in_turn(replace(block(label, truth), weight=weight), NAMES, 5)


def test_folds_in_turn_are_even_within_each_content():
    label, truth = some()
    counts = by_kind(label, truth, in_turn(label, truth))[:, :5]
    assert counts.sum() == N_ITEMS
    assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1


def test_folds_in_turn_depend_on_neither_rows_nor_names_of_classes():
    label, truth = some()
    weight = np.random.default_rng(1).integers(1, 3, N_ITEMS).astype(float)
    fold, order = in_turn(label, truth, weight), np.random.default_rng(2).permutation(N_ITEMS)
    np.testing.assert_array_equal(
        by_kind(label[order], truth[order], in_turn(label[order], truth[order], weight[order])),
        by_kind(label, truth, fold),
    )
    np.testing.assert_array_equal(in_turn(1 - label, 1 - truth, weight), fold)


def test_folds_in_turn_of_few_items_by_hand():
    same = np.zeros((4, N_PEOPLE), dtype=int)  # four times the same item: one fold after the other
    assert sorted(in_turn(same, same[:, 0]).tolist()) == [0, 1, 2, 3]
    all_right = np.array([[0] * N_PEOPLE, [1] * N_PEOPLE])  # told apart by the names of their classes alone
    assert in_turn(all_right, all_right[:, 0]).tolist() == [0, 0]


def test_without_answers_marks_take_no_room_for_every_class():
    nobody = Block(np.broadcast_to(np.log(0.001), (1000, 5000)), pack_answers(np.empty(0, int), np.empty(0, int), 5000))
    marks_of(nobody, 0)
    tracemalloc.start()
    marks_of(nobody, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000  # an array of items by classes is 40 MB
