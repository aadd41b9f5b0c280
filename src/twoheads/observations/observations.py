"""Observations: annotators' answers and models' predictions, checked once, here, and nowhere behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.kernels.answers import Answers, permute_classes, permute_values, rows_of_values, take_values
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.observations import checks
from twoheads.observations.builders import read_arrays, read_frame
from twoheads.observations.labels import label_text
from twoheads.observations.long_tables import read_answers
from twoheads.observations.members import Scores, has_score
from twoheads.observations.model_checks import CALL_TERMS, ModelTerms, check_models
from twoheads.observations.model_rows import has_row, log_model_rows, rows_of_models
from twoheads.observations.wide import ShownObservations


@dataclass(frozen=True, eq=False, repr=False)
class Observations(ShownObservations):
    """Annotators' answers and models' predictions for the same items.

    Made by `from_arrays`, `from_frame`, `from_answers`, `checked` or `as_observations`, which check their input.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels, sorted, in the order of the probability columns.
    model_proba : tuple of ndarray of shape (n_items, n_classes)
        One array per model, on ``model_scale``; a row of NaN where the model has no prediction.
    answers : Answers
        The annotators' answers; answer ``a`` of annotator ``p`` is column ``p * n_classes + a``.
    annotators, machines : tuple of str
        The annotators' names, and those of them that are machines: models that give labels.
    items : ndarray of shape (n_items,)
        The items' ids; row numbers unless ``has_ids``.
    models : tuple of str
        The models' names; ``("model",)`` for one without a name.
    model_scale : {"probability", "log", "logit"}
        What ``model_proba`` holds: probabilities, their logarithms, or logits.
    columns : tuple of str, optional
        The columns of the frame these were read from, annotators first; None if there was no frame.
    unsure : Answers, optional
        Who answered "unsure" on which item: the columns are annotators. None if nobody did.
    confidence : ndarray of shape (n_answers,), optional
        The confidence of each entry of ``answers.column``, on any scale; NaN where it is not known. None without any.
    scores : Scores, optional
        The numbers of members who give scores, people or machines. None if nobody does.
    zeros : tuple of float
        What a probability of 0 is read as, of each model; empty for the smallest number there is.

    Examples
    --------
    >>> model_proba = [[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]]
    >>> observations = Observations.from_arrays([0, 1, -1], model_proba, classes=["cat", "dog"])
    >>> len(observations), observations.n_classes, observations.answers.per_item().tolist()
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
    has_ids: bool = False
    machines: tuple[str, ...] = ()
    scores: Scores | None = None
    zeros: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        checks.check_order(self.classes, self.model_proba)

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
        """One annotator's answers and one model's rows, or those of several models.

        Parameters
        ----------
        human_label : array of shape (n_items,)
            Class codes (columns of ``model_proba``), -1 or NaN where nobody was asked; or class names, or ``"unsure"``.
        model_proba : array of shape (n_items, n_classes), or dict of such arrays
            The model's rows; a row of NaN where the model has no prediction. Not copied. For several models, the rows
            of each by its name.
        classes : array of shape (n_classes,), optional
            The class of each column; the columns' numbers by default.
        items : array of shape (n_items,), optional
            Ids; row numbers by default.
        confidence : array of shape (n_items,), optional
            The confidence of each answer, on any scale; NaN where it is not known.
        model_scale : {"probability", "log", "logit"}
            What the model's columns hold.
        """
        return cls.checked(**read_arrays(human_label, model_proba, classes, items, confidence), model_scale=model_scale)

    @classmethod
    def from_answers(
        cls,
        answers: Any,
        model: Any = None,
        *,
        classes: ArrayLike | None = None,
        unsure: str | Sequence[str] = (),
        positive: Any = None,
        model_scale: str = "probability",
    ) -> Self:
        """A long table of answers and a table of the model's rows.

        Items, matched by their text, keep the order of the model's table; those without a model row follow.

        Parameters
        ----------
        answers : data frame
            Columns ``item, annotator, answer`` or ``task, worker, label``, perhaps ``confidence``; blank answers do
            not count. With ``positive``, the scores of a column ``score`` count in place of answers.
        model : data frame, optional
            Columns ``item`` (or ``task``) and ``p_<class>``, a row per item; with ``model``, a row per item and model.
        classes : array of shape (n_classes,), optional
            The classes, if there is no model to name them and perhaps not every one was answered.
        unsure : str or sequence of str
            Answers that mean "unsure", besides that word itself, in any case.
        positive : label, optional
            The class that high scores mean, of two.
        model_scale : {"probability", "log", "logit"}
            What the model's columns hold.
        """
        read = read_answers(answers, model, classes, unsure, positive=positive, model_scale=model_scale)
        return cls.checked(**read, model_scale=model_scale)

    @classmethod
    def from_frame(
        cls,
        X: Any,
        *,
        y: Any = None,
        classes: ArrayLike | None = None,
        unsure: str | Sequence[str] = (),
        positive: Any = None,
        model_scale: str = "probability",
        need_human: bool = True,
    ) -> Self:
        """A frame with annotators' answers and models' probabilities; the order of its columns does not matter.

        Parameters
        ----------
        X : data frame
            Columns ``human`` (or several ``human_<name>``; blank where that annotator was not asked) and one column
            ``p_<class>`` per class, for several models ``<model>.p_<class>``; ``item`` if it has ids; ``confidence`` or
            ``confidence_<name>`` if it is known; ``<model>.label`` and ``<model>.score`` of models that give labels or
            scores, ``human_<name>.score`` of people. Other columns are ignored.
        y : array of shape (n_items,), optional
            The truth, for the type of the class labels only.
        classes : array-like, optional
            The classes that are required, in any order.
        unsure : str or sequence of str
            Answers that mean "unsure", besides that word itself, in any case.
        positive : label, optional
            The class that high scores mean, of two; 1 or True by default. A plain column ``score`` needs it.
        model_scale : {"probability", "log", "logit"}
            What the model's columns hold.
        need_human : bool
            Whether a column of answers is required.
        """
        read = {"need_human": need_human, "positive": positive, "model_scale": model_scale}
        return cls.checked(**read_frame(X, y, classes, unsure, **read), model_scale=model_scale)

    @classmethod
    def checked(
        cls,
        *,
        classes: NDArray[Any],
        model_proba: tuple[NDArray[Any], ...],
        answers: Answers,
        annotators: tuple[str, ...] = ("human",),
        items: NDArray[Any] | None = None,
        columns: tuple[str, ...] | None = None,
        models: tuple[str, ...] | None = None,
        unsure: Answers | None = None,
        confidence: Floats | None = None,
        machines: tuple[str, ...] = (),
        scores: Scores | None = None,
        model_scale: str = "probability",
        has_ids: bool = True,
        terms: ModelTerms = CALL_TERMS,
    ) -> Self:
        """Observations from their fields, each checked; classes must be in order. ``terms`` are those of messages."""
        n_items = len(answers)
        checks.check_sizes(classes, n_items, model_scale)
        check_models(model_proba, models, n_items, classes, model_scale, terms)
        ids = np.arange(n_items) if items is None else items
        checks.same_length("items", len(ids), "model_proba", n_items)
        observations = cls(
            classes,
            model_proba,
            answers,
            annotators,
            ids,
            ("model",) * len(model_proba) if models is None else models,
            model_scale,
            columns,
            None if unsure is None or not unsure.per_item().any() else unsure,
            None if confidence is None or np.isnan(confidence).all() else confidence,
            has_ids and items is not None,
            machines,
            scores,
        )
        scored = has_score(annotators, scores) if machines or scores else None
        checks.check_information(observations.has_model, answers, observations.unsure, ids, scored)
        return observations

    def __len__(self) -> int:
        return len(self.items)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def __getitem__(self, key: Any) -> Self:
        """The observations of a subset of the items, by a slice, a mask or positions."""
        return self.take(np.atleast_1d(np.arange(len(self))[key[0] if isinstance(key, tuple) else key]))

    def take(self, rows: Codes) -> Self:
        """The observations of the items at these positions."""
        return replace(
            self,
            model_proba=tuple(proba[rows] for proba in self.model_proba),
            answers=self.answers.take(rows),
            items=self.items[rows],
            unsure=None if self.unsure is None else self.unsure.take(rows),
            confidence=None if self.confidence is None else take_values(self.answers, self.confidence, rows),
            scores=None if self.scores is None else self.scores.take(rows),
        )

    def has_model(self) -> NDArray[np.bool_]:
        """Whether any model has a row for each item, (n_items,)."""
        return has_row(self.model_proba, len(self))

    def with_models(self, models: tuple[str, ...]) -> Self:
        """The same observations with the rows of ``models``, in their order: blank for those that are missing."""
        rows = rows_of_models(self.model_proba, self.models, models, (len(self), self.n_classes))
        return self if rows is None else replace(self, models=models, model_proba=rows, zeros=())

    def aligned(self, classes: NDArray[Any]) -> Self:
        """The same observations with the classes in the order of ``classes``, which must be the same ones."""
        names, wanted = ([label_text(name) for name in each.tolist()] for each in (self.classes, classes))
        if names == wanted:
            return self if self.classes.dtype.kind == classes.dtype.kind else replace(self, classes=classes)
        position = np.argsort(order := checks.class_order(names, wanted))
        return replace(
            self,
            classes=classes,
            model_proba=tuple(proba[:, order] for proba in self.model_proba),
            answers=permute_classes(self.answers, position),
            confidence=None if self.confidence is None else permute_values(self.answers, position, self.confidence),
            scores=None if self.scores is None else self.scores.permuted(order),
        )

    def block(
        self,
        rows: slice,
        *,
        true_label: Codes | None = None,
        target: Floats | None = None,
        weight: Floats | None = None,
    ) -> Block:
        """Consecutive items as the arrays that kernels take; a missing model row becomes a uniform one."""
        answers, n_classes = self.answers.rows(rows), self.n_classes
        shape = n_classes, len(answers)
        log_proba, members, blank = log_model_rows(self.model_proba, self.model_scale, self.zeros, rows, shape)
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
