"""A report as numbers: one dict of plain Python objects, which is also its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation import (
    Comparison,
    Predictions,
    compare_predictions,
    cross_validated,
    learning_curve,
    predictions,
    without_truth,
)
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations import as_observations
from twoheads.observations.labels import label_text
from twoheads.report import sections
from twoheads.report.confusion_section import confusion_section
from twoheads.report.items import items_section
from twoheads.report.method import method_section
from twoheads.report.people_section import people_section
from twoheads.report.plain import plain
from twoheads.report.sections import missing
from twoheads.wording import count

_NEEDS_TRUTH = "This needs items of known truth, and there are none here."
_CANNOT = "nobody's error can be measured yet. Say the truth of more items, or judge the team on others."
_VERSION = 1


def summary(
    team: Any,
    X: Any,
    y: Any = None,
    *,
    fitted_on_same: bool = False,
    sample_weight: ArrayLike | None = None,
    title: str = "Human and model, combined",
    date: str | None = None,
    source: Mapping[str, str] | None = None,
    n_shown: int = 10,
    n_bootstrap: int = 2000,
    random_state: int | None = 0,
) -> dict[str, Any]:
    """Everything a report says, as numbers and sentences.

    Parameters
    ----------
    team : Combiner
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
        The items to judge the team on.
    y : array of shape (n_items,), optional
        The truth; None, NaN, -1 or blank where it is not known.
    fitted_on_same : bool
        Whether these are the items the team was fitted on: then it is judged by cross-validation.
    sample_weight : array of shape (n_items,), optional
        How often each item counts.
    title, date : str
        The report's title, and the day to print on it; no day by default, so that the same data give the same report.
    source : mapping of str to str, optional
        What else someone needs to repeat it: the files, the command.
    n_shown : int
        How many items to look at first, of each kind.
    n_bootstrap, random_state : int
        Replicates and seed of the intervals.

    Returns
    -------
    dict
        ``headline``, ``notes``, ``data``, and a dict per section: ``comparison``, ``exchange``, ``reliability``,
        ``confusion``, ``people``, ``temperature``, ``learning_curve``, ``independence``, ``accuracy_bound``, ``items``,
        ``method``.
        Each section has ``available`` and ``words``; a section that cannot be made says why.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 3
    >>> team = ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1] * 3)
    >>> found = summary(team, X, [0, 1, 0, 1] * 3, fitted_on_same=True)
    >>> found["data"]["n_items"], found["comparison"]["human"]["error"]["value"]
    (12, 0.0)
    """
    seen = as_observations(X, classes=team.classes_, model_scale=team.model_scale)
    given = predictions(team, seen, y, sample_weight=sample_weight)
    truth = given.true_label
    judged, reason = _judged(team, given, seen, sample_weight, fitted_on_same)
    found: dict[str, Any] = {
        "format": "twoheads report",
        "version": _VERSION,
        "title": title,
        "date": date,
        "source": dict(source or {}),
        "data": {
            "n_items": len(seen),
            "n_known": int((truth != MISSING).sum()),
            "n_classes": seen.n_classes,
            "n_people": len(seen.annotators),
            "classes": [label_text(name) for name in seen.classes.tolist()],
            "how": None if judged is None else judged.how,
        },
    }
    if judged is None:
        known = without_truth(team, seen, n_bootstrap=n_bootstrap, random_state=random_state)
        found |= {"headline": known.headline() if reason == _NEEDS_TRUTH else reason, "notes": known.notes()}
        found["comparison"] = {**missing(reason), "without_truth": known.as_dict()}
        for name in ("exchange", "reliability", "independence", "accuracy_bound"):
            found[name] = missing(reason)
    else:
        comparison = compare_predictions(
            judged, n_bootstrap=n_bootstrap, random_state=random_state, n_unknown=len(seen) - len(judged)
        )
        found |= {"headline": comparison.headline(), "notes": comparison.notes()}
        found |= _judged_sections(team, judged, comparison, random_state)
    found["confusion"] = confusion_section(team, fitted_on_same=fitted_on_same)
    found["people"] = people_section(team)
    found["temperature"] = sections.temperature_section(team)
    found["learning_curve"] = _curve(team, seen, truth, random_state)
    found["items"] = items_section(team, seen, given, n_shown)
    found["method"] = {**method_section(team), "n_bootstrap": n_bootstrap, "random_state": random_state}
    order = ("comparison", "exchange", "reliability", "confusion", "people", "temperature", "learning_curve")
    for name in (*order, "independence", "accuracy_bound", "items", "method"):
        found[name] = found.pop(name)
    return plain(found)  # type: ignore[no-any-return]


def _judged(
    team: Any, given: Predictions, seen: Any, sample_weight: ArrayLike | None, fitted_on_same: bool
) -> tuple[Predictions | None, str]:
    """The predictions to judge, of items whose truth is known; or None and why there are none."""
    known = given.true_label != MISSING
    if not known.any():
        return None, _NEEDS_TRUTH
    if not fitted_on_same:
        return given.take(known), ""
    if known.sum() < 2:
        return None, f"The truth is known for 1 of {count(len(given), 'item')}, which the team has learnt: {_CANNOT}"
    return cross_validated(team, seen, _labels(given), sample_weight=sample_weight), ""


def _labels(given: Predictions) -> Any:
    labels = np.full(len(given), None, dtype=object)
    known = given.true_label != MISSING
    labels[known] = given.classes[given.true_label[known]]
    return labels


def _judged_sections(
    team: Any, judged: Predictions, comparison: Comparison, random_state: int | None
) -> dict[str, Any]:
    numbers = comparison.as_dict()
    told = {key: value for key, value in numbers.items() if key not in ("headline", "notes")}
    return {
        "comparison": {"available": True, "words": "", **told},
        "exchange": sections.exchange_section(comparison),
        "reliability": sections.reliability_section(judged, comparison),
        "independence": sections.independence_section(judged, random_state),
        "accuracy_bound": sections.bound_section(team, judged),
    }


def _curve(team: Any, seen: Any, truth: Codes, random_state: int | None) -> dict[str, Any]:
    labels = np.full(len(truth), None, dtype=object)
    known = truth != MISSING
    labels[known] = seen.classes[truth[known]]
    if known.sum() < 8:
        return missing(f"A learning curve needs at least 8 items of known truth; there are {int(known.sum())}.")
    return sections.curve_section(learning_curve(team, seen, labels, n_repeats=5, random_state=random_state))
