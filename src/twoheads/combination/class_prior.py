"""The class prior of a team: the parameter as it is given, and what it adds to a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.dependence import Dependence
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.class_shares import crowd_class_shares
from twoheads.kernels.simplex import FLOOR
from twoheads.observations import SUM_TOLERANCE
from twoheads.observations.labels import label_text, ordered_classes, same_texts
from twoheads.text import are


def as_class_prior(class_prior: str | ArrayLike | Mapping[Any, float], classes: NDArray[Any]) -> str | Floats:
    """The parameter ``class_prior``, checked: "model", "learn", "shift", or the share of each class, which sum to 1.

    Shares by class name are taken by name; an array is in the order of ``classes``.
    """
    if isinstance(class_prior, str):
        if class_prior not in ("model", "learn", "shift"):
            raise InvalidParameter(
                f"class_prior must be 'model', 'learn', 'shift', an array or a dict; it is {class_prior!r}."
            )
        return class_prior
    shares = _shares_by_name(class_prior, classes) if hasattr(class_prior, "keys") else class_prior
    try:
        prior = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        prior = np.empty(0)
    if prior.shape != classes.shape or not (prior > 0).all() or abs(prior.sum() - 1.0) > SUM_TOLERANCE:
        raise InvalidParameter(
            f"class_prior must hold {len(classes)} positive numbers that sum to 1, one per class; "
            f"it is {class_prior!r}."
        )
    if (
        shares is class_prior
        and classes.dtype.kind == "U"
        and not same_texts(classes, ordered_classes(classes.tolist(), np.array([0])))
    ):
        raise InvalidParameter(
            "class_prior must be given by name where classes are texts of numbers, since as text "
            f"{classes[1].item()!r} precedes {classes[-1].item()!r}; it is an array. "
            "Give a dict of class names to shares."
        )
    return np.asarray(prior / prior.sum())


def _shares_by_name(class_prior: Any, classes: NDArray[Any]) -> list[Any]:
    """The share of each class, of a dict or a series by its index; the names must be those of the classes."""
    shares = {label_text(name): class_prior[name] for name in class_prior.keys()}  # noqa: SIM118 -- a series too
    names = [label_text(name) for name in classes.tolist()]
    if set(shares) != set(names):
        off = sorted(set(names) ^ set(shares))
        raise InvalidParameter(
            f"class_prior must name each of the {len(names)} classes once; {off[0]!r} is "
            f"{'missing' if off[0] in names else 'not a class'} ({are(len(off), 'name')} off). "
            "Give one share per class."
        )
    return [shares[name] for name in names]


def prior_terms(
    class_prior: str | Floats, prevalence: Floats, statistics: SufficientStatistics, dependence: Dependence | None
) -> tuple[Floats | None, Floats | None]:
    """``log_class_prior`` and ``log_prior_shift`` of a rule, (n_classes,) each.

    class_prior  from `as_class_prior`
    prevalence   (n_classes,) of the classes at fit
    """
    if not isinstance(class_prior, str):
        return np.log(class_prior), np.log(class_prior) - log_prevalence(prevalence)
    if _holds_crowd_shares(statistics, dependence):
        return np.log(crowd_class_shares(statistics.majority, statistics.labels_per_class)), None
    return (log_prevalence(prevalence) if class_prior == "learn" else None), None


def learns_class_prior(
    class_prior: str | Floats, statistics: SufficientStatistics, dependence: Dependence | None
) -> bool:
    """Whether EM estimates the class prior."""
    learns = isinstance(class_prior, str) and class_prior == "learn"
    return learns and not _holds_crowd_shares(statistics, dependence)


def _holds_crowd_shares(statistics: SufficientStatistics, dependence: Dependence | None) -> bool:
    """Whether class shares are those of the majority votes, held in EM and in prediction: they cannot collapse.

    Not with a model, nor without a dependence: EM is then Dawid and Skene's.
    """
    return not statistics.has_model and dependence is not None


def log_prevalence(prevalence: Floats) -> Floats:
    """Log of the classes' prevalence, with the floor of a model's probabilities."""
    return np.asarray(np.log(np.maximum(prevalence, FLOOR)))
