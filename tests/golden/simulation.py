"""Tables for the golden tests: small, simulated with fixed seeds, rounded so that they are the same on any machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from twoheads import Observations

N_FRESH = 6


@dataclass(frozen=True)
class Design:
    """What a simulated table holds.

    answered     the probability that a person answers an item
    models       names of the models; ("",) is one model without a name
    confidence   whether answers have a confidence, and some are "unsure"
    """

    seed: int
    n_items: int
    n_classes: int
    people: tuple[str, ...] = ("",)
    answered: float = 0.9
    models: tuple[str, ...] = ("",)
    gaps: float = 0.0
    confidence: bool = False


DESIGNS = {
    "one person": Design(1, 100, 4),
    "two classes": Design(2, 80, 2),
    "crowd": Design(3, 80, 3, people=("ann", "bob", "cyd", "dan"), answered=0.6),
    "two models": Design(4, 100, 3, people=("ann", "bob"), answered=0.8, models=("left", "right"), gaps=0.15),
    "gaps": Design(5, 100, 3, people=("ann", "bob", "cyd"), answered=0.8, gaps=0.2),
    "confidence": Design(6, 80, 3, people=("ann", "bob", "cyd"), answered=0.8, confidence=True),
    "one unsure person": Design(7, 120, 5, confidence=True),
    "no model": Design(8, 80, 3, people=("ann", "bob", "cyd", "dan"), answered=0.7, models=()),
    "many items": Design(9, 5_000, 3),
    "very many items": Design(10, 21_000, 3),
}


@dataclass(frozen=True)
class Problem:
    """A table to fit on, its truth, and fresh items with somebody new among the people."""

    table: pd.DataFrame
    truth: np.ndarray
    fresh: pd.DataFrame

    def known(self, share: str) -> np.ndarray:
        """The truth of "all", "some" (every third item) or "no" items; None elsewhere."""
        known = self.truth.copy()
        known[{"all": [], "some": np.arange(len(known)) % 3 != 0, "no": slice(None)}[share]] = None
        return known


def observed(table: pd.DataFrame) -> pd.DataFrame | Observations:
    """A table as a team takes it; answers alone are given as a long table, with the classes."""
    if any("p_" in name for name in table):
        return table
    people = [name for name in table if name.startswith("human_")]
    answers = [
        (row["item"], name.removeprefix("human_"), row[name])
        for _, row in table.iterrows()
        for name in people
        if row[name] is not None
    ]
    return Observations.from_answers(
        pd.DataFrame(answers, columns=["item", "annotator", "answer"]), classes=list("abc")
    )


@cache
def problem(name: str) -> Problem:
    """The problem of a design."""
    design = DESIGNS[name]
    rng = np.random.default_rng(design.seed)
    n_items, names = design.n_items + N_FRESH, np.array(list("abcde"[: design.n_classes]), dtype=object)
    truth = rng.choice(design.n_classes, n_items, p=_prevalence(design.n_classes))
    difficulty = rng.random(n_items)  # shared: people and models err on the same items
    columns: dict[str, object] = {"item": [f"i{at}" for at in range(n_items)]}
    for at, person in enumerate(design.people):
        columns |= _answers(rng, design, person, truth, 0.95 - 0.05 * at - 0.4 * difficulty, names)
    for at, model in enumerate(design.models):
        columns |= _rows(rng, design, model, truth, 3.0 - at - 2.5 * difficulty, names)
    table = pd.DataFrame(columns)
    table = table[table.drop(columns="item").notna().any(axis=1)]
    truth = names[truth[table.index]]
    train, fresh = table[:-N_FRESH], table[-N_FRESH:].reset_index(drop=True)
    if len(design.people) > 1:
        fresh = fresh.rename(columns={"human_bob": "human_zoe", "confidence_bob": "confidence_zoe"})
    return Problem(train, truth[:-N_FRESH], fresh)


def _prevalence(n_classes: int) -> np.ndarray:
    share = np.arange(n_classes, 0, -1) + 1.0
    return np.asarray(share / share.sum())


def _answers(rng, design, person, truth, accuracy, names) -> dict[str, object]:
    suffix = f"_{person}" if person else ""
    right = rng.random(len(truth)) < accuracy
    code = np.where(right, truth, rng.integers(0, design.n_classes, len(truth)))
    answer = names[code]
    given = rng.random(len(truth)) < design.answered
    if person == design.people[0] and not design.models:
        given[:] = True
    sure = np.clip(np.round(2.0 + 2.0 * right + rng.normal(size=len(truth))), 1, 5)
    sure[rng.random(len(truth)) < 0.1] = np.nan
    if design.confidence:
        answer = np.where(~right & (rng.random(len(truth)) < 0.4), "unsure", answer)
    found: dict[str, object] = {f"human{suffix}": np.where(given, answer, None)}
    if design.confidence:
        found[f"confidence{suffix}"] = np.where(given & (answer != "unsure"), sure, np.nan)
    return found


def _rows(rng, design, model, truth, strength, names) -> dict[str, object]:
    prefix = f"{model}." if model else ""
    logits = rng.normal(size=(len(truth), design.n_classes))
    logits[np.arange(len(truth)), truth] += strength
    proba = np.exp(1.6 * logits)
    proba = np.round(proba / proba.sum(axis=1, keepdims=True), 6)
    proba[:, 0] = np.abs(np.round(1.0 - proba[:, 1:].sum(axis=1), 6))
    proba[rng.random(len(truth)) < design.gaps] = np.nan
    return {f"{prefix}p_{name}": proba[:, at] for at, name in enumerate(names)}
