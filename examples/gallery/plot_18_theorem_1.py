"""
# A bound on the combination's accuracy

Theorem 1 of the paper bounds the accuracy from below. As published it can exceed the accuracy; corrected it cannot.
"""

import matplotlib.pyplot as plt
import numpy as np

from twoheads.evaluation import combination_accuracy_bound, human_confidence_ratio, model_confidence_ratio

rng = np.random.default_rng(0)
points = []
for _ in range(150):
    bias = rng.uniform(0.5, 0.95)
    phi = np.array([[bias, rng.uniform(0.1, 0.9)], [0, 0]])
    phi[1] = 1 - phi[0]  # columns sum to 1; a row need not
    y = rng.integers(0, 2, 400)
    human = (rng.random(400) > phi[0, y]).astype(int)
    model = np.clip(rng.beta(3, 2, 400), 0.01, 0.99)
    proba = np.where(y[:, None] == [0, 1], model[:, None], 1 - model[:, None])
    right = ((phi[human] * proba).argmax(axis=1) == y).mean()
    published = human_confidence_ratio(phi, human, y, published=True) * model_confidence_ratio(proba, y)
    points.append((right, (published > 1).mean(), combination_accuracy_bound(proba, phi, human, y)))
accuracy, published, corrected = np.array(points).T
print(f"published bound above the accuracy: {np.mean(published > accuracy + 1e-12):.0%} of the cases")
print(f"corrected bound above the accuracy: {np.mean(corrected > accuracy + 1e-12):.0%}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharey=True)
for ax, bound, name in zip(axes, (published, corrected), ("as published", "corrected"), strict=True):
    ax.plot(accuracy, bound, ".")
    ax.plot([0.4, 1], [0.4, 1], color="grey")
    ax.set(title=name, xlabel="accuracy", ylabel="bound" if ax is axes[0] else "")

# %%
# Of two classes the corrected bound is the accuracy itself; of more classes it is below it.
#
# ## On your own data
#
# `check_accuracy_bound(calibrated_proba, human_given_true, human_label, y)` puts the bound beside the measured accuracy; the report has it.
