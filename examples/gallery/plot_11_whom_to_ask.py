"""
# Whom to ask next

All answers are hidden and bought one by one: by expected gain, where the model is least sure, or at random.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings

data = load_digit_readings()
team = th.recommended().fit(data.observations, data.y)
rows = np.flatnonzero(data.y == -1)[:300]
curves = th.simulate_asking(team, data.observations.take(rows), data.truth[rows], budget=400)

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for name in ("expected_gain", "least_sure", "random"):
    ax.plot(curves[name].cost, 100 * (1 - curves[name].accuracy), label=name.replace("_", " "))
ax.set(xlabel="answers bought, for 300 images", ylabel="error in %")
ax.legend()

# %%
# By expected gain nothing more is bought once no single answer is expected to change a label: that line ends early.
#
# The plan for the next answers, with what they are expected to be worth:

plan = th.choose(team, data.observations.take(rows), budget=5)
for item, person, gain in zip(plan.item, plan.annotator, plan.gain, strict=True):
    print(item, person, f"{gain:.3f}")

# %%
# ## On your own data
#
# `th.choose(team, X, budget=200, price={"ana": 3.0})`, or `twoheads ask team.json table.csv --budget 200`. Ask, add the answers, choose
# again.
