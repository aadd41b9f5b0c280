"""What every combiner is: a classifier of observations that gives a posterior of the truth."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from twoheads.confusion.base import columns_of
from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import normalise_exp, normalise_log
from twoheads.observations import Observations, as_observations, as_weight
from twoheads.observations.checks import same_length
from twoheads.observations.labels import encode_labels, label_text
from twoheads.storage import artifact


class Combiner(ClassifierMixin, BaseEstimator, ABC):
    """A classifier whose ``X`` are observations: an Observations, a data frame or an array (see `as_observations`).

    A new one writes ``fit`` and `log_joint`.
    """

    #: Whether it combines several models.
    several_models: ClassVar[bool] = False

    #: Whether a model had seen any item at fit.
    has_model_: bool

    model_scale: str
    classes_: NDArray[Any]
    annotators_: tuple[str, ...]
    models_: tuple[str, ...]

    @abstractmethod
    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class for each item of a block, (n_classes, n_items), up to a constant per item."""

    def facts(self) -> dict[str, Any]:
        """What was learnt, as numbers that JSON can hold."""
        check_is_fitted(self)
        return {"classes": [label_text(name) for name in self.classes_], "annotators": list(self.annotators_)}

    def describe(self) -> str:
        """What was learnt, in plain words: one sentence a line."""
        check_is_fitted(self)
        return f"{type(self).__name__} of {len(self.classes_)} classes."

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each item, (n_items, n_classes), in the order of ``classes_``."""
        seen = self._observations(X)
        out = np.empty((len(seen), seen.n_classes))

        def write(rows: slice) -> None:
            out[rows] = normalise_exp(self.log_joint(self._block(seen, rows))).T

        for _ in map_blocks(write, block_slices(len(seen), seen.n_classes)):
            pass
        return out

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probability of each class for each item, (n_items, n_classes)."""
        seen = self._observations(X)
        out = np.empty((len(seen), seen.n_classes))

        def write(rows: slice) -> None:
            out[rows] = normalise_log(self.log_joint(self._block(seen, rows))).T

        for _ in map_blocks(write, block_slices(len(seen), seen.n_classes)):
            pass
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each item."""
        seen = self._observations(X)
        slices = block_slices(len(seen), seen.n_classes)
        best = map_blocks(lambda rows: self.log_joint(self._block(seen, rows)).argmax(axis=0), slices)
        return np.asarray(self.classes_[np.concatenate(list(best))])

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on the items whose truth is known."""
        predicted = self.predict(X)
        truth = encode_labels(y, self.classes_, argument="y")
        same_length("y", len(truth), "X", len(predicted))
        weight = as_weight(sample_weight, len(truth))
        known = truth != MISSING
        if not known.any():
            raise InvalidObservations("y must be known for at least one item to score; it is missing for all.")
        right = predicted[known] == self.classes_[truth[known]]
        return float(np.average(right, weights=None if weight is None else weight[known]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted combiner as JSON; `twoheads.load` reads it back, to the bit."""
        check_is_fitted(self)
        artifact.save(self, path)

    def note_provenance(self, provenance: Mapping[str, Any]) -> Self:
        """Keep with the team, and in its file, how it was fitted: method, files, columns, which items."""
        self.provenance_ = dict(provenance)
        return self

    def provenance(self) -> dict[str, Any]:
        """How the team was fitted, as noted by `note_provenance`; empty if nothing was."""
        return dict(vars(self).get("provenance_", {}))

    def _observations(self, X: Any) -> Observations:
        check_is_fitted(self)
        seen = as_observations(X, classes=self.classes_, model_scale=self.model_scale)
        return seen.with_models(getattr(self, "models_", ("model",)))  # an older file has no names

    def _block(self, seen: Observations, rows: slice) -> Block:
        """A block whose answers are numbered as at fit: people not seen then answer as the crowd."""
        block = seen.block(rows)
        if seen.annotators == self.annotators_:
            return block
        assert block.answers is not None
        place, unsure = self._place(seen.annotators), block.unsure
        column = columns_of(block.answers.column, place, seen.n_classes)
        if unsure is not None:
            unsure = Answers(columns_of(unsure.column, place, 1), unsure.start)
        return replace(block, answers=Answers(column, block.answers.start), unsure=unsure)

    def _place(self, annotators: tuple[str, ...]) -> Codes:
        known = {name: at for at, name in enumerate(self.annotators_)}
        return np.array([known.get(name, len(known)) for name in annotators], dtype=np.intp)

    def _learn_about(self, seen: Observations) -> None:
        if len(seen.models) > 1 and not self.several_models:
            raise InvalidObservations(
                f"X must hold one model's probabilities for {type(self).__name__}; it holds those of "
                f"{', '.join(seen.models[:8])} ({len(seen.models)} models). Give one, or use ProbabilityLabelCombiner."
            )
        self.classes_ = seen.classes
        self.annotators_ = seen.annotators or ("human",)
        self.models_ = seen.models or ("model",)
        self.has_model_ = bool(seen.model_proba)
        self.n_features_in_ = seen.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if seen.columns is not None:
            self.feature_names_in_ = np.array(seen.columns, dtype=object)
