"""``python -m benchmarks.honesty_panels [--repeats N]``: what is stated of members that may be related.

Three to nine people without a model, in five kinds of crowd, 30, 100 and 300 labels, judged on 3,000 fresh items: the
probability that members need weights of their own, by bins, beside how often these weights lower the log loss; and how
often the 90 % interval of the effective number of members has that of the fresh items. No constant was chosen on these
crowds. 40 repeats, about 600 fits, take a minute.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

import twoheads as th
from benchmarks.honesty_command import print_bins, repeats_and_seed
from twoheads.combination.panel import LEVEL
from twoheads.kernels.panel.votes import effective_members, error_correlation, votes_of
from twoheads.observations import as_observations

#: Errors given the truth are independent, also with matrices of any form; items are hard for all; members of a family
#: take the same items for the same wrong class; all but two members copy the first.
CROWDS = ("independent", "matrix", "difficulty", "families", "copies")
UNRELATED = CROWDS[:2]
SIZES, FRESH = (30, 100, 300), 3000
BINS = (0.0, 0.5, 0.7, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class PanelClaims:
    """What was stated of members: the chance of own weights, and what they lower the log loss by; the interval.

    covered  None where no two members answered one item
    """

    kind: str
    chance: float
    lowers: float
    covered: bool | None


def crowd_of(kind, rng):
    """A function from a number of items to a frame of answers and the truth, with parameters drawn for this crowd."""
    n_classes, n_people = int(rng.choice([2, 3, 5])), int(rng.integers(3, 10))
    accuracy, missing = rng.uniform(0.55, 0.92, n_people), rng.choice([0.0, 0.3])
    family, shared = rng.integers(0, 3, n_people), rng.uniform(0.3, 0.9)
    given_true = [
        np.array([rng.dirichlet(0.7 + 6 * own * (np.arange(n_classes) == true)) for true in range(n_classes)])
        for own in accuracy
    ]

    def draw(size):
        truth, hard = rng.integers(0, n_classes, size), rng.normal(0, 1.5, size)
        lure = (truth + rng.integers(1, n_classes, (3, size))) % n_classes
        luck, columns = rng.random((3, size)), {}
        for person, own in enumerate(accuracy):
            wrong, chance = (truth + rng.integers(1, n_classes, size)) % n_classes, rng.random(size)
            right = expit(logit(own) + hard) if kind == "difficulty" else np.full(size, own)
            if kind == "families":
                together = rng.random(size) < shared
                chance = np.where(together, luck[family[person]], chance)
                wrong = np.where(together, lure[family[person]], wrong)
            label = np.where(chance < right, truth, wrong)
            if kind == "matrix":
                label = np.minimum((chance[:, None] > given_true[person][truth].cumsum(axis=1)).sum(1), n_classes - 1)
            if kind == "copies" and person == 0:
                first = label
            if kind == "copies" and person > 1:
                label = np.where(rng.random(size) < 0.97, first, truth)
            columns[f"human_{person}"] = np.where(rng.random(size) < missing, -1, label)
        frame, known = pd.DataFrame(columns), (np.stack(list(columns.values())) >= 0).any(axis=0)
        return frame.mask(frame < 0)[known].astype("Int64"), truth[known]

    return draw


def panel_claims(kind, size, rng):
    """`PanelClaims` of a team fitted to one crowd; None where it has no panel."""
    draw = crowd_of(kind, rng)
    X, y = draw(size)
    new, truth = draw(FRESH)
    team = th.recommended().fit(X, y)
    if team.panel_ is None or len(team.classes_) <= truth.max():
        return None
    found = team.facts()["panel"]
    low, high = found["effective_members"][1:]
    votes = votes_of(as_observations(new, classes=team.classes_).answers, team.panel_.members_, len(team.classes_))
    n_members = len(team.panel_.members_)
    true = effective_members(error_correlation(votes, truth, np.ones(len(truth)), n_members, LEVEL)[0], n_members)
    with_weights = team.predict_log_proba(new)
    team.panel_ = None
    lowers = (with_weights - team.predict_log_proba(new))[np.arange(len(truth)), truth].mean()
    covered = None if low is None or np.isnan(true) else bool(low - 1e-9 <= true <= high + 1e-9)
    return PanelClaims(kind, found["own_weights"], float(lowers), covered)


def claims(sizes, repeats, seed):
    """`PanelClaims` by number of labels."""
    found = {size: [] for size in sizes}
    for size in sizes:
        for at, kind in enumerate(CROWDS):
            for repeat in range(repeats):
                each = panel_claims(kind, size, np.random.default_rng([seed, at, size, repeat]))
                found[size] += [] if each is None else [each]
    return found


def main():
    """Print bins of chances, and coverage."""
    given = repeats_and_seed(__doc__, repeats=40, seed=11)
    found = claims(SIZES, given.repeats, given.seed)
    every = [each for of_size in found.values() for each in of_size]
    for words, kinds in (("all crowds", CROWDS), ("unrelated members", UNRELATED)):
        here = [each for each in every if each.kind in kinds]
        chance, lowers = (np.array([getattr(each, name) for each in here]) for name in ("chance", "lowers"))
        print_bins(words, chance, lowers > 0, edges=BINS, others={"log loss lower by": lowers})
    for size, of_size in found.items():
        covered = [each.covered for each in of_size if each.covered is not None]
        print(f"effective members, 90 %, {size} labels: {np.mean(covered):.3f} of {len(covered)}")


if __name__ == "__main__":
    main()
