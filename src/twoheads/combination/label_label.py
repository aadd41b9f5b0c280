"""L+L: two confusion matrices, the model reduced to the class it finds most probable."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from twoheads.combination.base import Combiner
from twoheads.combination.parts import part
from twoheads.combination.plain_description import label_facts, label_words
from twoheads.confusion.base import Confusion
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.kernels.answers import Answers, hard_counts
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.posterior import joint_log_proba
from twoheads.observations import as_observations, as_weight, labelled_items
from twoheads.storage.artifact import register


@register
class LabelLabelCombiner(Combiner):
    r"""Combine people's labels with the model's label.

    .. math:: p(y = j \mid h = i, \hat m = l) \propto P(h = i \mid y = j)\, P(y = j \mid \hat m = l)

    The model's matrix is normalised over the truth, so that no class prior is needed; with maximum likelihood the
    product is naive Bayes over the two labels with the empirical class prior.

    Parameters
    ----------
    confusion : Confusion, default DirichletConfusion()
        How both matrices are estimated.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    confusion_ : Confusion
        The people's matrices, P(answer | truth).
    model_counts_ : ndarray of shape (n_classes, n_classes)
        How often the model said l when the truth was j, at ``[l, j]``.
    true_given_model_ : ndarray of shape (n_classes, n_classes)
        ``true_given_model_[j, l]`` is P(truth j | the model says l); columns sum to 1.

    References
    ----------
    Kerrigan, Smyth & Steyvers, NeurIPS 2021, section 4, L+L.

    Examples
    --------
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> LabelLabelCombiner().fit(X, [0, 1, 0, 1]).predict(X).tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, confusion: Confusion | None = None, *, model_scale: str = "probability") -> None:
        self.confusion = confusion
        self.model_scale = model_scale

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the items whose truth is known."""
        seen = as_observations(X, y=y, model_scale=self.model_scale)
        self._learn_about(seen)
        seen, truth, weight = labelled_items(seen, y, as_weight(sample_weight, len(seen)))
        n_people, n_classes = len(self.annotators_), seen.n_classes
        self.confusion_: Confusion = part(self.confusion, Confusion, DirichletConfusion, "confusion")
        model: Confusion = clone(self.confusion_)
        counts = hard_counts(seen.answers, truth, weight, n_people * n_classes, n_classes)
        self.confusion_.fit_counts(counts.reshape(n_people, -1, n_classes))
        answered = Answers(model_label(seen.block(slice(0, len(seen)))))
        self.model_counts_ = hard_counts(answered, truth, weight, n_classes, n_classes)
        self.true_given_model_ = model.fit_counts(self.model_counts_.T[None]).crowd_given_true_
        return self

    def facts(self) -> dict[str, Any]:
        """How often people and the model are right, as numbers that JSON can hold."""
        check_is_fitted(self)
        return label_facts(self)

    def describe(self) -> str:
        """What was learnt, in plain words: one sentence a line."""
        return "\n".join(label_words(self.facts()))

    def log_joint(self, block: Block) -> Floats:
        """Log P(truth | the model's label) plus the log-likelihood of the answers, (n_classes, n_items)."""
        assert block.answers is not None
        with np.errstate(divide="ignore"):
            given_model = np.log(self.given_model(block))
        return joint_log_proba(given_model, block.answers, self.confusion_.log_table())

    def given_model(self, block: Block) -> Floats:
        """P(truth | the model's label), (n_classes, n_items); uniform where the model says nothing."""
        label = model_label(block)
        given = self.true_given_model_[:, label]
        given[:, label == MISSING] = 1.0 / len(given)
        return given


def model_label(block: Block) -> Codes:
    """The class that the model finds most probable, MISSING where it finds all alike or has not seen the item."""
    spread = block.log_proba.max(axis=0) - block.log_proba.min(axis=0)
    return np.where(spread > 0, block.log_proba.argmax(axis=0), MISSING)
