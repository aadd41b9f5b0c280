"""The items to look at first, each with the contributions to its log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.confusion.score_levels import answered
from twoheads.evaluation import Predictions
from twoheads.evaluation.predictions import majority
from twoheads.evaluation.team import ExplainsItems, Team, levels_of
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.kernels.scoring.ties import agreement
from twoheads.observations import Observations, answers_of_people, machines_in, people_in
from twoheads.observations.labels import label_text
from twoheads.text import count

_MAX_LOG_ODDS = 99.0  # log-odds beyond this are certainty


def items_section(team: Team, observations: Observations, predicted: Predictions, n_shown: int) -> dict[str, Any]:
    """The items with the least confident combination, and the most confident disagreements of human and model."""
    least_confident = np.argsort(predicted.combined_proba.max(axis=1), kind="stable")[:n_shown]
    proba = predicted.model_proba if predicted.calibrated_proba is None else predicted.calibrated_proba
    both = (predicted.human_label != MISSING) & (predicted.model_label != MISSING)
    apart = np.flatnonzero(both & (agreement(predicted.human_shares, predicted.model_shares) == 0.0))
    confident = apart[np.argsort(-proba[apart].max(axis=1), kind="stable")[:n_shown]]
    least_sure = _entries(team, observations, predicted, least_confident)
    disagreements = _entries(team, observations, predicted, confident)
    kinds = {part["kind"] for entry in least_sure + disagreements for part in entry["parts"] or []}
    return {
        "available": True,
        "corrected": "other" in kinds,
        "explained": isinstance(team, ExplainsItems),
        "shown": {"human": bool(people_in(observations)), "model": bool(predicted.has_model.any())},
        "n_disagreements": len(apart),
        "n_both": int(both.sum()),
        "least_sure": least_sure,
        "disagreements": disagreements,
        "words": _sentence(len(apart), int(both.sum())),
    }


def _entries(team: Team, observations: Observations, predicted: Predictions, rows: Codes) -> list[dict[str, Any]]:
    if len(rows) == 0:
        return []
    shown, items = observations.take(rows), predicted.take(rows)
    classes = [label_text(name) for name in predicted.classes.tolist()]
    second = np.argsort(-items.combined_proba, axis=1, kind="stable")[:, 1]
    parts = _contributions(team, shown, second)
    # If the first class of a tie were the truth, its error would be the chance that the tie is broken otherwise.
    read = answered(shown, levels_of(team))
    tied = majority(read, np.maximum(items.human_label, 0))[1] > 0
    n_answers = answers_of_people(read).per_item()
    entries = []
    for at in range(len(rows)):
        label = int(items.combined_label[at])
        entries.append(
            {
                "item": label_text(items.items[at]),
                "row": int(rows[at]),
                "human": _name(classes, items.human_label[at]),
                "n_answers": int(n_answers[at]),
                "tied": bool(tied[at]),
                "model": _name(classes, items.model_label[at]),
                "model_confidence": float(items.model_proba[at].max()) if items.has_model[at] else None,
                "combined": classes[label],
                "confidence": float(items.combined_proba[at, label]),
                "runner_up": classes[int(second[at])],
                "runner_up_probability": float(items.combined_proba[at, second[at]]),
                "truth": _name(classes, items.true_label[at]),
                "parts": None if parts is None else parts[at],
            }
        )
    return entries


def _contributions(team: Team, observations: Observations, second: Codes) -> list[list[dict[str, Any]]] | None:
    """Contributions to the log-odds of each item's label against the runner-up; None without `explain`."""
    if not isinstance(team, ExplainsItems):
        return None
    item = np.arange(len(second))
    explained = {name: np.asarray(part)[item, second] for name, part in team.explain(observations).parts.items()}
    values = {name: _finite(part) for name, part in explained.items()}
    ever = {name: bool(np.any(part != 0.0)) for name, part in explained.items()}
    return [
        [
            {"who": name, "kind": _kind(name, observations), "log_odds": float(part[at])}
            for name, part in values.items()
            if part[at] != 0.0 or (len(values) <= 3 and ever[name])
        ]
        for at in range(len(second))
    ]


def _finite(log_odds: Any) -> Any:
    return np.clip(np.nan_to_num(log_odds, posinf=_MAX_LOG_ODDS, neginf=-_MAX_LOG_ODDS), -_MAX_LOG_ODDS, _MAX_LOG_ODDS)


def _kind(name: str, observations: Observations) -> str:
    if name in people_in(observations):
        return "human"
    return "model" if name in (*observations.models, *machines_in(observations), "model") else "other"


def _name(classes: list[str], code: int) -> str | None:
    return None if code == MISSING else classes[int(code)]


def _sentence(n_apart: int, n_both: int) -> str:
    if n_both == 0:
        return "No item has both an answer and a model prediction, so there are no disagreements to look at."
    return (
        f"Human and model disagree on {n_apart:,} of {count(n_both, 'item')}. "
        "A second look is most informative on the items below."
    )
