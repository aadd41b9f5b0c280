"""Conditional independence of model and human: the two assessments in Kerrigan et al. (2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations, InvalidParameter, Problem
from twoheads.evaluation.inputs import (
    as_codes,
    as_labels,
    as_proba,
    as_truth,
    shared_classes,
    whole_number,
)
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.clustered_independence import (
    clustered_conditional_mutual_information,
    clustered_p_value,
    item_labels,
)
from twoheads.kernels.scoring import information
from twoheads.kernels.scoring.ties import top_shares
from twoheads.observations.checks import same_length
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityShift(Shown):
    """Mean probability that the model gives to the truth, per class, and its shift if the human is right.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    n_items, n_human_right : ndarray of shape (n_classes,)
        Items of the class, and those of them that the human labels correctly.
    mean_proba : ndarray of shape (n_classes,)
        Mean of ``m_y`` given Y = y; NaN for a class without items.
    mean_proba_human_right : ndarray of shape (n_classes,)
        Mean of ``m_y`` given Y = y and H = y; NaN if the human is never right. Up to chance it equals ``mean_proba`` if
        model and human are conditionally independent.
    largest_mean_proba : ndarray of shape (n_classes,)
        The maximum of ``mean_proba_human_right``: if the human were right as often, but on the items with the largest
        ``m_y``.
    """

    classes: NDArray[Any]
    n_items: Codes
    n_human_right: Codes
    mean_proba: Floats
    mean_proba_human_right: Floats
    largest_mean_proba: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Independence(Shown):
    """Mutual information of model and human labels, with and without the truth.

    Attributes
    ----------
    conditional_mutual_information, mutual_information : float
        ``I(M; H | Y)`` and ``I(M; H)`` of the frequencies, in units of log ``base``; chance alone makes them positive.
    by_chance : float
        Mean ``I(M; H | Y)`` over the permutations: what conditionally independent labels with these margins show.
    p_value : float
        ``(1 + #{permutations with as much or more}) / (1 + n_permutations)``; small if the labels are dependent.
    shift : ProbabilityShift or None
        The model's mean probability of the truth given the human's label; None if only labels were passed.
    """

    conditional_mutual_information: float
    mutual_information: float
    by_chance: float
    p_value: float
    shift: ProbabilityShift | None


def mutual_information(a: ArrayLike, b: ArrayLike, *, base: float = 2) -> float:
    """Plug-in mutual information of two labels, ``sum_ab p(a, b) log(p(a, b) / (p(a) p(b)))``.

    ``a`` and ``b`` hold a label per item, (n_items,), of any type; ``base`` is that of the logarithm.

    Examples
    --------
    >>> round(mutual_information(["x", "x", "y", "y"], [0, 0, 1, 1]), 6)
    1.0
    """
    first, second = _codes(a=a, b=b)
    return information.mutual_information(first, second) / _log_base(base)


def conditional_mutual_information(a: ArrayLike, b: ArrayLike, given: ArrayLike, *, base: float = 2) -> float:
    """Plug-in conditional mutual information, ``sum_c p(c) sum_ab p(a, b | c) log(p(a, b | c) / (p(a | c) p(b | c)))``.

    ``a``, ``b`` and ``given`` hold a label per item, (n_items,), of any type; ``base`` is that of the logarithm.

    Examples
    --------
    >>> conditional_mutual_information([0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1])
    0.0
    """
    first, second, condition = _codes(a=a, b=b, given=given)
    return information.conditional_mutual_information(first, second, condition) / _log_base(base)


def independence(
    model_label_or_proba: ArrayLike,
    human_label: ArrayLike,
    y: ArrayLike,
    *,
    item: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    n_permutations: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    base: float = 2,
) -> Independence:
    """Whether model and human are independent given the truth, as a combination by Bayes' rule assumes.

    Parameters
    ----------
    model_label_or_proba : array of shape (n_answers,) or (n_answers, n_classes)
        The model's labels, or its probabilities, of which the label is the most probable class; those tied are
        a label of their own.
    human_label, y : array of shape (n_answers,)
        The human's label and the truth.
    item : array of shape (n_answers,), optional
        The item of each answer, if some items have several; by default each row is an item of its own. Answers about
        one item resemble each other: shuffled one by one, they seem to depend on a model that is independent.
    classes : array of shape (n_classes,), optional
        The label of each column; by default as in `twoheads.evaluation.metrics`.
    n_permutations : int
        Number of shuffles of the human's labels among the items of the same true class; all answers about an item
        stay together.
    random_state : int, numpy Generator or None
        Seed of the shuffles; the same seed gives the same p-value.
    base : float
        Base of the logarithm; 2 gives bits, as in the paper.

    Examples
    --------
    >>> y = [0] * 8 + [1] * 8
    >>> human = [0, 0, 0, 0, 1, 1, 1, 1] * 2
    >>> found = independence(human, human, y)  # they always agree, whatever the truth
    >>> round(found.conditional_mutual_information, 6), round(found.mutual_information, 6), found.p_value < 0.01
    (1.0, 1.0, True)
    """
    log_base, size = _log_base(base), whole_number(n_permutations, "n_permutations")
    model, answer, truth, shift = _labels_and_shift(model_label_or_proba, human_label, y, classes)
    observed = information.conditional_mutual_information(model, answer, truth)
    rng = np.random.default_rng(random_state)
    if item is None:
        by_chance = information.permuted_conditional_mutual_information(model, answer, truth, size, rng)
    else:
        by_chance = _permuted_by_item(model, answer, truth, _item_codes(item, model, truth), size, rng)
    return Independence(
        conditional_mutual_information=observed / log_base,
        mutual_information=information.mutual_information(model, answer) / log_base,
        by_chance=float(by_chance.mean()) / log_base,
        p_value=clustered_p_value(observed, by_chance),
        shift=shift,
    )


def _labels_and_shift(
    model_label_or_proba: ArrayLike, human_label: ArrayLike, y: ArrayLike, classes: ArrayLike | None
) -> tuple[Codes, Codes, Codes, ProbabilityShift | None]:
    """Codes of the model's label, the human's and the truth, (n_answers,) each; with probabilities, the shift."""
    human = as_labels(human_label, "human_label")
    if np.ndim(model_label_or_proba) == 1:
        labels = {
            "model_label_or_proba": as_labels(model_label_or_proba, "model_label_or_proba"),
            "human_label": human,
            "y": as_labels(y, "y"),
        }
        for name in ("human_label", "y"):
            same_length(name, labels[name].size, "model_label_or_proba", labels["model_label_or_proba"].size)
        named = shared_classes(labels, classes)
        model, answer, truth = (as_codes(values, named, name) for name, values in labels.items())
        return model, answer, truth, None
    proba = as_proba(model_label_or_proba, "model_label_or_proba")
    named, truth = as_truth(y, classes, len(proba), proba.shape[1], "model_label_or_proba")
    same_length("human_label", human.size, "model_label_or_proba", proba.shape[1])
    answer = as_codes(human, named, "human_label")
    shift = _shift(named, proba[truth, np.arange(truth.size)], answer == truth, truth)
    return _label_or_tie(proba), answer, truth, shift


def _label_or_tie(proba: Floats) -> Codes:
    """The most probable class, (n_items,); classes that are tied are a label of their own, whatever their order."""
    shares = top_shares(proba)
    label, tied = shares.argmax(axis=0), np.flatnonzero(shares.max(axis=0) < 1.0)
    if len(tied):
        label[tied] = len(proba) + np.unique(shares[:, tied], axis=1, return_inverse=True)[1].ravel()
    return np.asarray(label)


def _item_codes(item: ArrayLike, model: Codes, truth: Codes) -> Codes:
    """The code of each answer's item; all rows of an item must have one truth and one label of the model."""
    named = as_labels(item, "item")
    same_length("item", named.size, "model_label_or_proba", model.size)
    _, first, codes = np.unique(named, return_index=True, return_inverse=True)
    for argument, labels in (("y", truth), ("model_label_or_proba", model)):
        off = np.flatnonzero(labels != labels[first[codes]])
        if off.size:
            rule, found = "must be the same in all rows of an item", f"differs from row {first[codes[off[0]]]}"
            remedy = "Give each item a name of its own in item."
            raise InvalidObservations(Problem(argument, rule, int(off[0]), found, int(off.size), labels.size, remedy))
    return codes


def _permuted_by_item(
    model: Codes, answer: Codes, truth: Codes, item: Codes, size: int, rng: np.random.Generator
) -> Floats:
    """``I(M; H | Y)`` after shuffling whole items, ``size`` times; codes (n_answers,)."""
    n_items = int(item.max()) + 1
    if n_items == item.size:
        return information.permuted_conditional_mutual_information(model, answer, truth, size, rng)
    model_of_item, truth_of_item = (item_labels(item, codes, n_items) for codes in (_rank(model, truth), truth))
    return clustered_conditional_mutual_information(model_of_item, _rank(answer, truth), truth_of_item, item, size, rng)


def _rank(codes: Codes, truth: Codes) -> Codes:
    """Rank of each code among those that occur with the same truth: the information is the same, tables are smaller."""
    pairs, inverse = np.unique(truth * (codes.max() + 1) + codes, return_inverse=True)
    of_pair = pairs // (codes.max() + 1)
    return np.asarray((np.arange(len(pairs)) - np.searchsorted(of_pair, of_pair))[inverse])


def _shift(
    classes: NDArray[Any], truth_proba: Floats, human_right: NDArray[np.bool_], true_label: Codes
) -> ProbabilityShift:
    means = np.full((3, len(classes)), np.nan)
    for code in np.unique(true_label):
        here = true_label == code
        values, right = truth_proba[here], human_right[here]
        means[0, code] = values.mean()
        if right.any():
            means[1, code] = values[right].mean()
            means[2, code] = np.sort(values)[-np.count_nonzero(right) :].mean()
    n_items = np.bincount(true_label, minlength=len(classes))
    n_right = np.bincount(true_label[human_right], minlength=len(classes))
    return ProbabilityShift(classes, n_items, n_right, *means)


def _codes(**labels: ArrayLike) -> list[Codes]:
    values = {name: as_labels(entries, name) for name, entries in labels.items()}
    first = next(iter(values))
    for name in values:
        same_length(name, values[name].size, first, values[first].size)
    return [np.unique(entries, return_inverse=True)[1] for entries in values.values()]


def _log_base(base: float) -> float:
    if not (math.isfinite(base) and base > 1):
        raise InvalidParameter(f"base must be a number above 1; it is {base!r}.")
    return math.log(base)
