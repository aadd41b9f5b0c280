"""What a team has learnt, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta

from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.crowd_description import crowd_facts, crowd_words
from twoheads.kernels.dependence.likelihood import MODE_LABELS
from twoheads.observations.labels import label_text
from twoheads.text import count

if TYPE_CHECKING:
    from twoheads.combination.probability_label import ProbabilityLabelCombiner

#: With fewer labels than this, nothing is said of whether the correction for dependence helps.
FEW_LABELS = 30


def facts(team: ProbabilityLabelCombiner, *, level: float = 0.95) -> dict[str, Any]:
    """What a fitted team has learnt, as numbers that JSON can hold.

    ``[estimate, low, high]`` are credible intervals of each part's own posterior; without any truth there are none.
    What the dependence stage has learnt is given without one: its working posterior uses the labels twice.
    """
    names = [label_text(name) for name in team.classes_]
    known, has_model = team.n_labelled_ > 0, getattr(team, "has_model_", True)
    low, high = team.confusion_.accuracy_interval(level)
    diagonal = np.diagonal(team.confusion_.crowd_given_true_)
    counts = team.confusion_.counts_.sum(axis=0)
    right, total = float(np.trace(counts)), float(counts.sum())
    # Beta(3, 1): what is believed of a person before any answer
    accuracy = (right + 3) / (total + 4), *beta.interval(level, right + 3, total - right + 1)
    found: dict[str, Any] = {
        "classes": names,
        "annotators": list(team.annotators_),
        "labelled": team.n_labelled_,
        "unlabelled": team.n_unlabelled_,
        "labels_per_class": dict(zip(names, team.labels_per_class_.tolist(), strict=True)),
        "level": level,
        "human": {
            "answers": total,
            "accuracy": _interval(accuracy, known),
            "accuracy_per_class": {
                name: _interval(row, known) for name, *row in zip(names, diagonal, low, high, strict=True)
            },
        },
        "model": {"calibrator": type(team.calibrator_).__name__, "names": list(team.models_) if has_model else []},
    }
    if isinstance(team.calibrator_, TemperatureScaling) and known and has_model:
        learnt = team.calibrator_.log_temperature_sd_ > 0  # EM finds a temperature without saying how surely
        interval = team.calibrator_.temperature_interval(level) if learnt else (None, None)
        found["model"]["temperature"] = [team.calibrator_.temperature_, *interval]
    if team.dependence_ is not None:
        model, human = team.dependence_.weights()
        found["dependence"] = {
            "log_dependence": float(team.dependence_.weight_ @ team.dependence_.log_dependence_),
            "weight_of_model": model,
            "weight_of_human": human,
        }
    if team.record_ is not None:
        found["record"] = {**team.record_.get_params(), "chance_best": team.record_.chance_best}
    if team.guard:
        guard = None if team.record_ is None else team.record_.guard()
        found["guard"] = {
            "partner": None if guard is None else "human" if guard.human_leads else "model",
            "times_as_sure": 1.0 if guard is None else float(np.exp(guard.log_threshold)),
        }
    return found | crowd_facts(team)


def _interval(values: Iterable[float], known: bool) -> list[float | None]:
    estimate, low, high = (float(value) for value in values)
    return [estimate, low, high] if known else [estimate, None, None]


def words(found: dict[str, Any]) -> list[str]:
    """The same in plain sentences."""
    said = [_labels(found), _people(found), *crowd_words(found)]
    if "temperature" in found["model"]:
        said.append(_temperature(found["model"]))
    if "dependence" in found:
        said.append(_dependence(found))
    if "record" in found:
        said += _record(found["record"], found["labelled"])
    if "guard" in found:
        said.append(_guard(found["guard"]))
    return said


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


def _record(record: dict[str, Any], labelled: int) -> list[str]:
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
    said = [
        f"On {which}, each judged without itself, the combination errs on {percent(record['errors'] / n, 1)}, "
        f"{others}; the chance that it errs less than {better} is {_chance(record['chance_best'])}."
    ]
    verdict = _verdict(record)
    if verdict is not None:
        remedy = " A team without it (method P+L) may do better here." if verdict == "does harm" else ""
        said.append(
            f"Correcting for dependence {verdict}: log loss {record['log_loss']:.3f} with it, "
            f"{record['plain_log_loss']:.3f} without.{remedy}"
        )
    return said


def _verdict(record: dict[str, Any]) -> str | None:
    """Whether correcting for dependence helps, where there are enough labels to say so."""
    if record["n"] < FEW_LABELS:
        return None
    gain, noise = record["plain_log_loss"] - record["log_loss"], 2 * record["log_loss_gain_se"]
    return "helps" if gain > noise else "does harm" if gain < -noise else "makes no clear difference yet"


def percent(share: float, digits: int = 0) -> str:
    """A share in percent, as ``2.0 %``."""
    return f"{100 * share:.{digits}f} %"


def _chance(chance: float) -> str:
    return "more than 99 %" if chance > 0.99 else "less than 1 %" if chance < 0.01 else percent(chance)
