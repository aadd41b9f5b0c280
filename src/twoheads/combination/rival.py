"""One rival of a team, and all of them with the better half: the best of those that stand for the items compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from twoheads.combination.better_half import decimals
from twoheads.storage.artifact import register
from twoheads.text import SIGNIFICANCE, p_value, percent

_ONLY = "the only one who labelled enough of the items"


@register
@dataclass(frozen=True)
class Rival(BaseEstimator):
    """One rival, on the items that it has labelled.

    key                  "human", "person" (one at random), "majority", "crowd" (people combined), "model" (one of
                         them, or a machine), "models" (their mean), or "best_person"
    name                 of the model or the person; "" if there is none
    n, items             weight of the items, and how many they are
    errors, team_errors  its errors, and those of the team on the same items
    won, lost            items that only the team has right, and only the rival
    p_value              of the difference, not corrected for having picked this rival
    of_items             how many items are compared, labelled by it or not
    of_all               whether it labelled enough of them to be the better half: half of their weight, or as many as
                         anybody where nobody labelled so many
    n_people             of how many people it is the best; 0 for all but the best person
    """

    key: str
    name: str
    n: float
    items: float
    errors: float
    team_errors: float
    won: float
    lost: float
    p_value: float
    of_items: float
    of_all: bool
    n_people: int

    @property
    def error(self) -> float:
        """Its share of errors."""
        return self.errors / self.n

    @property
    def team_error(self) -> float:
        """The team's share of errors on the same items."""
        return self.team_errors / self.n

    @property
    def words(self) -> str:
        """The rival in a sentence, with the number of its items where they are too few to stand for all."""
        if not self.of_all:
            best = f", the best of {self.n_people:,} such people" if self.n_people > 1 else ""
            return f"{self.who} on {self.items:,.0f} of {self.of_items:,.0f} items{best}"
        if not self.n_people:
            return self.who
        best = f"the best of {self.n_people:,} people on the same items" if self.n_people > 1 else _ONLY
        return f"{self.who}, {best}"

    @property
    def who(self) -> str:
        """The rival by name; a person who is a number is called a person."""
        named = {
            "human": "the human alone",
            "person": "one person at random",
            "majority": "the majority of people",
            "crowd": "people combined, without the model",
            "model": "the model alone" if self.name in ("", "model") else f"model {self.name} alone",
            "models": "the mean of the models",
            "best_person": f"{'person ' * self.name.isdigit()}{self.name} alone",
        }
        return named[self.key]

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as plain Python objects that JSON can hold."""
        return {**self.get_params(), "error": self.error, "team_error": self.team_error}


@register
@dataclass(frozen=True)
class Rivals(BaseEstimator):
    """All rivals, and the better half: the best of those that labelled enough of the items.

    members  in the order of the list
    better   position of the best
    p_value  of the team's difference from the best, corrected for having picked it
    """

    members: tuple[Rival, ...]
    better: int
    p_value: float

    @property
    def better_half(self) -> Rival:
        """The best rival."""
        return self.members[self.better]

    @property
    def n_candidates(self) -> int:
        """How many may be the better half, the best person as one."""
        return sum(member.of_all for member in self.members)

    @property
    def n_picked(self) -> int:
        """Of how many the best one was picked: a best person of all people with enough answers too."""
        return self.n_candidates * max(1, self.better_half.n_people)

    def ahead_on_part(self) -> str | None:
        """Who errs significantly less than the team on too few items to be the better half, as a sentence.

        Bonferroni's correction is for all who have labelled too few items, every person with enough answers among them.
        """
        few = [member for member in self.members if not member.of_all and member.errors < member.team_errors]
        tests = sum(max(1, member.n_people) for member in self.members if not member.of_all)
        if not few:
            return None
        best = min(few, key=lambda member: member.p_value)
        p, digits = min(1.0, tests * best.p_value), decimals(best.items)
        if p >= SIGNIFICANCE:
            return None
        others = f", the best of {best.n_people:,} such people," if best.n_people > 1 else ""
        errors = f"is {percent(best.error, digits)}, and that of the team {percent(best.team_error, digits)}"
        why = f"a significant difference ({p_value(p)}), on too few items for a better half"
        return f"On {best.items:,.0f} of {best.of_items:,.0f} items the error of {best.who}{others} {errors}: {why}."

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as plain Python objects that JSON can hold."""
        members = [member.as_dict() for member in self.members]
        found = {"n_candidates": self.n_candidates, "ahead_on_part": self.ahead_on_part()}
        return {**self.get_params(), "members": members, "better_half": self.better_half.words, **found}
