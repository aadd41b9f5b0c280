"""A report as numbers: one dict of plain Python objects, which is also its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation import Comparison, Predictions, without_truth
from twoheads.evaluation.comparison import compare_judged
from twoheads.evaluation.judging import Judged, judged
from twoheads.evaluation.leakage import CROSS_VALIDATED, TOO_KIND
from twoheads.evaluation.predictions import predict_all
from twoheads.evaluation.team import Team, UnfittedTeam, at_hand, class_shares_of
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, people_in
from twoheads.observations.labels import label_text
from twoheads.report.plain import plain_dict
from twoheads.report.sections import SECTIONS
from twoheads.report.sections.accuracy_bound_section import accuracy_bound_section
from twoheads.report.sections.common import unavailable
from twoheads.report.sections.confusion_section import confusion_section
from twoheads.report.sections.cost_section import cost_section
from twoheads.report.sections.exchange_section import exchange_section
from twoheads.report.sections.independence_section import independence_section
from twoheads.report.sections.items_section import items_section
from twoheads.report.sections.label_statistics_section import label_statistics_section
from twoheads.report.sections.learning_curve_section import learning_curve_section
from twoheads.report.sections.method_section import method_section
from twoheads.report.sections.methods_section import methods_note, methods_section
from twoheads.report.sections.people_section import people_section
from twoheads.report.sections.reliability_section import reliability_section
from twoheads.report.sections.temperature_section import temperature_section
from twoheads.report.verdict import verdict, verdict_without_truth
from twoheads.text import count

_NEEDS_TRUTH = "This needs items of known truth, and there are none here."
_NO_TRUTH = "the truth is not known for any of these items."
_VERSION = 2
_FIRST = ("verdict", "statistics", "headline", "notes", "cost")


def summary(
    team: Team,
    X: Any,
    y: Any = None,
    *,
    held_out: bool | None = None,
    sample_weight: ArrayLike | None = None,
    title: str = "Human and model, combined",
    date: str | None = None,
    source: Mapping[str, str] | None = None,
    methods: Mapping[str, UnfittedTeam] | None = None,
    metrics: Sequence[str] | None = None,
    n_shown: int = 10,
    n_bootstrap: int = 2000,
    random_state: int | None = 0,
) -> dict[str, Any]:
    """The content of a report, as numbers and sentences.

    Parameters
    ----------
    team : Team
        Fitted; what it must have is in `twoheads.evaluation.team`.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
        The items to evaluate the team on.
    y : array of shape (n_items,), optional
        The truth; None, NaN, -1 or blank if unknown.
    held_out : bool, optional
        Whether the items are known to be held out; by default that is found from what the team has learnt from, as in
        `twoheads.evaluation.compare`.
    sample_weight : array of shape (n_items,), optional
        How many items each stands for; an interval counts none as more than one.
    title, date : str
        The title of the page, such as the name of the data set, and its date; no date by default, so that the same data
        give the same report.
    source : mapping of str to str, optional
        What else is needed to repeat it: the files, the command.
    methods : mapping of str to UnfittedTeam, optional
        Methods to compare by `twoheads.evaluation.compare_methods`, by name: each is fitted anew on these items.
    metrics : sequence of str, optional
        Clinical and agreement statistics to show of the team, of each model and of each person, by their names in
        `twoheads.evaluation.METRICS`; by default sensitivity, Matthews' correlation, kappa and others.
    n_shown : int
        How many items of each kind are listed.
    n_bootstrap, random_state : int
        Replicates and seed of the intervals.

    Returns
    -------
    dict
        ``verdict`` (as `twoheads.report.verdict.Verdict`), ``statistics``, ``headline``, ``notes``, ``data``, ``cost``,
        and a dict per section: ``comparison``, ``people``, ``items``, ``label_statistics``, ``exchange``,
        ``reliability``, ``confusion``, ``temperature``, ``learning_curve``, ``independence``, ``accuracy_bound``,
        ``methods``, ``method``. Each has ``available`` and ``words``; a section that cannot be made has the reason in
        ``words``, and is not on the page.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 3
    >>> team = ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1] * 3)
    >>> found = summary(team, X, [0, 1, 0, 1] * 3)
    >>> found["data"]["n_items"], found["comparison"]["human"]["error"]["value"], found["data"]["how"]
    (12, 0.0, '5-fold cross-validation')
    """
    items = judged(team, X, y, sample_weight=sample_weight, held_out=held_out, random_state=random_state)
    observations, predicted = items.observations, items.predicted
    team = at_hand(team, observations)
    if items.status == CROSS_VALIDATED:
        predicted = predict_all(team, observations, items.truth, items.weight)
    reason = _why_not(items)
    evaluated = None if reason else items.predicted.take(items.predicted.true_label != MISSING)
    head = {
        "format": "twoheads report",
        "version": _VERSION,
        "title": title,
        "date": date,
        "source": dict(source or {}),
        "data": _data(observations, predicted, evaluated),
    }
    curve = learning_curve_section(team, observations, predicted.true_label, random_state)
    if evaluated is None:
        sections = _sections_without_truth(team, observations, reason, n_bootstrap, random_state)
    else:
        comparison = compare_judged(team, items, n_bootstrap=n_bootstrap, random_state=random_state)
        sections = _sections_with_truth(team, evaluated, comparison, random_state)
        found = verdict(comparison, trend=curve.get("trend", "unknown"))
        sections["verdict"] = found.as_dict()
    difference = sections["comparison"].get("difference")
    sections |= {
        "cost": cost_section(team, observations, None if difference is None else difference["better"]),
        "confusion": confusion_section(team, status=items.status),
        "people": people_section(
            team, observations, items.truth, items.weight, fitted_on_same=items.status in (CROSS_VALIDATED, TOO_KIND)
        ),
        "temperature": temperature_section(team),
        "learning_curve": curve,
        "label_statistics": label_statistics_section(team, items, metrics, reason, random_state),
        "items": items_section(team, observations, predicted, n_shown),
        "methods": methods_section(methods, items, reason, random_state),
        "method": {**method_section(team), "n_bootstrap": n_bootstrap, "random_state": random_state},
    }
    sections["notes"] = [*sections["notes"], *methods_note(sections["methods"]), *_weights_note(items)]
    content: dict[str, Any] = head | {name: sections[name] for name in (*_FIRST, *SECTIONS)}
    shares = class_shares_of(team)
    if shares is not None:
        content |= {"class_shares": shares.as_dict(), "notes": [*content["notes"], shares.sentence()]}
    return plain_dict(content)


def _data(observations: Observations, predicted: Predictions, evaluated: Predictions | None) -> dict[str, Any]:
    return {
        "n_items": len(observations),
        "n_known": int((predicted.true_label != MISSING).sum()),
        "n_classes": observations.n_classes,
        "n_people": len(people_in(observations)),
        "classes": [label_text(name) for name in observations.classes.tolist()],
        "how": None if evaluated is None else evaluated.how,
    }


def _weights_note(items: Judged) -> list[str]:
    """What takes no weights, where they differ."""
    if items.weight is None or np.ptp(items.weight[items.weight > 0]) == 0:
        return []
    return ["The learning curve, the test of independence and the bound of the accuracy count every item once."]


def _why_not(items: Judged) -> str:
    """Why the team cannot be evaluated; empty if it can."""
    n_known = int((items.truth != MISSING).sum())
    if not n_known:
        return _NEEDS_TRUTH
    if n_known == 1 and items.status == TOO_KIND:
        return (
            f"The truth is known for 1 of {count(len(items.truth), 'item')}, which the team was fitted on: no error "
            "can be measured. Label more items, or evaluate the team on others."
        )
    return ""


def _sections_without_truth(
    team: Team, observations: Observations, reason: str, n_bootstrap: int, random_state: int | None
) -> dict[str, Any]:
    known = without_truth(team, observations, n_bootstrap=n_bootstrap, random_state=random_state)
    found = known.headline() if reason == _NEEDS_TRUTH else reason
    why = _NO_TRUTH if reason == _NEEDS_TRUTH else "the truth is known for a single item, which the team was fitted on."
    return {
        "verdict": verdict_without_truth(why).as_dict(),
        "statistics": found,
        "headline": found,
        "notes": known.notes(),
        "comparison": {**unavailable(reason), "without_truth": known.as_dict()},
    } | {name: unavailable(reason) for name in ("exchange", "reliability", "independence", "accuracy_bound")}


def _sections_with_truth(
    team: Team, evaluated: Predictions, comparison: Comparison, random_state: int | None
) -> dict[str, Any]:
    numbers = comparison.as_dict()
    return {
        "statistics": comparison.statistics(),
        "headline": numbers.pop("headline"),
        "notes": numbers.pop("notes"),
        "comparison": {"available": True, "words": "", **numbers},
        "exchange": exchange_section(comparison),
        "reliability": reliability_section(evaluated, comparison),
        "independence": independence_section(evaluated, random_state),
        "accuracy_bound": accuracy_bound_section(team, evaluated),
    }
