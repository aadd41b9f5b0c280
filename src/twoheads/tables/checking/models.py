"""Columns of models' probabilities: which model and class they are of, and what their numbers are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from twoheads.tables.checking.cells import pieces_of, words_of
from twoheads.tables.checking.hints import ANSWER, CONFIDENCE, LOG, LOGIT, PERSON, PREDICTION, SCORE
from twoheads.tables.checking.profile import Profile
from twoheads.text import spelling


@dataclass(frozen=True)
class Shares:
    """The columns of probabilities.

    models   by model, the column of each class, by class
    percent  whether they are in per cent, though no sign says so
    scale    what they hold: probability, log or logit
    reasons  why columns with the names of classes are not used
    """

    models: dict[str, dict[str, str]] = field(default_factory=dict)
    percent: bool = False
    scale: str = "probability"
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> set[str]:
        """All columns."""
        return {column for columns in self.models.values() for column in columns.values()}


def find_shares(columns: Sequence[Profile], classes: dict[str, str]) -> tuple[Shares, dict[str, str]]:
    """The columns of probabilities; and the classes, which are those of the columns where there are any."""
    families = _families(columns, classes)
    by_name = {each.name: each for each in columns}
    kinds: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for family, found in families.items():
        known = {spelling(label) for label in found}
        whole = len(found) >= 2 and known >= set(classes)
        kind, why = _kind([by_name[name] for name in found.values()], whole=whole)
        if kind:
            kinds[family] = kind
        elif why:
            reasons |= dict.fromkeys(found.values(), why)
    main = next(iter(kinds.values()), "probability")  # all models of a table are on one scale
    others = [family for family, kind in kinds.items() if kind != main]
    unlike = f"it is not on the scale of another model ({main})"
    reasons |= {name: unlike for family in others for name in families[family].values()}
    models = {
        name: {classes.get(spelling(label), label): column for label, column in families[family].items()}
        for name, family in _unique([each for each in kinds if each not in others], machine_name).items()
    }
    shares = Shares(models, main == "percent", "probability" if main == "percent" else main, reasons)
    every = {spelling(label): label for found in models.values() for label in found}
    if len(every) < 2:
        return shares, classes
    return shares, {key: classes.get(key, label) for key, label in sorted(every.items())}


def _families(columns: Sequence[Profile], classes: dict[str, str]) -> dict[str, dict[str, str]]:
    """By what names have in common, the column of each class; never those of people."""
    families: dict[str, dict[str, str]] = {}
    for column in columns:
        parts = None if column.speaks(PERSON | CONFIDENCE) else _parts(column.name, classes)
        if parts:
            families.setdefault(parts[0], {})[parts[1]] = column.name
    enough: dict[str, dict[str, str]] = {}
    for family, found in families.items():
        known = {spelling(label) for label in found}
        one_of_two = len(classes) == 2 and known <= set(classes)
        if (len(found) >= 2 or one_of_two) and (not classes or known & set(classes)):
            enough[family] = found
    return enough


def _kind(columns: Sequence[Profile], *, whole: bool) -> tuple[str, str]:
    """What the columns of one model hold (probability, percent, log or logit), or why they are not used.

    Logarithms and logits are called so; their values do not show them. Percentages without a sign sum to 100.
    """
    for scale, words in (("logit", LOGIT), ("log", LOG)):
        if all(each.speaks(words) for each in columns):
            return scale, ""
    factors = [0.01 if each.is_percent else 1.0 for each in columns]
    low = min(each.low for each in columns)
    high = max(each.high * factor for each, factor in zip(columns, factors, strict=True))
    total = sum(each.mean * factor for each, factor in zip(columns, factors, strict=True))
    if low >= 0 and high <= 1 + 1e-9:
        by_name = all(each.name.startswith("p_") or ".p_" in each.name for each in columns)
        sums = by_name or not whole or 0.8 <= total <= 1.2
        return ("probability", "") if sums else ("", "its numbers do not sum to 1")
    if whole and low >= 0 and high <= 100 and 95 <= total <= 105:
        return "percent", ""
    return "", "its numbers are not probabilities; logits have a name that says so: logit_<class>" if whole else ""


def _parts(name: str, classes: dict[str, str]) -> tuple[str, str] | None:
    """The model and the class that the name of a column of probabilities holds."""
    if name.startswith("p_") and len(name) > 2:
        return "model", name[2:]
    model, separator, label = name.partition(".p_")
    if separator and model and label:
        return model, label
    pieces, words = pieces_of(name), words_of(name)
    places = [at for at, piece in enumerate(pieces) if piece[0].isalnum()]
    for key, label in sorted(classes.items(), key=lambda each: -len(each[0])):
        of_class = words_of(label)
        for at in range(len(words) - len(of_class) + 1) if of_class else ():
            if words[at : at + len(of_class)] == of_class and len(words) > len(of_class):
                first, last = places[at], places[at + len(of_class) - 1]
                return "".join([*pieces[:first], *pieces[last + 1 :]]), key
    return None


def machine_name(name: str) -> str:
    """The name of a model, from that of its column or of a family of columns, without words such as score.

    >>> machine_name("AI score"), machine_name("resnet50_"), machine_name("DL_prob"), machine_name("score")
    ('AI', 'resnet50', 'DL', 'model')
    >>> machine_name("Qwen2.5-3B score")
    'Qwen2.5-3B'
    """
    for end in (".label", ".score"):
        if name.endswith(end) and len(name) > len(end):
            return name.removesuffix(end)
    pieces = [each for each in pieces_of(name) if not {*words_of(each)} & (SCORE | ANSWER | PREDICTION)]
    return " ".join("".join(pieces).strip(" ._-:()[]/").split()) or "model"


def named_each(columns: Sequence[Profile], name_of: Callable[[str], str]) -> dict[str, str]:
    """The columns by a name made from theirs."""
    return _unique([each.name for each in columns], name_of)


def _unique(names: Sequence[str], name_of: Callable[[str], str]) -> dict[str, str]:
    """Names by a name made from each; by the name itself where another has that."""
    found: dict[str, str] = {}
    for name in names:
        short = name_of(name)
        found[short if short not in found else name.replace(".", " ")] = name
    return found
