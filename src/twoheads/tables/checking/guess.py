"""Which column holds what: by the words of its name, and by its content."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from twoheads.tables.checking.answers import alike, graders, label_columns, labels_of
from twoheads.tables.checking.cells import UNKNOWN_WORDS, is_blank, is_blank_to_fit, label_key
from twoheads.tables.checking.classes import can_have_scores, classes_of, no_values_of_both, positive_by_name
from twoheads.tables.checking.confidences import confidence_columns
from twoheads.tables.checking.hints import (
    ANSWER,
    CONFIDENCE,
    ID,
    ITEM,
    MODEL,
    PERSON,
    SCORE,
    SURE_TRUTH,
    TRUTH,
)
from twoheads.tables.checking.meanings import NO_MEANINGS, Meanings
from twoheads.tables.checking.models import Shares, find_shares, likely_scores, machine_name, named_each
from twoheads.tables.checking.named import NOTHING_NAMED, Named
from twoheads.tables.checking.profile import Profile
from twoheads.tables.schema.coding import plain_text


@dataclass(frozen=True)
class Guess:
    """The columns of a table by their role.

    people        the column of each person's answers, by name
    grades        the column of each person's grades or scores, where people give no labels
    labellers     the column of each model that gives labels
    shares        the columns of probabilities
    scores        the column of each model that gives one score
    confidence    the column of confidence, by person
    annotator     the column that names the person, in a table with a row per answer
    classes       each class as it is spelt most often, by its `label_key`
    no_truth      texts that mean that the truth is not known, as their `label_key`
    meanings      texts that mean "no answer" or "unsure", as options say
    no_class      texts that are no class for want of a third one beside scores, though truth and answers hold them
    positive      the class that high scores mean
    groups        columns that could be groups of items
    undecided     why columns that hold labels are not used
    reasons       why columns of models' numbers are not used
    """

    item: str | None = None
    people: dict[str, str] = field(default_factory=dict)
    grades: dict[str, str] = field(default_factory=dict)
    labellers: dict[str, str] = field(default_factory=dict)
    shares: Shares = field(default_factory=Shares)
    scores: dict[str, str] = field(default_factory=dict)
    truth: str | None = None
    confidence: dict[str, str] = field(default_factory=dict)
    annotator: str | None = None
    classes: dict[str, str] = field(default_factory=dict)
    no_truth: frozenset[str] = frozenset()
    meanings: Meanings = NO_MEANINGS
    no_class: tuple[str, ...] = ()
    positive: str | None = None
    groups: tuple[str, ...] = ()
    undecided: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def models(self) -> dict[str, dict[str, str]]:
        """By model, the column of each class's probability, by class."""
        return self.shares.models

    @property
    def label_columns(self) -> list[str]:
        """The columns that hold classes, the truth first."""
        return [*([self.truth] if self.truth else []), *self.people.values(), *self.labellers.values()]

    @cached_property
    def _with_labels(self) -> frozenset[str]:
        return frozenset(self.label_columns)

    @property
    def score_columns(self) -> list[str]:
        """The columns that hold scores of models, and grades of people."""
        return [*self.scores.values(), *self.grades.values()]

    @property
    def share_columns(self) -> list[str]:
        """The columns that hold probabilities."""
        return [column for columns in self.models.values() for column in columns.values()]

    @property
    def is_people_alone(self) -> bool:
        """Whether a row per item holds people's labels only: there is no model of any kind, and no grade."""
        return self.annotator is None and not (self.models or self.scores or self.labellers or self.grades)

    @property
    def is_answers(self) -> bool:
        """Whether the table is given as one of answers: it has a row per answer, or holds no model."""
        return self.annotator is not None or self.is_people_alone

    @property
    def unclear_classes(self) -> set[str]:
        """Classes that only labels name, by words that often mean "no value", as their `label_key`."""
        named = {label_key(label) for columns in self.models.values() for label in columns}
        return {key for key, text in self.classes.items() if is_blank(text) or key in UNKNOWN_WORDS} - named

    def is_nothing(self, column: str, text: str | None) -> bool:
        """Whether a cell has no value; words for that are classes where a fit reads them so."""
        if text is None or column not in self._with_labels:
            return is_blank(text)
        key, plain = label_key(text), plain_text(text)
        if key in self.meanings.blank_keys or (column == self.truth and key in self.no_truth):
            return True
        if column != self.truth and self.meanings.is_unsure(text):
            return False
        if is_blank_to_fit(text):
            return plain not in self.classes.values()
        return is_blank(text) and key not in self.classes

    @property
    def used(self) -> set[str]:
        """All columns that have a role, except groups."""
        ids = {name for name in (self.item, self.annotator) if name}
        others = (*self.score_columns, *self.confidence.values())
        return ids | set(self.label_columns) | set(self.share_columns) | set(others)


def guess_roles(
    columns: Sequence[Profile],
    truth: str | None = None,
    human: Sequence[str] = (),
    named: Named = NOTHING_NAMED,
    meanings: Meanings = NO_MEANINGS,
) -> Guess:
    """The role of each column that has one; ``truth`` and ``human`` are columns that were named by options.

    Words for "no value" are classes if a fit reads them so: where it finds the classes in the labels. It does not where
    two probabilities or more name them; and with a score, or one probability, it refuses a third class.

    named  the columns that have a role by their names in a fit, which they keep
    """
    found = _guess(columns, truth, human, named, meanings, worded=False)
    of_labels = [each for each in columns if each.name in found.label_columns]
    if not (found.no_truth or any(each.nothings for each in of_labels)):
        return found
    worded = _guess(columns, truth, human, named, meanings, worded=True)
    has_numbers = bool(found.share_columns or found.score_columns) and len(found.classes) > 1
    if not has_numbers or len(worded.share_columns) > len(found.share_columns):
        return worded
    asked = no_values_of_both(of_labels, found.truth, meanings) if found.score_columns else ()
    return replace(found, no_class=asked)


def _guess(
    columns: Sequence[Profile],
    truth: str | None,
    human: Sequence[str],
    named: Named,
    meanings: Meanings,
    *,
    worded: bool,
) -> Guess:
    """The roles, where words for "no value" are classes if ``worded``."""
    settled = {*named.people, *named.machines}
    columns = [each for each in columns if each.n_known or each.name in settled or each.name == named.truth]
    unsaid = [each for each in columns if each.name not in named.machines]
    truth = truth or named.truth or _truth([each for each in unsaid if each.name not in (*human, *named.people)])
    annotator = None if human else _annotator(unsaid, truth)
    apart = {truth, annotator, *human, *settled}
    item = _item([each for each in columns if each.name not in apart], named.item, repeated=annotator is not None)
    rest = [each for each in unsaid if each.name not in (item, truth, annotator)]
    known = [each for each in columns if each.name == truth]
    machines = [each for each in columns if each.name in named.labellers.values()]
    labels, undecided = label_columns(rest, known, human, named, machines, meanings.unsure_keys)
    called = {*human, *named.people}
    people = [each for each in labels if each.name in called or not each.speaks(MODEL) or each.speaks(PERSON)]
    grading = graders(rest, people, known)
    people = [each for each in people if each not in grading]
    labellers = [each for each in labels if each not in people and each not in grading]
    answers = [*people, *machines, *labellers]
    no_truth = frozenset() if worded else frozenset(UNKNOWN_WORDS & set(labels_of(known)) - set(labels_of(answers)))
    classes = classes_of([*known, *answers], no_truth, meanings, worded=worded)
    numeric = [each for each in rest if each.is_numeric and each not in labels and each not in grading]
    shares, classes = find_shares(numeric, classes, named.models, columns)
    named_people = named_each(people, lambda name: name.removeprefix("human_"))
    free = [each for each in numeric if each.name not in shares.columns and each.name not in shares.reasons]
    confidence = confidence_columns(free, named_people)
    free = [each for each in free if each.name not in confidence.values()]
    scores, reasons = _scores(
        free, {*shares.models, *named.labellers, *named.scores}, labelled=len(answers) > len(people)
    )
    with_numbers = {*shares.models, *named.scores, *scores}
    twice = [each.name for each in labellers if machine_name(each.name) in with_numbers]
    reasons |= shares.reasons | dict.fromkeys(twice, "the label of a model whose numbers are used")
    found = Guess(
        item=item,
        people=named_people,
        grades={**named.grades, **named_each(grading, _grader_name, named.grades)},
        labellers={
            **named.labellers,
            **_labellers([each for each in labellers if each.name not in twice], named, [*named_people]),
        },
        shares=shares,
        scores={**named.scores, **scores},
        truth=truth,
        confidence=confidence,
        annotator=annotator,
        classes=classes,
        no_truth=no_truth,
        meanings=meanings,
        undecided=undecided,
        reasons=reasons,
    )
    if can_have_scores(classes) and not (found.models or found.scores or found.labellers):
        found = replace(found, reasons=likely_scores(each for each in free if each.name not in found.used) | reasons)
    found = found if can_have_scores(classes) else _without_scores(found)
    done = {*found.used, *found.reasons, *undecided}
    groups = [each for each in rest if each.name not in done and each.is_labels and 2 <= each.n_distinct <= 20]
    positive = positive_by_name(classes) if found.score_columns else None
    return replace(found, groups=tuple(each.name for each in groups), positive=positive)


def _scores(free: Sequence[Profile], taken: Container[str], *, labelled: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The columns of models' scores by name, and why others are none; members called as in ``taken`` are known."""
    reasons = {each.name: "the confidence of a model's label" for each in free if each.speaks(CONFIDENCE) and labelled}
    able = [
        each for each in free if each.speaks(MODEL | SCORE) and not each.speaks(PERSON) and each.name not in reasons
    ]
    again = [each for each in able if machine_name(each.name) in taken]
    reasons |= dict.fromkeys((each.name for each in again), "its model gives another kind of answer too, which is used")
    return named_each([each for each in able if each not in again], machine_name), reasons


def _labellers(columns: Sequence[Profile], named: Named, people: Sequence[str]) -> dict[str, str]:
    """The columns of models' labels that their names do not show in a fit, by a name that nobody else has."""
    return named_each(columns, machine_name, (*named.labellers, *people))


def _without_scores(found: Guess) -> Guess:
    """The same where there are neither two classes nor numbers as classes: nobody's scores are used."""
    n_classes = len(found.classes)
    needs = "two classes" if n_classes < 2 else "two classes, or numbers as classes"
    why = f"a score needs {needs}; there {'is' if n_classes == 1 else 'are'} {n_classes}"
    return replace(found, scores={}, grades={}, reasons=found.reasons | dict.fromkeys(found.score_columns, why))


def _truth(columns: Sequence[Profile]) -> str | None:
    """The column of the truth: called so, by the surest name; not what people or models were right about."""
    able = [each for each in columns if each.is_labels and each.speaks(TRUTH) and not each.speaks(MODEL)]
    exact = [each for each in able if each.name == "truth"]
    sure = [each for each in able if each.speaks(SURE_TRUTH)]
    others = [each for each in able if not each.speaks(PERSON)]
    return next((each.name for each in (*exact, *sure, *others)), None)


def _item(columns: Sequence[Profile], known: str | None, *, repeated: bool) -> str | None:
    """The column of ids: unique, and called so; or the first one, if its values are unique texts or whole numbers.

    Where there are rows per item, ids are ``repeated``, and only the name shows them. ``known`` is the one by name in a
    fit, which is taken unless most of its values are repeated.
    """
    if any(each.name == known and (repeated or 2 * each.n_distinct >= each.n_known) for each in columns):
        return known
    named = [each for each in columns if each.speaks(ITEM) and (each.speaks(ID) or not each.is_fractional)]
    unique = [each for each in named if each.is_unique]
    if repeated or unique:
        return next((each.name for each in (named if repeated else unique)), None)
    if named and named[0].n_distinct >= 0.5 * named[0].n_known:
        return named[0].name  # some ids are repeated
    first = columns[0] if columns else None
    able = first and first.is_unique and not first.is_fractional and not first.speaks(MODEL | PERSON)
    return first.name if first and able else None


def _annotator(columns: Sequence[Profile], truth: str | None) -> str | None:
    """The column that names the person, where there is a row per answer: beside it, one column of answers."""
    able = [each for each in columns if each.is_labels and each.name != truth]
    answers = [each for each in able if each.speaks(ANSWER)]
    named = [each for each in able if each.speaks(PERSON) and not each.speaks(ANSWER)]
    if len(named) == 1 and len(answers) == 1 and not alike(named[0], answers[0]):
        return named[0].name
    return None


def _grader_name(name: str) -> str:
    return machine_name(name.removeprefix("human_"))
