"""What is written in any format is read back as it was, and the truth is never among the answers."""

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twoheads import tables
from twoheads.kernels.answers import item_of_answers
from twoheads.observations import as_truth
from twoheads.observations.labels import label_text
from twoheads.tables.formats.data_file import NO_VALUE
from twoheads.tables.formats.registry import FORMATS
from twoheads.tables.interop.crowd_kit import from_crowd_kit, to_crowd_kit

WRITTEN = [each.name for each in FORMATS if each.writer is not None]
LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp", "Cn"))
WORD = st.text(LETTERS, min_size=1, max_size=6)
TEXT = st.lists(WORD, min_size=1, max_size=2).map(" ".join)
LABEL = TEXT.filter(lambda text: text not in (*NO_VALUE, "-1") and text.casefold() != "unsure")
SHARES = st.floats(0, 1, allow_subnormal=False)


@st.composite
def wide_tables(draw):
    """Columns of a table by name: ids, answers of two people (with gaps and "unsure"), a model's row, and the truth."""
    classes = draw(st.lists(LABEL, min_size=2, max_size=3, unique_by=lambda name: name.strip()))
    ids = draw(st.lists(TEXT, min_size=1, max_size=6, unique=True))
    answer, truth = st.sampled_from([*classes, None, "unsure"]), st.sampled_from([*classes, None])
    first = [draw(SHARES) for _ in ids]
    columns = {"item": ids, "human_ann": [draw(answer) for _ in ids], "human_bob": [draw(answer) for _ in ids]}
    columns |= {f"p_{name}": [0.0] * len(ids) for name in classes}
    columns |= {f"p_{classes[0]}": first, f"p_{classes[1]}": [1 - share for share in first]}
    return classes, columns | {"truth": [draw(truth) for _ in ids]}


def class_names(observations):
    """The classes by their text: a text file has no types, so that numbers are numbers."""
    return [label_text(name) for name in observations.classes.tolist()]


def said(observations):
    """Who answered what about which item, "unsure" too."""
    names, found = class_names(observations), set()
    answers, unsure, ids = observations.answers, observations.unsure, observations.items.tolist()
    for at, column in zip(item_of_answers(answers), answers.column, strict=True):
        if column >= 0:
            who, what = divmod(int(column), len(names))
            found.add((ids[at], observations.annotators[who], names[what]))
    if unsure is not None:
        for at, who in zip(item_of_answers(unsure), unsure.column, strict=True):
            if who >= 0:
                found.add((ids[at], observations.annotators[who], "unsure"))
    return found


@pytest.mark.parametrize("form", WRITTEN)
@settings(max_examples=12, deadline=None)
@given(made=wide_tables())
def test_a_table_comes_back_as_it_was(form, made, tmp_path_factory):
    classes, columns = made
    path = tmp_path_factory.mktemp("trip") / f"table.{form}"
    tables.write(path, [pa.record_batch(columns)], format=form)
    observations, truth = tables.scan(path).read()
    assert sorted(class_names(observations)) == sorted(classes)
    assert observations.items.tolist() == columns["item"]
    assert observations.annotators == ("ann", "bob")
    people = {name: columns[f"human_{name}"] for name in ("ann", "bob")}
    assert said(observations) == {
        (item, who, what)
        for who, given_answers in people.items()
        for item, what in zip(columns["item"], given_answers, strict=True)
        if what is not None
    }
    for at, name in enumerate(class_names(observations)):
        assert observations.model_proba[0][:, at].tolist() == columns[f"p_{name}"]  # every digit
    codes = as_truth(truth, observations).tolist()
    assert [None if code < 0 else class_names(observations)[code] for code in codes] == columns["truth"]


@pytest.mark.parametrize("form", WRITTEN)
def test_the_truth_is_never_an_answer(form, tmp_path):
    columns = {"item": ["x", "y"], "human": ["a", None], "p_a": [0.5, 0.5], "p_b": [0.5, 0.5], "truth": ["b", "b"]}
    tables.write(tmp_path / f"t.{form}", [pa.record_batch(columns)], format=form)
    observations, truth = tables.scan(tmp_path / f"t.{form}").read()
    assert said(observations) == {("x", "human", "a")}
    assert truth.tolist() == ["b", "b"]
    unread, nothing = tables.scan(tmp_path / f"t.{form}").read(truth=False)
    assert said(unread) == said(observations)
    assert nothing is None


@settings(max_examples=12, deadline=None)
@given(made=wide_tables())
def test_answers_come_back_from_crowd_kit_files(made, tmp_path_factory):
    classes, columns = made
    rows = [(item, "ann", label) for item, label in zip(columns["item"], columns["human_ann"], strict=True)]
    rows = [row for row in rows if row[2] not in (None, "unsure")]
    if not rows:
        return
    path = tmp_path_factory.mktemp("crowd") / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("task", "worker", "label"), *rows])
    observations, _ = tables.scan(answers=path, classes=classes).read()
    assert said(observations) == set(rows)
    back = to_crowd_kit(observations)
    again = from_crowd_kit(pd.DataFrame(back), classes=classes)
    assert np.array_equal(again.answers.column, observations.answers.column)
