"""
# One model, another model, both

What a second model adds beside five readers. Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import error_rate, log_loss

data = load_digit_readings(as_frame=True)
held_out = data.y == -1
left_out = {"people and bayes": "linear.", "people and linear": "bayes.", "people and both": "-"}

found = {}
for name, prefix in left_out.items():
    table = data.table[[column for column in data.table if not column.startswith(prefix)]]
    proba = th.recommended().fit(table).predict_proba(table)[held_out]
    found[name] = 100 * error_rate(data.truth[held_out], proba), log_loss(data.truth[held_out], proba)
    print(f"{name:18} {found[name][0]:.1f} % wrong, log loss {found[name][1]:.3f}")

# %%
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.barh(list(found), [loss for _, loss in found.values()], color="#0072B2")
ax.set(xlabel="log loss, held out")
ax.invert_yaxis()

# %%
# Both models beside the readers are better than `bayes` alone and no better than `linear` alone: two models that see the same
# pixels bring little more than the better of them. Compare on held-out items before you add a model.
#
# ## On your own data
#
# Columns `<model>.p_<class>` for each model. `team.pool_.weight_` has the weights. Models must not have been trained on these
# items: use out-of-fold probabilities.
