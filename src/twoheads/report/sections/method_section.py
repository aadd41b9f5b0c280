"""The method and every setting, so that the result can be repeated from the report alone."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sklearn.base import BaseEstimator

import twoheads
from twoheads.combination.insight.sentences import preference_sentences, whose_labels
from twoheads.evaluation.team import CountsLabels, ProfilesAnnotators, Team, calibrator_of, confusion_of
from twoheads.report.plain import plain

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def method_section(team: Team) -> dict[str, Any]:
    """The method, its settings (those of its parts as ``part__setting``), how many items it was fitted on, versions."""
    return {
        "available": True,
        "name": type(team).__name__,
        "describes_itself": _first_line(team),
        "settings": _settings(team),
        "learnt_from": (
            {"n_labelled": plain(team.n_labelled_), "n_unlabelled": plain(team.n_unlabelled_)}
            if isinstance(team, CountsLabels)
            else {}
        ),
        "preference": _preference(team),
        "versions": _versions(),
        "words": "With these settings, versions and seeds the same numbers are reproduced.",
    }


def _preference(team: Team) -> str:
    """When and why the team prefers one of its partners, in words; empty where it does not."""
    found = team.facts() if isinstance(team, ProfilesAnnotators) else {}
    if "preference" not in found:
        return ""
    return " ".join(preference_sentences(found["preference"], whose_labels(found)))


def _settings(team: Team) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in team.get_params(deep=True).items():
        settings[name] = type(value).__name__ if isinstance(value, BaseEstimator) else plain(value)
    for name, part in (("confusion", confusion_of(team)), ("calibrator", calibrator_of(team))):
        if settings.get(name, "") is None and part is not None:
            settings[name] = f"{type(part).__name__} (default)"
            settings |= {f"{name}__{key}": plain(value) for key, value in part.get_params().items()}
    return dict(sorted(settings.items()))


def _versions() -> dict[str, str]:
    versions = {"twoheads": twoheads.__version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _first_line(team: Team) -> str:
    return (type(team).__doc__ or "").strip().split("\n", 1)[0]
