"""A crowd for tests: answers with confidences, some unsure, and two models, told by hand and in every form of table."""

import numpy as np
import pandas as pd

from twoheads import Observations
from twoheads.kernels.answers import pack_answers, pack_values
from twoheads.observations.labels import label_text

NAN = np.nan


def crowd(n_items=40, n_classes=3, n_people=4, seed=0):
    """Answers of several people with confidences, some unsure, and two models with gaps, as they would be told by hand.

    Returns the observations and what they were made of: (item, person) -> (label, confidence), (item, person) unsure.
    """
    rng = np.random.default_rng(seed)
    told, unsure = {}, set()
    for item in range(n_items):
        for person in range(n_people):
            kind = rng.integers(4)
            if kind == 0:
                unsure.add((item, person))
            elif kind > 1:
                told[item, person] = int(rng.integers(n_classes)), float(rng.choice([NAN, 1, 2, 3, 4, 5]))
    item, person = np.array(list(told)).T
    label, confidence = np.array(list(told.values())).T
    column = person * n_classes + label.astype(int)
    shuffled = rng.permutation(len(item))
    item, column, confidence = item[shuffled], column[shuffled], confidence[shuffled]
    who = np.array(sorted(unsure))
    models = [rng.dirichlet(np.ones(n_classes), n_items) for _ in range(2)]
    models[0][::5] = NAN
    models[1][::7] = NAN
    seen = Observations(
        np.array(["a", "b", "c"][:n_classes]),
        tuple(models),
        pack_answers(item, column, n_items),
        tuple(f"p{at}" for at in range(n_people)),
        np.arange(n_items),
        ("left", "right"),
        unsure=pack_answers(who[:, 0], who[:, 1], n_items),
        confidence=pack_values(item, column, confidence, n_items),
    )
    return seen, told, unsure


def written(X, path):
    """The path, to which a frame is written in the format of its suffix."""
    if path.suffix == ".parquet":
        X.to_parquet(path)
    elif path.suffix == ".jsonl":
        X.to_json(path, orient="records", lines=True)
    else:
        X.to_csv(path, index=False)
    return path


def entries(answers, confidence=None):
    """{(item, column): confidence} of the answers that are there."""
    start = np.arange(len(answers) + 1) if answers.start is None else answers.start
    return {
        (item, int(answers.column[at])): None if confidence is None else float(confidence[at])
        for item in range(len(answers))
        for at in range(start[item], start[item + 1])
        if answers.column[at] >= 0
    }


def same(one, two):
    """Whether two mappings have the same keys and values, NaN equal to NaN."""
    return one.keys() == two.keys() and all(np.array_equal(one[key], two[key], equal_nan=True) for key in one)


def told_of(seen):
    """{(item id, person, label or "unsure"): confidence} of all answers, and {(item id, model): row}."""
    told = {}
    for (item, column), sure in entries(seen.answers, seen.confidence).items():
        person, label = divmod(column, seen.n_classes)
        name = seen.annotators[person], label_text(seen.classes[label].item())
        told[label_text(seen.items[item]), *name] = NAN if sure is None else sure
    for item, person in entries(seen.unsure) if seen.unsure is not None else ():
        told[label_text(seen.items[item]), seen.annotators[person], "unsure"] = NAN
    rows = {}
    for model, proba in zip(seen.models, seen.model_proba, strict=True):
        for item, row in zip(seen.items, proba, strict=True):
            if not np.isnan(row).any():
                rows[label_text(item), model] = row.tolist()
    return told, rows


def wide_frame(seen, told, unsure, *, word="unsure"):
    """The observations of `crowd` as a wide table."""
    frame = pd.DataFrame({"item": [f"i{item}" for item in range(len(seen))]})
    for person, name in enumerate(seen.annotators):
        frame[f"human_{name}"] = [
            word if (item, person) in unsure else "abc"[told[item, person][0]] if (item, person) in told else None
            for item in range(len(seen))
        ]
        frame[f"confidence_{name}"] = [told.get((item, person), (0, NAN))[1] for item in range(len(seen))]
    for model, proba in zip(seen.models, seen.model_proba, strict=True):
        for at, name in enumerate("abc"):
            frame[f"{model}.p_{name}"] = proba[:, at]
    return frame


def long_frames(seen, told, unsure, *, word="unsure"):
    """The observations of `crowd` as long tables of answers and model rows."""
    answers = [(f"i{item}", f"p{person}", "abc"[label], sure) for (item, person), (label, sure) in told.items()]
    answers += [(f"i{item}", f"p{person}", word, 3.0) for item, person in unsure]  # how sure of being unsure: not used
    rows = [
        (f"i{item}", model, *proba[item])
        for model, proba in zip(seen.models, seen.model_proba, strict=True)
        for item in range(len(seen))
        if not np.isnan(proba[item, 0])
    ]
    return (
        pd.DataFrame(answers, columns=["item", "annotator", "answer", "confidence"]),
        pd.DataFrame(rows, columns=["item", "model", "p_a", "p_b", "p_c"]),
    )
