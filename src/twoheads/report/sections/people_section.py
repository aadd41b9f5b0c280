"""Statistics of each person."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.insight.annotators import SHOWN_LEVEL
from twoheads.combination.insight.crowd_sentences import people_sentences
from twoheads.evaluation import headline
from twoheads.evaluation.people import measured_people
from twoheads.evaluation.team import ProfilesAnnotators, Team, people_of
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations, people_in
from twoheads.report.plain import plain_dict
from twoheads.report.sections.common import unavailable
from twoheads.report.sections.people_by_class import people_by_class
from twoheads.text import count

#: How many people are shown, those with most answers; ``annotator_stats_`` has them all.
MAX_PEOPLE = 20


def people_section(
    team: Team, observations: Observations, truth: Codes, weight: Floats | None = None, *, fitted_on_same: bool = False
) -> dict[str, Any]:
    """Answers, accuracy with its interval, agreement and information of each person, the most accurate first.

    Accuracies are measured by the truth given here, and so are sensitivity and specificity, or with more than two
    classes the hardest class. Where there is none, accuracies are those of the fit, measured there or believed.
    """
    if max(len(people_in(observations)), len(people_of(team))) < 2:
        return unavailable("One person answered, or people without names: there is nobody to compare.")
    found = None
    if len(people_in(observations)) > 1:
        found = measured_people(team, observations, truth, weight, fitted_on_same=fitted_on_same)
    if found is not None:
        unseen = headline.unseen(observations.classes, truth[truth != MISSING])
        source = " ".join([f"Measured on {count(found.n_items, 'item')} with truth.", *unseen])
        positive, by_class = people_by_class(team, observations, truth, weight)
        section = _section(found.stats, found.facts, "these items", source)
        people = [person | by_class.get(person["annotator"], {}) for person in section["people"]]
        return plain_dict(section | {"positive": positive, "people": people})
    if not isinstance(team, ProfilesAnnotators) or len(people_of(team)) < 2:
        return unavailable("This method has no statistics of each person without truth.")
    facts, reason = team.facts()["people"], _why_not_measured(observations, truth)
    if facts["kind"] == "measured":
        source = f"{reason}: accuracies were measured on the items with truth of the fit."
    elif team.n_labelled_:
        source = (
            f"{reason}, and at fit people answered about no two classes of known truth: accuracies are what the team "
            "believes, from how people agree."
        )
    else:
        source = "No truth is known" if (truth == MISSING).all() else f"{reason}, and no truth was known at fit"
        source += ": accuracies are what the team believes, from how people agree."
    return _section(team.annotator_stats_at(SHOWN_LEVEL), facts, "the fit", source)


def _why_not_measured(observations: Observations, truth: Codes) -> str:
    """Why people cannot be measured here."""
    if (truth == MISSING).all():
        return "No truth is given for these items"
    if len(people_in(observations)) == 1:
        return "Only one person answered about these items"
    return "Nobody answered about these items with truth"


def _section(stats: dict[str, NDArray[Any]], facts: dict[str, Any], source: str, words: str) -> dict[str, Any]:
    n_people = len(stats["annotator"])
    shown = np.argsort(-stats["answers"], kind="stable")[:MAX_PEOPLE]
    order = shown[np.argsort(-stats["accuracy"][shown], kind="stable")]
    section = {
        "available": True,
        "n_people": n_people,
        "n_more": max(0, n_people - MAX_PEOPLE),
        "kind": facts["kind"],
        "source": source,
        "basis": words,
        "level": facts["level"],
        "positive": None,
        "people": [{fact: values.tolist()[at] for fact, values in stats.items()} for at in order.tolist()],
        "words": " ".join([words, *people_sentences(facts)]),
    }
    return plain_dict(section)
