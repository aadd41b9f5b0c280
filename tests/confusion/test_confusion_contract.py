from __future__ import annotations

from functools import partial

import pytest

from twoheads.confusion import DirichletConfusion, HierarchicalConfusion, OneCoinConfusion
from twoheads.testing import check_confusion
from twoheads.testing.confusions import CHECKS

CONFUSIONS = {
    "Dirichlet": DirichletConfusion,
    "Dirichlet-mean": partial(DirichletConfusion, estimate="mean"),
    "OneCoin": OneCoinConfusion,
    "OneCoin-mean": partial(OneCoinConfusion, estimate="mean"),
    "Hierarchical": HierarchicalConfusion,
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", CONFUSIONS.values(), ids=CONFUSIONS)
def test_confusion(make, check):
    check(make)


def test_an_estimate_whose_columns_do_not_sum_to_one_is_caught():
    class Doubled(DirichletConfusion):
        def given_true(self, counts):
            return 2.0 * super().given_true(counts)

    with pytest.raises(AssertionError):
        check_confusion(Doubled)
