"""What a team has learnt of many people, of how they answer, and of several models, in numbers and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta

from twoheads.combination.annotators import LEVEL
from twoheads.kernels.confusion.annotators import accuracy_prior
from twoheads.observations.labels import label_text
from twoheads.text import count

if TYPE_CHECKING:
    from twoheads.combination.probability_label import ProbabilityLabelCombiner

#: With fewer answers whose truth is known or believed, a person is not named as the best or the least reliable.
ENOUGH_ANSWERS = 10

#: "Unsure" that is so many times as likely under one class as under another tells something.
TELLING = 1.5


def crowd_facts(team: ProbabilityLabelCombiner) -> dict[str, Any]:
    """``people`` and ``models`` where there are several, ``several_answers`` on an item, ``confidence``, ``unsure``."""
    found: dict[str, Any] = {}
    if len(team.annotators_) > 1:
        found["people"] = _people(team)
    if team.dependence_ is not None and team.answering_[1].any():
        found["several_answers"] = {"correlation": team.dependence_.correlation_}
    if team.manner_ is not None:
        found |= _manner(team)
    if team.pool_ is not None:
        found["models"] = dict(zip(team.models_, team.pool_.weight_.tolist(), strict=True))
    return found


def _people(team: ProbabilityLabelCombiner) -> dict[str, Any]:
    stats = team.annotator_stats_
    counts = team.confusion_.counts_
    prior = accuracy_prior(np.trace(counts, axis1=1, axis2=2), stats["judged"])
    low, high = beta.interval(LEVEL, *prior)
    people: dict[str, Any] = {"n": len(team.annotators_), "level": LEVEL, "accuracy": [float(low), float(high)]}
    enough = np.flatnonzero(stats["judged"] >= ENOUGH_ANSWERS)
    people["with_enough_answers"] = len(enough)
    if len(enough) > 1:
        order = enough[np.argsort(stats["accuracy"][enough], kind="stable")]
        for name, at in (("most_reliable", order[-1]), ("least_reliable", order[0])):
            facts = ("annotator", "judged", "accuracy", "accuracy_low", "accuracy_high")
            people[name] = {fact: stats[fact].tolist()[at] for fact in facts}
    return people


def _manner(team: ProbabilityLabelCombiner) -> dict[str, Any]:
    manner, n_classes = team.manner_, len(team.classes_)
    assert manner is not None
    found: dict[str, Any] = {}
    counts = manner.counts_[:-1].reshape(n_classes, manner.n_symbols, n_classes)
    if len(manner.bounds_):
        right, total = np.einsum("ili->l", counts)[:-1], counts.sum(axis=(0, 2))[:-1]
        shares = np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)
        found["confidence"] = {
            "begins": manner.bounds_.tolist(),
            "answers": total.tolist(),
            "right": [None if np.isnan(share) else float(share) for share in shares],
        }
    said = float(manner.counts_[-1].sum())
    if said:
        names = [label_text(name) for name in team.classes_]
        found["unsure"] = {
            "said": said,
            "given_true": dict(zip(names, manner.unsure_given_true_.tolist(), strict=True)),
        }
    return found


def crowd_words(found: dict[str, Any]) -> list[str]:
    """The same in plain sentences."""
    said = []
    if "people" in found:
        said += people_words(found["people"])
    if "several_answers" in found:
        said.append(_several_words(found["several_answers"]["correlation"], found["labelled"]))
    if "confidence" in found:
        said += _confidence_words(found["confidence"])
    if "unsure" in found:
        said.append(_unsure_words(found["unsure"]))
    if "models" in found:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in found["models"].items())
        said.append(f"What the {len(found['models'])} models say is averaged with these weights: {weights}.")
    return said


def people_words(people: dict[str, Any]) -> list[str]:
    """How far people differ, and who is the most and the least reliable."""
    low, high = people["accuracy"]
    said = [
        f"The {people['n']:,} people differ: nine in ten are believed to be right on {_percent(low)} to "
        f"{_percent(high)} of their answers."
    ]
    if "most_reliable" not in people:
        return [*said, f"Nobody can be singled out: that takes two people with {ENOUGH_ANSWERS} answers each."]
    best, least = people["most_reliable"], people["least_reliable"]
    told = "" if best["accuracy_low"] > least["accuracy_high"] else "; their answers do not tell the two apart yet"
    enough = people["with_enough_answers"]
    of = "" if enough == people["n"] else f" of the {enough:,} with enough answers"
    return [*said, f"The most reliable{of} is {_person(best)}, the least {_person(least)}{told}."]


def _person(person: dict[str, Any]) -> str:
    interval = f"{_percent(person['accuracy_low'])} to {_percent(person['accuracy_high'])}"
    judged = count(person["judged"], "judged answer")
    return f"{person['annotator']} ({_percent(person['accuracy'])}, {interval}, from {judged})"


def _several_words(correlation: float, labelled: int) -> str:
    worth = 5 / (1 + 4 * correlation)
    why = "" if labelled else ", as in crowds in general"
    alike = f"Several answers on one item resemble each other beyond the truth (r = {correlation:.2f}{why})"
    return f"{alike}: five count for {worth:.1f}."


def _confidence_words(confidence: dict[str, Any]) -> list[str]:
    shares = [share for share in confidence["right"] if share is not None]
    if len(shares) < 2:
        return []
    levels = f"in the highest of {len(confidence['right'])} levels of confidence"
    return [f"Answers {levels} are right on {_percent(shares[-1])}, in the lowest on {_percent(shares[0])}."]


def _unsure_words(unsure: dict[str, Any]) -> str:
    given = unsure["given_true"]
    most, least = max(given, key=given.__getitem__), min(given, key=given.__getitem__)
    times = given[most] / given[least]
    said = f"“Unsure” was said {count(unsure['said'], 'time')} on items that could be judged"
    if times < TELLING:
        return f"{said}, about as often whatever is true: it hardly tells."
    return f"{said}: {times:.1f} times as readily where {most!r} is true as where {least!r} is."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
