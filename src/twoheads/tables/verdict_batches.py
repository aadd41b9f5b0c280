"""A team's predictions as a table: one row per item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Floats
from twoheads.observations import Observations
from twoheads.observations.checks import same_length
from twoheads.observations.columns import named_classes
from twoheads.observations.labels import label_text
from twoheads.tables.duckdb import pa


def verdicts(
    observations: Observations, proba: ArrayLike, classes: ArrayLike, *, item: str = "item", item_type: Any = None
) -> Any:
    """A record batch with the columns ``item``, ``combined_label``, ``confidence`` and one ``p_<class>`` per class.

    Parameters
    ----------
    observations : Observations
        The items, for their ids.
    proba : array of shape (n_items, n_classes)
        The probability of each class, as a team predicts it; the label is the most probable one, of equal ones the
        first, and the confidence its probability.
    classes : array of shape (n_classes,)
        The class of each column of ``proba``: the team's ``classes_``. The items must have the same classes.
    item : str
        The name of the column of ids; `Table.item_name` is its name in the input.
    item_type : Arrow type, optional
        The type of the ids; `Table.item_type` is their type in the input.

    Examples
    --------
    >>> half, items = [[0.5, 0.5], [0.5, 0.5]], ["a", "b"]
    >>> observations = Observations.from_arrays([0, 1], half, classes=["no", "yes"], items=items)
    >>> verdicts(observations, [[0.25, 0.75], [0.5, 0.5]], ["no", "yes"], item="image").to_pylist()[0]
    {'image': 'a', 'combined_label': 'yes', 'confidence': 0.75, 'p_no': 0.25, 'p_yes': 0.75}
    """
    rows = np.asarray(proba, dtype=np.float64)
    same_length("proba", len(rows), "observations", len(observations))
    named = observations.aligned(_sorted(classes, rows)).classes
    columns = np.ascontiguousarray(rows.T)
    best = columns.argmax(axis=0)
    if named.dtype.kind == "U":
        label = pa.DictionaryArray.from_arrays(pa.array(best, pa.int32()), pa.array(named.tolist()))
    else:
        label = pa.array(named[best])
    names = ["combined_label", "confidence", *(f"p_{label_text(name)}" for name in named.tolist())]
    refuse_taken(item, names)
    if item_type == pa.float16():  # of which Arrow makes none from the texts that ids are
        item_type = None
    return pa.RecordBatch.from_arrays(
        [pa.array(observations.items, item_type), label, pa.array(columns.max(axis=0)), *map(pa.array, columns)],
        names=[item, *names],
    )


def refuse_taken(item: str, names: Sequence[str]) -> None:
    """Refuse ids in a column that has the name of a column of the result."""
    if item in names:
        raise InvalidObservations(
            f"the column of ids must not have the name of a column of the result; both are called {item!r}. "
            "Rename it in the table."
        )


def _sorted(classes: ArrayLike, rows: Floats) -> NDArray[Any]:
    named, order = named_classes(classes, rows.shape[1] if rows.ndim == 2 else 0)
    if order is not None:
        raise InvalidObservations(
            f"classes must be sorted, as a team's classes_ are; the first should be {named[0].item()!r}. "
            "Give the classes_ of the team that predicted proba."
        )
    return named
