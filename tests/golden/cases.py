"""The cases of the golden tests: teams, and what each is fitted on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from tests.golden.numbers import facts_of, numbers_of, trial_of
from tests.golden.simulation import observed, problem

import twoheads as th

PL = th.ProbabilityLabelCombiner
PAPER = ("P+L", "P+L-EM", "L+L", "SP", "LR", "Bayes", "uncalibrated", "ETS", "IMax")

TEAMS: dict[str, Callable[[], Any]] = {
    "recommended": th.recommended,
    "recommended, class prior learnt": partial(th.recommended, class_prior="learn"),
    "recommended, class prior given": partial(th.recommended, class_prior=[0.2, 0.3, 0.5]),
    "recommended, unlabelled weight 0": lambda: th.recommended().set_params(unlabelled_weight=0.0),
    "P+L": PL,
    "P+L, class prior learnt": partial(PL, class_prior="learn"),
    "P+L, class prior given": partial(PL, class_prior=[0.2, 0.3, 0.5]),
    "P+L, unlabelled weight 0.3": partial(PL, unlabelled_weight=0.3),
    "P+L, unlabelled weight 0": partial(PL, unlabelled_weight=0.0),
    "P+L, few iterations": partial(PL, max_iter=3, tol=1.0),
    "Bayes": lambda: PL(th.DirichletConfusion(estimate="mean"), th.TemperatureScaling(estimate="mean")),
    "likelihood": lambda: PL(
        th.DirichletConfusion(estimate="likelihood"), th.TemperatureScaling(estimate="likelihood")
    ),
    "SP": lambda: PL(th.OneCoinConfusion()),
    "SP, dependence": lambda: PL(th.OneCoinConfusion(), dependence=th.Dependence()),
    "hierarchical": lambda: PL(th.HierarchicalConfusion()),
    "temperature held": lambda: PL(calibrator=th.TemperatureScaling(log_temperature_sd=0.0)),
    "temperature held, dependence": lambda: PL(
        calibrator=th.TemperatureScaling(log_temperature_sd=0.0), dependence=th.Dependence()
    ),
    "identity": lambda: PL(calibrator=th.Identity()),
    "identity, dependence": lambda: PL(calibrator=th.Identity(), dependence=th.Dependence()),
    "vector": lambda: PL(calibrator=th.VectorScaling()),
    "vector, dependence": lambda: PL(calibrator=th.VectorScaling(), dependence=th.Dependence()),
    "Dirichlet": lambda: PL(calibrator=th.DirichletCalibration()),
    "ensemble": lambda: PL(calibrator=th.EnsembleTemperatureScaling()),
    "I-Max": lambda: PL(calibrator=th.IMaxBinning(n_bins=5)),
    "L+L": th.LabelLabelCombiner,
    "LR": th.LogisticCombiner,
    "LR on m": partial(th.LogisticCombiner, features="probability"),
    **{f"paper, {method}": partial(th.paper_2021, method) for method in PAPER},
}

_EVERY = ("all", "some", "no")

#: team: (table, how much truth) of its cases
FITS: dict[str, tuple[tuple[str, str], ...]] = {
    "recommended": (
        *product(("one person", "crowd", "two models", "gaps", "confidence", "no model"), _EVERY),
        ("two classes", "some"),
        ("one unsure person", "some"),
        ("many items", "some"),
        ("very many items", "all"),
    ),
    "recommended, class prior learnt": (("gaps", "some"), ("no model", "no")),
    "recommended, class prior given": (("gaps", "all"), ("gaps", "no"), ("two models", "some")),
    "recommended, unlabelled weight 0": (("crowd", "some"), ("one person", "some")),
    "P+L": (
        *product(("one person", "crowd", "two models", "confidence"), _EVERY),
        ("gaps", "some"),
        ("no model", "no"),
        ("two classes", "no"),
        ("very many items", "all"),
    ),
    "P+L, class prior learnt": (("gaps", "some"), ("no model", "some")),
    "P+L, class prior given": (("gaps", "some"),),
    "P+L, unlabelled weight 0.3": (("one person", "some"), ("confidence", "some")),
    "P+L, unlabelled weight 0": (("crowd", "some"),),
    "P+L, few iterations": (("crowd", "no"),),
    "Bayes": (("one person", "all"), ("crowd", "some"), ("one person", "no")),
    "likelihood": (("one person", "all"), ("crowd", "some"), ("two classes", "no")),
    "SP": (("one person", "some"), ("crowd", "no"), ("two models", "all")),
    "SP, dependence": (("one person", "all"), ("crowd", "some")),
    "hierarchical": (("crowd", "all"), ("one person", "some"), ("confidence", "no")),
    "temperature held": (("one person", "some"),),
    "temperature held, dependence": (("one person", "some"), ("crowd", "no")),
    "identity": (("crowd", "some"),),
    "identity, dependence": (("one person", "all"), ("one person", "no"), ("two models", "some")),
    "vector": (("one person", "all"), ("crowd", "some"), ("two models", "all")),
    "vector, dependence": (("crowd", "all"), ("one person", "some"), ("one person", "no")),
    "Dirichlet": (("one person", "all"), ("crowd", "some")),
    "ensemble": (("one person", "all"), ("crowd", "some")),
    "I-Max": (("one person", "all"), ("crowd", "some")),
    "L+L": (("one person", "some"), ("crowd", "all")),
    "LR": (("one person", "some"), ("crowd", "all")),
    "LR on m": (("two classes", "all"),),
    **{f"paper, {method}": (("one person", "all"),) for method in PAPER},
}


@dataclass(frozen=True)
class Case:
    """A fitted team, by name, and the table whose fresh items it is tried on."""

    name: str
    table: str
    fitted: Callable[[], Any]

    def pinned(self) -> dict[str, list[Any]]:
        """Everything that is pinned of the case."""
        return pinned(self.fitted(), self.table)


def pinned(team: Any, table: str) -> dict[str, list[Any]]:
    """Everything that is pinned of a fitted team."""
    return dict([*numbers_of(team), *facts_of(team), *trial_of(team, observed(problem(table).fresh))])


def fit_cases() -> Iterator[Case]:
    """One fit each, in memory."""
    for team, data in FITS.items():
        for table, share in data:
            yield Case(f"{team} / {table} / {share} truth", table, partial(fitted, team, table, share))


def fitted(team: str, table: str, share: str) -> Any:
    """A team fitted in memory."""
    data = problem(table)
    return TEAMS[team]().fit(observed(data.table), data.known(share))


def continued(team: str, table: str, share: str, forget: float = 0.0) -> Any:
    """A team that was fitted on a third of the items, then on the rest, where somebody new answers."""
    (first, y), (rest, z) = _parts(table, share)
    return TEAMS[team]().partial_fit(first, y).partial_fit(rest, z, forget=forget)


def merged(team: str, table: str, share: str) -> Any:
    """One team of two that were fitted on different items."""
    one, other = (TEAMS[team]().fit(X, y) for X, y in _parts(table, share))
    return one.merge(other)


def _parts(table: str, share: str) -> Iterator[tuple[Any, Any]]:
    data = problem(table)
    third = len(data.table) // 3
    known = data.known(share)
    rest = data.table[third:].rename(columns={"human_ann": "human_amy", "confidence_ann": "confidence_amy"})
    yield observed(data.table[:third]), known[:third]
    yield observed(rest), known[third:]


def weighted(team: str, table: str, share: str) -> Any:
    """A team whose items count differently."""
    data = problem(table)
    weight = 0.5 + np.arange(len(data.table)) % 4
    return TEAMS[team]().fit(observed(data.table), data.known(share), sample_weight=weight)


def changed_after_fit(table: str, share: str, **parameters: Any) -> Any:
    """A recommended team whose parameters are set after its fit."""
    return fitted("recommended", table, share).set_params(**parameters)


def on_logits(team: str, table: str, share: str) -> Any:
    """A team whose model gives logits; the fresh rows are read as logits, too."""
    data = problem(table)
    logs = {name: np.log(np.maximum(data.table[name], 1e-9)) for name in data.table if "p_" in name}
    return TEAMS[team]().set_params(model_scale="logit").fit(data.table.assign(**logs), data.known(share))


def other_cases() -> Iterator[Case]:
    """Fits in several steps, weights, and parameters set after the fit."""
    for team, table, share in (
        ("recommended", "one person", "all"),
        ("recommended", "crowd", "some"),
        ("recommended", "confidence", "no"),
        ("recommended", "two models", "some"),
        ("recommended", "no model", "some"),
        ("recommended", "many items", "some"),
        ("P+L", "crowd", "all"),
        ("P+L", "gaps", "some"),
        ("Bayes", "one person", "some"),
        ("vector, dependence", "one person", "all"),
    ):
        where = f"{team} / {table} / {share} truth"
        yield Case(f"{where} / partial_fit", table, partial(continued, team, table, share))
        yield Case(f"{where} / merge", table, partial(merged, team, table, share))
    for team in ("recommended", "P+L"):
        forgetful = partial(continued, team, "crowd", "some", forget=0.3)
        yield Case(f"{team} / crowd / some truth / partial_fit, forget", "crowd", forgetful)
        for table in ("one person", "gaps"):
            yield Case(f"{team} / {table} / some truth / weights", table, partial(weighted, team, table, "some"))
    case = partial(changed_after_fit, "gaps", "some", class_prior=[0.5, 0.25, 0.25])
    yield Case("recommended / gaps / some truth / class prior after fit", "gaps", case)
    logits = partial(on_logits, "recommended", "one person", "some")
    yield Case("recommended / one person / some truth / logits", "one person", logits)
