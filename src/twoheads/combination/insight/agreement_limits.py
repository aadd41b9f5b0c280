"""What agreement cannot show without truth: who is accurate where too few overlap, and who only repeats another."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.fitting.fit import FitResult
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.kernels.blocks import Block
from twoheads.kernels.inference.overlap import (
    ENOUGH_SHARED,
    constant_members,
    never_differing,
    shared_items,
    undecided_members,
)
from twoheads.text import listed

#: With fewer members than this on an item, the sentence says why agreement shows nothing.
ENOUGH_MEMBERS = 3
#: So many members are named.
_NAMED = 5


def agreement_facts(result: FitResult) -> dict[str, Any] | None:
    """``undecided``, whose accuracies agreement cannot show, and ``alike``, groups that always agree.

    None with truth, or without retained items. ``members`` are those of whom it is known: where a part of the items is
    retained, those with enough answers in it. Members who always give the same answer are left out.
    """
    statistics, schema = result.statistics, result.schema
    if statistics.n_labelled or statistics.unlabelled is None:
        return None
    block, models = statistics.unlabelled.block(), schema.models if schema.has_model else ()
    everyone, n_annotators = [*schema.annotators, *models], len(schema.annotators)
    item, member, answer = _answers(result, block)
    varied = ~constant_members(member, answer, n_annotators)[member]
    item, member, answer = item[varied], member[varied], answer[varied]
    row, model = _models(block, len(models))
    items, members = np.concatenate([item, row]), np.concatenate([member, n_annotators + model])
    shared = shared_items(items, members, block.n_items, len(everyone))
    shared *= statistics.n_unlabelled / block.n_items  # as many as among all items
    enough = 1 if np.isinf(statistics.unlabelled.threshold) else ENOUGH_SHARED
    known = np.bincount(members, minlength=len(everyone)) >= enough
    return {
        "members": int(known.sum()),
        "undecided": [everyone[at] for at in np.flatnonzero(undecided_members(shared) & known)],
        "alike": [
            [everyone[at] for at in group]
            for group in never_differing(item, member, answer, block.n_items, n_annotators)
        ],
    }


def agreement_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences on what agreement cannot show, from `team_facts`."""
    if found["labelled"]:
        return []
    few = found["members_per_item"] < ENOUGH_MEMBERS
    agreement = found.get("agreement", {"members": 1, "undecided": ["all"] if few else [], "alike": []})
    sentences, undecided = [], agreement["undecided"]
    if undecided and few and len(undecided) == agreement["members"]:
        sentences.append(
            "With fewer than three members per item, agreement cannot show which member is more accurate: where they "
            "disagree, the prior decides. Labels would settle it."
        )
    elif undecided:
        sentences.append(
            f"Agreement cannot show how accurate {listed(undecided, _NAMED)} "
            f"{'is' if len(undecided) == 1 else 'are'}: that takes more items with answers of three members, none of "
            "whom always gives the same answer. Where they disagree, the prior decides. Labels would settle it."
        )
    return sentences + [
        f"{listed(group, _NAMED)} agree on all items that they share. This cannot show whether all of them are right "
        "or repeat each other; the team takes it as evidence that they are right. Labels would settle it; drop copies."
        for group in agreement["alike"][:_NAMED]
    ]


def _answers(result: FitResult, block: Block) -> tuple[Codes, Codes, Codes]:
    """Item, annotator and answer of each answer; scores are the same answer if they are of one level."""
    assert block.answers is not None
    n_classes, response = len(result.schema.classes), result.rule.response
    answered = block.answers.column != MISSING
    item = item_of_answers(block.answers)[answered]
    member, answer = np.divmod(block.answers.column[answered], n_classes)
    if response is not None and block.confidence is not None:
        scored = np.isin(member, response.scored_[0])
        level = np.where(scored, block.confidence[answered], np.nan)
        answer = answer + n_classes * np.unique(level, return_inverse=True)[1]
    return item, member, answer


def _models(block: Block, n_models: int) -> tuple[Codes, Codes]:
    """Item and number of each model's row; several models are taken to have rows on the same items."""
    rows = np.arange(block.n_items) if block.no_model is None else np.flatnonzero(~block.no_model)
    return np.tile(rows, n_models), np.repeat(np.arange(n_models), len(rows))
