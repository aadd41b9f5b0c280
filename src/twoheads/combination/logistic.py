"""LR: multinomial logistic regression on the model's probabilities and the people's labels."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from twoheads.combination.combiner import Combiner
from twoheads.combination.insight.method_facts import logistic_facts
from twoheads.combination.insight.method_sentences import logistic_sentences
from twoheads.combination.items.protocol import Schema
from twoheads.combination.learnt import LearntItems
from twoheads.errors import InvalidParameter
from twoheads.kernels.answers import answer_log_likelihood
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.observations import as_observations, as_truth, as_weight, labelled_items
from twoheads.storage.artifact import register
from twoheads.tables.scanned import read_labelled


@register
class LogisticCombiner(Combiner):
    r"""Multinomial logistic regression on (log m, one-hot answers).

    .. math:: p(y = j \mid h, m) \propto \exp(b_j + w_j^\top (\log m \oplus \mathrm{onehot}(h)))

    P+L with temperature scaling is the special case :math:`W = (I/T,\ \log\varphi^\top)`. It has many more
    parameters, and needs hundreds of labels to do well.

    Parameters
    ----------
    features : {"log", "probability"}
        Whether the model enters by log m, or by m as in the paper's released code.
    C : float
        Inverse strength of the L2 penalty, as in scikit-learn.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_classes, n_classes + n_columns), (n_classes,)
        The weights; an intercept of -inf for a class without labels.

    Examples
    --------
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> LogisticCombiner().fit(X, [0, 1, 0, 1]).predict(X).tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, *, features: str = "log", C: float = 1.0, model_scale: str = "probability") -> None:
        self.features = features
        self.C = C
        self.model_scale = model_scale

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the items whose truth is known; a scanned table contains it."""
        if self.features not in ("log", "probability"):
            raise InvalidParameter(f"features must be 'log' or 'probability'; it is {self.features!r}.")
        X, y, sample_weight = read_labelled(X, y, sample_weight)
        observations = as_observations(X, y=y, model_scale=self.model_scale)
        self._adopt_schema(Schema.of(observations))
        self.remember(LearntItems.of(observations, as_truth(y, observations)))
        observations, truth, weight = labelled_items(observations, y, as_weight(sample_weight, len(observations)))
        features = self._features(self.block(observations, slice(0, len(observations))))
        self.coef_ = np.zeros((observations.n_classes, features.shape[1]))
        self.intercept_ = np.full(observations.n_classes, -np.inf)
        if weight is not None:
            features, truth, weight = features[weight > 0], truth[weight > 0], weight[weight > 0]
        shown = np.unique(truth)
        if len(shown) == 1:
            self.intercept_[shown] = 0.0
            return self
        # Newton's method needs ten steps where others need a thousand, as long as its Hessian is small.
        small = len(shown) * features.shape[1] <= 2000
        exact = {"solver": "newton-cholesky", "max_iter": 200, "tol": 1e-6}
        regression = LogisticRegression(C=self.C, **(exact if small else {"solver": "lbfgs", "max_iter": 300}))
        with warnings.catch_warnings():  # almost as many classes as items is fine here
            warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
            regression.fit(features, truth, sample_weight=weight)
        if len(shown) == 2:
            self.coef_[shown[1]], self.intercept_[shown] = regression.coef_[0], (0.0, regression.intercept_[0])
        else:
            self.coef_[shown], self.intercept_[shown] = regression.coef_, regression.intercept_
        return self

    def facts(self) -> dict[str, Any]:
        """The weights of the model and of people's answers, as numbers that JSON can hold."""
        check_is_fitted(self)
        return logistic_facts(self.classes_, self.annotators_, self.coef_, self.intercept_, self.features)

    def describe(self) -> str:
        """The fitted quantities as text, one sentence per line."""
        return "\n".join(logistic_sentences(self.facts()))

    def log_joint(self, block: Block) -> Floats:
        """The regression's logits, (n_classes, n_items)."""
        return np.asarray(self.coef_ @ self._features(block).T + self.intercept_[:, None])

    def _features(self, block: Block) -> Floats:
        assert block.answers is not None
        model = block.log_proba if self.features == "log" else np.exp(block.log_proba)
        n_columns = len(self.annotators_) * len(model)
        # The columns of the crowd, for people not known at fit, come last and have no weight.
        one_hot = answer_log_likelihood(block.answers, np.eye(n_columns + len(model), n_columns))
        return np.concatenate([model, one_hot]).T
