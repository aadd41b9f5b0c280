"""Whether the items of known truth look like the others: where they were selected, what they show may not hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, fisher_exact, mannwhitneyu

from twoheads.combination.fitting.fit import FitResult
from twoheads.kernels.answers import item_of_answers, vote_shares
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.confusion.score_levels import middle_ranks
from twoheads.kernels.inference.both_wrong import both_wrong_p_value
from twoheads.kernels.scoring.ties import TIED, sole_label, top_shares
from twoheads.observations.labels import label_text
from twoheads.text import p_value, percent

#: A difference is reported at this level, corrected for the number of tests (Holm's first step).
LEVEL = 0.01
#: With fewer items of either kind nothing is tested: no test would come to that level.
FEWEST = 5
#: Where every class is expected so often, one chi-squared test is made of all.
ENOUGH = 5.0


def selection_facts(result: FitResult) -> dict[str, Any] | None:
    """The clearest difference between retained items with and without truth; None where none is significant.

    What is compared needs no truth: what was answered, how confidently, which class the model finds most probable,
    whether answers are alike, whether people and model agree, and how sure the model is. So it holds however bad people
    and model are; what is believed of the classes of the others would not.
    ``[with, without]`` are the shares or the mean of both.
    """
    statistics = result.statistics
    if statistics.labelled is None or statistics.unlabelled is None:
        return None
    blocks = [result.rule.pooled(sample.block()) for sample in (statistics.labelled, statistics.unlabelled)]
    if min(block.n_items for block in blocks) < FEWEST:
        return None
    labels = [sole_label(result.rule.human_label_shares(block)) for block in blocks]
    classes = result.schema.classes
    scored = np.empty(0, dtype=np.intp) if result.rule.response is None else result.rule.response.scored_[0]
    found = [*_classes("answers", labels, classes), *_unanimity(blocks), *_confidence(blocks, scored)]
    if result.schema.has_model:
        models = [_model_label(block) for block in blocks]
        found += [*_classes("model", models, classes), *_agreement(models, labels), *_sureness(blocks)]
    if not found:
        return None
    p, facts = min(found, key=lambda each: each[0])
    p = min(1.0, p * len(found))
    return {**facts, "p_value": p} if p < LEVEL else None


def selection_sentences(selection: dict[str, Any] | None, whose: str = "people") -> list[str]:
    """A warning, from `selection_facts`; nothing without them.

    whose  what is beside the model: "people", or "labels and scores", of machines too
    """
    if selection is None:
        return []
    known, others = (percent(share) for share in selection["shares"])
    agree, say = "people and model agree", "people answered"
    if whose != "people":
        agree, say = f"{whose} together agree with the model", f"{whose} together say"
    what = {
        "unanimity": f"all answers are alike on {known} of them, and on {others} of the others with as many answers",
        "agreement": f"{agree} on {known} of them, and on {others} of the others",
        "confidence": "sorted by members' confidences, and by how far scores are from the middle, "
        f"they are at {known} on average, and the others at {others}",
        "sureness": f"the model's top probability is {known} on average, and {others} on the others",
        "model": f"the model finds {selection.get('class')!r} most probable on {known} of them, and on {others} of the "
        "others",
        "answers": f"{say} {selection.get('class')!r} on {known} of them, and on {others} of the others",
    }[selection["what"]]
    return [
        f"The items with truth are not a random sample of all items: {what} ({p_value(selection['p_value'])}). "
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


def _confidence(blocks: list[Block], scored: Codes) -> list[tuple[float, dict[str, Any]]]:
    """How sure members are, by Mann and Whitney's test of items: each member's confidences by their rank.

    The confidence of a score is its distance from the cut between the two sides.

    scored  the annotators who give scores
    """
    if any(block.confidence is None for block in blocks):
        return []
    rows = [_confidences(block, scored) for block in blocks]
    member, sure = (np.concatenate(each) for each in zip(*((member, sure) for _, member, sure in rows), strict=True))
    rank = np.zeros(len(sure))
    order = member.argsort(kind="stable")
    for answers in np.split(order, np.flatnonzero(np.diff(member[order])) + 1):
        rank[answers] = middle_ranks(sure[answers])
    means: list[Floats] = []
    start = 0
    for (item, _, _), block in zip(rows, blocks, strict=True):
        own = rank[start : start + len(item)]
        number = np.bincount(item, minlength=block.n_items)
        means.append(np.bincount(item, own, block.n_items)[number > 0] / number[number > 0])
        start += len(item)
    if min(map(len, means)) < FEWEST:
        return []
    shares = [float(each.mean()) for each in means]
    return [(float(mannwhitneyu(means[0], means[1]).pvalue), {"what": "confidence", "shares": shares})]


def _confidences(block: Block, scored: Codes) -> tuple[Codes, Codes, Floats]:
    """Item, annotator and confidence of each answer that has one."""
    assert block.answers is not None
    assert block.confidence is not None
    given = (block.answers.column != MISSING) & ~np.isnan(block.confidence)
    member, sure = block.answers.column[given] // len(block.log_proba), block.confidence[given]
    return item_of_answers(block.answers)[given], member, np.where(np.isin(member, scored), np.abs(sure), sure)


def _model_label(block: Block) -> Codes:
    """The model's label, (n_items,); MISSING in a tie, and without a model row."""
    label = sole_label(top_shares(block.log_proba))
    return label if block.no_model is None else np.where(block.no_model, MISSING, label)


def _agreement(models: list[Codes], labels: list[Codes]) -> list[tuple[float, dict[str, Any]]]:
    """Share of items on which people and model have the same label, by Fisher's exact test; a tie is no label."""
    counts = []
    for model, human in zip(models, labels, strict=True):
        both = (human != MISSING) & (model != MISSING)
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


def _classes(what: str, labels: list[Codes], classes: NDArray[Any]) -> list[tuple[float, dict[str, Any]]]:
    """The classes of labels with and without truth; the class whose share differs most is named.

    By a chi-squared test where each class is expected often enough; else by Fisher's exact test of each class of which
    one is expected among the fewer items, corrected for their number.
    """
    table = np.array([np.bincount(each[each != MISSING], minlength=len(classes)) for each in labels])
    table, names = table[:, table.sum(axis=0) > 0], classes[table.sum(axis=0) > 0]
    totals = table.sum(axis=1)
    if min(totals) < FEWEST or len(names) < 2:
        return []
    p_value = _p_value(table, np.outer(totals, table.sum(axis=0)) / table.sum())
    if p_value is None:
        return []
    shares = table / totals[:, None]
    more = shares[0] - shares[1]
    most = int(np.where(more > 0, more, -more - TIED).argmax())  # of two, that of which there is more
    return [(p_value, {"what": what, "class": label_text(names[most].item()), "shares": shares[:, most].tolist()})]


def _p_value(table: Codes, expected: Floats) -> float | None:
    """Of a table (2, n_classes); None where no class is expected among the fewer items."""
    if expected.min() >= ENOUGH:
        return float(chi2_contingency(table).pvalue)
    tested = np.flatnonzero(expected.min(axis=0) >= 1.0)
    if not len(tested):
        return None
    tested = tested if table.shape[1] > 2 else tested[:1]  # the other of two is the same test
    pairs = (np.stack([table[:, at], table.sum(axis=1) - table[:, at]], axis=1) for at in tested)
    return min(1.0, len(tested) * min(float(fisher_exact(pair).pvalue) for pair in pairs))
