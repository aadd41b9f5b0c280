"""What scores mean: whether high ones mean the class that they should."""

from __future__ import annotations

from typing import Any

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.annotators import facts_of_each, stats_of
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.score_levels import N_LEVELS
from twoheads.kernels.inference.multiplicity import picked_level
from twoheads.kernels.inference.rank_correlation import rank_correlation

#: Scores of two classes are reversed if their two sides are right less often than this: as a coin.
REVERSED = 0.5


def score_facts(result: FitResult, levels: ScoreLevels, accuracy: PeopleAccuracy, level: float) -> dict[str, Any]:
    """The ``positive`` class, which high scores should mean, and the number of ``levels`` of each member.

    ``reversed`` are the members whose scores surely mean the reverse, ``unclear`` those of whom that is estimated, but
    not sure. Of two classes, the sides of these are wrong more often than right; each has its accuracy. Of more, their
    rank correlation with the class is negative; each has that. The intervals are corrected for the number of members.
    ``equal_shares`` is true where more than two classes were taken to be equally frequent, as nobody names any.
    """
    schema, found = result.schema, dict[str, dict[str, Any]]()
    picked = picked_level(level, len(levels.names))
    for who, of in ((schema.people, accuracy), (schema.machine_numbers, accuracy.machines)):
        if of is not None and not {schema.annotators[at] for at in who}.isdisjoint(levels.names):
            found |= facts_of_each(stats_of(result, who, of, picked))
    sizes = dict(zip(levels.names, levels.sizes, strict=True))
    varied = {name: each for name, each in found.items() if sizes.get(name, 0) > 1}
    what, middle = "accuracy", REVERSED
    if schema.n_classes > 2:
        what, middle, varied = "correlation", 0.0, _correlations(result, levels, varied, picked)
    low = {name: each for name, each in varied.items() if each[what] < middle}
    sure = {name: each for name, each in low.items() if each[f"{what}_high"] < middle}
    unclear = {name: each for name, each in low.items() if name not in sure}
    kinds = {"reversed": sure, "unclear": unclear}
    facts = {"positive": levels.positive, "levels": sizes} | {kind: names for kind, names in kinds.items() if names}
    nobody_names = not result.statistics.n_labelled and set(schema.annotators) <= set(levels.names)
    return facts | ({"equal_shares": True} if schema.n_classes > 2 and nobody_names else {})


def _correlations(
    result: FitResult, levels: ScoreLevels, members: dict[str, dict[str, Any]], level: float
) -> dict[str, dict[str, Any]]:
    """Rank correlation of each member's scores and the class; none of those where it is not defined.

    It is measured where a member has answers about items of known truth, else believed.
    """
    response, found = result.rule.response, dict[str, dict[str, Any]]()
    assert response is not None
    for name, facts in members.items():
        measured = facts["kind"] == "measured"
        counts = _counts_of(response.labelled_scores_ if measured else response.counts_, levels.names.index(name))
        number = min(float(counts.sum()), float(facts["judged" if measured else "answers"]))
        estimate, low, high = rank_correlation(counts, number, level)
        if estimate == estimate:
            own = {"correlation": estimate, "correlation_low": low, "correlation_high": high}
            found[name] = {key: facts[key] for key in ("answers", "judged", "kind")} | own
    return found


def _counts_of(counts: Floats, member: int) -> Floats:
    return counts[member * N_LEVELS : (member + 1) * N_LEVELS]
