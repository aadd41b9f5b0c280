"""Folds and samples by what items are, not by where they stand, nor by what annotators and classes are called.

Alike items are dealt out, one fold after the other. Which of them goes where does not matter, for they are the same; so
the order of rows does not either. Annotators and classes are known by marks: by how they answered, or were answered.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from twoheads.kernels.answers import Answers, item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.numerics.sampling import Hashes, item_hashes, keys_of, leading_bits, mixed_bits

#: By which answers, confidences, truth and "unsure" are told apart.
_ANSWER, _CONFIDENCE, _TRUTH, _UNSURE, _WEIGHT = (
    np.array([factor], dtype=np.uint64)
    for factor in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7, 0xF1357AEA2E62A9C5)
)
#: All bits of a number but its sign.
_SIZE = np.uint64(0x7FFFFFFFFFFFFFFF)
#: A weight of 1 is the same as none.
_ONE = np.ones(1).view(np.uint64)


def name_hashes(names: tuple[str, ...]) -> Hashes:
    """64 bits of each name, the same in every process."""
    digests = b"".join(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


class Marks(NamedTuple):
    """What annotators and classes are known by: sums over answers, modulo 2^64, that no name and no order changes.

    annotators  (n_annotators,)
    classes     (n_classes,)
    """

    annotators: Hashes
    classes: Hashes


def marks_of(block: Block, n_annotators: int) -> Marks:
    """The marks by the items of a block: add up over blocks.

    An answer counts by how many others, and how many of the same, are on its item, and whether it is right.
    """
    assert block.answers is not None
    n_classes, on_item = len(block.log_proba), block.answers.per_item()
    item, person, label = _answers_of(block)
    truth = np.full(block.n_items, MISSING) if block.true_label is None else block.true_label
    known = np.flatnonzero(truth != MISSING)
    of_item = (4 * on_item + (truth != MISSING)).astype(np.uint64) * _TRUTH
    of_truth = on_item[known].astype(np.uint64) * _UNSURE
    if block.weight is not None:
        weight = _weight_bits(block)
        of_item, of_truth = of_item + weight, of_truth + weight[known]
    own = of_item[item]
    own += (truth[item] == label) * _TRUTH
    own += _times_on_item(item * n_classes + label, block.answers).astype(np.uint64) * _ANSWER
    own = mixed_bits(own)
    classes = _added(mixed_bits(of_truth), truth[known], n_classes) + _added(own, label, n_classes)
    return Marks(_added(own, person, n_annotators), classes)


def alike_hashes(block: Block, annotators: Hashes) -> Hashes:
    """64 bits of each item's answers and weight without what the classes are, (n_items,).

    Known of an answer is only who gave it, whether it is right, and how confident they were, without the sign: that of
    a level of scores changes with the order of the classes.

    annotators  (n_annotators,) a hash of each one's name, or its mark
    """
    item, _, _, own = _own_bits(block, annotators)
    return mixed_bits(_of_items(block, annotators, own, item))


def content_hashes(block: Block, annotators: Hashes, classes: Hashes) -> Hashes:
    """64 bits of each item's answers, truth and weight, (n_items,).

    annotators  (n_annotators,) a hash of each one's name, or its mark
    classes     (n_classes,) likewise
    """
    assert block.true_label is not None
    item, label, sign, own = _own_bits(block, annotators)
    called = _added(mixed_bits(own + classes[label] * _ANSWER + sign), item, block.n_items)
    truth = np.append(classes, np.uint64(0))[block.true_label] * _TRUTH
    return mixed_bits(_of_items(block, annotators, own, item) + called + truth)


def places(n_classes: int) -> Hashes:
    """Classes by their order, in place of marks."""
    return np.arange(1, n_classes + 1, dtype=np.uint64)


def _own_bits(block: Block, annotators: Hashes) -> tuple[Codes, Codes, Hashes, Hashes]:
    """Item, label, sign of the confidence and own bits of each answer."""
    assert block.answers is not None
    assert block.true_label is not None
    item, person, label = _answers_of(block)
    sure = _bits(block.confidence, block.answers)[_there(block.answers)]
    right = label == block.true_label[item]
    own = mixed_bits(annotators[person] + (sure & _SIZE) * _CONFIDENCE + right.astype(np.uint64))
    return item, label, sure & ~_SIZE, own


def _of_items(block: Block, annotators: Hashes, own: Hashes, item: Codes) -> Hashes:
    return _added(own, item, block.n_items) + _unsure(block.unsure, annotators, block.n_items) + _weight_bits(block)


def _times_on_item(cell: Codes, answers: Answers) -> Codes:
    """How often each answer is given on its item; cell is the number of item and answer."""
    return np.ones(len(cell), dtype=np.intp) if answers.start is None else np.bincount(cell)[cell]


def _answers_of(block: Block) -> tuple[Codes, Codes, Codes]:
    """Item, annotator and label of each answer."""
    assert block.answers is not None
    there = _there(block.answers)
    person, label = np.divmod(block.answers.column[there], len(block.log_proba))
    return item_of_answers(block.answers)[there], person, label


def _there(answers: Answers) -> Any:
    """Which entries of the column are answers; without a copy where all are."""
    return answers.column != MISSING if answers.start is None else slice(None)


def _weight_bits(block: Block) -> Hashes:
    if block.weight is None:
        return np.zeros(block.n_items, dtype=np.uint64)
    return np.asarray((block.weight.view(np.uint64) - _ONE) * _WEIGHT)


def dealt_folds(content: Hashes, alike: Hashes, n_folds: int) -> Codes:
    """The fold of each item, (n_items,): those of the same content in turn, from one on that follows from ``alike``."""
    order = np.argsort(content, kind="stable")
    first = np.searchsorted(content[order], content[order])
    turn = np.empty(len(content), dtype=np.intp)
    turn[order] = np.arange(len(content)) - first
    return np.asarray((turn + (alike % np.uint64(n_folds)).astype(np.intp)) % n_folds)


def folds_in_turn(block: Block, names: Hashes, n_folds: int) -> Codes:
    """The fold of each labelled item, (n_items,): in turn, by keys that no other item changes.

    Items of the same key differ by who is right, and by how many of the same content came before. What is the same in
    this too shares a fold: to tell it apart would take the names of the classes, or the order of rows.

    names  (n_annotators,) a hash of each one's name
    """
    content = content_hashes(block, names, places(len(block.log_proba)))
    alike = alike_hashes(block, marks_of(block, len(names)).annotators)
    key = keys_of(item_hashes(block), block.weight)
    turn = _places(content, alike, key)[1]
    return np.asarray(_places(turn, alike, key)[0] % n_folds)


def _places(*by: Codes | Hashes | Floats) -> tuple[Codes, Codes]:
    """The rank of each item by the last of these first, the same for equal ones; and how many equal come before."""
    order = np.lexsort(by)
    new = np.any([each[order[1:]] != each[order[:-1]] for each in by], axis=0)
    rank = np.concatenate([np.zeros(min(1, len(order)), dtype=np.intp), np.cumsum(new)])
    place, turn = np.empty((2, len(order)), dtype=np.intp)
    place[order], turn[order] = rank, np.arange(len(order)) - np.searchsorted(rank, rank)
    return place, turn


def sample_hashes(block: Block, names: Hashes, marks: Marks) -> tuple[Hashes, Hashes]:
    """Two times 64 bits of each item, (n_items,).

    Samples are drawn by the first, which knows no names; the second tells apart what it cannot: by marks, then by
    confidences, by each model's row, of which the rest knows the mean, and at last by names.

    names  (n_annotators,) a hash of each one's name
    marks  of all items
    """
    truth = np.full(block.n_items, MISSING) if block.true_label is None else block.true_label
    whole = replace(block, log_proba=_mean(block), members=(), true_label=truth)
    # Confidences that are all the same, and a model that is there twice, say nothing: they change no sample.
    unsaid = replace(whole, confidence=None)
    own = item_hashes(whole) + alike_hashes(unsaid, marks.annotators)
    marked = content_hashes(unsaid, *marks)
    if block.no_model is not None:
        own = np.where(block.no_model, marked, own)
    marked = mixed_bits(marked + _row_hashes(whole.log_proba, marks.classes))
    sure = mixed_bits(marked + content_hashes(whole, *marks))
    members, named = np.zeros_like(own), content_hashes(whole, names, places(len(block.log_proba)))
    for rows in block.members:
        members = mixed_bits(members * _CONFIDENCE + _row_hashes(rows, marks.classes))
    for row in whole.log_proba:
        named = mixed_bits(named * _CONFIDENCE + leading_bits(row))
    return mixed_bits(own), _leading((marked, sure, members, named))


def _row_hashes(log_proba: Floats, classes: Hashes) -> Hashes:
    """64 bits of each item's row, whatever the order of the classes, whose marks are given."""
    bits = (mixed_bits(leading_bits(row) * _CONFIDENCE + mark) for mark, row in zip(classes, log_proba, strict=True))
    return np.asarray(sum(bits, start=np.zeros(log_proba.shape[1], dtype=np.uint64)))


def _leading(hashes: tuple[Hashes, Hashes, Hashes, Hashes]) -> Hashes:
    """16 bits of each, by which items are ordered: by those of the first, then of the second, and so on."""
    total = np.zeros_like(hashes[0])
    for each in hashes:
        total = (total << np.uint64(16)) | (each >> np.uint64(48))
    return total


def _mean(block: Block) -> Floats:
    """The mean of the models' log-probabilities as given, (n_classes, n_items), over those that have a row."""
    if not block.members:
        return block.log_proba
    there = ~np.isnan(block.members[0][0]) * 1.0
    total, number = np.nan_to_num(block.members[0]), there
    for member in block.members[1:]:
        total, number = total + np.nan_to_num(member), number + ~np.isnan(member[0])
    return np.asarray(total / np.maximum(number, 1.0))


def content_order(own: Hashes, content: Hashes) -> Codes:
    """Items in an order by chance that depends on what they are only; alike ones are spread over it.

    own, content  (n_items,) as `sample_hashes` gives them
    """
    order = np.argsort(own, kind="stable")
    again = np.flatnonzero(own[order[1:]] == own[order[:-1]])
    if not len(again):
        return order
    alike = order[np.union1d(again, again + 1)]
    alike = alike[np.lexsort((content[alike], own[alike]))]
    turn = np.arange(len(alike)) - np.searchsorted(own[alike], own[alike])
    key = own.copy()
    key[alike] = np.where(turn > 0, mixed_bits(own[alike] + turn.astype(np.uint64) * _ANSWER), own[alike])
    return np.lexsort((content, key))


def _bits(confidence: Floats | None, answers: Answers) -> Hashes:
    if confidence is None:
        return np.zeros(len(answers.column), dtype=np.uint64)
    return np.where(np.isnan(confidence), np.pi, confidence + 0.0).view(np.uint64)  # neither NaN nor 0 in two ways


def _unsure(unsure: Answers | None, annotators: Hashes, n_items: int) -> Hashes:
    if unsure is None:
        return np.zeros(n_items, dtype=np.uint64)
    there = unsure.column != MISSING
    return _added(mixed_bits(annotators[unsure.column[there]] + _UNSURE), item_of_answers(unsure)[there], n_items)


def _added(values: Hashes, item: Codes, n_items: int) -> Hashes:
    """The sum of values by item, modulo 2^64: the order of answers does not matter."""
    total = np.zeros(n_items, dtype=np.uint64)
    np.add.at(total, item, values)
    return total
