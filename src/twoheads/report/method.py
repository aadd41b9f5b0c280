"""The method and every setting, so that a report alone lets someone repeat it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import twoheads
from twoheads.report.plain import plain

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def method_section(team: Any) -> dict[str, Any]:
    """Name the method, its settings (those of its parts by ``part__setting``), what it learnt from, and versions."""
    settings: dict[str, Any] = {}
    for name, value in sorted(team.get_params(deep=True).items()):
        settings[name] = type(value).__name__ if hasattr(value, "get_params") else plain(value)
    for name in ("confusion", "calibrator"):
        part = getattr(team, f"{name}_", None)
        if settings.get(name, "") is None and part is not None:
            settings[name] = f"{type(part).__name__} (default)"
            settings |= {f"{name}__{key}": plain(value) for key, value in sorted(part.get_params().items())}
    learnt = {
        key: plain(getattr(team, f"{key}_")) for key in ("n_labelled", "n_unlabelled") if hasattr(team, f"{key}_")
    }
    versions = {"twoheads": twoheads.__version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "available": True,
        "name": type(team).__name__,
        "describes_itself": _first_line(team),
        "settings": dict(sorted(settings.items())),
        "learnt_from": learnt,
        "versions": versions,
        "words": "With these settings, versions and seeds the same numbers come out again.",
    }


def _first_line(team: Any) -> str:
    return (type(team).__doc__ or "").strip().split("\n", 1)[0]
