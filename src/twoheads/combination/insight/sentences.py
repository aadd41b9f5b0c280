"""Facts about fitted combiners in plain sentences."""

from __future__ import annotations

from typing import Any

from twoheads.combination.better_half import against, decimals
from twoheads.combination.insight.agreement_limits import agreement_sentences
from twoheads.combination.insight.crowd_sentences import crowd_sentences
from twoheads.combination.insight.selection import selection_sentences
from twoheads.combination.unseen import only_class, unseen_sentence
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.kernels.dependence.preference import UNSURE
from twoheads.text import SIGNIFICANCE, count, interval, listed, p_value, percent, probability

#: With fewer labels than this, the effect of the correction for dependence is not reported.
FEW_LABELS = 30
#: Items have several answers on average if these are worth more independent ones than this.
SEVERAL_ANSWERS = 1.05

#: So many classes are named.
_NAMED = 3

#: A preference is reported if another class must be so many times as probable.
NOTICEABLE = 1.05

#: One member is called the stronger if its evidence is so many times as strong.
STRONGER = 1.25

#: Whether the correction for dependence lowers the log loss, by `_effect`. That it raises it is never called
#: significant: it costs a little on most items and pays on rare ones, which the labels at hand may not show.
_EFFECTS = {
    True: "lowers the log loss significantly: ",
    False: "does not lower the log loss significantly: ",
}


def team_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about a team, from `team_facts`."""
    sentences = [
        _labels(found),
        *selection_sentences(found.get("selection"), whose_labels(found)),
        *agreement_sentences(found),
        *([_people(found)] if _n_people(found) else []),
        *crowd_sentences(found),
    ]
    if "temperature" in found["model"]:
        sentences.append(_temperature(found["model"]))
    if "dependence" in found:
        sentences.append(_dependence(found))
    if "record" in found:
        alone = found.get("preference", {}).get("share_alone") == 1
        seen = [number > 0 for number in found["labels_per_class"].values()]
        only = only_class(list(found["labels_per_class"]), seen)
        sentences += _holdout(found["record"], found["labelled"], whose_labels(found), only, alone=alone)
    if "preference" in found:
        sentences += preference_sentences(found["preference"], whose_labels(found))
    return sentences


def _labels(found: dict[str, Any]) -> str:
    labelled, unlabelled = found["labelled"], found["unlabelled"]
    if not labelled:
        return f"Fitted on {count(unlabelled, 'item')} without truth: all that follows is believed, not measured."
    per_class = found["labels_per_class"]
    fitted = f"Fitted on {count(labelled, 'item')} with truth" + (f" and {unlabelled:,} without" if unlabelled else "")
    unseen = unseen_sentence(list(per_class), [number > 0 for number in per_class.values()], labelled)
    return f"{fitted}; {_rarest(per_class)}." if unseen is None else f"{fitted}. {unseen}"


def _rarest(per_class: dict[str, float]) -> str:
    """The class with the fewest labels, or all of those that have as few."""
    fewest = min(per_class.values())
    rarest = [repr(name) for name, number in per_class.items() if number == fewest]
    if len(rarest) == 1:
        return f"the rarest class is {rarest[0]} (n = {fewest:g})"
    if len(rarest) == len(per_class):
        return f"each class has {fewest:g} of them"
    which = listed(rarest) if len(rarest) <= _NAMED else f"{len(rarest)} of {len(per_class)}"
    return f"the rarest classes are {which} (n = {fewest:g} each)"


def whose_labels(found: dict[str, Any]) -> str:
    """Whose labels are beside the model's probabilities."""
    return "labels and scores" if "machines" in found else "people"


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
    if human["answers"]:  # truth of one class: what is measured is not the accuracy
        only, (right, *ends) = next((name, of) for name, of in human["accuracy_per_class"].items() if of[1] is not None)
        measured = f"measured on {count(human['answers'], 'answer')} with truth; {_credible(found['level'], *ends)}"
        return (
            f"Of {'answers about ' if _n_people(found) > 1 else ''}items that are {only!r} people have "
            f"{percent(right)} right ({measured}). Of all {what} they are believed to have {percent(accuracy)} right "
            f"(no truth of another class is known; {within})."
        )
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
    weights = (found["dependence"][name] for name in ("weight_of_human", "weight_of_model"))
    human, model = (round(weight, 2) + 0.0 for weight in weights)  # no weight is "-0.00"
    if not found["model"].get("names", True):
        every = "labels and scores" if "machines" in found else "answers"
        weight = f"is multiplied by {human:.2f}, in addition to the corrections above"
        return f"The joint evidence of an item's {every} {weight}."
    whose = "label or score" if "machines" in found else "person's answer"
    answer = f"{whose} has {human:.2f} times the weight it would have alone"
    fewer = " (with fewer answers than at fit, closer to that of the model alone)"
    beside = fewer if found["dependence"]["effective_answers"] > SEVERAL_ANSWERS else ""
    both = f"Combined with the model, a {answer}, and the model's log-odds have weight {model:.2f}{beside}"
    if not found["labelled"]:
        return (
            f"{both}; these rest on the prior: without truth it cannot be known how far the two share errors, "
            "nor which is right where they differ."
        )
    return f"{both}; {_shared_errors(found)}{_stronger(found['dependence']['strength_ratio'])}."


def _shared_errors(found: dict[str, Any]) -> str:
    """Whether the labels show that the two err on the same items, by an exact test given the true class."""
    record = found.get("record")
    if record is None or not record["both_labelled"]:
        return "no item with truth has a label of both, so that how far they share errors rests on the prior"
    seen = f"both are wrong on {record['both_wrong']:,.0f} of {count(record['both_labelled'], 'item')}"
    beside = f"{seen}, {record['both_wrong_by_chance']:.1f} by chance; {p_value(record['both_wrong_p'])}"
    if record["both_wrong_p"] < SIGNIFICANCE:
        why = "so their agreement is weaker evidence than if they were independent"
        return f"the two err on the same items more often than by chance ({beside}), {why}"
    return f"the labels do not show that the two err on the same items more often than by chance ({beside})"


def _stronger(ratio: float) -> str:
    """Who is discounted less, and why; nothing where the two are about equally strong."""
    if max(ratio, 1 / ratio) < STRONGER:
        return ""
    who, whom = ("the model's", "people's") if ratio > 1 else ("people's", "the model's")
    return f"; {who} evidence is {max(ratio, 1 / ratio):.1f} times as strong, so {whom} is discounted more"


def preference_sentences(preference: dict[str, Any], whose: str = "people") -> list[str]:
    """When and why the team prefers one of its partners; nothing where it does not."""
    sentences = []
    if preference["times_as_probable"] >= NOTICEABLE:
        answer = "people's answer" if whose == "people" else f"the class of {whose}"
        who = answer if preference["partner"] == "human" else "the model's class"
        sentences.append(
            f"Where {whose} and model differ, {who} is preferred, since it was right more often on these items: "
            f"another class must be {preference['times_as_probable']:.2f} times as probable to overrule it."
        )
    if preference["alone"] is not None:
        who, verb = (whose, "err") if preference["alone"] == "human" else ("the model", "errs")
        share, chance = preference["share_alone"], probability(preference["chance_better_alone"])
        how = "so the team answers as" if share == 1 else f"so the team's probabilities are {percent(share)} those of"
        less = f"{who} alone {verb} less than the combination"
        if preference["chance_better_alone"] > 1.0 - UNSURE:
            sentences.append(f"The probability that {less} is {chance}, {how} {who} alone.")
        else:  # weights count as rows where the team decides, and no more than one item where it states a chance
            items = f"counted as items, its probability is {chance}"
            sentences.append(f"By the weights {less}, {how} {who} alone; {items}.")
    return sentences


def _holdout(record: dict[str, Any], labelled: int, who: str, only: str | None, *, alone: bool) -> list[str]:
    """How often the team errs on items held out; ``only`` is the class that all of them are of."""
    n, items = record["n"], record["items"]
    if not n > 0:
        return []
    which = f"these {items:,.0f} items" if labelled <= MODE_LABELS else f"{items:,.0f} of these items"
    each = "each held out" if only is None else f"all {only!r}, each held out"
    held_out = "On this item, held out" if items == 1 else f"On {which}, {each}"
    sentences = [
        f"{held_out}, the combination errs on {percent(record['errors'] / n, decimals(items))}"
        # a team of one member is as good as that
        f"{_better_half(record)}.{'' if alone else _chance(record, who, only)}"
    ]
    if record["rivals"] is not None and record["rivals"]["ahead_on_part"]:
        sentences.append(record["rivals"]["ahead_on_part"])
    effect = _effect(record)
    if effect is not None:
        sentences.append(
            f"The correction for dependence {_EFFECTS[effect]}{record['log_loss']:.3f} with it, "
            f"{record['plain_log_loss']:.3f} without."
        )
    return sentences


def _better_half(record: dict[str, Any]) -> str:
    """Compare with the best of the rivals on the same items."""
    rivals = record["rivals"]
    if rivals is None:
        return ""
    best = rivals["members"][rivals["better"]]
    numbers = best["error"], best["team_error"], rivals["p_value"], best["items"]
    of_all, only = best["items"] == record["items"], rivals["n_candidates"] == 1
    alike = record["effective_items"] > (1 - 1e-9) * record["items"]
    return against(rivals["better_half"], *numbers, of_all=of_all, only=only, alike=alike)


def _chance(record: dict[str, Any], who: str, only: str | None) -> str:
    """The probability that the combination errs less than its members, all who answer being taken together."""
    if who != "people" and not record["modelled"]:
        return ""  # labels and scores together are the combination
    members = [name for name, here in ((who, "answered"), ("the model", "modelled")) if record[here]]
    both = "both people and the model" if who == "people" else f"{who} together, and less than the model,"
    others = both if len(members) > 1 else next(iter(members), "either")
    less = "less" if only is None else f"less on items that are {only!r}"
    return f" The probability that it errs {less} than {others} is {probability(record['chance_best'])}."


def _effect(record: dict[str, Any]) -> bool | None:
    """Whether the correction for dependence makes the log loss significantly lower; None with few labels."""
    if record["effective_items"] < FEW_LABELS:
        return None
    return bool(record["plain_log_loss"] - record["log_loss"] > 2 * record["log_loss_gain_se"])
