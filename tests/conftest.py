"""What all tests share: where the real data are, and properties that are checked on the same examples every time."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.model_selection import train_test_split

from twoheads.kernels.arrays import MISSING
from twoheads.tables import verdicts

settings.register_profile(
    "twoheads",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("twoheads")

#: Under nohup the commands that tests start would ignore it, as they inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

#: The CIFAR-10H files at hand: name, columns of votes, of probabilities and of the truth, and the truth's first code.
CIFAR10H = {
    "ResNet-110": ("human_model_truth_cifar10h.csv", slice(0, 10), slice(10, 20), 20, 1),
    "DenseNet-BC": ("densenet-bc-L190-k40.csv", slice(1, 11), slice(11, 21), 0, 0),
}


@dataclass(frozen=True)
class Split:
    """One trial of the paper: what was seen (the human's code, the model's row) and the truth, to learn and judge."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@pytest.fixture(autouse=True)
def _verdicts_agree_with_the_evaluation(monkeypatch):
    """On every table that any test has a team evaluate: accuracy(combine) == 1 - error(evaluate)."""

    modules = [
        import_module(f"twoheads.evaluation.{name}") for name in ("predictions", "cross_validation", "learning_curve")
    ]
    predict_all = modules[0].predict_all

    def checked(team, observations, true_label, weight, **levels):
        found = predict_all(team, observations, true_label, weight, **levels)
        label = verdicts(observations, team.predict_proba(observations), team.classes_)["combined_label"].to_pylist()
        known = true_label != MISSING
        truth = team.classes_[true_label[known]].tolist()
        right = [label[row] == true for row, true in zip(np.flatnonzero(known).tolist(), truth, strict=True)]
        assert right == (found.combined_label[known] == true_label[known]).tolist()
        return found

    for module in modules:
        monkeypatch.setattr(module, "predict_all", checked)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data: ``TWOHEADS_DATA``, else ``../shared/data`` beside the project."""
    folder = Path(os.environ.get("TWOHEADS_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"there are no real data at {folder}; set TWOHEADS_DATA to the folder that holds them")
    return folder


@pytest.fixture(scope="session")
def cifar10h(data_folder):
    """The paper's trials on CIFAR-10H: ``cifar10h(model, trial)`` is a `Split`."""

    @cache
    def whole(model: str):
        name, votes, proba, truth, first = CIFAR10H[model]
        path = data_folder / "cifar10h" / name
        if not path.exists():
            pytest.skip(f"{path} is not there; set TWOHEADS_DATA to the folder that holds cifar10h")
        table = np.loadtxt(path, delimiter=",")
        rng = np.random.default_rng(9658)
        human = np.empty(len(table), dtype=int)
        for row, count in enumerate(table[:, votes].astype(int)):
            answers = np.repeat(np.arange(10), count).tolist()
            rng.shuffle(answers)
            human[row] = answers[0]
        return human, table[:, proba], table[:, truth].astype(int) - first

    @cache
    def split(model: str, trial: int) -> Split:
        h, h_test, m, m_test, y, y_test = train_test_split(*whole(model), test_size=0.3, random_state=trial * 9658)
        return Split(np.column_stack([h, m]), y, np.column_stack([h_test, m_test]), y_test)

    return split
