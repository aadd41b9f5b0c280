"""
# Is 90 % really 90 %?

Reliability of the two models as they are, and of the team. A calibrated forecaster is on the diagonal.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import expected_calibration_error
from twoheads.report import ReliabilityDisplay

data = load_digit_readings()
held_out = data.y == -1
team = th.recommended().fit(data.observations, data.y)
rows = dict(zip(data.observations.models, data.observations.model_proba, strict=True))
rows["team"] = team.predict_proba(data.observations)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for (name, proba), ax in zip(rows.items(), axes, strict=True):
    kind = "combination" if name == "team" else "model"
    ReliabilityDisplay.from_predictions(data.truth[held_out], proba[held_out], name=kind).plot(ax=ax)
    error = expected_calibration_error(data.truth[held_out], proba[held_out])
    ax.set_title(f"{name}: ECE {100 * error:.1f} %")

# %%
# `bayes` is over-confident, `linear` under-confident; the team is near the diagonal.
#
# ## On your own data
#
# `ReliabilityDisplay.from_estimator(team, X, y)` on held-out items. With fewer than some hundred items, read the bars: they are
# wide. `compare(...)` says whether a calibration error is more than chance.
