"""The default combiner, for data of unknown properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.confusion.hierarchical import HierarchicalConfusion
from twoheads.dependence import Dependence


def recommended(
    *,
    class_prior: str | ArrayLike | Mapping[Any, float] = "model",
    model_scale: str = "probability",
) -> ProbabilityLabelCombiner:
    """The default combiner, for data of unknown properties.

    P+L with a hierarchical prior on the confusion matrix, the model's temperature averaged over its posterior, and a
    correction for a model and people who err on the same items. The truth of all, some or no items may be known.

    Parameters
    ----------
    class_prior : {"model", "learn", "shift"}, dict, or array of shape (n_classes,)
        Prior of the classes: that of the model's rows, the prevalence at fit, that of the items predicted together, or
        shares by class; see `ProbabilityLabelCombiner`.
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
        class_prior=class_prior,
        model_scale=model_scale,
    )
