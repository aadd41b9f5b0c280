"""
# What confidence is worth

Readers stated a confidence from 1 to 5. How often are answers at each level correct, and what does the team gain?
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt
import numpy as np

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import log_loss

data = load_digit_readings(as_frame=True)
table, held_out = data.table, data.y == -1

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name in ["ana", "chloe", "dev"]:
    answer = table[f"human_{name}"]
    answered = (answer.notna() & (answer != "unsure")).to_numpy()
    right = answer[answered].astype(int).to_numpy() == data.truth[answered]
    level = table[f"confidence_{name}"][answered].astype(int).to_numpy()
    ax.plot(
        range(1, 6),
        [right[level == at].mean() if (level == at).any() else np.nan for at in range(1, 6)],
        "o-",
        label=name,
    )
ax.set(xticks=range(1, 6), xlabel="stated confidence", ylabel="share of correct answers")
ax.legend()

# %%
# A bold reader's 4 (dev) is worth less than a cautious reader's 3 (chloe). The team calibrates levels for all readers together.

columns = {
    "answers alone": [name for name in table if not name.startswith("confidence_")],
    "with confidence": list(table),
}
for name, kept in columns.items():
    proba = th.recommended().fit(table[kept]).predict_proba(table[kept])
    print(f"{name:16} log loss {log_loss(data.truth[held_out], proba[held_out]):.3f}")

# %%
# ## On your own data
#
# A column `confidence_<name>` beside `human_<name>`, on any scale. Write "unsure" where a person looked and did not know.
