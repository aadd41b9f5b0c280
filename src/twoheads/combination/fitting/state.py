"""The state of a fit: a value that each stage replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.combination.class_prior import prior_terms
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.items.protocol import Items, Schema
from twoheads.combination.panel import Panel
from twoheads.combination.parts import Parts
from twoheads.combination.pool import ModelPool
from twoheads.combination.rivals import RivalList
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.dependence import Dependence
from twoheads.dependence.evidence import OutOfFoldLikelihood
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import Agreement


@dataclass(frozen=True)
class FitState:
    """The items, their statistics, and the parts fitted so far.

    items         with one model in place of several
    labelled      the labelled items among them, and their blocks while a stage needs them; None without labels
    em_blocks     blocks of all items, once EM is started
    sampled       whether the items are a sample of earlier ones
    single        whether there is one annotator, with one answer per item
    mean_overlap  whether answered items have two answers or more on average
    correlation   of answers on one item, as used in the crowd's counts
    correlation_share  factor on the prior of that correlation, below 1 where the answers' agreement contradicts it
    agreement     density of the model's log temperature from unlabelled items
    panel_members the annotators who will get a weight of their own; none without a panel
    out_of_fold   likelihood of labelled answers, from matrices fitted without their items, once it is needed
    """

    parts: Parts
    schema: Schema
    items: Items
    statistics: SufficientStatistics
    sampled: bool
    single: bool
    mean_overlap: bool
    confusion: Confusion
    calibrator: Calibrator
    dependence: Dependence | None
    response: ResponseModel | None
    pool: ModelPool | None
    prevalence: Floats
    panel_members: Codes
    labelled: Items | None = None
    labelled_blocks: Sequence[Block] = ()
    em_blocks: Sequence[Block] = ()
    correlation: float = 0.0
    correlation_share: float = 1.0
    agreement: Agreement | None = None
    out_of_fold: OutOfFoldLikelihood | None = None
    panel: Panel | None = None
    holdout: HoldoutRecord | None = None
    objective: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def rule(self) -> CombinationRule:
        """The combination rule with the parts as they are now."""
        prior, shift = prior_terms(self.parts.class_prior, self.prevalence, self.statistics, self.parts.dependence)
        return CombinationRule(
            self.confusion,
            self.calibrator,
            self.dependence,
            self.response,
            self.pool,
            prior,
            shift,
            None if self.holdout is None else self.holdout.preference(),
            self.schema.has_model,
            self.panel,
            self.schema.machines_beside_people if self.schema.machines else (),
        )

    @property
    def rivals(self) -> RivalList:
        """The members that the team is compared with."""
        return RivalList(
            self.schema.annotators,
            self.schema.models if self.schema.has_model else (),
            machines=self.schema.machines,
        )

    def without_blocks(self) -> FitState:
        """The same without the blocks, whose memory is then free."""
        return replace(self, labelled_blocks=(), em_blocks=())
