"""Whether the items of known truth look like the others: where they were selected, what they show may not hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, fisher_exact, mannwhitneyu

from twoheads.combination.fitting.fit import FitResult
from twoheads.kernels.answers import vote_shares
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.inference.both_wrong import both_wrong_p_value
from twoheads.kernels.scoring.ties import sole_label, top_shares
from twoheads.observations.labels import label_text
from twoheads.text import p_value, percent

#: A difference is reported at this level, corrected for the number of tests (Holm's first step).
LEVEL = 0.01
#: With fewer items of either kind nothing is tested.
FEWEST = 20


def selection_facts(result: FitResult) -> dict[str, Any] | None:
    """The clearest difference between retained items with and without truth; None where none is significant.

    What is compared needs no truth: what was answered, whether answers are alike, whether people and model agree, and
    how sure the model is.
    ``[with, without]`` are the shares or the mean of both.
    """
    statistics = result.statistics
    if statistics.labelled is None or statistics.unlabelled is None:
        return None
    blocks = [result.rule.pooled(sample.block()) for sample in (statistics.labelled, statistics.unlabelled)]
    if min(block.n_items for block in blocks) < FEWEST:
        return None
    labels = [sole_label(result.rule.human_label_shares(block)) for block in blocks]
    found = [*_answers(labels, result.schema.classes), *_unanimity(blocks)]
    if result.schema.has_model:
        found += [*_agreement(blocks, labels), *_sureness(blocks)]
    if not found:
        return None
    p, facts = min(found, key=lambda each: each[0])
    p = min(1.0, p * len(found))
    return {**facts, "p_value": p} if p < LEVEL else None


def selection_sentences(selection: dict[str, Any] | None) -> list[str]:
    """A warning, from `selection_facts`; nothing without them."""
    if selection is None:
        return []
    known, others = (percent(share) for share in selection["shares"])
    what = {
        "unanimity": f"all answers are alike on {known} of them, and on {others} of the others with as many answers",
        "agreement": f"people and model agree on {known} of them, and on {others} of the others",
        "sureness": f"the model's top probability is {known} on average, and {others} on the others",
        "answers": f"people answered {selection.get('class')!r} on {known} of them, and on {others} of the others",
    }[selection["what"]]
    return [
        f"The items with truth are not a random part of all: {what} ({p_value(selection['p_value'])}). "
        "What is measured on them may not hold for the others; label some at random."
    ]


def _unanimity(blocks: list[Block]) -> list[tuple[float, dict[str, Any]]]:
    """Share of items with several answers on which all are alike, by an exact test among items with as many answers.

    The share of the others is that which they would have with as many answers each as the items with truth.
    """
    alike, number = [], []
    for block in blocks:
        assert block.answers is not None
        number.append(block.answers.per_item())
        alike.append(vote_shares(block.answers, len(block.log_proba)).max(axis=0) > 1.0 - 1e-9)
    both = [n for n in np.unique(number[0]) if n > 1 and n in number[1]]
    (known, n_known), (others, n_others) = (
        (same[np.isin(n, both)], n[np.isin(n, both)]) for same, n in zip(alike, number, strict=True)
    )
    if min(len(known), len(others)) < FEWEST:
        return []
    has_truth = np.repeat([True, False], [len(known), len(others)])
    same, stratum = np.concatenate([known, others]), np.concatenate([n_known, n_others])
    p = 2.0 * min(both_wrong_p_value(has_truth, each, stratum)[1] for each in (same, ~same))
    as_many = sum(np.mean(n_known == n) * others[n_others == n].mean() for n in both)
    return [(min(1.0, p), {"what": "unanimity", "shares": [float(known.mean()), float(as_many)]})]


def _agreement(blocks: list[Block], labels: list[Codes]) -> list[tuple[float, dict[str, Any]]]:
    """Share of items on which people and model have the same label, by Fisher's exact test; a tie is no label."""
    counts = []
    for block, human in zip(blocks, labels, strict=True):
        model = sole_label(top_shares(block.log_proba))
        both = (human != MISSING) & (model != MISSING)
        if block.no_model is not None:
            both &= ~block.no_model
        agreed = both & (model == human)
        counts.append((int(agreed.sum()), int(both.sum() - agreed.sum())))
    totals = [sum(each) for each in counts]
    if min(totals) < FEWEST:
        return []
    shares = [agreed / total for (agreed, _), total in zip(counts, totals, strict=True)]
    return [(float(fisher_exact(np.array(counts)).pvalue), {"what": "agreement", "shares": shares})]


def _sureness(blocks: list[Block]) -> list[tuple[float, dict[str, Any]]]:
    """The model's largest probability, by Mann and Whitney's test."""
    sure: list[Floats] = []
    for block in blocks:
        has_model = slice(None) if block.no_model is None else ~block.no_model
        sure.append(np.exp(block.log_proba.max(axis=0))[has_model])
    if min(map(len, sure)) < FEWEST:
        return []
    shares = [float(values.mean()) for values in sure]
    return [(float(mannwhitneyu(sure[0], sure[1]).pvalue), {"what": "sureness", "shares": shares})]


def _answers(labels: list[Codes], classes: NDArray[Any]) -> list[tuple[float, dict[str, Any]]]:
    """The classes that people answered, by a chi-squared test; the class whose share differs most is named."""
    table = np.array([np.bincount(each[each != MISSING], minlength=len(classes)) for each in labels])
    table, names = table[:, table.sum(axis=0) > 0], classes[table.sum(axis=0) > 0]
    totals = table.sum(axis=1)
    if min(totals) < FEWEST or len(names) < 2:
        return []
    expected = np.outer(totals, table.sum(axis=0)) / table.sum()
    enough = expected.min(axis=0) >= 5.0  # rarer classes are one
    merged = np.column_stack([table[:, enough], table[:, ~enough].sum(axis=1)]) if not enough.all() else table
    merged = merged[:, merged.sum(axis=0) > 0]
    if merged.shape[1] < 2:
        return []
    shares = table / totals[:, None]
    most = int(np.abs(shares[0] - shares[1]).argmax())
    facts = {"what": "answers", "class": label_text(names[most].item()), "shares": shares[:, most].tolist()}
    return [(float(chi2_contingency(merged).pvalue), facts)]
