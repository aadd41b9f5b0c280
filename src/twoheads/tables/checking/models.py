"""Columns of models' probabilities: which model and class they are of, and what their numbers are."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from twoheads.tables.checking.cells import label_key, pieces_of, words_of
from twoheads.tables.checking.hints import ANSWER, ASIDE, CONFIDENCE, GROUP, ITEM, LOG, LOGIT, PERSON, PREDICTION, SCORE
from twoheads.tables.checking.profile import Profile
from twoheads.tables.schema.coding import Coder

#: The family of columns called just by the classes.
_BARE = "probability"
#: A scale in brackets, such as (0-10) or (%), or nothing in brackets.
SCALE = re.compile(r"[(\[]\s*(?:%|\d+(?:[.,]\d+)?\s*(?:-|–|to|/|\.\.)\s*\d+(?:[.,]\d+)?\s*%?)?\s*[)\]]")
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")


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


def find_shares(
    columns: Sequence[Profile],
    classes: dict[str, str],
    named: Mapping[str, Mapping[str, str]],
    every_column: Sequence[Profile],
) -> tuple[Shares, dict[str, str]]:
    """The columns of probabilities; and the classes, which are those of the columns where there are any.

    named  the columns of each model by class, as a fit finds them by name; ``every_column`` holds them too
    """
    by_name = {each.name: each for each in every_column}
    sure = _enough({name: dict(found) for name, found in named.items()}, classes, 1)
    families = sure | {name: found for name, found in _families(columns, classes).items() if name not in sure}
    kinds: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for family, found in families.items():
        known = {label_key(label) for label in found}
        whole = len(found) >= 2 and known >= set(classes)
        if family == _BARE and not (whole and any(by_name[name].is_fractional for name in found.values())):
            continue  # the name of a class alone may mean anything; 0 and 1 may be tags
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
        name: {_spelt(label, classes): column for label, column in families[family].items()}
        for name, family in _names([each for each in kinds if each not in others], sure).items()
    }
    shares = Shares(models, main == "percent", "probability" if main == "percent" else main, reasons)
    every = {label_key(label): label for found in models.values() for label in found}
    if len(every) < 2:
        return shares, classes
    return shares, dict(sorted(every.items()))


def _spelt(label: str, classes: dict[str, str]) -> str:
    """The class that a column names: as the column does if a fit reads the labels so, else as most labels do."""
    known = classes.get(label_key(label), label)
    return label if Coder([label]).code(known) == 0 else known


def _families(columns: Sequence[Profile], classes: dict[str, str]) -> dict[str, dict[str, str]]:
    """By what names have in common, the column of each class; never those of people."""
    families: dict[str, dict[str, str]] = {}
    for column in columns:
        parts = None if column.speaks(PERSON | CONFIDENCE) else _parts(column.name, classes)
        if parts:
            families.setdefault(parts[0], {})[parts[1]] = column.name
    return _enough(families, classes)


def _enough(families: dict[str, dict[str, str]], classes: dict[str, str], least: int = 2) -> dict[str, dict[str, str]]:
    """Those families that name two classes at least, or one of the two that there are.

    Where columns name two classes, a third label is none: to a fit it is an answer that is wrong, or "unsure". Only
    families that name ``least`` classes count for this.
    """
    keys = {family: {label_key(label) for label in found} for family, found in families.items()}
    able = [family for family, known in keys.items() if not classes or known & set(classes)]
    named = {key for family in able if len(keys[family]) >= least for key in keys[family]}
    there = named if len(named) > 1 else set(classes)
    return {
        family: families[family]
        for family in able
        if len(families[family]) >= 2 or (len(there) == 2 and keys[family] <= there)
    }


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
    if label_key(name) in classes:
        return _BARE, label_key(name)
    pieces, words = pieces_of(name), words_of(name)
    places = [at for at, piece in enumerate(pieces) if piece[0].isalnum()]
    # The longest class first; of "9" and "9?", which have the same words, the one that the name holds as it is.
    order = sorted(
        (-len(words_of(label)), key not in label_key(name), -len(key), key) for key, label in classes.items()
    )
    for *_, key in order:
        of_class = words_of(classes[key])
        for at in range(len(words) - len(of_class) + 1) if of_class else ():
            if words[at : at + len(of_class)] == of_class and len(words) > len(of_class):
                first, last = places[at], places[at + len(of_class) - 1]
                return "".join([*pieces[:first], *pieces[last + 1 :]]), key
    return None


def _names(families: Sequence[str], sure: Container[str]) -> dict[str, str]:
    """The families by the names of their models: their own if they are those of a fit, else made from theirs."""
    own = {family: family for family in families if family in sure}
    return own | _unique([family for family in families if family not in sure], machine_name, own)


def likely_scores(columns: Iterable[Profile]) -> dict[str, str]:
    """Why columns of numbers that could be a model's scores are none: by no name; for tables without a model."""
    aside = ASIDE | CONFIDENCE | GROUP | ITEM | PERSON
    like = [each.name for each in columns if not each.is_unique and not each.speaks(aside)]
    return dict.fromkeys(like, "numbers; if a model gave them, call it <model>.score")


def machine_name(name: str) -> str:
    """The name of a model, from that of its column or of a family of columns, without words such as score.

    >>> machine_name("AI score"), machine_name("resnet50_"), machine_name("DL_prob"), machine_name("score")
    ('AI', 'resnet50', 'DL', 'model')
    >>> machine_name("Qwen2.5-3B score"), machine_name("gpt-4o score (0-10)"), machine_name("score (AI)")
    ('Qwen2.5-3B', 'gpt-4o', 'AI')
    """
    for end in (".label", ".score"):
        if name.endswith(end) and len(name) > len(end):
            return name.removesuffix(end)
    pieces = [each for each in pieces_of(name) if not {*words_of(each)} & (SCORE | ANSWER | PREDICTION)]
    bare = " ".join(SCALE.sub(" ", "".join(pieces)).strip(" ._-:/%").split())
    alone = _IN_BRACKETS.fullmatch(bare)
    return (alone[1].strip() if alone else bare) or "model"


def named_each(columns: Sequence[Profile], name_of: Callable[[str], str], taken: Container[str] = ()) -> dict[str, str]:
    """The columns by a name made from theirs, none of those that are taken."""
    return _unique([each.name for each in columns], name_of, taken)


def _unique(names: Sequence[str], name_of: Callable[[str], str], taken: Container[str] = ()) -> dict[str, str]:
    """Names by a name made from each; by the name itself where another has that."""
    found: dict[str, str] = {}
    for name in names:
        short = name_of(name)
        found[short if short not in found and short not in taken else name.replace(".", " ")] = name
    return found
