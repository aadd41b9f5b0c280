"""How far the correlation of answers on one item may be that of its prior, by how the answers agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.answers import vote_shares
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.groups import allowed_correlation
from twoheads.kernels.scoring.label_statistics import as_rater_sums, fleiss_kappa, rater_values


def correlation_share(blocks: Sequence[Block]) -> float:
    """`allowed_correlation` by Fleiss' kappa of all answers; 1 where no two are about the same item."""

    def kernel(block: Block) -> tuple[Floats]:
        assert block.answers is not None
        votes = vote_shares(block.answers, len(block.log_proba)) * block.answers.per_item()
        values = rater_values(votes.T)
        return (np.asarray(values.sum(axis=0) if block.weight is None else block.weight @ values),)

    (values,) = sum_blocks(kernel, blocks)
    sums = as_rater_sums(values)
    return allowed_correlation(float(fleiss_kappa(sums)), float(sums.values.sum() - sums.pairable))
