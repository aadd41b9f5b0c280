"""
# Learning on, day by day

New items arrive every day. `partial_fit` continues a fit without the old tables.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.evaluation import log_loss

rng = np.random.default_rng(0)


def day(n, accuracy):
    """One day's items: a model, and a person whose accuracy changes."""
    y = rng.integers(0, 3, n)
    model = rng.dirichlet(np.ones(3), n) + 0.3 * np.eye(3)[y]
    human = np.where(rng.random(n) < accuracy, y, rng.integers(0, 3, n))
    return np.column_stack([human, model / model.sum(axis=1, keepdims=True)]), y


accuracies = [0.95] * 8 + [0.4] * 8  # on the ninth day the experienced reader is replaced by a beginner
losses = {"never forgets": [], "forgets 30 % a day": []}
teams = {name: th.recommended() for name in losses}
for number, accuracy in enumerate(accuracies):
    X, y = day(300, accuracy)
    for name, team in teams.items():
        if number > 0:
            losses[name].append(log_loss(y, team.predict_proba(X)))
        forget = 0.3 if number > 0 and "30" in name else 0.0
        team.partial_fit(X, y, forget=forget)

# %%
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, values in losses.items():
    ax.plot(range(2, len(accuracies) + 1), values, "o-", label=name)
ax.axvline(8.5, color="grey", linestyle="--")
ax.set(xlabel="day", ylabel="log loss of that day, before it is learnt")
ax.legend()

# %%
# Both are surprised on the ninth day. The team that forgets has learnt the beginner's errors within a few days; the other one still believes
# what it learnt from the experienced reader. Where nothing changes, forgetting costs a little.
#
# ## On your own data
#
# If items can be kept, prefer `twoheads update`: it knows items by their ids, takes truth that arrives later, and is exact.
