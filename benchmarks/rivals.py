"""What a user would pick instead, each at the job that a team of ours is given."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression


class Given(ClassifierMixin, BaseEstimator):
    """A classifier that hands on the logits it is given."""

    def __init__(self, n_classes=2):
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def fit(self, X, y):
        """There is nothing to learn."""
        return self

    def predict(self, X):
        """The largest logit."""
        return X.argmax(axis=1)

    def decision_function(self, X):
        """The logits themselves."""
        return X


def temperature_scaling(X, truth):
    """scikit-learn's temperature scaling of the model alone: fit and predict."""
    logits = np.log(np.maximum(X[:, 1:], 1e-300))
    model = CalibratedClassifierCV(FrozenEstimator(Given(X.shape[1] - 1)), method="temperature")
    return model.fit(logits, truth).predict_proba(logits)


def logistic_regression(X, truth):
    """scikit-learn's logistic regression on the model's log-probabilities and the person's answer: fit and predict."""
    answers = np.eye(X.shape[1] - 1)[X[:, 0].astype(int)]
    features = np.column_stack([np.log(np.maximum(X[:, 1:], 1e-38)), answers])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(max_iter=100).fit(features, truth).predict_proba(features)


def crowdlab(answers, proba):
    """Cleanlab's CROWDLAB: labels from people's answers, a column each (NaN: none), and the model's probabilities."""
    import pandas as pd
    from cleanlab.multiannotator import get_label_quality_multiannotator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return get_label_quality_multiannotator(pd.DataFrame(answers), proba, verbose=False)


def dawid_skene(answers, iterations):
    """crowd-kit's Dawid-Skene on a frame of ``task, worker, label``: so many iterations of EM."""
    from crowdkit.aggregation import DawidSkene

    return DawidSkene(n_iter=iterations, tol=0.0).fit_predict_proba(answers)
