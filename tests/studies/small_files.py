"""Small files in the layouts of the public data."""

from __future__ import annotations

import csv

import numpy as np
import pytest

N_IMAGES = 120
IMAGENET_CLASSES = ("bear", "boat", "cat", "dog")


def _problem(seed, n_items, n_classes):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    proba = rng.dirichlet(np.ones(n_classes), size=n_items) + 2 * np.eye(n_classes)[truth] * rng.random((n_items, 1))
    return rng, truth, proba / proba.sum(axis=1, keepdims=True)


def _answers(rng, truth, n_classes, accuracy=0.8):
    return np.where(rng.random(len(truth)) < accuracy, truth, rng.integers(n_classes, size=len(truth)))


def write_cifar10h(folder, names=("human_model_truth_cifar10h.csv", "densenet-bc-L190-k40.csv"), *, annotators=False):
    """CIFAR-10H files of 120 images with four answers each; the first 40 people answer 30 images each."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(names):
        rng, truth, proba = _problem(seed, N_IMAGES, 10)
        votes = sum(np.eye(10, dtype=int)[_answers(rng, truth, 10)] for _ in range(4))
        parts = [votes, proba, truth + 1] if name.startswith("human") else [truth, votes, proba]
        np.savetxt(folder / name, np.column_stack(parts), delimiter=",")
    if annotators:
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        rng, truth, _ = _problem(len(names) - 1, N_IMAGES, 10)
        person = np.repeat(np.arange(41), [30] * 40 + [5])
        item = np.concatenate([rng.permutation(N_IMAGES)[:n] for n in np.bincount(person)])
        columns = {"item_id": item, "annotator_id": person, "human_label": _answers(rng, truth[item], 10)}
        pq.write_table(pa.table(columns), folder / "annotators.parquet")
    return folder


def write_imagenet16h(folder, levels=(80, 110), models=("vgg19", "googlenet")):
    """ImageNet-16H files of 40 images with six answers each, of 8 people."""
    folder.mkdir(parents=True, exist_ok=True)
    answers, predictions = [], []
    for level in levels:
        for seed, model in enumerate(models):
            rng, truth, proba = _problem(100 + level, 40, len(IMAGENET_CLASSES))
            proba = proba ** (1 + seed)
            names = [f"n{at:04d}" for at in range(40)]
            for name, row, code in zip(names, proba / proba.max(axis=1, keepdims=True), truth, strict=True):
                predictions.append([name, "phase", level, model, *row, IMAGENET_CLASSES[code], 1])
        for at, (name, code) in enumerate(zip(names, truth, strict=True)):
            for answer in _answers(rng, np.full(6, code), len(IMAGENET_CLASSES)):
                person = (at + len(answers)) % 8
                answers.append(
                    [person, name, IMAGENET_CLASSES[code], "phase", level, IMAGENET_CLASSES[answer], 1, "high"]
                )
    head = (
        "participant_id,image_name,image_category,noise_type,noise_level,participant_classification,correct,confidence"
    )
    _write(folder / "human_only_classification_6per_img_export.csv", head.split(","), answers)
    head = ["image_name", "noise_type", "noise_level", "model_name", *IMAGENET_CLASSES, "category", "correct"]
    _write(folder / "hai_epoch10_model_preds_max_normalized.csv", head, predictions)
    return folder


def _write(path, head, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def read_table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
