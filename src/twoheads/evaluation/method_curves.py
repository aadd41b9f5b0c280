"""Learning curves of several methods on the same draws, from no label on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations, InvalidParameter, TwoheadsError
from twoheads.evaluation.bootstrap import Score
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.learning_curve import MAX_LABELLED, MAX_UNLABELLED, MIN_LABELS, held_out_losses, loss_score
from twoheads.evaluation.method_comparison import Progress
from twoheads.evaluation.team import UnfittedTeam, positive_of
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations, as_observations, as_truth, matched_rows
from twoheads.observations.frames import frame_kind, new_frame
from twoheads.rendering.notebook import Shown, html_table


@dataclass(frozen=True)
class MethodCurves(Shown):
    """Error and log loss of several methods against the number of truth labels, on the same draws.

    Attributes
    ----------
    sizes : list of int
        Numbers of truth labels.
    error, log_loss : dict of str to list of Score or None
        Of each method, at each size; None where it cannot be fitted with so few labels.
    n_items, n_repeats : int
        Items of known truth, and draws.
    refusals : dict of str to str
        Why a method could not be fitted at its smallest sizes.
    """

    sizes: list[int]
    error: dict[str, list[Score | None]]
    log_loss: dict[str, list[Score | None]]
    n_items: int
    n_repeats: int
    refusals: dict[str, str]
    frame_kind: str = "pandas"

    def columns(self) -> dict[str, list[Any]]:
        """One entry per method, size and metric, as columns."""
        lines = [
            (name, size, metric, *((None,) * 3 if score is None else (score.value, score.low, score.high)))
            for metric, found in (("error", self.error), ("log_loss", self.log_loss))
            for name, scores in found.items()
            for size, score in zip(self.sizes, scores, strict=True)
        ]
        names = ("method", "n_labels", "metric", "value", "low", "high")
        return {name: [line[at] for line in lines] for at, name in enumerate(names)}

    def to_frame(self) -> Any:
        """One line per method, size and metric, as a frame of the kind that the items came in."""
        return new_frame(self.columns(), self.frame_kind)

    def as_dict(self) -> dict[str, Any]:
        """All numbers as plain Python objects that JSON can hold."""
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = [
            [name, title, *(_cell(score, scale, digits) for score in found[name])]
            for name in self.error
            for title, found, scale, digits in (
                ("error %", self.error, 100.0, 1),
                ("log loss", self.log_loss, 1.0, 3),
            )
        ]
        table = html_table(["method", "truth labels", *(f"{size:,}" for size in self.sizes)], rows)
        return table + "".join(f"<p>{escape(f'{name}: {why}')}</p>" for name, why in self.refusals.items())

    def __repr__(self) -> str:
        names = ", ".join(self.error)
        shown = names if len(names) <= 300 else f"{names[:300]}..."
        return f"MethodCurves of {shown} at {self.sizes[0]} to {self.sizes[-1]} truth labels, {self.n_repeats} draws"


def _cell(score: Score | None, scale: float, digits: int) -> str:
    if score is None:
        return "–"
    value, low, high = (
        None if each is None else f"{scale * each:.{digits}f}" for each in (score.value, score.low, score.high)
    )
    return str(value) if low is None or high is None else f"{value} [{low}, {high}]"


def method_curves(
    methods: Mapping[str, UnfittedTeam],
    X: Any,
    y: Any,
    *,
    sizes: Sequence[int] | None = None,
    n_repeats: int = 5,
    held_out: float = 0.25,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> MethodCurves:
    """Fit clones of methods on growing numbers of truth labels and judge them on held-out items, all on the same draws.

    In each draw a share of the labelled items is held out. Of the others the first n keep their truth and the rest are
    items without truth, beside those that have none (2,000 in all at most): at n = 0 a method has no truth at all. A
    method that cannot be fitted at a size has no score there.

    Parameters
    ----------
    methods : mapping of str to UnfittedTeam
    X, y
        As in `compare_methods`.
    sizes : sequence of int, optional
        Numbers of labels, from 0; by default 0 and five more up to all that are not held out.
    n_repeats : int
        Number of draws.
    held_out : float
        Share of the labelled items to evaluate on.
    random_state : int or None
        Seed of the draws.
    progress : callable, optional
        Called with (fits done, fits in all).

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 4
    >>> method_curves({"P+L": ProbabilityLabelCombiner()}, X, [0, 1, 0, 1] * 4, sizes=[0, 8], n_repeats=2).sizes
    [0, 8]
    """
    if not methods:
        raise InvalidParameter("methods must hold at least one method by its name; it is empty.")
    if not 0 < held_out < 1:
        raise InvalidParameter(f"held_out must be between 0 and 1; it is {held_out!r}.")
    first = next(iter(methods.values()))
    y, _ = matched_rows(X, y)
    observations = as_observations(X, y=y, positive=positive_of(first), model_scale=first.model_scale)
    truth = as_truth(y, observations)
    draws = _draws(truth, whole_number(n_repeats, "n_repeats"), held_out, np.random.default_rng(random_state))
    steps = _sizes(sizes, len(draws[0].training))
    place = np.full(len(truth), -1)
    place[draws[0].known] = np.arange(len(draws[0].known))
    losses = np.full((len(methods), 2, len(draws), len(steps), len(draws[0].known)), np.nan)
    refusals: dict[str, str] = {}
    done = 0
    for which, (name, team) in enumerate(methods.items()):
        for repeat, draw in enumerate(draws):
            for at, size in enumerate(steps):
                found = _losses(team, observations, truth, draw, size)
                done += 1
                if isinstance(found, str):
                    refusals.setdefault(name, found)
                else:
                    losses[which, :, repeat, at, place[draw.held_out]] = found.T
                if progress is not None:
                    progress(done, len(methods) * len(draws) * len(steps))
    error, log_loss = (
        {
            name: [_score(losses[which, kind, :, at], is_error=kind == 0) for at in range(len(steps))]
            for which, name in enumerate(methods)
        }
        for kind in (0, 1)
    )
    return MethodCurves(steps, error, log_loss, len(draws[0].known), len(draws), refusals, frame_kind(X))


@dataclass(frozen=True, eq=False)
class _Draw:
    """Rows of the items of known truth, of those held out and of the others in random order, and of those without."""

    known: Codes
    held_out: Codes
    training: Codes
    unknown: Codes


def _draws(truth: Codes, n_repeats: int, held_out: float, rng: np.random.Generator) -> list[_Draw]:
    known, unknown = np.flatnonzero(truth != MISSING), np.flatnonzero(truth == MISSING)
    if len(known) < MIN_LABELS:
        raise InvalidObservations(
            f"a learning curve needs at least {MIN_LABELS} items of known truth; there are {len(known)}. "
            "Label more items."
        )
    known, unknown = rng.permutation(known)[:MAX_LABELLED], rng.permutation(unknown)
    n_held_out = max(1, round(held_out * len(known)))
    mixed = [rng.permutation(known) for _ in range(n_repeats)]
    return [_Draw(known, rows[:n_held_out], rows[n_held_out:], unknown) for rows in mixed]


def _sizes(sizes: Sequence[int] | None, most: int) -> list[int]:
    if sizes is None:
        return sorted({0, *np.geomspace(min(5, most), most, 5).round().astype(int).tolist()})
    steps = sorted({0 if size == 0 else whole_number(size, "sizes") for size in sizes})
    if not steps or steps[-1] > most:
        raise InvalidParameter(
            f"sizes must be at most {most}, the labels that are not held out; the largest is {max(steps, default=0)}."
        )
    return steps


def _losses(team: UnfittedTeam, observations: Observations, truth: Codes, draw: _Draw, size: int) -> Floats | str:
    """Error and log loss of each held-out item, (2, n_held_out); or why the method cannot be fitted."""
    rest = np.concatenate([draw.training[size:], draw.unknown])[:MAX_UNLABELLED]
    rows = np.concatenate([draw.training[:size], rest])
    masked = truth.copy()
    masked[rest] = MISSING
    try:
        return held_out_losses(team, observations, masked, rows, draw.held_out, truth)
    except TwoheadsError as refusal:
        return str(refusal)


def _score(losses: Floats, *, is_error: bool) -> Score | None:
    """The score of losses (n_repeats, n_items); None unless every draw could be fitted."""
    return None if np.isnan(losses).all(axis=1).any() else loss_score(losses, is_error=is_error)
