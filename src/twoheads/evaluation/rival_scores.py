"""The rivals of a team in an evaluation: the same list, the same rule and the same sums as at fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.combination.rival import Rival, Rivals
from twoheads.combination.rivals import FITTED, Labels, RivalList
from twoheads.evaluation.bootstrap import LEVEL, Resampling, Score, share_score
from twoheads.evaluation.predictions import Predictions
from twoheads.evaluation.team import Team, record_of
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.chosen_answers import answer_of
from twoheads.kernels.inference.multiplicity import picked_level
from twoheads.kernels.scoring.ties import label_error
from twoheads.rendering.notebook import Shown
from twoheads.text import SIGNIFICANCE, count, p_value, percent


@dataclass(frozen=True)
class RivalScore(Shown):
    """One rival of the combination, on the items that it has labelled.

    key, name      as in `twoheads.combination.rivals.Rival`: "human", "majority", "model", "best_person", ...
    words          the rival in a sentence
    better_half    whether it is the best of those that may be the better half
    of_all         whether it may be: it has labelled half of the items, or as many as anybody where nobody has so many
    n_items        how many items it has labelled
    error          its share of errors, with the interval; that of the best person is corrected for the choice
    team_error     the combination's share of errors on the same items
    n_won, n_lost  items that only the combination has right, and only the rival
    p_value        of the difference, not corrected for having picked this rival
    """

    key: str
    name: str
    words: str
    better_half: bool
    of_all: bool
    n_items: int
    error: Score
    team_error: float
    n_won: int
    n_lost: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Compared:
    """The rivals, and the errors of each, (n_items,): 0, 1 or between for a tie; NaN where it has no label."""

    rivals: Rivals
    errors: list[Floats]

    @property
    def remarks(self) -> list[str]:
        """Who errs less than the combination on too few items to be the better half."""
        ahead = self.rivals.ahead_on_part()
        return [] if ahead is None else [ahead]

    def scores(self, weight: Floats, draws: Resampling) -> list[RivalScore]:
        """Each rival's error with its interval."""
        return [self._score(*each, weight, draws) for each in zip(self.rivals.members, self.errors, strict=True)]

    def _score(self, rival: Rival, error: Floats, weight: Floats, draws: Resampling) -> RivalScore:
        here = ~np.isnan(error)
        return RivalScore(
            rival.key,
            rival.name,
            rival.words,
            rival is self.rivals.better_half,
            rival.of_all,
            int(here.sum()),
            share_score(error[here], weight[here], draws.take(here), level=picked_level(LEVEL, max(1, rival.n_people))),
            rival.team_error,
            round(rival.won),
            round(rival.lost),
            rival.p_value,
        )


def compared_rivals(items: Predictions) -> Compared | None:
    """The rivals on items of known truth; None if none has labelled any of them."""
    listed = _listed(items)
    labels = _labels(listed, items)
    team_error = label_error(items.combined_proba.T, items.true_label)
    sums = listed.sums(labels, items.true_label, team_error, items.weight)
    found = listed.compared(sums)
    if found is None:
        return None
    return Compared(found, [_errors(rival, listed, labels, items) for rival in found.members])


def differs_from_fit(team: Team, found: Rivals | None) -> str | None:
    """Why the better half, its error or the significance is not that of the team's own record; None if they agree."""
    record = record_of(team)
    if record is None or found is None:
        return None
    before, now = record.better_half, found.better_half
    other_items = any(not np.isclose(one, other) for one, other in zip(_sizes(record), _sizes(found), strict=False))
    if (before.key, before.name) == (now.key, now.name) and np.isclose(before.error, now.error, rtol=0, atol=1e-9):
        return None if other_items else _significance(record, found)
    shown = f"At fit the better half was {before.words} ({percent(before.error, 1)}"
    if other_items:
        return f"{shown} on {count(round(before.n), 'item')}): the team's own record is of other items than these."
    if FITTED[0] in (before.key, now.key):
        return f"{shown}): there people's answers were weighted without the item, here without its fold."
    return f"{shown}): the team's own record is of other items than these."


def _significance(record: Rivals, found: Rivals) -> str | None:
    """That the difference from the same better half is significant only at fit, or only here."""
    was, is_now = record.p_value < SIGNIFICANCE, found.p_value < SIGNIFICANCE
    if was == is_now:
        return None
    before, verb = record.better_half, "was" if was else "was not"
    return (
        f"At fit, where each of these items was held out by itself, the team erred on {percent(before.team_error, 1)} "
        f"of those that the better half labelled, and the difference {verb} significant "
        f"({p_value(record.p_value)}). Whether it is depends on how items are held out, so more items with truth are "
        "needed to be sure."
    )


def _sizes(found: Rivals) -> list[float]:
    return [rival.n for rival in found.members if rival.key != "best_person"]


def _listed(items: Predictions) -> RivalList:
    models = items.models if items.has_model.any() else ()
    return RivalList(items.annotators or ("human",), models, items.crowd_proba is not None, items.machines)


def _labels(listed: RivalList, items: Predictions) -> Labels:
    crowd = None if items.crowd_proba is None else label_error(items.crowd_proba.T, items.true_label)
    answers = Answers(items.human_label) if items.answers is None else items.answers
    models = items.model_errors
    if models is None:
        models = np.where(items.has_model, label_error(items.model_proba.T, items.true_label), np.nan)[None]
    return listed.labels(answers, len(items.classes), models, crowd)


def _errors(rival: Rival, listed: RivalList, labels: Labels, items: Predictions) -> Floats:
    if rival.key != "best_person":
        return labels.errors(rival.key, rival.name, listed.models, items.true_label)
    label = answer_of(labels.answers, listed.people.index(rival.name), labels.n_classes)
    return np.where(label == MISSING, np.nan, 1.0 * (label != items.true_label))
