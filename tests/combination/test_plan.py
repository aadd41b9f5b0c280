"""Which stages a fit has: the table in `twoheads.combination.fitting.plan`, row by row."""

from __future__ import annotations

from itertools import product

import pytest

from twoheads.combination.fitting.fit import _STAGES
from twoheads.combination.fitting.plan import Stage, plan_fit

S = Stage


@pytest.mark.parametrize("has_unlabelled", [True, False])
@pytest.mark.parametrize(
    ("has_dependence", "mean_overlap", "has_model", "stages"),
    [
        (False, False, True, (S.START, S.EM)),
        (False, False, False, (S.START, S.EM)),
        (False, True, True, (S.START, S.EM)),
        (False, True, False, (S.VOTES, S.EM)),
        (True, False, True, (S.START, S.AGREEMENT, S.HELD_TEMPERATURE, S.EM_OF_MATRICES)),
        (True, False, False, (S.START, S.AGREEMENT, S.HELD_TEMPERATURE, S.EM_OF_MATRICES)),
        (True, True, True, (S.START, S.EM, S.DEPENDENCE_FROM_PRIOR)),
        (True, True, False, (S.VOTES, S.EM, S.DEPENDENCE_FROM_PRIOR)),
    ],
)
def test_without_labels(has_unlabelled, has_dependence, mean_overlap, has_model, stages):
    found = plan_fit(
        has_labels=False,
        has_unlabelled=has_unlabelled,
        has_dependence=has_dependence,
        mean_overlap=mean_overlap,
        has_model=has_model,
    )
    assert found == stages


@pytest.mark.parametrize("has_model", [True, False])
@pytest.mark.parametrize(
    ("has_unlabelled", "has_dependence", "mean_overlap", "stages"),
    [
        (False, False, False, (S.COUNTS,)),
        (False, False, True, (S.COUNTS,)),
        (True, False, False, (S.COUNTS, S.EM)),
        (True, False, True, (S.COUNTS, S.EM)),
        (False, True, False, (S.COUNTS, S.DEPENDENCE)),
        (False, True, True, (S.COUNTS, S.DEPENDENCE)),
        (True, True, False, (S.COUNTS, S.AGREEMENT, S.FEW_LABELS, S.DEPENDENCE)),
        (True, True, True, (S.COUNTS, S.EM, S.DEPENDENCE_AFTER_EM)),
    ],
)
def test_with_labels(has_unlabelled, has_dependence, mean_overlap, has_model, stages):
    found = plan_fit(
        has_labels=True,
        has_unlabelled=has_unlabelled,
        has_dependence=has_dependence,
        mean_overlap=mean_overlap,
        has_model=has_model,
    )
    if S.EM in stages and mean_overlap and (has_dependence or not has_model):  # it starts as without labels
        stages = (S.COUNTS, S.START if has_model else S.VOTES, *stages[1:])
    assert found == stages


@pytest.mark.parametrize("has_unlabelled", [True, False])
def test_a_panel_comes_last(has_unlabelled):
    given = {"has_unlabelled": has_unlabelled, "mean_overlap": True, "has_model": True, "has_panel": True}
    plain = plan_fit(has_labels=True, has_dependence=True, **(given | {"has_panel": False}))
    assert plan_fit(has_labels=True, has_dependence=True, **given) == (*plain, S.PANEL)
    assert S.PANEL not in plan_fit(has_labels=True, has_dependence=False, **given)
    assert S.PANEL not in plan_fit(has_labels=False, has_dependence=True, **given)


def test_every_stage_is_used_and_can_be_run():
    names = ("has_labels", "has_unlabelled", "has_dependence", "mean_overlap", "has_model", "has_panel")
    plans = [plan_fit(**dict(zip(names, each, strict=True))) for each in product([True, False], repeat=6)]
    assert {stage for plan in plans for stage in plan} == set(Stage) == set(_STAGES)
