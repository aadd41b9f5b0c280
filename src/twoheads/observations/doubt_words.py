"""Texts by which a person may say "unsure"; an option names those that do, and none is read so unasked."""

from __future__ import annotations

from twoheads.text import spelling

#: As their `spelling`, with straight apostrophes; "ß" is "ss" there.
_LISTS = (
    "not sure, uncertain, unclear, undecided, don't know, dont know, do not know, idk, no idea, can't tell",
    "cannot tell, unsicher, nicht sicher, unklar, weiss nicht, weiss ich nicht, keine ahnung",
    "incertain, pas sûr, pas sur, ne sait pas, ne sais pas, je ne sais pas, indécis",
    "inseguro, no sé, no se sabe, no sabe, no estoy seguro, no estoy segura, dudoso",
    "incerto, non so, non sicuro, não sei, nao sei, não sabe, onzeker, weet niet, niet zeker",
    "わからない, 分からない, 不确定, 不知道",
)
DOUBT_WORDS = frozenset(text for each in _LISTS for text in each.split(", "))


def may_mean_unsure(text: str) -> bool:
    """Whether a label is one of these texts.

    >>> may_mean_unsure("Don’t know"), may_mean_unsure("weiß nicht"), may_mean_unsure("unsure"), may_mean_unsure("cat")
    (True, True, False, False)
    """
    return spelling(text).replace("’", "'") in DOUBT_WORDS
