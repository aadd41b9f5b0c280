"""What a scanned table holds, as record batches by item: model rows, answers, truth and times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.observations.labels import label_text
from twoheads.tables.duckdb import pa, pc
from twoheads.tables.schema.ids import as_text
from twoheads.tables.table import Table

#: What is kept, and by which columns a row of it is known.
KEYS = {
    "items": ("item",),
    "answers": ("item", "annotator", "place"),
    "truth": ("item",),
    "truth_by": ("item", "annotator"),
    "times": ("item",),
}


def unsure_word(classes: list[str]) -> str:
    """The answer that means "unsure" where answers are kept: that word, unless a class has that name."""
    word = "unsure"
    while word.casefold() in {name.casefold() for name in classes}:
        word += "?"
    return word


def rows_of_table(table: Table, models: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Block by block, the rows to keep of each kind that the table has, as record batches.

    models  those of a team: a model without a name is the only one of the other, as in `Observations.with_models`
    """
    for observations, y in table.blocks():
        if not observations.has_ids:
            raise InvalidObservations(
                "the table must have a column of item ids, named item: kept items are known by their ids. "
                "Name it with item (--item)."
            )
        yield _rows(observations, as_truth(y, observations), models)


def _rows(observations: Observations, truth: Any, models: tuple[str, ...]) -> dict[str, Any]:
    ids = as_text(pa.array(observations.items))
    classes = [label_text(name) for name in observations.classes.tolist()]
    rows = {"answers": _answers(observations, ids, classes)}
    columns = number_columns(observations, classes, models) | _labels(observations, classes) | _scores(observations)
    if columns:
        some = np.any([pc.is_valid(column).to_numpy(zero_copy_only=False) for column in columns.values()], axis=0)
        rows["items"] = pa.record_batch({"item": ids} | columns).filter(pa.array(some))
    known = np.flatnonzero(truth != MISSING)
    rows["truth"] = pa.record_batch(
        {"item": ids.take(pa.array(known)), "truth": pa.array(classes).take(pa.array(truth[known]))}
    )
    return rows


def number_columns(observations: Observations, classes: list[str], models: tuple[str, ...]) -> dict[str, Any]:
    """The models' columns by their usual names, ``p_<class>`` or ``<model>.p_<class>``; gaps where a row is missing."""
    names = observations.models
    if len(names) == len(models) == 1 and "model" in (*names, *models):
        names = models
    return {
        f"p_{label}" if name == "model" else f"{name}.p_{label}": pa.array(
            np.ascontiguousarray(proba[:, at], dtype=np.float64), from_pandas=True
        )
        for name, proba in zip(names, observations.model_proba, strict=False)
        for at, label in enumerate(classes)
    }


def _labels(observations: Observations, classes: list[str]) -> dict[str, Any]:
    """The labels that machines give, as columns ``<model>.label``."""
    found: dict[str, Any] = {}
    for name in observations.machines:
        if name not in observations.annotators:
            continue
        place, n_classes = observations.annotators.index(name), len(classes)
        labels = np.full(len(observations), None, dtype=object)
        answers, unsure = observations.answers, observations.unsure
        own = (answers.column != MISSING) & (answers.column // n_classes == place)
        labels[item_of_answers(answers)[own]] = np.array(classes, dtype=object)[answers.column[own] % n_classes]
        if unsure is not None:
            labels[item_of_answers(unsure)[unsure.column == place]] = unsure_word(classes)
        found[f"{name}.label"] = pa.array(labels, pa.string())
    return found


def _scores(observations: Observations) -> dict[str, Any]:
    """The scores of members as given, as columns ``<model>.score``, ``human.score`` or ``human_<name>.score``."""
    scores = observations.scores
    if scores is None:
        return {}
    sign = 1.0 if scores.positive == label_text(observations.classes[-1].item()) else -1.0
    found: dict[str, Any] = {}
    for at, name in enumerate(scores.names):
        person = "human.score" if name == "human" else f"human_{name}.score"
        column = f"{name}.score" if name in scores.machines else person
        found[column] = pa.array(sign * scores.values[:, at], pa.float64(), from_pandas=True)
    return found


def _answers(observations: Observations, ids: Any, classes: list[str]) -> Any:
    answers, n_classes = observations.answers, len(classes)
    people = np.array([name not in observations.machines for name in observations.annotators])
    there = (answers.column != MISSING) & people[answers.column // n_classes]
    annotator, answer = np.divmod(answers.column[there], n_classes)
    item, label = item_of_answers(answers)[there], pa.array(classes).take(pa.array(answer))
    confidence = np.full(len(item), np.nan) if observations.confidence is None else observations.confidence[there]
    parts = [(item, annotator, label, confidence)]
    if observations.unsure is not None:
        unsure = observations.unsure
        there = (unsure.column != MISSING) & people[unsure.column]
        word = pa.array([unsure_word(classes)] * int(there.sum()), pa.string())
        parts.append((item_of_answers(unsure)[there], unsure.column[there], word, np.full(len(word), np.nan)))
    names = pa.array(observations.annotators, pa.string())
    return pa.Table.from_batches(
        [
            pa.record_batch(
                {
                    "item": ids.take(pa.array(item)),
                    "annotator": names.take(pa.array(annotator)),
                    "answer": label,
                    "confidence": pa.array(confidence, pa.float64(), from_pandas=True),
                }
            )
            for item, annotator, label, confidence in parts
        ]
    )


def times_of_table(table: Table, column: str) -> Iterator[Any]:
    """The texts of a column of times by item, as record batches (item, text)."""
    for ids, values in table.column_by_item(column):
        known = pc.is_valid(values)
        text = values.cast(pa.string()) if not pa.types.is_dictionary(values.type) else as_text(values)
        yield pa.record_batch({"item": as_text(ids), "text": text}).filter(known)
