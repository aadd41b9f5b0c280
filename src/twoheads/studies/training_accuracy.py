"""The models' accuracies on their training sets, which the public files do not hold: a file of one's own."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from twoheads.errors import InvalidObservations
from twoheads.studies.setting import Setting

FILE = "training_accuracy.csv"
COLUMNS = ("model", "noise_level", "accuracy")


def with_training_accuracy(settings: Iterable[Setting], folder: Path) -> tuple[Setting, ...]:
    """Settings with the accuracy that the file in the folder has for their model and noise level, if it has one."""
    path = folder / FILE
    accuracy = _read(path) if path.exists() else {}
    return tuple(
        replace(setting, training_accuracy=accuracy.get((setting.model, setting.noise_level))) for setting in settings
    )


def _read(path: Path) -> dict[tuple[str, int | None], float]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InvalidObservations(f"{path} must have the columns {', '.join(COLUMNS)}; it has {reader.fieldnames}.")
        return dict(_entry(path, line, row) for line, row in enumerate(reader, start=2))


def _entry(path: Path, line: int, row: dict[str, str]) -> tuple[tuple[str, int | None], float]:
    try:
        accuracy = float(row["accuracy"])
        noise = int(row["noise_level"]) if row["noise_level"] else None
    except (TypeError, ValueError):
        raise InvalidObservations(f"{path} must hold numbers; line {line} does not.") from None
    if not 0 < accuracy < 1:
        raise InvalidObservations(f"{path} must have accuracies between 0 and 1; line {line} has {accuracy:g}.")
    return (row["model"], noise), accuracy
