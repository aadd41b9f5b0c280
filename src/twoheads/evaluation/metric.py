"""What a metric of a comparison is, and the items that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidParameter
from twoheads.evaluation.bootstrap import Resampling, Score
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring.ties import top_shares
from twoheads.observations.labels import label_text
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Items of one member of a comparison, as the metrics take them.

    true_label  (n_items,), codes
    error       (n_items,) 0 if the label is right, 1 if wrong, between for a tie among several people
    proba       (n_classes, n_items), or None for a member that gives labels only
    weight      (n_items,)
    replicates  the bootstrap replicates of these items
    shares      (n_classes, n_items) the labels, one-hot or shared by a tie; by default of the most probable class
    ranking     (n_classes, n_items) by which items are ranked for each class; by default ``proba``
    """

    true_label: Codes
    error: Floats
    proba: Floats | None
    weight: Floats
    replicates: Resampling
    shares: Floats | None = None
    ranking: Floats | None = None

    @property
    def known_proba(self) -> Floats:
        """``proba`` of a member that gives probabilities."""
        assert self.proba is not None
        return self.proba

    @property
    def label(self) -> Floats | None:
        """The labels as shares, (n_classes, n_items); None where only the errors are known."""
        if self.shares is not None or self.proba is None:
            return self.shares
        return top_shares(self.proba)

    @property
    def ranked_by(self) -> Floats | None:
        """By which items are ranked for each class, (n_classes, n_items); None for labels without a confidence."""
        return self.proba if self.ranking is None else self.ranking


@dataclass(frozen=True, repr=False)
class Metric(Shown):
    """One metric of a comparison.

    Attributes
    ----------
    name : str
        Its key in JSON and its attribute of `Member`.
    score : callable
        From `ScoredItems` to a `Score`; None where it is not defined for them.
    title, short_title : str
        Its names on the page, and in the table of the command line.
    explanation : str
        What it measures, in one sentence.
    unit : str
        "%" for a share, which is shown in per cent.
    digits : int
        How many decimals are shown.
    less_is_better, needs_proba : bool
    shown : bool
        Whether it is shown where no metrics are named.
    parts : callable, optional
        From `ScoredItems` to numbers, (n_items,), whose weighted mean is the metric: two members are compared by them.
    of_class : callable, optional
        From the code of a class to the metric's ``score`` and ``parts`` for that class alone.
    overall : bool
        Whether it also has one number for all classes.
    among : callable, optional
        Of a metric of one class that is the share of right labels among items that the truth alone decides: from true
        labels, (n_items,), and the code of the class to which these are. Two members have the same items there, and are
        compared as their errors are.
    code : int, optional
        The class of a metric of one class.
    """

    name: str
    score: Callable[[ScoredItems], Score | None]
    title: str
    short_title: str
    explanation: str
    unit: str = ""
    digits: int = 3
    less_is_better: bool = True
    needs_proba: bool = True
    shown: bool = True
    parts: Callable[[ScoredItems], Floats | None] | None = None
    of_class: Callable[[int], tuple[Callable[[ScoredItems], Score | None], Callable[[ScoredItems], Floats | None]]] | (
        None
    ) = None
    overall: bool = True
    among: Callable[[Codes, int], NDArray[np.bool_]] | None = None
    code: int | None = None

    def summary(self) -> dict[str, Any]:
        """What a terminal and a notebook show."""
        return {"name": self.name, "title": self.title, "explanation": self.explanation, "unit": self.unit}

    @property
    def scale(self) -> float:
        """Factor from the value to the number shown."""
        return 100.0 if self.unit == "%" else 1.0

    def text(self, value: float | None) -> str:
        """The number shown, without its unit; a dash if there is none."""
        return "–" if value is None else f"{self.scale * value:.{self.digits}f}"

    def for_class(self, code: int, label: str) -> Metric:
        """The metric of one class, by the name ``metric[class]``."""
        assert self.of_class is not None
        score, parts = self.of_class(code)
        return replace(
            self,
            name=f"{self.name}[{label}]",
            title=f"{self.title} of {label}",
            short_title=f"{self.short_title} {label}",
            score=score,
            parts=parts,
            of_class=None,
            code=code,
        )


def chosen_metrics(metrics: list[Metric], names: Any, classes: NDArray[Any]) -> list[Metric]:
    """The metrics of these names, those of single classes by ``metric[class]``; None for those shown by default.

    A metric without a number for all classes gives one metric per class.
    """
    if names is None:
        return [metric for metric in metrics if metric.shown]
    labels = [label_text(name) for name in np.asarray(classes).tolist()]
    found: list[Metric] = []
    for name in [names] if isinstance(names, str) else names:
        found += _named(metrics, str(name).strip(), labels)
    if not found:
        raise InvalidParameter("metrics must name at least one metric; it is empty.")
    return list({metric.name: metric for metric in found}.values())


def _named(metrics: list[Metric], name: str, labels: list[str]) -> list[Metric]:
    base, _, rest = name.partition("[")
    metric = next((each for each in metrics if each.name == base), None)
    if metric is None:
        known = ", ".join(each.name for each in metrics)
        raise InvalidParameter(f"metrics must name metrics of twoheads.evaluation.METRICS; {name!r} is none: {known}.")
    if not rest:
        if metric.overall or metric.of_class is None:
            return [metric]
        return [metric.for_class(code, label) for code, label in enumerate(labels)]
    label = rest.removesuffix("]")
    if metric.of_class is None or label not in labels:
        what = f"{base} has no numbers by class" if metric.of_class is None else f"the classes are {', '.join(labels)}"
        raise InvalidParameter(
            f"metrics must name a metric, or one of a class as 'sensitivity[CLASS]'; {name!r}: {what}."
        )
    return [metric.for_class(labels.index(label), label)]
