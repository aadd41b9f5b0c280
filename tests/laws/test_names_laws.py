"""What things are called, and the order in which they stand, changes no probability: of small tables of any kind.

Classes are renamed so that their order is reversed, with the class of high scores kept by name; scores are reversed,
and with them the class that they mean; people, judges and models change names and so their order; rows are shuffled.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items

#: Sums in another order round otherwise, and iterations carry it on.
ATOL = 1e-9
WHO = ("ann", "bob", "cid", "dan", "eve")


@dataclass(frozen=True)
class Table:
    """A random table, with classes by number.

    people, labels  codes by name, -1 where there is none; of people, and of judges
    scores, grades  numbers by name, which rise with class 1; of judges, and of people
    models          (n_items, n_classes) by name
    one_column      whether models give the probability of class 1 only
    """

    truth: np.ndarray
    known: np.ndarray
    n_classes: int
    weight: np.ndarray | None
    people: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    scores: dict = field(default_factory=dict)
    grades: dict = field(default_factory=dict)
    models: dict = field(default_factory=dict)
    one_column: bool = False

    def __len__(self):
        return len(self.truth)

    def shuffled(self, rows):
        """The items at these positions."""
        members = ("people", "labels", "scores", "grades", "models")
        taken = {kind: {name: column[rows] for name, column in getattr(self, kind).items()} for kind in members}
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, truth=self.truth[rows], known=self.known[rows], weight=weight, **taken)

    def renamed(self, who):
        """Members by other names."""
        members = ("people", "labels", "scores", "grades", "models")
        return replace(
            self, **{kind: {who[name]: column for name, column in getattr(self, kind).items()} for kind in members}
        )

    def reversed(self):
        """Scores that fall with class 1."""
        turned = {
            kind: {name: -column for name, column in getattr(self, kind).items()} for kind in ("scores", "grades")
        }
        return replace(self, **turned)

    def frame(self, names):
        """The table with these names of classes."""
        called = np.array([*names, None], dtype=object)
        columns = {f"human_{name}": called[codes] for name, codes in self.people.items()}
        columns |= {f"{name}.label": called[codes] for name, codes in self.labels.items()}
        columns |= {f"{name}.score": numbers for name, numbers in self.scores.items()}
        columns |= {f"human_{name}.score": numbers for name, numbers in self.grades.items()}
        for model, rows in self.models.items():
            for code in range(1 if self.one_column else 0, self.n_classes):
                columns[f"p_{names[code]}" if len(self.models) == 1 else f"{model}.p_{names[code]}"] = rows[:, code]
        return pd.DataFrame(columns)

    def fitted(self, names, positive=None):
        """A team's probabilities, (n_items, n_classes), in the order of the codes."""
        X = self.observed(names, positive)
        y = np.where(self.known, np.array(names, dtype=object)[self.truth], None) if self.known.any() else None
        team = th.recommended().fit(X, y, sample_weight=self.weight)
        place = [team.classes_.tolist().index(name) for name in names]
        return team.predict_proba(X)[:, place]

    def observed(self, names, positive=None):
        """The table as observations."""
        positive = (positive or names[-1]) if self.scores or self.grades else None
        return th.Observations.from_frame(self.frame(names), positive=positive, classes=sorted(names))


def answers(rng, truth, n_classes, missing):
    given = np.where(rng.random(len(truth)) < rng.uniform(0.4, 0.9), truth, rng.integers(n_classes, size=len(truth)))
    return np.where(rng.random(len(truth)) < missing, -1, given)


def numbers(rng, truth, missing):
    """Scores: continuous, grades from 0 to 9, or -1, 0 and 1."""
    found = rng.uniform(0.5, 2.0) * (2 * truth - 1) + rng.normal(size=len(truth))
    kind = rng.integers(3)
    if kind:
        found = np.clip(np.round(4.5 + 1.5 * found), 0, 9) if kind == 1 else np.clip(np.round(found), -1, 1)
    return np.where(rng.random(len(truth)) < missing, np.nan, found)


def probabilities(rng, truth, n_classes):
    """A model's rows: in eighths, with many ties, or of all digits."""
    share = 0.6 * np.eye(n_classes)[truth] + 0.4 * rng.dirichlet(np.ones(n_classes), len(truth))
    return np.array([rng.multinomial(8, row) for row in share]) / 8 if rng.random() < 0.5 else share


def table(seed, *, scores, grades=0):
    """From 5 to 60 items, up to 5 people, 2 judges and 2 models; all, some, few or no truth.

    grades  how many classes there are beside scores, if not two
    """
    rng = np.random.default_rng([seed, scores])
    n_items, n_classes = int(rng.integers(5, 61)), (grades or 2) if scores else int(rng.integers(2, 6))
    truth, missing = rng.integers(n_classes, size=n_items), float(rng.choice([0.0, 0.3]))
    n_people, n_models = int(rng.integers(0 if scores else 2, 6)), int(rng.integers(0, 3))
    n_scored = int(rng.integers(1, 4)) if scores else 0
    members = [(f"judge{at}", numbers(rng, truth, missing * (at > 0))) for at in range(n_scored)]
    of_people = rng.random(len(members)) < 0.3
    return Table(
        truth=truth,
        known=rng.random(n_items) < rng.choice([0.0, 0.0, 0.1, 0.4, 1.0]),
        n_classes=n_classes,
        weight=rng.choice([0.5, 1.0, 2.0, 3.7], n_items) if rng.random() < 0.3 else None,
        people={name: answers(rng, truth, n_classes, missing * (name != WHO[0])) for name in WHO[:n_people]},
        labels={"gpt": answers(rng, truth, n_classes, missing)} if rng.random() < 0.3 else {},
        scores=dict(each for each, own in zip(members, of_people, strict=True) if not own),
        grades=dict(each for each, own in zip(members, of_people, strict=True) if own),
        models={f"model{at}": probabilities(rng, truth, n_classes) for at in range(n_models)},
        one_column=n_classes == 2 and rng.random() < 0.5,
    )


def named(case):
    """Names of the classes in their order, and in the reverse of it."""
    return [f"c{at}" for at in range(case.n_classes)], [f"c{9 - at}" for at in range(case.n_classes)]


@pytest.mark.parametrize("scores", [False, True], ids=["labels", "scores"])
@pytest.mark.parametrize("seed", range(15))
def test_neither_names_nor_the_order_of_rows_change_a_probability(seed, scores):
    case = table(seed, scores=scores)
    names, others = named(case)
    expected, rng = case.fitted(names), np.random.default_rng(seed)
    np.testing.assert_allclose(case.fitted(others), expected, atol=ATOL, err_msg="names of classes")
    who = {name: f"{rng.permutation(9)[0]}{name}" for name in (*WHO, "gpt", "judge0", "judge1", "judge2")}
    who |= {"model0": "zoe", "model1": "alf"}
    np.testing.assert_allclose(case.renamed(who).fitted(names), expected, atol=ATOL, err_msg="names of members")
    rows = rng.permutation(len(case))
    np.testing.assert_allclose(case.shuffled(rows).fitted(names), expected[rows], atol=ATOL, err_msg="order of rows")
    if scores:
        turned = case.reversed()
        np.testing.assert_allclose(turned.fitted(names, names[0]), expected, atol=ATOL, err_msg="reversed scores")
        np.testing.assert_allclose(turned.fitted(others, others[0]), expected, atol=ATOL, err_msg="both")


@pytest.mark.parametrize("n_classes", [3, 4, 5])
@pytest.mark.parametrize("seed", range(8))
def test_grades_read_from_the_top_or_from_the_bottom_are_the_same(seed, n_classes):
    case = table(seed, scores=True, grades=n_classes)
    names, others = list(range(1, n_classes + 1)), [9 - at for at in range(n_classes)]
    expected, turned, rng = case.fitted(names), case.reversed(), np.random.default_rng(seed)
    for each, called, positive, what in (
        (turned, names, names[0], "reversed scores"),
        (case, others, others[-1], "reversed classes"),
        (turned, others, others[0], "both"),
    ):
        np.testing.assert_allclose(each.fitted(called, positive), expected, atol=ATOL, err_msg=what)
    rows = rng.permutation(len(case))
    np.testing.assert_allclose(case.shuffled(rows).fitted(names), expected[rows], atol=ATOL, err_msg="order of rows")
    who = {"judge0": "zoe", "judge1": "alf", "judge2": "judge", **dict(zip(WHO, WHO[::-1], strict=True))}
    who |= {name: name for name in ("gpt", "model0", "model1")}
    np.testing.assert_allclose(case.renamed(who).fitted(names), expected, atol=ATOL, err_msg="names of members")


@pytest.mark.parametrize("seed", range(6))
def test_a_monotone_function_of_grades_changes_nothing(seed):
    case = table(100 + seed, scores=True, grades=3)
    moved = replace(
        case,
        scores={name: np.exp(each / 4.0) for name, each in case.scores.items()},
        grades={name: 5.0 + each**3 for name, each in case.grades.items()},
    )
    np.testing.assert_array_equal(moved.fitted([1, 2, 3]), case.fitted([1, 2, 3]))


def scored_day(rng, *, even, n_classes=2):
    """Forty items of two judges, half of them with truth: if even, of all classes as often, so that nothing leans."""
    truth = np.arange(40) % n_classes if even else rng.integers(n_classes, size=40)
    known = np.arange(40) < 20 if even else rng.random(40) < 0.5
    return Table(
        truth, known, n_classes, None, scores={name: truth + rng.normal(size=40) for name in ("judge0", "judge1")}
    )


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_items_of_later_days_are_read_alike_too(seed, even):
    """Scores that were not seen at fit, learning on, and merging teams whose scores were cut elsewhere."""
    rng, found = np.random.default_rng(seed), []
    days = [scored_day(rng, even=even) for _ in range(3)]
    for names, at in ((["c0", "c1"], 1), (["c9", "c8"], 1), (["c0", "c1"], 0)):
        turned = [day if at else day.reversed() for day in days]
        seen = [day.observed(names, names[at]) for day in turned]
        truths = [np.where(day.known, np.array(names, dtype=object)[day.truth], None) for day in days]
        first, second = (th.recommended().fit(X, y) for X, y in zip(seen[:2], truths[:2], strict=True))
        learnt = th.recommended().fit(seen[0], truths[0]).partial_fit(seen[1], truths[1])
        place = [first.classes_.tolist().index(name) for name in names]
        found.append([team.predict_proba(seen[2])[:, place] for team in (first, learnt, first.merge(second))])
    np.testing.assert_allclose(found[1], found[0], atol=ATOL, err_msg="names of classes")
    np.testing.assert_allclose(found[2], found[0], atol=ATOL, err_msg="reversed scores")


@pytest.mark.parametrize("seed", range(3))
def test_grades_of_later_days_are_read_alike_too(seed):
    rng, found = np.random.default_rng(seed), []
    days, names = [scored_day(rng, even=False, n_classes=4) for _ in range(3)], [1, 2, 3, 4]
    for turn in (False, True):
        seen = [(day.reversed() if turn else day).observed(names, names[0] if turn else None) for day in days]
        truths = [np.where(day.known, day.truth + 1, -1) for day in days]
        first, second = (th.recommended().fit(X, y) for X, y in zip(seen[:2], truths[:2], strict=True))
        learnt = th.recommended().fit(seen[0], truths[0]).partial_fit(seen[1], truths[1])
        found.append([team.predict_proba(seen[2]) for team in (first, learnt, first.merge(second))])
    np.testing.assert_allclose(found[1], found[0], atol=ATOL)


@pytest.mark.parametrize("seed", range(9))
def test_a_table_in_chunks_on_disk_gives_the_same_answer(seed, tmp_path):
    case = replace(table(200 + seed, scores=seed % 2 == 0 or seed > 5, grades=seed - 3 if seed > 5 else 0), weight=None)
    names = named(case)[0] if seed < 6 else list(range(1, case.n_classes + 1))
    frame = case.frame(names).assign(truth=np.where(case.known, np.array(names, dtype=object)[case.truth], None))
    frame.insert(0, "item", [f"i{at}" for at in range(len(case))])
    frame.to_csv(tmp_path / "t.csv", index=False)
    positive = names[-1] if case.scores or case.grades else None
    read = tables.scan(tmp_path / "t.csv", classes=names, positive=positive)
    team = th.recommended().fit_items(open_items(read, max_numbers=10))
    np.testing.assert_allclose(team.predict_proba(case.observed(names)), case.fitted(names), atol=ATOL)


def test_two_answers_on_every_item_are_two_whatever_sums_of_weights_round_to():
    # Weights whose sum, taken twice, is more or less than the sum of all answers' weights, by the order of items.
    rng = np.random.default_rng(0)
    truth, weight = rng.integers(2, size=19), rng.choice([0.5, 1.0, 2.0, 3.7], 19)
    case = Table(truth, np.zeros(19, dtype=bool), 2, weight, {}, {}, {"a": numbers(rng, truth, 0.0)})
    case = replace(case, scores={**case.scores, "b": numbers(rng, truth, 0.0)}, models={"m": np.full((19, 2), 0.5)})
    expected = case.fitted(["c0", "c1"])
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(19)
        np.testing.assert_allclose(case.shuffled(rows).fitted(["c0", "c1"]), expected[rows], atol=ATOL)
