"""The rivals of a team: whom it is compared with at fit, in an evaluation and in a report.

One list, in this order: the human, or one person at random, the majority, people combined without the model, each
model, the mean of several models, each machine that gives labels or scores, and the best single person with enough
answers: of those who labelled half of the items, then of those who labelled fewer. Machines are not people; a score is
the side on which the team reads it. Only "people combined" is fitted; the others need no fit, and have the same number
wherever the same items are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.rival import Rival, Rivals
from twoheads.confusion.base import columns_of
from twoheads.kernels.answers import Answers, item_of_answers, vote_shares
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.chosen_answers import answer_of, kept_answers
from twoheads.kernels.inference.discordant import mid_p_values
from twoheads.kernels.scoring.rivals import (
    Answered,
    PairedSums,
    RivalSums,
    best_person,
    best_rival,
    candidates,
    corrected,
    may_lead,
    rival_sums,
)
from twoheads.kernels.scoring.ties import label_error, top_shares

#: How many arrays `RivalList.sums` gives.
N_SUMS = 6
#: Keys of the rivals that are people, and of those that are models.
PEOPLE = ("human", "person", "majority", "crowd", "best_person")
MODELS = ("model", "models")
#: Rivals whose number depends on how they were fitted.
FITTED = ("crowd",)


@dataclass(frozen=True)
class RivalList:
    """Who the rivals are: which labels are compared with the truth.

    annotators  who answers
    models      the models that give probabilities; empty where there is none
    crowd       whether people are also combined without the model
    machines    the annotators that are machines
    """

    annotators: tuple[str, ...]
    models: tuple[str, ...]
    crowd: bool = True
    machines: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """The annotators that are people."""
        if not self.machines:
            return self.annotators
        return tuple(name for name in self.annotators if name not in self.machines)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Key and name of each rival but the best person, in order."""
        n_people, machines = len(self.people), [("model", name) for name in self.machines]
        people = [("person", ""), ("majority", "")] if n_people > 1 else [("human", "")] * n_people
        crowd = [("crowd", "")] if n_people > 1 and (self.models or machines) and self.crowd else []
        if len(self.models) > 1:
            return people + crowd + [("model", name) for name in self.models] + [("models", "")] + machines
        return people + crowd + [("model", "") for _ in self.models] + machines

    def labels(self, answers: Answers, n_classes: int, models: Floats, crowd: Floats | None = None) -> Labels:
        """The rivals' labels of some items; ``models`` and ``crowd`` as in `Labels`."""
        if not self.machines:
            return Labels(answers, n_classes, models, crowd)
        is_machine = np.array([name in self.machines for name in self.annotators])
        annotator = answers.column // n_classes
        people, _ = kept_answers(answers, ~is_machine[annotator])
        number = np.cumsum(~is_machine) - 1
        renumbered = replace(people, column=columns_of(people.column, number, n_classes))
        own = {name: answer_of(answers, self.annotators.index(name), n_classes) for name in self.machines}
        return Labels(renumbered, n_classes, models, crowd, own)

    def sums(
        self,
        labels: Labels,
        true_label: Codes,
        team_error: Floats,
        weight: Floats | None = None,
    ) -> tuple[Floats, ...]:
        """`RivalSums` over labelled items, then how many of them have several answers; ``team_error`` (n_items,)."""
        answers, n_classes = labels.answers, labels.n_classes
        there = answers.column != MISSING
        item, column = item_of_answers(answers)[there], answers.column[there]
        answered = Answered(column // n_classes, item, 1.0 * (column % n_classes != true_label[item]))
        errors = np.stack([labels.errors(*key, self.models, true_label) for key in self.keys])
        sums = rival_sums(errors, team_error, weight, answered, max(1, len(self.people)))
        return *sums, np.array(np.count_nonzero(answers.per_item() > 1), dtype=np.float64)

    def compared(self, sums: tuple[Floats, ...]) -> Rivals | None:
        """The rivals from the sums over all items; None if none has labelled any item."""
        *held, several = sums
        found, keys = RivalSums(*held), self.keys
        there = [
            at
            for at, (key, _) in enumerate(keys)
            if found.fixed[0, at] > 0 and (several > 0 or key not in ("majority", "crowd"))
        ]
        if not there:
            return None
        found = found.only(there)
        n_items, better = float(found.total[0]), best_rival(found)
        best = better
        members = _rivals([keys[at] for at in there], found.fixed, n_items, may_lead(found))
        for among, of_all in zip(candidates(found), (True, False), strict=True):
            person, leads = best_person(found, better, among) if len(self.people) > 1 else (None, False)
            if person is not None:
                key, sums_of_person = ("best_person", self.people[person]), found.people[:, [person]]
                members += _rivals([key], sums_of_person, n_items, np.array([of_all]), int(among.sum()))
                best = len(members) - 1 if leads and of_all else best
        found_best, made = members[best], Rivals(tuple(members), best, members[best].p_value)
        worse = found_best.team_errors > found_best.errors
        return replace(made, p_value=corrected(made.p_value, team_errs_more=worse, n_picked=made.n_picked))


@dataclass(frozen=True)
class Labels:
    """The rivals' labels of some items.

    answers   of people, numbered among people
    models    (n_models, n_items) errors of each model, and with several of their mean; see `model_errors`
    crowd     (n_items,) errors of people combined; None where they are not
    machines  (n_items,) the label of each machine by its name, MISSING without one
    """

    answers: Answers
    n_classes: int
    models: Floats
    crowd: Floats | None = None
    machines: Mapping[str, Codes] = field(default_factory=dict)

    def errors(self, key: str, name: str, models: tuple[str, ...], true_label: Codes) -> Floats:
        """Errors of one rival, (n_items,); NaN where it has no label."""
        if key == "model" and name in self.machines:
            return _wrong(self.machines[name], true_label)
        if key in ("model", "models"):
            return np.asarray(self.models[models.index(name) if name else -1])
        has_answer = self.answers.per_item() > 0
        if key == "crowd":
            return np.where(has_answer, np.nan if self.crowd is None else self.crowd, np.nan)
        shares, item = vote_shares(self.answers, self.n_classes), np.arange(len(has_answer))
        if key == "majority":
            shares = top_shares(shares)
        return np.where(has_answer, 1.0 - shares[true_label, item], np.nan)


def model_errors(block: Block) -> Floats:
    """Errors of each model's most probable class, and of several models last that of their mean, (n_models, n_items).

    0, 1 or between for a tie; NaN where a model has no row, and where the truth is not known.
    """
    if block.model_errors is not None:
        return block.model_errors
    assert block.true_label is not None
    truth, known = np.maximum(block.true_label, 0), block.true_label != MISSING
    own = [np.where(known & ~np.isnan(log[0]), label_error(np.nan_to_num(log), truth), np.nan) for log in block.members]
    here = known if block.no_model is None else known & ~block.no_model
    return np.stack([*own, np.where(here, label_error(block.log_proba, truth), np.nan)])


def _wrong(label: Codes, true_label: Codes) -> Floats:
    return np.where(label != MISSING, 1.0 * (label != true_label), np.nan)


def _rivals(
    keys: list[tuple[str, str]], sums: Floats, of_items: float, leading: NDArray[np.bool_], n_people: int = 0
) -> list[Rival]:
    """Rivals of these keys and names, from the rows of their `PairedSums`, (12, n_rivals)."""
    pair = PairedSums.of(sums)
    p_values = mid_p_values(pair.differences)
    numbers = np.stack([pair.weight, pair.n_items, pair.errors, pair.team_errors, pair.won, pair.lost], axis=1).tolist()
    rows = zip(keys, numbers, p_values, leading.tolist(), strict=True)
    return [Rival(*key, *each, p, of_items, leads, n_people) for key, each, p, leads in rows]
