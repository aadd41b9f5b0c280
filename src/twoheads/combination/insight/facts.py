"""Facts about fitted teams: the numbers behind descriptions and reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.insight.agreement_limits import agreement_facts
from twoheads.combination.insight.annotators import SHOWN_LEVEL
from twoheads.combination.insight.crowd_facts import answers_per_item, crowd_facts
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.combination.insight.selection import selection_facts
from twoheads.dependence import Dependence
from twoheads.kernels.arrays import Floats
from twoheads.kernels.dependence.preference import Preference
from twoheads.kernels.inference.intervals import jeffreys_interval
from twoheads.observations.labels import label_text


def team_facts(result: FitResult, accuracy: PeopleAccuracy, *, level: float = SHOWN_LEVEL) -> dict[str, Any]:
    """The fitted quantities of a team, as numbers that JSON can hold.

    ``[estimate, low, high]`` are intervals of one ``level``. Those of people are of a ``kind``: "measured" rests on
    items of known truth, "believed" on the team's own posterior. The dependence has none: its working posterior uses
    the labels twice.
    """
    rule, statistics, schema = result.rule, result.statistics, result.schema
    names = [label_text(name) for name in schema.classes]
    known = statistics.n_labelled > 0
    found: dict[str, Any] = {
        "classes": names,
        "annotators": list(schema.annotators),
        "labelled": statistics.n_labelled,
        "unlabelled": statistics.n_unlabelled,
        "members_per_item": _members_per_item(result),
        "labels_per_class": dict(zip(names, statistics.label_numbers[: len(names)].tolist(), strict=True)),
        "level": level,
        "human": _human(result, accuracy, names, level),
        "model": {
            "calibrator": type(rule.calibrator).__name__,
            "names": list(schema.models) if schema.has_model else [],
        },
    }
    selection = selection_facts(result)
    if selection is not None:
        found["selection"] = selection
    agreement = agreement_facts(result)
    if agreement is not None:
        found["agreement"] = agreement
    temperature = rule.calibrator.temperature_estimate(level, statistics.label_unit)
    if temperature is not None and known and schema.has_model:
        found["model"]["temperature"] = list(temperature)
    if rule.dependence is not None:
        found["dependence"] = _dependence(rule.dependence)
    if result.holdout is not None:
        found["record"] = _record(result.holdout)
    if rule.preference is not None and rule.panel is None:
        found["preference"] = _preference(rule.preference, result.holdout)
    undecided = agreement["undecided"] if agreement else ()
    return found | crowd_facts(result, accuracy, level, undecided)


def _record(holdout: HoldoutRecord) -> dict[str, Any]:
    rivals = None if holdout.rivals is None else holdout.rivals.as_dict()
    effective = holdout.effective_items
    found = {**holdout.get_params(deep=False), "effective_items": effective, "chance_best": holdout.chance_best}
    return {**found, "rivals": rivals}


def _members_per_item(result: FitResult) -> float:
    """Mean number of answers on an answered item, and the models beside them."""
    return answers_per_item(result.statistics) + (max(1, len(result.schema.models)) if result.schema.has_model else 0)


def _human(result: FitResult, accuracy: PeopleAccuracy, names: list[str], level: float) -> dict[str, Any]:
    """People's accuracy over all answers and on each class; a class that nobody has answered about has none.

    Of the answers ``given``, the ``answers`` and ``items`` counted are those of known truth. Beside machines it is not
    known on how many items several people have answered: ``items`` is None.
    """
    statistics, people = result.statistics, result.schema.people
    counts = statistics.counts[people].sum(axis=0)
    numbers = statistics.answer_numbers[people]
    answers = float(numbers[:, :-1].sum())
    items: float | None = float(statistics.label_numbers[-3])
    if result.schema.machines:
        items = answers if len(people) == 1 else None
    if accuracy.kind == "believed":
        diagonal = np.diagonal(result.rule.confusion.of(people).crowd_given_true_).tolist()
        per_class: list[list[float | None]] = [[share, None, None] for share in diagonal]
    if answers:  # of truth of one class, that class is measured
        measured = _measured_per_class(counts, accuracy.effect, level)
        unseen = per_class if accuracy.kind == "believed" else measured
        per_class = [mine if mine[0] is not None else other for mine, other in zip(measured, unseen, strict=True)]
    return {
        "kind": accuracy.kind,
        "given": float(numbers.sum()),
        "answers": answers,
        "items": items,
        "accuracy": list(accuracy.of_all_answers(level)),
        "accuracy_per_class": dict(zip(names, per_class, strict=True)),
    }


def _measured_per_class(counts: Floats, effect: Floats, level: float) -> list[list[float | None]]:
    """Share of the answers about each class that name it, by Jeffreys' interval; None for a class never seen.

    counts  (n_classes, n_classes) weights of answers on labelled items
    effect  (n_classes,) weight of one independent answer
    """
    right, count = np.diagonal(counts), counts.sum(axis=0)
    low, high = jeffreys_interval(right / effect, count / effect, level)
    rows = zip(right.tolist(), count.tolist(), low.tolist(), high.tolist(), strict=True)
    return [[hits / n, *ends] if n else [None, None, None] for hits, n, *ends in rows]


def _dependence(dependence: Dependence) -> dict[str, float]:
    model, human = dependence.weights()
    return {
        "partner_correlation": float(dependence.weight_ @ dependence.partner_correlation_),
        "strength_ratio": dependence.strength_ratio_,
        "weight_of_model": model,
        "weight_of_human": human,
        "effective_answers": dependence.effective_answers_,
    }


def _preference(preference: Preference, record: HoldoutRecord | None) -> dict[str, Any]:
    """Who is preferred in close calls and how much more probable another class must be; who answers alone.

    The stated chance counts no item as more than one, whatever its weight.
    """
    share, chances = preference.share_alone, preference.chances
    if record is not None and record.unit != 1.0:
        human, model = record.chances()
        chances = 1.0 if human is None else human, 1.0 if model is None else model
    return {
        "partner": "human" if preference.lead > 0 else "model" if preference.lead < 0 else None,
        "times_as_probable": float(np.exp(preference.log_threshold)),
        "alone": None if not share else "human" if preference.human_alone else "model",
        "share_alone": share,
        "chance_better_alone": 1.0 - chances[0 if preference.human_alone else 1],
    }
