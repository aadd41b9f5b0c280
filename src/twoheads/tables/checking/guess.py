"""Which column holds what: by the words of its name, and by its content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from twoheads.observations.labels import sorted_names
from twoheads.tables.checking.cells import words_of
from twoheads.tables.checking.hints import ANSWER, CONFIDENCE, GROUP, ITEM, MODEL, PERSON, POSITIVE, SCORE, TRUTH
from twoheads.tables.checking.profile import Profile
from twoheads.text import spelling


@dataclass(frozen=True)
class Guess:
    """The columns of a table by their role.

    people        the column of each person's answers, by name
    labellers     the column of each model that gives labels
    models        by model, the column of each class's probability, by class
    scores        the column of each model that gives one score
    confidence    the column of confidence, by person
    annotator     the column that names the person, in a table with a row per answer
    classes       each class as it is spelt most often, by its `spelling`
    positive      the class that high scores mean
    groups        columns that could be groups of items
    lost_scores   columns of scores that cannot be used, since there are not two classes
    """

    item: str | None = None
    people: dict[str, str] = field(default_factory=dict)
    labellers: dict[str, str] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    scores: dict[str, str] = field(default_factory=dict)
    truth: str | None = None
    confidence: dict[str, str] = field(default_factory=dict)
    annotator: str | None = None
    classes: dict[str, str] = field(default_factory=dict)
    positive: str | None = None
    groups: tuple[str, ...] = ()
    lost_scores: tuple[str, ...] = ()

    @property
    def label_columns(self) -> list[str]:
        """The columns that hold classes, the truth first."""
        return [*([self.truth] if self.truth else []), *self.people.values(), *self.labellers.values()]

    @property
    def share_columns(self) -> list[str]:
        """The columns that hold probabilities."""
        return [column for columns in self.models.values() for column in columns.values()]

    @property
    def is_people_alone(self) -> bool:
        """Whether a row per item holds people's answers only: there is no model of any kind."""
        return self.annotator is None and not (self.models or self.scores or self.labellers)

    @property
    def used(self) -> set[str]:
        """All columns that have a role, except groups."""
        ids = {name for name in (self.item, self.annotator) if name}
        others = (*self.scores.values(), *self.confidence.values())
        return ids | set(self.label_columns) | set(self.share_columns) | set(others)


def guess_roles(columns: Sequence[Profile]) -> Guess:
    """The role of each column that has one."""
    columns = [each for each in columns if each.n_known]
    truth = _first(columns, TRUTH, lambda each: each.is_labels)
    annotator = _annotator(columns, truth)
    several = annotator is not None  # rows per item
    item = _first(columns, ITEM, lambda each: each.name not in (truth, annotator)) if several else _item(columns)
    rest = [each for each in columns if each.name != item]
    labels = _label_columns([each for each in rest if each.name not in (truth, annotator)], truth, columns)
    people = [each for each in labels if not _speaks(each, MODEL) or _speaks(each, PERSON)]
    labellers = [each for each in labels if each not in people]
    classes = _classes([each for each in rest if each.name == truth or each in labels])
    taken = {truth, annotator, *(each.name for each in labels)}
    numeric = [each for each in rest if each.is_numeric and each.name not in taken]
    models, classes = _probabilities(numeric, classes)
    used = {column for by_class in models.values() for column in by_class.values()}
    named_people = {_person(each.name): each.name for each in people}
    confidence = _confidence([each for each in numeric if each.name not in used], named_people)
    used |= set(confidence.values())
    scores = [each for each in numeric if each.name not in used and _speaks(each, MODEL | SCORE)]
    found = Guess(
        item=item,
        people=named_people,
        labellers={_machine(each.name): each.name for each in labellers},
        models=models,
        scores={_machine(each.name): each.name for each in scores if len(classes) == 2},
        truth=truth,
        confidence=confidence,
        annotator=annotator,
        classes=classes,
        lost_scores=tuple(each.name for each in scores if len(classes) != 2),
    )
    groups = tuple(each.name for each in rest if each.name not in found.used and _is_group(each))
    return replace(found, groups=groups, positive=_positive(classes) if found.scores else None)


def _speaks(column: Profile, hints: frozenset[str]) -> bool:
    return bool(hints & set(column.words))


def _first(columns: Iterable[Profile], hints: frozenset[str], fits: Callable[[Profile], bool]) -> str | None:
    return next((each.name for each in columns if _speaks(each, hints) and fits(each)), None)


def _item(columns: Sequence[Profile]) -> str | None:
    """The column of ids: unique, and called so; or the first one, if its values are unique texts or whole numbers."""
    named = [each for each in columns if _speaks(each, ITEM) and not each.is_fractional]
    unique = [each for each in named if each.is_unique]
    if unique:
        return unique[0].name
    if named and named[0].n_distinct >= 0.5 * named[0].n_known:
        return named[0].name  # some ids are repeated
    first = columns[0] if columns else None
    return first.name if first and first.is_unique and not first.is_fractional and not _speaks(first, MODEL) else None


def _annotator(columns: Sequence[Profile], truth: str | None) -> str | None:
    """The column that names the person, where there is a row per answer: beside it, one column of answers."""
    answers = [each for each in columns if _speaks(each, ANSWER) and each.is_labels and each.name != truth]
    named = [
        each
        for each in columns
        if _speaks(each, PERSON) and each.name != truth and each.is_labels and not _speaks(each, ANSWER)
    ]
    if len(named) == 1 and len(answers) == 1 and not set(named[0].labels()) & set(answers[0].labels()):
        return named[0].name
    return None


def _label_columns(columns: Sequence[Profile], truth: str | None, every: Sequence[Profile]) -> list[Profile]:
    """The columns of answers: called so, or with the labels of those that are, or alike among themselves."""
    able = [each for each in columns if each.is_labels and not _speaks(each, CONFIDENCE)]
    seeds = [each for each in able if _speaks(each, PERSON | ANSWER)]
    known = Counter(label for each in seeds for label in each.labels())
    known += Counter(label for each in every if each.name == truth for label in each.labels())
    if not known:
        sets = Counter(frozenset(each.labels()) for each in able)
        common, times = sets.most_common(1)[0] if sets else (frozenset(), 0)
        return [each for each in able if times > 1 and frozenset(each.labels()) == common]
    return [each for each in able if each in seeds or (_overlap(each, known) >= 0.9 and not _speaks(each, GROUP))]


def _overlap(column: Profile, known: Counter[str]) -> float:
    labels = column.labels()
    return sum(times for label, times in labels.items() if label in known) / max(sum(labels.values()), 1)


def _classes(columns: Sequence[Profile]) -> dict[str, str]:
    """Each class as it is spelt most often, by its spelling; "unsure" is an answer and no class."""
    spellings: dict[str, Counter[str]] = {}
    for column in columns:
        for text, times in column.spellings.items():
            spellings.setdefault(spelling(text), Counter())[text] += times
    spellings.pop("unsure", None)
    return {key: max(sorted(found), key=found.__getitem__) for key, found in sorted(spellings.items())}


def _probabilities(
    columns: Sequence[Profile], classes: dict[str, str]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """By model, the column of each class; and the classes, which are those of the columns where there are any."""
    able = [each for each in columns if each.low >= 0 and each.high * each.factor <= 1.0 + 1e-9]
    families: dict[str, dict[str, str]] = {}
    for column in able:
        for family, label in _parts(column.name, classes):
            families.setdefault(family, {})[label] = column.name
    models: dict[str, dict[str, str]] = {}
    for family, found in families.items():
        known = {spelling(label) for label in found}
        if len(found) < 2 and not (len(classes) == 2 and known <= set(classes)):
            continue
        if not classes or known & set(classes):
            models[_machine(family)] = {classes.get(spelling(label), label): name for label, name in found.items()}
    every = {spelling(label): label for found in models.values() for label in found}
    if len(every) < 2:
        return models, classes
    return models, {key: classes.get(key, label) for key, label in sorted(every.items())}


def _parts(name: str, classes: dict[str, str]) -> list[tuple[str, str]]:
    """The model and the class that the name of a column of probabilities holds."""
    if name.startswith("p_") and len(name) > 2:
        return [("model", name[2:])]
    model, separator, label = name.partition(".p_")
    if separator and model and label:
        return [(model, label)]
    words = words_of(name)
    for key, label in sorted(classes.items(), key=lambda each: -len(each[0])):
        of_class = words_of(label)
        for at in range(len(words) - len(of_class) + 1) if of_class else ():
            if words[at : at + len(of_class)] == of_class and len(words) > len(of_class):
                return [(" ".join(words[:at] + words[at + len(of_class) :]), key)]
    return []


def _person(name: str) -> str:
    return name.removeprefix("human_")


def _machine(name: str) -> str:
    """The name of a model, from that of its column or of a family of columns."""
    for end in (".label", ".score"):
        name = name.removesuffix(end)
    words = name.split()
    bare = " ".join(word for word in words if word.casefold() not in SCORE)
    return (bare or "model").replace(".", " ")


def _confidence(columns: Sequence[Profile], people: dict[str, str]) -> dict[str, str]:
    """The column of each person's confidence: called so, and after the person where there are several."""
    found: dict[str, str] = {}
    for column in columns:
        if not _speaks(column, CONFIDENCE):
            continue
        words = [word for word in column.words if word not in CONFIDENCE]
        of = [name for name, answers in people.items() if words and words in (words_of(answers), words_of(name))]
        if len(of) == 1 or (len(people) == 1 and not words):
            found[of[0] if of else next(iter(people))] = column.name
    return found


def _positive(classes: dict[str, str]) -> str | None:
    """The class that high scores mean, where its name shows it."""
    return next((classes[word] for word in POSITIVE if word in classes), None)


def _is_group(column: Profile) -> bool:
    return column.is_labels and 2 <= column.n_distinct <= 20


def in_order(classes: dict[str, str]) -> list[str]:
    """The classes in the order of the package."""
    return list(sorted_names(classes.values()))
