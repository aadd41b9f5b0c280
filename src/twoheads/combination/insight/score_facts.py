"""What scores mean: whether high ones mean the class that they should."""

from __future__ import annotations

from typing import Any

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.annotators import facts_of_each, stats_of
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.kernels.inference.multiplicity import picked_level

#: Scores are reversed if their two sides are right less often than this: as a coin.
REVERSED = 0.5


def score_facts(result: FitResult, levels: ScoreLevels, accuracy: PeopleAccuracy, level: float) -> dict[str, Any]:
    """The ``positive`` class, which high scores should mean, and the number of ``levels`` of each member.

    ``reversed`` are the members whose two sides are surely wrong more often than right, ``unclear`` those of whom that
    is estimated, but not sure; each with its accuracy. The intervals are corrected for the number of members.
    """
    schema, found = result.schema, dict[str, dict[str, Any]]()
    for who, of in ((schema.people, accuracy), (schema.machine_numbers, accuracy.machines)):
        if of is not None and not {schema.annotators[at] for at in who}.isdisjoint(levels.names):
            found |= facts_of_each(stats_of(result, who, of, picked_level(level, len(levels.names))))
    sizes = dict(zip(levels.names, levels.sizes, strict=True))
    low = {name: each for name, each in found.items() if sizes.get(name, 0) > 1 and each["accuracy"] < REVERSED}
    sure = {name: each for name, each in low.items() if each["accuracy_high"] < REVERSED}
    unclear = {name: each for name, each in low.items() if name not in sure}
    kinds = {"reversed": sure, "unclear": unclear}
    return {"positive": levels.positive, "levels": sizes} | {kind: names for kind, names in kinds.items() if names}
