"""Facts about several people, machines, scores, ways of answering and several models."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.annotators import OF_ONE, SHOWN_LEVEL, facts_of_each, stats_of
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.combination.insight.score_facts import score_facts
from twoheads.combination.panel import LEVEL as PANEL_LEVEL
from twoheads.combination.panel import Panel
from twoheads.combination.pool import ModelPool
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.response import ResponseModel
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.multiplicity import picked_level
from twoheads.kernels.inference.same_rate import same_rate_p_value
from twoheads.kernels.panel.average import chance_at_even_odds
from twoheads.kernels.scoring.rivals import ENOUGH_ANSWERS
from twoheads.observations.labels import label_text


def crowd_facts(
    result: FitResult, accuracy: PeopleAccuracy, level: float = SHOWN_LEVEL, undecided: Sequence[str] = ()
) -> dict[str, Any]:
    """``people`` and ``models`` where there are several, ``machines``, ``scores``, ``several_answers`` on an item, ...

    ``machines`` are models that give labels or scores: they are not among the people.

    undecided  members whose accuracies agreement cannot show, from `agreement_facts`
    """
    rule, schema, statistics = result.rule, result.schema, result.statistics
    found: dict[str, Any] = {}
    if len(schema.people) > 1:
        found["people"] = people_facts(stats_of(result, schema.people, accuracy, level), accuracy, level, undecided)
    if accuracy.machines is not None:
        found |= _machines(result, accuracy.machines, level)
    if schema.levels is not None:
        found["scores"] = score_facts(result, schema.levels, accuracy, level)
    if rule.dependence is not None and statistics.annotation_counts[1].any():
        answering = statistics.answer_numbers[list(rule.machines)].any(axis=1)
        found["several_answers"] = rule.several_answers(int(answering.sum()))
    if rule.panel is not None:
        found["panel"] = _panel(rule.panel)
    if rule.response is not None:
        found |= _responses(result, rule.response, found.get("several_answers", {}).get("correlation", 0.0))
    if rule.pool is not None:
        found |= _pool(rule.pool, schema.models)
    return found


def answers_per_item(statistics: SufficientStatistics) -> float:
    """Mean number of answers on an answered item."""
    return float(statistics.annotation_counts[0].sum()) / max(statistics.answered_items, 1.0)


def _machines(result: FitResult, accuracy: PeopleAccuracy, level: float) -> dict[str, Any]:
    """``machines``, and of several that give labels ``machines_ranked``."""
    stats, levels = stats_of(result, result.schema.machine_numbers, accuracy, level), result.schema.levels
    scored = () if levels is None else levels.names
    labelling = np.flatnonzero([name not in scored for name in stats["annotator"]])
    ranked = {"machines_ranked": extremes(stats, accuracy, level, labelling)} if len(labelling) > 1 else {}
    return {"machines": facts_of_each(stats), **ranked}


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


def _responses(result: FitResult, response: ResponseModel, correlation: float) -> dict[str, Any]:
    """``confidence`` and ``unsure``: with labels those on labelled items, not what is believed of the others.

    correlation  of answers on one item: people are unsure about the same items
    """
    statistics = result.statistics
    if statistics.n_labelled and statistics.response_counts is not None:
        response = copy(response).fit_labelled_counts(statistics.response_counts)
    found, unsure = _confidence(response), statistics.label_numbers[-2 if statistics.n_labelled else -1]
    if not unsure:
        return found
    design = 1.0 + (answers_per_item(statistics) - 1.0) * correlation
    unit = statistics.label_unit * max(1.0, design)
    p = _unsure_p_value(response, unit) if statistics.n_labelled else None
    rates = dict(zip(map(label_text, result.schema.classes), response.unsure_given_true_.tolist(), strict=True))
    return found | {"unsure": {"said": float(unsure), "given_true": rates, "p_value": p}}


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


def _pool(pool: ModelPool, models: tuple[str, ...]) -> dict[str, Any]:
    """``models`` with their weights in the mean, and ``model_panel`` with those of their own where they were fitted."""
    found: dict[str, Any] = {"models": dict(zip(models, pool.weight_.tolist(), strict=True))}
    if len(pool.coefficient_):
        weights = dict(zip(models, pool.coefficient_[-len(models) :].tolist(), strict=True))
        found["model_panel"] = {"own_weights": chance_at_even_odds(pool.own_share_), "weights": weights}
    return found
