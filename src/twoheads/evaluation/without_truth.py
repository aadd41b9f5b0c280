"""What can be known of a team without any truth, and what cannot."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from twoheads.evaluation.bootstrap import Score, mean_score, resampling, share_score
from twoheads.evaluation.headline import decimals
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.predictions import predictions
from twoheads.kernels.arrays import MISSING
from twoheads.text import count, percent


@dataclass(frozen=True)
class WithoutTruth:
    """Measured: how often human and model agree. Estimated under the model: how often each would be right.

    Attributes
    ----------
    n_items, n_both : int
        All items, and those that human and model both spoke of.
    agreement : Score or None
        Measured: the share of the latter on which the two labels are the same.
    at_least_one_wrong : float or None
        Measured: where they disagree one of them errs, so their two error rates sum to at least this.
    human_accuracy, model_accuracy, combination_accuracy : Score or None
        Under the model: the mean posterior probability of the human's, the model's and the combined label. It is as
        true as the team's assumptions are (above all that human and model err independently); the interval says how
        far the items vary, not how far the assumptions hold.
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


def without_truth(team: Any, X: Any, *, n_bootstrap: int = 2000, random_state: int | None = 0) -> WithoutTruth:
    """Say what a fitted team makes of items whose truth nobody knows.

    Parameters
    ----------
    team : Combiner
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    n_bootstrap : int
        How many replicates, over items.
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
    given = predictions(team, X)
    draws = resampling(len(given), whole_number(n_bootstrap, "n_bootstrap"), np.random.default_rng(random_state))
    posterior, item = given.combined_proba, np.arange(len(given))

    def believed(label: Any) -> Score | None:
        spoke = (label != MISSING) * 1.0
        if not spoke.any():
            return None
        return mean_score(np.where(spoke > 0, posterior[item, label], 0.0), spoke, draws)

    human, model = given.human_label, given.model_label
    both = ((human != MISSING) & (model != MISSING)) * 1.0
    n_both = int(both.sum())
    apart = share_score((human != model) * both, both, draws) if n_both else None
    agreement = None
    if apart is not None and apart.low is not None and apart.high is not None:
        agreement = Score(1.0 - apart.value, 1.0 - apart.high, 1.0 - apart.low)
    combination = believed(given.combined_label)
    assert combination is not None
    return WithoutTruth(
        n_items=len(given),
        n_both=n_both,
        agreement=agreement,
        at_least_one_wrong=None if apart is None else apart.value,
        human_accuracy=believed(human),
        model_accuracy=believed(model),
        combination_accuracy=combination,
    )
