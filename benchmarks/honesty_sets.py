"""Answers with the truth of every item, from the folder of sets and from simulated worlds, all in one shape."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit, softmax

import twoheads as th

#: The sets that people's intervals were not looked at with when they were first chosen; later they were.
SECOND_HALF = ("cifar10s", "cifar10h", "labelme", "judges", "rte", "SP", "face", "product")
#: More items than this are thinned to as many, at random.
MOST_ITEMS = 2000


@dataclass(frozen=True)
class Answered:
    """What people answered about items whose truth is known.

    item, person, answer  (n_answers,) codes
    truth                 (n_items,) codes
    proba                 (n_items, n_classes) a model's rows, or None
    """

    name: str
    item: np.ndarray
    person: np.ndarray
    answer: np.ndarray
    truth: np.ndarray
    proba: np.ndarray | None
    n_classes: int

    @property
    def right(self):
        """Whether each answer is right, (n_answers,)."""
        return (self.answer == self.truth[self.item]) * 1.0

    @property
    def n_people(self):
        """How many people there are."""
        return int(self.person.max()) + 1

    def accuracy(self):
        """Each person's share of right answers over all items, (n_people,)."""
        return np.bincount(self.person, self.right) / np.bincount(self.person)

    def observations(self):
        """The same as the library reads it, the items in their order."""
        columns = {"item": self.item, "annotator": self.person.astype(str), "answer": self.answer}
        rows = None
        if self.proba is not None:
            rows = pd.DataFrame(self.proba, columns=[f"p_{label}" for label in range(self.n_classes)])
            rows.insert(0, "item", np.arange(len(self.truth)))
        seen = th.Observations.from_answers(pd.DataFrame(columns), rows, classes=np.arange(self.n_classes))
        return seen.take(np.argsort(np.asarray(seen.items, dtype=np.intp)))


def answered(name, item, person, answer, truth_of, proba_of=None, *, seed=0):
    """Codes for items and people; items without truth, answers or (where there is a model) a row are dropped."""
    table = pd.DataFrame({"item": item, "person": person, "answer": answer}).dropna()
    known = truth_of.index if proba_of is None else truth_of.index.intersection(proba_of.index)
    known = known.intersection(pd.Index(table["item"].unique()))
    some = np.random.default_rng(seed).permutation(len(known))[:MOST_ITEMS]
    items = known[np.sort(some)]
    table = table[table["item"].isin(items)].drop_duplicates(["item", "person"])
    classes = sorted({*truth_of.tolist(), *table["answer"].tolist()})
    code = {label: at for at, label in enumerate(classes)}
    proba = None if proba_of is None else proba_of.loc[items].to_numpy(float)
    return Answered(
        name,
        items.get_indexer(table["item"]),
        np.unique(table["person"].to_numpy(), return_inverse=True)[1],
        np.array([code[label] for label in table["answer"]]),
        np.array([code[label] for label in truth_of.loc[items]]),
        None if proba is None else proba / proba.sum(axis=1, keepdims=True),
        len(classes),
    )


def real_sets(folder):
    """Every set under the folder as `Answered`, by name; sets that are not there are left out."""
    readers = _chaoyang, _imagenet16h, _code_ecg, _cifar, _labelme, _judges, _crowds
    found = []
    for reader in readers:
        try:
            found += list(reader(Path(folder)))
        except FileNotFoundError as missing:
            print(f"left out: {missing}")
    return {each.name: each for each in found}


def _truth(table, item, truth):
    return table.drop_duplicates(item).set_index(item)[truth]


def _chaoyang(folder):
    table, rows = (pd.read_parquet(folder / "chaoyang" / f"{name}.parquet") for name in ("labels", "probs"))
    proba = rows.set_index("item_id")[["p0", "p1", "p2", "p3"]]
    truth = _truth(table, "item_id", "true_label")
    yield answered("chaoyang", table["item_id"], table["annotator_id"], table["human_label"], truth, proba)


def _imagenet16h(folder):
    names = "human_only_classification_6per_img_export.csv", "hai_epoch10_model_preds_max_normalized.csv"
    people, models = (pd.read_csv(folder / "imagenet16h" / name) for name in names)
    classes = sorted(set(models["category"]))
    for noise in (80, 110):
        table = people[(people["noise_level"] == noise) & people["participant_classification"].isin(classes)]
        rows = models[(models["noise_level"] == noise) & (models["model_name"] == "vgg19")].set_index("image_name")
        columns = table["image_name"], table["participant_id"], table["participant_classification"]
        yield answered(f"imagenet-{noise}", *columns, rows["category"], rows[classes])


def _code_ecg(folder):
    table, rows = (pd.read_parquet(folder / "code-ecg" / f"{name}.parquet") for name in ("labels", "probs"))
    rows = rows[rows["model"] == "dnn"].set_index("item")[["p_0", "p_1"]]
    for task, some in table.groupby("task"):
        truth = _truth(some, "item", "truth")
        yield answered(f"ecg-{task}", some["item"], some["annotator"], some["answer"], truth, rows)


def _cifar(folder):
    rows = pd.read_csv(folder / "cifar10h" / "human_model_truth_cifar10h.csv", header=None)
    truth, proba = rows[20] - 1, rows[list(range(10, 20))]
    for name, file in ("cifar10s", "labels.parquet"), ("cifar10h", "annotators.parquet"):
        table = pd.read_parquet(folder / name / file)
        if name == "cifar10h":  # a tenth of its people
            table = table[table["annotator_id"] % 10 == 0]
        yield answered(name, table["item_id"], table["annotator_id"], table["human_label"], truth, proba)


def _labelme(folder):
    table, rows = (pd.read_parquet(folder / "labelme" / f"{name}.parquet") for name in ("labels", "probs"))
    rows = rows[rows["model"] == rows["model"].iloc[0]].set_index("item")
    truth = _truth(table, "item", "truth")
    proba = rows[[f"p_{label}" for label in range(8)]]
    yield answered("labelme", table["item"], table["annotator"], table["answer"], truth, proba)


def _judges(folder):
    table = pd.read_parquet(folder / "judges" / "judges.parquet")
    truth = _truth(table, "item", "truth")
    yield answered("judges", table["item"], table["annotator"], table["answer"], truth)


def _crowds(folder):
    table = pd.read_parquet(folder / "crowds" / "answers.parquet")
    short = {"s4_Face Sentiment Identification": "face", "d_jn-product": "product", "ZenCrowd_us": "zencrowd"}
    for name, some in table.groupby("set"):
        known = some[some["truth"].fillna("").astype(str) != ""]
        truth = _truth(known, "item", "truth").astype(str)
        columns = known["item"], known["annotator"], known["answer"].astype(str)
        yield answered(short.get(name, name), *columns, truth)


WORLDS = ("independent", "shared difficulty", "weak correlated person", "adversary", "1 : 99", "truth where both agree")


def simulated(world, seed, *, n_items=1000, n_people=12, per_item=4, n_classes=4):
    """People and a model on items whose truth is known: (Answered, each person's true accuracy).

    The accuracy is that of the process, not of the answers drawn.
    """
    rng = np.random.default_rng(seed)
    rare = world == "1 : 99"
    n_classes = 2 if rare else n_classes
    prevalence = np.array([0.99, 0.01]) if rare else np.full(n_classes, 1 / n_classes)
    truth = rng.choice(n_classes, n_items, p=prevalence)
    ability = logit(rng.beta(8, 3, n_people))
    hard = rng.normal(0, 1.5 if world == "shared difficulty" else 0.0, n_items)
    lure = (truth + rng.integers(1, n_classes, n_items)) % n_classes  # the wrong class that an item looks like
    model_right = rng.random(n_items) < expit(1.5 + hard)
    model = np.where(model_right, truth, lure)
    proba = softmax(rng.normal(0, 0.3, (n_items, n_classes)) + 2.0 * np.eye(n_classes)[model], axis=1)
    item, person = _who_answers(n_items, n_people, per_item, rng)
    chance = expit(ability[person] + hard[item])
    if world == "weak correlated person":
        chance = np.where(person == 0, np.where(model_right[item], 0.8, 0.1), chance)
    if world == "adversary":
        chance = np.where(person == 0, 0.1, chance)
    wrong = (truth[item] + rng.integers(1, n_classes, len(item))) % n_classes
    wrong = np.where(rng.random(len(item)) < 0.6, lure[item], wrong)
    answer = np.where(rng.random(len(item)) < chance, truth[item], wrong)
    return Answered(world, item, person, answer, truth, proba, n_classes), _true_accuracy(world, ability)


def _who_answers(n_items, n_people, per_item, rng):
    person = np.argsort(rng.random((n_items, n_people)), axis=1)[:, :per_item].ravel()
    return np.repeat(np.arange(n_items), per_item), person


def _true_accuracy(world, ability):
    """Mean of expit(ability + hard) over the items' difficulty."""
    node, weight = np.polynomial.hermite_e.hermegauss(41)
    spread = 1.5 if world == "shared difficulty" else 0.0
    accuracy = expit(ability[:, None] + spread * node) @ weight / weight.sum()
    if world == "adversary":
        accuracy[0] = 0.1
    if world == "weak correlated person":
        accuracy[0] = 0.1 + 0.7 * float(expit(1.5))
    return accuracy
