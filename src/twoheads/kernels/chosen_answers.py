"""Some of the answers: those that are kept, and those of one annotator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers, item_of_answers, pack_answers, pack_values
from twoheads.kernels.arrays import MISSING, Codes, Floats


def kept_answers(
    answers: Answers, kept: NDArray[np.bool_], values: Floats | None = None
) -> tuple[Answers, Floats | None]:
    """Some of the answers, and their values; ``kept`` has an entry per entry of ``answers.column``."""
    kept = kept & (answers.column != MISSING)
    item, column, n_items = item_of_answers(answers)[kept], answers.column[kept], len(answers)
    packed = pack_answers(item, column, n_items)
    return packed, None if values is None else pack_values(item, column, values[kept], n_items)


def answer_of(answers: Answers, annotator: int, n_classes: int) -> Codes:
    """The class that one annotator answered on each item, (n_items,); MISSING without an answer."""
    own = np.flatnonzero((answers.column != MISSING) & (answers.column // n_classes == annotator))
    label = np.full(len(answers), MISSING)
    label[item_of_answers(answers)[own]] = answers.column[own] % n_classes
    return label
