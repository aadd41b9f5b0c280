"""The items whose truth a team has learnt from, so that it is never judged on them as if they were held out.

An item is recognised by its id where ids were given, and by its content: its answers, and one number made of its
probabilities and scores. Contents are compared up to the rounding of the coarser table, so that it does not matter
whether probabilities were stored as float32 or with four decimals, nor in which order the rows are. Where answers, or
probabilities, tell items apart by themselves, either is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from twoheads.combination.learnt.absent_members import NOBODY, MembersAtFit, keys_of_those_here
from twoheads.combination.learnt.item_contents import (
    REPEATED,
    Contents,
    looks_asked_again,
    n_near,
    share_repeated,
    told_by_part,
)
from twoheads.combination.learnt.item_ids import NO_SPAN, Span, advice_on_ids, goes_on, joined_span, numbers_and_hashes
from twoheads.combination.learnt.item_numbers import (
    FULL,
    as_probabilities,
    between_0_and_1,
    class_weights,
    decimals_of,
)
from twoheads.combination.learnt.recognised import Recognised
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import without_zeros_read
from twoheads.observations import Observations
from twoheads.storage.artifact import register
from twoheads.tables.fingerprints import answer_hashes, stirred, text_hash

#: Of more items than this a sample is kept: then it is only known of a table whether it has any of them.
MAX_ITEMS = 100_000

_Words = NDArray[np.int64]


@register
@dataclass(frozen=True, eq=False)
class LearntItems(BaseEstimator):
    """Items of known truth.

    n_items   number of items, with those that are not kept
    id_hash   (n_kept,) of their ids; 0 where there was none
    key       (n_kept,) of their answers, and of which models have a row or a score
    place     (2, n_kept) two weighted means of their probabilities and scores, from 0 to 1
    decimals  of their probabilities and scores: the fewest and the most of any table
    n_classes, n_models  how many probabilities ``place`` is made of
    span      the whole numbers that the ids are, if these are consecutive
    """

    n_items: int
    id_hash: _Words
    key: _Words
    place: Floats
    decimals: tuple[int, int]
    n_classes: int = 2
    n_models: int = 1
    span: Span = NO_SPAN

    @classmethod
    def of(cls, observations: Observations, truth: Codes) -> LearntItems:
        """The items whose truth is known."""
        nobody = NO_SPAN, np.zeros(len(observations), dtype=np.int64)
        span, ids = numbers_and_hashes(observations) if observations.has_ids else nobody
        rows = np.flatnonzero(truth != MISSING)
        known = observations if len(rows) == len(observations) else observations.take(rows)
        key = answer_hashes(known.answers, known.unsure, known.annotators, known.classes)
        probas = [as_probabilities(proba, known.model_scale) for proba in known.model_proba]
        models, numbers = known.models if probas else (), list(known.model_proba)
        scores = {} if known.scores is None else dict(zip(known.scores.names, known.scores.values.T, strict=True))
        numbers += [values[:, None] for values in scores.values()]
        decimals = FULL if known.model_scale != "probability" else decimals_of(numbers)
        of_scores = {name: between_0_and_1(values, known.n_classes) for name, values in scores.items()}
        found = cls._made(ids[rows], key, probas, models, known.classes, decimals, of_scores)
        return replace(found, span=span)

    @classmethod
    def of_block(
        cls, block: Block, annotators: tuple[str, ...], classes: NDArray[Any], models: Any, zeros: Any = ()
    ) -> LearntItems:
        """The labelled items of a block, which has no ids; a probability of 0 was read as ``zeros``."""
        assert block.answers is not None
        logs = block.members or ((block.log_proba,) if models else ())
        probas = [without_zeros_read(log, zero) for log, zero in zip(logs, zeros or [0.0] * len(logs), strict=True)]
        if block.no_model is not None and len(probas) == 1:
            probas[0][block.no_model] = np.nan
        key = answer_hashes(block.answers, block.unsure, annotators, classes)
        nobody = np.zeros(block.n_items, dtype=np.int64)
        return cls._made(nobody, key, probas, models, classes, decimals_of(probas))

    @classmethod
    def _made(
        cls,
        id_hash: _Words,
        key: NDArray[np.uint64],
        probas: Sequence[Floats],
        models: Sequence[str],
        classes: NDArray[Any],
        decimals: int,
        of_scores: Mapping[str, Floats] | None = None,
    ) -> LearntItems:
        place, weights = np.zeros((2, len(key))), class_weights(classes)
        names = models if len(models) > 1 else ("",) * len(probas)  # one model is the same with or without a name
        if of_scores:
            names, probas = (*names, *of_scores), [*probas, *of_scores.values()]
        for name, proba in zip(names, probas, strict=True):
            blank = np.isnan(proba[:, 0])
            key = key + np.where(blank, np.uint64(0), np.uint64(text_hash(name) | 1))
            place += np.where(blank, 0.0, weights @ np.nan_to_num(proba).T)
        place /= max(1, len(probas))
        ends = decimals, decimals
        found = cls(len(key), id_hash, stirred(key).view(np.int64), place, ends, len(classes), max(1, len(probas)))
        return found._sampled()

    @classmethod
    def nothing(cls) -> LearntItems:
        """No items."""
        return cls(0, *(np.zeros(0, dtype=np.int64),) * 2, np.zeros((2, 0)), (FULL, FULL))

    @classmethod
    def joined(cls, parts: Sequence[LearntItems]) -> LearntItems:
        """The items of several; one that was learnt twice is kept once."""
        first, *others = [part for part in parts if part.n_items] or parts[:1]
        for other in others:
            new = ~np.isin(other._word(), first._word())
            n_again = 0 if min(first.n_missing, other.n_missing) else int((~new).sum())
            first = cls(
                first.n_items + other.n_items - n_again,
                np.concatenate([first.id_hash, other.id_hash[new]]),
                np.concatenate([first.key, other.key[new]]),
                np.concatenate([first.place, other.place[:, new]], axis=1),
                (min(first.decimals[0], other.decimals[0]), max(first.decimals[1], other.decimals[1])),
                first.n_classes,
                max(first.n_models, other.n_models),
                joined_span(first.span, other.span),
            )._sampled()
        return first

    @property
    def contents(self) -> Contents:
        """What they are recognised by beside their ids."""
        return Contents(self.key, self.place)

    @property
    def n_missing(self) -> int:
        """How many items are not kept."""
        return self.n_items - len(self.key)

    def recognise(self, observations: Observations, members: MembersAtFit = NOBODY) -> Recognised:
        """Which of these items, of any truth, are among the learnt ones; ``members`` are those of the fit."""
        own, those = self._beside(observations, members)
        found = self._recognised(observations, members, own, those, on=goes_on(self.span, those.span))
        advice = advice_on_ids(self.span, those.span, given=observations.has_ids)
        return replace(found, advice=advice, has_ids=observations.has_ids)

    def _recognised(
        self, observations: Observations, members: MembersAtFit, own: LearntItems, those: LearntItems, *, on: bool
    ) -> Recognised:
        if not those.n_missing:
            return own.recognise_learnt(those, on=on)
        found = []  # too many to be compared at once
        for rows in np.array_split(np.arange(len(observations)), 2):
            half = observations.take(rows)
            found.append(self._recognised(half, members, *self._beside(half, members), on=on))
        learnt = np.concatenate([each.learnt for each in found])
        renumbered = all(each.renumbered or not each.learnt.any() for each in found) and bool(learnt.any())
        certain, by_id = all(each.certain for each in found), all(each.by_id for each in found)
        return Recognised(learnt, certain, not self.n_missing, renumbered, by_id=by_id)

    def may_be_asked_again(
        self, observations: Observations, learnt: NDArray[np.bool_], members: MembersAtFit = NOBODY
    ) -> bool:
        """Whether the items but those ``learnt`` may be learnt ones with the probabilities of another model."""
        own, those = self._beside(observations, members)
        if self.id_hash.all() and those.id_hash.all():
            return False
        if not learnt.any():
            rests = np.ones(len(own.key), dtype=bool), np.ones(len(those.key), dtype=bool)
        elif those.n_missing:  # a sample of them, of which it is not known which are recognised
            return False
        else:
            rests = ~those.recognise_learnt(own).learnt, ~learnt
        return looks_asked_again(own.contents, those.contents, *rests)

    def _beside(self, observations: Observations, members: MembersAtFit) -> tuple[LearntItems, LearntItems]:
        """These items and others, both by the answers and numbers of the members who are here."""
        those = LearntItems.of(observations, np.zeros(len(observations), dtype=np.intp))
        if those.n_missing:
            return self, those
        own_key, key = keys_of_those_here(self.key, those.key, observations, members)
        return replace(self, key=own_key), replace(those, key=key)

    def recognise_learnt(self, those: LearntItems, *, on: bool | None = None) -> Recognised:
        """Which of the items that another team has learnt from are among these.

        on  whether ids go on where those at fit end, in the whole table that these are of; by default in these
        """
        tolerance, on = self._tolerance(those), goes_on(self.span, those.span) if on is None else on
        own, other = self.contents, those.contents
        by_id = (those.id_hash != 0) & np.isin(those.id_hash, self.id_hash)
        has_id = (those.id_hash != 0) & bool((self.id_hash != 0).all())
        by_content, by_part = n_near(own, other, tolerance) > 0, told_by_part(own, other, tolerance) & ~has_id
        if by_id.any() and not by_content.any() and not self._same_places(those, by_id, tolerance):
            return Recognised(by_id, False, not self.n_missing, renumbered=True)
        if max(share_repeated(own, tolerance), share_repeated(other, tolerance)) <= REPEATED:
            return Recognised(by_id | by_content | by_part, True, not self.n_missing, by_id=on or bool(has_id.all()))
        unclear = by_content & ~by_id & ~by_part & ~(has_id | on)
        learnt = by_id | by_part | unclear
        return Recognised(learnt, not unclear.any(), not self.n_missing, by_id=on or bool(has_id.all()))

    def _same_places(self, those: LearntItems, by_id: NDArray[np.bool_], tolerance: float) -> bool:
        """Whether any item has the probabilities of the learnt item of its id; its answers may be others."""
        order = np.argsort(self.id_hash)
        learnt = self.place[:, order[np.searchsorted(self.id_hash[order], those.id_hash[by_id])]]
        near = (np.abs(learnt - those.place[:, by_id]) <= tolerance).all(axis=0)
        return bool((near & (learnt.any(axis=0))).any())

    def _tolerance(self, those: LearntItems) -> float:
        """How far the places of one item can be apart by rounding; tables of the same decimals agree."""
        fewest = min(self.decimals[0], those.decimals[0])
        if self.decimals == those.decimals:
            fewest = FULL
        # A row that is made to sum to 1 again is off by sum (w - place) e, with |w - place| <= 1 and |e| <= 1/2 unit:
        # C / 2 units at most, and six standard deviations of independent errors are fewer with many classes.
        n_classes = max(self.n_classes, those.n_classes)
        return float(min(1.5, 1e-7 + min(n_classes / 2.0, 6.0 * (n_classes / 12.0) ** 0.5) * 10.0**-fewest))

    def _sampled(self) -> LearntItems:
        """The same with at most `MAX_ITEMS` items, those of the smallest hashes."""
        if len(self.key) <= MAX_ITEMS:
            return self
        kept = np.argpartition(self._word(), MAX_ITEMS)[:MAX_ITEMS]
        kept.sort()
        columns = self.id_hash[kept], self.key[kept], self.place[:, kept]
        return LearntItems(self.n_items, *columns, self.decimals, self.n_classes, self.n_models, self.span)

    def _word(self) -> NDArray[np.uint64]:
        """One hash of all that is known of each item, (n_kept,)."""
        words = self.key.view(np.uint64).copy()
        for place in self.place:
            words = stirred(words ^ np.ascontiguousarray(place + 0.0).view(np.uint64))
        return stirred(words ^ self.id_hash.view(np.uint64))
