"""Which classes people confuse: the confusion matrix with its uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from twoheads.combination.insight.annotators import SHOWN_LEVEL
from twoheads.confusion.base import Confusion
from twoheads.evaluation.leakage import HELD_OUT, NOT_RECOGNISED, UNKNOWN
from twoheads.evaluation.team import MeasuresPeople, Team, confusion_of, people_of
from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import ratio
from twoheads.kernels.inference.intervals import jeffreys_interval
from twoheads.observations.labels import label_text
from twoheads.report.plain import plain
from twoheads.report.sections.common import unavailable
from twoheads.text import count, listed, percent

#: With more classes than this, each class's accuracy and the most confused pairs are given in place of the matrix.
MAX_MATRIX = 30
_MAX_PAIRS = 10
_MIN_ANSWERS = 4.5  # answers of a class, for a sentence about it
_MIN_CONFUSIONS = 2.5  # of a pair, to be more than a slip
_MIN_BELIEVED = 0.05  # share of a class's answers, for a pair that is believed to be confused


_SAME_ITEMS = ", the same items it is evaluated on here"


def confusion_section(team: Team, *, status: str = HELD_OUT) -> dict[str, Any]:
    """Answers for each true class, with intervals, and the most confused pairs.

    All of it is of one ``kind``: "measured" counts the answers on items of known truth, "believed" are the team's
    shares where there is no truth. Measured shares have counts and Jeffreys' interval, believed ones have neither: what
    the team counts is what answers are worth without truth, far less than one each. A class without an answer has no
    share. ``used`` is another number: the team's own estimate, counts and prior together, with the interval of its
    posterior, in which weighted answers are as many as they are worth. ``status`` is how the items that the team is
    evaluated on relate to those it has learnt from.
    """
    confusion = confusion_of(team)
    if confusion is None:
        return unavailable("This method does not estimate how people confuse classes.")
    classes = [label_text(name) for name in team.classes_.tolist()]
    names = set(people_of(team))
    people = [at for at, name in enumerate(team.annotators_) if name in names]
    if not people:
        return unavailable("Only models gave labels or scores: there are no answers of people.")
    confusion = confusion.of(people)
    counts, kind, effect = _counts(team, confusion, people)
    total = counts.sum(axis=0)
    shares = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    measured = kind == "measured"
    section: dict[str, Any] = {
        "available": True,
        "n_people": len(people),
        "n_answers": float(counts.sum()) if measured else None,
        "kind": kind,
        "classes": _classes(counts, confusion, classes, effect if measured else None, _unit(team)),
        "pairs": _pairs(counts, classes, effect if measured else None),
        "human_given_true": plain(shares) if len(classes) <= MAX_MATRIX else None,
    }
    return section | {"words": " ".join(_sentences(section, status))}


def _counts(team: Team, confusion: Confusion, people: list[int]) -> tuple[Floats, str, Floats]:
    """Answers by true class, (n_classes, n_classes), of all people; of what kind they are, and their design effect.

    Weighted answers about a class add up to their number; the effect, (n_classes,), is as many of them as one counts.
    """
    counted = confusion.counts_.reshape(-1, *confusion.counts_.shape[-2:]).sum(axis=0)
    ones = np.ones(len(counted))
    if not isinstance(team, MeasuresPeople):
        return counted / _unit(team), "measured", ones
    known = team.labelled_counts_[people].sum(axis=0)
    if not known.any():
        return counted, "believed", ones
    per_weight = ratio(team.labelled_numbers_[people].sum(axis=0), known.sum(axis=0), 1.0)
    return known * per_weight, "measured", team.people_accuracy_.effect * per_weight


def _unit(team: Team) -> Floats:
    """Weight of one answer about each class, by Kish's number of them, (n_classes,) or (1,); 1 without weights."""
    return (
        team.people_accuracy_.unit if isinstance(team, MeasuresPeople) else np.atleast_1d(getattr(team, "unit_", 1.0))
    )


def _interval(right: Floats, total: Floats, effect: Floats | None) -> tuple[list[float | None], list[float | None]]:
    """95 % intervals of shares ``right / total`` under Jeffreys' prior; None where nothing was seen, or measured."""
    if effect is None:
        return [None] * len(total), [None] * len(total)
    ends = jeffreys_interval(right / effect, total / effect, SHOWN_LEVEL)
    low, high = ([value if n > 0 else None for value, n in zip(end.tolist(), total, strict=True)] for end in ends)
    return low, high


def _used_interval(confusion: Confusion, unit: Floats) -> tuple[Floats, Floats]:
    """Interval of the team's own estimate for each class, of as many answers as weighted ones are worth.

    The estimate counts weights as rows; the posterior of ``counts / unit`` does not. Both ends are no further than it.

    unit  (n_classes,) weight of one answer, by Kish's number of them
    """
    if (unit == 1.0).all():
        return confusion.accuracy_interval(SHOWN_LEVEL)
    counts = getattr(confusion, "crowd_counts_", confusion.counts_.sum(axis=0))
    low, high = clone(confusion).fit_counts(counts[None] / unit).accuracy_interval(SHOWN_LEVEL)
    used = np.diagonal(confusion.crowd_given_true_)
    return np.minimum(low, used), np.maximum(high, used)


def _classes(
    counts: Floats, confusion: Confusion, classes: list[str], effect: Floats | None, unit: Floats
) -> list[dict[str, Any]]:
    total, right = counts.sum(axis=0), np.diag(counts)
    low, high = _interval(right, total, effect)
    used_low, used_high = _used_interval(confusion, unit)
    return [
        {
            "class": name,
            "n_seen": None if effect is None else float(total[at]),
            "n_right": None if effect is None else float(right[at]),
            "accuracy": float(right[at] / total[at]) if total[at] > 0 else None,
            "low": low[at],
            "high": high[at],
            "used": float(confusion.crowd_given_true_[at, at]),
            "used_low": float(used_low[at]),
            "used_high": float(used_high[at]),
        }
        for at, name in enumerate(classes)
    ]


def _pairs(counts: Floats, classes: list[str], effect: Floats | None) -> list[dict[str, Any]]:
    """The pairs most often confused: by count, then by the share of the true class; believed ones by their share.

    ``frequent`` are those that are more than a slip.
    """
    total = counts.sum(axis=0)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    by_size = counts if effect is not None else share
    off_diagonal = ~np.eye(len(classes), dtype=bool)
    answer, truth = np.nonzero(off_diagonal & (by_size >= (0.5 if effect is not None else _MIN_BELIEVED)))
    most = np.lexsort((-share[answer, truth], -by_size[answer, truth]))[:_MAX_PAIRS]
    answer, truth = answer[most], truth[most]
    low, high = _interval(counts[answer, truth], total[truth], None if effect is None else effect[truth])
    return [
        {
            "truth": classes[j],
            "said": classes[i],
            "count": None if effect is None else float(counts[i, j]),
            "n_seen": None if effect is None else float(total[j]),
            "share": float(share[i, j]),
            "low": low[at],
            "high": high[at],
            "frequent": effect is None or bool(counts[i, j] >= _MIN_CONFUSIONS),
        }
        for at, (i, j) in enumerate(zip(answer.tolist(), truth.tolist(), strict=True))
    ]


def _sentences(section: dict[str, Any], status: str) -> list[str]:
    if all(entry["accuracy"] is None for entry in section["classes"]):
        return ["No answer has a known truth yet: what the team uses is the prior alone."]
    if section["kind"] == "believed":
        return [
            "No truth was known: all shares are what the team believes, on the items it was fitted on.",
            *_on_classes(section),
            *_on_believed_pairs(section),
        ]
    same = {HELD_OUT: ", not those it is evaluated on here", NOT_RECOGNISED: "", UNKNOWN: ""}
    return [
        *_on_classes(section),
        _on_pairs(section),
        *_on_unseen(section),
        f"All counts are of the items with truth the team was fitted on{same.get(status, _SAME_ITEMS)}.",
    ]


def _on_unseen(section: dict[str, Any]) -> list[str]:
    unseen = [f"“{entry['class']}”" for entry in section["classes"] if entry["accuracy"] is None]
    return [f"Nobody answered about an item with truth of {listed(unseen, 3)}."] if unseen else []


def _on_classes(section: dict[str, Any]) -> list[str]:
    known = [
        entry
        for entry in section["classes"]
        if entry["accuracy"] is not None and (entry["n_seen"] is None or entry["n_seen"] >= _MIN_ANSWERS)
    ]
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
        return f"No two classes were confused in {count(section['n_answers'], 'answer')}."
    if not first["frequent"]:
        return "No confusion is frequent enough to be more than a slip; more truth labels would show."
    return (
        f"The most frequent confusion: of {first['n_seen']:,.0f} answers on a “{first['truth']}”, "
        f"{first['count']:,.0f} were “{first['said']}”."
    )


def _on_believed_pairs(section: dict[str, Any]) -> list[str]:
    if not section["pairs"]:
        return []
    first = section["pairs"][0]
    return [
        f"The most frequent confusion: {percent(first['share'])} of answers on a “{first['truth']}” are believed to be "
        f"“{first['said']}”."
    ]
