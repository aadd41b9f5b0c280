"""The verdict of a report: whether the team is better than its better half, how sure that is, and what to do next.

All advice of a page is here, so that no two places of it advise differently: the test of the comparison decides, and
the learning curve adds what more labels would do for the team.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from twoheads.combination.better_half import change, decimals
from twoheads.evaluation.comparison import Comparison
from twoheads.evaluation.difference import Difference
from twoheads.evaluation.leakage import TOO_KIND, UNKNOWN
from twoheads.kernels.scoring.more_items import POWER, Paired, items_until_significant
from twoheads.report.plain_words import about, errors_at_most, errors_between, odds, odds_at_most
from twoheads.text import SIGNIFICANCE, count, percent

#: What stands on the badge, by answer.
BADGE = {
    "yes": "Yes",
    "no": "No",
    "same": "About the same",
    "too early": "Too early to say",
    "unknown": "Cannot say",
}
_SAME = 0.01  # errors that differ by less than this share of items are about the same,
_SAME_SHARE = 0.25  # and by less than this share of the errors of the better half
_TOO_MANY = 10_000  # more labels than this are not a plan
_NEXT_TO_NONE = 0.5  # p-value from which the present difference says next to nothing about how many labels it takes


@dataclass(frozen=True)
class Verdict:
    """Whether the team is better than its better half.

    answer    "yes", "no" (the better half errs less), "same", "too early" or "unknown" (nothing could be measured)
    badge     the answer in a word or three
    text      the answer in a short sentence, after the badge and a colon
    so_far    what was measured, where it is too early to say or nothing can be said; else empty
    sure      how sure it is, in plain words
    next      what to do, a sentence each
    n_more    how many more labelled items would decide it; None where that is decided, or cannot be said
    """

    answer: str
    text: str
    so_far: str
    sure: str
    next: list[str]
    n_more: int | None = None

    @property
    def badge(self) -> str:
        """The answer in a word or three."""
        return BADGE[self.answer]

    @property
    def sentence(self) -> str:
        """Badge and text: "Yes: the team makes 62 % fewer errors than the model alone."."""
        return f"{self.badge}: {self.text}"

    def as_dict(self) -> dict[str, Any]:
        """Plain Python objects that JSON can hold."""
        return {"sentence": self.sentence, "badge": self.badge, **asdict(self)}


def verdict(comparison: Comparison, *, trend: str = "unknown") -> Verdict:
    """The verdict of a comparison; ``trend`` is that of the learning curve."""
    found = comparison.difference
    if found is None:
        reason = "nobody but the team has labelled these items."
        return Verdict("unknown", reason, "", "", ["Compare it with a person or a model."])
    if comparison.how == TOO_KIND:
        reason = "the team was fitted on some of these items, so its errors here are too few."
        return Verdict("unknown", reason, "", "", ["Evaluate it on items it was not fitted on."])
    if found.p_value < SIGNIFICANCE and found.error != found.better_error:
        made = (_better if found.error < found.better_error else _worse)(found, trend, comparison.n_items)
    else:
        made = (
            _same(found, trend, comparison.n_items) if _is_same(found) else _too_early(found, trend, comparison.n_items)
        )
    if comparison.how != UNKNOWN:
        return made
    first = "Check first that the team was not fitted on these items: that cannot be known here."
    return Verdict(made.answer, made.text, made.so_far, made.sure, [first, *made.next], made.n_more)


def verdict_without_truth(reason: str) -> Verdict:
    """The verdict where no error can be measured."""
    return Verdict(
        "unknown",
        reason,
        "",
        "No error is measured: that takes truth. What the team believes of itself is as good as its assumptions.",
        ["Label about 100 of these items, drawn at random, and make the report again."],
    )


def _better(found: Difference, trend: str, n_items: int) -> Verdict:
    gains = {
        "falling": "More labelled items in the fit would improve it further: its error was still falling.",
        "flat": "It hardly needs more labelled items: its error no longer falls with them.",
    }
    text = _on_part(found, n_items, f"the team makes {_change(found)} {found.words}")
    return Verdict(
        "yes",
        f"{text}.",
        "",
        _chance(found, _how_sure(found.p_value)),
        [
            "Use the team for items like these.",
            *_trend(gains, trend),
            "Have a person check the items below, on which it is least sure.",
        ],
    )


def _worse(found: Difference, trend: str, n_items: int) -> Verdict:
    gains = {
        "falling": "Or fit the team on more labelled items: its error was still falling.",
        "flat": "More labelled items would hardly help the team.",
    }
    return Verdict(
        "no",
        f"use {found.words}. That errs on {_share(found.better_error, found)} of "
        f"{'items' if found.n_items == n_items else f'its {found.n_items:,} items'}, the team on "
        f"{_share(found.error, found)}.",
        "",
        _chance(found, _how_sure(found.p_value)),
        [f"Use {found.words} for items like these.", *_trend(gains, trend)],
    )


def _same(found: Difference, trend: str, n_items: int) -> Verdict:
    gains = {"falling": "More labelled items in the fit may make the team the better one: its error was still falling."}
    text = _on_part(found, n_items, f"the team and {found.words} differ by at most {errors_at_most(_largest(found))}")
    return Verdict(
        "same",
        f"{text}.",
        "",
        _expected(found),
        [
            "Use the cheaper of the two; to tell so small a difference would take many more labels.",
            *_trend(gains, trend),
        ],
    )


def _too_early(found: Difference, trend: str, n_items: int) -> Verdict:
    plan = _planned(found, n_items)
    gains = {
        "falling": "These labels would improve the team as well: its error was still falling.",
        "flat": "These labels are to measure by; the team itself would hardly improve with them.",
    }
    ahead = found.error < found.better_error
    until = f"use the team or {found.words}: which is better is not known" if ahead else f"use {found.words}"
    if plan.n_more is None:
        text = f"{_undecided(found)}."
        steps = [f"For now, {until}.", plan.words]
    else:
        text = f"label about {about(plan.n_more)} more items."
        steps = [plan.words, *_trend(gains, trend), f"Until then, {until}."]
    return Verdict("too early", text, _so_far(found), _chance(found, "Not sure"), steps, plan.n_more)


def _on_part(found: Difference, n_items: int, text: str) -> str:
    """What is true of the items of the better half, with their number where they are not all."""
    whole = found.n_items == n_items
    return text if whole else f"on {found.n_items:,} items, {text.removesuffix(' on the same items')}"


def _undecided(found: Difference) -> str:
    if found.error < found.better_error:
        return f"on {count(found.n_items, 'item')}, the team and {found.words} are too close"
    return f"{count(found.n_items, 'item')} show no sign that the team is better than {found.words}"


class _Plan(NamedTuple):
    """How many more items to label, None where no number is a plan, and what they would show."""

    n_more: int | None
    words: str


def _planned(found: Difference, n_items: int) -> _Plan:
    """Label until the present difference would show; where there is next to none, until half the errors would.

    The better half may have labelled a part of the ``n_items`` only, and will of the next ones.
    """
    n, behind = found.n_items, found.error > found.better_error
    seen = _counts(found)
    if found.p_value < _NEXT_TO_NONE:
        tests = found.n_picked if behind else 1
        seen = Paired(max(seen), min(seen))
        shares, level = Paired(seen.won / n, seen.lost / n), SIGNIFICANCE / tests
        what, size = f"if the team stays this much {'worse' if behind else 'better'}", "so small a difference"
    else:
        lost = (found.n_lost + 0.5) / n  # an error that has not been seen yet is possible
        shares, level = Paired(lost + found.better_error / 2, lost), SIGNIFICANCE
        size = f"that the team makes half the errors of {found.words}"
        what = f"if the team really makes half the errors of {found.words}"
    with_label = items_until_significant(seen, shares, level=level)
    n_more = None if with_label is None else math.ceil(with_label * n_items / n)
    if n_more is None or n_more > _TOO_MANY:
        return _Plan(None, f"More than {_TOO_MANY:,} labels would be needed to show {size}.")
    times = f"{round(5 * POWER)} of 5 cases"
    plan = f"Label about {about(n_more)} more items, drawn at random: {what}, that shows it in {times}"
    return _Plan(n_more, f"{plan}; a smaller difference takes more.")


def _counts(found: Difference) -> Paired:
    """Items won and lost; half-won items, as of a tied vote, count by their half in the excess."""
    differing, excess = found.n_won + found.n_lost, -found.n_items * found.difference.value
    return Paired((differing + excess) / 2.0, (differing - excess) / 2.0)


def _is_same(found: Difference) -> bool:
    return _largest(found) <= min(_SAME, _SAME_SHARE * found.better_error)


def _largest(found: Difference) -> float:
    """The largest difference, to either side, that the interval has; 1 without an interval."""
    low, high = found.difference.low, found.difference.high
    return 1.0 if low is None or high is None else max(-low, high)


def _so_far(found: Difference) -> str:
    if found.error == found.better_error:
        return f"So far, on {count(found.n_items, 'item')}, the team makes as many errors as {found.words}."
    difference = f"{_change(found)} {found.words}"
    return f"So far, on {count(found.n_items, 'item')}, the team makes {difference}, which may be chance."


def _change(found: Difference) -> str:
    return change(found.error, found.better_error, found.n_items, alike=not found.weighted)


def _how_sure(p: float) -> str:
    return "Very sure" if p < 0.001 else "Sure" if p < 0.01 else "Fairly sure"


def _chance(found: Difference, sure: str) -> str:
    """How sure it is, what the p-value means, and the interval.

    Where the team errs more, the p-value bounds the chance that the best of all rivals comes out as far ahead.
    """
    if found.error == found.better_error:
        meaning = "the two made equally many errors, and either may be the better one"
    elif found.error < found.better_error and found.p_value >= _NEXT_TO_NONE:
        meaning = "two that are equally good usually differ by as much as this"
    elif found.error < found.better_error or found.n_picked == 1:
        meaning = f"if the two were equally good, {odds(found.p_value)} such samples would show a difference this large"
    elif found.p_value >= _NEXT_TO_NONE:
        meaning = f"with {found.n_picked} to pick the best from, one may well be this far ahead by chance"
    else:
        meaning = f"if all were equally good, the best of {found.n_picked} would be this far ahead in "
        meaning += f"{odds_at_most(found.p_value)} such samples"
    return f"{sure}: {meaning}. {_expected(found)}".rstrip()


def _expected(found: Difference) -> str:
    low, high = found.difference.low, found.difference.high
    if low is None or high is None:
        return ""
    return f"Expect the team to make {errors_between(low, high)} (95 % interval)."


def _trend(sentences: dict[str, str], trend: str) -> list[str]:
    return [sentences[trend]] if trend in sentences else []


def _share(share: float, found: Difference) -> str:
    return percent(share, decimals(found.n_items))
