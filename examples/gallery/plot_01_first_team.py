"""
# A first team

Readers, models and their combination on the example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import compare
from twoheads.report import ComparisonDisplay

data = load_digit_readings()
team = th.recommended().fit(data.observations, data.y)  # the truth of 300 images, and 1,000 without

# %%
# `compare` judges the team on images whose truth it has not learnt from, beside the best of its rivals.

held_out = data.y == -1
found = compare(team, data.observations[held_out], data.truth[held_out], n_bootstrap=500)
print(found.headline())

# %%
# Errors with their 95 % intervals:

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ComparisonDisplay.from_comparison(found).plot(ax=ax)

# %%
# ## On your own data
#
# Replace `data.observations` by a data frame with columns `human_<name>` and `p_<class>`, and `data.y` by the truth, `None`
# where it is not known. On the command line: `twoheads fit table.csv`, `twoheads evaluate team.json table.csv`.
