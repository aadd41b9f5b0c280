"""Problems on which laws are checked, simulated with known parameters, and all the parts to solve them with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from twoheads.calibration.dirichlet import DirichletCalibration
from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.calibration.identity import Identity
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.calibration.vector import VectorScaling
from twoheads.combination import LabelLabelCombiner, LogisticCombiner, ProbabilityLabelCombiner, recommended
from twoheads.confusion import DirichletConfusion, HierarchicalConfusion, OneCoinConfusion
from twoheads.dependence import Dependence

#: A model's probability below this is read as this.
FLOOR = float(np.finfo(np.float32).tiny)

CONFUSIONS = {
    "Dirichlet mode": DirichletConfusion(),
    "Dirichlet mean": DirichletConfusion(estimate="mean"),
    "Dirichlet likelihood": DirichletConfusion(estimate="likelihood"),
    "one coin mode": OneCoinConfusion(),
    "one coin likelihood": OneCoinConfusion(estimate="likelihood"),
    "hierarchical": HierarchicalConfusion(),
}
CALIBRATORS = {
    "identity": Identity(),
    "temperature mode": TemperatureScaling(),
    "temperature mean": TemperatureScaling(estimate="mean"),
    "temperature likelihood": TemperatureScaling(estimate="likelihood"),
    "temperature held": TemperatureScaling(log_temperature_sd=0),
    "ensemble": EnsembleTemperatureScaling(),
    "I-Max": IMaxBinning(n_bins=5),
    "I-Max class-wise": IMaxBinning(n_bins=3, mode="class_wise"),
    "vector": VectorScaling(),
    "Dirichlet": DirichletCalibration(),
}
COMBINERS = (
    {
        f"P+L, {how} confusion, {what}": ProbabilityLabelCombiner(confusion, calibrator)
        for how, confusion in CONFUSIONS.items()
        for what, calibrator in CALIBRATORS.items()
    }
    | {f"L+L, {how}": LabelLabelCombiner(confusion) for how, confusion in CONFUSIONS.items()}
    | {
        "recommended": recommended(),
        "P+L, dependence, vector": ProbabilityLabelCombiner(DirichletConfusion(), VectorScaling(), Dependence()),
    }
    | {"LR on log m": LogisticCombiner(), "LR on m": LogisticCombiner(features="probability")}
)


@dataclass(frozen=True)
class Problem:
    """Items with an answer, a model's row and a truth.

    human   (n_items,) codes, -1 where nobody was asked
    model   (n_items, n_classes) probabilities
    truth   (n_items,) codes
    weight  (n_items,) whole numbers from 1 to 3
    rng     for shuffles and the like
    """

    human: np.ndarray
    model: np.ndarray
    truth: np.ndarray
    weight: np.ndarray
    rng: np.random.Generator

    @property
    def X(self) -> np.ndarray:
        return np.column_stack([self.human, self.model])

    @property
    def n_classes(self) -> int:
        return self.model.shape[1]

    @property
    def log_model(self) -> np.ndarray:
        """Log of the model's rows, floored, (n_items, n_classes)."""
        return np.log(np.maximum(self.model, FLOOR))

    def __len__(self) -> int:
        return len(self.truth)


def simulate(n_items, n_classes, seed, *, accuracy=0.7, sharpness=2.0, temperature=1.5, unasked=0.0, extreme=0.0):
    """A problem in which the model is ``temperature`` times too confident and its calibrated rows draw the truth."""
    rng = np.random.default_rng(seed)
    logits = sharpness * rng.normal(size=(n_items, n_classes))
    calibrated = softmax(logits / temperature)
    truth = np.minimum((calibrated.cumsum(axis=1) < rng.random((n_items, 1))).sum(axis=1), n_classes - 1)
    human = np.where(rng.random(n_items) < accuracy, truth, rng.integers(0, n_classes, n_items))
    human[rng.random(n_items) < unasked] = -1
    model = softmax(logits)
    certain = rng.random(n_items) < extreme
    model[certain] = np.eye(n_classes)[rng.integers(0, n_classes, certain.sum())]
    return Problem(human, model, truth, rng.integers(1, 4, n_items), rng)


def softmax(logits):
    """Rows of probabilities."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


_N_CLASSES, _N_ITEMS, _UNASKED = st.integers(2, 6), st.integers(1, 60), st.sampled_from([0.0, 0.2])


@st.composite
def problems(draw, n_classes=_N_CLASSES, n_items=_N_ITEMS, unasked=_UNASKED):
    """Problems from easy to hopeless, with models from vague to certain, rows of exact zeros and ones among them."""
    return simulate(
        draw(n_items),
        draw(n_classes),
        draw(st.integers(0, 2**32 - 1)),
        accuracy=draw(st.sampled_from([0.0, 0.5, 0.9, 1.0])),
        sharpness=draw(st.sampled_from([0.1, 1.0, 4.0, 30.0])),
        temperature=draw(st.sampled_from([0.5, 1.0, 3.0])),
        unasked=draw(unasked),
        extreme=draw(st.sampled_from([0.0, 0.2])),
    )


def asked(problem: Problem) -> Problem:
    """The same problem where somebody answers every item."""
    return Problem(np.maximum(problem.human, 0), problem.model, problem.truth, problem.weight, problem.rng)
