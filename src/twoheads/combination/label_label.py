"""L+L: two confusion matrices, the model reduced to the class it finds most probable."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from twoheads.combination.combiner import Combiner
from twoheads.combination.insight.method_facts import label_label_facts
from twoheads.combination.insight.method_sentences import label_label_sentences
from twoheads.combination.items.protocol import Schema
from twoheads.combination.learnt import LearntItems
from twoheads.combination.parts import clone_or_default
from twoheads.confusion.base import Confusion
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.kernels.answers import Answers, hard_counts
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.posterior import joint_log_proba
from twoheads.kernels.scoring.ties import sole_label, top_shares
from twoheads.observations import as_observations, as_truth, as_weight, labelled_items
from twoheads.storage.artifact import register
from twoheads.tables.scanned import read_labelled


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
        Number of items with the model's label l and the truth j, at ``[l, j]``.
    unit_ : float
        Weight of one item where they count as Kish's number of them: accuracies are stated for so many.
    label_numbers_ : ndarray of shape (n_annotators + 1,)
        How many labels with truth each annotator gave, and the model, whatever their weights.
    true_given_model_ : ndarray of shape (n_classes, n_classes)
        ``true_given_model_[j, l]`` is P(truth j | the model's label l); columns sum to 1.

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

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the items whose truth is known; a scanned table contains it."""
        X, y, sample_weight = read_labelled(X, y, sample_weight)
        observations = as_observations(X, y=y, model_scale=self.model_scale)
        self._adopt_schema(Schema.of(observations))
        self.remember(LearntItems.of(observations, as_truth(y, observations)))
        observations, truth, weight = labelled_items(observations, y, as_weight(sample_weight, len(observations)))
        n_annotators, n_classes = len(self.annotators_), observations.n_classes
        self.unit_ = 1.0 if weight is None else float((weight**2).sum() / weight.sum())
        self.confusion_: Confusion = clone_or_default(self.confusion, Confusion, DirichletConfusion, "confusion")
        model: Confusion = clone(self.confusion_)
        counts = hard_counts(observations.answers, truth, weight, n_annotators * n_classes, n_classes)
        self.confusion_.fit_counts(counts.reshape(n_annotators, -1, n_classes))
        answered = Answers(model_label(observations.block(slice(0, len(observations)))))
        self.model_counts_ = hard_counts(answered, truth, weight, n_classes, n_classes)
        column = observations.answers.column
        given = np.bincount(column[column != MISSING] // n_classes, minlength=n_annotators)
        self.label_numbers_ = np.append(given, np.count_nonzero(answered.column != MISSING)).astype(np.float64)
        self.true_given_model_ = model.fit_counts(self.model_counts_.T[None]).crowd_given_true_
        return self

    def facts(self) -> dict[str, Any]:
        """The accuracy of people and of the model, as numbers that JSON can hold."""
        check_is_fitted(self)
        people = [at for at, name in enumerate(self.annotators_) if name not in self.machines_]
        human_counts = self.confusion_.counts_[people].sum(axis=0)
        counts = human_counts / self.unit_, self.model_counts_ / self.unit_
        numbers = int(self.label_numbers_[people].sum()), int(self.label_numbers_[-1])
        return label_label_facts(self.classes_, self.annotators_, counts, numbers)

    def describe(self) -> str:
        """The fitted quantities as text, one sentence per line."""
        return "\n".join(label_label_sentences(self.facts()))

    def log_joint(self, block: Block) -> Floats:
        """Log P(truth | the model's label) plus the log-likelihood of the answers, (n_classes, n_items)."""
        assert block.answers is not None
        with np.errstate(divide="ignore"):
            given_model = np.log(self.given_model(block))
        return joint_log_proba(given_model, block.answers, self.confusion_.log_table())

    def given_model(self, block: Block) -> Floats:
        """P(truth | the model's label), (n_classes, n_items); uniform where the model has no label."""
        label = model_label(block)
        true_given_label = self.true_given_model_[:, label]
        true_given_label[:, label == MISSING] = 1.0 / len(true_given_label)
        return true_given_label


def model_label(block: Block) -> Codes:
    """The class that the model finds most probable; MISSING where several are equally so, or without a model row."""
    return sole_label(top_shares(block.log_proba))
