"""A check names the same columns for the same roles as a fit does, and its command fits the team that it described."""

import shlex

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from crowds import written
from twoheads import tables
from twoheads.cli.running import run
from twoheads.tables.checking.cells import is_blank
from twoheads.tables.formats.data_file import NO_VALUE

CLASSES = (("no", "yes"), ("0", "1"), (0.0, 1.0), (0, 1), (False, True), ("cat", "dog", "emu"), ("2", "10", "9"))
SUFFIXES = ("csv", "parquet", "jsonl")


class Maker:
    """Makes a table of some members of every kind, and notes the roles that the documentation gives its columns."""

    def __init__(self, seed, n=60):
        self.rng, self.n, self.names = np.random.default_rng(seed), n, CLASSES[seed % len(CLASSES)]
        self.classes = np.array(self.names, dtype=object)
        self.texts = [str(int(name)) if isinstance(name, float) else str(name) for name in self.names]
        self.truth = self.rng.integers(0, len(self.names), n)
        kinds = ("people", "labels", "scores", "models", "confidence")
        self.roles = {kind: {} for kind in kinds} | {"truth": None, "item": None}
        self.columns = {}

    def some(self, chance):
        return self.rng.random() < chance

    def add(self, kind, name, column, values):
        self.columns[column], self.roles[kind][name] = values, column

    def answers(self):
        codes = np.where(self.rng.random(self.n) < 0.7, self.truth, self.rng.integers(0, len(self.names), self.n))
        return np.where(self.rng.random(self.n) < 0.2, None, self.classes[codes])

    def people(self):
        people = ["human"] if self.some(0.2) else ["human_ann", "human_dev", "human_Dr X"][: self.rng.integers(1, 4)]
        for column in people:
            values, name = self.answers(), column.removeprefix("human_")
            if self.some(0.3) and len(self.names) > 2:
                values[0] = "Unsure"
            if self.some(0.15) and isinstance(self.names[0], str):
                values[1:] = None  # who has answered once at most
            self.add("people", name, column, values)
            if self.some(0.3):
                sure = "confidence" if column == "human" else f"confidence_{name}"
                self.add("confidence", name, sure, self.rng.integers(1, 6, self.n))

    def scorers(self):
        if self.some(0.2):
            self.add("scores", "expert", "expert.score", self.rng.normal(size=self.n))
        if self.some(0.3):
            grades = self.rng.integers(0, 11, self.n)
            self.add("scores", "zz", "zz.score", np.where(self.rng.random(self.n) < 0.2, np.nan, grades))
        if self.some(0.3):
            self.add("scores", "gus", "human_gus.score", self.rng.integers(1, 8, self.n))

    def models(self):
        for model in ([], ["model"], ["gpt"], ["gpt", "vit v1"])[self.rng.integers(4)]:
            rows = self.rng.dirichlet(np.ones(len(self.names)), self.n) + np.eye(len(self.names))[self.truth]
            before = "" if model == "model" else f"{model}."
            kept = range(1, 2) if len(self.names) == 2 and self.some(0.3) else range(len(self.names))
            self.roles["models"][model] = {self.texts[at]: f"{before}p_{self.texts[at]}" for at in kept}
            self.columns |= {f"{before}p_{self.texts[at]}": rows[:, at] / rows.sum(axis=1) for at in kept}

    def labellers(self):
        if self.some(0.5) or not (self.roles["models"] or self.roles["scores"]):
            self.add("labels", "mistral", "mistral.label", self.answers())
        if self.some(0.3):
            self.add("labels", "qwen 2.5-3b", "qwen 2.5-3b.label", self.answers())

    def known(self):
        if self.some(0.7):
            self.roles["item"] = ("item", "task")[self.rng.integers(2)]
            ids = [f"i{at}" for at in range(self.n)]
            self.columns[self.roles["item"]] = range(self.n) if self.some(0.5) else ids
        if self.some(0.8):
            known = np.where(np.arange(self.n) < self.n // 2, self.classes[self.truth], None)
            shown = max(map(len, self.roles["models"].values()), default=0)
            none = self.some(0.1) and shown > 1
            self.columns["truth"], self.roles["truth"] = np.full(self.n, None) if none else known, "truth"


def a_table(seed):
    """A table with some members of every kind, and the roles of its columns."""
    made = Maker(seed)
    made.people()
    if len(made.names) == 2 or not isinstance(made.names[0], str):
        made.scorers()
    made.models()
    made.labellers()
    made.known()
    order = made.rng.permutation(list(made.columns)).tolist()
    return pd.DataFrame({name: made.columns[name] for name in order}), made.roles


def as_checked(found):
    """The roles that a check has found."""
    seen = found.as_dict()
    return {name: seen[name] for name in ("people", "models", "confidence", "truth", "item")} | {
        "labels": seen["labels_of_models"],
        "scores": seen["scores"] | seen["grades"],
    }


def options_of(command):
    """What a printed command gives `scan`."""
    words = shlex.split(command)[3:-2]
    return {
        name.removeprefix("--").replace("-", "_"): value for name, value in zip(words[::2], words[1::2], strict=True)
    }


def as_scanned(path, **options):
    """The roles by which a fit reads a table."""
    roles = tables.scan(path, **options)._content.roles
    return {
        "people": roles.annotators,
        "models": roles.models,
        "confidence": roles.confidence,
        "truth": roles.truth,
        "item": roles.item,
        "labels": roles.members.labels,
        "scores": roles.members.scores,
    }


@pytest.mark.parametrize("seed", range(84))
def test_a_check_and_a_fit_name_the_same_roles(tmp_path, seed):
    X, expected = a_table(seed)
    path = written(X, tmp_path / f"t.{SUFFIXES[seed % 3]}")
    found = tables.check(path)
    assert as_checked(found) == expected
    *needs_copy, command = found.commands()
    if needs_copy:  # items without any answer
        path, expected = tmp_path / "copy.csv", expected | {"item": expected["item"] and "item"}
        assert run([*shlex.split(needs_copy[0])[1:-1], str(path)]) == 0
    assert as_scanned(path, **options_of(command)) == expected
    assert {*tables.scan(path, **options_of(command)).classes.astype(str)} == {*found.as_dict()["classes"]}


@pytest.mark.parametrize("seed", range(7))
def test_the_command_of_a_check_fits_the_team_that_it_described(tmp_path, seed):
    X, expected = a_table(seed)
    found = tables.check(written(X, tmp_path / f"t.{SUFFIXES[seed % 3]}"))
    (command,) = found.commands()
    assert run([*shlex.split(command)[1:-1], str(tmp_path / "team.json")]) == 0
    team = th.load(tmp_path / "team.json")
    assert set(team.annotators_) == {*expected["people"], *expected["labels"], *expected["scores"]}
    assert not expected["models"] or set(team.models_) == set(expected["models"])


WORDS = ("none", "None", "NA", "na", "nan", "NaN", "null", "unknown", "-", "n/a", "N/A", "?", "nil", "#N/A", "open")
OTHERS = ("some", "much")
BESIDE = ("labels", "both probabilities", "one probability", "two classes and a score")
TABLES = [*((beside, "csv") for beside in BESIDE), ("labels", "parquet"), ("labels", "jsonl")]


def labels_of_a_word(word, beside, seed=0, n=60):
    """A table of classes, one of which is a word that may mean "no value"."""
    rng = np.random.default_rng(seed)
    names = (word, *OTHERS) if beside in ("labels", "both probabilities") else (word, OTHERS[0])
    truth = rng.integers(0, len(names), n)
    said = np.where(rng.random((3, n)) < 0.8, truth, rng.integers(0, len(names), (3, n)))
    texts = np.array(names, dtype=object)
    X = pd.DataFrame({"item": [f"i{at}" for at in range(n)], "human_a": texts[said[0]], "human_b": texts[said[1]]})
    X["m.label"], X["truth"] = texts[said[2]], texts[truth]
    if beside == "both probabilities":
        X = X.assign(**{f"p_{name}": np.where(truth == at, 0.6, 0.2) for at, name in enumerate(names)})
    elif beside == "one probability":
        X["p_some"] = 0.2 + 0.6 * truth
    elif beside == "two classes and a score":
        X["s.score"] = truth + rng.normal(size=n)
    return X


@pytest.mark.parametrize(("beside", "suffix"), TABLES)
@pytest.mark.parametrize("word", WORDS)
def test_a_class_named_by_a_word_for_no_value_is_read_as_a_fit_reads_it(tmp_path, word, beside, suffix):
    X = labels_of_a_word(word, beside)
    path = written(X, tmp_path / f"t.{suffix}")
    found = tables.check(path)
    classes = {*found.as_dict()["classes"]}
    if word in NO_VALUE and beside != "both probabilities":
        assert word not in classes
        assert not any("is read as a class" in doubt for doubt in found.doubts())
        assert beside != "labels" or {*tables.scan(path).classes} == classes
        return
    table = tables.scan(path, positive="some" if beside == "two classes and a score" else None)
    read, truth = table.read()
    assert classes == {*table.classes} == {*X["truth"]}
    assert not found.needs_copy
    assert truth.tolist() == X["truth"].tolist()
    assert read.answers.per_item().tolist() == [3] * 60
    assert "truth        truth (known for 60 of 60)" in found.sentences()
    asks = beside != "both probabilities"
    assert [doubt.split()[0] for doubt in found.doubts()] == [repr(word)] * asks


@pytest.mark.parametrize("word", [word for word in WORDS if is_blank(word)])
def test_a_word_for_no_value_beside_named_classes_is_refused_by_a_fit_or_blank_to_it(tmp_path, word):
    X = labels_of_a_word(word, "both probabilities").drop(columns=f"p_{word}")
    X = X.assign(p_some=0.5, p_much=0.5)
    path = written(X, tmp_path / "t.csv")
    found = tables.check(path)
    assert {*found.as_dict()["classes"]} == {*OTHERS}
    if not found.needs_copy:
        assert word in NO_VALUE
        tables.scan(path).read()
        return
    with pytest.raises(th.InvalidObservations, match="must hold classes"):
        tables.scan(path).read()
