"""The items to look at first, each with the reasons for its label as log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.evaluation import Predictions
from twoheads.evaluation.predictions import majority
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations import Observations
from twoheads.observations.labels import label_text

_LARGEST = 99.0  # log-odds beyond this are certainty


def items_section(team: Any, seen: Observations, given: Predictions, n_shown: int) -> dict[str, Any]:
    """List the items the combination is least sure of, and those where human and model disagree most firmly."""
    confidence = given.combined_proba.max(axis=1)
    unsure = np.argsort(confidence, kind="stable")[:n_shown]
    proba = given.model_proba if given.calibrated_proba is None else given.calibrated_proba
    apart = np.flatnonzero(
        (given.human_label != MISSING) & (given.model_label != MISSING) & (given.human_label != given.model_label)
    )
    firm = apart[np.argsort(-proba[apart].max(axis=1), kind="stable")[:n_shown]]
    n_both = int(((given.human_label != MISSING) & (given.model_label != MISSING)).sum())
    least_sure, disagreements = _listed(team, seen, given, unsure), _listed(team, seen, given, firm)
    kinds = {part["kind"] for entry in least_sure + disagreements for part in entry["parts"] or []}
    return {
        "available": True,
        "corrected": "other" in kinds,
        "explained": hasattr(team, "explain"),
        "n_disagreements": len(apart),
        "n_both": n_both,
        "least_sure": least_sure,
        "disagreements": disagreements,
        "words": _words(len(apart), n_both),
    }


def _listed(team: Any, seen: Observations, given: Predictions, rows: Codes) -> list[dict[str, Any]]:
    if len(rows) == 0:
        return []
    some, shown = given.take(rows), seen.take(rows)
    classes = [label_text(name) for name in given.classes.tolist()]
    second = np.argsort(-some.combined_proba, axis=1, kind="stable")[:, 1]
    parts = _parts(team, shown, second)
    # Were the first class in a tie the truth, its error would be the chance that the lot falls on another.
    tied = majority(shown, np.maximum(some.human_label, 0))[1] > 0
    listed = []
    for at in range(len(rows)):
        label = int(some.combined_label[at])
        listed.append(
            {
                "item": label_text(some.items[at]),
                "row": int(rows[at]),
                "human": _name(classes, some.human_label[at]),
                "n_answers": int(shown.answers.per_item()[at]),
                "tied": bool(tied[at]),
                "model": _name(classes, some.model_label[at]),
                "model_confidence": float(some.model_proba[at].max()) if some.has_model[at] else None,
                "combined": classes[label],
                "confidence": float(some.combined_proba[at, label]),
                "runner_up": classes[int(second[at])],
                "runner_up_probability": float(some.combined_proba[at, second[at]]),
                "truth": _name(classes, some.true_label[at]),
                "parts": None if parts is None else parts[at],
            }
        )
    return listed


def _parts(team: Any, seen: Observations, second: Codes) -> list[list[dict[str, Any]]] | None:
    """What each member adds to the log-odds of each item's label against the runner-up; None without `explain`."""
    if not hasattr(team, "explain"):
        return None
    item = np.arange(len(second))
    why = {name: np.asarray(part)[item, second] for name, part in team.explain(seen).parts.items()}
    kept = [
        {
            name: float(np.clip(np.nan_to_num(value[at], posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST))
            for name, value in why.items()
        }
        for at in range(len(second))
    ]
    spoke = {name: bool(np.any(value != 0.0)) for name, value in why.items()}
    return [
        [
            {"who": name, "kind": _kind(name, seen), "log_odds": value}
            for name, value in entry.items()
            if value != 0.0 or (len(entry) <= 3 and spoke[name])
        ]
        for entry in kept
    ]


def _kind(name: str, seen: Observations) -> str:
    return "human" if name in seen.annotators else "model" if name in (*seen.models, "model") else "other"


def _name(classes: list[str], code: int) -> str | None:
    return None if code == MISSING else classes[int(code)]


def _words(n_apart: int, n_both: int) -> str:
    if n_both == 0:
        return "No item has both a human's answer and a model's row, so there are no disagreements to look at."
    return (
        f"Human and model disagree on {n_apart:,} of {n_both:,} items. "
        "A second look at the items below tells more than a look at any others."
    )
