"""How likely two labellers have so many items wrong at once by chance."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from twoheads.kernels.inference.both_wrong import overlap_chances


@pytest.mark.parametrize(
    ("n", "first", "second"), [(10, 3, 4), (10, 8, 7), (5, 5, 2), (1, 1, 1), (20_000, 3000, 2500), (3000, 2900, 1500)]
)
def test_the_chances_of_an_overlap_are_hypergeometric(n, first, second):
    expected = hypergeom.pmf(np.arange(min(first, second) + 1), n, first, second)
    assert overlap_chances(n, first, second) == pytest.approx(expected, rel=1e-8, abs=1e-300)
