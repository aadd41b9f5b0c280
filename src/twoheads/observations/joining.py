"""Observations of several groups of items, concatenated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from twoheads.kernels.answers import Answers, joined_answers, joined_values
from twoheads.kernels.arrays import MISSING
from twoheads.observations.members import Scores
from twoheads.observations.observations import Observations


def joined_observations(parts: Sequence[Observations]) -> Observations:
    """The items of several blocks of one table."""
    first = parts[0]
    if len(parts) == 1:
        return first
    answers = [part.answers for part in parts]
    confidence = [part.confidence for part in parts]
    return replace(
        first,
        model_proba=tuple(np.concatenate(probas) for probas in zip(*(each.model_proba for each in parts), strict=True)),
        answers=joined_answers(answers),
        items=np.concatenate([part.items for part in parts]),
        unsure=_unsure(parts),
        confidence=None if all(each is None for each in confidence) else joined_values(answers, confidence),
        scores=_scores(parts),
    )


def _unsure(parts: Sequence[Observations]) -> Answers | None:
    if all(part.unsure is None for part in parts):
        return None
    return joined_answers([part.unsure or Answers(np.full(len(part), MISSING)) for part in parts])


def _scores(parts: Sequence[Observations]) -> Scores | None:
    found = [part.scores for part in parts if part.scores is not None]
    return replace(found[0], values=np.concatenate([scores.values for scores in found])) if found else None
