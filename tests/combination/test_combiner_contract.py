from __future__ import annotations

import pytest

import twoheads as th
from twoheads.testing.combiners import CHECKS

COMBINERS = {
    "P+L": th.ProbabilityLabelCombiner,
    "recommended": th.recommended,
    "recommended, guard": lambda: th.recommended(guard=True),
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
