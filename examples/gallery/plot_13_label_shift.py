"""
# Other class shares than at fit

A team fitted where all classes are equally common is used where one of them is rare.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.evaluation import log_loss

rng = np.random.default_rng(0)


def world(shares, n):
    """Model rows and answers of classes with these shares; what a class looks like does not change."""
    y = rng.choice(3, n, p=shares)
    logits = 1.2 * np.eye(3)[y] + rng.normal(size=(n, 3))
    model = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    human = np.where(rng.random(n) < 0.7, y, rng.integers(0, 3, n))
    return np.column_stack([human, model]), y


X, y = world([1 / 3, 1 / 3, 1 / 3], 500)
X_new, y_new = world([0.80, 0.15, 0.05], 500)
fixed, adapting = th.recommended().fit(X, y), th.recommended(class_prior="shift").fit(X, y)
for name, team in {"as at fit": fixed, "adapting": adapting}.items():
    print(f"{name:10} log loss {log_loss(y_new, team.predict_proba(X_new)):.3f}")

# %%
found = adapting.class_shares(X_new)
print(found.sentence())
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
at = np.arange(3)
ax.bar(at - 0.2, found.at_fit, 0.4, label="at fit", color="#999999")
ax.bar(at + 0.2, found.shares, 0.4, label="believed now", color="#0072B2")
ax.errorbar(
    at + 0.2, found.shares, yerr=[found.shares - found.low, found.high - found.shares], fmt="none", color="black"
)
ax.plot(at + 0.2, np.bincount(y_new, minlength=3) / len(y_new), "x", color="black", label="true now")
ax.set(xticks=at, xlabel="class", ylabel="share")
ax.legend()

# %%
# ## On your own data
#
# `recommended(class_prior="shift")`, or `twoheads combine ... --class-shares learn`. Where you know the shares, give them:
# `class_prior={"ill": 0.01, "healthy": 0.99}`.
