"""Facts about fitted combiners in plain sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.better_half import against, decimals
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.kernels.scoring.rivals import ENOUGH_ANSWERS
from twoheads.text import count, interval, percent

#: With fewer labels than this, the effect of the correction for dependence is not reported.
FEW_LABELS = 30

#: "Unsure" is reported as evidence if it is so many times as likely under one class as under another.
INFORMATIVE = 1.5

#: So many models that give labels or scores are listed by name.
_FEW_MACHINES = 5

#: The effect of the correction for dependence on the log loss, by `_effect`.
_EFFECTS = {
    "lower": "lowers the log loss significantly: ",
    "higher": "raises the log loss significantly: ",
    "none": "makes no significant difference: log loss ",
}


def team_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about a team, from `team_facts`."""
    people = [_people(found)] if _n_people(found) else []
    sentences, machines = [_labels(found), *people, *crowd_sentences(found)], "machines" in found
    if "temperature" in found["model"]:
        sentences.append(_temperature(found["model"]))
    if "dependence" in found:
        sentences.append(_dependence(found))
    if "record" in found:
        sentences += _holdout(found["record"], found["labelled"], "labels and scores" if machines else "people")
    if "guard" in found:
        sentences.append(_guard(found["guard"], "the class of labels and scores" if machines else "people's answer"))
    return sentences


def _labels(found: dict[str, Any]) -> str:
    labelled, unlabelled = found["labelled"], found["unlabelled"]
    if not labelled:
        return f"Fitted on {count(unlabelled, 'item')} without truth: all that follows is believed, not measured."
    per_class = found["labels_per_class"]
    without = [repr(name) for name, count in per_class.items() if count == 0]
    if len(without) > 3:
        note = f"{len(without)} classes have no labels, among them {without[0]}"
    elif without:
        note = f"there are no labels for {', '.join(without)}"
    else:
        fewest = min(per_class, key=per_class.__getitem__)
        note = f"the rarest class is {fewest!r} (n = {per_class[fewest]:g})"
    rest = f" and {unlabelled:,} without" if unlabelled else ""
    return f"Fitted on {count(labelled, 'item')} with truth{rest}; {note}."


def _n_people(found: dict[str, Any]) -> int:
    return len(found["annotators"]) - len(found.get("machines", ()))


def _people(found: dict[str, Any]) -> str:
    human = found["human"]
    accuracy, low, high = human["accuracy"]
    what = "answers" if _n_people(found) > 1 else "items"
    within = _credible(found["level"], low, high)
    if human["kind"] == "measured":
        counted = count(human["answers"], "answer") if human["items"] is None else count(human["items"], "item")
        on = f"measured on {counted} with truth"
        return f"People are correct on {percent(accuracy)} of {what} ({on}; {within})."
    if not human["given"]:
        return "Nobody answered about any item, so people's accuracy is not known."
    why = "nobody answered about an item with truth" if found["labelled"] else "no truth is known"
    return f"People are believed to be correct on {percent(accuracy)} of {what} ({why}; {within})."


def _credible(level: float, low: float, high: float) -> str:
    return f"{percent(level)} interval {interval(low, high, 0)}"


def _temperature(model: dict[str, Any]) -> str:
    estimate, low, high = model["temperature"]
    several = len(model.get("names", ())) > 1
    if low is None:
        who = "The models together use" if several else "The model uses"
        return f"{who} temperature {estimate:.2f}, estimated partly from people's answers."
    who = "The models together are" if several else "The model is"
    sure = (
        "over-confident" if low > 1 else "under-confident" if high < 1 else "not significantly over- or under-confident"
    )
    return f"{who} {sure}: temperature {estimate:.2f} [{low:.2f}, {high:.2f}]."


def _dependence(found: dict[str, Any]) -> str:
    human, model = (found["dependence"][name] for name in ("weight_of_human", "weight_of_model"))
    whose = "label or score" if "machines" in found else "person's answer"
    answer = f"{whose} has {human:.2f} times the weight it would have alone"
    if not found["model"].get("names", True):
        return f"A {answer}."
    effect = _effect(found["record"]) if "record" in found else None
    if not found["labelled"]:
        why = "these are close to the prior: dependence cannot be estimated without truth"
    elif human >= 0.95 and effect == "lower":
        why = "answers keep their weight, and the model's contribution is corrected"
    elif human >= 0.95:
        why = "there is little evidence that the two err on the same items"
    elif effect == "lower":
        why = "the two err on the same items, so their agreement is weaker evidence than if they were independent"
    elif effect == "higher":
        why = "these are close to the prior, which the labels contradict"
    else:
        why = "these are close to the prior: there are too few labels to say more"
    return f"Beside the model, a {answer}, and the model's log-odds have weight {model:.2f}; {why}."


def _guard(guard: dict[str, Any], whose: str) -> str:
    if guard["partner"] is None or guard["times_as_sure"] < 1.005:
        return "The guard has no effect: the labels do not show which of the two is better."
    who = whose if guard["partner"] == "human" else "the model's class"
    return (
        f"The guard favours {who}, the better of the two on these items: another class must be "
        f"{guard['times_as_sure']:.2f} times as probable to overrule it."
    )


def _holdout(record: dict[str, Any], labelled: int, who: str) -> list[str]:
    n = record["n"]
    if not n > 0:
        return []
    which = f"these {n:,.0f} items" if labelled <= MODE_LABELS else f"{n:,.0f} of these items"
    held_out = "On this item, held out" if n == 1 else f"On {which}, each held out"
    sentences = [
        f"{held_out}, the combination errs on {percent(record['errors'] / n, decimals(n))}"
        f"{_better_half(record)}.{_chance(record, who)}"
    ]
    effect = _effect(record)
    if effect is not None:
        remedy = " A team without it (method P+L) may do better here." if effect == "higher" else ""
        sentences.append(
            f"The correction for dependence {_EFFECTS[effect]}{record['log_loss']:.3f} with it, "
            f"{record['plain_log_loss']:.3f} without.{remedy}"
        )
    return sentences


def _better_half(record: dict[str, Any]) -> str:
    """Compare with the best of the rivals on the same items."""
    rivals = record["rivals"]
    if rivals is None:
        return ""
    best = rivals["members"][rivals["better"]]
    numbers = best["error"], best["team_error"], rivals["p_value"], best["n"]
    of_all, only = abs(best["n"] - record["n"]) < 1e-6, len(rivals["members"]) == 1
    return against(rivals["better_half"], *numbers, of_all=of_all, only=only)


def _chance(record: dict[str, Any], who: str) -> str:
    """The probability that the combination errs less than its members, all who answer being taken together."""
    if who != "people" and not record["modelled"]:
        return ""  # labels and scores together are the combination
    members = [name for name, here in ((who, "answered"), ("the model", "modelled")) if record[here]]
    both = "both people and the model" if who == "people" else f"{who} together, and less than the model,"
    others = both if len(members) > 1 else next(iter(members), "either")
    return f" The probability that it errs less than {others} is {_probability(record['chance_best'])}."


def _effect(record: dict[str, Any]) -> str | None:
    """Whether the correction for dependence makes the log loss significantly lower or higher; None with few labels."""
    if record["n"] < FEW_LABELS:
        return None
    gain, noise = record["plain_log_loss"] - record["log_loss"], 2 * record["log_loss_gain_se"]
    return "lower" if gain > noise else "higher" if gain < -noise else "none"


def crowd_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about many people, their answers and several models, from `crowd_facts`."""
    sentences = []
    if "people" in found:
        sentences += people_sentences(found["people"])
    if "machines" in found:
        sentences += _machines(found["machines"], found.get("scores", {}).get("levels", {}))
    if "scores" in found:
        sentences.append(_scores(found["scores"]))
    if "several_answers" in found:
        sentences.append(_several(found["several_answers"]["correlation"], found["labelled"]))
    if "confidence" in found:
        sentences += _confidence(found["confidence"])
    if "unsure" in found:
        sentences.append(_unsure(found["unsure"]))
    if "models" in found:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in found["models"].items())
        sentences.append(f"The {len(found['models'])} models are averaged with these weights: {weights}.")
    return sentences


def people_sentences(people: dict[str, Any]) -> list[str]:
    """How far people differ, and who is the most and the least reliable."""
    low, high = people["nine_in_ten"]
    believed = people["kind"] == "believed"
    sentences = [
        f"The {people['n']:,} people differ: nine in ten are {'believed' if believed else 'estimated'} to have an "
        f"accuracy between {percent(low)} and {percent(high)}."
    ]
    if "most_reliable" not in people:
        answers = "answers" if believed else "answers on items with truth"
        return [*sentences, f"No ranking: it needs two people with {ENOUGH_ANSWERS} {answers} each."]
    best, least = people["most_reliable"], people["least_reliable"]
    caveat = "" if best["accuracy_low"] > least["accuracy_high"] else "; their intervals overlap"
    enough = people["with_enough_answers"]
    of = "" if enough == people["n"] else f" of the {enough:,} with enough answers"
    verb = "is believed to be" if believed else "is"
    return [*sentences, f"The most reliable{of} {verb} {_person(best)}, the least {_person(least)}{caveat}."]


def _person(person: dict[str, Any]) -> str:
    accuracy = f"{percent(person['accuracy'])} {interval(person['accuracy_low'], person['accuracy_high'], 0)}"
    judged = f"{count(person['judged'], 'answer')} with truth"
    n_answers = judged if person["kind"] == "measured" else count(person["answers"], "answer")
    return f"{person['annotator']} ({accuracy}, {n_answers})"


def _machines(machines: dict[str, Any], scored: dict[str, int]) -> list[str]:
    """How often models that give labels are right: the best and the worst of many."""
    labelled = [{"annotator": name, **facts} for name, facts in machines.items() if name not in scored]
    labelled.sort(key=lambda machine: -machine["accuracy"])
    if not labelled:
        return []
    believed = any(machine["kind"] == "believed" for machine in labelled)
    give = (
        f"{count(len(labelled), 'model gives', 'models give')} labels{', of believed accuracies' if believed else ''}"
    )
    if len(labelled) <= _FEW_MACHINES:
        return [f"{give}: {', '.join(map(_person, labelled))}."]
    return [f"{give}: the most reliable is {_person(labelled[0])}, the least {_person(labelled[-1])}."]


def _scores(scores: dict[str, Any]) -> str:
    levels = scores["levels"]
    names = ", ".join(f"{name} ({count(size, 'level')})" for name, size in list(levels.items())[:_FEW_MACHINES])
    more = f" and {len(levels) - _FEW_MACHINES:,} more" if len(levels) > _FEW_MACHINES else ""
    who = f"Scores of {names}{more} count by their rank"
    return f"{who}: high ones mean {scores['positive']!r}, as far as the data show."


def _several(correlation: float, labelled: int) -> str:
    effective = 5 / (1 + 4 * correlation)
    source = "" if labelled else ", the prior's value"
    correlated = f"Answers on the same item are correlated (r = {correlation:.2f}{source})"
    return f"{correlated}: five count as {effective:.1f} independent ones."


def _confidence(confidence: dict[str, Any]) -> list[str]:
    shares = [share for share in confidence["right"] if share is not None]
    if len(shares) < 2:
        return []
    high = f"{percent(shares[-1])} of answers at the highest of {len(confidence['right'])} levels of confidence"
    return [f"{high} are correct, and {percent(shares[0])} at the lowest."]


def _unsure(unsure: dict[str, Any]) -> str:
    given_true = unsure["given_true"]
    most, least = max(given_true, key=given_true.__getitem__), min(given_true, key=given_true.__getitem__)
    ratio = given_true[most] / given_true[least]
    answered = f"“Unsure” was answered {count(unsure['said'], 'time')} on evaluated items"
    if ratio < INFORMATIVE:
        return f"{answered}, about equally often for all true classes: it carries little information."
    return f"{answered}, {ratio:.1f} times as often where {most!r} is true as where {least!r} is."


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
                f"({_credible(found['level'], low, high)})."
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


def _probability(value: float) -> str:
    return "above 99 %" if value > 0.99 else "below 1 %" if value < 0.01 else percent(value)
