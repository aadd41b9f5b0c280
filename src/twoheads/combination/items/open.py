"""Open the input of a fit as items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.combination.items.chunked import ChunkedItems
from twoheads.combination.items.chunking import on_cluster, spill_to_disk
from twoheads.combination.items.in_memory import MAX_NUMBERS, InMemoryItems
from twoheads.combination.items.protocol import Schema
from twoheads.combination.items.reading import Reading
from twoheads.combination.learnt import LearntItems
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.engines.cluster import ClusterTable
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Codes
from twoheads.observations import as_observations, as_truth, as_weight, counted_items, matched_rows
from twoheads.tables.scanned import ScannedTable

#: So many numbers take as much memory as the id and the answers of an item.
PER_ITEM = 20


def fits_in_memory(table: ScannedTable, *, max_numbers: int = MAX_NUMBERS) -> bool:
    """Whether a scanned table is small enough to be read whole before a fit."""
    return table.n_rows * (len(table.classes) + PER_ITEM) <= max_numbers


def open_items(
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    model_scale: str = "probability",
    classes: NDArray[Any] | None = None,
    models: tuple[str, ...] | None = None,
    levels: ScoreLevels | None = None,
    zeros: tuple[float, ...] | None = (),
    max_numbers: int = MAX_NUMBERS,
) -> InMemoryItems | ChunkedItems:
    """The input of a fit, checked; a table is read whole if it is small enough, else it stays where it is.

    Parameters
    ----------
    X, y, sample_weight
        As in `ProbabilityLabelCombiner.fit`.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.
    classes, models, levels, zeros : array, tuple of str, ScoreLevels, tuple of float, optional
        Those of an earlier fit that is continued; models are None where there was none. Empty ``zeros`` are found in
        a first fit; None are not, and a probability of 0 is the smallest number there is.
    max_numbers : int
        Up to so many numbers a table is read whole (see `fits_in_memory`), and blocks are kept between passes.
    """
    reading = Reading(classes, levels, continued=models is not None, zeros=zeros)
    if isinstance(X, ScannedTable | ClusterTable):
        if y is not None or sample_weight is not None:
            raise InvalidParameter(
                "y and sample_weight must be None where X is a table: the truth is read from its column. "
                "Read it to give your own: X, y = table.read()."
            )
        if isinstance(X, ClusterTable):
            return on_cluster(X, reading)
        if not fits_in_memory(X, max_numbers=max_numbers):
            return spill_to_disk(X, reading)
        X, y = X.read()
    y, sample_weight = matched_rows(X, y, sample_weight)
    positive = None if levels is None else levels.positive
    observations = as_observations(X, y=y, classes=classes, positive=positive, model_scale=model_scale)
    truth, known = as_truth(y, observations), None
    weight = as_weight(sample_weight, len(truth))
    if weight is not None:
        observations, truth, weight = counted_items(observations, truth, weight)
    if models is not None:
        observations = observations.with_models(models)
    if observations.scores is not None:
        known = LearntItems.of(observations, truth)  # by the scores as they were given
        reading = reading.with_levels_of(observations, truth, weight)
    reading = reading.with_zeros_of(observations)
    observations = reading.read(observations)
    schema = Schema.of(observations, reading.levels)
    number: Codes = np.arange(len(truth), dtype=np.int32)
    return InMemoryItems(schema, observations, truth, weight, number, max_numbers=max_numbers, known=known)
