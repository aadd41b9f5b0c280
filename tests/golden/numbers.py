"""What is pinned of a fitted team: the one place that knows the names of fitted attributes and of facts.

A rename changes one line here and no number in ``expected.json``: names on the left stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import expit

import twoheads as th
from twoheads.combination.panel import Panel
from twoheads.combination.pool import ModelPool
from twoheads.combination.statistics.reservoir import ItemSample
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence

Get = Callable[[Any], Any]

#: The parts of a fitted object, each with numbers of its own; None where it has none.
PARTS: dict[type, dict[str, Get]] = {
    th.ProbabilityLabelCombiner: {
        "annotator": lambda team: team.annotator_stats_,
        "confusion": lambda team: team.confusion_,
        "calibrator": lambda team: team.calibrator_,
        "dependence": lambda team: team.dependence_,
        "response": lambda team: team.response_,
        "pool": lambda team: team.pool_,
        "panel": lambda team: team.panel_,
        "holdout": lambda team: team.holdout_,
        "statistics": lambda team: team.statistics_ if team.supports_partial_fit else None,
    },
    th.LabelLabelCombiner: {"confusion": lambda team: team.confusion_},
    ModelPool: {
        "calibrator 0": lambda pool: pool.calibrators_[0],
        "calibrator 1": lambda pool: pool.calibrators_[1],
    },
    SufficientStatistics: {
        "labelled": lambda statistics: statistics.labelled,
        "unlabelled": lambda statistics: statistics.unlabelled,
    },
}

#: The numbers of each kind of fitted object.
NUMBERS: dict[type, dict[str, Get]] = {
    th.ProbabilityLabelCombiner: {
        "prevalence": lambda team: team.prevalence_,
        "labels per class": lambda team: team.labels_per_class_,
        "n labelled, n unlabelled": lambda team: (team.n_labelled_, team.n_unlabelled_),
        "has model": lambda team: team.has_model_,
        "answers, overlap, agreement": lambda team: team.annotation_counts_,
        "objective": lambda team: _ends(team.objective_),
        "answer log temperature": lambda team: team.answer_log_temperature_,
        "annotators": lambda team: team.annotators_,
        "models": lambda team: team.models_,
    },
    dict: {  # annotator_stats_
        "answers": lambda stats: stats["answers"],
        "judged": lambda stats: stats["judged"],
        "accuracy": lambda stats: stats["accuracy"],
        "accuracy low": lambda stats: stats["accuracy_low"],
        "accuracy high": lambda stats: stats["accuracy_high"],
        "agreement": lambda stats: stats["agreement"],
        "bits": lambda stats: stats["bits"],
    },
    th.LabelLabelCombiner: {
        "model counts": lambda team: team.model_counts_,
        "true given model": lambda team: team.true_given_model_,
    },
    th.LogisticCombiner: {
        "coefficients": lambda team: team.coef_,
        "intercept": lambda team: team.intercept_,
    },
    th.Confusion: {
        "counts": lambda confusion: confusion.counts_,
        "crowd given true": lambda confusion: confusion.crowd_given_true_,
        "human given true": lambda confusion: confusion.human_given_true_,
    },
    th.TemperatureScaling: {
        "temperature": lambda calibrator: calibrator.temperature_,
        "log temperature sd": lambda calibrator: calibrator.log_temperature_sd_,
        "mean log temperature": lambda calibrator: calibrator.node_weights_ @ calibrator.nodes_,
    },
    th.EnsembleTemperatureScaling: {
        "temperature": lambda calibrator: calibrator.temperature_,
        "weights": lambda calibrator: calibrator.weights_,
    },
    th.IMaxBinning: {
        "edges": lambda calibrator: calibrator.edges_,
        "bin probability": lambda calibrator: calibrator.bin_proba_,
    },
    th.VectorScaling: {
        "coefficients": lambda calibrator: calibrator.coef_,
        "intercept": lambda calibrator: calibrator.intercept_,
    },
    th.DirichletCalibration: {
        "coefficients": lambda calibrator: calibrator.coef_,
        "intercept": lambda calibrator: calibrator.intercept_,
    },
    th.Identity: {},
    Dependence: {
        "n nodes": lambda dependence: len(dependence.weight_),
        "mean log temperature": lambda dependence: dependence.weight_ @ dependence.log_temperature_,
        "mean partner correlation": lambda dependence: dependence.weight_ @ dependence.partner_correlation_,
        "strength ratio": lambda dependence: dependence.strength_ratio_,
        "mean squares": lambda dependence: (
            dependence.weight_ @ np.square(dependence.log_temperature_),
            dependence.weight_ @ np.square(dependence.partner_correlation_),
            dependence.weight_ @ dependence.weight_,
        ),
        "mean bias": lambda dependence: dependence.weight_ @ dependence.bias_[dependence.bias_of_],
        "correlation": lambda dependence: dependence.correlation_,
        "weights": lambda dependence: dependence.weights(),
    },
    ResponseModel: {
        "bounds": lambda response: response.bounds_,
        "counts": lambda response: response.counts_,
        "level given answer": lambda response: response.level_given_,
        "unsure given true": lambda response: response.unsure_given_true_,
    },
    ModelPool: {"weight": lambda pool: pool.weight_},
    Panel: {
        "members": lambda panel: panel.members_,
        "weights": lambda panel: panel.weight_,
        "coefficients": lambda panel: panel.weight_[:-1] @ panel.coefficient_,
        "effective members": lambda panel: panel.effective_members_,
    },
    th.HoldoutRecord: {
        "n": lambda record: record.n,
        "errors": lambda record: (record.human_errors, record.model_errors, record.errors),
        "discordant": lambda record: (*record.over_human, *record.over_model, record.human_only, record.model_only),
        "log loss": lambda record: (record.log_loss, record.plain_log_loss, record.log_loss_gain_se),
        "answered, modelled": lambda record: (record.answered, record.modelled),
        "chance best": lambda record: record.chance_best,
        "preference": lambda record: (
            record.preference().lead,
            record.preference().log_threshold,
            record.preference().share_alone,
        ),
    },
    SufficientStatistics: {
        "counts": lambda statistics: statistics.counts,
        "crowd counts": lambda statistics: statistics.crowd_counts,
        "asked": lambda statistics: statistics.answered,
        "overlap": lambda statistics: statistics.overlap,
        "temperature likelihood": lambda statistics: statistics.temperature_values,
        "answered items": lambda statistics: statistics.answered_items,
    },
    ItemSample: {
        "n items": lambda sample: sample.n_items,
        "first key left out": lambda sample: sample.threshold,
        "keys": lambda sample: sample.key,
        "items": lambda sample: np.where(np.isfinite(sample.log_proba), sample.log_proba, 0.0),
        "weights": lambda sample: sample.block(for_all=True).weight,
    },
}

#: What `facts` holds that is no fitted number itself; None where a team has no such fact.
FACTS: dict[str, Get] = {
    "human accuracy": lambda facts: facts.get("human", {}).get("accuracy"),
    "human accuracy per class": lambda facts: list(facts.get("human", {}).get("accuracy_per_class", {}).values()),
    "model accuracy": lambda facts: facts.get("model", {}).get("accuracy"),
    "temperature": lambda facts: facts.get("model", {}).get("temperature"),
    "range of accuracies": lambda facts: facts.get("people", {}).get("nine_in_ten"),
    "with enough answers": lambda facts: facts.get("people", {}).get("with_enough_answers"),
    "confidence right": lambda facts: facts.get("confidence", {}).get("right"),
    "unsure said": lambda facts: facts.get("unsure", {}).get("said"),
    "times as probable": lambda facts: facts.get("preference", {}).get("times_as_probable"),
    "weight of model": lambda facts: facts.get("weight_of_model"),
    "weight of answer": lambda facts: list(facts.get("weight_of_answer", {}).values()),
}

#: Arrays of more entries are pinned by a few sums.
MANY = 16


def numbers_of(thing: Any, prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Every pinned number of a fitted object and of its parts, flat, by a name that does not change."""
    for kind, table in NUMBERS.items():
        if isinstance(thing, kind):
            yield from _flat_entries(thing, table, prefix)
    for kind, parts in PARTS.items():
        if isinstance(thing, kind):
            for name, get in parts.items():
                if (part := get(thing)) is not None:
                    assert any(isinstance(part, known) for known in NUMBERS), f"no numbers are known of {part!r}"
                    yield from numbers_of(part, f"{prefix}{name}: ")


def facts_of(team: Any) -> Iterator[tuple[str, list[Any]]]:
    """The pinned facts of a team."""
    yield from _flat_entries(team.facts(), FACTS, "facts: ")


def trial_of(team: Any, fresh: Any) -> Iterator[tuple[str, list[Any]]]:
    """What a team makes of fresh items: probabilities, labels, explanations, and what one more answer is worth."""
    yield "predict_proba", flat(team.predict_proba(fresh), whole=True)
    yield "predict", flat(team.predict(fresh))
    if isinstance(team, th.ProbabilityLabelCombiner):
        explained = team.explain(fresh)
        yield "explain, labels", flat(explained.label)
        yield "explain, log-odds", flat(explained.log_odds)
        yield "explain, parts", flat(np.stack(list(explained.parts.values())))
    if type(team) is th.ProbabilityLabelCombiner:
        yield "expected gain", flat(th.expected_gain(team, fresh))


def _flat_entries(thing: Any, table: dict[str, Get], prefix: str) -> Iterator[tuple[str, list[Any]]]:
    for name, get in table.items():
        value = get(thing)
        if value is not None and np.size(value):
            yield prefix + name, flat(value)


def flat(value: Any, *, whole: bool = False) -> list[Any]:
    """Numbers rounded to 15 significant digits, or texts; of a long array its size and four weighted sums."""
    array = np.asarray(value)
    if array.dtype.kind in "OUS" and any(isinstance(entry, str) for entry in array.flat):
        return [str(entry) for entry in array.flat]
    array = array.astype(np.float64).ravel()
    if not whole and len(array) > MANY and np.isfinite(array).all():
        array = np.concatenate([[len(array)], _projections(len(array)) @ array])
    return [_short(number) for number in array.tolist()]


def _projections(size: int) -> np.ndarray:
    """Four weightings that no change of single entries, or of their order, leaves alike, (4, size)."""
    return np.asarray(expit(np.sin(np.outer(np.arange(1, 5), np.arange(1, size + 1)))) / np.sqrt(size))


def _short(number: float) -> float | int:
    number = float(f"{number:.15g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _ends(path: Any) -> Any:
    """The length of a path, and its first and last few steps."""
    return None if not len(path) else (len(path), *path[:3], *path[-3:])
