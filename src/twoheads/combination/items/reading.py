"""How a fit reads observations: classes in their order, scores as answers by their levels, what a 0 means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from twoheads.confusion.score_levels import LOOK, ScoreLevels, ScoreSample, answered
from twoheads.engines.cluster import ClusterTable
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.observations import Observations, as_truth
from twoheads.observations.model_rows import zeros_as
from twoheads.tables.scanned import ScannedTable


@dataclass(frozen=True)
class Reading:
    """How observations are read.

    classes    (n_classes,) in their order; None for that of the observations
    levels     of scores; None where there are none
    continued  whether levels and zeros are those of an earlier fit, and none are to be found
    zeros      what a probability of 0 of each model is read as; empty where that is still to be found, None where it is
               the smallest number there is
    """

    classes: NDArray[Any] | None = None
    levels: ScoreLevels | None = None
    continued: bool = False
    zeros: tuple[float, ...] | None = None

    def read(self, observations: Observations) -> Observations:
        """Observations in which scores are answers."""
        if self.classes is not None:
            observations = observations.aligned(self.classes)
        observations = replace(observations, zeros=self.zeros or ())
        return observations if observations.scores is None else answered(observations, self.levels)

    def with_zeros_of(self, observations: Observations) -> Reading:
        """The same with what a probability of 0 is read as, where a fit begins with these observations."""
        if self.continued or self.zeros is None:
            return self
        return replace(self, zeros=zeros_as(observations.model_proba, observations.model_scale))

    def with_levels_of(self, observations: Observations, truth: Codes, weight: Floats | None) -> Reading:
        """The same with the levels of scores, where a fit begins; weight (n_items,) or None."""
        if self.continued or observations.scores is None:
            return self
        return replace(self, levels=ScoreLevels.of(observations, truth, weight))

    def with_levels(self, table: ScannedTable | ClusterTable, rows: int) -> Reading:
        """The same with the levels of a table's scores: they need a pass over it, in blocks of so many rows."""
        if self.continued or not table.has_scores:
            return self
        sample, start, parts = evenly_spaced(table.n_rows, LOOK), 0, []
        for observations, y in table.blocks(rows, items=False):
            end = start + len(observations)
            own = sample[(sample >= start) & (sample < end)] - start
            parts.append(ScoreSample.of(observations.take(own), as_truth(y, observations)[own]))
            start = end
        return replace(self, levels=ScoreLevels.of_sample(parts))
