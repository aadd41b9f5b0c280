"""How the digit readings were made: real images and classifiers, simulated readers.

``python -m twoheads.datasets.recipe`` writes the file again; `tests/datasets` compares it with the one that installs.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from twoheads.kernels.arrays import Codes, Floats

FILE = Path(__file__).with_name("digit_readings.csv.gz")
N_TRAINING, N_KNOWN, SEED = 497, 300, 2021
#: Standard deviation of the noise that a scanner adds to the images, whose grey levels are 0 to 16.
NOISE = {"new": 2.0, "old": 5.0}


@dataclass(frozen=True)
class Reader:
    """A simulated reader.

    Parameters
    ----------
    skill : float
        The log-odds of a correct answer on an image of mean difficulty.
    share : float
        How much of the images the reader sees.
    doubt : float
        How often the reader is unsure about the hardest images.
    boldness : float
        By how many levels the reader's confidence is higher than that of others.
    """

    skill: float
    share: float
    doubt: float
    boldness: float


READERS = {
    "ana": Reader(skill=3.1, share=0.55, doubt=0.10, boldness=0.0),
    "ben": Reader(skill=2.4, share=0.45, doubt=0.05, boldness=0.3),
    "chloe": Reader(skill=2.2, share=0.45, doubt=0.60, boldness=-0.8),
    "dev": Reader(skill=1.6, share=0.5, doubt=0.05, boldness=1.2),
    "eli": Reader(skill=0.9, share=0.35, doubt=0.20, boldness=0.0),
}


def make_columns() -> dict[str, list[str]]:
    """The columns of the table, as text; gaps are blank."""
    rng = np.random.default_rng(SEED)
    images, truth, scanner = _scanned_images(rng)
    training, items = _split(rng, len(truth))
    models = {
        "bayes": GaussianNB(var_smoothing=0.2),
        "linear": LogisticRegression(C=1e-3, max_iter=1000),
    }
    rows = {
        name: model.fit(images[training], truth[training]).predict_proba(images[items])
        for name, model in models.items()
    }
    alike = _look_alike(images, truth, training, items)
    known = np.zeros(len(items), dtype=bool)
    known[np.argsort(rng.random(len(items)))[:N_KNOWN]] = True
    columns: dict[str, list[str]] = {
        "item": [f"digit-{number:04d}" for number in items],
        "scanner": scanner[items].tolist(),
    }
    for name, reader in READERS.items():
        columns[f"human_{name}"], columns[f"confidence_{name}"] = _read(reader, truth[items], alike, rng)
    for name, proba in rows.items():
        columns |= {f"{name}.p_{digit}": _written(proba[:, digit]) for digit in range(10)}
    columns["truth"] = [str(digit) if is_known else "" for digit, is_known in zip(truth[items], known, strict=True)]
    columns["all_truth"] = [str(digit) for digit in truth[items]]
    return columns


def _scanned_images(rng: np.random.Generator) -> tuple[Floats, Codes, NDArray[Any]]:
    """Scikit-learn's digits with the noise of one of two scanners, a third of them with that of the old one."""
    images, truth = load_digits(return_X_y=True)
    scanner = np.where(rng.random(len(truth)) < 1 / 3, "old", "new")
    sd = np.array([NOISE[name] for name in scanner])
    return images + sd[:, None] * _normal(rng, images.shape), truth.astype(np.intp), scanner


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Nearly normal numbers (Irwin and Hall): the stream of uniform ones is the same in every version of NumPy."""
    return np.asarray(rng.random((12, *shape)).sum(axis=0) - 6.0)


def _split(rng: np.random.Generator, n_images: int) -> tuple[Codes, Codes]:
    """The images that the models are trained on, and the others in the order of scikit-learn's."""
    order = np.argsort(rng.random(n_images))
    return np.sort(order[:N_TRAINING]), np.sort(order[N_TRAINING:])


def _look_alike(images: Floats, truth: Codes, training: Codes, items: Codes) -> Floats:
    """How much an image looks like each digit, (n_items, 10): the nearest of the other images, as scanned.

    Readers see what the models see, so that both err on images that resemble another digit.
    """
    neighbours = KNeighborsClassifier(n_neighbors=12, weights="distance")
    alike = np.empty((len(items), 10))
    for half in (0, 1):  # each image is compared with images other than itself
        compared = np.concatenate([training, items[1 - half :: 2]])
        alike[half::2] = neighbours.fit(images[compared], truth[compared]).predict_proba(images[items[half::2]])
    return alike


def _read(reader: Reader, truth: Codes, alike: Floats, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """A reader's answers and confidences, 1 to 5; blank where the reader has not seen the image."""
    n_items = len(truth)
    difficulty = 1.0 - alike[np.arange(n_items), truth]
    wrong = 0.8 * alike + 0.02
    wrong[np.arange(n_items), truth] = 0.0
    mistaken = (wrong.cumsum(axis=1) < rng.random((n_items, 1)) * wrong.sum(axis=1, keepdims=True)).sum(axis=1)
    correct = rng.random(n_items) < expit(reader.skill - 4.0 * (difficulty - difficulty.mean()))
    answer = np.where(correct, truth, mistaken)
    felt = 4.2 - 3.0 * difficulty - 0.8 * ~correct + reader.boldness + 0.7 * _normal(rng, (n_items,))
    unsure = rng.random(n_items) < reader.doubt * np.clip(2.0 * difficulty, 0.0, 1.0)
    seen = rng.random(n_items) < reader.share
    answers = np.where(seen, np.where(unsure, "unsure", answer.astype(str)), "")
    confidences = np.where(seen & ~unsure, np.clip(np.rint(felt), 1, 5).astype(int).astype(str), "")
    return answers.tolist(), confidences.tolist()


def _written(proba: Floats) -> list[str]:
    return [f"{value:.6f}".rstrip("0").rstrip(".") for value in proba.tolist()]


def as_csv(columns: Mapping[str, list[str]]) -> str:
    """The columns as CSV; no entry has a comma."""
    lines: Iterable[str] = (",".join(row) for row in zip(*columns.values(), strict=True))
    return "\n".join([",".join(columns), *lines]) + "\n"


def write(path: Path = FILE) -> None:
    """Make the table and write it, the same bytes every time."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as file:
        file.write(as_csv(make_columns()).encode())
    path.write_bytes(packed.getvalue())


if __name__ == "__main__":
    write()
