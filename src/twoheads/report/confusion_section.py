"""Which classes people take for which, as numbers: the confusion matrix with its uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from twoheads.kernels.arrays import Floats
from twoheads.observations.labels import label_text

#: With more classes than this the matrix itself is not told, only each class's accuracy and the pairs most confused.
WHOLE_MATRIX = 30
_PAIRS = 10
_ENOUGH = 4.5  # answers of a class: with fewer, nothing is said of it in words


def confusion_section(team: Any, *, fitted_on_same: bool = False) -> dict[str, Any]:
    """Say how often people name each class rightly, with intervals, and which pairs they confuse most.

    Intervals are those of a Beta posterior with Jeffreys' prior, Beta(1/2, 1/2), from the counts the team learnt from;
    they are soft counts where the truth was not known. ``used`` is what the team believes, with its own posterior's.
    ``fitted_on_same`` says whether those items are the ones that are judged.
    """
    confusion = getattr(team, "confusion_", None)
    counts = getattr(confusion, "counts_", None)
    if confusion is None or counts is None:
        return {"available": False, "words": "This method does not estimate how people confuse classes."}
    classes = [label_text(name) for name in team.classes_.tolist()]
    total = counts.reshape(-1, *counts.shape[-2:]).sum(axis=0)
    used = getattr(confusion, "crowd_given_true_", confusion.human_given_true_)
    seen, right = total.sum(axis=0), np.diag(total)
    low, high = jeffreys(right, seen)
    believed = confusion.accuracy_interval() if hasattr(confusion, "accuracy_interval") else None
    people = len(getattr(team, "annotators_", ("human",)))
    section: dict[str, Any] = {
        "available": True,
        "n_people": people,
        "n_answers": float(seen.sum()),
        "estimated": _estimated(team),
        "classes": [
            {
                "class": name,
                "n_seen": float(seen[at]),
                "n_right": float(right[at]),
                "accuracy": float(right[at] / seen[at]) if seen[at] > 0 else None,
                "low": float(low[at]),
                "high": float(high[at]),
                "used": float(used[at, at]),
                "used_low": None if believed is None else float(believed[0][at]),
                "used_high": None if believed is None else float(believed[1][at]),
            }
            for at, name in enumerate(classes)
        ],
        "pairs": _pairs(total, seen, classes),
        "human_given_true": np.asarray(used).tolist() if len(classes) <= WHOLE_MATRIX else None,
    }
    section["words"] = _words(section)
    if section["n_answers"]:
        which = "which it is also judged on here" if fitted_on_same else "not on those it is judged on here"
        section["words"] += f" All this is counted on the items the team was fitted on, {which}."
    return section


def _estimated(team: Any) -> str:
    """Whether the counts rest on estimated truth: "no", "partly" or "wholly"."""
    n_unlabelled = getattr(team, "n_unlabelled_", 0)
    if not n_unlabelled or getattr(team, "unlabelled_weight", 1.0) == 0:
        return "no"
    return "partly" if getattr(team, "n_labelled_", 0) else "wholly"


def jeffreys(right: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """95 % interval of shares ``right / seen`` under Jeffreys' prior."""
    right, seen = np.maximum(right, 0.0), np.maximum(seen, right)
    low, high = (np.asarray(beta.ppf(level, right + 0.5, seen - right + 0.5)) for level in (0.025, 0.975))
    return np.where(right > 0, low, 0.0), np.where(right < seen, high, 1.0)


def _pairs(counts: Floats, seen: Floats, classes: list[str]) -> list[dict[str, Any]]:
    """The pairs most often confused: by how often, then by the share of the class."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    share = wrong / np.maximum(seen, 1e-300)
    most = np.lexsort((-share.ravel(), -wrong.ravel()))[:_PAIRS]
    said, truth = np.unravel_index(most, wrong.shape)
    low, high = jeffreys(wrong[said, truth], seen[truth])
    return [
        {
            "truth": classes[j],
            "said": classes[i],
            "count": float(wrong[i, j]),
            "n_seen": float(seen[j]),
            "share": float(share[i, j]),
            "low": float(low[at]),
            "high": float(high[at]),
        }
        for at, (i, j) in enumerate(zip(said.tolist(), truth.tolist(), strict=True))
        if wrong[i, j] >= 0.5
    ]


def _words(section: dict[str, Any]) -> str:
    if not section["n_answers"]:
        return "No answer has been seen with its truth yet: what is believed of the human is the prior alone."
    one = section["n_people"] == 1
    who = "The human" if one else f"The {section['n_people']:,} people, taken together,"
    known = [entry for entry in section["classes"] if entry["n_seen"] >= _ENOUGH]
    said = []
    if section["estimated"] == "wholly":
        said.append("No truth was known: the counts here are the team's own estimates.")
    elif section["estimated"] == "partly":
        said.append("Where the truth was not known, the team's own estimate of it is counted.")
    if known:
        best, worst = max(known, key=lambda entry: entry["accuracy"]), min(known, key=lambda entry: entry["accuracy"])
        if best["accuracy"] > worst["accuracy"]:
            said.append(
                f"{who} {'names' if one else 'name'} “{best['class']}” most reliably "
                f"({100 * best['accuracy']:.0f} % right) and “{worst['class']}” least "
                f"({100 * worst['accuracy']:.0f} %)."
            )
    first = section["pairs"][0] if section["pairs"] else None
    if first is None:
        said.append(f"{who} never confused two classes in {section['n_answers']:,.0f} answers.")
    elif first["count"] >= 2.5:
        said.append(
            f"Shown a “{first['truth']}”, the answer was “{first['said']}” {first['count']:,.0f} times out of "
            f"{first['n_seen']:,.0f}, the mix-up seen most often."
        )
    else:
        said.append("No mix-up was seen often enough to tell it from a slip; more truth labels clear the picture.")
    return " ".join(said)
