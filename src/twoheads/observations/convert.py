"""Input in any of its forms as Observations: a data frame, an array, or Observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING
from twoheads.observations.builders import read_frame
from twoheads.observations.checks import as_class_codes, as_matrix, need_items
from twoheads.observations.columns import array_classes
from twoheads.observations.frames import as_column, is_frame
from twoheads.observations.labels import check_no_codes, label_text, ordered_classes
from twoheads.observations.model_checks import CALL_TERMS, ModelTerms
from twoheads.observations.observations import Observations


def as_observations(
    X: Any,
    *,
    y: Any = None,
    classes: NDArray[Any] | None = None,
    positive: Any = None,
    need_model: bool = True,
    model_scale: str = "probability",
    terms: ModelTerms = CALL_TERMS,
) -> Observations:
    """``X`` in any of its forms (Observations, data frame, array) as Observations.

    Parameters
    ----------
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
        In an array the first column holds the human's class code (-1 or NaN where not asked), the others the model's
        rows.
    y : array of shape (n_items,), optional
        The truth, for the type of the class labels only.
    classes : ndarray, optional
        The classes of a fitted estimator; ``X`` must have the same.
    positive : label, optional
        The class that high scores mean, in a data frame; Observations know theirs.
    need_model : bool
        Whether a data frame must have a model's columns, unless members give labels or scores.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold; Observations know theirs.
    terms : ModelTerms
        How messages name the model's columns and the caller's options.

    Examples
    --------
    >>> as_observations([[0, 0.7, 0.3], [1, 0.6, 0.4]], y=["cat", "dog"]).classes.tolist()
    ['cat', 'dog']
    """
    if isinstance(X, Observations):
        return _with_classes(X, y, classes)
    if is_frame(X):
        needs = {"need_human": True, "need_model": need_model}
        fields = read_frame(X, y, classes, (), **needs, positive=positive, model_scale=model_scale)
        return Observations.checked(**fields, model_scale=model_scale, terms=terms)
    array = as_matrix(X, n_columns=3, columns="the human's code, then one probability per class")
    named = array_classes(y, classes, array.shape[1] - 1)
    column = as_class_codes(array[:, 0], len(named), "the first column of X")
    return Observations.checked(
        classes=named,
        model_proba=(array[:, 1:],),
        answers=Answers(column),
        model_scale=model_scale,
        terms=terms,
    )


def as_model(
    X: Any, *, y: Any = None, classes: NDArray[Any] | None = None, model_scale: str = "probability"
) -> Observations:
    """``X`` as the rows of one model: as in `as_observations`, but every column of an array is a probability."""
    if isinstance(X, Observations):
        return _one_model(_with_classes(X, y, classes))
    if is_frame(X):
        observations = Observations.from_frame(X, y=y, classes=classes, model_scale=model_scale, need_human=False)
        return _one_model(observations)
    array = as_matrix(X, n_columns=2, columns="one probability per class")
    named = array_classes(y, classes, array.shape[1])
    nobody = Answers(np.full(len(array), MISSING))
    return Observations.checked(classes=named, model_proba=(array,), answers=nobody, model_scale=model_scale)


def _one_model(observations: Observations) -> Observations:
    if len(observations.models) > 1:
        raise InvalidObservations(
            f"X must hold one model's probabilities here; it holds those of {', '.join(observations.models[:8])} "
            f"({len(observations.models)} models). Give one of them."
        )
    return observations


def _with_classes(observations: Observations, y: Any, classes: NDArray[Any] | None) -> Observations:
    """Observations with the classes of a fitted estimator, or else with class labels in the type of ``y``."""
    need_items(len(observations))
    if classes is not None:
        return observations.aligned(classes)
    labels = None if y is None else as_column(y)
    if labels is None or labels.ndim != 1:
        return observations
    check_no_codes(observations.classes, labels)
    typed = ordered_classes([label_text(name) for name in observations.classes.tolist()], labels)
    return observations if typed.dtype.kind in ("U", observations.classes.dtype.kind) else observations.aligned(typed)
