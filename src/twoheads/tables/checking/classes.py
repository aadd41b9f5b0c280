"""The classes that labels name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite

from twoheads.observations.labels import sorted_names
from twoheads.tables.checking.cells import is_blank_to_fit, label_key
from twoheads.tables.checking.hints import POSITIVE
from twoheads.tables.checking.meanings import Meanings
from twoheads.tables.checking.profile import Profile
from twoheads.tables.schema.coding import plain_text


def classes_of(
    columns: Sequence[Profile], nothing: frozenset[str], meanings: Meanings, *, worded: bool
) -> dict[str, str]:
    """Each class as it is spelt most often, by its `label_key`; "unsure" is an answer and no class, and -1 nothing."""
    spellings: dict[str, Counter[str]] = {}
    for column in columns:
        words = {text: times for text, times in column.nothings.items() if worded and not is_blank_to_fit(text)}
        for text, times in (*column.spellings.items(), *words.items()):
            if meanings.is_unsure(text):
                continue
            spellings.setdefault(label_key(text), Counter())[plain_text(text)] += times
    spellings.pop("-1", None)
    found = {key: max(sorted(texts), key=texts.__getitem__) for key, texts in sorted(spellings.items())}
    return {key: text for key, text in found.items() if key not in nothing | meanings.blank_keys}


def no_values_of_both(columns: Sequence[Profile], truth: str | None, meanings: Meanings) -> tuple[str, ...]:
    """Words for "no value" that the truth and answers hold, so that they may be a class; not those with a meaning."""
    of_truth, of_answers = (
        {text for each in columns if (each.name == truth) is is_truth for text in each.nothings}
        for is_truth in (True, False)
    )
    both = (text for text in of_truth & of_answers if not is_blank_to_fit(text))
    return tuple(sorted(text for text in both if label_key(text) not in meanings.blank_keys | meanings.unsure_keys))


def can_have_scores(classes: dict[str, str]) -> bool:
    """Whether there are two classes, or more whose order is known, as they are numbers."""
    return len(classes) == 2 or (len(classes) > 2 and all(map(_is_number, classes.values())))


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def positive_by_name(classes: dict[str, str]) -> str | None:
    """The class that high scores mean, where its name shows it: of more than two the greatest."""
    if len(classes) > 2:
        return in_order(classes)[-1]
    return next((classes[word] for word in POSITIVE if word in classes), None)


def in_order(classes: dict[str, str]) -> list[str]:
    """The classes in the order of the package."""
    return list(sorted_names(classes.values()))
