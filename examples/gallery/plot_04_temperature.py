"""
# The temperature of a model

One number says how over-confident a model is: T above 1 means over-confident. With few labels the prior matters.
"""

import matplotlib.pyplot as plt
import numpy as np

from twoheads import TemperatureScaling
from twoheads.datasets import load_digit_readings
from twoheads.report import TemperatureDisplay

data = load_digit_readings()
labelled = np.flatnonzero(data.y >= 0)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True)
for name, proba, ax in zip(data.observations.models, data.observations.model_proba, axes, strict=True):
    for n in (10, 300):
        scaling = TemperatureScaling().fit(proba[labelled[:n]], data.y[labelled[:n]])
        print(f"{name}: T = {scaling.temperature_:.2f} from {n} labels")
    TemperatureDisplay(scaling.log_temperature_, scaling.log_temperature_sd_, prior_mean=0.5, prior_sd=0.5).plot(ax=ax)
    ax.set_title(f"{name}, 300 labels")

# %%
# ## On your own data
#
# A calibrator is a scikit-learn classifier of the model's rows: `TemperatureScaling().fit(proba, y).predict_proba(proba)`. Inside a
# team it is `team.calibrator_`; `describe` says whether the model is significantly over-confident.
