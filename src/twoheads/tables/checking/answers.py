"""Which columns hold answers: those of people by their names, else by labels that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from twoheads.tables.checking.cells import UNKNOWN_WORDS
from twoheads.tables.checking.hints import ANSWER, ASIDE, CONFIDENCE, DERIVED, GROUP, MODEL, PERSON, TRUTH
from twoheads.tables.checking.named import Named
from twoheads.tables.checking.profile import Profile

#: People who give no more of their numbers as classes than this give scores.
_OTHER_NUMBERS = 0.5


def label_columns(
    columns: Sequence[Profile],
    truth: Sequence[Profile],
    human: Sequence[str],
    named: Named,
    machines: Sequence[Profile],
    unsure: frozenset[str],
) -> tuple[list[Profile], dict[str, str]]:
    """The columns of answers, and why others that look like them are not; not those of ``machines``, which are known.

    Where names say which columns are people's, no other is; else those of answers are called so, or have the labels of
    the truth or of each other. So a truth whose name is not known is never also an answer beside named people.

    unsure  texts that mean "unsure", as their `label_key`
    """
    able = [each for each in columns if each.name in human or (each.is_labels and not each.speaks(CONFIDENCE | ASIDE))]
    people = [each for each in able if each.name in human]
    sure = [] if people else _by_name(columns, [*truth, *machines], named, unsure)
    others = [each for each in able if each.speaks(PERSON) and each not in sure and each.name not in named.people]
    people = people or [*sure, *_with_labels(others, [*truth, *sure])]
    seeds = people or [each for each in able if each.speaks(ANSWER) and not each.speaks(DERIVED)]
    known = set(labels_of([*seeds, *truth, *machines])) | named.classes or _common(able)
    known |= unsure if known else frozenset()
    near = [each for each in able if each not in seeds and _share(each, known) >= 0.9 and not each.speaks(GROUP)]
    found, undecided = list(seeds), {}
    for each in near:
        if each.speaks(TRUTH | DERIVED) and not each.speaks(PERSON):
            undecided[each.name] = "it may hold another truth, or a vote"
        elif each.speaks(MODEL) or not people:
            found.append(each)
        else:
            undecided[each.name] = "it holds the labels, but its name does not say whose"
    return [each for each in columns if each in found], undecided


def graders(columns: Sequence[Profile], people: Sequence[Profile], truth: Sequence[Profile]) -> list[Profile]:
    """People who give numbers where the truth is one of two other labels, or of other numbers: grades, or the like."""
    classes = set(labels_of(truth))
    n_classes = len(classes - UNKNOWN_WORDS)
    if n_classes < 2 or (n_classes > 2 and not all(each.is_numeric for each in truth)):
        return []
    most = 0.0 if n_classes == 2 else _OTHER_NUMBERS  # a score from 0 to 100 may be a class from 1 to 5 by chance
    if any(_share(each, classes) > most for each in people):
        return []
    able = [each for each in columns if each.is_numeric and each.speaks(PERSON) and not each.speaks(CONFIDENCE | ASIDE)]
    return able if all(each in able for each in people) else []


def labels_of(columns: Iterable[Profile]) -> Counter[str]:
    """In how many columns each label occurs."""
    return Counter(label for each in columns for label in each.labels())


def alike(one: Profile, other: Profile) -> bool:
    """Whether two columns have a label in common."""
    return bool(set(one.labels()) & set(other.labels()))


def _by_name(
    columns: Sequence[Profile], others: Sequence[Profile], named: Named, unsure: frozenset[str]
) -> list[Profile]:
    """The people of a fit: not those whose values are none of the labels that others give, or the classes."""
    people = [each for each in columns if each.name in named.people]
    found = []
    for each in people:
        shown = set(labels_of([*others, *(other for other in people if other is not each)])) | named.classes
        own = set(each.labels())
        if not own or not shown or own & shown or own <= {*unsure, "-1"}:
            found.append(each)
    return found


def _with_labels(columns: list[Profile], truth: Sequence[Profile]) -> list[Profile]:
    """Columns of people without those that hold something else: they have the labels of the truth, or of each other."""
    as_truth = [each for each in columns if any(alike(each, known) for known in truth)]
    if as_truth:
        return as_truth
    texts = [each for each in columns if not each.is_numeric] or columns
    shared = [each for each in texts if any(alike(each, other) for other in texts if other is not each)]
    return shared if len(shared) > 1 else texts


def _common(columns: Sequence[Profile]) -> set[str]:
    """The labels that at least two columns have, all of them and no others."""
    sets = Counter(frozenset(each.labels()) for each in columns)
    labels, times = sets.most_common(1)[0] if sets else (frozenset(), 0)
    return set(labels) if times > 1 else set()


def _share(column: Profile, known: set[str]) -> float:
    """The share of a column's cells that have one of these labels."""
    labels = column.labels()
    return sum(times for label, times in labels.items() if label in known) / max(sum(labels.values()), 1)
