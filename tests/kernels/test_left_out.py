"""Predictions under the posterior of the parameters without the item itself."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from twoheads.kernels.dependence.left_out import left_out_probas


@pytest.mark.parametrize("weight", [None, np.array([2.0, 0.5, 7.0, 1.0])], ids=["no weights", "weights"])
def test_nodes_are_weighted_as_if_the_item_had_not_been_seen(weight):
    rng = np.random.default_rng(0)
    logits, plain, alone = (rng.normal(0, scale, (n, 2, 4)) for scale, n in ((2, 3), (2, 2), (1, 2)))
    truth, prior, item = np.array([0, 1, 1, 0]), np.array([0.5, 0.3, 0.2]), np.arange(4)
    temperature_of = np.array([1, 0, 1])  # the first and the last node have the same temperature
    combined = log_softmax(logits, axis=1)
    each = combined[:, truth, item] + 0.4 * log_softmax(alone[temperature_of], axis=1)[:, truth, item]
    each = each if weight is None else each * weight
    posterior = softmax(np.log(prior) + each.sum(axis=1))
    found = left_out_probas(logits, plain, alone, temperature_of, posterior, truth, weight, alone_weight=0.4)
    for at in item:
        others = softmax(np.log(prior) + np.delete(each, at, axis=1).sum(axis=1))
        np.testing.assert_allclose(found[0][:, at], others @ np.exp(combined[:, :, at]))
        np.testing.assert_allclose(found[1][:, at], others @ softmax(plain[temperature_of, :, at], axis=1))
