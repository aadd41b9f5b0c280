"""Real sets in the layouts of public releases: how often each class was answered, a model's row and the truth, by item.

A folder of folders, each a family of sets:

- CSV files without a header, 21 columns, as CIFAR-10H is published: vote counts, probabilities and the true label (last
  and from 1, or first and from 0);
- a pair of CSV files as ImageNet-16H is published: people's answers, and models' predictions divided by their maximum;
  every model and noise level is a set;
- ``labels.parquet`` (item_id, annotator_id, human_label, true_label), ``probs.parquet`` (item_id, model, p0, p1, ...);
  or by the names item, annotator, answer, truth and p_0, p_1, ..., with a column ``task`` where there are several;
- ``labels.parquet`` alone, whose items are rows of the CIFAR-10H files next to it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd


class UnreadableSet(Exception):
    """What is wrong with a file, and what was expected."""


@dataclass(frozen=True)
class RealSet:
    """Items of one model.

    votes  (n_items, n_classes) how often each class was answered
    proba  (n_items, n_classes) the model's rows
    truth  (n_items,) codes
    """

    family: str
    name: str
    votes: np.ndarray
    proba: np.ndarray
    truth: np.ndarray

    def drawn(self, rng, rows=slice(None)):
        """One answer of each item, drawn at random, beside the model's row, (n_items, 1 + n_classes)."""
        votes = self.votes[rows]
        share = np.cumsum(votes, axis=1) / votes.sum(axis=1, keepdims=True)
        human = (rng.random((len(share), 1)) >= share - 1e-12).sum(axis=1).clip(0, share.shape[1] - 1)
        return np.column_stack([human, self.proba[rows]])


def find_sets(folder):
    """All sets under a folder, by family and name; and what could not be read, in words."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UnreadableSet(f"{folder} is no folder; give one that holds a folder per family of sets.")
    families = sorted(path for path in folder.iterdir() if path.is_dir())
    if any(folder.glob("*.parquet")) or any(folder.glob("*.csv")):
        families = [folder]
    sets, problems = [], []
    for family in families:
        try:
            sets += _family(family)
        except (UnreadableSet, ValueError, OSError) as error:
            problems.append(f"{family.name}: {error}")
    return sets, problems


def _family(folder):
    answers, rows = folder / "labels.parquet", folder / "probs.parquet"
    if answers.exists() and rows.exists():
        return _parquet(folder.name, answers, rows)
    if answers.exists():
        return _joined(folder.name, answers)
    if rows.exists():
        raise UnreadableSet(f"{rows} has no {answers.name} beside it.")
    tables = sorted(folder.glob("*.csv"))
    if not tables:
        raise UnreadableSet("there are no labels.parquet and no CSV files in it.")
    headers = {path: _first_line(path).split(",") for path in tables}
    if any("image_name" in header for header in headers.values()):
        return _imagenet16h(folder.name, headers)
    return [_checked(folder.name, path.stem, *votes_and_rows(path), path) for path in tables]


def _first_line(path):
    with path.open(encoding="utf-8") as file:
        return file.readline().strip()


def votes_and_rows(path):
    """Votes, model rows and truth of a file as CIFAR-10H is published."""
    table = np.loadtxt(path, delimiter=",", ndmin=2)
    if table.shape[1] != 21:
        raise UnreadableSet(
            f"{path} has {table.shape[1]} columns; 21 were expected: label, 10 votes, 10 probabilities."
        )
    # The label stands last where the last column holds whole numbers from 1 to 10, as no column of probabilities does.
    last = table[:, -1]
    if np.isin(last, np.arange(1, 11)).all():
        return table[:, :10], table[:, 10:20], last.astype(int) - 1
    return table[:, 1:11], table[:, 11:21], table[:, 0].astype(int)


def _parquet(family, answers, rows):
    labels, proba = _answers(answers), _renamed(pd.read_parquet(rows))
    columns = sorted((name for name in proba if name[:1] == "p" and name[1:].isdigit()), key=lambda name: int(name[1:]))
    _need_columns(proba, ["item_id", *columns[:1]] if columns else ["item_id", "p0"], rows)
    parts = [name for name in ("task", "model") if name in proba] or [np.repeat("model", len(proba))]
    votes, truth = _votes(labels, len(columns))
    sets = []
    for name, table in proba.groupby(parts, sort=True):
        known = table.drop_duplicates("item_id").set_index("item_id")[columns].astype(float).dropna()
        items = votes.index[votes.index.isin(known.index)]
        found = votes.loc[items].to_numpy(), known.loc[items].to_numpy(), truth.loc[items].to_numpy()
        sets.append(_checked(family, ", ".join(map(str, name)), *found, rows))
    return sets


def _renamed(table):
    """The same by the names of the first layout; texts of numbers are numbers."""
    names = {"item": "item_id", "annotator": "annotator_id", "answer": "human_label", "truth": "true_label"}
    names |= {name: "p" + name[2:] for name in table if name[:2] == "p_" and name[2:].isdigit()}
    table = table if "item_id" in table else table.rename(columns=names)
    labels = [name for name in ("human_label", "true_label") if name in table]
    return table.assign(**{name: pd.to_numeric(table[name], errors="coerce") for name in labels})


def _joined(family, answers):
    neighbours = sorted(path for path in answers.parent.parent.glob("cifar10h/*.csv"))
    if not neighbours:
        raise UnreadableSet(f"{answers} has neither a probs.parquet nor a folder cifar10h with CSV files next to it.")
    votes, truth = _votes(_answers(answers), 10)
    item, sets = votes.index.to_numpy(), []
    for path in neighbours:
        _, proba, labels = votes_and_rows(path)
        if item.max() >= len(proba) or (labels[item] != truth.to_numpy()).any():
            raise UnreadableSet(f"the items of {answers} are not rows of {path}: their truth differs.")
        sets.append(_checked(family, path.stem, votes.to_numpy(), proba[item], labels[item], answers))
    return sets


def _answers(path):
    labels = _renamed(pd.read_parquet(path))
    _need_columns(labels, ["item_id", "human_label", "true_label"], path)
    return labels[~labels["is_repeat"].astype(bool)] if "is_repeat" in labels else labels


def _votes(labels, n_classes):
    """Counts of answers by item and class, and the truth of each item; items without either are left out."""
    known = labels["human_label"].between(0, n_classes - 1) & labels["true_label"].between(0, n_classes - 1)
    labels = labels[known.fillna(False).astype(bool)]
    votes = pd.crosstab(labels["item_id"], labels["human_label"]).reindex(columns=range(n_classes), fill_value=0)
    return votes.astype(float), labels.groupby("item_id")["true_label"].first().loc[votes.index].astype(int)


def _imagenet16h(family, headers):
    answers = [path for path, header in headers.items() if "participant_classification" in header]
    rows = [path for path, header in headers.items() if "model_name" in header]
    if len(answers) != 1 or len(rows) != 1:
        raise UnreadableSet("one CSV file with participant_classification and one with model_name were expected.")
    people, models = pd.read_csv(answers[0]), pd.read_csv(rows[0])
    _need_columns(people, ["image_name", "noise_level", "participant_classification"], answers[0])
    _need_columns(models, ["image_name", "noise_level", "category"], rows[0])
    classes = sorted(set(models["category"]))
    _need_columns(models, classes, rows[0])
    people = people[people["participant_classification"].isin(classes)]
    sets = []
    for (model, noise), table in models.groupby(["model_name", "noise_level"], sort=True):
        seen = people[people["noise_level"] == noise]
        votes = pd.crosstab(seen["image_name"], seen["participant_classification"]).reindex(
            columns=classes, fill_value=0
        )
        table = table.drop_duplicates("image_name").set_index("image_name")
        items = votes.index[votes.index.isin(table.index)]
        if len(items):
            proba, truth = table.loc[items, classes].to_numpy(float), table.loc[items, "category"].map(classes.index)
            sets.append(
                _checked(
                    family,
                    f"{model}, noise {noise}",
                    votes.loc[items].to_numpy(float),
                    proba,
                    truth.to_numpy(),
                    rows[0],
                )
            )
    return sets


def _need_columns(table, names, path):
    missing = [name for name in names if name not in table]
    if missing:
        raise UnreadableSet(f"{path} has no column {', '.join(missing)}; it has {', '.join(map(str, table.columns))}.")


def _checked(family, name, votes, proba, truth, path):
    total = proba.sum(axis=1, keepdims=True)
    if len(truth) < 20:
        raise UnreadableSet(f"{path} ({name}) holds {len(truth)} items with answer, row and truth; 20 are needed.")
    if not (np.isfinite(proba).all() and (proba >= 0).all() and (total > 0).all()):
        raise UnreadableSet(f"{path} ({name}): a model's row holds no probabilities.")
    if truth.min() < 0 or truth.max() >= proba.shape[1]:
        raise UnreadableSet(f"{path} ({name}): the true labels are not between 0 and {proba.shape[1] - 1}.")
    asked = votes.sum(axis=1) > 0
    return RealSet(family, name, votes[asked], (proba / total)[asked], truth[asked])
