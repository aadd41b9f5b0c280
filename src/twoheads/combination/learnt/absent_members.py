"""Items compared by the members who are here, where others of a fitted team are absent for all of them.

The key of an item is a sum of words, one for each answer and each row of a model, which are then mixed
(`twoheads.tables.fingerprints.stirred`). So a learnt item has the key of one here if its sum is larger by words that
absent members may have added: each of them one of K + 2 (a class, "unsure", nothing).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.members_here import Members
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations
from twoheads.observations.labels import label_text
from twoheads.tables.fingerprints import answer_hashes, answer_word, stirred, text_hash, unstirred

#: More sums than this are not formed: of many absent people, any answers are as good as any others.
_MOST_SUMS = 20_000_000

_Words = NDArray[np.uint64]


@dataclass(frozen=True)
class MembersAtFit:
    """Who had a word in the key of a learnt item.

    people  who gave answers
    models  who gave probabilities
    scores  who gave scores
    """

    people: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()

    @classmethod
    def of(cls, team: object) -> MembersAtFit:
        """Those of a team; nobody where it does not say."""
        if not isinstance(team, Members):
            return cls()
        scores = () if team.levels_ is None else tuple(team.levels_.names)
        people = tuple(name for name in team.annotators_ if name not in scores)
        return cls(people, team.models_ if team.has_model_ else (), scores)

    def model_words(self) -> list[int]:
        """The word of each model's row, and of each score, as `LearntItems` makes them."""
        named = self.models if len(self.models) > 1 else ("",) * len(self.models)
        return [text_hash(name) | 1 for name in (*named, *self.scores)]


NOBODY = MembersAtFit()


def keys_of_those_here(
    learnt: NDArray[np.int64], those: NDArray[np.int64], observations: Observations, members: MembersAtFit
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys of learnt items and of others, both without the words of absent members.

    learnt, those  (n_learnt,) and (n_items,) keys; ``observations`` are those items
    """
    if not len(learnt) or not len(those):
        return learnt, those
    names = list(map(label_text, observations.classes.tolist()))
    people = [name for name in members.people if name not in _who_answered(observations)]
    absent = [[0, answer_word(who, None), *(answer_word(who, name) for name in names)] for who in people]
    if _lacks_numbers(observations, members):  # then means of probabilities cannot be compared: only answers are
        answers, unsure = observations.answers, observations.unsure
        those = stirred(answer_hashes(answers, unsure, observations.annotators, observations.classes)).view(np.int64)
        absent += [[0, word] for word in members.model_words()]
    n_sums = np.prod([len(words) for words in absent], dtype=float)
    if not absent or n_sums * len(learnt) > _MOST_SUMS:
        return learnt, those
    there, found = np.unique(unstirred(those.view(np.uint64))), learnt.copy()
    own = unstirred(learnt.view(np.uint64))
    for word in _sums(absent):
        rest = own - word
        same = np.isin(rest, there)
        found[same] = stirred(rest[same]).view(np.int64)
    return found, those


def _sums(words_of_each: Sequence[Sequence[int]]) -> _Words:
    """Each sum of one word of each member."""
    total = np.zeros(1, dtype=np.uint64)
    for words in words_of_each:
        total = (total[:, None] + np.array(words, dtype=np.uint64)).ravel()
    return total


def _who_answered(observations: Observations) -> set[str]:
    """The people with an answer, of which "unsure" is one."""
    column = observations.answers.column
    numbers = {*np.unique(column[column != MISSING] // len(observations.classes)).tolist()}
    if observations.unsure is not None:
        column = observations.unsure.column
        numbers |= {*np.unique(column[column != MISSING]).tolist()}
    return {observations.annotators[at] for at in numbers}


def _lacks_numbers(observations: Observations, members: MembersAtFit) -> bool:
    """Whether a model or a score is absent; the only model is the same by any name."""
    n_models = len(observations.model_proba)
    scores = () if observations.scores is None else observations.scores.names
    lacking = {*members.models} - {*observations.models} if len(members.models) > 1 else members.models[n_models:]
    return bool({*lacking} or {*members.scores} - {*scores})
