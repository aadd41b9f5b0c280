"""The members of a team alone, as labels and perhaps probabilities: models, their mean, people, their majority."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.combination.rival import Rival
from twoheads.combination.rivals import Labels, RivalList, model_errors
from twoheads.confusion.score_levels import ScoreLevels, answered
from twoheads.kernels.answers import item_of_answers, vote_shares
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.chosen_answers import answer_of
from twoheads.kernels.scoring.ties import top_shares
from twoheads.observations import Observations


@dataclass(frozen=True, eq=False)
class Forecast:
    """What one method or one member says of the items.

    name     as it is shown
    kind     "method", "model", "models" (their mean), "human", "person" (one at random), "majority", "best_person", or
             "annotator" (one of all people)
    shares   (n_classes, n_items) its labels, one-hot or shared by a tie; NaN where it has none
    proba    (n_classes, n_items) its probabilities; None if it gives labels only
    ranking  (n_classes, n_items) by which a person's confidence ranks the items; None without
    """

    name: str
    kind: str
    shares: Floats
    proba: Floats | None = None
    ranking: Floats | None = None


def one_hot(label: Codes, n_classes: int) -> Floats:
    """Labels as shares, (n_classes, n_items); NaN where a label is missing."""
    shares = 1.0 * (np.arange(n_classes)[:, None] == label)
    shares[:, label == MISSING] = np.nan
    return np.asarray(shares)


def members_alone(
    observations: Observations,
    truth: Codes,
    weight: Floats | None = None,
    *,
    levels: ScoreLevels | None = None,
    people: bool = False,
) -> list[Forecast]:
    """The members of items of known truth, in the order of the rivals; with ``people`` also each of several people.

    observations, truth, weight  of the items, (n_items,)
    levels                       by which scores are labels; found from these items by default
    """
    read = answered(observations, levels or ScoreLevels.of(observations, truth, weight))
    block = read.block(slice(0, len(read)), true_label=truth)
    models = read.models if read.has_model().any() else ()
    listed = RivalList(read.annotators, models, False, read.machines)
    labels = listed.labels(read.answers, read.n_classes, model_errors(block), None)
    found = listed.compared(listed.sums(labels, truth, np.ones(len(truth)), weight))
    logs = block.members or (block.log_proba,)
    rows = []
    for rival in () if found is None else found.members:
        log_proba = _log_proba(rival, models, logs, block.log_proba)
        proba = None if log_proba is None else np.exp(log_proba)
        shares = _shares(rival, listed, labels) if log_proba is None else _top(log_proba, block)
        ranking = _ranking(read, _people(read)[0], shares) if rival.key == "human" else None
        rows.append(Forecast(_name(rival), rival.key, shares, proba, ranking))
    return rows + (_each_person(read) if people and len(_people(read)) > 1 else [])


def _name(rival: Rival) -> str:
    names = {
        "human": "human",
        "person": "one person",
        "majority": "majority",
        "model": rival.name or "model",
        "models": "mean of the models",
        "best_person": f"best person ({rival.name})",
    }
    return names[rival.key]


def _log_proba(rival: Rival, models: tuple[str, ...], logs: tuple[Floats, ...], pooled: Floats) -> Floats | None:
    """Log-probabilities of a model or of their mean; None of anybody who gives labels."""
    if rival.key == "models" or (rival.key == "model" and not rival.name):
        return pooled
    return logs[models.index(rival.name)] if rival.key == "model" and rival.name in models else None


def _shares(rival: Rival, listed: RivalList, labels: Labels) -> Floats:
    """The labels of a rival that gives labels, (n_classes, n_items); NaN where it has none."""
    n_classes = labels.n_classes
    if rival.key == "model":
        return one_hot(labels.machines[rival.name], n_classes)
    if rival.key == "best_person":
        return one_hot(answer_of(labels.answers, listed.people.index(rival.name), n_classes), n_classes)
    shares = vote_shares(labels.answers, n_classes)
    if rival.key == "majority":
        shares = top_shares(shares)
    return np.where(labels.answers.per_item() > 0, shares, np.nan)


def _top(log_proba: Floats, block: Block) -> Floats:
    """The labels of a model, or of several models' mean, (n_classes, n_items); NaN where it has no row."""
    absent = np.isnan(log_proba[0]) if block.no_model is None else np.isnan(log_proba[0]) | block.no_model
    return np.where(absent, np.nan, top_shares(np.nan_to_num(log_proba)))


def _people(read: Observations) -> list[int]:
    """The places of the people among the annotators."""
    return [at for at, name in enumerate(read.annotators) if name not in read.machines]


def _each_person(read: Observations) -> list[Forecast]:
    """Everybody's own labels, ranked by their confidence where every answer has one."""
    rows = []
    for at in _people(read):
        label = answer_of(read.answers, at, read.n_classes)
        if (label != MISSING).any():
            shares = one_hot(label, read.n_classes)
            rows.append(Forecast(read.annotators[at], "annotator", shares, ranking=_ranking(read, at, shares)))
    return rows


def _ranking(read: Observations, annotator: int, shares: Floats) -> Floats | None:
    """The confidence that a person has in each class: below 0 where the answer is another one."""
    if read.confidence is None:
        return None
    own = np.flatnonzero((read.answers.column != MISSING) & (read.answers.column // read.n_classes == annotator))
    sure = read.confidence[own]
    if np.isnan(sure).any():
        return None
    confidence = np.full(len(read), np.nan)
    confidence[item_of_answers(read.answers)[own]] = sure - sure.min() + 1.0
    return np.asarray(np.where(shares > 0, confidence, -confidence))
