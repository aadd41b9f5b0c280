"""
# Sets of labels that contain the truth

Split conformal prediction with MAPIE: the better the probabilities, the smaller the sets.
"""

import matplotlib.pyplot as plt
import numpy as np
from mapie.classification import SplitConformalClassifier
from scipy.special import softmax

import twoheads as th

rng = np.random.default_rng(0)
logits = rng.normal(scale=2.5, size=(2400, 6))
y = (softmax(logits / 1.7, axis=1).cumsum(axis=1) > rng.random((2400, 1))).argmax(axis=1)
human = np.where(rng.random(2400) < 0.85, y, rng.integers(0, 6, 2400))
X = np.column_stack([human, logits])
nobody = np.column_stack([np.full(2400, -1.0), logits])  # the same items, and no answers
fit, calibrate, new = slice(0, 400), slice(400, 1400), slice(1400, None)

team = th.recommended(model_scale="logit").fit(X[fit], y[fit])
sizes = {}
for name, inputs in {"model alone": nobody, "team": X}.items():
    conformal = SplitConformalClassifier(team, confidence_level=0.95, prefit=True)
    conformal.conformalize(inputs[calibrate], y[calibrate])
    in_set = conformal.predict_set(inputs[new])[1][:, :, 0]
    sizes[name] = in_set.sum(axis=1)
    covered = in_set[np.arange(len(in_set)), y[new]].mean()
    print(f"{name:12} {covered:.1%} of the sets contain the truth, {sizes[name].mean():.2f} labels on average")

# %%
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for shift, (name, values) in zip((-0.2, 0.2), sizes.items(), strict=True):
    ax.bar(np.arange(7) + shift, np.bincount(values, minlength=7) / len(values), 0.4, label=name)
ax.set(xlabel="labels in the set", ylabel="share of items")
ax.legend()

# %%
# ## On your own data
#
# The calibration items must be neither those of the fit nor those of use. Give logits or log-probabilities, because MAPIE tries a
# classifier on a row of zeros.
