"""Real crowds in the layouts of public releases: who answered what about which item, models' rows and the truth."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.real_sets import UnreadableSet, votes_and_rows
from twoheads import Observations
from twoheads.kernels.answers import pack_answers, pack_values

#: Columns of the file of CIFAR-10H's models, by the name under which they are printed.
CIFAR10H = {"ResNet-110": "human_model_truth_cifar10h.csv", "DenseNet-BC": "densenet-bc-L190-k40.csv"}


@dataclass(frozen=True)
class Crowd:
    """Answers about items that one model has seen.

    item, person, label  (n_answers,) codes
    proba, truth         (n_items, n_classes), (n_items,)
    confidence           (n_answers,) or None
    """

    item: np.ndarray
    person: np.ndarray
    label: np.ndarray
    proba: np.ndarray
    truth: np.ndarray
    confidence: np.ndarray | None = None

    def some(self, answers):
        """The same with some of the answers."""
        confidence = None if self.confidence is None else self.confidence[answers]
        item, person, label = self.item[answers], self.person[answers], self.label[answers]
        return replace(self, item=item, person=person, label=label, confidence=confidence)

    def drawn(self, per_item, rng):
        """So many answers of each item, at random."""
        order = rng.permutation(len(self.item))
        order = order[np.argsort(self.item[order], kind="stable")]
        item = self.item[order]
        rank = np.arange(len(order)) - np.searchsorted(item, item)
        return self.some(np.sort(order[rank < per_item]))

    def observations(self, rows, *, named=True, confidence=False):
        """The given items, as a crowd of people with names or as one anonymous person's answers."""
        n_classes, place = self.proba.shape[1], np.full(len(self.proba), -1)
        place[rows] = np.arange(len(rows))
        here = place[self.item] >= 0
        names, person = np.unique(self.person[here], return_inverse=True)
        if not named:
            names, person = np.array(["human"]), np.zeros_like(person)
        item, column = place[self.item[here]], person * n_classes + self.label[here]
        return Observations(
            np.arange(n_classes),
            (self.proba[rows],),
            pack_answers(item, column, len(rows)),
            tuple(map(str, names.tolist())),
            np.arange(len(rows)),
            confidence=pack_values(item, column, self.confidence[here], len(rows)) if confidence else None,
        )

    def wide(self, rows):
        """The given items as CROWDLAB takes them: a row per item, a column per person, NaN where not asked."""
        place = np.full(len(self.proba), -1)
        place[rows] = np.arange(len(rows))
        here = place[self.item] >= 0
        names, person = np.unique(self.person[here], return_inverse=True)
        table = np.full((len(rows), len(names)), np.nan)
        table[place[self.item[here]], person] = self.label[here]
        return table


def cifar10h(folder):
    """{model: Crowd} of CIFAR-10H: 2,567 people, about 50 answers per image."""
    answers = _parquet(Path(folder) / "cifar10h" / "annotators.parquet")
    return {model: Crowd(*_codes(answers), *_model(folder, name)) for model, name in CIFAR10H.items()}


def cifar10s(folder):
    """{model: Crowd} of CIFAR-10S: 1,000 images of CIFAR-10H, how sure people were among it."""
    answers = _parquet(Path(folder) / "cifar10s" / "labels.parquet")
    answers = answers[~answers["is_repeat"].astype(bool)]
    image, item = np.unique(answers["item_id"].to_numpy(np.intp), return_inverse=True)
    _, person, label = _codes(answers)
    crowds = {}
    for model, name in CIFAR10H.items():
        proba, truth = _model(folder, name)
        sure = answers["confidence"].to_numpy(float)
        crowds[model] = Crowd(item, person, label, proba[image], truth[image], sure)
    return crowds


def imagenet16h(folder, noise):
    """{model: Crowd} of ImageNet-16H at one level of noise: 145 people, about six answers per image."""
    folder = Path(folder) / "imagenet16h"
    people, models = (
        _csv(folder / name)
        for name in ("human_only_classification_6per_img_export.csv", "hai_epoch10_model_preds_max_normalized.csv")
    )
    classes = sorted(set(models["category"]))
    people = people[(people["noise_level"] == noise) & people["participant_classification"].isin(classes)]
    models, crowds = models[models["noise_level"] == noise], {}
    for model, table in models.groupby("model_name", sort=True):
        image = pd.Index(table["image_name"])
        item = image.get_indexer(people["image_name"])
        asked = item >= 0
        person = np.unique(people["participant_id"].to_numpy()[asked], return_inverse=True)[1]
        label = pd.Index(classes).get_indexer(people["participant_classification"])[asked]
        proba = table[classes].to_numpy(float)
        truth = pd.Index(classes).get_indexer(table["category"])
        crowds[str(model)] = Crowd(item[asked], person, label, proba / proba.sum(axis=1, keepdims=True), truth)
    if not crowds:
        raise UnreadableSet(f"{folder} holds no model's rows at noise {noise}.")
    return crowds


def _codes(answers):
    return tuple(answers[name].to_numpy(np.intp) for name in ("item_id", "annotator_id", "human_label"))


def _model(folder, name):
    path = Path(folder) / "cifar10h" / name
    if not path.exists():
        raise UnreadableSet(f"{path} is not there.")
    return votes_and_rows(path)[1:]


def _parquet(path):
    if not path.exists():
        raise UnreadableSet(f"{path} is not there.")
    return pd.read_parquet(path)


def _csv(path):
    if not path.exists():
        raise UnreadableSet(f"{path} is not there.")
    return pd.read_csv(path)
