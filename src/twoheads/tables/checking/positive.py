"""The class that high scores mean."""

from __future__ import annotations

import numpy as np

from twoheads.observations.members import unknown_positive
from twoheads.tables.checking.cells import label_key, number_in
from twoheads.tables.checking.classes import in_order
from twoheads.tables.checking.guess import Guess
from twoheads.tables.checking.table_rows import TableRows


def positive_class(table: TableRows, roles: Guess, given: str | None) -> str | None:
    """The class that high scores mean: the one given, named as such, or with the higher mean score among the labels."""
    if given is not None:
        if label_key(given) not in roles.classes:
            raise unknown_positive(given, in_order(roles.classes))
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
    return max(means, key=means.__getitem__)
