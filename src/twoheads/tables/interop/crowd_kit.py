"""crowd-kit: long tables ``task, worker, label``, and probabilities with a row per task and a column per label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations
from twoheads.observations.labels import label_text


def from_crowd_kit(answers: Any, probas: Any = None, *, classes: ArrayLike | None = None) -> Observations:
    """Observations from answers as crowd-kit's aggregators take them, and from probabilities as they return them.

    Parameters
    ----------
    answers : data frame
        Columns ``task, worker, label``.
    probas : pandas data frame, optional
        Indexed by task, one column per label, as ``fit_predict_proba`` returns it; here those of a model.
    classes : array, optional
        The classes, if there is no model to name them and perhaps not every one was answered.

    Examples
    --------
    >>> import pandas as pd
    >>> answers = pd.DataFrame({"task": ["t1", "t1", "t2"], "worker": ["w1", "w2", "w1"], "label": ["yes", "no", "no"]})
    >>> probas = pd.DataFrame({"no": [0.2, 0.9], "yes": [0.8, 0.1]}, index=pd.Index(["t1", "t2"], name="task"))
    >>> observations = from_crowd_kit(answers, probas)
    >>> observations.items.tolist(), observations.annotators, observations.classes.tolist()
    (['t1', 't2'], ('w1', 'w2'), ['no', 'yes'])
    """
    if probas is None:
        return Observations.from_answers(answers, classes=classes)
    if not hasattr(probas, "index") or not hasattr(probas, "columns"):
        raise InvalidObservations(
            "probas must be a pandas data frame indexed by task, one column per label; "
            f"it is a {type(probas).__name__}."
        )
    model = probas.rename(columns={name: f"p_{label_text(name)}" for name in probas.columns})
    model.insert(0, "item", model.index)
    return Observations.from_answers(answers, model, classes=classes)


def to_crowd_kit(observations: Observations) -> dict[str, NDArray[Any]]:
    """The answers as the columns of crowd-kit's long table: ``pandas.DataFrame(to_crowd_kit(observations))``.

    If annotators' confidence is known, a column ``confidence`` follows, which crowd-kit ignores. "Unsure" is left out:
    crowd-kit would take it for a class.

    Examples
    --------
    >>> proba, items = [[0.5, 0.5]] * 3, ["a", "b", "c"]
    >>> observations = Observations.from_arrays([1, -1, 0], proba, classes=["no", "yes"], items=items)
    >>> {name: column.tolist() for name, column in to_crowd_kit(observations).items()}
    {'task': ['a', 'c'], 'worker': ['human', 'human'], 'label': ['yes', 'no']}
    """
    column = observations.answers.column
    answered = column != MISSING
    task = observations.items[item_of_answers(observations.answers)[answered]]
    annotator, answer = np.divmod(column[answered], observations.n_classes)
    workers = np.array(observations.annotators, dtype=object)
    table = {"task": task, "worker": workers[annotator], "label": observations.classes[answer]}
    return table if observations.confidence is None else {**table, "confidence": observations.confidence[answered]}
