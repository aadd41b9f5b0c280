"""Sections of a report that need known truth, or the team's calibrator, as plain numbers and words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from twoheads.evaluation import (
    Comparison,
    LearningCurve,
    Predictions,
    check_accuracy_bound,
    independence,
    reliability_curve,
)
from twoheads.evaluation.bootstrap import Z_95
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.report.plain import plain
from twoheads.text import count, p_value, percent

_SOME = 20_000  # items looked at for dependence


def missing(words: str) -> dict[str, Any]:
    """Stand in for a section that cannot be made, and say why."""
    return {"available": False, "words": words}


def reliability_section(judged: Predictions, comparison: Comparison) -> dict[str, Any]:
    """Confidence against accuracy, of the model before and of the combination after."""
    truth, classes = judged.classes[judged.true_label], judged.classes
    n_bins = int(np.clip(len(judged) // 20, 1, 15))
    curves: dict[str, Any] = {}
    if comparison.model is not None:
        here = judged.has_model
        curves["model"] = asdict(
            reliability_curve(truth[here], judged.model_proba[here], classes=classes, n_bins=n_bins)
        )
    curves["combination"] = asdict(reliability_curve(truth, judged.combined_proba, classes=classes, n_bins=n_bins))
    gaps = {}
    for name in curves:
        rows = judged.model_proba[judged.has_model] if name == "model" else judged.combined_proba
        wrong = getattr(comparison, name).error.value
        gaps[name] = float(rows.max(axis=1).mean() - (1.0 - wrong))
    section = {"available": True, "n_bins": n_bins, "curves": plain(curves), "overconfidence": gaps}
    section["words"] = " ".join(
        _gap_words("The model" if name == "model" else "The combination", gap) for name, gap in gaps.items()
    )
    return section


def _gap_words(who: str, gap: float) -> str:
    if abs(gap) < 0.01:
        return f"{who} is right about as often as it says."
    side = "surer than it should be" if gap > 0 else "more often right than it says"
    return f"{who} is {side}: by {100 * abs(gap):.1f} points on average."


def temperature_section(team: Any) -> dict[str, Any]:
    """How far the model's confidence was turned down, with a 95 % interval; only for temperature scaling."""
    calibrator = getattr(team, "calibrator_", None)
    temperature = getattr(calibrator, "temperature_", None)
    if calibrator is None or not isinstance(temperature, int | float):
        name = "has no calibrator" if calibrator is None else f"calibrates by {type(calibrator).__name__}"
        return missing(f"This method {name}, so there is no temperature to show.")
    sd = float(getattr(calibrator, "log_temperature_sd_", 0.0))
    log_temperature = float(np.log(temperature))
    known = 0.0 < sd < 10.0
    low, high = (float(np.exp(log_temperature + sign * Z_95 * sd)) if known else None for sign in (-1, 1))
    params = calibrator.get_params()
    has_prior = params.get("estimate") != "likelihood" and "log_temperature_mean" in params
    section: dict[str, Any] = {
        "available": True,
        "temperature": float(temperature),
        "low": low,
        "high": high,
        "log_temperature": log_temperature,
        "log_temperature_sd": sd if known else None,
        "prior_mean": float(params["log_temperature_mean"]) if has_prior else None,
        "prior_sd": float(params["log_temperature_sd"]) if has_prior else None,
    }
    interval = f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""
    said = f"The temperature is {temperature:.2f}{interval}"
    example = 0.95
    cooled = example ** (1 / temperature) / (example ** (1 / temperature) + (1 - example) ** (1 / temperature))
    section["example"] = {"says": example, "means": float(cooled)}
    change = f"between two classes, a “95 %” of this model means {_about(cooled)}"
    if getattr(team, "n_labelled_", 1) == 0:
        section["words"] = (
            f"{said}, believed, not measured: without truth only people's agreement with the model tells how sure it "
            "may be."
        )
    elif low is not None and high is not None and low <= 1 <= high:
        section["words"] = f"{said}, about 1 as far as these labels tell: the model is about as sure as it should be."
    elif temperature > 1.05:
        section["words"] = f"{said}, above 1: the model is surer than it should be; {change}."
    elif temperature < 0.95:
        section["words"] = f"{said}, below 1: the model is less sure than it could be; {change}."
    else:
        section["words"] = f"{said}, about 1: the model is about as sure as it should be."
    return section


def _about(share: float) -> str:
    return "more than 99 %" if share > 0.99 else f"about {100 * share:.0f} %"


def exchange_section(comparison: Comparison) -> dict[str, Any]:
    """Where each partner saves the other."""
    partners = {"human": comparison.human_exchange, "model": comparison.model_exchange}
    section: dict[str, Any] = {"available": True}
    said = []
    for name, exchange in partners.items():
        section[name] = None if exchange is None else asdict(exchange)
        if exchange is not None:
            said.append(
                f"It corrects {count(exchange.rescued, 'mistake')} of the {name} and spoils "
                f"{count(exchange.lost, 'right answer')}"
            )
    section["words"] = "; ".join([said[0], *(part[0].lower() + part[1:] for part in said[1:])]) + "." if said else ""
    return section


def independence_section(judged: Predictions, random_state: int | None) -> dict[str, Any]:
    """Whether human and model err on the same items, in words."""
    rows = np.flatnonzero((judged.human_label != MISSING) & judged.has_model)
    if len(rows) < 2:
        return missing("This needs at least two items of known truth that both human and model judged.")
    rows = rows[:: max(1, len(rows) // _SOME)]
    classes = judged.classes
    found = independence(
        judged.model_proba[rows],
        classes[judged.human_label[rows]],
        classes[judged.true_label[rows]],
        classes=classes,
        n_permutations=500,
        random_state=random_state,
    )
    human_wrong = judged.human_label[rows] != judged.true_label[rows]
    model_wrong = judged.model_label[rows] != judged.true_label[rows]
    both = float((human_wrong & model_wrong).mean())
    expected = _both_if_independent(human_wrong, model_wrong, judged.true_label[rows])
    section: dict[str, Any] = {
        "available": True,
        "n_items": len(rows),
        "conditional_mutual_information": found.conditional_mutual_information,
        "by_chance": found.by_chance,
        "p_value": found.p_value,
        "both_wrong": both,
        "both_wrong_if_independent": expected,
    }
    shares = (
        f"both are wrong on {percent(both, 1)} of the items, where errors that are independent within each class would "
        f"give {percent(expected, 1)}"
    )
    if found.p_value < 0.05 and both <= expected:
        section["words"] = (
            f"What human and model answer is related beyond the truth ({p_value(found.p_value)}), but they do not err "
            f"on the same items more often for it: {shares}."
        )
    elif found.p_value < 0.05:
        section["words"] = (
            f"Human and model tend to err on the same items ({p_value(found.p_value)}): {shares}. "
            "Their agreement is worth less than it seems; a method that allows for dependence, or a second "
            "person on hard items, helps."
        )
    else:
        section["words"] = (
            f"No clear sign that human and model err on the same items ({p_value(found.p_value)}): {shares}, a "
            "difference that chance alone may make."
        )
    return plain(section)  # type: ignore[no-any-return]


def _both_if_independent(human_wrong: Any, model_wrong: Any, truth: Codes) -> float:
    """Share of items on which both would be wrong if, within each true class, each erred as often but independently."""
    n_items = np.maximum(np.bincount(truth), 1)
    human, model = (np.bincount(truth, wrong) for wrong in (human_wrong, model_wrong))
    return float((human * model / n_items).sum() / len(truth))


def bound_section(team: Any, judged: Predictions) -> dict[str, Any]:
    """Theorem 1 of Kerrigan et al. (2021) beside what was measured."""
    confusion = getattr(team, "confusion_", None)
    if confusion is None or judged.calibrated_proba is None:
        return missing(
            "The theorem is about calibrated probabilities times a confusion matrix; this method is another."
        )
    matrix = np.asarray(confusion.human_given_true_)
    if matrix.ndim != 2:
        return missing("The theorem is about one person and one model; here are several people.")
    rows = np.flatnonzero((judged.human_label != MISSING) & judged.has_model)
    if len(rows) == 0:
        return missing("This needs items of known truth that both human and model judged.")
    classes = judged.classes
    found = check_accuracy_bound(
        judged.calibrated_proba[rows],
        matrix,
        classes[judged.human_label[rows]],
        classes[judged.true_label[rows]],
        stronger=True,
        classes=classes,
    )
    measured = float((judged.combined_label[rows] == judged.true_label[rows]).mean())
    return {
        "available": True,
        "n_items": len(rows),
        "bound": found.bound,
        "product_accuracy": found.accuracy,
        "accuracy": measured,
        "words": (
            f"Theory promises the plain product of the two at least {percent(found.bound, 1)} right on these items; "
            f"the product is right on {percent(found.accuracy, 1)} and the combination on {percent(measured, 1)}."
        ),
    }


def curve_section(curve: LearningCurve) -> dict[str, Any]:
    """Error against the number of truth labels."""
    found = curve.as_dict()
    return {"available": True, "words": found.pop("verdict"), **plain(found)}
