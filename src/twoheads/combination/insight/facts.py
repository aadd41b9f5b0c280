"""Facts about fitted combiners: the numbers behind descriptions and reports."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.fitting.holdout import HoldoutRecord
from twoheads.combination.insight.annotators import LEVEL, annotator_stats
from twoheads.combination.items.protocol import Schema
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.annotators import accuracy_prior
from twoheads.kernels.priors import ACCURACY_RIGHT, ACCURACY_WRONG
from twoheads.observations.labels import label_text

#: With fewer answers on labelled items, a person is not ranked as the most or the least reliable.
ENOUGH_ANSWERS = 10


def team_facts(result: FitResult, *, guarded: bool, level: float = 0.95) -> dict[str, Any]:
    """The fitted quantities of a team, as numbers that JSON can hold.

    ``[estimate, low, high]`` are credible intervals of each part's own posterior; without any truth there are none.
    The dependence has none: its working posterior uses the labels twice.
    """
    rule, statistics, schema = result.rule, result.statistics, result.schema
    names = [label_text(name) for name in schema.classes]
    known = statistics.n_labelled > 0
    found: dict[str, Any] = {
        "classes": names,
        "annotators": list(schema.annotators),
        "labelled": statistics.n_labelled,
        "unlabelled": statistics.n_unlabelled,
        "labels_per_class": dict(zip(names, statistics.labels_per_class.tolist(), strict=True)),
        "level": level,
        "human": _human(_of(rule.confusion, _people_of(schema)), names, level, known),
        "model": {
            "calibrator": type(rule.calibrator).__name__,
            "names": list(schema.models) if schema.has_model else [],
        },
    }
    temperature = rule.calibrator.temperature_estimate(level)
    if temperature is not None and known and schema.has_model:
        found["model"]["temperature"] = list(temperature)
    if rule.dependence is not None:
        found["dependence"] = _dependence(rule.dependence)
    if result.holdout is not None:
        found["record"] = {**result.holdout.get_params(), "chance_best": result.holdout.chance_best}
    if guarded:
        found["guard"] = _guard(result.holdout)
    return found | crowd_facts(result)


def _human(confusion: Confusion, names: list[str], level: float, known: bool) -> dict[str, Any]:
    low, high = confusion.accuracy_interval(level)
    diagonal = np.diagonal(confusion.crowd_given_true_)
    rows = zip(names, diagonal, low, high, strict=True)
    overall = _accuracy(confusion.counts_.sum(axis=0), level)
    return {
        "answers": overall["answers"],
        "accuracy": _interval(overall["accuracy"], known),
        "accuracy_per_class": {name: _interval(row, known) for name, *row in rows},
    }


def _accuracy(counts: Floats, level: float) -> dict[str, Any]:
    """The number of answers, and the accuracy over all classes, with a Beta prior."""
    right, total = float(np.trace(counts)), float(counts.sum())
    low, high = beta.interval(level, right + ACCURACY_RIGHT, total - right + ACCURACY_WRONG)
    accuracy = (right + ACCURACY_RIGHT) / (total + ACCURACY_RIGHT + ACCURACY_WRONG)
    return {"answers": total, "accuracy": [accuracy, float(low), float(high)]}


def _interval(values: Iterable[float], known: bool) -> list[float | None]:
    estimate, low, high = (float(value) for value in values)
    return [estimate, low, high] if known else [estimate, None, None]


def _dependence(dependence: Dependence) -> dict[str, float]:
    model, human = dependence.weights()
    return {
        "log_dependence": float(dependence.weight_ @ dependence.log_dependence_),
        "weight_of_model": model,
        "weight_of_human": human,
    }


def _guard(holdout: HoldoutRecord | None) -> dict[str, Any]:
    guard = None if holdout is None else holdout.guard()
    return {
        "partner": None if guard is None else "human" if guard.human_leads else "model",
        "times_as_sure": 1.0 if guard is None else float(np.exp(guard.log_threshold)),
    }


def crowd_facts(result: FitResult) -> dict[str, Any]:
    """``people`` and ``models`` where there are several, ``several_answers`` on an item, ``confidence``, ``unsure``."""
    rule, schema = result.rule, result.schema
    found: dict[str, Any] = {}
    people = _people_of(schema)
    if len(people) > 1:
        found["people"] = _people(*_stats_of(result, people))
    if schema.machines:
        found["machines"] = _machines(result)
    if schema.levels is not None:
        sizes = dict(zip(schema.levels.names, schema.levels.sizes, strict=True))
        found["scores"] = {"positive": schema.levels.positive, "levels": sizes}
    if rule.dependence is not None and result.statistics.annotation_counts[1].any():
        found["several_answers"] = {"correlation": rule.dependence.correlation_}
    if rule.response is not None:
        found |= _response(rule.response, schema.classes)
    if rule.pool is not None:
        found["models"] = dict(zip(schema.models, rule.pool.weight_.tolist(), strict=True))
    return found


def _people_of(schema: Schema) -> list[int]:
    """The numbers of the annotators that are people."""
    return [at for at, name in enumerate(schema.annotators) if name not in schema.machines]


def _of(confusion: Confusion, who: list[int]) -> Confusion:
    """A confusion estimate of some annotators only, for statistics of them."""
    if len(who) == len(confusion.counts_):
        return confusion
    chosen = copy(confusion)
    chosen.counts_ = confusion.counts_[who]
    chosen.human_given_true_ = confusion.people()[:-1][who]
    chosen.crowd_given_true_ = confusion.given_true(chosen.counts_.sum(axis=0))
    return chosen


def _stats_of(result: FitResult, who: list[int]) -> tuple[tuple[str, ...], Confusion, Floats]:
    names = tuple(result.schema.annotators[at] for at in who)
    return names, _of(result.rule.confusion, who), result.statistics.annotation_counts[:, who]


def _machines(result: FitResult) -> dict[str, Any]:
    """The accuracy of each machine, with its interval; where it gives scores, of their two sides."""
    who = [at for at, name in enumerate(result.schema.annotators) if name in result.schema.machines]
    stats = annotator_stats(*_stats_of(result, who))
    facts = ("judged", "accuracy", "accuracy_low", "accuracy_high")
    rows = zip(stats["annotator"], *(stats[fact].tolist() for fact in facts), strict=True)
    return {name: dict(zip(facts, values, strict=True)) for name, *values in rows}


def _people(annotators: tuple[str, ...], confusion: Confusion, annotation_counts: Floats) -> dict[str, Any]:
    stats = annotator_stats(annotators, confusion, annotation_counts)
    prior = accuracy_prior(np.trace(confusion.counts_, axis1=1, axis2=2), stats["judged"])
    low, high = beta.interval(LEVEL, *prior)
    people: dict[str, Any] = {"n": len(annotators), "level": LEVEL, "accuracy": [float(low), float(high)]}
    enough = np.flatnonzero(stats["judged"] >= ENOUGH_ANSWERS)
    people["with_enough_answers"] = len(enough)
    if len(enough) > 1:
        order = enough[np.argsort(stats["accuracy"][enough], kind="stable")]
        for name, at in (("most_reliable", order[-1]), ("least_reliable", order[0])):
            facts = ("annotator", "judged", "accuracy", "accuracy_low", "accuracy_high")
            people[name] = {fact: stats[fact].tolist()[at] for fact in facts}
    return people


def _response(response: ResponseModel, classes: NDArray[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    counts = response.answer_counts()
    if len(response.bounds_):
        right, total = np.einsum("ili->l", counts)[:-1], counts.sum(axis=(0, 2))[:-1]
        shares = np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)
        found["confidence"] = {
            "begins": response.bounds_.tolist(),
            "answers": total.tolist(),
            "right": [None if np.isnan(share) else float(share) for share in shares],
        }
    n_unsure = float(response.counts_[-1].sum())
    if n_unsure:
        names = [label_text(name) for name in classes]
        given_true = dict(zip(names, response.unsure_given_true_.tolist(), strict=True))
        found["unsure"] = {"said": n_unsure, "given_true": given_true}
    return found


def label_label_facts(
    classes: NDArray[Any], annotators: tuple[str, ...], human_counts: Floats, model_counts: Floats, level: float = 0.95
) -> dict[str, Any]:
    """Facts about L+L: the accuracy of people and of the model, ``[estimate, low, high]``.

    human_counts, model_counts  (n_classes, n_classes) labels under each true class
    """
    return {
        "classes": [label_text(name) for name in classes],
        "annotators": list(annotators),
        "level": level,
        "human": _accuracy(human_counts, level),
        "model": _accuracy(model_counts, level),
    }


def logistic_facts(
    classes: NDArray[Any], annotators: tuple[str, ...], coef: Floats, intercept: Floats, features: str
) -> dict[str, Any]:
    """Facts about LR: mean contributions of the model's log-odds and of an answer to the log-odds of their class."""
    n_classes = len(classes)
    weights = coef.reshape(n_classes, -1, n_classes)  # [class, model or annotator, class that is named]
    own = np.einsum("jpj->pj", weights)
    others = (weights.sum(axis=0) - own) / (n_classes - 1)
    shown = np.isfinite(intercept)
    gain = (own - others)[:, shown].mean(axis=1)
    names = [label_text(name) for name in classes]
    return {
        "classes": names,
        "annotators": list(annotators),
        "features": features,
        "weights": int(coef.size + intercept.size),
        "without_label": [name for name, known in zip(names, shown, strict=True) if not known],
        "weight_of_model": float(gain[0]),
        "weight_of_answer": dict(zip(annotators, gain[1:].tolist(), strict=True)),
    }
