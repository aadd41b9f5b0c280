"""What was learnt of each person, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.insight.annotators import LEVEL
from twoheads.combination.insight.facts import crowd_facts
from twoheads.combination.insight.sentences import people_sentences
from twoheads.report.plain import plain

#: So many people are shown, those with most answers first; ``annotator_stats_`` has them all.
SHOWN = 20

_ONE = "One person answered, or people without names: there is nobody to compare."
_NOT_LEARNT = "This method does not learn what each person is worth."


def people_section(team: Any) -> dict[str, Any]:
    """Say how many answers each person gave, how often they are right, with 90 % interval, and what they tell."""
    if not hasattr(team, "annotation_counts_"):
        return {"available": False, "words": _NOT_LEARNT}
    if len(team.annotators_) < 2:
        return {"available": False, "words": _ONE}
    stats = team.annotator_stats_
    order = np.argsort(-stats["answers"], kind="stable")[:SHOWN]
    section: dict[str, Any] = {
        "available": True,
        "n_people": len(team.annotators_),
        "n_more": max(0, len(team.annotators_) - SHOWN),
        "level": LEVEL,
        "people": [{fact: values.tolist()[at] for fact, values in stats.items()} for at in order.tolist()],
    }
    section["words"] = " ".join(people_sentences(crowd_facts(team.result())["people"]))
    if not team.n_labelled_:
        section["words"] += " No truth was known: this is what the team believes, from how people agree."
    return plain(section)  # type: ignore[no-any-return]
