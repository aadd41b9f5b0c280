"""The figures of a page, drawn from a summary's numbers alone."""

from __future__ import annotations

from typing import Any

from twoheads.report.displays import (
    ConfusionDisplay,
    LearningCurveDisplay,
    ReliabilityDisplay,
    TemperatureDisplay,
)
from twoheads.report.svg import inline_svg
from twoheads.text import percent


def figures(summary: dict[str, Any]) -> dict[str, str]:
    """Draw each section that has numbers; inline SVG by name."""
    drawn: dict[str, str] = {}
    for name, draw in (
        ("reliability", _reliability),
        ("confusion", _confusion),
        ("temperature", _temperature),
        ("learning_curve", _learning_curve),
    ):
        if summary[name]["available"]:
            drawn |= draw(summary)
    return drawn


def _reliability(summary: dict[str, Any]) -> dict[str, str]:
    drawn = {}
    curves = summary["reliability"]["curves"]
    lowest = min(min(curve[key]) for curve in curves.values() for key in ("mean_confidence", "accuracy_low"))
    for name, curve in curves.items():
        display = ReliabilityDisplay(
            curve["mean_confidence"],
            curve["accuracy"],
            accuracy_low=curve["accuracy_low"],
            accuracy_high=curve["accuracy_high"],
            name=name,
            start=0.5 if lowest >= 0.5 else 0.0,
        )
        values = "; ".join(
            f"confidence {percent(sure)}, accuracy {percent(right)}"
            for sure, right in zip(curve["mean_confidence"], curve["accuracy"], strict=True)
        )
        whose = "team" if name == "combination" else name
        display.plot().ax_.set_xlabel(f"confidence of the {whose}")
        drawn[f"reliability_{name}"] = inline_svg(
            display.figure_,
            name=f"fig-reliability-{name}",
            title=f"Accuracy against confidence of the {whose}",
            description=f"In bins of confidence: {values}.",
        )
    return drawn


def _confusion(summary: dict[str, Any]) -> dict[str, str]:
    section = summary["confusion"]
    entries = section["classes"]
    many = section["human_given_true"] is None
    display = ConfusionDisplay(
        section["human_given_true"],
        [entry["class"] for entry in entries],
        accuracy=[entry["accuracy"] for entry in entries],
        low=[entry["low"] for entry in entries],
        high=[entry["high"] for entry in entries],
    )
    title = "Accuracy of people on each class" if many else "Answers of people for each true class"
    figure = display.plot().figure_
    return {"confusion": inline_svg(figure, name="fig-confusion", title=title, description=section["words"])}


def _temperature(summary: dict[str, Any]) -> dict[str, str]:
    section = summary["temperature"]
    display = TemperatureDisplay(
        section["log_temperature"],
        section["log_temperature_sd"],
        prior_mean=section["prior_mean"],
        prior_sd=section["prior_sd"],
    )
    title = "Temperature of the model, prior and posterior"
    figure = display.plot().figure_
    return {"temperature": inline_svg(figure, name="fig-temperature", title=title, description=section["words"])}


def _learning_curve(summary: dict[str, Any]) -> dict[str, str]:
    section, comparison = summary["learning_curve"], summary["comparison"]
    partners = {}
    if comparison["available"]:
        rivals = {rival["key"] for rival in comparison["rivals"]}
        names = {
            "human": "majority" if "majority" in rivals else "human",
            "model": "models" if "models" in rivals else "model",
        }
        partners = {
            name: comparison[who]["error"]["value"] for who, name in names.items() if comparison[who] is not None
        }
    error = [score["value"] for score in section["error"]]
    low, high = (
        [score["value"] if score[end] is None else score[end] for score in section["error"]] for end in ("low", "high")
    )
    display = LearningCurveDisplay(section["sizes"], error, low=low, high=high, partners=partners)
    values = ", ".join(
        f"{percent(share, 1)} with {size:,}" for size, share in zip(section["sizes"], error, strict=True)
    )
    title = "Error against the number of truth labels"
    figure = display.plot(name="team").figure_
    return {
        "learning_curve": inline_svg(
            figure, name="fig-learning-curve", title=title, description=f"Error of the team: {values}."
        )
    }
