"""What an export of a labelling tool states, one statement at a time: an answer, a prediction or the truth.

A reader makes one statement of each annotation, and a statement has one role: the truth cannot also be an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers, pack_answers
from twoheads.kernels.arrays import Floats
from twoheads.observations import Observations
from twoheads.observations.labels import label_text, means_unsure, ordered_classes, sorted_names, unsure_words
from twoheads.text import count

#: The author of predictions that a team has made: not a model, as they were made from people's answers and the truth.
TEAM = "twoheads"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered about the item at a position."""

    item: int
    annotator: str
    label: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model predicted for the item at a position; without a score it is a hard label."""

    item: int
    model: str
    label: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """The true class of the item at a position, and who stated it, if that is known."""

    item: int
    label: str
    author: str | None = None


Statement = Answer | Prediction | Truth


@dataclass(frozen=True, eq=False)
class Export:
    """The items of an export and what is stated about them.

    ids         of the items, each once
    statements  in the order of the export
    what        what the tool calls an item
    notes       what was left out, in sentences
    """

    ids: Sequence[Any]
    statements: Sequence[Statement]
    what: str = "item"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_repeats(self.ids, self.what)
        self._refuse_two_truths()

    def _refuse_two_truths(self) -> None:
        labels: dict[int, str] = {}
        for truth in self.truths:
            if labels.setdefault(truth.item, truth.label) != truth.label:
                raise InvalidObservations(
                    f"{self.what} {self.ids[truth.item]} must have one true class; it has {labels[truth.item]!r} and "
                    f"{truth.label!r}. Keep one of them."
                )

    @cached_property
    def answers(self) -> list[Answer]:
        """What people answered; whoever stated the truth of an item is no witness of it."""
        made = [each for each in self.statements if isinstance(each, Answer)]
        return [each for each in made if (each.item, each.annotator) not in self._authors]

    @property
    def authors(self) -> list[tuple[str, str]]:
        """The ids of items as text, and who stated their truth."""
        return sorted((label_text(self.ids[item]), author) for item, author in self._authors)

    @cached_property
    def _authors(self) -> frozenset[tuple[int, str]]:
        return frozenset((truth.item, truth.author) for truth in self.truths if truth.author is not None)

    @cached_property
    def predictions(self) -> list[Prediction]:
        """What models predicted."""
        return [each for each in self.statements if isinstance(each, Prediction)]

    @cached_property
    def truths(self) -> list[Truth]:
        """The true classes."""
        return [each for each in self.statements if isinstance(each, Truth)]

    @property
    def ids_array(self) -> NDArray[Any]:
        """The ids as an array: whole numbers if all are, of at most 64 bits, else text."""
        whole = all(type(each) is int and -(1 << 63) <= each < 1 << 63 for each in self.ids)
        return np.array(self.ids if whole else [label_text(each) for each in self.ids])

    @property
    def truth(self) -> NDArray[Any] | None:
        """The true class of each item, blank where it is not known; None if no item has one."""
        labels = {truth.item: truth.label for truth in self.truths}
        return np.array([labels.get(at, "") for at in range(len(self.ids))]) if labels else None

    def class_names(self, classes: ArrayLike | None = None, unsure: Any = ()) -> list[str]:
        """The classes by name, in order: those given, which must cover all labels, or all labels.

        An answer that means "unsure" is not a class.
        """
        if classes is None:
            named = {each.label for each in self.statements if not isinstance(each, Answer)}
            words = unsure_words(unsure, named)
            answered = {each.label for each in self.answers}
            return _in_order(named | {label for label in answered if not means_unsure(label, words)})
        names = _in_order(map(label_text, np.asarray(classes).tolist()))
        self._refuse_others(set(names), unsure_words(unsure, names))
        return names

    def _refuse_others(self, names: set[str], words: frozenset[str]) -> None:
        off = [
            each
            for each in self.statements
            if each.label not in names and not (isinstance(each, Answer) and means_unsure(each.label, words))
        ]
        if off:
            raise InvalidObservations(
                f"every choice must be a class; {self.what} {self.ids[off[0].item]} has {off[0].label!r} "
                f"({len(off):,} of {len(self.statements):,} are off), and the classes are "
                f"{', '.join(map(repr, sorted(names)[:8]))}."
            )

    def scored(self, names: Sequence[str]) -> dict[str, Floats]:
        """The probabilities of each model with scores, (n_items, n_classes); NaN where it has none.

        A score is the probability of one class; the rest is shared equally by the classes without a score.
        """
        code = {name: at for at, name in enumerate(names)}
        scores: dict[str, dict[int, dict[int, float]]] = {}
        for each in self.predictions:
            if each.score is not None:
                scores.setdefault(each.model, {}).setdefault(each.item, {})[code[each.label]] = each.score
        for model, by_item in scores.items():
            self._refuse_zeros(model, by_item)
        return {model: self._spread(scores[model], len(names)) for model in sorted_names(scores)} if scores else {}

    def _refuse_zeros(self, model: str, scores: dict[int, dict[int, float]]) -> None:
        """Refuse scores that are all 0, which some models give where they have none."""
        if not any(score for by_class in scores.values() for score in by_class.values()):
            raise InvalidObservations(
                f"scores must be probabilities of the predicted labels; those of {model!r} are all 0 "
                f"({len(scores):,} of {len(scores):,} {self.what}s). Leave the score out where there is none."
            )

    def _spread(self, scores: dict[int, dict[int, float]], n_classes: int) -> Floats:
        proba = np.full((len(self.ids), n_classes), np.nan)
        for item, by_class in scores.items():
            total = sum(by_class.values())
            if total > 1.001 or (len(by_class) == n_classes and total < 0.999):
                raise InvalidObservations(
                    f"the scores of a model for one {self.what} must be probabilities; those of {self.what} "
                    f"{self.ids[item]} sum to {total:g}. Keep the prediction that counts."
                )
            proba[item] = max(1.0 - total, 0.0) / max(1, n_classes - len(by_class))
            proba[item, list(by_class)] = list(by_class.values())
        return proba

    def hard(self) -> dict[str, dict[int, str]]:
        """The label of each item, by position, for each model without scores.

        Predictions without a score of a model that has scores elsewhere are those of a model of its own, so that
        probabilities and labels are calibrated apart.
        """
        with_score = {each.model for each in self.predictions if each.score is not None}
        labels: dict[str, dict[int, str]] = {}
        for each in self.predictions:
            if each.score is None:
                name = f"{each.model} without score" if each.model in with_score else each.model
                if labels.setdefault(name, {}).setdefault(each.item, each.label) != each.label:
                    raise InvalidObservations(
                        f"a model without scores must have one label per {self.what}; {each.model!r} has "
                        f"{labels[name][each.item]!r} and {each.label!r} for {self.what} {self.ids[each.item]}. "
                        "Keep the prediction that counts."
                    )
        return {name: labels[name] for name in sorted_names(labels)} if labels else {}


def refuse_repeats(ids: Iterable[Any], what: str) -> None:
    """Refuse an id that comes twice; ``what`` is what the tool calls an item."""
    times = Counter(map(label_text, ids))
    repeated = [name for name, n in times.items() if n > 1]
    if repeated:
        raise InvalidObservations(
            f"every {what} must appear once; {what} {repeated[0]} appears {times[repeated[0]]} times "
            f"({len(repeated):,} of {len(times):,} are repeated). Export them once, or drop the copies."
        )


def _in_order(names: Iterable[str]) -> list[str]:
    ordered: list[str] = ordered_classes(names).tolist()
    return ordered


def observations_of(export: Export, classes: ArrayLike | None = None) -> tuple[Observations, NDArray[Any] | None]:
    """Observations with every item of an export, and the truth, None if no item has one.

    Predictions without a score are the labels of machines.
    """
    names, hard = export.class_names(classes), export.hard()
    words, code = unsure_words((), names), {name: at for at, name in enumerate(names)}
    people = sorted_names({each.annotator for each in export.answers})
    _refuse_same_names(people, hard)
    number = {name: at for at, name in enumerate((*people, *hard))}
    labels = [each for each in export.answers if not means_unsure(each.label, words)]
    unsure = [each for each in export.answers if means_unsure(each.label, words)]
    labels += [Answer(item, name, label) for name, by_item in hard.items() for item, label in by_item.items()]
    models = export.scored(names)
    observations = Observations.checked(
        classes=np.array(names, dtype=np.str_),
        model_proba=tuple(models.values()),
        answers=_packed(
            ((each.item, number[each.annotator] * len(names) + code[each.label]) for each in labels), export
        ),
        annotators=(*people, *hard) or ("human",),
        machines=tuple(hard),
        items=export.ids_array,
        models=tuple(models),
        unsure=_packed(((each.item, number[each.annotator]) for each in unsure), export) if unsure else None,
    )
    return observations, export.truth


def _refuse_same_names(people: Sequence[str], machines: Iterable[str]) -> None:
    both = sorted(set(people) & set(machines))
    if both:
        raise InvalidObservations(
            f"a name must be that of a person or of a model; {both[0]!r} is both "
            f"({count(len(both), 'name')}). Rename one."
        )


def _packed(pairs: Iterable[tuple[int, int]], export: Export) -> Answers:
    item, column = np.array(list(pairs), dtype=np.intp).reshape(-1, 2).T
    return pack_answers(item, column, len(export.ids))


def checked_score(score: Any, what: str, item: Any) -> float | None:
    """A score from 0 to 1, or None."""
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise InvalidObservations(f"a prediction must have a score from 0 to 1; that of {what} {item} has {score!r}.")
    return float(score)


def is_team(author: Any) -> bool:
    """Whether predictions were made by a team."""
    return isinstance(author, str) and (author == TEAM or author.startswith(f"{TEAM} "))


def left_out(n: int, what: str, why: str) -> tuple[str, ...]:
    """The note on what was not read, if anything was."""
    return (f"{count(n, what)} {'is' if n == 1 else 'are'} left out: {why}.",) if n else ()
