"""One table, one answer: whatever classes are called, and in whatever form a table comes, its items get the same
labels and probabilities; or the table is refused with one sentence.

The reference is the same problem with the harmless class names c00, c01, ..., given as arrays.
"""

import csv
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items
from twoheads.errors import InvalidObservations
from twoheads.evaluation import compare
from twoheads.observations.labels import label_text, same_texts
from twoheads.policy import choose

NASTY = (
    [str(number) for number in range(12)],
    ["2", "10", "9"],
    ["-1", "-10", "-2", "0", "3"],
    ["01", "1", "10", "010"],
    ["1.0", "1", "2"],
    ["0.5", "10.25", "9", "-3"],
    ["1e3", "1000", "100"],
    ["9223372036854775807", "9223372036854775808", "10"],
    ["123456789012345678901234567890", "7"],
    ["True", "False"],
    ["True", "true", "TRUE"],
    ["nan", "NaN", "x"],
    ["NA", "None", "null", "N/A"],
    ["2024-01-10", "2024-01-09", "2023-12-31"],
    ["😀", "🙃", "🧑‍⚕️", "é", "e\u0301"],
    ["cat", "Cat", "CAT"],
    ["cat", " cat", "cat "],
    ["a,b", 'say "b"', "semi;colon", "tab\tbed", "it's"],
    ["unsure", "sure"],
    ["٣", "3", "²"],
    ["x.p_y", "p_x", "human", "item"],
    ["class", "truth", "_", "-", "?"],
)
_ALPHABET = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))


@dataclass(frozen=True)
class Case:
    """Items of a problem: class names, codes of answers and truth (-1 where unknown), the model's rows."""

    names: list[str]
    answers: np.ndarray
    truth: np.ndarray
    proba: np.ndarray

    def labels(self, codes, nothing=None):
        return [nothing if code < 0 else self.names[code] for code in codes.tolist()]

    @property
    def items(self):
        return [f"i{row}" for row in range(len(self.truth))]

    def columns(self):
        """A wide table; the columns of the classes stand in the order in which the names were drawn."""
        wide = {"item": self.items}
        wide |= {f"human_{who}": self.labels(codes) for who, codes in zip("ab", self.answers.T, strict=True)}
        return wide | {f"p_{name}": self.proba[:, at].tolist() for at, name in enumerate(self.names)}

    def part(self, rows):
        return Case(self.names, self.answers[rows], self.truth[rows], self.proba[rows])


@st.composite
def cases(draw):
    names = draw(st.sampled_from(NASTY))
    if draw(st.booleans()):
        names = [*names, *draw(st.lists(st.text(_ALPHABET, min_size=1, max_size=4), max_size=3))]
        names = [name for name in dict.fromkeys(names) if name.strip()]
    names = draw(st.permutations(names))
    rng, n_items = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(20, 40))
    k = len(names)
    truth = rng.integers(0, k, n_items)
    logits = rng.normal(size=(n_items, k)) + 2 * np.eye(k)[truth]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    answers = np.where(rng.random((n_items, 2)) < 0.7, truth[:, None], rng.integers(0, k, (n_items, 2)))
    answers[rng.random((n_items, 2)) < 0.2] = -1
    truth = np.where(rng.random(n_items) < draw(st.sampled_from([0.0, 0.5, 1.0])), truth, -1)
    return Case(list(names), answers, truth, proba.round(6) / proba.round(6).sum(axis=1, keepdims=True))


# ------------------------------------------------------------------------------------------------- ways in


def _scanned(path, **more):
    X, y = tables.scan(path, **more).read()
    return X, y


def in_pandas(case, _):
    return pd.DataFrame(case.columns()), pd.Series(case.labels(case.truth))


def in_pandas_category(case, _):
    frame = pd.DataFrame(case.columns()).astype({"human_a": "category", "human_b": "category"})
    return frame, pd.Series(case.labels(case.truth), dtype="category")


def in_polars(case, _):
    schema = {"human_a": pl.String, "human_b": pl.String}
    return pl.DataFrame(case.columns(), schema_overrides=schema), pl.Series(case.labels(case.truth), dtype=pl.String)


def _arrow(case, kind=None):
    table = pa.table(case.columns() | {"truth": pa.array(case.labels(case.truth), pa.string())})
    for name in ("human_a", "human_b", "truth"):
        column = table[name].cast(pa.string())
        if kind == "dictionary":
            column = column.dictionary_encode()
        elif kind == "integer":
            column = pa.array([None if text is None else int(text) for text in column.to_pylist()], pa.int64())
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def in_arrow(case, _):
    table = _arrow(case)
    return table, table["truth"]


def in_arrow_dictionaries(case, _):
    table = _arrow(case, "dictionary")
    return table, table["truth"]


def in_csv(case, folder):
    wide = case.columns() | {"truth": case.labels(case.truth)}
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(wide)
        writer.writerows(["" if value is None else value for value in row] for row in zip(*wide.values(), strict=True))
    return _scanned(folder / "t.csv")


def in_parquet(case, folder):
    pq.write_table(_arrow(case), folder / "t.parquet", row_group_size=7)
    return _scanned(folder / "t.parquet")


def in_parquet_dictionaries(case, folder):
    pq.write_table(_arrow(case, "dictionary"), folder / "d.parquet")
    return _scanned(folder / "d.parquet")


def in_parquet_integers(case, folder):
    if not all(_is_whole(name) for name in case.names):
        raise InvalidObservations("names that are no whole numbers cannot be integers")
    pq.write_table(_arrow(case, "integer"), folder / "n.parquet")
    return _scanned(folder / "n.parquet")


def in_json_lines(case, folder):
    wide = case.columns() | {"truth": case.labels(case.truth)}
    with open(folder / "t.jsonl", "w", encoding="utf-8") as file:
        for row in zip(*wide.values(), strict=True):
            file.write(json.dumps(dict(zip(wide, row, strict=True)), ensure_ascii=False) + "\n")
    return _scanned(folder / "t.jsonl")


def _long(case):
    row, who = np.nonzero(case.answers >= 0)
    answers = {
        "item": [f"i{at}" for at in row],
        "annotator": ["ab"[at] for at in who],
        "answer": case.labels(case.answers[row, who]),
    }
    model = {"item": case.items} | {f"p_{name}": case.proba[:, at] for at, name in enumerate(case.names)}
    return answers, model


def in_long_frames(case, _):
    answers, model = (pd.DataFrame(table) for table in _long(case))
    return th.Observations.from_answers(answers, model), np.array(case.labels(case.truth), dtype=object)


def in_separate_files(case, folder):
    answers, model = _long(case)
    pd.DataFrame(answers).to_csv(folder / "answers.csv", index=False)
    pq.write_table(pa.table(model), folder / "model.parquet")
    with open(folder / "truth.jsonl", "w", encoding="utf-8") as file:
        for item, label in zip(case.items, case.labels(case.truth), strict=True):
            file.write(json.dumps({"item": item, "truth": label}) + "\n")
    return _scanned(
        None, answers=folder / "answers.csv", model=folder / "model.parquet", truth=str(folder / "truth.jsonl")
    )


WAYS = {
    way.__name__: way
    for way in (
        in_pandas,
        in_pandas_category,
        in_polars,
        in_arrow,
        in_arrow_dictionaries,
        in_csv,
        in_parquet,
        in_parquet_dictionaries,
        in_parquet_integers,
        in_json_lines,
        in_long_frames,
        in_separate_files,
    )
}


def _is_whole(name):
    return name.removeprefix("-").isdecimal() and name.isascii() and str(int(name)) == name and abs(int(name)) < 2**63


#: Ways in through CSV, where blanks around a name are not part of it.
OF_CSV = {"in_csv"}


def has_blanks(case):
    return any(name != name.strip() for name in case.names)


def accepted(case, folder, ways=WAYS):
    """The observations and the truth by every way that takes the table."""
    found, sentences = {}, {}
    for name in ways:
        place = folder / name
        place.mkdir(exist_ok=True)
        try:
            X, y = WAYS[name](case, place)
            th.observations.as_observations(X, y=y)
        except InvalidObservations as refused:
            sentences[name] = str(refused)
        else:
            found[name] = X, y
    assert not any("\n" in sentence for sentence in sentences.values())
    return found


def reference(case):
    """The same problem with harmless class names, from arrays of one person at a time."""
    names = [f"c{at:02d}" for at in range(len(case.names))]
    safe = Case(names, case.answers, case.truth, case.proba)
    return in_pandas(safe, None)


def by_name(team, proba, names):
    """Probabilities with a column per name, in the order of ``names``; in CSV without the blanks around them."""
    texts = [label_text(name) for name in team.classes_.tolist()]
    assert sorted(map(str.strip, texts)) == sorted(map(str.strip, names))
    return np.asarray(proba)[:, [texts.index(name if name in texts else name.strip()) for name in names]]


def same_labels(labels, proba, names):
    """Whether labels are the names of the most probable classes, where no other is as probable."""
    first, second = np.sort(proba, axis=1)[:, [-1, -2]].T
    best = np.array(names, dtype=object)[proba.argmax(axis=1)]
    clear = first - second > 1e-6
    found = [label_text(label) for label in np.asarray(labels, dtype=object)[clear]]
    return all(one in (name, name.strip()) for one, name in zip(found, best[clear], strict=True))


def team():
    return th.ProbabilityLabelCombiner(tol=1e-3)


def compared(fitted, X, names, expected):
    """What a team predicts for items in some form is what is expected, label for label."""
    proba = fitted.predict_proba(X)
    assert by_name(fitted, proba, names) == pytest.approx(expected, abs=1e-7)
    assert same_labels(fitted.predict(X), expected, names)


# ------------------------------------------------------------------------------------------------- the law


@settings(max_examples=12)
@given(cases())
def test_one_table_gives_one_answer_in_every_form(case):
    X, y = reference(case)
    expected = team().fit(X, y).predict_proba(X)
    with tempfile.TemporaryDirectory() as folder:
        found = accepted(case, Path(folder))
        assert {"in_pandas", "in_arrow", "in_parquet"} <= set(found)
        fitted = {way: team().fit(X, y) for way, (X, y) in found.items()}
        for at, (way, one) in enumerate(fitted.items()):
            compared(one, found[way][0], case.names, expected)
            other = list(found)[(at + 1 + at % 3) % len(found)]
            if has_blanks(case) and {way, other} & OF_CSV:
                continue  # refused: the names differ
            compared(one, found[other][0], case.names, expected)


@settings(max_examples=14)
@given(cases(), st.sampled_from(sorted(WAYS)), st.sampled_from(sorted(WAYS)))
def test_everything_a_team_does_names_the_same_classes(case, one, other):
    X, y = reference(case)
    expected_team = th.recommended().fit(X, y)
    expected, truth = expected_team.predict_proba(X), np.array(case.labels(case.truth), dtype=object)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = accepted(case, folder, [one, other])
        if len(found) < len({one, other}) or (has_blanks(case) and {one, other} & OF_CSV):
            return  # refused, with one sentence
        fitted = th.recommended().fit(*found[one])
        X_used, y_used = found[other]
        compared(fitted, X_used, case.names, expected)

        fitted.save(folder / "team.json")
        compared(th.load(folder / "team.json"), X_used, case.names, expected)

        seen = fitted.observe(X_used)
        made = tables.verdicts(seen, fitted.predict_proba(seen), fitted.classes_).to_pylist()
        written = np.array([[row[f"p_{name}"] for name in case.names] for row in made])
        assert written == pytest.approx(expected, abs=1e-7)
        assert same_labels([row["combined_label"] for row in made], expected, case.names)

        if (case.truth >= 0).any():
            known = truth != None  # noqa: E711
            labels = np.array([label_text(row["combined_label"]) for row in made], dtype=object)
            error = compare(fitted, X_used, y_used, held_out=True).combination.error.value
            assert error == pytest.approx(np.mean(labels[known] != truth[known]))

        why, wanted = fitted.explain(X_used), expected_team.explain(X)
        assert [label_text(label) for label in why.label] == [label_text(label) for label in fitted.predict(X_used)]
        clear = np.flatnonzero(
            [label_text(got) == case.names[int(ref[1:])] for got, ref in zip(why.label, wanted.label, strict=True)]
        )
        assert by_name(fitted, why.log_odds, case.names)[clear] == pytest.approx(wanted.log_odds[clear], abs=1e-5)

        gains = choose(fitted, X_used, 5.0).expected_now, choose(expected_team, X, 5.0).expected_now
        assert gains[0] == pytest.approx(gains[1], abs=1e-7)


@settings(max_examples=12)
@given(cases(), st.sampled_from(sorted(WAYS)), st.sampled_from(sorted(WAYS)))
def test_learning_on_and_merging_name_the_same_classes(case, one, other):
    half = len(case.truth) // 2
    first, second = case.part(slice(0, half)), case.part(slice(half, None))
    (X1, y1), (X2, y2) = reference(first), reference(second)
    expected = team().partial_fit(X1, y1).partial_fit(X2, y2).predict_proba(X2)
    merged = team().fit(X1, y1).merge(team().fit(X2, y2)).predict_proba(X2)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "1").mkdir()
        (Path(place) / "2").mkdir()
        found, more = accepted(first, Path(place) / "1", [one]), accepted(second, Path(place) / "2", [other])
        if not (found and more) or (has_blanks(case) and {one, other} & OF_CSV):
            return  # refused, with one sentence
        learnt = team().partial_fit(*found[one]).partial_fit(*more[other])
        compared(learnt, more[other][0], case.names, expected)
        parts = [team().fit(*found[one]), team().fit(*more[other])]
        if same_texts(parts[0].classes_, parts[1].classes_):
            compared(parts[0].merge(parts[1]), more[other][0], case.names, merged)
        else:
            with pytest.raises(InvalidObservations, match="must have the classes of the earlier fit"):
                parts[0].merge(parts[1])


@settings(max_examples=10)
@given(cases(), st.sampled_from(["in_csv", "in_parquet", "in_parquet_dictionaries", "in_json_lines"]))
def test_a_table_in_chunks_on_disk_gives_the_same_answer(case, way):
    X, y = reference(case)
    expected = team().fit(X, y).predict_proba(X)
    path = {"in_csv": "t.csv", "in_parquet": "t.parquet", "in_parquet_dictionaries": "d.parquet"}.get(way, "t.jsonl")
    with tempfile.TemporaryDirectory() as place:
        found = accepted(case, Path(place), [way])
        if not found:
            return  # refused, with one sentence
        fitted = team().fit_items(open_items(tables.scan(Path(place) / way / path), max_numbers=10))
        compared(fitted, found[way][0], case.names, expected)


@settings(max_examples=15)
@given(cases())
def test_several_models_give_the_same_answer_in_every_form(case):
    human, rows = case.answers[:, 0], {"first": case.proba, "second": np.roll(case.proba, 1, axis=0)}
    safe = [f"c{at:02d}" for at in range(len(case.names))]
    X = th.Observations.from_arrays(human, rows, classes=safe)
    expected = team().fit(X, np.array(["" if code < 0 else safe[code] for code in case.truth])).predict_proba(X)
    labels = np.array(case.labels(case.truth), dtype=object)
    with tempfile.TemporaryDirectory() as place:
        forms = several_models(case, human, rows, Path(place))
    fitted = [team().fit(form, labels) for form in forms]
    for at, one in enumerate(fitted):
        compared(one, forms[at], case.names, expected)
        compared(one, forms[at - 1], case.names, expected)


def several_models(case, human, rows, folder):
    """Two models' rows as arrays, a frame, a Parquet file, and a row per item and model in memory and on disk."""
    forms = [th.Observations.from_arrays(human, rows, classes=case.names, items=case.items)]
    wide = {"item": case.items, "human": pa.array(case.labels(human), pa.string())}
    long = {"item": case.items * 2, "model": np.repeat(list(rows), len(case.items))}
    for at, name in enumerate(case.names):
        wide |= {f"{model}.p_{name}": proba[:, at] for model, proba in rows.items()}
        long[f"p_{name}"] = np.concatenate([proba[:, at] for proba in rows.values()])
    asked = np.flatnonzero(human >= 0)
    answers = {"item": [f"i{row}" for row in asked], "annotator": "human", "answer": case.labels(human[asked])}
    forms.append(th.Observations.from_answers(pd.DataFrame(answers), pd.DataFrame(long)))
    pq.write_table(pa.table(long), folder / "long.parquet")
    pd.DataFrame(answers).to_json(folder / "answers.jsonl", orient="records", lines=True)
    forms.append(tables.scan(answers=folder / "answers.jsonl", model=folder / "long.parquet").read()[0])
    if not any(".p_" in name for name in case.names):  # that is how a model's name ends
        pq.write_table(pa.table(wide), folder / "wide.parquet")
        forms += [pa.table(wide), tables.scan(folder / "wide.parquet").read()[0]]
    return forms
