"""Facts about fitted combiners in plain sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.insight.facts import ENOUGH_ANSWERS
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.text import count, percent

#: With fewer labels than this, nothing is said about whether the correction for dependence helps.
FEW_LABELS = 30

#: "Unsure" must be so many times as likely under one class as under another to be evidence.
INFORMATIVE = 1.5


def team_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about a team, from `team_facts`."""
    sentences = [_labels(found), _people(found), *crowd_sentences(found)]
    if "temperature" in found["model"]:
        sentences.append(_temperature(found["model"]))
    if "dependence" in found:
        sentences.append(_dependence(found))
    if "record" in found:
        sentences += _holdout(found["record"], found["labelled"])
    if "guard" in found:
        sentences.append(_guard(found["guard"]))
    return sentences


def _labels(found: dict[str, Any]) -> str:
    labelled, unlabelled = found["labelled"], found["unlabelled"]
    if not labelled:
        return f"Learnt from {count(unlabelled, 'item')} without any truth: what follows is estimated, not measured."
    per_class = found["labels_per_class"]
    without = [repr(name) for name, count in per_class.items() if count == 0]
    if len(without) > 3:
        note = f"{len(without)} classes have no label, {without[0]} among them"
    elif without:
        note = f"no label shows {', '.join(without)}"
    else:
        fewest = min(per_class, key=per_class.__getitem__)
        note = f"the rarest true class is {fewest!r}, with {per_class[fewest]:g}"
    rest = f" and {unlabelled:,} without" if unlabelled else ""
    return f"Learnt from {count(labelled, 'item')} with truth{rest}; {note}."


def _people(found: dict[str, Any]) -> str:
    accuracy, low, high = found["human"]["accuracy"]
    what = "answers" if len(found["annotators"]) > 1 else "items"
    if low is None:
        return f"If the assumptions hold, people are right on about {percent(accuracy)} of {what}."
    if not found["human"]["answers"]:
        return "Nobody has answered an item whose truth is known: what people's answers are worth is not measured."
    interval = f"{percent(found['level'])} interval: {percent(low)} to {percent(high)}"
    return f"People are right on {percent(accuracy)} of {what} ({interval})."


def _temperature(model: dict[str, Any]) -> str:
    estimate, low, high = model["temperature"]
    several = len(model.get("names", ())) > 1
    who, it, its = ("The models together are", "they", "their") if several else ("The model is", "it", "its")
    if low is None:
        return f"{who} taken at a temperature of {estimate:.2f}, which people's answers have told too."
    sure = "over-confident" if low > 1 else "under-confident" if high < 1 else f"about as sure as {it} should be"
    return f"{who} {sure}: {its} temperature is {estimate:.2f} ({low:.2f} to {high:.2f})."


def _dependence(found: dict[str, Any]) -> str:
    human, model = (found["dependence"][name] for name in ("weight_of_human", "weight_of_model"))
    if not found["model"].get("names", True):
        return f"A person's answer counts {human:.2f} times what it would alone."
    verdict = _verdict(found["record"]) if "record" in found else None
    if not found["labelled"]:
        why = "as in teams in general; without truth this cannot be measured"
    elif human >= 0.95 and verdict == "helps":
        why = "an answer keeps its worth beside the model's, and what the model adds is corrected"
    elif human >= 0.95:
        why = "there is little sign that the two err on the same items"
    elif verdict == "helps":
        why = "the two err on the same items, so that agreement proves less than it seems"
    elif verdict == "does harm":
        why = "as in teams in general, which these labels speak against"
    else:
        why = "much as in teams in general; the labels hardly tell yet"
    counts = (
        f"A person's answer counts {human:.2f} times what it would alone, and the model's log-odds {model:.2f} times"
    )
    return f"{counts}: {why}."


def _guard(guard: dict[str, Any]) -> str:
    if guard["partner"] is None or guard["times_as_sure"] < 1.005:
        return "The guard does nothing yet: no labels tell which of the two is the better one."
    who = "people's answer" if guard["partner"] == "human" else "the model's class"
    return (
        f"The guard sides with {who}, the better of the two on these items: another class must be "
        f"{guard['times_as_sure']:.2f} times as probable to overrule it."
    )


def _holdout(record: dict[str, Any], labelled: int) -> list[str]:
    n = record["n"]
    if not n > 0:
        return []
    all_of_them = labelled <= MODE_LABELS
    which = "this item" if n == 1 else f"these {n:,.0f} items" if all_of_them else f"{n:,.0f} of these items"
    partners = {
        name: percent(record[f"{key}_errors"] / record[spoke], 1)
        for name, key, spoke in (("people", "human", "answered"), ("the model", "model", "modelled"))
        if record[spoke]
    }
    others = " and ".join(f"{name} on {share}" for name, share in partners.items())
    better = "the better of the two" if len(partners) > 1 else next(iter(partners), "either")
    sentences = [
        f"On {which}, each judged without itself, the combination errs on {percent(record['errors'] / n, 1)}, "
        f"{others}; the chance that it errs less than {better} is {_chance(record['chance_best'])}."
    ]
    verdict = _verdict(record)
    if verdict is not None:
        remedy = " A team without it (method P+L) may do better here." if verdict == "does harm" else ""
        sentences.append(
            f"Correcting for dependence {verdict}: log loss {record['log_loss']:.3f} with it, "
            f"{record['plain_log_loss']:.3f} without.{remedy}"
        )
    return sentences


def _verdict(record: dict[str, Any]) -> str | None:
    """Whether correcting for dependence helps, where there are enough labels to say so."""
    if record["n"] < FEW_LABELS:
        return None
    gain, noise = record["plain_log_loss"] - record["log_loss"], 2 * record["log_loss_gain_se"]
    return "helps" if gain > noise else "does harm" if gain < -noise else "makes no clear difference yet"


def crowd_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about many people, their answers and several models, from `crowd_facts`."""
    sentences = []
    if "people" in found:
        sentences += people_sentences(found["people"])
    if "several_answers" in found:
        sentences.append(_several(found["several_answers"]["correlation"], found["labelled"]))
    if "confidence" in found:
        sentences += _confidence(found["confidence"])
    if "unsure" in found:
        sentences.append(_unsure(found["unsure"]))
    if "models" in found:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in found["models"].items())
        sentences.append(f"What the {len(found['models'])} models say is averaged with these weights: {weights}.")
    return sentences


def people_sentences(people: dict[str, Any]) -> list[str]:
    """How far people differ, and who is the most and the least reliable."""
    low, high = people["accuracy"]
    said = [
        f"The {people['n']:,} people differ: nine in ten are believed to be right on {percent(low)} to "
        f"{percent(high)} of their answers."
    ]
    if "most_reliable" not in people:
        return [*said, f"Nobody can be singled out: that takes two people with {ENOUGH_ANSWERS} answers each."]
    best, least = people["most_reliable"], people["least_reliable"]
    told = "" if best["accuracy_low"] > least["accuracy_high"] else "; their answers do not tell the two apart yet"
    enough = people["with_enough_answers"]
    of = "" if enough == people["n"] else f" of the {enough:,} with enough answers"
    return [*said, f"The most reliable{of} is {_person(best)}, the least {_person(least)}{told}."]


def _person(person: dict[str, Any]) -> str:
    interval = f"{percent(person['accuracy_low'])} to {percent(person['accuracy_high'])}"
    judged = count(person["judged"], "judged answer")
    return f"{person['annotator']} ({percent(person['accuracy'])}, {interval}, from {judged})"


def _several(correlation: float, labelled: int) -> str:
    worth = 5 / (1 + 4 * correlation)
    why = "" if labelled else ", as in crowds in general"
    alike = f"Several answers on one item resemble each other beyond the truth (r = {correlation:.2f}{why})"
    return f"{alike}: five count for {worth:.1f}."


def _confidence(confidence: dict[str, Any]) -> list[str]:
    shares = [share for share in confidence["right"] if share is not None]
    if len(shares) < 2:
        return []
    levels = f"in the highest of {len(confidence['right'])} levels of confidence"
    return [f"Answers {levels} are right on {percent(shares[-1])}, in the lowest on {percent(shares[0])}."]


def _unsure(unsure: dict[str, Any]) -> str:
    given = unsure["given_true"]
    most, least = max(given, key=given.__getitem__), min(given, key=given.__getitem__)
    times = given[most] / given[least]
    said = f"“Unsure” was said {count(unsure['said'], 'time')} on items that could be judged"
    if times < INFORMATIVE:
        return f"{said}, about as often whatever is true: it hardly tells."
    return f"{said}: {times:.1f} times as readily where {most!r} is true as where {least!r} is."


def label_label_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about L+L, from `label_label_facts`."""
    level = percent(found["level"])
    said = ["L+L: people's labels and the model's label, each weighed by how often it is right, however sure it was."]
    for name, subject, verb in (("human", "People", "are"), ("model", "The model", "is")):
        n, (accuracy, low, high) = found[name]["answers"], found[name]["accuracy"]
        if n:
            said.append(
                f"{subject} {verb} right on {percent(accuracy)} of {n:,.0f} labels with truth "
                f"({level} interval: {percent(low)} to {percent(high)})."
            )
        else:
            said.append(f"{subject} {verb} not measured: there was no label with truth.")
    return said


def logistic_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about LR, from `logistic_facts`."""
    answer = np.mean(list(found["weight_of_answer"].values()))
    if found["features"] == "log":
        features = "log-odds"
        count = f"the model's log-odds count {found['weight_of_model']:.2f} times, and an answer adds {answer:.2f}"
    else:
        features = "probabilities"
        count = f"a model's probability of 1 adds {found['weight_of_model']:.2f}, and an answer {answer:.2f},"
    said = [
        f"LR: a logistic regression of the truth on the model's {features} and people's answers, with "
        f"{found['weights']:,} weights for {len(found['classes']):,} classes.",
        f"On average {count} to the log-odds of its class.",
    ]
    if found["without_label"]:
        some = ", ".join(map(repr, found["without_label"][:3]))
        more = f" and {len(found['without_label']) - 3:,} more" if len(found["without_label"]) > 3 else ""
        said.append(f"No label showed {some}{more}: it is never predicted.")
    return said


def _chance(chance: float) -> str:
    return "more than 99 %" if chance > 0.99 else "less than 1 %" if chance < 0.01 else percent(chance)
