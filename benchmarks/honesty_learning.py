"""What a learning curve says: the interval of the gain over the last doubling of labels, and its verdict.

The true gain is that of teams fitted to labels drawn anew. "More labels help" is right if twice as many lower the
error, "flat" if they lower it by less than a point.
"""

import numpy as np
from sklearn.base import clone

import twoheads as th
from benchmarks.honesty_worlds import world_of
from twoheads.evaluation import learning_curve

WORLDS = ("independent", "shared difficulty", "weak model", "adversary")
SIZES = (60, 100, 300, 1000)
TEAM = th.ProbabilityLabelCombiner()
FRESH, DRAWS = 3000, 15


def of_learning(repeats, table):
    """The same worlds as those of teams, with one draw of the parameters per repeat."""
    for place, world in enumerate(WORLDS):
        for size in SIZES:
            for repeat in range(2 * repeats):
                rng = np.random.default_rng([place, size, repeat])
                draw = world_of(world, rng)
                X, y = draw(size)
                if len(np.unique(y)) < X.shape[1] - 1:
                    continue
                most = size - round(size / 4)
                curve = learning_curve(TEAM, X, y, sizes=[most // 2, most], random_state=repeat)
                new, truth = draw(FRESH)
                half, whole, twice = (true_error(draw, n, new, truth) for n in (most // 2, most, 2 * most))
                held = curve.gain.low <= half - whole <= curve.gain.high
                table["gain of the last doubling, 95 %", world][size].append((held, np.nan))
                verdict = curve.verdict()
                if "more labels help;" in verdict:
                    table["more labels help, 95 %", "all simulated worlds"][size].append((whole > twice, np.nan))
                if "flat" in verdict:
                    table["the curve is flat, 95 %", "all simulated worlds"][size].append(
                        (whole - twice < 0.01, np.nan)
                    )


def true_error(draw, size, new, truth):
    """The mean error of teams fitted to so many labels, on fresh items."""
    errors = []
    for _ in range(DRAWS):
        team = clone(TEAM).fit(*draw(size))
        errors.append(np.mean(team.predict(new) != truth))
    return np.mean(errors)
