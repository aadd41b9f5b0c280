"""The arguments that the policies share: numbers, people who can be asked, and prices of their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.text import did_you_mean


def as_number(value: float, name: str) -> float:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise InvalidParameter(f"{name} must be a number that is not negative; it is {value!r}.")
    return float(value)


def as_people(people: Iterable[str] | None, known: Sequence[str], machines: Sequence[str] = ()) -> list[str]:
    """Names of those who can be asked, each once; machines cannot."""
    if isinstance(people, str):
        raise InvalidParameter(f"people must be several names; it is {people!r}. Give a list: [{people!r}].")
    given = [name for name in known if name not in machines] if people is None else people
    names = list(dict.fromkeys(map(str, given)))
    asked = [name for name in names if name in machines]
    if asked:
        raise InvalidParameter(
            f"people must name people; {asked[0]!r} is a model ({len(asked)} of {len(names)} names are off). "
            "Leave it out."
        )
    if not names:
        found = "it names none."
        if people is None:
            found = "the team knows none. Name those who could answer: people=[...] (--people)."
        raise InvalidParameter(f"people must name at least one person; {found}")
    return names


def as_prices(price: float | Mapping[str, float], names: Sequence[str]) -> Floats:
    """The price of an answer of each person, (n_names,)."""
    if not isinstance(price, Mapping):
        return np.full(len(names), _positive(price, "price"))
    unknown = [name for name in price if str(name) not in names]
    if unknown:
        meant = did_you_mean(str(unknown[0]), names)
        raise InvalidParameter(
            f"price must name people who can be asked; {unknown[0]!r} is none of them ({len(unknown)} of {len(price)} "
            f"names are off).{meant} They are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."
        )
    prices = {str(name): _positive(value, f"the price of {name!r}") for name, value in price.items()}
    return np.array([prices.get(name, 1.0) for name in names])


def _positive(value: float, name: str) -> float:
    number = as_number(value, name)
    if number == 0:
        raise InvalidParameter(f"{name} must be positive; it is 0.")
    return number
