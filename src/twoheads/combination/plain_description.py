"""What the simpler teams, L+L and LR, have learnt, in numbers and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta

from twoheads.combination.description import percent
from twoheads.kernels.arrays import Floats
from twoheads.observations.labels import label_text

if TYPE_CHECKING:
    from twoheads.combination.label_label import LabelLabelCombiner
    from twoheads.combination.logistic import LogisticCombiner


def label_facts(team: LabelLabelCombiner, *, level: float = 0.95) -> dict[str, Any]:
    """What L+L has learnt: how often people and the model are right, ``[estimate, low, high]``."""
    return {
        "classes": [label_text(name) for name in team.classes_],
        "annotators": list(team.annotators_),
        "level": level,
        "human": _accuracy(team.confusion_.counts_.sum(axis=0), level),
        "model": _accuracy(team.model_counts_, level),
    }


def _accuracy(counts: Floats, level: float) -> dict[str, Any]:
    right, total = float(np.trace(counts)), float(counts.sum())
    # Beta(3, 1), as of people in `twoheads.combination.description`
    low, high = beta.interval(level, right + 3, total - right + 1)
    return {"answers": total, "accuracy": [(right + 3) / (total + 4), float(low), float(high)]}


def label_words(found: dict[str, Any]) -> list[str]:
    """The same in plain sentences."""
    level = percent(found["level"])
    said = ["L+L: people's labels and the model's label, each weighed by how often it is right, however sure it was."]
    for name, subject, verb in (("human", "People", "are"), ("model", "The model", "is")):
        n, (accuracy, low, high) = found[name]["answers"], found[name]["accuracy"]
        if n:
            said.append(
                f"{subject} {verb} right on {percent(accuracy)} of {n:,.0f} labels with truth "
                f"({level} interval: {percent(low)} to {percent(high)})."
            )
        else:
            said.append(f"{subject} {verb} not measured: there was no label with truth.")
    return said


def logistic_facts(team: LogisticCombiner) -> dict[str, Any]:
    """What LR has learnt: what the model's log-odds and an answer add to the log-odds of their class, on average."""
    n_classes = len(team.classes_)
    weights = team.coef_.reshape(n_classes, -1, n_classes)  # [class, model or person, class that is spoken for]
    own = np.einsum("jpj->pj", weights)
    others = (weights.sum(axis=0) - own) / (n_classes - 1)
    shown = np.isfinite(team.intercept_)
    gain = (own - others)[:, shown].mean(axis=1)
    names = [label_text(name) for name in team.classes_]
    return {
        "classes": names,
        "annotators": list(team.annotators_),
        "features": team.features,
        "weights": int(team.coef_.size + team.intercept_.size),
        "without_label": [name for name, known in zip(names, shown, strict=True) if not known],
        "weight_of_model": float(gain[0]),
        "weight_of_answer": dict(zip(team.annotators_, gain[1:].tolist(), strict=True)),
    }


def logistic_words(found: dict[str, Any]) -> list[str]:
    """The same in plain sentences."""
    answer = np.mean(list(found["weight_of_answer"].values()))
    if found["features"] == "log":
        features = "log-odds"
        count = f"the model's log-odds count {found['weight_of_model']:.2f} times, and an answer adds {answer:.2f}"
    else:
        features = "probabilities"
        count = f"a model's probability of 1 adds {found['weight_of_model']:.2f}, and an answer {answer:.2f},"
    said = [
        f"LR: a logistic regression of the truth on the model's {features} and people's answers, with "
        f"{found['weights']:,} weights for {len(found['classes']):,} classes.",
        f"On average {count} to the log-odds of its class.",
    ]
    if found["without_label"]:
        some = ", ".join(map(repr, found["without_label"][:3]))
        more = f" and {len(found['without_label']) - 3:,} more" if len(found["without_label"]) > 3 else ""
        said.append(f"No label showed {some}{more}: it is never predicted.")
    return said
