"""Texts among labels whose meaning options give: "no answer", and "unsure"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from twoheads.errors import InvalidParameter
from twoheads.observations.labels import means_unsure, unsure_words
from twoheads.tables.checking.cells import label_key
from twoheads.tables.checking.profile import Profile
from twoheads.text import listed


@dataclass(frozen=True)
class Meanings:
    """The texts, as they are given.

    blank   those that mean "no answer"
    unsure  those that mean "unsure", besides that word itself
    """

    blank: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()

    @classmethod
    def of(cls, blank: str | Sequence[str], unsure: str | Sequence[str]) -> Meanings:
        """Those that options give; a text has one meaning only."""
        found = cls(*(((given,) if isinstance(given, str) else tuple(given)) for given in (blank, unsure)))
        both = next((text for text in found.unsure if label_key(text) in found.blank_keys), None)
        if both is not None:
            raise InvalidParameter(
                f"blank (--blank) and unsure (--unsure) must not hold the same text; {both!r} is in both. "
                "'unsure' is an answer: somebody looked and could not tell. Blank is none."
            )
        return found

    @cached_property
    def blank_keys(self) -> frozenset[str]:
        """The texts that mean "no answer", as their `label_key`."""
        return frozenset(map(label_key, self.blank))

    @cached_property
    def unsure_keys(self) -> frozenset[str]:
        """The texts that mean "unsure", as their `label_key`."""
        return frozenset(map(label_key, self._unsure))

    @cached_property
    def _unsure(self) -> frozenset[str]:
        return unsure_words(self.unsure, ())

    def is_unsure(self, text: str) -> bool:
        """Whether a fit with these options reads an answer as "unsure"."""
        return means_unsure(text, self._unsure)

    def check_in(self, truth: str | None, columns: Sequence[Profile], named: Sequence[str]) -> None:
        """Refuse a text that is in none of these columns of labels, and "unsure" for a class that columns name."""
        unsure_words(self.unsure, named)
        answers = [each for each in columns if each.name != truth]
        _check_there("blank (--blank)", "labels", self.blank, columns)
        _check_there("unsure (--unsure)", "answers", self.unsure, answers)

    def unsure_options(self) -> list[str]:
        """The options with which a fit reads "unsure" so."""
        pairs = [[f"--unsure={text}"] if text.startswith("-") else ["--unsure", text] for text in self.unsure]
        return [word for pair in pairs for word in pair]

    def options(self) -> list[str]:
        """The options with which a check reads the same."""
        return [*(f"--blank={text}" for text in self.blank), *self.unsure_options()]


def _check_there(option: str, what: str, texts: Sequence[str], columns: Sequence[Profile]) -> None:
    there = {label_key(text) for each in columns for text in (*each.spellings, *each.nothings)}
    off = next((text for text in texts if label_key(text) not in there), None)
    if off is not None:
        where = listed([each.name for each in columns]) or "there is none"
        raise InvalidParameter(
            f"{option} must be texts in a column of {what} ({where}); {off!r} is in none. Check its spelling."
        )


NO_MEANINGS = Meanings()
