"""Statistics of each person."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.insight.annotators import LEVEL
from twoheads.combination.insight.sentences import people_sentences
from twoheads.evaluation.team import ProfilesAnnotators, Team, people_of
from twoheads.report.plain import plain
from twoheads.report.sections.common import unavailable

#: How many people are shown, those with most answers first; ``annotator_stats_`` has them all.
MAX_PEOPLE = 20


def people_section(team: Team) -> dict[str, Any]:
    """Number of answers, accuracy with its 90 % interval, agreement and information of each person."""
    if not isinstance(team, ProfilesAnnotators):
        return unavailable("This method has no statistics of each person.")
    people = people_of(team)
    if len(people) < 2:
        return unavailable("One person answered, or people without names: there is nobody to compare.")
    of_people = np.isin(np.array(team.annotators_, dtype=object), people)
    stats = {fact: values[of_people] for fact, values in team.annotator_stats_.items()}
    order = np.argsort(-stats["answers"], kind="stable")[:MAX_PEOPLE]
    words = " ".join(people_sentences(team.facts()["people"]))
    if not team.n_labelled_:
        words += " No truth was known: these are estimates from how people agree."
    section = {
        "available": True,
        "n_people": len(people),
        "n_more": max(0, len(people) - MAX_PEOPLE),
        "level": LEVEL,
        "people": [{fact: values.tolist()[at] for fact, values in stats.items()} for at in order.tolist()],
        "words": words,
    }
    return plain(section)  # type: ignore[no-any-return]
