"""Answers where the classes are in another order."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.answers import Answers, item_of_answers, pack_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats


def permute_classes(answers: Answers, place: Codes) -> Answers:
    """The same answers with class ``a`` renumbered ``place[a]``; answers are classes."""
    column = _permuted(answers, place)
    if answers.start is None:
        return Answers(column)
    return pack_answers(item_of_answers(answers), column, len(answers))


def permute_values(answers: Answers, place: Codes, values: Floats) -> Floats:
    """A number per entry of ``answers.column``, in the order of `permute_classes`."""
    if answers.start is None:
        return values
    return values[np.lexsort((_permuted(answers, place), item_of_answers(answers)))]


def _permuted(answers: Answers, place: Codes) -> Codes:
    annotator, answer = np.divmod(answers.column, len(place))
    return np.where(answers.column == MISSING, MISSING, annotator * len(place) + place[answer])
