"""Clinical and agreement statistics of the team, of each model and of each person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from twoheads.evaluation import METRICS, ScoreTable, agreement
from twoheads.evaluation.judging import Judged
from twoheads.evaluation.method_comparison import score_judged
from twoheads.evaluation.metric import Metric, chosen_metrics
from twoheads.evaluation.team import Team, positive_of
from twoheads.observations import people_in
from twoheads.observations.labels import label_text
from twoheads.report.plain import plain_dict
from twoheads.report.sections.common import unavailable
from twoheads.text import SIGNIFICANCE, count, listed

#: With two classes, of the positive one and of both; with more, of all.
_OF_POSITIVE, _OF_TWO = ("sensitivity", "specificity", "ppv", "npv"), ("mcc", "kappa", "auc")
_OF_MANY = ("mcc", "kappa", "balanced_accuracy", "macro_f1", "auc")
_MAX_CLASSES = 500  # with more, computed only where they are asked for
_MAX_PEOPLE = 20  # shown, those with most answers
_MAX_SCORED = 200  # with more people, none is a row
_TEAM = "combination"


def label_statistics_section(
    team: Team, items: Judged, metrics: Sequence[str] | None, reason: str, random_state: int | None
) -> dict[str, Any]:
    """The metrics named, by default those for labels, with intervals, and tests against the team; ``reason`` why not.

    Rows are those of `twoheads.evaluation.score_members`; of people, those with most answers.
    """
    classes = items.observations.classes
    chosen_metrics(METRICS, metrics, classes)  # a wrong name is told whatever the items are
    if reason:
        return unavailable(reason)
    if metrics is None and len(classes) > _MAX_CLASSES:
        return unavailable(
            f"With more than {_MAX_CLASSES:,} classes a report has statistics of labels only if metrics (--metrics) "
            f"names them; there are {len(classes):,}."
        )
    names = _default(team, [label_text(name) for name in classes.tolist()]) if metrics is None else metrics
    n_people = len(people_in(items.observations))
    few = n_people <= _MAX_SCORED
    table = score_judged(items, metrics=names, people=few, random_state=random_state)
    if few:  # everybody is a row: the best of them needs no other
        table = replace(table, rows=[row for row in table.rows if row.kind != "best_person"])
    people = sorted((row for row in table.rows if row.kind == "annotator"), key=lambda row: -row.n_items)
    left_out = {row.name for row in people[_MAX_PEOPLE:]}
    found = table.as_dict()
    found["rows"] = [row for row in found["rows"] if row["name"] not in left_out]
    among = agreement(items.observations, random_state=random_state)
    return plain_dict(
        {
            "available": True,
            **found,
            "n_more": len(left_out) if few else n_people,
            "columns": [_column(metric) for metric in table.metrics],
            "agreement": None if among is None else among.as_dict(),
            "words": " ".join([_words(table), *([] if among is None else [among.sentence()])]).strip(),
        }
    )


def _default(team: Team, classes: list[str]) -> list[str]:
    if len(classes) != 2:
        return list(_OF_MANY)
    positive = positive_of(team)
    yes = classes[1] if positive is None else label_text(positive)
    return [*(f"{name}[{yes}]" for name in _OF_POSITIVE), *_OF_TWO]


def _column(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "unit": metric.unit,
        "digits": metric.digits,
        "explanation": metric.explanation,
    }


def _words(table: ScoreTable) -> str:
    """Who is best by the first metric for all classes, and who differs significantly from the team."""
    metric = next((each for each in table.metrics if each.overall), table.metrics[0])
    known = [row for row in table.rows if row.scores.get(metric.name) is not None]
    if not known:
        return ""
    best = table.best(metric.name)
    extreme = "lowest" if metric.less_is_better else "highest"
    on = "" if best.n_items == table.n_items else f", on {best.n_items:,} of {count(table.n_items, 'item')}"
    start = f"The {extreme} {metric.title} is that of {_name(best.name)}{on}."
    apart = {row.name: found for row in known if (found := row.differences.get(metric.name)) is not None}
    significant = {
        name: found.value
        for name, found in apart.items()
        if found.corrected_p_value is not None and found.corrected_p_value < SIGNIFICANCE
    }
    sides = {
        "lower": [_name(name) for name, value in significant.items() if value < 0],
        "higher": [_name(name) for name, value in significant.items() if value > 0],
    }
    said = [f"significantly {side}: {listed(names)}" for side, names in sides.items() if names]
    if not apart:
        return start
    than = "; ".join(said) if said else "nobody's is significantly different"
    return f"{start} Compared with the team's, {than} (paired tests, corrected by Holm's method)."


def _name(row: str) -> str:
    return "the team" if row == _TEAM else row
