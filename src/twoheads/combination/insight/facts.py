"""Facts about fitted combiners: the numbers behind descriptions and reports."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.insight.agreement_limits import agreement_facts
from twoheads.combination.insight.annotators import OF_ONE, SHOWN_LEVEL, facts_of_each, stats_of
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.combination.insight.score_facts import score_facts
from twoheads.combination.insight.selection import selection_facts
from twoheads.combination.panel import LEVEL as PANEL_LEVEL
from twoheads.combination.panel import Panel
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.preference import Preference
from twoheads.kernels.inference.intervals import jeffreys_interval
from twoheads.kernels.inference.multiplicity import picked_level
from twoheads.kernels.inference.same_rate import same_rate_p_value
from twoheads.kernels.panel.average import chance_at_even_odds
from twoheads.kernels.scoring.rivals import ENOUGH_ANSWERS
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
    return _answers_per_item(result) + (max(1, len(result.schema.models)) if result.schema.has_model else 0)


def _answers_per_item(result: FitResult) -> float:
    statistics = result.statistics
    return float(statistics.annotation_counts[0].sum()) / max(statistics.answered_items, 1.0)


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


def crowd_facts(
    result: FitResult, accuracy: PeopleAccuracy, level: float = SHOWN_LEVEL, undecided: Sequence[str] = ()
) -> dict[str, Any]:
    """``people`` and ``models`` where there are several, ``machines``, ``scores``, ``several_answers`` on an item, ...

    ``machines`` are models that give labels or scores: they are not among the people.

    undecided  members whose accuracies agreement cannot show, from `agreement_facts`
    """
    rule, schema, statistics = result.rule, result.schema, result.statistics
    found: dict[str, Any] = {}
    people = schema.people
    if len(people) > 1:
        found["people"] = people_facts(stats_of(result, people, accuracy, level), accuracy, level, undecided)
    if accuracy.machines is not None:
        stats = stats_of(result, schema.machine_numbers, accuracy.machines, level)
        found["machines"] = facts_of_each(stats)
        scored = () if schema.levels is None else schema.levels.names
        labelling = np.flatnonzero([name not in scored for name in stats["annotator"]])
        if len(labelling) > 1:
            found["machines_ranked"] = extremes(stats, accuracy.machines, level, labelling)
    if schema.levels is not None:
        found["scores"] = score_facts(result, schema.levels, accuracy, level)
    if rule.dependence is not None and statistics.annotation_counts[1].any():
        answering = statistics.answer_numbers[list(rule.machines)].any(axis=1)
        found["several_answers"] = rule.several_answers(int(answering.sum()))
    if rule.panel is not None:
        found["panel"] = _panel(rule.panel)
    if rule.response is not None:
        unsure = statistics.label_numbers[-2 if statistics.n_labelled else -1]
        correlation = found.get("several_answers", {}).get("correlation", 0.0)
        design = 1.0 + (_answers_per_item(result) - 1.0) * correlation  # people are unsure about the same items
        unit = statistics.label_unit * max(1.0, design)
        response = rule.response
        if statistics.n_labelled and statistics.response_counts is not None:  # not what is believed of the others
            response = copy(response).fit_labelled_counts(statistics.response_counts)
        found |= _confidence(response)
        if unsure:
            p = _unsure_p_value(response, unit) if statistics.n_labelled else None
            rates = dict(zip(map(label_text, schema.classes), response.unsure_given_true_.tolist(), strict=True))
            found["unsure"] = {"said": float(unsure), "given_true": rates, "p_value": p}
    if rule.pool is not None:
        found["models"] = dict(zip(schema.models, rule.pool.weight_.tolist(), strict=True))
        if len(rule.pool.coefficient_):
            own = rule.pool.coefficient_[-len(schema.models) :].tolist()
            weights = dict(zip(schema.models, own, strict=True))
            found["model_panel"] = {"own_weights": chance_at_even_odds(rule.pool.own_share_), "weights": weights}
    return found


def _panel(panel: Panel) -> dict[str, Any]:
    """``[estimate, low, high]`` of the members' error correlation and of their effective number, None if unknown."""

    def numbers(values: Floats) -> list[float | None]:
        return [None if np.isnan(value) else float(value) for value in values]

    return {
        "members": len(panel.members_),
        "level": PANEL_LEVEL,
        "error_correlation": numbers(panel.error_correlation_),
        "effective_members": numbers(panel.effective_members_),
        "own_weights": chance_at_even_odds(panel.share),
    }


def people_facts(
    stats: dict[str, NDArray[Any]], accuracy: PeopleAccuracy, level: float, undecided: Sequence[str] = ()
) -> dict[str, Any]:
    """How far people differ, and who is the most and the least reliable.

    Where there is truth, only people with enough answers that it judges are ranked, by measured accuracies. Nobody is
    ranked where the most or the least reliable is among the ``undecided``, as in `crowd_facts`.
    """
    people: dict[str, Any] = {
        "n": len(stats["annotator"]),
        "kind": accuracy.kind,
        "level": level,
        "nine_in_ten": list(accuracy.spread(0.9)),
    }
    counted = "judged" if accuracy.kind == "measured" else "answers"
    enough = np.flatnonzero(stats[counted] >= ENOUGH_ANSWERS)
    people["with_enough_answers"] = len(enough)
    ranked = extremes(stats, accuracy, level, enough) if len(enough) > 1 else {}
    unknown = any(each["annotator"] in undecided for each in ranked.values())
    return people | ({"undecided": list(undecided)} if unknown else ranked)


def extremes(stats: dict[str, NDArray[Any]], accuracy: PeopleAccuracy, level: float, ranked: Codes) -> dict[str, Any]:
    """The most and the least reliable of some, by their numbers; their intervals hold although they were picked."""
    low, high = accuracy.shares().interval(picked_level(level, len(ranked)))
    stats = stats | {"accuracy_low": low, "accuracy_high": high}
    order = ranked[np.argsort(stats["accuracy"][ranked], kind="stable")]
    picked = {"most_reliable": order[-1], "least_reliable": order[0]}
    return {name: {fact: stats[fact].tolist()[at] for fact in OF_ONE} for name, at in picked.items()}


def _confidence(response: ResponseModel) -> dict[str, Any]:
    """Levels of confidence with the weights of their answers; nothing without any."""
    if not len(response.bounds_):
        return {}
    counts = response.answer_counts()
    right, total = np.einsum("ili->l", counts)[:-1], counts.sum(axis=(0, 2))[:-1]
    shares = np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)
    found = {
        "begins": response.bounds_.tolist(),
        "answers": total.tolist(),
        "right": [None if np.isnan(share) else float(share) for share in shares],
    }
    return {"confidence": found}


def _unsure_p_value(response: ResponseModel, unit: float) -> float:
    """P-value of "unsure" answered as often whatever the true class.

    unit  weight of one independent answer
    """
    unsure, others = response.counts_[-1], response.answer_counts().sum(axis=(0, 1))
    return same_rate_p_value(unsure / unit, (unsure + others) / unit)
