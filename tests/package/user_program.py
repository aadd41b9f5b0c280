"""A small program of a user, checked by ``mypy --strict`` and run: the types of the public names are usable."""

from __future__ import annotations

import numpy as np

import twoheads as th
from twoheads.datasets import DigitReadings, load_digit_readings
from twoheads.evaluation import Comparison, compare, error_rate, log_loss


def fitted(data: DigitReadings) -> th.ProbabilityLabelCombiner:
    team = th.recommended()
    team.fit(data.observations, data.y)
    return team


def judged(team: th.ProbabilityLabelCombiner, data: DigitReadings) -> Comparison:
    held_out = np.flatnonzero(data.y == -1)
    return compare(team, data.observations.take(held_out), data.truth[held_out], n_bootstrap=50)


def main() -> str:
    data = load_digit_readings()
    team = fitted(data)
    proba = team.predict_proba(data.observations)
    scores: dict[str, float] = {"error": error_rate(data.truth, proba), "log loss": log_loss(data.truth, proba)}
    plan: th.Plan = th.choose(team, data.observations.take(np.arange(20)), budget=3.0)
    explanation: th.Explanation = team.explain(data.observations.take(np.arange(2)))
    names: list[str] = list(explanation.parts)
    return f"{judged(team, data).headline()} {scores} {len(plan)} {names}"


if __name__ == "__main__":
    print(main())
