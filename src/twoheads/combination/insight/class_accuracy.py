"""Sensitivity and specificity of each person for each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.insight.answer_rows import AnswerRows
from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.believed import BelievedShares, believed_shares
from twoheads.kernels.inference.people import Evidence, measured_ratios
from twoheads.kernels.inference.shrinkage import Shares, shrunk_shares

#: From a class, and whether it is to be the true one, to each person's share of answers that say so.
ClassShares = Callable[[int, bool], Shares | BelievedShares]


def class_stats(
    annotators: tuple[str, ...], classes: NDArray[Any], judged: Floats, shares_of: ClassShares, level: float
) -> dict[str, NDArray[Any]]:
    """A column per fact, an entry per class and person.

    ``sensitivity`` is the share of a person's answers about items of the class that name it, ``specificity`` that of
    the answers about other items that do not. ``judged`` counts the answers about items known to be of the class.
    ``kind`` is that of the sensitivity, ``specificity_kind`` that of the specificity: with truth of one class only, it
    is measured where there is but one other class.

    judged  (n_annotators, n_classes) how many answers there are about items known to be of each class
    """
    others = judged.sum(axis=1, keepdims=True) - judged
    if np.count_nonzero(judged.sum(axis=0)) == 1 < len(classes) - 1:
        others = np.zeros_like(others)
    judged, others = judged.T.ravel(), others.T.ravel()
    found: dict[str, NDArray[Any]] = {
        "annotator": np.tile(np.array(annotators, dtype=object), len(classes)),
        "class": np.repeat(classes, len(annotators)),
        "judged": judged,
        "kind": np.where(judged > 0, "measured", "believed").astype(object),
        "specificity_kind": np.where(others > 0, "measured", "believed").astype(object),
    }
    for fact, of_class in ("sensitivity", True), ("specificity", False):
        every = [shares_of(label, of_class) for label in range(len(classes))]
        ends = [shares.interval(level) for shares in every]
        found[fact] = np.concatenate([shares.mean for shares in every])
        for name, at in (("low", 0), ("high", 1)):
            found[f"{fact}_{name}"] = np.concatenate([end[at] for end in ends])
    return found


def shares_from_answers(answers: AnswerRows, n_classes: int) -> ClassShares:
    """From labelled answers and beliefs about the others; from beliefs alone without a label."""
    return partial(_from_answers, answers.labelled(), answers.unlabelled(), n_classes)


def shares_from_counts(counts: Floats, *, measured: bool) -> ClassShares:
    """From numbers of answers on labelled items, or EM's soft counts; (n_annotators, n_classes, n_classes)."""
    return partial(_from_counts, counts, measured)


def _from_answers(
    known: AnswerRows, rest: AnswerRows, n_classes: int, label: int, of_class: bool
) -> Shares | BelievedShares:
    matches, matches_elsewhere = ((each.label == label) == of_class for each in (known, rest))
    true = ((known.truth == label) == of_class).astype(np.float64)
    here, there = (_belief(each, label, of_class) for each in (known, rest))
    if not len(true):
        return believed_shares(rest.counts(there * matches_elsewhere), rest.counts(there))
    if known.of_one_class():
        if not (true.all() and (of_class or n_classes == 2)):
            return believed_shares(rest.counts(there * matches_elsewhere), rest.counts(there))
        rest = replace(rest, posterior=None).unlabelled()  # what is believed of items shows nothing of this class
        matches_elsewhere, there = np.zeros(0, dtype=bool), np.zeros(0)
    top = Evidence(true * matches, here * matches, there * matches_elsewhere)
    return measured_ratios(top, Evidence(true, here, there), known.by_person(), rest.by_person())


def _from_counts(counts: Floats, measured: bool, label: int, of_class: bool) -> Shares | BelievedShares:
    classes = np.arange(counts.shape[2])
    true = counts[:, :, (classes == label) == of_class].sum(axis=2)
    right, count = true[:, (classes == label) == of_class].sum(axis=1), true.sum(axis=1)
    return shrunk_shares(right, count) if measured else believed_shares(right, count)


def _belief(answers: AnswerRows, label: int, of_class: bool) -> Floats:
    belief = answers.belief(label)
    return belief if of_class or answers.posterior is None else 1.0 - belief
