"""Single cells of a table as text: blank ones, numbers with commas or in per cent."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from twoheads.tables.formats.data_file import NO_VALUE
from twoheads.tables.schema.coding import plain_text
from twoheads.text import spelling

#: Texts that mean "no value", apart from case; a fit that finds the classes in the labels reads most as classes.
BLANK_WORDS = frozenset(("", "n/a", "na", "#n/a", "nan", "null", "none", "nil", "-", "--", "–", "—", "?", "."))


def _texts(commas: str) -> frozenset[str]:
    """Texts with commas between them."""
    return frozenset(text.strip() for text in commas.split(","))


#: Texts that mean "not known" where they stand for the truth and nobody answers so, as their `spelling`.
UNKNOWN_WORDS = _texts("""
    unknown, unk, not known, not available, not yet, missing, pending, open, tbd, to do, todo, undetermined,
    unbekannt, nicht bekannt, offen, ausstehend, keine angabe, k.a., k. a., inconnu, en attente, pendiente, in attesa,
    pendente, desconocido, sconosciuto, desconhecido, onbekend
""")
#: Words that the first cell of a row of totals holds.
TOTAL_WORDS = _texts("""
    total, totals, grand total, sum, mean, average, avg, count, summe, gesamt, mittelwert,
    moyenne, somme, suma, media, totale, totaal, gemiddelde
""")

_NUMBER = re.compile(r"([-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?)\s*(%?)")
#: Between a small and a capital letter, before the last capital of several, around digits, and between scripts.
_BETWEEN_WORDS = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
    r"|(?<=[A-Za-z])(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])(?=[A-Za-z])"
)


class Number(NamedTuple):
    """A number in a cell, and whether it was written in per cent."""

    value: float
    percent: bool


def is_blank(text: str | None) -> bool:
    """Whether a cell has no value: nothing, blanks, or a word for it."""
    return text is None or text.strip().casefold() in BLANK_WORDS


def is_blank_to_fit(text: str) -> bool:
    """Whether a fit reads a label as no value, unless a class has that name; other words are labels to it."""
    return plain_text(text) in ("", *NO_VALUE)


def number_in(text: str) -> Number | None:
    """The number in a cell, with a point or a comma, perhaps in per cent; None if it is something else.

    >>> number_in("0,93"), number_in(" 93 %"), number_in("1.2.3")
    (Number(value=0.93, percent=False), Number(value=93.0, percent=True), None)
    """
    found = _NUMBER.fullmatch(text.strip())
    return Number(float(found[1].replace(",", ".")), bool(found[2])) if found else None


def label_key(text: str) -> str:
    """What all spellings of a label have in common; those that a fit reads as one, such as 1 and 1.0, are one.

    >>> label_key(" Very  Good "), label_key("1.0")
    ('very good', '1')
    """
    return spelling(plain_text(text))


def words_of(name: str) -> list[str]:
    """The words of a column's name, without case and accents: "AI_score (v2)" and "aiScore" begin with ai, score.

    >>> words_of("Ground truth"), words_of("readerA_label"), words_of("p(Abnormal)"), words_of("HITId")
    (['ground', 'truth'], ['reader', 'a', 'label'], ['p', 'abnormal'], ['hit', 'id'])
    """
    return [_plain(word) for word in pieces_of(name) if word[0].isalnum()]


def pieces_of(name: str) -> list[str]:
    """The words of a name and what is between them, in order; joined they are the name.

    >>> pieces_of("resnet50_cat")
    ['resnet', '50', '_', 'cat']
    """
    apart = _BETWEEN_WORDS.sub("\0", name)
    return re.findall(r"[^\W_]+|(?:[^\w\0]|_)+", apart)


def _plain(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))
