"""A block: items as the arrays that kernels take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers, joined_answers, joined_values, rows_of_values, take_values
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.chosen_answers import kept_answers


@dataclass(frozen=True, slots=True)
class Block:
    """Items as arrays.

    log_proba   (n_classes, n_items) log of the model's probabilities, normalised and floored; of several models their
                mean, normalised; uniform for an item without a model row
    answers     the annotators' answers
    true_label  (n_items,) codes, MISSING where unknown; None if no truth is known
    target      (n_classes, n_items) probabilities of the true class; None if there are no soft targets
    weight      (n_items,) or None for weights of 1
    unsure      responses "unsure": columns are annotators; None if there are none
    confidence  (n_answers,) a number per entry of ``answers.column``, NaN where there is none; None if there are none
    members     one (n_classes, n_items) per model if there are several, as ``log_proba``; NaN where a model has no row
    no_model    (n_items,) which items have no model row; None if all have one
    number      (n_items,) the items' numbers in the table, from 0; None if not needed
    fold        (n_items,) the items' folds for cross-fitting; None where these follow from ``number``
    own_weight  (n_items,) the weight of each item itself, where ``weight`` is that of those it represents, or 0 for a
                stage that passes over it; None where they are the same
    model_errors  (n_models + 1, n_items) errors of each of several models, and of their mean, on items of known truth
                whose models were then pooled; None otherwise
    """

    log_proba: Floats
    answers: Answers | None = None
    true_label: Codes | None = None
    target: Floats | None = None
    weight: Floats | None = None
    unsure: Answers | None = None
    confidence: Floats | None = None
    members: tuple[Floats, ...] = ()
    no_model: NDArray[np.bool_] | None = None
    number: Codes | None = None
    fold: Codes | None = None
    own_weight: Floats | None = None
    model_errors: Floats | None = None

    @property
    def n_items(self) -> int:
        """How many items the block has."""
        return int(self.log_proba.shape[1])

    def total_weight(self) -> float:
        """The sum of the items' weights."""
        return float(self.n_items if self.weight is None else self.weight.sum())

    def weight_shares(self) -> Floats:
        """Each item's share of the total weight, (n_items,)."""
        return np.full(self.n_items, 1.0 / self.n_items) if self.weight is None else self.weight / self.weight.sum()

    def soft_target(self) -> Floats:
        """The target as probabilities, one-hot for a known truth, (n_classes, n_items)."""
        if self.target is not None:
            return self.target
        assert self.true_label is not None
        return one_hot(self.true_label, len(self.log_proba))

    def expected(self, values: Floats) -> Floats:
        """Mean of ``values`` (n_classes, n_items) under each item's target, (n_items,)."""
        if self.target is not None:
            return np.asarray(np.einsum("kn,kn->n", self.target, values))
        assert self.true_label is not None
        return np.asarray(values[self.true_label, np.arange(self.n_items)])

    def by_own_weight(self) -> Block:
        """The block with the weights of the items themselves, as they are in counts of all items."""
        return self if self.own_weight is None else replace(self, weight=self.own_weight, own_weight=None)

    def weighted_sum(self, per_item: Floats) -> float:
        """Sum of a number per item times the items' weights."""
        return float((per_item if self.weight is None else self.weight * per_item).sum())

    def has_answer(self) -> NDArray[np.bool_]:
        """Which items have an answer, "unsure" included, (n_items,)."""
        assert self.answers is not None
        answered = _has_any(self.answers)
        return answered if self.unsure is None else answered | _has_any(self.unsure)

    def single_source_items(self, *, has_model: bool) -> tuple[Codes, Codes]:
        """Items with a model row and no answer, and items without a model row.

        has_model  whether the team has a model; without one, the second group is empty
        """
        if self.no_model is None or not has_model:
            return np.flatnonzero(~self.has_answer()), np.empty(0, dtype=np.intp)
        return np.flatnonzero(~self.has_answer() & ~self.no_model), np.flatnonzero(self.no_model)

    def rows(self, rows: slice) -> Block:
        """Consecutive items, without a copy."""
        return self._select(rows, lambda answers: answers.rows(rows), rows_of_values)

    def take(self, items: Codes) -> Block:
        """The given items, in the given order."""
        return self._select(items, lambda answers: answers.take(items), take_values)

    def _select(self, items: Any, answers_of: Callable[[Answers], Answers], values_of: Callable[..., Floats]) -> Block:
        numbers = None if self.answers is None or self.confidence is None else (self.answers, self.confidence)
        return Block(
            self.log_proba[:, items],
            None if self.answers is None else answers_of(self.answers),
            None if self.true_label is None else self.true_label[items],
            None if self.target is None else self.target[:, items],
            None if self.weight is None else self.weight[items],
            None if self.unsure is None else answers_of(self.unsure),
            None if numbers is None else values_of(*numbers, items),
            tuple(member[:, items] for member in self.members),
            None if self.no_model is None else self.no_model[items],
            None if self.number is None else self.number[items],
            None if self.fold is None else self.fold[items],
            None if self.own_weight is None else self.own_weight[items],
            None if self.model_errors is None else self.model_errors[:, items],
        )


def without_annotators(block: Block, annotators: Sequence[int]) -> Block:
    """The block without what these annotators answered."""
    assert block.answers is not None
    kept = ~np.isin(block.answers.column // len(block.log_proba), annotators)
    answers, confidence = kept_answers(block.answers, kept, block.confidence)
    unsure = block.unsure
    if unsure is not None:
        unsure, _ = kept_answers(unsure, ~np.isin(unsure.column, annotators))
    return replace(block, answers=answers, confidence=confidence, unsure=unsure)


def _has_any(answers: Answers) -> NDArray[np.bool_]:
    """Which items have an answer, (n_items,)."""
    return answers.column != MISSING if answers.start is None else np.diff(answers.start) > 0


def joined(blocks: Sequence[Block]) -> Block:
    """Several blocks of one table as one block, in order."""
    if len(blocks) == 1:
        return blocks[0]

    def each(name: str) -> list[Any] | None:
        """A field of each block; None if it is None in all of them."""
        held = [getattr(block, name) for block in blocks]
        return None if all(value is None for value in held) else held

    def filled(name: str, value: Any) -> NDArray[Any] | None:
        held = each(name)
        if held is None:
            return None
        pairs = zip(held, blocks, strict=True)
        return np.concatenate([np.full(block.n_items, value) if array is None else array for array, block in pairs])

    answers, target, unsure = each("answers"), each("target"), each("unsure")
    confidence = None if answers is None else each("confidence")
    nobody = [Answers(np.full(block.n_items, MISSING)) for block in blocks]
    return Block(
        np.concatenate([block.log_proba for block in blocks], axis=1),
        None if answers is None else joined_answers(answers),
        filled("true_label", MISSING),
        None if target is None else np.concatenate(target, axis=1),
        filled("weight", 1.0),
        None if unsure is None else joined_answers([a or b for a, b in zip(unsure, nobody, strict=True)]),
        None if confidence is None or answers is None else joined_values(answers, confidence),
        tuple(np.concatenate(member, axis=1) for member in zip(*(block.members for block in blocks), strict=True)),
        filled("no_model", False),
        filled("number", MISSING),
        filled("fold", 0),
        None if each("own_weight") is None else _weights([block.by_own_weight() for block in blocks]),
        None if (errors := each("model_errors")) is None else np.concatenate(errors, axis=1),
    )


def _weights(blocks: Sequence[Block]) -> Floats:
    return np.concatenate([np.ones(block.n_items) if block.weight is None else block.weight for block in blocks])


def one_hot(label: Codes, n_classes: int) -> Floats:
    """1 at each item's label, 0 elsewhere, (n_classes, n_items)."""
    hot = np.zeros((n_classes, len(label)))
    hot[label, np.arange(len(label))] = 1.0
    return hot
