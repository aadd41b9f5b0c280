"""What the team costs beside its better half: answers of people, models, and labelled items."""

from __future__ import annotations

from typing import Any

from twoheads.combination.rivals import MODELS
from twoheads.confusion.score_levels import answered
from twoheads.evaluation.team import Team, levels_of, n_labelled_of
from twoheads.observations import Observations, answers_of_people, machines_in, people_in

_ONE_PERSON = ("person", "best_person")


def cost_section(team: Team, observations: Observations, better: str | None) -> dict[str, Any]:
    """Mean number of people's answers on an item, for the team and for the better half (its key), models and labels."""
    n_answers = answers_of_people(answered(observations, levels_of(team))).per_item()
    per_item = float(n_answers.mean()) if people_in(observations) and len(n_answers) else 0.0
    asked = dict.fromkeys(MODELS, 0.0) | {key: min(1.0, per_item) for key in _ONE_PERSON}
    return {
        "answers_per_item": per_item,
        "better_answers_per_item": None if better is None else asked.get(better, per_item),
        "n_models": len(observations.models if observations.model_proba else ()) + len(machines_in(observations)),
        "n_labelled": n_labelled_of(team),
    }
