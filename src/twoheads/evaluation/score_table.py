"""Methods and members side by side: every metric with an interval, and paired differences from a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidParameter
from twoheads.evaluation import score_table_text
from twoheads.evaluation.alone import Forecast
from twoheads.evaluation.bootstrap import LEVEL, MIN_ITEMS, Resampling, Score, difference_score, resampling
from twoheads.evaluation.metric import Metric, ScoredItems
from twoheads.evaluation.score_rows import PairedDifference, ScoreRow
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.discordant import differing_items, mid_p_value
from twoheads.kernels.inference.multiplicity import holm
from twoheads.kernels.inference.paired import paired_t
from twoheads.kernels.scoring.scores import weighted_mean
from twoheads.observations.frames import new_frame


@dataclass(frozen=True)
class ScoreTable:
    """Methods and members on the same items, with 95 % intervals.

    Attributes
    ----------
    how : str
        How the methods were judged: "5-fold cross-validation", "held out", ...
    n_items : int
        Items of known truth.
    reference : str
        The row that the others are compared with.
    metrics : list of Metric
    rows : list of ScoreRow
        Methods in the order given, then members alone.
    frame_kind : {"pandas", "polars", "pyarrow"}
        What `to_frame` gives: the kind of frame that the items came in.
    """

    how: str
    n_items: int
    reference: str
    metrics: list[Metric]
    rows: list[ScoreRow]
    frame_kind: str = "pandas"

    def row(self, name: str) -> ScoreRow:
        """The row of a name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise InvalidParameter(f"name must be one of {', '.join(row.name for row in self.rows)}; it is {name!r}.")

    def metric(self, name: str) -> Metric:
        """The metric of a name."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        names = ", ".join(metric.name for metric in self.metrics)
        raise InvalidParameter(f"metric must be one of {names}; it is {name!r}.")

    def best(self, metric: str | None = None) -> ScoreRow:
        """The row with the best value of a metric, by default the first; differences tell whether that is chance."""
        chosen = self.metrics[0] if metric is None else self.metric(metric)
        known = {row.name: score.value for row in self.rows if (score := row.scores.get(chosen.name)) is not None}
        if not known:
            raise InvalidParameter(f"metric must be known of a row at least; {chosen.name} is of none.")
        return self.row((min if chosen.less_is_better else max)(known, key=known.__getitem__))

    def columns(self) -> dict[str, list[Any]]:
        """One entry per row and metric, as columns."""
        return score_table_text.columns(self)

    def to_frame(self) -> Any:
        """One line per row and metric, as a frame of the kind that the items came in."""
        return new_frame(self.columns(), self.frame_kind)

    def to_latex(self) -> str:
        """A table of the values with their intervals, for LaTeX with the package booktabs."""
        return score_table_text.latex(self)

    def as_dict(self) -> dict[str, Any]:
        """All numbers as plain Python objects that JSON can hold."""
        head = {"how": self.how, "n_items": self.n_items, "reference": self.reference}
        return {**head, "metrics": [metric.name for metric in self.metrics], "rows": [asdict(row) for row in self.rows]}

    def __repr__(self) -> str:
        return score_table_text.short(self)

    def _repr_html_(self) -> str:
        return score_table_text.html(self)


def score_table(
    forecasts: Sequence[Forecast],
    true_label: Codes,
    weight: Floats | None,
    metrics: list[Metric],
    *,
    reference: str,
    how: str,
    random_state: int | None = 0,
) -> ScoreTable:
    """Score forecasts of the same items of known truth, and compare each with the reference.

    true_label, weight  (n_items,)
    """
    weight = np.ones(len(true_label)) if weight is None else weight
    draws = resampling(len(true_label), 2000, np.random.default_rng(random_state))
    items = _Items(true_label, weight, draws)
    known = {forecast.name: forecast for forecast in forecasts}
    rows = [items.row(forecast, known[reference], metrics) for forecast in forecasts]
    return ScoreTable(how, len(true_label), reference, metrics, _corrected(rows, metrics))


@dataclass(frozen=True, eq=False)
class _Items:
    """Items of known truth, and the replicates of all that is compared on them."""

    true_label: Codes
    weight: Floats
    draws: Resampling

    def scored(self, forecast: Forecast, here: NDArray[np.bool_]) -> ScoredItems:
        """What a forecast says of some of the items."""
        shares, truth = forecast.shares[:, here], self.true_label[here]
        error = 1.0 - shares[truth, np.arange(len(truth))]
        proba, ranking = (None if each is None else each[:, here] for each in (forecast.proba, forecast.ranking))
        return ScoredItems(truth, error, proba, self.weight[here], self.draws.take(here), shares, ranking)

    def labelled(self, forecast: Forecast) -> NDArray[np.bool_]:
        """Which items a forecast has labelled, of positive weight."""
        return np.asarray(~np.isnan(forecast.shares[0]) & (self.weight > 0))

    def row(self, forecast: Forecast, reference: Forecast, metrics: list[Metric]) -> ScoreRow:
        """The scores of a forecast, and its differences from the reference."""
        here = self.labelled(forecast)
        scored = self.scored(forecast, here)
        scores = {metric.name: _score(metric, scored) for metric in metrics}
        both = here & self.labelled(reference)
        if forecast.name == reference.name or not both.any():
            return ScoreRow(forecast.name, forecast.kind, int(here.sum()), scores)
        mine, theirs = self.scored(forecast, both), self.scored(reference, both)
        differences = {metric.name: _difference(metric, mine, theirs) for metric in metrics}
        return ScoreRow(forecast.name, forecast.kind, int(here.sum()), scores, differences)


def _score(metric: Metric, items: ScoredItems) -> Score | None:
    return None if metric.needs_proba and items.proba is None else metric.score(items)


def _difference(metric: Metric, mine: ScoredItems, theirs: ScoredItems) -> PairedDifference | None:
    if metric.needs_proba and (mine.proba is None or theirs.proba is None):
        return None
    if metric.parts is None:
        one, two = metric.score(mine), metric.score(theirs)
        return None if one is None or two is None else PairedDifference(one.value - two.value, None, None)
    if metric.among is not None and metric.code is not None:
        return _share_difference(metric.among(mine.true_label, metric.code), metric.code, mine, theirs)
    parts = metric.parts(mine), metric.parts(theirs)
    if parts[0] is None or parts[1] is None:
        return None
    apart, weight = parts[0] - parts[1], mine.weight
    if metric.name == "error":
        return _mid_p_difference(apart, weight)
    if len(apart) < MIN_ITEMS:
        return PairedDifference(weighted_mean(apart, weight), None, None)
    return PairedDifference(*paired_t(apart, weight, LEVEL))


def _share_difference(
    among: NDArray[np.bool_], code: int, mine: ScoredItems, theirs: ScoredItems
) -> PairedDifference | None:
    """Of the shares of the same items that are rightly given, or not given, the label of a class."""
    one, two = mine.label, theirs.label
    if one is None or two is None or not among.any():
        return None
    sign = np.where(mine.true_label == code, 1.0, -1.0)
    return _mid_p_difference((sign * (one[code] - two[code]))[among], mine.weight[among])


def _mid_p_difference(apart: Floats, weight: Floats) -> PairedDifference:
    """The mean of paired differences from -1 to 1, with the interval and p-value of McNemar's mid-p test."""
    found = difference_score(apart, weight)
    return PairedDifference(found.value, found.low, found.high, mid_p_value(differing_items(apart, weight)))


def _corrected(rows: list[ScoreRow], metrics: list[Metric]) -> list[ScoreRow]:
    """The rows with p-values corrected for the number of rows, metric by metric."""
    found = [dict(row.differences) for row in rows]
    for metric in metrics:
        each = [row.get(metric.name) for row in found]
        p = np.array([np.nan if one is None or one.p_value is None else one.p_value for one in each])
        for row, one, corrected in zip(found, each, holm(p).tolist(), strict=True):
            if one is not None and one.p_value is not None:
                row[metric.name] = replace(one, corrected_p_value=corrected)
    return [replace(row, differences=differences) for row, differences in zip(rows, found, strict=True)]
