"""CIFAR-10H as the paper's authors publish it: votes, a model's probabilities and the truth, one file per model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from twoheads.errors import InvalidObservations, MissingExtra
from twoheads.kernels.arrays import Codes, Floats
from twoheads.studies.setting import People, Setting

DATASET = "CIFAR-10H"
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ANNOTATORS = "annotators.parquet"


@dataclass(frozen=True)
class Layout:
    """Columns of the votes, the probabilities and the truth in a file, and the truth's first code."""

    votes: slice
    proba: slice
    truth: int
    first: int


_TRUTH_LAST = Layout(slice(0, 10), slice(10, 20), 20, 1)
_TRUTH_FIRST = Layout(slice(1, 11), slice(11, 21), 0, 0)

#: The file of each of the paper's models; the names of two files are of other models.
FILES = {
    "ResNet-110": ("human_model_truth_cifar10h.csv", _TRUTH_LAST),
    "ResNet-164": ("resnet-110.csv", _TRUTH_FIRST),
    "PreResNet-164": ("preresnet-110.csv", _TRUTH_FIRST),
    "DenseNet-BC": ("densenet-bc-L190-k40.csv", _TRUTH_FIRST),
}


def read_cifar10h(folders: list[Path]) -> tuple[list[Setting], list[str]]:
    """Settings of the files found, and what is missing; folders are searched in turn."""
    found, missing = [], []
    people: dict[Path, People] = {}
    for model, (name, layout) in FILES.items():
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if path is None:
            missing.append(f"{model} on {DATASET}: no file {name}")
            continue
        votes, proba, truth = _read(path, layout)
        annotators = path.with_name(ANNOTATORS)
        if annotators.is_file() and annotators not in people:
            people[annotators] = _read_people(annotators, truth)
        image = np.repeat(np.arange(len(votes)), votes.sum(axis=1))
        answer = np.repeat(np.tile(np.arange(10), len(votes)), votes.ravel())
        found.append(Setting(DATASET, model, None, CLASSES, proba, truth, image, answer, people.get(annotators)))
    if found and not people:
        missing.append(f"the people of {DATASET}: no file {ANNOTATORS}")
    return found, missing


def _read(path: Path, layout: Layout) -> tuple[Codes, Floats, Codes]:
    first, last = layout.first, layout.first + 9
    order = f"the truth ({first} to {last}), 10 votes, 10 probabilities"
    if layout.truth:
        order = f"10 votes, 10 probabilities, the truth ({first} to {last})"
    expected = f"A row of this file has 21 numbers and no header: {order}."
    try:
        table = np.loadtxt(path, delimiter=",", ndmin=2)
    except (ValueError, OSError) as error:
        raise InvalidObservations(
            f"{path} cannot be read: {str(error).splitlines()[0].rstrip('. ')}. {expected}"
        ) from None
    if len(table) == 0:
        raise InvalidObservations(f"{path} is empty. {expected}")
    if table.shape[1] != 21:
        raise InvalidObservations(f"{path} has {table.shape[1]} columns, not 21. {expected}")
    votes, proba, truth = table[:, layout.votes], table[:, layout.proba], table[:, layout.truth]
    _refuse(path, "truth", ~np.isin(truth, np.arange(first, last + 1)), truth, expected)
    _refuse(path, "votes", ((votes < 0) | (votes % 1 != 0)).any(axis=1) | (votes.sum(axis=1) < 1), votes, expected)
    off = ~((proba >= 0).all(axis=1) & (np.abs(proba.sum(axis=1) - 1) < 1e-3))
    _refuse(path, "probabilities", off, proba, expected)
    return votes.astype(np.intp), proba, truth.astype(np.intp) - first


def _refuse(
    path: Path, what: str, off: np.ndarray[tuple[int], np.dtype[np.bool_]], values: Floats, expected: str
) -> None:
    rows = np.flatnonzero(off)
    if len(rows):
        shown = np.array2string(values[rows[0]], precision=4, separator=", ", max_line_width=200)
        raise InvalidObservations(
            f"{path} has invalid {what}: row {rows[0] + 1} has {shown} "
            f"({len(rows):,} of {len(off):,} rows are off). {expected}"
        )


def _read_people(path: Path, truth: Codes) -> People:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra.instead_of(error, "pyarrow", "cli", f"Reading {path}") from None
    names = ["item_id", "annotator_id", "human_label"]
    expected = f"It has a row per answer with the columns {', '.join(names)}."
    try:
        table = pyarrow.parquet.read_table(path, columns=names)
    except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors
        raise InvalidObservations(
            f"{path} cannot be read: {str(error).splitlines()[0].rstrip('. ')}. {expected}"
        ) from None
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise InvalidObservations(f"{path} has no column {lacking[0]}. {expected}")
    image, person, answer = (np.asarray(table[name].to_numpy(), dtype=np.intp) for name in names)
    if len(image) == 0 or image.min() < 0 or image.max() >= len(truth):
        raise InvalidObservations(
            f"{path} must have item_id from 0 to {len(truth) - 1:,}, rows of the files beside it. {expected}"
        )
    if answer.min() < 0 or answer.max() > 9:
        raise InvalidObservations(f"{path} must have human_label from 0 to 9. {expected}")
    return People(person, image, answer)
