"""
# People and models err on the same items

The plain product of P+L assumes that they do not, and becomes over-confident. A simulation with more and more shared errors.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.evaluation import log_loss


def simulate(shared, n=1500, seed=0):
    """A model and a person, both right on 80 %, who err together on a share of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    other = (truth + rng.integers(1, 3, n)) % 3
    together = rng.random(n) < shared
    hard = rng.random(n) < 0.2
    model_wrong = np.where(together, hard, rng.random(n) < 0.2)
    human_wrong = np.where(together, hard, rng.random(n) < 0.2)
    label = np.where(model_wrong, other, truth)
    model = 0.1 + 0.7 * np.eye(3)[label] + 0.1 * rng.dirichlet(np.ones(3), n)
    human = np.where(human_wrong, other, truth)
    return np.column_stack([human, model / model.sum(axis=1, keepdims=True)]), truth


shares = [0.0, 0.25, 0.5, 0.75]
losses = {"P+L": [], "recommended": []}
for shared in shares:
    X, y = simulate(shared)
    for name, method in {"P+L": th.ProbabilityLabelCombiner(), "recommended": th.recommended()}.items():
        losses[name].append(log_loss(y[300:], method.fit(X[:300], y[:300]).predict_proba(X[300:])))

# %%
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, values in losses.items():
    ax.plot(shares, values, "o-", label=name)
ax.set(xlabel="share of items on which they err together", ylabel="log loss, held out")
ax.legend()

# %%
# ## On your own data
#
# `describe` says how much weight is taken off and whether it helped; `twoheads.evaluation.independence` tests for dependence.
