"""
# Look at the groups

An average hides groups. A third of the images comes from an old scanner with more noise.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import compare

data = load_digit_readings()
team = th.recommended().fit(data.observations, data.y)
errors = {}
for scanner in ["new", "old"]:
    rows = np.flatnonzero((data.y == -1) & (data.group == scanner))
    found = compare(team, data.observations.take(rows), data.truth[rows], n_bootstrap=300)
    errors[scanner] = {"people": found.human.error, "models": found.model.error, "team": found.combination.error}

# %%
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for shift, (scanner, members) in zip((-0.1, 0.1), errors.items(), strict=True):
    value = 100 * np.array([score.value for score in members.values()])
    low, high = (100 * np.array([getattr(score, end) for score in members.values()]) for end in ("low", "high"))
    ax.errorbar(
        np.arange(3) + shift, value, yerr=[value - low, high - value], fmt="o", capsize=4, label=f"{scanner} scanner"
    )
ax.set(xticks=range(3), xticklabels=list(members), ylabel="error in %, held out")
ax.legend()

# %%
# ## On your own data
#
# Choose the groups before you look. Where a group is worse, label more of it, fit a team for it, or let a person decide there.
