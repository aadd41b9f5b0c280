"""Decide whether to ask one more person, whom, and about what."""

from __future__ import annotations

from twoheads.policy.asking import expected_gain
from twoheads.policy.choosing import Plan, choose
from twoheads.policy.simulation import AskingCurve, simulate_asking

__all__ = ["AskingCurve", "Plan", "choose", "expected_gain", "simulate_asking"]
