"""
# The paper's methods, side by side

One reader and one model: the log loss of each method with its interval, and against the number of labels.
Example data: real images and classifiers, **simulated readers**.
"""

import matplotlib.pyplot as plt

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import compare_methods, method_curves
from twoheads.report import MethodCurvesDisplay, MethodsDisplay

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

# %%
# Cross-validated on the same folds, the model and the reader alone beside them; p-values of the paired differences from P+L are
# corrected for the number of rows.
found = compare_methods(methods, X, y, reference="P+L")
print(found)

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
MethodsDisplay(found, "log_loss").plot(ax)

# %%
# The same with few and with many labels, all methods on the same draws. Items beyond the first n are in the fit without their truth.
curves = method_curves(methods, X, y, sizes=[0, 20, 60, 200], n_repeats=3)
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
MethodCurvesDisplay(curves, "log_loss").plot(ax)

# %%
# P+L does not gain from more labels here: reader and model err on the same images, and its product of the two counts their agreement
# in full. `recommended` corrects for that. The readers were simulated by us: this shows how to compare, not which method is best. For
# that see the evaluation of the recommended combiner, on real data.
#
# ## On your own data
#
# `twoheads compare labelled.csv --methods recommended,P+L,L+L` prints the table; with `-o methods.tex` it is one for LaTeX.
# `twoheads study` runs the paper's own protocol.
