"""A confusion matrix for each person from 25 answers: the paper's commented-out appendix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twoheads.evaluation import error_rate
from twoheads.kernels.arrays import Codes, Floats
from twoheads.studies.context import Context, Result
from twoheads.studies.methods import combiner_of
from twoheads.studies.rows import BEHAVIOURS, Row, rows_of
from twoheads.studies.setting import SEED, Priors, Setting

N_LABELLED = 25
#: Minimum of held-out answers of a person: the error on one or two is mostly noise.
MIN_HELD_OUT = 5
METHODS = ("Human", "Model", "P+L")
_PEOPLE_PER_TASK = 100


def individuals(context: Context) -> Result:
    """Error (%) of each person, of the model and of P+L on the person's other answers; mean and sd are over people.

    Each person's 25 answers are drawn once (``seeds`` draws, then averaged by person).
    """
    n_draws = context.protocol.trials(1)
    settings = [setting for setting in context.data.settings if setting.people is not None]
    chunks = [
        (setting, behaviour, chunk)
        for setting in settings
        for behaviour in BEHAVIOURS
        for chunk in _chunks(_answers_by_person(setting))
    ]
    tasks = [
        (setting.proba, setting.truth, chunk, behaviour, n_draws, context.protocol.priors(setting))
        for setting, behaviour, chunk in chunks
    ]
    errors: dict[tuple[Setting, str], list[Floats]] = {}
    for (setting, behaviour, _), found in zip(chunks, context.work.map(_errors, tasks), strict=True):
        errors.setdefault((setting, behaviour), []).append(found)
    rows: list[Row] = []
    for (setting, behaviour), parts in errors.items():
        table = np.concatenate(parts)
        for at, method in enumerate(METHODS):
            over_people = rows_of(setting, behaviour, method, N_LABELLED, {"error": table[:, at].tolist()})
            rows += [replace(row, n_seeds=n_draws) for row in over_people]
        rows += rows_of(setting, behaviour, "Human", N_LABELLED, {"people": [float(len(table))]})
    notes = [
        f"mean and sd are over people with {N_LABELLED + MIN_HELD_OUT} answers or more; n_seeds is the draws of 25."
    ]
    return Result("individuals", rows, notes=notes)


def _answers_by_person(setting: Setting) -> list[tuple[int, Codes, Codes]]:
    """Number, images and answers of each person with enough answers."""
    people = setting.people
    assert people is not None
    order = np.argsort(people.person, kind="stable")
    who, starts = np.unique(people.person[order], return_index=True)
    parts = np.split(order, starts[1:])
    return [
        (int(person), people.image[part], people.answer[part])
        for person, part in zip(who, parts, strict=True)
        if len(part) >= N_LABELLED + MIN_HELD_OUT
    ]


def _chunks(people: list[tuple[int, Codes, Codes]]) -> list[list[tuple[int, Codes, Codes]]]:
    return [people[at : at + _PEOPLE_PER_TASK] for at in range(0, len(people), _PEOPLE_PER_TASK)]


def _errors(
    proba: Floats,
    truth: Codes,
    people: list[tuple[int, Codes, Codes]],
    behaviour: str,
    n_draws: int,
    priors: Priors,
) -> Floats:
    """Errors in per cent of human, model and P+L, (n_people, 3), averaged over draws."""
    errors = np.zeros((len(people), len(METHODS)))
    for at, (person, image, answer) in enumerate(people):
        X, y = np.column_stack([answer, proba[image]]), truth[image]
        for draw in range(n_draws):
            order = np.random.default_rng([SEED, abs(person), draw]).permutation(len(y))
            training, held_out = order[:N_LABELLED], order[N_LABELLED:]
            combiner = combiner_of(behaviour, "P+L", priors=priors).fit(X[training], y[training])
            errors[at] += [
                100 * error_rate(y[held_out], answer[held_out]),
                100 * error_rate(y[held_out], X[held_out, 1:].argmax(axis=1)),
                100 * error_rate(y[held_out], combiner.predict(X[held_out])),
            ]
    return errors / n_draws
