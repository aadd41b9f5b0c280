"""
# Without any truth

What the team believes about each reader without truth, beside what is true. Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings

data = load_digit_readings(as_frame=True)
team = th.recommended().fit(data.observations)  # no truth
stats = team.annotator_stats_

actual = []
for name in stats["annotator"]:
    answer = data.table[f"human_{name}"]
    answered = (answer.notna() & (answer != "unsure")).to_numpy()
    actual.append(np.mean(answer[answered].astype(int).to_numpy() == data.truth[answered]))

# %%
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
at = np.arange(len(actual))
accuracy = np.asarray(stats["accuracy"])
bars = [accuracy - stats["accuracy_low"], stats["accuracy_high"] - accuracy]
ax.errorbar(at, accuracy, yerr=bars, fmt="o", capsize=4, label="believed, with 90 % interval")
ax.plot(at, actual, "x", color="black", markersize=9, label="true")
ax.set(xticks=at, xticklabels=stats["annotator"], ylabel="share of correct answers")
ax.legend()

# %%
# Intervals are wide: agreement cannot show errors that all readers share.
#
# ## On your own data
#
# Fit without `y`. Then label 30 to 100 random items and fit again: *believed* becomes *measured*.
