"""Facts about several people, machines, scores and ways of answering in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twoheads.kernels.scoring.rivals import ENOUGH_ANSWERS
from twoheads.text import SIGNIFICANCE, count, interval, p_value, percent, probability

#: "Unsure" is reported as evidence if it is so many times as likely under one class as under another.
INFORMATIVE = 1.5
#: Shares of people are told of so many at least.
_MANY_PEOPLE = 10
#: A panel predicts with prior odds of nine to one for weights of their own; what is stated has prior odds of one to
#: one.
_EVEN_ODDS = "Given the labels and prior odds of 1:1, the probability"
#: So many models that give labels or scores are listed by name.
_FEW_MACHINES = 5


def crowd_sentences(found: dict[str, Any]) -> list[str]:
    """Sentences about many people, their answers and several models, from `crowd_facts`."""
    sentences = []
    if "people" in found:
        sentences += people_sentences(found["people"])
    if "machines" in found:
        sentences += _machines(found, found.get("scores", {}).get("levels", {}))
    if "scores" in found:
        sentences += _scores(found["scores"])
    if "several_answers" in found:
        sentences += _several(found["several_answers"], found["labelled"])
    if "panel" in found:
        sentences += _panel(found["panel"])
    if "confidence" in found:
        sentences += _confidence(found["confidence"], found["labelled"])
    if "unsure" in found:
        sentences.append(_unsure(found["unsure"]))
    if "models" in found:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in found["models"].items())
        sentences.append(f"The {len(found['models'])} models are averaged with these weights: {weights}.")
    if "model_panel" in found:
        chance = probability(found["model_panel"]["own_weights"])
        sentences.append(f"{_EVEN_ODDS} that models need weights beyond this average is {chance}.")
    return sentences


def people_sentences(people: dict[str, Any]) -> list[str]:
    """How far many people differ, and who is the most and the least reliable."""
    n, believed = people["n"], people["kind"] == "believed"
    sentences = []
    if n >= _MANY_PEOPLE:
        low, high = people["nine_in_ten"]
        sentences.append(
            f"Nine in ten of the {n:,} people are {'believed' if believed else 'estimated'} to have an accuracy "
            f"between {percent(low)} and {percent(high)}."
        )
    if "undecided" in people:
        return [*sentences, f"No ranking of the {n:,} people: agreement cannot show how accurate all of them are."]
    if "most_reliable" not in people:
        answers = "answers" if believed else "answers on items with truth"
        return [*sentences, f"No ranking of the {n:,} people: it needs two with {ENOUGH_ANSWERS} {answers} each."]
    enough = people["with_enough_answers"]
    who = f"the {n:,} people" if enough == n else f"the {enough:,} people with enough answers"
    # A best person among rivals is found on the items that both have labelled, and may be somebody else.
    verb = "is believed to be" if believed else "by all answers with truth is"
    return [*sentences, f"Of {who}, the most reliable {verb} {_extremes(people)}."]


def _extremes(ranked: dict[str, Any]) -> str:
    """The most and the least reliable of some, with intervals that hold although these two were picked."""
    best, least = ranked["most_reliable"], ranked["least_reliable"]
    overlap = ", and overlap" if best["accuracy_low"] <= least["accuracy_high"] else ""
    return f"{_person(best)}, the least {_person(least)}; the intervals are corrected for this choice{overlap}"


def _person(person: dict[str, Any]) -> str:
    accuracy = f"{percent(person['accuracy'])} {interval(person['accuracy_low'], person['accuracy_high'], 0)}"
    return f"{person['annotator']} ({accuracy}, {_n_answers(person)})"


def _n_answers(person: dict[str, Any]) -> str:
    judged = f"{count(person['judged'], 'answer')} with truth"
    return judged if person["kind"] == "measured" else count(person["answers"], "answer")


def _machines(found: dict[str, Any], scored: dict[str, int]) -> list[str]:
    """How often models that give labels are right: the best and the worst of many."""
    labelled = [{"annotator": name, **facts} for name, facts in found["machines"].items() if name not in scored]
    labelled.sort(key=lambda machine: -machine["accuracy"])
    if not labelled:
        return []
    believed = any(machine["kind"] == "believed" for machine in labelled)
    give = (
        f"{count(len(labelled), 'model gives', 'models give')} labels{', of believed accuracies' if believed else ''}"
    )
    if len(labelled) <= _FEW_MACHINES:
        return [f"{give}: {', '.join(map(_person, labelled))}."]
    return [f"{give}: the most reliable is {_extremes(found['machines_ranked'])}."]


def _scores(scores: dict[str, Any]) -> list[str]:
    """Whose scores mean the class that they should, whose the other, whose is unclear, and whose never vary."""
    sizes, reversed_, unclear = scores["levels"], scores.get("reversed", {}), scores.get("unclear", {})
    constant = [name for name, size in sizes.items() if size < 2]
    others = {*constant, *reversed_, *unclear}
    levels = [f"{name} ({count(size, 'level')})" for name, size in sizes.items() if name not in others]
    sentences = []
    if levels:
        who = f"Scores of {_first_of(levels)} count by their rank"
        sentences.append(f"{who}: high ones mean {scores['positive']!r}, as far as the data show.")
    if reversed_:
        sentences.append(
            f"Scores of {_first_of(list(reversed_))} look reversed: low ones mean {scores['positive']!r}, and the team "
            f"uses them so. Read as given, {_reverse(reversed_)}: {_each_of(reversed_)}."
        )
    if unclear:
        sentences.append(
            f"It is not clear that high scores of {_first_of(list(unclear))} mean {scores['positive']!r}. Read so, "
            f"{_reverse(unclear)}, but not significantly: {_each_of(unclear)}."
        )
    if scores.get("equal_shares"):
        sentences.append(
            "With neither truth nor labels, scores are cut as if all classes were equally frequent. If they are not, "
            "the probabilities may be far off: label some items."
        )
    if constant:
        sentences.append(f"Scores of {_first_of(constant)} are not used, since they never vary.")
    return sentences


def _reverse(members: dict[str, Any]) -> str:
    """In which way scores are the wrong way round, in a clause."""
    believed = any(each["kind"] == "believed" for each in members.values())
    if any("correlation" in each for each in members.values()):
        return f"they are{' believed to be' if believed else ''} against the order of the classes"
    return f"these are{' believed to be' if believed else ''} right less often than a coin"


def _each_of(members: dict[str, Any]) -> str:
    return _first_of([_scorer({"annotator": name, **each}) for name, each in members.items()])


def _scorer(member: dict[str, Any]) -> str:
    if "correlation" not in member:
        return _person(member)
    estimate, low, high = (member[f"correlation{end}"] for end in ("", "_low", "_high"))
    return f"{member['annotator']} (rank correlation {estimate:.2f} [{low:.2f}, {high:.2f}], {_n_answers(member)})"


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW_MACHINES:,} more" if len(names) > _FEW_MACHINES else ""
    return ", ".join(names[:_FEW_MACHINES]) + more


def _several(several: dict[str, Any], labelled: int) -> list[str]:
    correlation = several["correlation"]
    effective = 5 / (1 + 4 * correlation)
    source = "" if labelled else ", believed, not measured"
    correlated = f"Answers on the same item are correlated (r = {correlation:.2f}{source})"
    sentences = [f"{correlated}: five count as {effective:.1f} independent ones."]
    if "machines" in several:
        n, person, machine = several["machines"], several["person_weight"], several["machine_weight"]
        beside = count(n, "model that gives", "models that give") + " labels or scores"
        sentences.append(
            f"Combined with {beside}, one person's answer counts {person:.2f} times as much as alone"
            + (f", and that of each model {machine:.2f} times." if n > 1 else ".")
        )
    return sentences


def _panel(panel: dict[str, Any]) -> list[str]:
    chance = probability(panel["own_weights"])
    weights = f"{_EVEN_ODDS} that members need weights beyond their own matrices is {chance}."
    (effective, low, high), correlation = panel["effective_members"], panel["error_correlation"][0]
    if effective is None or low is None or high is None:
        return [weights]
    return [
        f"On items with truth, {panel['members']} members count as {effective:.1f} independent ones "
        f"({percent(panel['level'])} interval [{low:.1f}, {high:.1f}]): their errors have a mean correlation of "
        f"{round(correlation, 2) + 0.0:.2f}.",
        weights,
    ]


def _confidence(confidence: dict[str, Any], labelled: int) -> list[str]:
    """How often answers of the highest and of the lowest level are right; nothing where one of them has none."""
    lowest, *_, highest = confidence["right"]
    if lowest is None or highest is None:
        return []
    high = f"{percent(highest)} of answers at the highest of {len(confidence['right'])} levels of confidence"
    correct = "correct" if labelled else "believed to be correct"
    return [f"{high} are {correct}, and {percent(lowest)} at the lowest."]


def _unsure(unsure: dict[str, Any]) -> str:
    given_true, p = unsure["given_true"], unsure["p_value"]
    most, least = max(given_true, key=given_true.__getitem__), min(given_true, key=given_true.__getitem__)
    ratio = given_true[most] / given_true[least]
    answered = f"“Unsure” was answered {count(unsure['said'], 'time')}"
    if p is None:
        likely = f"{ratio:.1f} times as likely where {most!r} is true as where {least!r} is"
        alike = "about equally likely for all true classes, and to carry little information"
        return f"{answered}; it is believed to be {alike if ratio < INFORMATIVE else likely}."
    answered += " on items with truth"
    if ratio < INFORMATIVE and unsure["said"] >= ENOUGH_ANSWERS:  # of fewer, mostly the prior says so
        return f"{answered}, about equally often for all true classes: it carries little information."
    if p >= SIGNIFICANCE:
        return f"{answered}; that does not show that it depends on the true class ({p_value(p)})."
    return f"{answered}, {ratio:.1f} times as often where {most!r} is true as where {least!r} is ({p_value(p)})."
