from __future__ import annotations

import numpy as np
import pytest

import twoheads as th
from twoheads.testing import check_combiner
from twoheads.testing.combiners import CHECKS

COMBINERS = {
    "P+L": th.ProbabilityLabelCombiner,
    "recommended": th.recommended,
    "recommended, prior": lambda: th.recommended(class_prior="learn"),
    "vector, dependence": lambda: th.ProbabilityLabelCombiner(
        th.HierarchicalConfusion(), th.VectorScaling(), th.Dependence()
    ),
    "L+L": th.LabelLabelCombiner,
    "LR": th.LogisticCombiner,
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", COMBINERS.values(), ids=COMBINERS)
def test_combiner(make, check):
    check(make)


def test_a_combiner_that_always_prefers_the_first_class_is_caught():
    class Partial(th.LabelLabelCombiner):
        def log_joint(self, block):
            return super().log_joint(block) + 9.0 * np.arange(len(block.log_proba))[::-1, None]

    with pytest.raises(AssertionError):
        check_combiner(Partial)
