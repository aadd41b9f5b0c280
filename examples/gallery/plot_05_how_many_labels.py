"""
# How many labels are enough?

Error and log loss against the number of truth labels, on held-out items.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import error_rate, learning_curve, log_loss
from twoheads.report import LearningCurveDisplay

data = load_digit_readings()
held_out = data.y == -1
labelled = np.flatnonzero(data.y >= 0)
sizes = [0, 10, 30, 100, 300]
rng = np.random.default_rng(0)
scores = []
for n in sizes:
    for _ in range(3):
        y = np.full(len(data.y), -1)
        chosen = rng.permutation(labelled)[:n]
        y[chosen] = data.truth[chosen]
        proba = th.recommended().fit(data.observations, y).predict_proba(data.observations)[held_out]
        scores.append((n, 100 * error_rate(data.truth[held_out], proba), log_loss(data.truth[held_out], proba)))

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
scores = np.array(scores)
for ax, column, title in zip(axes, (1, 2), ("error in %", "log loss"), strict=True):
    ax.plot(1 + scores[:, 0], scores[:, column], "o", alpha=0.6)
    ax.plot([1 + n for n in sizes], [scores[scores[:, 0] == n, column].mean() for n in sizes])
    ax.set(xscale="log", xlabel="1 + labels", ylabel=title, ylim=(0, 1.1 * scores[:, column].max()))

# %%
# With five readers much is known without any truth: they are judged by each other. A handful of labels does not help yet: here the log loss
# is even higher with ten labels than with none. Labels are worth more for what they measure than for what they improve.

# %%
# A learning curve does the same with repeated splits of the labelled items, and says whether more labels would help.
curve = learning_curve(th.recommended(), data.observations, data.y, sizes=[10, 40, 120, 225], n_repeats=3)
print(curve.verdict())
figure, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
LearningCurveDisplay.from_learning_curve(curve).plot(ax, name="recommended")

# %%
# ## On your own data
#
# `LearningCurveDisplay.from_estimator(team, X, y)`, with labelled items that were drawn at random.
