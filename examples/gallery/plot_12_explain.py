"""
# Why this label?

The log-odds of a label are a sum of contributions, one per member. Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings

data = load_digit_readings()
team = th.recommended().fit(data.observations, data.y)
proba = team.predict_proba(data.observations)
n_answers = data.observations.answers.per_item()
doubtful = np.flatnonzero((data.y == -1) & (n_answers >= 3))
item = doubtful[np.argmin(proba[doubtful].max(axis=1))]  # many answers, and still in doubt

why = team.explain(data.observations.take(np.array([item])))
first, second = np.argsort(proba[item])[::-1][:2]
print(f"{data.observations.items[item]}: {first} ({proba[item, first]:.0%}) or {second} ({proba[item, second]:.0%})?")

# %%
parts = {name: float(values[0, second]) for name, values in why.parts.items() if abs(values[0, second]) > 0.01}
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.barh(list(parts), list(parts.values()), color=["#0072B2" if value > 0 else "#D55E00" for value in parts.values()])
ax.axvline(0, color="black", linewidth=0.8)
ax.set(xlabel=f"log-odds for {first} against {second}")
ax.invert_yaxis()

# %%
# "dependence" is what the correction for shared errors takes off.
#
# ## On your own data
#
# `team.explain(X).parts` has an array (item, class) per member. The report shows it for the items to look at first.
