"""Base class of combiners: classifiers of observations that return a posterior of the truth."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from twoheads.combination.items.protocol import Schema
from twoheads.combination.learnt import LearntItems
from twoheads.combination.members_here import warn_of_members
from twoheads.confusion.base import columns_of
from twoheads.confusion.score_levels import ScoreLevels, answered
from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import normalise_exp, normalise_log
from twoheads.observations import Observations, as_observations, as_weight, matched_rows
from twoheads.observations.checks import same_length
from twoheads.observations.labels import encode_labels, label_text
from twoheads.rendering.notebook import in_short
from twoheads.storage import artifact
from twoheads.tables.scanned import ScannedTable, read_if_scanned
from twoheads.text import listed


class Combiner(ClassifierMixin, BaseEstimator, ABC):
    """A classifier whose ``X`` are observations: an Observations, a data frame, an array, or a scanned table.

    A new one implements ``fit`` and `log_joint`. `twoheads.testing.check_combiner` tests the whole contract.
    """

    #: Whether it combines several models.
    supports_several_models: ClassVar[bool] = False

    #: Whether there was a model at fit.
    has_model_: bool

    model_scale: str
    classes_: NDArray[Any]
    annotators_: tuple[str, ...]
    models_: tuple[str, ...]
    #: The annotators that are machines, and how scores are cut into levels; None without scores.
    machines_: tuple[str, ...]
    levels_: ScoreLevels | None
    #: What a probability of 0 is read as, of each model: below the smallest that it gave at fit.
    zeros_: tuple[float, ...]

    #: The items whose truth it has learnt from.
    learnt_: LearntItems

    @abstractmethod
    def log_joint(self, block: Block) -> Floats:
        """Log-probability of each class for each item of a block, (n_classes, n_items), up to a constant per item."""

    def facts(self) -> dict[str, Any]:
        """The fitted quantities, as numbers that JSON can hold."""
        check_is_fitted(self)
        return {"classes": [label_text(name) for name in self.classes_], "annotators": list(self.annotators_)}

    def learnt_lines(self) -> list[str]:
        """What was learnt, a line each, without anything that must be computed: a notebook shows it below the parts."""
        named = {"classes": list(map(label_text, self.classes_.tolist())), "annotators": self.annotators_}
        named |= {"models": self.models_} if self.has_model_ else {}
        return [f"{name}: {in_short(list(values))}" for name, values in named.items()]

    def _repr_html_inner(self) -> str:
        """As scikit-learn draws the parts, and what was learnt."""
        parts = estimator_html_repr(self)
        if not hasattr(self, "classes_"):
            return str(parts)
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.learnt_lines())
        return f"<div>{parts}<p>What was learnt</p><ul>{lines}</ul></div>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        output: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in output:
            output["text/html"] = self._repr_html_inner()
        return output

    def describe(self) -> str:
        """The fitted quantities as text, one sentence per line."""
        check_is_fitted(self)
        return f"{type(self).__name__} of {len(self.classes_)} classes."

    def at_hand(self, X: Any) -> Self:
        """The combiner as it predicts ``X``; itself, unless it adapts to the items at hand."""
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each item, (n_items, n_classes), in the order of ``classes_``.

        A scanned table is read in blocks.
        """
        return self.at_hand(X)._mapped(X, lambda log_joint: normalise_exp(log_joint).T)

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probability of each class for each item, (n_items, n_classes)."""
        return self.at_hand(X)._mapped(X, lambda log_joint: normalise_log(log_joint).T)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each item."""
        team = self.at_hand(X)
        best = [label for observations in team._observed(X) for label in team._labels(observations)]
        return np.asarray(self.classes_[np.concatenate(best)])

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on the items whose truth is known."""
        predicted = self.predict(X)
        y, sample_weight = matched_rows(X, y, sample_weight)
        truth = encode_labels(y, self.classes_, argument="y")
        same_length("y", len(truth), "X", len(predicted))
        weight = as_weight(sample_weight, len(truth))
        known = truth != MISSING
        if not known.any():
            raise InvalidObservations("y must be known for at least one item to score; it is missing for all.")
        right = predicted[known] == self.classes_[truth[known]]
        return float(np.average(right, weights=None if weight is None else weight[known]))

    def save(self, path: str | os.PathLike[str], *, keep_sample: bool = True) -> None:
        """Write the fitted combiner as JSON; `twoheads.load` reads it back, to the bit.

        keep_sample  whether a sample of training items is written too, where the combiner has one
        """
        check_is_fitted(self)
        artifact.save(self, path)

    def note_provenance(self, provenance: Mapping[str, Any]) -> Self:
        """Keep with the team, and in its file, how it was fitted: method, files, columns, which items."""
        self.provenance_ = dict(provenance)
        return self

    def provenance(self) -> dict[str, Any]:
        """How the team was fitted, as noted by `note_provenance`; empty if nothing was."""
        return dict(vars(self).get("provenance_", {}))

    def note_history(self, entries: Iterable[Mapping[str, Any]]) -> Self:
        """Keep with the team, and in its file, what was done with it, the first first; entries hold what JSON can."""
        self.history_ = [dict(entry) for entry in entries]
        return self

    def history(self) -> list[dict[str, Any]]:
        """What was done with the team, as noted by `note_history`; empty if nothing was."""
        return list(vars(self).get("history_", []))

    def remember(self, items: LearntItems) -> Self:
        """Keep what the items are recognised by whose truth the team has learnt from."""
        self.learnt_ = items
        return self

    def observe(self, X: Any) -> Observations:
        """``X`` as observations with the classes and models of the fit; a scanned table is read whole."""
        check_is_fitted(self)
        X, _ = read_if_scanned(X, truth=False)
        positive = None if self.levels_ is None else self.levels_.positive
        observations = as_observations(
            X,
            classes=self.classes_,
            positive=positive,
            need_model=self.has_model_,
            model_scale=self.model_scale,
        )
        self._need_known_models(observations)
        found = answered(replace(observations.with_models(self.models_), zeros=self.zeros_), self.levels_)
        warn_of_members(self, X, observations)
        return found

    def _need_known_models(self, observations: Observations) -> None:
        """Refuse a model where there was none at fit: nothing is known of what its probabilities mean."""
        if not self.has_model_ and observations.has_model().any():
            names = listed([repr(name) for name in observations.models], 8)
            raise InvalidObservations(
                f"X must hold no model's probabilities, as the team was fitted without any; it has those of {names}. "
                "Leave them out, or fit again with them."
            )

    def block(self, observations: Observations, rows: slice) -> Block:
        """Consecutive items, with annotators numbered as at fit; unknown ones count as the crowd."""
        block = observations.block(rows)
        if observations.annotators == self.annotators_:
            return block
        assert block.answers is not None
        place, unsure = self.annotator_index(observations.annotators), block.unsure
        column = columns_of(block.answers.column, place, observations.n_classes)
        if unsure is not None:
            unsure = Answers(columns_of(unsure.column, place, 1), unsure.start)
        return replace(block, answers=Answers(column, block.answers.start), unsure=unsure)

    def annotator_index(self, names: tuple[str, ...]) -> Codes:
        """Position of each annotator in ``annotators_``; the number of annotators for those not known."""
        known = {name: at for at, name in enumerate(self.annotators_)}
        return np.array([known.get(name, len(known)) for name in names], dtype=np.intp)

    def _mapped(self, X: Any, function: Callable[[Floats], Floats]) -> Floats:
        """``function(log_joint)`` of all items, (n_items, n_classes), block by block in threads."""
        parts = [self._mapped_observations(observations, function) for observations in self._observed(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _mapped_observations(self, observations: Observations, function: Callable[[Floats], Floats]) -> Floats:
        out = np.empty((len(observations), observations.n_classes))

        def write(rows: slice) -> None:
            out[rows] = function(self.log_joint(self.block(observations, rows)))

        for _ in map_blocks(write, block_slices(len(observations), observations.n_classes)):
            pass
        return out

    def _labels(self, observations: Observations) -> Iterator[Codes]:
        """The code of the most probable class, block by block in threads."""
        slices = block_slices(len(observations), observations.n_classes)
        return map_blocks(lambda rows: self.log_joint(self.block(observations, rows)).argmax(axis=0), slices)

    def _observed(self, X: Any) -> Iterator[Observations]:
        """``X`` as observations: in one piece, or block by block if it is a scanned table."""
        check_is_fitted(self)
        if isinstance(X, ScannedTable):
            yield from (self.observe(observations) for observations, _ in X.blocks(items=False, truth=False))
        else:
            yield self.observe(X)

    def _need_model_count(self, schema: Schema) -> None:
        """Refuse several models where the combiner takes one."""
        if len(schema.models) > 1 and not self.supports_several_models:
            raise InvalidObservations(
                f"X must hold one model's probabilities for {type(self).__name__}; it holds those of "
                f"{', '.join(schema.models[:8])} ({len(schema.models)} models). Give one, or use "
                "ProbabilityLabelCombiner."
            )

    def _adopt_schema(self, schema: Schema) -> None:
        """Take over classes, annotators and models, and scikit-learn's names of features."""
        self._need_model_count(schema)
        self.classes_ = schema.classes
        self.annotators_ = schema.annotators
        self.machines_ = schema.machines
        self.levels_ = schema.levels
        self.zeros_ = schema.zeros
        self.models_ = schema.models or ("model",)
        self.has_model_ = schema.has_model
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.columns is not None:
            self.feature_names_in_ = np.array(schema.columns, dtype=object)
