"""Human, model and combination side by side: whether the team beats its better half, beyond chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, norm

from twoheads.errors import InvalidObservations
from twoheads.evaluation import headline
from twoheads.evaluation.bootstrap import (
    Resampling,
    Score,
    calibration_score,
    classwise_calibration_score,
    difference_score,
    mean_score,
    resampling,
    share_score,
)
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.predictions import Predictions, predictions
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.scoring import scores


@dataclass(frozen=True)
class Member:
    """The scores of one member of the team, or of the team, on the items it spoke of."""

    n_items: int
    error: Score
    log_loss: Score | None = None
    expected_calibration_error: Score | None = None
    classwise_calibration_error: Score | None = None
    brier_score: Score | None = None


@dataclass(frozen=True)
class Difference:
    """The combination's error less that of the better of the two, on the items that the better one spoke of.

    better               "human", "crowd" or "model": who errs least on the items all spoke of
    n_items              the items both the combination and the better one judged
    better_error, error  the errors of the better one and of the combination on them
    difference           ``error - better_error``, paired by item: below 0 the team is better
    fewer_errors         ``1 - error / better_error``; None where the better one never errs
    n_won, n_lost        items only the combination has right, and only the better one
    p_value              McNemar's exact two-sided test of ``n_won`` against ``n_lost``
    """

    better: str
    n_items: int
    better_error: float
    error: float
    difference: Score
    fewer_errors: float | None
    n_won: int
    n_lost: int
    p_value: float


@dataclass(frozen=True)
class Exchange:
    """What the combination does to one partner's answers: counts of items.

    rescued  the partner is wrong, the combination right
    lost     the partner is right, the combination wrong
    """

    rescued: int
    lost: int
    both_right: int
    both_wrong: int


@dataclass(frozen=True)
class Comparison:
    """Human, model and combination on the same items, with 95 % intervals by a paired bootstrap over items.

    Attributes
    ----------
    how : str
        How the predictions came about: "held out", "5-fold cross-validation", ...
    n_items, n_unknown : int
        Items judged, and items of unknown truth that were left out.
    n_not_asked, n_without_model : int
        Items judged that no human answered, or that the model has no row for.
    human, model, calibrated_model : Member or None
        The human (of several people the majority) has an error only; the model as given, and as the team calibrates it.
    crowd : Member or None
        What the team makes of several people's answers without the model.
    combination : Member
    difference : Difference or None
        The combination against the better of the two; None where neither spoke of any item.
    human_exchange, model_exchange : Exchange or None
        Items rescued from each partner's error, and lost.
    """

    how: str
    n_items: int
    n_unknown: int
    n_not_asked: int
    n_without_model: int
    human: Member | None
    crowd: Member | None
    model: Member | None
    calibrated_model: Member | None
    combination: Member
    difference: Difference | None
    human_exchange: Exchange | None
    model_exchange: Exchange | None

    def headline(self) -> str:
        """Say what was found, in one sentence, with what to do where the team is not better beyond chance."""
        error, found = self.combination.error, self.difference
        start = headline.team_errs(self.n_items, error.value, error.low, error.high)
        if found is None:
            return f"{start}."
        of_all = found.n_items == self.n_items
        alone = self.human is None or self.model is None
        end = headline.against(
            found.better, found.better_error, found.error, found.p_value, found.n_items, of_all=of_all, alone=alone
        )
        return start + end

    def notes(self) -> list[str]:
        """Say what to know about the items judged, a sentence each; empty where there is nothing."""
        return headline.notes(self.how, self.n_items, self.n_unknown, self.n_not_asked, self.n_without_model)

    def as_dict(self) -> dict[str, Any]:
        """All numbers, the headline and the notes as plain Python objects that JSON can hold."""
        return {"headline": self.headline(), "notes": self.notes(), **asdict(self)}


def compare(
    team: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    n_bootstrap: int = 2000,
    random_state: int | None = 0,
) -> Comparison:
    """Judge a fitted team on items that it was not fitted on, beside its human and its model.

    Every member is scored on the items it spoke of; items of unknown truth are left out. Intervals are percentiles of a
    bootstrap over items in which all members are resampled together. Shares with fewer than ten events are widened to
    Wilson's interval; those of calibration errors are shifted by the bias of resampling, and begin at 0 where a
    calibrated forecaster would show as much by chance. The p-value is McNemar's exact test on the items that one of
    the two has right and the other wrong; with weights, or ties among several people, ``z = sum w d / sqrt(sum (w
    d)^2)``. Who is the better of the two is found on the same items, which favours it, never the team.

    Parameters
    ----------
    team : Combiner
        Fitted, on other items than these; `cross_validated` judges a team on its own.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,)
        The truth; None, NaN, -1 or blank where it is not known.
    sample_weight : array of shape (n_items,), optional
        How often each item counts.
    n_bootstrap : int
        How many replicates.
    random_state : int or None
        Seed of the replicates.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> found = compare(ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1]), X, [0, 1, 1, 1])
    >>> found.human.error.value, found.model.error.value, found.combination.error.value
    (0.25, 0.0, 0.25)
    """
    given = predictions(team, X, y, sample_weight=sample_weight)
    return compare_predictions(given, n_bootstrap=n_bootstrap, random_state=random_state)


def compare_predictions(
    given: Predictions, *, n_bootstrap: int = 2000, random_state: int | None = 0, n_unknown: int = 0
) -> Comparison:
    """Judge predictions that are there already, such as those of `cross_validated`; as `compare` does.

    ``n_unknown`` counts items of unknown truth that were left out before.
    """
    counts = given.true_label != MISSING
    n_unknown += int(np.count_nonzero(~counts))
    if given.weight is not None:
        counts &= given.weight > 0
    if not counts.any():
        raise InvalidObservations(
            f"y must be known for at least one item to judge a team; it is missing for all {len(given)}. "
            "without_truth(team, X) says what can be known without it."
        )
    judged = given if counts.all() else given.take(counts)
    size = whole_number(n_bootstrap, "n_bootstrap")
    draws = resampling(len(judged), size, np.random.default_rng(random_state))
    weight = np.ones(len(judged)) if judged.weight is None else judged.weight
    asked, has_model = ~np.isnan(judged.human_error), judged.has_model
    model_error = (judged.model_proba.argmax(axis=1) != judged.true_label) * 1.0
    team_error = (judged.combined_label != judged.true_label) * 1.0
    calibrated, crowd = judged.calibrated_proba, judged.crowd_proba
    human_error = np.where(asked, judged.human_error, 0.0)
    human = Member(int(asked.sum()), share_score(human_error, weight * asked, draws)) if asked.any() else None
    with_model = bool(has_model.any())
    partners = {"human": (human_error, asked), "model": (model_error, has_model)}
    if crowd is not None:
        partners["crowd"] = ((crowd.argmax(axis=1) != judged.true_label) * 1.0, asked)
    return Comparison(
        how=judged.how,
        n_items=len(judged),
        n_unknown=n_unknown,
        n_not_asked=int((~asked).sum()),
        n_without_model=int((~has_model).sum()),
        human=human,
        crowd=_member(judged, crowd, weight * asked, draws) if crowd is not None and asked.any() else None,
        model=_member(judged, judged.model_proba, weight * has_model, draws) if with_model else None,
        calibrated_model=(
            _member(judged, calibrated, weight * has_model, draws) if with_model and calibrated is not None else None
        ),
        combination=_member(judged, judged.combined_proba, weight, draws),
        difference=_difference(partners, team_error, weight, draws),
        human_exchange=_exchange(human_error, team_error, asked),
        model_exchange=_exchange(model_error, team_error, has_model),
    )


def _member(judged: Predictions, proba: Floats, weight: Floats, draws: Resampling) -> Member:
    columns, truth = np.ascontiguousarray(proba.T), judged.true_label
    label = columns.argmax(axis=0)
    spoke = weight > 0
    outcome = truth == np.arange(len(columns))[:, None]
    here = Resampling(draws.group[spoke], draws.drawn)
    counted = weight[spoke]
    confidence, right = columns.max(axis=0)[spoke], (label == truth)[spoke] * 1.0
    return Member(
        n_items=int(spoke.sum()),
        error=share_score(1.0 - right, counted, here),
        log_loss=mean_score(scores.log_losses(columns, truth)[spoke], counted, here),
        expected_calibration_error=calibration_score(confidence, right, counted, here),
        classwise_calibration_error=classwise_calibration_score(columns[:, spoke], outcome[:, spoke], counted, here),
        brier_score=mean_score(scores.brier_scores(columns, truth)[spoke], counted, here),
    )


def _difference(
    partners: dict[str, tuple[Floats, NDArray[np.bool_]]], team_error: Floats, weight: Floats, draws: Resampling
) -> Difference | None:
    spoke = {name: here for name, (_, here) in partners.items() if here.any()}
    if not spoke:
        return None
    shared = np.logical_and.reduce(list(spoke.values()))
    errors = {
        name: scores.weighted_mean(
            *(values[shared if shared.any() else here] for values in (partners[name][0], weight))
        )
        for name, here in spoke.items()
    }
    better = min(errors, key=lambda name: errors[name])
    error, here = partners[better]
    draws = Resampling(draws.group[here], draws.drawn)
    difference, counted = (team_error - error)[here], weight[here]
    of_team, of_better = (scores.weighted_mean(values[here], counted) for values in (team_error, error))
    won, lost = int(np.count_nonzero(difference < 0)), int(np.count_nonzero(difference > 0))
    return Difference(
        better=better,
        n_items=int(here.sum()),
        better_error=of_better,
        error=of_team,
        difference=difference_score(difference, counted, draws),
        fewer_errors=1.0 - of_team / of_better if of_better > 0 else None,
        n_won=won,
        n_lost=lost,
        p_value=_p_value(difference, counted, won, lost),
    )


def _p_value(difference: Floats, weight: Floats, won: int, lost: int) -> float:
    """Whether wins and losses are equally likely: exact for whole items, else by the normal approximation."""
    if won + lost == 0:
        return 1.0
    whole = bool(np.isin(difference, (-1.0, 0.0, 1.0)).all()) and bool((weight == weight[0]).all())
    if whole:
        return float(binomtest(won, won + lost).pvalue)
    gain = weight * difference
    return float(2.0 * norm.sf(abs(gain.sum()) / np.sqrt((gain**2).sum())))


def _exchange(partner_error: Floats, team_error: Floats, here: NDArray[np.bool_]) -> Exchange | None:
    """Count items; those on which several people are tied are in none of the counts."""
    if not here.any():
        return None
    wrong, right = here & (partner_error == 1.0), here & (partner_error == 0.0)
    team_right = team_error == 0.0
    return Exchange(
        rescued=int((wrong & team_right).sum()),
        lost=int((right & ~team_right).sum()),
        both_right=int((right & team_right).sum()),
        both_wrong=int((wrong & ~team_right).sum()),
    )
