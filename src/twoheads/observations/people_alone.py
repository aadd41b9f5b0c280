"""Which of the answers are people's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twoheads.kernels.answers import Answers
from twoheads.kernels.chosen_answers import kept_answers
from twoheads.observations.observations import Observations


def people_in(observations: Observations) -> tuple[str, ...]:
    """The names of the annotators that are people, also of those who give scores."""
    scores = observations.scores
    scorers = () if scores is None else tuple(name for name in scores.names if name not in scores.machines)
    return (*(name for name in observations.annotators if name not in observations.machines), *scorers)


def machines_in(observations: Observations) -> tuple[str, ...]:
    """The names of the members that are machines and give labels or scores."""
    return (*observations.machines, *(() if observations.scores is None else observations.scores.machines))


def answers_of_people(observations: Observations) -> Answers:
    """The answers without those of machines."""
    return without_machines(observations).answers


def without_machines(observations: Observations) -> Observations:
    """The observations without the answers of machines, which keep their numbers."""
    if not observations.machines:
        return observations
    is_person = np.array([name not in observations.machines for name in observations.annotators])
    answers, unsure = observations.answers, observations.unsure
    kept, confidence = kept_answers(
        answers, is_person[answers.column // observations.n_classes], observations.confidence
    )
    asked = None if unsure is None else kept_answers(unsure, is_person[unsure.column])[0]
    return replace(observations, answers=kept, confidence=confidence, unsure=asked)
