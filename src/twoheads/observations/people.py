"""Which of the answers are people's."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.answers import Answers, item_of_answers, pack_answers
from twoheads.kernels.arrays import MISSING
from twoheads.observations.observations import Observations


def people_in(observations: Observations) -> tuple[str, ...]:
    """The names of the annotators that are people, also of those who give scores."""
    scores = observations.scores
    scorers = () if scores is None else tuple(name for name in scores.names if name not in scores.machines)
    return (*(name for name in observations.annotators if name not in observations.machines), *scorers)


def answers_of_people(observations: Observations) -> Answers:
    """The answers without those of machines."""
    answers = observations.answers
    if not observations.machines:
        return answers
    is_machine = np.array([name in observations.machines for name in observations.annotators])
    there = answers.column != MISSING
    item, column = item_of_answers(answers)[there], answers.column[there]
    kept = ~is_machine[column // observations.n_classes]
    return pack_answers(item[kept], column[kept], len(answers))
