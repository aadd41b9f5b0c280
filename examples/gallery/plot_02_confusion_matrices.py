"""
# What each reader confuses

A confusion matrix per reader, shrunk towards the crowd's: readers with few answers borrow from the others.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.report import ConfusionDisplay

data = load_digit_readings()
team = th.recommended().fit(data.observations, data.y)

figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
for name, ax in zip(["ana", "dev", "eli"], axes, strict=True):
    matrix = team.confusion_.human_given_true_[team.annotators_.index(name)]
    ConfusionDisplay(matrix, team.classes_).plot(ax=ax)
    ax.set_title(name)

# %%
# The same as numbers: sensitivity of each reader for the digit 8, the hardest one.

for name in team.annotators_:
    matrix = team.confusion_.human_given_true_[team.annotators_.index(name)]
    print(f"{name:6} P(answers 8 | it is 8) = {matrix[8, 8]:.2f}")

# %%
# ## On your own data
#
# Any team has `confusion_.human_given_true_`, (person, answer, truth), in the order of `annotators_` and `classes_`. For what was
# measured by your truth, with intervals, use `team.class_stats()`.
