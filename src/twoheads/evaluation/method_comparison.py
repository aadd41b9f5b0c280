"""Several methods on the same items: the same folds, the same metrics, paired differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from twoheads.confusion.score_levels import ScoreLevels
from twoheads.errors import InvalidObservations, InvalidParameter, TwoheadsError
from twoheads.evaluation.alone import Forecast, members_alone
from twoheads.evaluation.cross_validation import cross_validated
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.judging import Judged, judged
from twoheads.evaluation.metric import chosen_metrics
from twoheads.evaluation.predictions import Predictions, predictions
from twoheads.evaluation.registry import METRICS
from twoheads.evaluation.score_rows import ScoreRow
from twoheads.evaluation.score_table import ScoreTable, score_table
from twoheads.evaluation.team import Team, UnfittedTeam, positive_of
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations, as_observations, as_truth, as_weight, matched_rows
from twoheads.observations.frames import frame_kind

#: Told after each method: how many are done, of how many.
Progress = Callable[[int, int], None]


def compare_methods(
    methods: Mapping[str, UnfittedTeam],
    X: Any,
    y: Any,
    *,
    test: tuple[Any, Any] | None = None,
    reference: str | None = None,
    metrics: str | Sequence[str] | None = None,
    people: bool = False,
    sample_weight: ArrayLike | None = None,
    n_splits: int = 5,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> ScoreTable:
    """Judge methods side by side, and their members alone, on the same items.

    Each method is cross-validated on the same folds, as by `cross_validated`; items of unknown truth are in every
    training set. With ``test``, each is fitted on ``X, y`` and judged on other items. The members alone are rows too:
    each model, the mean of several, the human, or one person at random, the majority and the best person. A method that
    refuses the data has a row that says why.

    Scores have the intervals of `compare`. A difference from the reference is paired by item, on the items that both
    have labelled; its p-value is McNemar's mid-p for errors, Student's t for others, corrected for the number of rows
    by Holm's method, metric by metric.

    Parameters
    ----------
    methods : mapping of str to UnfittedTeam
        By name; they are cloned and not changed.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,)
        The truth; None, NaN, -1 or blank if unknown.
    test : tuple (X, y), optional
        Held-out items to judge on, in place of cross-validation.
    reference : str, optional
        The row that the others are compared with: a method or a member; the first method by default.
    metrics : str or sequence of str, optional
        Names in `METRICS`, such as "mcc" or "sensitivity[cat]"; by default those that are shown elsewhere.
    people : bool
        Whether each person is a row too.
    sample_weight : array of shape (n_items,), optional
        How often each item counts, in fitting and in evaluating; not with ``test``.
    n_splits : int
        Number of folds.
    random_state : int or None
        Seed of the folds and of the bootstrap.
    progress : callable, optional
        Called with (methods done, methods in all) after each.

    Examples
    --------
    >>> from twoheads import LabelLabelCombiner, ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 5
    >>> found = compare_methods({"P+L": ProbabilityLabelCombiner(), "L+L": LabelLabelCombiner()}, X, [0, 1, 0, 1] * 5)
    >>> [row.name for row in found.rows]
    ['P+L', 'L+L', 'human', 'model']
    """
    if not methods:
        raise InvalidParameter("methods must hold at least one method by its name; it is empty.")
    if test is not None and sample_weight is not None:
        raise InvalidParameter("sample_weight must not be given with test; fit weighted methods, then use compare.")
    first = next(iter(methods.values()))
    judged_on, truth = (X, y) if test is None else test
    y, sample_weight = matched_rows(X, y, sample_weight)
    seen = _read(first, judged_on, truth, sample_weight)
    # Scores of other items are labels as at the fits.
    fitted = seen if test is None or seen.observations.scores is None else _read(first, X, y)
    items = _known(seen, ScoreLevels.of(fitted.observations, fitted.truth, fitted.weight))

    def predicted(team: UnfittedTeam) -> Predictions:
        if test is None:
            folds = whole_number(n_splits, "n_splits")
            return cross_validated(team, X, y, sample_weight=sample_weight, n_splits=folds, random_state=random_state)
        found = predictions(clone(team).fit(X, y), *test)
        return found.take(found.true_label != MISSING)

    made: dict[str, Predictions | str] = {}
    for name, team in methods.items():
        made[name] = _attempt(predicted, team)
        if progress is not None:
            progress(len(made), len(methods))
    return _table(made, items, reference, metrics, people, random_state, frame_kind(judged_on))


def score_members(
    team: Team,
    X: Any,
    y: Any,
    *,
    metrics: str | Sequence[str] | None = None,
    reference: str | None = None,
    people: bool = True,
    sample_weight: ArrayLike | None = None,
    held_out: bool | None = None,
    random_state: int | None = 0,
) -> ScoreTable:
    """Any metrics of a fitted team ("combination"), of each model and of each person, on the truth given.

    The items are those of `compare`: held out, or cross-validated where the team has learnt from all of them.

    Parameters
    ----------
    team : Team
        Fitted.
    X, y, sample_weight, held_out, random_state
        As in `compare`.
    metrics, reference, people
        As in `compare_methods`; the reference is the combination by default.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X, y = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 5, [0, 1, 0, 1] * 5
    >>> found = score_members(ProbabilityLabelCombiner().fit(X, y), X, y, metrics=["kappa"])
    >>> {row.name: round(row.scores["kappa"].value, 3) for row in found.rows}
    {'combination': 1.0, 'human': 1.0, 'model': 0.5}
    """
    found = judged(team, X, y, sample_weight=sample_weight, held_out=held_out, random_state=random_state)
    return score_judged(
        found, metrics=metrics, reference=reference, people=people, random_state=random_state, kind=frame_kind(X)
    )


def score_judged(
    found: Judged,
    *,
    metrics: str | Sequence[str] | None = None,
    reference: str | None = None,
    people: bool = True,
    random_state: int | None = 0,
    kind: str = "pandas",
) -> ScoreTable:
    """`score_members` of items that are judged already; ``kind`` is that of the frames."""
    known = found.predicted.true_label != MISSING
    items = _known(_Items(found.observations, found.truth, found.weight), found.levels)
    made: dict[str, Predictions | str] = {"combination": found.predicted.take(known)}
    return _table(made, items, reference, metrics, people, random_state, kind)


@dataclass(frozen=True)
class _Items:
    """Items with truth and weights, and by which levels their scores are labels; None without scores."""

    observations: Observations
    truth: Codes
    weight: Floats | None
    levels: ScoreLevels | None = None


def _read(team: UnfittedTeam, X: Any, y: Any, sample_weight: Any = None) -> _Items:
    y, sample_weight = matched_rows(X, y, sample_weight)
    observations = as_observations(X, y=y, positive=positive_of(team), model_scale=team.model_scale)
    return _Items(observations, as_truth(y, observations), as_weight(sample_weight, len(observations)))


def _known(items: _Items, levels: ScoreLevels | None) -> _Items:
    """The items of known truth, whose scores are labels by these levels."""
    rows = np.flatnonzero(items.truth != MISSING)
    if not len(rows):
        raise InvalidObservations("y must be known for at least one item to compare methods; it is for none.")
    weight = None if items.weight is None else items.weight[rows]
    return _Items(items.observations.take(rows), items.truth[rows], weight, levels)


def _attempt(predicted: Callable[[UnfittedTeam], Predictions], team: UnfittedTeam) -> Predictions | str:
    """The predictions of a method, or why it refuses the data."""
    try:
        return predicted(team)
    except TwoheadsError as refusal:
        return str(refusal)


def _table(
    made: Mapping[str, Predictions | str],
    items: _Items,
    reference: str | None,
    metrics: str | Sequence[str] | None,
    people: bool,
    random_state: int | None,
    kind: str,
) -> ScoreTable:
    done = {name: found for name, found in made.items() if isinstance(found, Predictions)}
    if not done:
        name, reason = next(iter(made.items()))
        raise InvalidObservations(f"methods must hold one at least that takes these items; {name} refuses: {reason}")
    classes = items.observations.classes
    rows = [_forecast(name, found) for name, found in done.items()]
    rows += members_alone(items.observations, items.truth, items.weight, levels=items.levels, people=people)
    names = [row.name for row in rows]
    chosen = next(iter(done)) if reference is None else reference
    if chosen not in names:
        why = made.get(chosen)
        raise InvalidParameter(
            f"reference must be one of {', '.join(names)}; it is {chosen!r}"
            + (f", which refuses the items: {why}" if isinstance(why, str) else ".")
        )
    table = score_table(
        _distinct(rows),
        items.truth,
        items.weight,
        chosen_metrics(METRICS, metrics, classes),
        reference=chosen,
        how=next(iter(done.values())).how,
        random_state=random_state,
    )
    refused = [ScoreRow(name, "method", 0, refusal=why) for name, why in made.items() if isinstance(why, str)]
    ordered = {row.name: row for row in [*table.rows, *refused]}
    order = [*made, *(row.name for row in table.rows if row.name not in made)]
    return replace(table, rows=[ordered[name] for name in order], frame_kind=kind)


def _forecast(name: str, found: Predictions) -> Forecast:
    return Forecast(name, "method", found.combined_shares, np.ascontiguousarray(found.combined_proba.T))


def _distinct(rows: list[Forecast]) -> list[Forecast]:
    """The rows with their names made distinct, as where a person has the name of a model."""
    seen: set[str] = set()
    found = []
    for row in rows:
        name = row.name if row.name not in seen else f"{row.name} ({row.kind})"
        seen.add(name)
        found.append(replace(row, name=name))
    return found
