"""Human, model and combination side by side, and whether the team is significantly better than its better half."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from twoheads.errors import InvalidObservations
from twoheads.evaluation import headline
from twoheads.evaluation.bootstrap import Resampling, Score, resampling
from twoheads.evaluation.calibration_scores import chance_note
from twoheads.evaluation.difference import Difference, Exchange, Partner, difference_from_better, exchange_with
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.judging import Judged, judged
from twoheads.evaluation.leakage import CROSS_VALIDATED, TOO_KIND
from twoheads.evaluation.member_columns import member_columns
from twoheads.evaluation.metric import ScoredItems
from twoheads.evaluation.predictions import Predictions
from twoheads.evaluation.registry import score_all
from twoheads.evaluation.rival_scores import RivalScore, compared_rivals, differs_from_fit
from twoheads.evaluation.team import Team
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.scoring.ties import label_error
from twoheads.observations.frames import new_frame
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True, repr=False)
class Member(Shown):
    """The scores of the team or of one of its members, on the items it has labelled.

    ``scores`` has an entry for every metric of `twoheads.evaluation.registry.METRICS`, None for one that needs
    probabilities if the member gives labels only. Each is also an attribute: ``member.log_loss``.
    """

    n_items: int
    scores: dict[str, Score | None]

    @property
    def error(self) -> Score:
        """The share of wrong labels, which every member has."""
        score = self.scores["error"]
        assert score is not None
        return score

    def __getattr__(self, name: str) -> Score | None:
        scores: dict[str, Score | None] = self.__dict__.get("scores", {})
        if name not in scores:
            raise AttributeError(f"a Member has no metric {name!r}; it has {', '.join(scores)}.")
        return scores[name]

    def as_dict(self) -> dict[str, Any]:
        """The number of items and all scores, as plain Python objects that JSON can hold."""
        return {"n_items": self.n_items} | {
            name: None if score is None else asdict(score) for name, score in self.scores.items()
        }


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Human, model and combination on the same items, with 95 % intervals.

    Attributes
    ----------
    how : str
        How the predictions were made: "held out", "5-fold cross-validation", ...
    n_items, n_unknown : int
        Items evaluated, and items of unknown truth that were left out.
    n_not_asked, n_without_model : int
        Items evaluated that have no answer, or no model prediction.
    human, model, calibrated_model : Member or None
        The human (of several people the majority vote) has an error only; the model as given, and as the team
        calibrates it.
    crowd : Member or None
        Several people's answers as the team combines them without the model.
    combination : Member
    difference : Difference or None
        The combination against the better half, the best of its rivals; None if none has labelled any item.
    rivals : list of RivalScore
        All rivals, in the order of `twoheads.combination.rivals`.
    human_exchange, model_exchange : Exchange or None
        Items rescued from each partner's error, and lost.
    remarks : list of str
        Classes without an item, who errs less on too few items, what was left out, another better half than at fit.
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
    rivals: list[RivalScore] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """What a terminal and a notebook show: the headline, and the error of each member."""
        return {"headline": self.headline()} | {name: member.error for name, member in self.members().items()}

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per member and metric: value and interval, as a frame of a library."""
        return new_frame(member_columns(self.members()), kind)

    def members(self) -> dict[str, Member]:
        """The members there are, by name, the combination last."""
        found = {name: getattr(self, name) for name in headline.NAME}
        return {name: member for name, member in found.items() if member is not None}

    def headline(self) -> str:
        """The result, with what to do if the team is not significantly better."""
        error, found = self.combination.error, self.difference
        start = headline.team_error(self.n_items, error.value, error.low, error.high, self.how)
        if found is None:
            return f"{start}."
        return start + headline.against(found, of_all=found.n_items == self.n_items)

    def statistics(self) -> str:
        """The headline without what to do; the combination is "the team", as on the page of a report."""
        error, found = self.combination.error, self.difference
        start = headline.team_error(self.n_items, error.value, error.low, error.high, self.how, name="team")
        if found is None:
            return f"{start}."
        return f"{start}{headline.compared_with(found, of_all=found.n_items == self.n_items)}."

    def notes(self) -> list[str]:
        """Remarks on the items evaluated, a sentence each; empty if there are none."""
        counts = self.n_items, self.n_unknown, self.n_not_asked, self.n_without_model
        chance = chance_note(self.combination.scores.get("expected_calibration_error"))
        machines = self.model is None and any(rival.key == "model" for rival in self.rivals)
        remarks = headline.notes(self.how, *counts, machines=machines)
        return [*self.remarks, *remarks, *([] if chance is None else [chance])]

    def as_dict(self) -> dict[str, Any]:
        """All numbers, the headline and the notes as plain Python objects that JSON can hold."""
        found = {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name != "remarks"}
        return {"headline": self.headline(), "notes": self.notes(), **found}


def compare(
    team: Team,
    X: Any,
    y: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    held_out: bool | None = None,
    n_bootstrap: int = 2000,
    random_state: int | None = 0,
) -> Comparison:
    """Compare a fitted team with its human, its model and its other rivals, on items that it has not learnt from.

    Items whose truth it has learnt from are left out; if there are no others, the team is cross-validated.

    Every member is scored on the items it has labelled; items of unknown truth are left out. Errors and differences of
    errors have mid-p intervals, mean losses intervals by exponential tilting. With more than 2,000 items errors and
    losses have percentiles of a bootstrap of all members together. Intervals of calibration errors exclude chance, by
    drawing outcomes from the probabilities. The better half is the best of the rivals on the same items, a choice that
    favours it and never the team. The p-value is that of McNemar's mid-p test on the items that exactly one of the two
    has right; weights, or ties among several people, count as fewer items. Where the team errs more, it is multiplied
    by the number of rivals, and the lower end of the interval is corrected for as many. So the interval excludes 0
    exactly if the p-value is below 0.05.

    Parameters
    ----------
    team : Team
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,)
        The truth; None, NaN, -1 or blank if unknown.
    sample_weight : array of shape (n_items,), optional
        How many items each stands for; an interval counts none as more than one.
    held_out : bool, optional
        Whether the items are known to be held out. By default that is found from what the team has learnt from. True:
        nothing is left out, and items learnt from are called so. False: the team is cross-validated.
    n_bootstrap : int
        Number of replicates, which are used with many items.
    random_state : int or None
        Seed of the replicates.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> team = ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1])
    >>> found = compare(team, [[1, 0.7, 0.3], [0, 0.55, 0.45], [1, 0.25, 0.75]], [0, 0, 1])
    >>> found.human.error.value, found.model.error.value, found.how
    (0.3333333333333333, 0.0, 'none recognised as learnt from')
    """
    found = judged(team, X, y, sample_weight=sample_weight, held_out=held_out, random_state=random_state)
    if found.status == TOO_KIND and not held_out:
        raise InvalidObservations(
            "the truth must be known for at least 2 items to evaluate a team on items that it has learnt from; it is "
            "known for 1. Label more items, or evaluate the team on others."
        )
    return compare_judged(team, found, n_bootstrap=n_bootstrap, random_state=random_state)


def compare_predictions(
    predicted: Predictions, *, n_bootstrap: int = 2000, random_state: int | None = 0, n_unknown: int = 0
) -> Comparison:
    """Evaluate predictions, such as those of `cross_validated`, as `compare` does.

    ``n_unknown`` counts items of unknown truth that were left out before.
    """
    items, n_left_out = _with_truth(predicted)
    draws = resampling(len(items), whole_number(n_bootstrap, "n_bootstrap"), np.random.default_rng(random_state))
    weight = np.ones(len(items)) if items.weight is None else items.weight
    answered, has_model = ~np.isnan(items.human_error), items.has_model
    human = Partner(np.where(answered, items.human_error, 0.0), answered)
    model = Partner(_wrong(items, items.model_proba), has_model)
    team_error = _wrong(items, items.combined_proba)
    compared = compared_rivals(items)
    return Comparison(
        how=items.how,
        n_items=len(items),
        n_unknown=n_unknown + n_left_out,
        n_not_asked=int((~answered).sum()),
        n_without_model=int((~has_model).sum()),
        human=_labeller(items, human, weight * answered, draws),
        crowd=_forecaster(items, items.crowd_proba, weight * answered, draws),
        model=_forecaster(items, items.model_proba, weight * has_model, draws),
        calibrated_model=_forecaster(items, items.calibrated_proba, weight * has_model, draws),
        combination=_scored(items, items.combined_proba, weight, draws),
        difference=None if compared is None else difference_from_better(compared, team_error, weight),
        rivals=[] if compared is None else compared.scores(weight, draws),
        human_exchange=exchange_with(human, team_error),
        model_exchange=exchange_with(model, team_error),
        remarks=[*headline.unseen(items.classes, items.true_label), *([] if compared is None else compared.remarks)],
    )


def compare_judged(team: Team, found: Judged, *, n_bootstrap: int = 2000, random_state: int | None = 0) -> Comparison:
    """Evaluate predictions of `judged`, and say what was left out, and where the result differs from that at fit."""
    compared = compare_predictions(
        found.predicted, n_bootstrap=n_bootstrap, random_state=random_state, n_unknown=found.n_unknown
    )
    remarks = [*compared.remarks, *found.notes]
    if found.status == CROSS_VALIDATED:
        items, _ = _with_truth(found.predicted)
        here = compared_rivals(items)
        why = differs_from_fit(team, None if here is None else here.rivals)
        remarks += [] if why is None else [why]
    return replace(compared, remarks=remarks)


def _with_truth(predicted: Predictions) -> tuple[Predictions, int]:
    """The items of known truth and positive weight, and how many have no truth."""
    counts = predicted.true_label != MISSING
    n_unknown = int(np.count_nonzero(~counts))
    if predicted.weight is not None:
        counts &= predicted.weight > 0
    if not counts.any():
        raise InvalidObservations(
            f"y must be known for at least one item to evaluate a team; it is missing for all {len(predicted)}. "
            "Use without_truth(team, X) for what can be known without it."
        )
    return predicted if counts.all() else predicted.take(counts), n_unknown


def _wrong(items: Predictions, proba: Floats) -> Floats:
    """1 for items whose most probable class is wrong, else 0; between for a tie with the true class."""
    return label_error(proba.T, items.true_label)


def _labeller(items: Predictions, partner: Partner, weight: Floats, draws: Resampling) -> Member | None:
    """A member that gives labels only; None if it has labelled no item."""
    if not partner.labelled.any():
        return None
    scored = ScoredItems(items.true_label, partner.error, None, weight, draws)
    return Member(int(partner.labelled.sum()), score_all(scored))


def _forecaster(items: Predictions, proba: Floats | None, weight: Floats, draws: Resampling) -> Member | None:
    """A member that gives probabilities; None if there are none."""
    return None if proba is None or not weight.any() else _scored(items, proba, weight, draws)


def _scored(items: Predictions, proba: Floats, weight: Floats, draws: Resampling) -> Member:
    here = weight > 0
    columns = np.ascontiguousarray(proba.T)
    error = _wrong(items, proba)[here]
    scored = ScoredItems(items.true_label[here], error, columns[:, here], weight[here], draws.take(here))
    return Member(int(here.sum()), score_all(scored))


def _plain(value: Any) -> Any:
    if isinstance(value, Member):
        return value.as_dict()
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return asdict(value) if isinstance(value, Difference | Exchange | RivalScore) else value
