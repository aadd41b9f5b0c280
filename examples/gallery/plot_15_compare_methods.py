"""
# The paper's methods, side by side

One reader and one model; log loss of each method with few and with many labels, over several splits.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import log_loss

data = load_digit_readings(as_frame=True)
table = data.table.filter(regex="human_dev|linear").rename(columns={"human_dev": "human"})
table = table.rename(columns=lambda name: name.removeprefix("linear."))
rows = (table["human"].notna() & (table["human"] != "unsure")).to_numpy()
X, y = table[rows].reset_index(drop=True), data.truth[rows]

methods = {
    "P+L": th.ProbabilityLabelCombiner(),
    "SP": th.ProbabilityLabelCombiner(th.OneCoinConfusion()),
    "uncalibrated": th.ProbabilityLabelCombiner(calibrator=th.Identity()),
    "L+L": th.LabelLabelCombiner(),
    "recommended": th.recommended(),
}
sizes, rng = [20, 60, 200], np.random.default_rng(0)
losses = {name: np.zeros((3, len(sizes))) for name in methods}
for split in range(3):
    order = rng.permutation(len(y))
    held_out = order[250:]
    for at, n in enumerate(sizes):
        for name, method in methods.items():
            proba = method.fit(X.iloc[order[:n]], y[order[:n]]).predict_proba(X.iloc[held_out])
            losses[name][split, at] = log_loss(y[held_out], proba)

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name, values in losses.items():
    ax.plot(sizes, values.mean(axis=0), "o-", label=name)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="labels", ylabel="log loss, held out", ylim=(0, None))
ax.minorticks_off()
ax.legend()

# %%
# P+L does not gain from more labels here: reader and model err on the same images, and its product of the two counts their agreement
# in full. `recommended` corrects for that. The readers were simulated by us: this shows how to compare, not which method is best. For
# that see the evaluation of the recommended combiner, on real data.
#
# ## On your own data
#
# Split by item, use the same splits for all methods, and 25 of them. `twoheads study` runs the paper's own protocol.
