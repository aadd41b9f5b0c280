"""Sets of labels that hold the truth as often as promised: a team's are smaller than its model's.

Run it with ``make examples``, or ``python examples/label_sets.py`` where twoheads[test] or MAPIE is installed.
"""

import numpy as np
from mapie.classification import SplitConformalClassifier
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

import twoheads as th

# MAPIE tries a fitted classifier on a row of zeros. That is no distribution but it is a row of logits, and a model's
# logits are as welcome as its probabilities: so X holds the human's code, then the model's logits.
N_CLASSES, ACCURACY, COVERAGE = 6, 0.85, 0.95


class ModelAlone(ClassifierMixin, BaseEstimator):
    """The model's own probabilities as a classifier of the same array."""

    def fit(self, X, y):
        """Learn nothing but the classes."""
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X):
        """The model's rows."""
        return softmax(X[:, 1:], axis=1)

    def predict(self, X):
        """The model's labels."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def simulate(n_items, seed):
    """An array (human code, model logits) and the truth: an over-confident model, a person right 85 % of the time."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2.5, size=(n_items, N_CLASSES))
    truth = (softmax(logits / 1.7, axis=1).cumsum(axis=1) > rng.random((n_items, 1))).argmax(axis=1)
    human = np.where(rng.random(n_items) < ACCURACY, truth, rng.integers(0, N_CLASSES, n_items))
    return np.column_stack([human, logits]), truth


def label_sets(classifier, calibration, X):
    """Whether each class is in the set of each item, (n_items, n_classes), by split conformal prediction."""
    conformal = SplitConformalClassifier(classifier, confidence_level=COVERAGE, prefit=True)
    conformal.conformalize(*calibration)
    return conformal.predict_set(X)[1][:, :, 0]


def main():
    X, y = simulate(500, seed=0)
    calibration = simulate(2000, seed=1)
    X_new, y_new = simulate(4000, seed=2)
    found = {}
    for name, classifier in {"model": ModelAlone(), "team": th.recommended(model_scale="logit")}.items():
        sets = label_sets(classifier.fit(X, y), calibration, X_new)
        found[name] = {
            "coverage": sets[np.arange(len(y_new)), y_new].mean(),
            "size": sets.sum(axis=1).mean(),
            "single": (sets.sum(axis=1) == 1).mean(),
        }
        print(
            f"{name:>5}: {found[name]['coverage']:.1%} of the sets hold the truth ({COVERAGE:.0%} promised); "
            f"{found[name]['size']:.2f} labels on average, {found[name]['single']:.0%} of them a single one"
        )
    return found


if __name__ == "__main__":
    main()
