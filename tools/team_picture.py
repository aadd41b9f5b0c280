"""The picture of the README and of the site's first page: ``python -m tools.team_picture`` draws it again.

Errors of readers, models and the team on held-out items of the example data, whose readers are simulated.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import twoheads as th
from twoheads.datasets import load_digit_readings
from twoheads.evaluation import compare

PICTURE = Path(__file__).parents[1] / "docs" / "team.svg"
#: Readable on white and on black.
INK, PEOPLE, MODELS, TEAM = "#767676", "#E69F00", "#56B4E9", "#009E73"


def errors() -> list[tuple[str, str, float, float, float]]:
    """Name, colour, error and its interval in per cent, of each member and of the team."""
    data = load_digit_readings()
    held_out = data.y == -1
    team = th.recommended().fit(data.observations, data.y)
    found = compare(team, data.observations[held_out], data.truth[held_out], n_bootstrap=500)
    people = {"person": "one reader", "majority": "majority of readers", "crowd": "readers combined"}
    rows = [(people[rival.key], PEOPLE, rival.error) for rival in found.rivals if rival.key in people]
    rows += [(f"model {rival.name}", MODELS, rival.error) for rival in found.rivals if rival.key == "model"]
    rows.append(("readers and models", TEAM, found.combination.error))
    return [(name, colour, *(100 * end for end in (e.value, e.low, e.high))) for name, colour, e in rows]


def draw(path: Path = PICTURE) -> None:
    """Draw the picture, the same bytes every time."""
    plt.rcParams.update({"svg.hashsalt": "twoheads", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, ax = plt.subplots(figsize=(7.2, 2.6), layout="constrained")
    for at, (name, colour, value, low, high) in enumerate(errors()):
        ax.barh(at, value, color=colour, height=0.62)
        ax.plot([low, high], [at, at], color=INK, linewidth=1.5)
        ax.text(high + 0.3, at, f"{value:.1f} %", va="center", color=INK, fontsize=10)
        ax.text(-0.3, at, name, va="center", ha="right", color=INK, fontsize=10)
    ax.invert_yaxis()
    ax.set(yticks=[], xticks=[])
    ax.set_title("errors on 1,000 held-out images", color=INK, fontsize=10, loc="left")
    for side in ax.spines.values():
        side.set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    draw()
