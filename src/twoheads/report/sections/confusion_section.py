"""Which classes people confuse: the confusion matrix with its uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from twoheads.evaluation.team import CountsLabels, Team, UsesUnlabelled, confusion_of, people_of
from twoheads.kernels.arrays import Floats
from twoheads.observations.labels import label_text
from twoheads.report.sections.common import unavailable
from twoheads.text import percent

#: With more classes than this, each class's accuracy and the most confused pairs are given in place of the matrix.
MAX_MATRIX = 30
_MAX_PAIRS = 10
_MIN_ANSWERS = 4.5  # answers of a class, for a sentence about it
_MIN_CONFUSIONS = 2.5  # of a pair, for a sentence about it


def confusion_section(team: Team, *, fitted_on_same: bool = False) -> dict[str, Any]:
    """Accuracy on each class, with intervals, and the most confused pairs.

    Intervals are those of a Beta posterior with Jeffreys' prior, Beta(1/2, 1/2), from the counts of the fit, which are
    soft counts for items of unknown truth. ``used`` is the team's own estimate, with the interval of its posterior.
    ``fitted_on_same`` is whether the team is also evaluated on those items.
    """
    confusion = confusion_of(team)
    if confusion is None:
        return unavailable("This method does not estimate how people confuse classes.")
    classes = [label_text(name) for name in team.classes_.tolist()]
    people = people_of(team)
    if not people:
        return unavailable("Only models gave labels or scores: there are no answers of people.")
    counts = confusion.counts_.reshape(-1, *confusion.counts_.shape[-2:])
    if len(people) < len(team.annotators_):
        counts = counts[[name in people for name in team.annotators_]]
    counts = counts.sum(axis=0)
    section: dict[str, Any] = {
        "available": True,
        "n_people": len(people),
        "n_answers": float(counts.sum()),
        "estimated": _estimated(team),
        "classes": _classes(counts, confusion.crowd_given_true_, confusion.accuracy_interval(), classes),
        "pairs": _pairs(counts, classes),
        "human_given_true": confusion.crowd_given_true_.tolist() if len(classes) <= MAX_MATRIX else None,
    }
    return section | {"words": " ".join(_sentences(section, fitted_on_same=fitted_on_same))}


def jeffreys(right: Floats, total: Floats) -> tuple[Floats, Floats]:
    """95 % interval of shares ``right / total`` under Jeffreys' prior."""
    right, total = np.maximum(right, 0.0), np.maximum(total, right)
    low, high = (np.asarray(beta.ppf(level, right + 0.5, total - right + 0.5)) for level in (0.025, 0.975))
    return np.where(right > 0, low, 0.0), np.where(right < total, high, 1.0)


def _estimated(team: Team) -> str:
    """Whether the counts rest on estimated truth: "no", "partly" or "wholly"."""
    if not isinstance(team, CountsLabels) or not team.n_unlabelled_:
        return "no"
    if isinstance(team, UsesUnlabelled) and team.unlabelled_weight == 0:
        return "no"
    return "partly" if team.n_labelled_ else "wholly"


def _classes(
    counts: Floats, used: Floats, used_interval: tuple[Floats, Floats], classes: list[str]
) -> list[dict[str, Any]]:
    total, right = counts.sum(axis=0), np.diag(counts)
    low, high = jeffreys(right, total)
    used_low, used_high = used_interval
    return [
        {
            "class": name,
            "n_seen": float(total[at]),
            "n_right": float(right[at]),
            "accuracy": float(right[at] / total[at]) if total[at] > 0 else None,
            "low": float(low[at]),
            "high": float(high[at]),
            "used": float(used[at, at]),
            "used_low": float(used_low[at]),
            "used_high": float(used_high[at]),
        }
        for at, name in enumerate(classes)
    ]


def _pairs(counts: Floats, classes: list[str]) -> list[dict[str, Any]]:
    """The pairs most often confused: by count, then by the share of the true class."""
    total = counts.sum(axis=0)
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    share = wrong / np.maximum(total, 1e-300)
    most = np.lexsort((-share.ravel(), -wrong.ravel()))[:_MAX_PAIRS]
    answer, truth = np.unravel_index(most, wrong.shape)
    low, high = jeffreys(wrong[answer, truth], total[truth])
    return [
        {
            "truth": classes[j],
            "said": classes[i],
            "count": float(wrong[i, j]),
            "n_seen": float(total[j]),
            "share": float(share[i, j]),
            "low": float(low[at]),
            "high": float(high[at]),
        }
        for at, (i, j) in enumerate(zip(answer.tolist(), truth.tolist(), strict=True))
        if wrong[i, j] >= 0.5
    ]


def _sentences(section: dict[str, Any], *, fitted_on_same: bool) -> list[str]:
    if not section["n_answers"]:
        return ["No answer has a known truth yet: the estimate is the prior alone."]
    evaluated = "the same items it is evaluated on here" if fitted_on_same else "not those it is evaluated on here"
    return [
        *_on_estimates(section["estimated"]),
        *_on_classes(section),
        _on_pairs(section),
        f"All counts are of the items the team was fitted on, {evaluated}.",
    ]


def _on_estimates(estimated: str) -> list[str]:
    if estimated == "wholly":
        return ["No truth was known: the counts are the team's own estimates."]
    if estimated == "partly":
        return ["Items of unknown truth are counted by the team's own estimate of it."]
    return []


def _on_classes(section: dict[str, Any]) -> list[str]:
    known = [entry for entry in section["classes"] if entry["n_seen"] >= _MIN_ANSWERS]
    if not known:
        return []
    best, worst = max(known, key=lambda entry: entry["accuracy"]), min(known, key=lambda entry: entry["accuracy"])
    if best["accuracy"] == worst["accuracy"]:
        return []
    return [
        f"{_who(section)} most accurate on “{best['class']}” ({percent(best['accuracy'])} right) and least accurate on "
        f"“{worst['class']}” ({percent(worst['accuracy'])})."
    ]


def _who(section: dict[str, Any]) -> str:
    return "The human is" if section["n_people"] == 1 else f"The {section['n_people']:,} people together are"


def _on_pairs(section: dict[str, Any]) -> str:
    first = section["pairs"][0] if section["pairs"] else None
    if first is None:
        return f"No two classes were confused in {section['n_answers']:,.0f} answers."
    if first["count"] < _MIN_CONFUSIONS:
        return "No confusion is frequent enough to be more than a slip; more truth labels would show."
    return (
        f"The most frequent confusion: of {first['n_seen']:,.0f} answers on a “{first['truth']}”, "
        f"{first['count']:,.0f} were “{first['said']}”."
    )
