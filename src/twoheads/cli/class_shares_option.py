"""The option ``--class-shares``: a team for items whose class shares may differ from those at fit."""

from __future__ import annotations

import csv
import json
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twoheads.cli import console
from twoheads.errors import InvalidObservations, InvalidParameter

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner

_REMEDY = "Give a CSV file with the columns class and share, or a JSON object of class names and shares."


def with_class_shares(team: Combiner, option: str | None) -> Combiner:
    """The team with the class prior of the option: learn, fit, or a file; the team itself without the option."""
    from twoheads.combination.class_prior import as_class_prior
    from twoheads.combination.team import Team

    if option is None:
        return team
    if not isinstance(team, Team):
        raise InvalidParameter(
            f"--class-shares needs a team that has a class prior (recommended, P+L, SP, Bayes); this is a "
            f"{type(team).__name__}. Leave the option out, or fit with --method recommended."
        )
    found = copy(team)
    if option == "learn":
        found.class_prior = "shift"
    elif option != "fit":
        found.class_prior = _read(Path(option))
        try:
            as_class_prior(found.class_prior, team.classes_)
        except InvalidParameter as error:
            where = f"{option} (--class-shares)"
            raise InvalidObservations(str(error).replace("class_prior", where, 1)) from None
    elif found.class_prior == "shift":
        found.class_prior = "model"
    return found


def shares_file(option: str | None) -> list[Path]:
    """The file that the option names, if it names one."""
    return [] if option in (None, "learn", "fit") else [Path(str(option))]


def announce_shares(team: Combiner) -> None:
    """Print what was found of the class shares, where they were estimated."""
    shares = getattr(team, "class_shares_", None)
    if shares is not None:
        console.message(shares.sentence())


def _read(path: Path) -> dict[str, float]:
    """The share of each class from a file."""
    if not path.is_file():
        raise InvalidParameter(
            f"--class-shares must be learn, fit or a file; there is no file {str(path)!r}. {_REMEDY}"
        )
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        shares = json.loads(text) if path.suffix.lower() == ".json" else _columns(text)
        return {str(name): _share(share) for name, share in shares.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InvalidObservations(
            f"{path} (--class-shares) does not hold the share of each class, once. {_REMEDY}"
        ) from None


def _columns(text: str) -> dict[str, Any]:
    separator = next((mark for mark in ";\t" if mark in text.partition("\n")[0]), ",")
    rows = list(csv.DictReader(text.splitlines(), delimiter=separator))
    if len({row["class"] for row in rows}) < len(rows):
        raise ValueError  # one of two shares of a class would be lost
    return {row["class"]: row["share"] for row in rows}


def _share(value: Any) -> float:
    """A share, also with a decimal comma or in per cent, as spreadsheets write it."""
    from twoheads.tables.checking.cells import number_in

    number = number_in(value) if isinstance(value, str) else None
    if number is None:
        return float(value)
    return number.value / 100 if number.percent else number.value
