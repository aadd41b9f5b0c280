"""The formulas of the documentation have the constants of the code."""

from pathlib import Path

import pytest
from scipy.special import expit

from twoheads.combination.fitting import few_labels, panel_stage
from twoheads.kernels import priors
from twoheads.kernels.confusion import annotators, score_levels
from twoheads.kernels.dependence import agreement, grid, left_out, posterior, preference, witnesses
from twoheads.kernels.inference import believed

DOCS = Path(__file__).parents[2] / "docs"


def plain(number):
    """A number as docs/teams.md has it: .5, 10, 1,000."""
    return f"{number:,g}".removeprefix("0")


MODE = f"{expit(priors.LOGIT_CORRELATION_MEAN):.2f}".removeprefix("0")
MOST, FEWEST = witnesses.strength_items(20), witnesses.strength_items(10_000)
RATIO = f"{witnesses.MOST_RATIO:g}"

RECOMMENDED = (
    "within [{}, {}] e^(−τ); g = {}".format(*witnesses.MODEL_BOUNDS, witnesses.MODEL_SHARE),
    f"g is 1 − {1 - witnesses.model_share(1.0):.1f}/n for n answers per item",
    f"up to {MOST:,} items with truth and as many without ({20 * MOST:,}/K with more than 20 classes, but at least "
    f"{FEWEST})",
    f"π = (N + {witnesses.SHARE_LABELS:g} mean softmax(e^(−½) Z)) / (n + {witnesses.SHARE_LABELS:g})",
    f"^(n/(n + {witnesses.RATIO_LABELS:g})), with the ratio limited to [1/{RATIO}, {RATIO}]",
    f"location and scale from the calibrator: {priors.LOG_TEMPERATURE_MEAN}, {priors.LOG_TEMPERATURE_SD})",
    f"r ~ Normal({priors.PARTNER_CORRELATION_MEAN}, {priors.PARTNER_CORRELATION_SD}²)",
    f"{grid.MODEL_ALONE_LABELS:g}/({grid.MODEL_ALONE_LABELS:g} + n) times the log-likelihood of the model alone",
    f"above {posterior.MODE_LABELS:,} labels only the mode is used",
    f"at up to {agreement.ITEMS} of them",
    f"κ = min(1, {agreement.LABELS:g}/|U|)",
    f"A(τ + {agreement.SHIFT}) is added",
    f"Beta({priors.ACCURACY_RIGHT:g}, {priors.ACCURACY_WRONG:g}) is an accuracy and s a strength with log s ~ "
    f"Normal(log {priors.COLUMN_STRENGTH:g}, {priors.COLUMN_LOG_SD}²)",
    f"m = {priors.ONE_MATRIX_SHRINKAGE:g} for one person",
    f"Up to {few_labels.MOST_LABELS} labels, unlabelled items also inform the matrix",
    f"soft counts of up to {few_labels.MOST_UNLABELLED:,} of them",
    f"With up to {left_out.MOST_LABELS} labels the item is also left out",
    f"z = 1 − 2 I_½(b + {priors.ONLY_ONE_RIGHT:g}, c + {priors.ONLY_ONE_RIGHT:g})",
    f"log θ = z² {preference.CLOSE_CALL_LABELS:g}/({preference.CLOSE_CALL_LABELS:g} + n)",
    f"Between {100 * preference.SURE:g} and {100 * preference.UNSURE:g} % it moves",
)

TEAMS = (
    f"logit r ~ Normal(−{plain(-priors.LOGIT_CORRELATION_MEAN)}, {plain(priors.LOGIT_CORRELATION_SD)}), whose mode is "
    f"r = {MODE}",
    f"one of eight values from {plain(annotators.SPREAD[0])} to {plain(annotators.SPREAD[-1])}",
    f"one of fourteen from {plain(annotators.STRENGTH[0])} to {plain(annotators.STRENGTH[-1])}",
    f"With r = {plain(priors.EM_CORRELATION)}, EM",
    f"a Student t around EM's temperature with scale {plain(priors.AFTER_EM_SD)}.",
    f"shrunk towards {plain(priors.EVIDENT_AGREEMENT)}, with a weight of {plain(priors.AGREEMENT_ANSWERS)} answers",
    f"b ~ Normal({plain(priors.SEPARATION_MEAN)}, {plain(priors.SEPARATION_SD)}²)",
    f"1/(n v (1 − v)) + {plain(believed.SHARED_SD)}². Here n and v include two more answers",
    f"shrunk, with weight {plain(score_levels.MARGINAL_WEIGHT)}, to their distribution over all classes",
    f"as the levels of {plain(score_levels.SOFT_WEIGHT)} labels at most",
    f"up to nine values of s from {plain(priors.PANEL_SCALES[0])} to {plain(priors.PANEL_SCALES[-1])}",
    f"log s ~ Normal(0, {plain(priors.PANEL_LOG_SCALE_SD)}²)",
    f"The uncorrected posterior has prior weight {plain(priors.PANEL_UNCHANGED)}.",
    f"This stage needs {panel_stage.FEWEST_LABELS} labels",
    f"At most {panel_stage.MOST_MEMBERS} members",
    f"from at most {panel_stage.MOST_ITEMS:,} labelled items",
    f"as m^{plain(priors.MAJORITY_POWER)}",
    "prior worth {:g}, {:g} or {:g} labels".format(*priors.SHARES_STRENGTHS),
    f"log σ ~ Normal(log {plain(priors.SPREAD_MEDIAN)}, {plain(priors.SPREAD_LOG_SD)})",
    f"log s ~ Normal(log {plain(priors.PERSON_STRENGTH)}, {plain(priors.PERSON_LOG_SD)}²)",
)


@pytest.mark.parametrize(("page", "stated"), [("recommended.md", RECOMMENDED), ("teams.md", TEAMS)])
def test_formulas_have_the_constants_of_the_code(page, stated):
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    assert [each for each in stated if each not in text] == []
