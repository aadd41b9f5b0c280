"""ImageNet-16H in the layout of its public release: people's answers, and models' predictions."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes
from twoheads.studies.setting import People, Setting

DATASET = "ImageNet-16H"
NOISE_LEVELS = (80, 95, 110, 125)
ANSWERS = "human_only_classification_*.csv"
PREDICTIONS = "hai_epoch10_model_preds_max_normalized.csv"
OTHER_PREDICTIONS = "hai_*_model_preds_max_normalized.csv"

#: Names of the release, and the paper's.
MODELS = {
    "vgg19": "VGG-19",
    "googlenet": "GoogLeNet",
    "alexnet": "AlexNet",
    "densenet161": "DenseNet-161",
    "resnet152": "ResNet-152",
}

_Table = dict[str, list[str]]


def read_imagenet16h(folders: list[Path]) -> tuple[list[Setting], list[str]]:
    """Settings of every model and noise level found, and what is missing; folders are searched in turn."""
    answers_path = _find(folders, ANSWERS)
    predictions_path = _find(folders, PREDICTIONS) or _find(folders, OTHER_PREDICTIONS)
    if answers_path is None or predictions_path is None:
        lacking = ANSWERS if answers_path is None else PREDICTIONS
        return [], [f"{DATASET}: no file {lacking}"]
    answers = _read(
        answers_path, ("participant_id", "image_name", "image_category", "noise_level", "participant_classification")
    )
    predictions = _read(predictions_path, ("image_name", "noise_level", "model_name", "category"))
    classes = tuple(sorted(set(predictions["category"]) & set(predictions)))
    if len(classes) < 2:
        raise InvalidObservations(
            f"{predictions_path} must have a column of probabilities for each category; none is named as one. "
            f"Its columns are {', '.join(predictions)}."
        )
    levels = sorted(_noise(answers, answers_path) & _noise(predictions, predictions_path))
    names = sorted(set(predictions["model_name"]), key=lambda name: ([*MODELS, name].index(name), name))
    found = []
    for name in names:
        for level in levels:
            setting = _setting(name, level, classes, answers, predictions, answers_path, predictions_path)
            if setting is not None:
                found.append(setting)
    there = {(setting.model, setting.noise_level) for setting in found}
    missing = [
        f"{model} on {DATASET} at noise {level}: no such rows in {predictions_path.name} and {answers_path.name}"
        for model in ("VGG-19", "GoogLeNet")
        for level in NOISE_LEVELS
        if (model, level) not in there
    ]
    return found, missing


def _find(folders: list[Path], pattern: str) -> Path | None:
    return next((path for folder in folders for path in sorted(folder.glob(pattern))), None)


def _read(path: Path, needed: Iterable[str]) -> _Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidObservations(f"{path} cannot be read: {error}.") from None
    lacking = [name for name in needed if name not in header]
    if lacking:
        raise InvalidObservations(
            f"{path} has no column {lacking[0]}; its columns are {', '.join(header) or 'none'}. "
            "Use the file as it was released, with its first line."
        )
    short = [at for at, row in enumerate(rows) if len(row) != len(header)]
    if short:
        raise InvalidObservations(
            f"{path} has {len(header)} columns, but line {short[0] + 2} has {len(rows[short[0]])} "
            f"({len(short):,} of {len(rows):,} lines are off). Copy the file again."
        )
    if not rows:
        raise InvalidObservations(f"{path} has no rows. Copy the file again.")
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def _noise(table: _Table, path: Path) -> set[int]:
    try:
        return {int(float(level)) for level in set(table["noise_level"])}
    except ValueError as error:
        raise InvalidObservations(f"{path} must have whole numbers as noise_level: {error}.") from None


def _setting(
    name: str,
    level: int,
    classes: tuple[str, ...],
    answers: _Table,
    predictions: _Table,
    answers_path: Path,
    predictions_path: Path,
) -> Setting | None:
    """One model at one noise level; images that nobody answered about are left out, and so are blank answers."""
    given = _at_level(answers, level)
    asked = {answers["image_name"][at] for at in given}
    model, image = predictions["model_name"], predictions["image_name"]
    chosen = [at for at in _at_level(predictions, level) if model[at] == name and image[at] in asked]
    if not chosen:
        return None
    place = {image[at]: row for row, at in enumerate(chosen)}
    code = {label: at for at, label in enumerate(classes)}
    try:
        proba = np.array([[float(predictions[label][at]) for at in chosen] for label in classes]).T
        truth = np.array([code[predictions["category"][at]] for at in chosen], dtype=np.intp)
        in_file = _answered(answers, given, place, code)
    except (KeyError, ValueError) as error:
        raise InvalidObservations(f"{predictions_path} or {answers_path} holds an invalid value: {error}.") from None
    if not ((proba >= 0).all() and np.isfinite(proba).all() and (proba.sum(axis=1) > 0).all()):
        raise InvalidObservations(
            f"{predictions_path} must hold probabilities of 0 or more, with a positive one in every row."
        )
    if len(place) < len(chosen):
        raise InvalidObservations(f"{predictions_path} has an image twice for {name} at noise {level}.")
    by_image = np.argsort(in_file[:, 0], kind="stable")
    seen, answer, person = in_file[by_image].T
    proba /= proba.sum(axis=1, keepdims=True)  # released divided by their largest
    people = People(person, seen, answer)
    file_order = np.argsort(by_image, kind="stable")
    return Setting(DATASET, MODELS.get(name, name), level, classes, proba, truth, seen, answer, people, file_order)


def _at_level(table: _Table, level: int) -> list[int]:
    """The rows of a noise level."""
    return [at for at, noise in enumerate(table["noise_level"]) if int(float(noise)) == level]


def _answered(answers: _Table, rows: list[int], place: dict[str, int], code: dict[str, int]) -> Codes:
    """Image, answer and person, (n, 3), of those of the rows whose image has a place and whose answer is a class."""
    names = ("image_name", "participant_classification", "participant_id")
    found = [
        (place[image], code[answer], int(float(person)))
        for image, answer, person in ([answers[name][at] for name in names] for at in rows)
        if image in place and answer in code
    ]
    return np.array(found, dtype=np.intp)
