"""The combiner that a user with unknown data should have."""

from __future__ import annotations

from numpy.typing import ArrayLike

from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.dependence import Dependence
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.confusion.hierarchical import HierarchicalConfusion


def recommended(
    *, guard: bool = False, class_prior: str | ArrayLike = "model", model_scale: str = "probability"
) -> ProbabilityLabelCombiner:
    """The combiner that a user with unknown data should have.

    P+L with a confusion matrix whose prior learns how much to trust itself, the model's temperature averaged over,
    and a correction for partners who err on the same items. One ``fit`` for all, some or no truth.

    Parameters
    ----------
    guard : bool
        Where the combination hesitates, side with the partner that did better on the labelled items.
    class_prior : {"model", "learn"} or array of shape (n_classes,)
        How common the classes are: as the model's rows say, as found at fit, or as given.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Examples
    --------
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> recommended().fit(X, [0, 1, 0, 1]).predict(X).tolist()
    [0, 1, 0, 1]
    """
    return ProbabilityLabelCombiner(
        HierarchicalConfusion(),
        TemperatureScaling(),
        Dependence(),
        guard=guard,
        class_prior=class_prior,
        model_scale=model_scale,
    )
