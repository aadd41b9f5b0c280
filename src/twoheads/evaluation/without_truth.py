"""What can be known of a team without any truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from twoheads.combination.better_half import decimals
from twoheads.evaluation.bootstrap import Score, mean_score, resampling, share_score
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.predictions import predictions
from twoheads.evaluation.team import Team
from twoheads.kernels.arrays import Floats
from twoheads.kernels.scoring.ties import agreement
from twoheads.rendering.notebook import Shown
from twoheads.text import count, percent


@dataclass(frozen=True, repr=False)
class WithoutTruth(Shown):
    """Measured: how often human and model agree. Estimated under the model: the accuracy of each.

    Attributes
    ----------
    n_items, n_both : int
        All items, and those with both an answer and a model prediction.
    agreement : Score or None
        Measured: the share of the latter on which the two labels are the same; a tie of m classes agrees by 1 / m with
        each of them.
    at_least_one_wrong : float or None
        Measured: if they disagree one of them errs, so their two error rates sum to at least this.
    human_accuracy, model_accuracy, combination_accuracy : Score or None
        Under the model: the mean posterior probability of the human's, the model's and the combined label. It holds as
        far as the team's assumptions do (above all that human and model err independently); the interval is about the
        variation over items, not about the assumptions.
    """

    n_items: int
    n_both: int
    agreement: Score | None
    at_least_one_wrong: float | None
    human_accuracy: Score | None
    model_accuracy: Score | None
    combination_accuracy: Score

    def headline(self) -> str:
        """What is known, in one sentence."""
        which = "this item" if self.n_items == 1 else f"these {count(self.n_items, 'item')}"
        start = f"No truth is known for {which}, so no error can be measured"
        team = percent(self.combination_accuracy.value, decimals(self.n_items))
        estimate = f"the team's estimate of its own accuracy is {team}"
        if self.agreement is None or self.n_items == 1:
            return f"{start}; if its assumptions hold, {estimate}."
        both = "them" if self.n_both == self.n_items else f"the {self.n_both:,} that both labelled"
        agreement = percent(self.agreement.value, decimals(self.n_both))
        return f"{start}; human and model agree on {agreement} of {both}, and if its assumptions hold, {estimate}."

    def notes(self) -> list[str]:
        """What cannot be known, and what would help."""
        found = [
            "Estimated accuracies follow from the team's assumptions; they are not measured. "
            "If the team is wrong about its members, it is wrong about these numbers too.",
            "Even 30 to 100 items of known truth, drawn at random, would give measured ones.",
        ]
        if self.at_least_one_wrong is None or self.n_both < 2:
            return found
        apart = percent(self.at_least_one_wrong, decimals(self.n_both))
        measured = f"Measured: human and model disagree on {apart} of the {self.n_both:,} items that both labelled"
        return [f"{measured}; on each of them at least one of the two is wrong.", *found]

    def as_dict(self) -> dict[str, Any]:
        """All numbers, the headline and the notes as plain Python objects that JSON can hold."""
        return {"headline": self.headline(), "notes": self.notes(), **asdict(self)}


def without_truth(team: Team, X: Any, *, n_bootstrap: int = 2000, random_state: int | None = 0) -> WithoutTruth:
    """What can be known of a fitted team on items of unknown truth.

    Parameters
    ----------
    team : Team
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    n_bootstrap : int
        Number of replicates, over items.
    random_state : int or None
        Seed of the replicates.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> found = without_truth(ProbabilityLabelCombiner().fit(X), X)
    >>> found.agreement.value, found.at_least_one_wrong
    (0.75, 0.25)
    """
    predicted = predictions(team, X)
    n_items = len(predicted)
    draws = resampling(n_items, whole_number(n_bootstrap, "n_bootstrap"), np.random.default_rng(random_state))
    posterior = predicted.combined_proba.T

    def expected_accuracy(label: Floats) -> Score | None:
        labelled = np.asarray(label.any(axis=0), dtype=np.float64)
        if not labelled.any():
            return None
        return mean_score(agreement(label, posterior), labelled, draws)

    human, model = predicted.human_shares, predicted.model_shares
    both = np.asarray(human.any(axis=0) & model.any(axis=0), dtype=np.float64)
    disagreement = share_score((1.0 - agreement(human, model)) * both, both, draws) if both.any() else None
    combination = expected_accuracy(predicted.combined_shares)
    assert combination is not None
    return WithoutTruth(
        n_items=n_items,
        n_both=int(both.sum()),
        agreement=_complement(disagreement),
        at_least_one_wrong=None if disagreement is None else disagreement.value,
        human_accuracy=expected_accuracy(human),
        model_accuracy=expected_accuracy(model),
        combination_accuracy=combination,
    )


def _complement(score: Score | None) -> Score | None:
    if score is None or score.low is None or score.high is None:
        return None
    return Score(1.0 - score.value, 1.0 - score.high, 1.0 - score.low)
