"""Observations: what people answered and what models predicted, checked once, here, and nowhere behind it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers, permute_classes, permute_values, rows_of_values, take_values
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import class_major, log_simplex, log_softmax, mean_log_proba
from twoheads.observations.builders import Parts, read_answers, read_arrays, read_frame
from twoheads.observations.checks import (
    SUM_TOLERANCE,
    as_class_codes,
    as_matrix,
    as_weight,
    check_model,
    check_scale,
    same_length,
)
from twoheads.observations.columns import array_classes, check_no_codes, class_columns, same_classes
from twoheads.observations.frames import Frame, as_column, as_numbers, is_frame
from twoheads.observations.labels import encode_labels, in_order, label_text, ordered_classes

__all__ = [
    "SUM_TOLERANCE",
    "Observations",
    "as_model",
    "as_observations",
    "as_targets",
    "as_truth",
    "as_weight",
    "labelled_items",
]


@dataclass(frozen=True, eq=False)
class Observations:
    """What people answered and what models predicted for the same items.

    Made by `from_arrays`, `from_frame`, `from_answers` or `as_observations`, which check what they are given.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels, sorted, in the order of the probability columns.
    model_proba : tuple of ndarray of shape (n_items, n_classes)
        One array per model, on ``model_scale``; a row of NaN where the model has not seen the item.
    answers : Answers
        The people's answers; answer ``a`` of person ``p`` is column ``p * n_classes + a``.
    annotators : tuple of str
        The people's names.
    items : ndarray of shape (n_items,)
        The items' ids.
    models : tuple of str
        The models' names; ``("model",)`` where there is one without a name.
    model_scale : {"probability", "log", "logit"}
        What ``model_proba`` holds: probabilities, their logarithms, or logits.
    columns : tuple of str, optional
        The columns of the frame these were read from, people first; None where there was no frame.
    unsure : Answers, optional
        Who said "unsure" about which item: the columns are people. None where nobody did.
    confidence : ndarray of shape (n_answers,), optional
        How sure each answer was, on any scale: one number per entry of ``answers.column``, NaN where none was given.
        None where nobody gave any.

    Examples
    --------
    >>> seen = Observations.from_arrays([0, 1, -1], [[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]], classes=["cat", "dog"])
    >>> len(seen), seen.n_classes, seen.answers.per_item().tolist()
    (3, 2, [1, 1, 0])
    """

    classes: NDArray[Any]
    model_proba: tuple[NDArray[Any], ...]
    answers: Answers
    annotators: tuple[str, ...]
    items: NDArray[Any]
    models: tuple[str, ...] = ("model",)
    model_scale: str = "probability"
    columns: tuple[str, ...] | None = None
    unsure: Answers | None = None
    confidence: Floats | None = None

    def __post_init__(self) -> None:
        if not in_order(self.classes) or any(proba.shape[1] != len(self.classes) for proba in self.model_proba):
            raise InvalidObservations(
                f"classes must be sorted, each once, with a column of model_proba for each; they are "
                f"{', '.join(map(repr, self.classes.tolist()[:8]))} and the shapes of model_proba are "
                f"{[proba.shape for proba in self.model_proba]}. Make Observations with from_arrays, from_frame or "
                "from_answers, which put them in order."
            )

    @classmethod
    def from_arrays(
        cls,
        human_label: ArrayLike,
        model_proba: ArrayLike | Mapping[str, ArrayLike],
        *,
        classes: ArrayLike | None = None,
        items: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        model_scale: str = "probability",
    ) -> Self:
        """One person's answers and one model's rows, or those of several models.

        Parameters
        ----------
        human_label : array of shape (n_items,)
            Class codes, that is columns of ``model_proba``; -1 or NaN where nobody was asked. Texts are class names, or
            ``"unsure"``.
        model_proba : array of shape (n_items, n_classes), or dict of such arrays
            The model's rows; a row of NaN where the model has not seen the item. Not copied. Of several models, the
            rows of each by its name.
        classes : array of shape (n_classes,), optional
            The class of each column; the columns' numbers by default.
        items : array of shape (n_items,), optional
            The items' ids.
        confidence : array of shape (n_items,), optional
            How sure each answer was, on any scale; NaN where it is not known.
        model_scale : {"probability", "log", "logit"}
            What the model's columns hold.
        """
        return cls._checked(read_arrays(human_label, model_proba, classes, items, confidence), model_scale)

    @classmethod
    def from_answers(
        cls,
        answers: Any,
        model: Any = None,
        *,
        classes: ArrayLike | None = None,
        unsure: str | Sequence[str] = (),
        model_scale: str = "probability",
    ) -> Self:
        """A long table of answers and a table of the model's rows.

        Items keep the order of the model's table; items without a model row follow, in the order of their first answer.
        Items are matched by their text, as classes are.

        Parameters
        ----------
        answers : data frame
            Columns ``item, annotator, answer`` or ``task, worker, label``, and perhaps ``confidence``.
            A blank answer is none.
        model : data frame, optional
            Columns ``item`` (or ``task``) and ``p_<class>``; one row per item. With a column ``model`` one row per item
            and model.
        classes : array of shape (n_classes,), optional
            The classes, where there is no model to name them and perhaps not every one was answered.
        unsure : str or sequence of str
            Answers that mean "unsure", beside that word itself, in capitals or not.
        model_scale : {"probability", "log", "logit"}
            What the model's columns hold.
        """
        return cls._checked(read_answers(answers, model, classes, unsure), model_scale)

    @classmethod
    def from_frame(
        cls,
        X: Any,
        *,
        y: Any = None,
        classes: NDArray[Any] | None = None,
        unsure: str | Sequence[str] = (),
        model_scale: str = "probability",
        need_human: bool = True,
    ) -> Self:
        """A frame with people's answers and models' probabilities; the order of its columns does not matter.

        Parameters
        ----------
        X : data frame
            Columns ``human`` (or several ``human_<name>``; blank where a person was not asked) and one column
            ``p_<class>`` per class, of several models ``<model>.p_<class>``; ``item`` if it has ids; ``confidence`` or
            ``confidence_<name>`` where it is known how sure a person was. Other columns are not looked at.
        y : array of shape (n_items,), optional
            The truth, for the type of the class labels only.
        classes : ndarray, optional
            The classes that must be there, in their order.
        unsure : str or sequence of str
            Answers that mean "unsure", beside that word itself, in capitals or not.
        model_scale : {"probability", "log", "logit"}
            What the model's columns hold.
        need_human : bool
            Whether a person's column must be there.
        """
        return cls._checked(read_frame(X, y, classes, unsure, need_human=need_human), model_scale)

    @classmethod
    def _checked(cls, parts: Parts, model_scale: str) -> Self:
        check_scale(model_scale)
        classes, n_items = parts.classes, len(parts.answers)
        _check_some(n_items)
        if len(classes) < 2:
            only = f"there is 1 class, {str(classes[0])!r}" if len(classes) else "there is none"
            raise InvalidObservations(
                f"there must be at least two classes; {only}. Give one probability column per class."
            )
        for at, proba in enumerate(parts.model_proba):
            named = parts.models is not None and len(parts.models) > 1
            argument = f"model_proba of {parts.models[at]!r}" if named and parts.models else "model_proba"
            check_model(proba, len(classes), model_scale, argument=argument, classes=classes.tolist())
            same_length(argument, len(proba), "the answers", n_items)
        items = np.arange(n_items) if parts.items is None else parts.items
        same_length("items", len(items), "model_proba", n_items)
        models = ("model",) * len(parts.model_proba) if parts.models is None else parts.models
        seen = cls(
            classes,
            parts.model_proba,
            parts.answers,
            parts.annotators,
            items,
            models,
            model_scale,
            parts.columns,
            None if parts.unsure is None or not parts.unsure.per_item().any() else parts.unsure,
            None if parts.confidence is None or np.isnan(parts.confidence).all() else parts.confidence,
        )
        unseen = np.flatnonzero(seen.answers.per_item() == 0)
        if len(unseen) and seen.unsure is not None:
            unseen = unseen[seen.unsure.per_item()[unseen] == 0]
        unseen = unseen[~seen.has_model()[unseen]] if len(unseen) else unseen
        if len(unseen):
            raise InvalidObservations(
                f"every item needs a model row or an answer; row {unseen[0]} (item {items[unseen[0]]}) has neither "
                f"({len(unseen)} of {n_items} rows are off). Drop those rows."
            )
        return seen

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_items, n_people + n_models * n_classes), the shape of the same observations as a frame."""
        return len(self), len(self.annotators) + max(1, len(self.models)) * self.n_classes

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @property
    def n_columns(self) -> int:
        """How many (person, possible answer) pairs there are."""
        return len(self.annotators) * self.n_classes

    def __getitem__(self, key: Any) -> Self:
        """The observations of some items, by a slice, a mask or positions."""
        rows = key[0] if isinstance(key, tuple) else key
        return self.take(np.atleast_1d(np.arange(len(self))[rows]))

    def take(self, rows: Codes) -> Self:
        """The observations of the items at the given positions."""
        return replace(
            self,
            model_proba=tuple(proba[rows] for proba in self.model_proba),
            answers=self.answers.take(rows),
            items=self.items[rows],
            unsure=None if self.unsure is None else self.unsure.take(rows),
            confidence=None if self.confidence is None else take_values(self.answers, self.confidence, rows),
        )

    def has_model(self) -> NDArray[np.bool_]:
        """Whether any model has seen each item, (n_items,)."""
        seen = np.zeros(len(self), dtype=bool)
        for proba in self.model_proba:
            seen |= ~np.isnan(proba[:, 0])
        return seen

    def with_models(self, models: tuple[str, ...]) -> Self:
        """The same observations with the rows of ``models``, in their order: blank for those that are not here.

        Where there is one here and one wanted, and either has no name, they are the same.
        """
        nameless = len(self.models) == len(models) == 1 and "model" in (*self.models, *models)
        if self.models == models or nameless or (not self.models and len(models) == 1):
            return self
        unknown = [name for name in self.models if name not in models]
        if unknown:
            raise InvalidObservations(
                f"X must hold the models seen at fit, {', '.join(models[:8])}; {unknown[0]!r} was not there "
                f"({len(unknown)} of {len(self.models)} models are off). Leave it out, or fit again with it."
            )
        here = dict(zip(self.models, self.model_proba, strict=True))
        blank = np.broadcast_to(np.nan, (len(self), self.n_classes))
        return replace(self, models=models, model_proba=tuple(here.get(name, blank) for name in models))

    def aligned(self, classes: NDArray[Any]) -> Self:
        """The same observations with the classes in the order of ``classes``, which must be the same ones."""
        names, wanted = ([label_text(name) for name in some.tolist()] for some in (self.classes, classes))
        if names == wanted:
            return self if self.classes.dtype.kind == classes.dtype.kind else replace(self, classes=classes)
        if sorted(names) != sorted(wanted):
            raise InvalidObservations(
                f"X must have the classes seen at fit; they were {', '.join(map(repr, wanted[:8]))} "
                f"and are {', '.join(map(repr, names[:8]))} "
                f"({len(set(wanted) - set(names))} of {len(wanted)} are missing, "
                f"{len(set(names) - set(wanted))} are more). Say all classes where the observations are made."
            )
        order = np.array([names.index(name) for name in wanted], dtype=np.intp)
        place = np.argsort(order)
        return replace(
            self,
            classes=classes,
            model_proba=tuple(proba[:, order] for proba in self.model_proba),
            answers=permute_classes(self.answers, place),
            confidence=None if self.confidence is None else permute_values(self.answers, place, self.confidence),
        )

    def block(
        self,
        rows: slice,
        *,
        true_label: Codes | None = None,
        target: Floats | None = None,
        weight: Floats | None = None,
    ) -> Block:
        """Consecutive items as the arrays that kernels take; where there is no model row, the model says nothing."""
        answers = self.answers.rows(rows)
        members = tuple(self._log_proba(proba[rows]) for proba in self.model_proba)
        if not members:
            log_proba = np.full((self.n_classes, len(answers)), np.nan)
        else:
            log_proba = members[0] if len(members) == 1 else mean_log_proba(members)
        blank = np.isnan(log_proba[0])
        if blank.any():
            log_proba[:, blank] = -np.log(self.n_classes)
        return Block(
            log_proba,
            answers,
            None if true_label is None else true_label[rows],
            None if target is None else target[:, rows],
            None if weight is None else weight[rows],
            None if self.unsure is None else self.unsure.rows(rows),
            None if self.confidence is None else rows_of_values(self.answers, self.confidence, rows),
            members if len(members) > 1 else (),
            blank if blank.any() else None,
        )

    def _log_proba(self, values: NDArray[Any]) -> Floats:
        with np.errstate(invalid="ignore"):
            return log_simplex(values) if self.model_scale == "probability" else log_softmax(values)


def as_observations(
    X: Any, *, y: Any = None, classes: NDArray[Any] | None = None, model_scale: str = "probability"
) -> Observations:
    """``X`` in any of its forms (Observations, data frame, array) as Observations.

    Parameters
    ----------
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
        In an array the first column holds the human's class code (-1 or NaN where not asked), the others the model's
        rows.
    y : array of shape (n_items,), optional
        The truth, for the type of the class labels only.
    classes : ndarray, optional
        The classes a fitted estimator knows; ``X`` must have the same.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold; Observations know theirs.

    Examples
    --------
    >>> as_observations([[0, 0.7, 0.3], [1, 0.6, 0.4]], y=["cat", "dog"]).classes.tolist()
    ['cat', 'dog']
    """
    if isinstance(X, Observations):
        return _known(X, y, classes)
    if is_frame(X):
        return Observations.from_frame(X, y=y, classes=classes, model_scale=model_scale)
    array = as_matrix(X, n_columns=3, columns="the human's code, then one probability per class")
    named = array_classes(y, classes, array.shape[1] - 1)
    column = as_class_codes(array[:, 0], len(named), "the first column of X")
    return Observations._checked(Parts(named, (array[:, 1:],), Answers(column)), model_scale)


def as_model(
    X: Any, *, y: Any = None, classes: NDArray[Any] | None = None, model_scale: str = "probability"
) -> Observations:
    """``X`` as the rows of one model: as in `as_observations`, but every column of an array is a probability."""
    if isinstance(X, Observations):
        return _one_model(_known(X, y, classes))
    if is_frame(X):
        seen = Observations.from_frame(X, y=y, classes=classes, model_scale=model_scale, need_human=False)
        return _one_model(seen)
    array = as_matrix(X, n_columns=2, columns="one probability per class")
    named = array_classes(y, classes, array.shape[1])
    return Observations._checked(Parts(named, (array,), Answers(np.full(len(array), MISSING))), model_scale)


def as_truth(y: Any, seen: Observations) -> Codes:
    """The code of each item's true class, MISSING where unknown; all of them where ``y`` is None."""
    if y is None:
        return np.full(len(seen), MISSING)
    labels = as_column(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Give y of shape (n_items,), as y.ravel() is.",
            DataConversionWarning,
            stacklevel=3,
        )
        labels = labels[:, 0]
    if labels.ndim == 1:
        same_length("y", len(labels), "X", len(seen))
    return encode_labels(labels, seen.classes, argument="y")


def as_targets(y: Any, seen: Observations) -> tuple[Codes | None, Floats | None]:
    """Hard targets as codes (n_items,), or soft ones as probabilities (n_classes, n_items); no item may lack one."""
    shape = (0,) if y is None else as_column(y).shape
    soft = _soft_targets(y, seen) if len(shape) == 2 and shape[1] > 1 else None
    truth = as_truth(y, seen) if soft is None else None
    unknown = np.flatnonzero(truth == MISSING if soft is None else np.isnan(soft[0]))
    if len(unknown):
        raise InvalidObservations(
            f"y must be known for every item here; row {unknown[0]} is missing "
            f"({len(unknown)} of {len(seen)} rows are off). Leave those items out."
        )
    return truth, soft


def labelled_items(seen: Observations, y: Any, weight: Floats | None) -> tuple[Observations, Codes, Floats | None]:
    """The items whose truth is known, with their truth and weights; there must be some."""
    truth = as_truth(y, seen)
    known = np.flatnonzero(truth != MISSING)
    if len(known) == 0:
        raise InvalidObservations(
            "y must be known for at least one item here; it is missing for all. "
            "ProbabilityLabelCombiner learns without any truth."
        )
    if len(known) == len(truth):
        return seen, truth, weight
    return seen.take(known), truth[known], None if weight is None else weight[known]


def _one_model(seen: Observations) -> Observations:
    if len(seen.models) > 1:
        raise InvalidObservations(
            f"X must hold one model's probabilities here; it holds those of {', '.join(seen.models[:8])} "
            f"({len(seen.models)} models). Give one of them."
        )
    return seen


def _known(seen: Observations, y: Any, classes: NDArray[Any] | None) -> Observations:
    """Observations with the classes a fitted estimator knows, or else with class labels in the type of ``y``."""
    _check_some(len(seen))
    if classes is not None:
        return seen.aligned(classes)
    labels = None if y is None else as_column(y)
    if labels is None or labels.ndim != 1:
        return seen
    check_no_codes(seen.classes, labels)
    typed = ordered_classes([label_text(name) for name in seen.classes.tolist()], labels)
    return seen if typed.dtype.kind in ("U", seen.classes.dtype.kind) else seen.aligned(typed)


def _check_some(n_items: int) -> None:
    if n_items == 0:
        raise InvalidObservations("X must have at least one row; it has none. Give one row per item.")


def _soft_targets(y: Any, seen: Observations) -> Floats:
    if is_frame(y):
        frame = Frame(y, argument="y")
        columns = class_columns(frame)
        same_classes(columns, seen.classes, argument="y")
        soft: NDArray[Any] = frame.numbers([columns[label_text(name)] for name in seen.classes.tolist()])
    else:
        soft = as_numbers(y, "y")
    same_length("y", len(soft), "X", len(seen))
    check_model(soft, seen.n_classes, "probability", argument="y")
    target = class_major(soft)
    target /= target.sum(axis=0)
    return target
