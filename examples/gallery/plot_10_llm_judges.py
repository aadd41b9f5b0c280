"""
# Ten LLM judges of one family are not ten judges

A simulated panel: judges share most of their errors, two people do not. How many independent members is the panel worth?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import twoheads as th

rng = np.random.default_rng(1)
n = 600
toxic = rng.integers(0, 2, n)
family = rng.random(n) < 0.35
people = pd.DataFrame({"item": np.arange(n)})
for person in ["ann", "bob"]:
    people[person] = np.where(rng.random(n) < 0.25, 1 - toxic, toxic)
some = np.where(np.arange(n) < 150, toxic, -1)

sizes, effective, error = [1, 3, 6, 10], [], []
for size in sizes:
    panel = people.copy()
    for judge in range(size):
        wrong = np.where(rng.random(n) < 0.9, family, rng.random(n) < 0.3)
        panel[f"judge {judge}"] = np.where(wrong, 1 - toxic, toxic)
    answers = panel.melt("item", var_name="annotator", value_name="answer")
    seen = th.Observations.from_answers(answers)
    team = th.recommended().fit(seen, some)
    effective.append(team.facts()["panel"]["effective_members"])
    error.append(100 * np.mean(team.predict(seen)[150:] != toxic[150:]))

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
value, low, high = np.transpose(effective)
axes[0].plot(sizes, [2 + size for size in sizes], "--", color="grey", label="members")
axes[0].plot(sizes, value, "o-", label="effective members")
axes[0].fill_between(sizes, low, high, alpha=0.3)
axes[0].set(xlabel="judges beside two people", ylabel="independent members")
axes[0].legend()
axes[1].plot(sizes, error, "o-")
axes[1].set(xlabel="judges beside two people", ylabel="error in %, held out", ylim=(0, 25))

# %%
# The error hardly changes: the judges after the first bring the same errors again. The panel is even worth fewer independent
# members the more judges it has, because more of its pairs share their errors.
#
# ## On your own data
#
# A column `<judge>.label`, `<judge>.score` or a row per judge in a long table. Label 100 random outputs: without truth a panel
# cannot know which errors its judges share.
