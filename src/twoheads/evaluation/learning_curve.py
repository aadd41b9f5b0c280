"""Learning curves: error and log loss against the number of truth labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation.bootstrap import LEVEL, Z_95, Score
from twoheads.evaluation.cross_validation import fitted_on
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.predictions import predict_all
from twoheads.evaluation.team import UnfittedTeam, positive_of
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.inference.discordant import paired_interval
from twoheads.kernels.scoring import scores
from twoheads.kernels.scoring.ties import label_error
from twoheads.observations import Observations, as_observations, as_truth, matched_rows
from twoheads.observations.frames import new_frame
from twoheads.rendering.notebook import Shown
from twoheads.text import count

MAX_LABELLED = 20_000  # labelled items used
MAX_UNLABELLED = 2_000  # items without truth in every fit
MIN_LABELS = 8
_FLAT = 0.005  # a gain that is surely smaller is next to none


@dataclass(frozen=True, repr=False)
class LearningCurve(Shown):
    """Error and log loss on held-out items against the number of truth labels in the fit.

    Attributes
    ----------
    sizes : list of int
        Numbers of truth labels.
    error, log_loss : list of Score
        At each size, on held-out items; the intervals include the variance over items and over the labels drawn.
    gain : Score or None
        Decrease of the error over the last doubling of the labels (from about half of the largest size to it);
        above 0 is better.
    n_items, n_fits : int
        Items of known truth, and number of fits.
    """

    sizes: list[int]
    error: list[Score]
    log_loss: list[Score]
    gain: Score | None
    n_items: int
    n_fits: int

    def summary(self) -> dict[str, Any]:
        """What a terminal and a notebook show."""
        return {"verdict": self.verdict(), "sizes": self.sizes, "error": self.error, "n_items": self.n_items}

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per number of labels, as a frame of a library."""
        columns: dict[str, Any] = {"n_labels": self.sizes}
        for name, found in (("error", self.error), ("log_loss", self.log_loss)):
            for end, key in (("", "value"), ("_low", "low"), ("_high", "high")):
                columns[f"{name}{end}"] = [getattr(score, key) for score in found]
        return new_frame(columns, kind)

    @property
    def trend(self) -> str:
        """The error over the last doubling: "falling", "flat", "unclear", or "unknown" with too few labels."""
        if self.gain is None or self.gain.low is None or self.gain.high is None:
            return "unknown"
        if self.gain.low > 0:
            return "falling"
        return "flat" if self.gain.high < _FLAT else "unclear"

    def verdict(self) -> str:
        """Whether more labels would help."""
        largest, trend = self.sizes[-1], self.trend
        if self.gain is None or self.gain.low is None or self.gain.high is None:
            return "There are too few truth labels to estimate the gain from more: label some more and repeat."
        last = f"Over the last doubling, to {count(largest, 'truth label')}, the error changed by"
        change = f"{last} {_points(-self.gain.value)} points [{_points(-self.gain.high)} to {_points(-self.gain.low)}]"
        if trend == "falling":
            return f"{change}: more labels help; another {largest:,} would gain at most about as much."
        if trend == "flat":
            return f"{change}: the curve is flat; more labels would hardly lower the error."
        return f"{change}: no significant gain; more labels may help a little, if at all."

    def as_dict(self) -> dict[str, Any]:
        """All numbers and the verdict as plain Python objects that JSON can hold."""
        return {"verdict": self.verdict(), "trend": self.trend, **asdict(self)}


def learning_curve(
    team: UnfittedTeam,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[int] | None = None,
    n_repeats: int = 8,
    held_out: float = 0.25,
    random_state: int | None = 0,
) -> LearningCurve:
    """Fit clones of a team on growing numbers of truth labels and evaluate them on held-out items.

    In each repeat a share of the labelled items is held out, and clones are fitted on the first labels of the rest in
    random order. Every clone also gets the items without truth (2,000 of them at most). With R repeats the variance of
    a score is that of the items' mean losses, plus that over repeats divided by R; the interval of an error is at least
    3 / n to either side, for events that have not occurred among n items. That of the gain is of paired differences, as
    in `compare`.

    Parameters
    ----------
    team : UnfittedTeam
        Fitted or not; it is cloned and not changed.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,)
        The truth; None, NaN, -1 or blank if unknown.
    sizes : sequence of int, optional
        Numbers of labels to fit on; by default from 5 to all, in at most 6 steps.
    n_repeats : int
        Number of repeats; there are ``n_repeats * len(sizes)`` fits.
    held_out : float
        Share of the labelled items to evaluate on.
    random_state : int or None
        Seed.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 4
    >>> learning_curve(ProbabilityLabelCombiner(), X, [0, 1, 0, 1] * 4, n_repeats=2).sizes
    [5, 6, 12]
    """
    if not 0 < held_out < 1:
        raise InvalidParameter(f"held_out must be between 0 and 1; it is {held_out!r}.")
    rng = np.random.default_rng(random_state)
    y, _ = matched_rows(X, y)
    observations = as_observations(X, y=y, positive=positive_of(team), model_scale=team.model_scale)
    truth = as_truth(y, observations)
    known, unknown = np.flatnonzero(truth != MISSING), np.flatnonzero(truth == MISSING)
    if len(known) < MIN_LABELS:
        raise InvalidObservations(
            f"a learning curve needs at least {MIN_LABELS} items of known truth; there are {len(known)}. "
            "Label more items."
        )
    known = rng.permutation(known)[:MAX_LABELLED]
    unknown = rng.permutation(unknown)[:MAX_UNLABELLED]
    n_held_out = max(1, round(held_out * len(known)))
    steps = _sizes(sizes, len(known) - n_held_out)
    losses = np.full((2, whole_number(n_repeats, "n_repeats"), len(steps), len(known)), np.nan)
    for repeat in range(n_repeats):
        place = rng.permutation(len(known))
        evaluated, training = place[:n_held_out], known[place[n_held_out:]]
        for at, size in enumerate(steps):
            rows = np.concatenate([training[:size], unknown])
            losses[:, repeat, at, evaluated] = held_out_losses(team, observations, truth, rows, known[evaluated])
    error, log_loss = (
        [loss_score(losses[kind, :, at], is_error=is_error) for at in range(len(steps))]
        for kind, is_error in ((0, True), (1, False))
    )
    half = int(np.argmin(np.abs(np.array(steps[:-1]) - steps[-1] / 2))) if len(steps) > 1 else None
    gain = None if half is None else _gain(losses[0, :, half] - losses[0, :, -1])
    return LearningCurve(steps, error, log_loss, gain, len(known), n_repeats * len(steps))


def _points(share: float) -> str:
    """Write a difference of shares in percentage points."""
    text = f"{100 * share:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def _sizes(sizes: Sequence[int] | None, most: int) -> list[int]:
    if sizes is None:
        half = max(1, most // 2)
        return sorted({*np.geomspace(min(5, half), half, 5).round().astype(int).tolist(), half, most})
    steps = sorted({whole_number(size, "sizes") for size in sizes})
    if not steps or steps[-1] > most:
        raise InvalidParameter(
            f"sizes must be at most {most}, the labels that are not held out; the largest is {max(steps, default=0)}."
        )
    return steps


def held_out_losses(
    team: UnfittedTeam,
    observations: Observations,
    truth: Codes,
    rows: Codes,
    held_out: Codes,
    true_label: Codes | None = None,
) -> Floats:
    """Error and log loss of each held-out item, (2, n_held_out), by a clone fitted on ``rows``.

    true_label  the truth of held-out items, if ``truth`` is what the clone may know
    """
    judged_by = truth if true_label is None else true_label
    fitted = fitted_on(team, observations.take(rows), truth[rows], None)
    found = predict_all(fitted, observations.take(held_out).aligned(fitted.classes_), judged_by[held_out], None)
    wrong = label_error(found.combined_proba.T, found.true_label)
    return np.stack([wrong, scores.log_losses(found.combined_proba.T, found.true_label)])


def _gain(difference: Floats) -> Score:
    """Mean of paired differences of errors (n_repeats, n_items), NaN if an item was not held out, by item."""
    held_out = ~np.isnan(difference).all(axis=0)
    by_item = np.nanmean(difference[:, held_out], axis=0)
    value = float(np.nanmean(difference, axis=1).mean())
    if len(by_item) < 2 or len(difference) < 2:
        return Score(value, None, None)
    low, high = paired_interval(by_item, np.ones(len(by_item)), LEVEL)
    return Score(value, min(low, value), max(high, value))


def loss_score(losses: Floats, *, is_error: bool) -> Score:
    """Mean and interval of losses (n_repeats, n_items), NaN if an item was not held out."""
    by_repeat = np.nanmean(losses, axis=1)
    value = float(by_repeat.mean())
    held_out = ~np.isnan(losses).all(axis=0)
    by_item = np.nanmean(losses[:, held_out], axis=0)
    if len(by_item) < 2 or len(by_repeat) < 2:
        return Score(value, None, None)
    variance = by_item.var(ddof=1) / len(by_item) + by_repeat.var(ddof=1) / len(by_repeat)
    half = Z_95 * float(np.sqrt(variance))
    if is_error:
        half = max(half, 3.0 / len(by_item))
    return Score(value, max(0.0, value - half), min(1.0, value + half) if is_error else value + half)
