"""Facts about L+L and LR in plain sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.text import count, interval, percent


def label_label_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about L+L, from `label_label_facts`."""
    sentences = [
        "L+L: people's labels and the model's label, weighted by how often each is correct; confidence is not used."
    ]
    for name, subject, verb in (("human", "People", "are"), ("model", "The model", "is")):
        n, (accuracy, low, high) = found[name]["answers"], found[name]["accuracy"]
        if n:
            sentences.append(
                f"{subject} {verb} correct on {percent(accuracy)} of {count(n, 'label')} with truth "
                f"({percent(found['level'])} interval {interval(low, high, 0)})."
            )
        else:
            sentences.append(f"{subject} {verb} not evaluated: there is no label with truth.")
    return sentences


def logistic_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about LR, from `logistic_facts`."""
    answer = np.mean(list(found["weight_of_answer"].values()))
    if found["features"] == "log":
        features = "log-odds"
        effects = f"the model's log-odds have weight {found['weight_of_model']:.2f}, and an answer adds {answer:.2f}"
    else:
        features = "probabilities"
        effects = f"a model's probability of 1 adds {found['weight_of_model']:.2f}, and an answer {answer:.2f},"
    sentences = [
        f"LR: a logistic regression of the truth on the model's {features} and people's answers, with "
        f"{found['weights']:,} weights for {len(found['classes']):,} classes.",
        f"On average {effects} to the log-odds of its class.",
    ]
    if found["without_label"]:
        names = ", ".join(map(repr, found["without_label"][:3]))
        more = f" and {len(found['without_label']) - 3:,} more" if len(found["without_label"]) > 3 else ""
        sentences.append(f"Never predicted, because there are no labels: {names}{more}.")
    return sentences
