"""
# A calibrator of your own

Two methods and a check: mixing the model's row with the uniform distribution.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.engines.blocks import sum_blocks
from twoheads.storage.artifact import register
from twoheads.testing import check_calibrator

GRID = np.linspace(0.0, 0.99, 100)


def mixed(log_proba, share):
    """Log of (1 - share) m + share / K; arrays are (n_classes, n_items)."""
    return np.log((1 - share) * np.exp(log_proba) + share / len(log_proba))


def likelihoods(block):
    """The log-likelihood at each value of the grid, a sum over items."""
    return (np.array([block.weighted_sum(block.expected(mixed(block.log_proba, share))) for share in GRID]),)


@register
class GalleryMixing(th.Calibrator):
    """m' = (1 - e) m + e / K, with the most likely e."""

    def __init__(self, *, model_scale="probability"):
        self.model_scale = model_scale

    def fit_blocks(self, blocks, n_classes):
        """Learn e."""
        (self.log_likelihood_,) = sum_blocks(likelihoods, blocks)
        self.share_ = float(GRID[np.argmax(self.log_likelihood_)])
        return self

    def calibrate(self, log_proba):
        """Mix."""
        return mixed(log_proba, self.share_)


check_calibrator(GalleryMixing)

# %%
data = load_digit_readings()
labelled = data.y >= 0
bayes = data.observations.model_proba[0]
mixing = GalleryMixing().fit(bayes[labelled], data.y[labelled])
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(GRID, mixing.log_likelihood_)
ax.axvline(mixing.share_, color="grey", linestyle="--")
best = mixing.log_likelihood_.max()
ax.set(xlabel="share e of the uniform distribution", ylabel="log-likelihood", ylim=(best - 100, best + 5))
print(f"e = {mixing.share_:.2f}")

# %%
# ## On your own data
#
# `ProbabilityLabelCombiner(HierarchicalConfusion(), GalleryMixing(), Dependence())` uses it in a team, with all, some or no truth.
