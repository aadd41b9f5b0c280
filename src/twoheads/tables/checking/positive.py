"""The class that high scores mean."""

from __future__ import annotations

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.observations.members import unknown_positive
from twoheads.tables.checking.cells import label_key, number_in
from twoheads.tables.checking.classes import in_order
from twoheads.tables.checking.guess import Guess
from twoheads.tables.checking.table_rows import TableRows


def positive_class(table: TableRows, roles: Guess, given: str | None) -> str | None:
    """The class that high scores mean: the one given, named as such, or with the higher mean score among the labels.

    Of more than two classes it is the greatest or the smallest, as scores rise or fall with the class.
    """
    ends = in_order(roles.classes)[:: max(1, len(roles.classes) - 1)]
    if given is not None:
        if label_key(given) not in roles.classes:
            raise unknown_positive(given, in_order(roles.classes))
        if roles.classes[label_key(given)] not in ends:
            raise InvalidObservations(
                f"positive (--positive) must be the greatest or the smallest of more than two classes, {ends[-1]!r} or "
                f"{ends[0]!r}; it is {given!r}."
            )
        return roles.classes[label_key(given)]
    place = {name: at for at, name in enumerate(table.columns)}
    score, labels = place[roles.score_columns[0]], [place[name] for name in roles.label_columns]
    sums = {name: np.zeros(2) for name in roles.classes.values()}
    for rows in table:
        for row in rows:
            number = number_in(row[score] or "")
            label = next((found for at in labels if (found := roles.classes.get(label_key(row[at] or "")))), None)
            if number is not None and label is not None:
                sums[label] += (number.value, 1.0)
        break  # the first batch is enough
    means = {name: total / n for name, (total, n) in sums.items() if n >= 5}
    if len(means) < 2 or len(set(means.values())) < 2:
        return roles.positive
    if len(roles.classes) == 2:
        return max(means, key=means.__getitem__)
    value, mean, n = np.array([(float(name), means[name], sums[name][1]) for name in means]).T
    value, mean = value - n @ value / n.sum(), mean - n @ mean / n.sum()
    return ends[0] if n @ (value * mean) < 0 else ends[-1]
