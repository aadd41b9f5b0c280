"""The columns that have a role by their names in a fit, by the code of the fit; a check keeps these roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from twoheads.errors import InvalidObservations
from twoheads.tables.checking.cells import label_key
from twoheads.tables.checking.profile import Profile
from twoheads.tables.schema.plan import Names, wide_roles


@dataclass(frozen=True)
class Named:
    """The columns of a table whose names show their role.

    people      of answers; what they hold may speak against the name
    labellers   by model that gives labels
    models      by model, the column of each class's probability, by class
    scores      by model that gives scores
    grades      by person who gives grades
    """

    item: str | None = None
    truth: str | None = None
    people: tuple[str, ...] = ()
    labellers: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)
    grades: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Sequence[Profile], truth: str | None, human: str | Sequence[str] | None) -> Named:
        """Those of a table, and the columns that options name; nothing where a fit refuses the names.

        A plain column ``score`` is none of them: only an option says what it means. Nor are columns of a model one of
        which holds texts.
        """
        try:
            found = wide_roles([each.name for each in columns], "", Names(human=human), truth, needed=False)
        except InvalidObservations:
            return cls()
        texts = {each.name for each in columns if each.n_known and not each.is_numeric}
        machines = set(found.members.machines)
        return cls(
            found.item,
            found.truth,
            tuple(found.annotators.values()),
            found.members.labels,
            {} if texts & set(found.numbers) else found.models,
            {name: column for name, column in found.members.scores.items() if name in machines},
            {name: column for name, column in found.members.scores.items() if name not in machines},
        )

    @property
    def machines(self) -> set[str]:
        """The columns of all but people's labels, items and the truth."""
        numbers = {column for columns in self.models.values() for column in columns.values()}
        return numbers | {*self.labellers.values(), *self.scores.values(), *self.grades.values()}

    @property
    def classes(self) -> set[str]:
        """The classes that at least two columns name, as their `label_key`."""
        found = {label_key(label) for columns in self.models.values() for label in columns}
        return found if len(found) > 1 else set()


NOTHING_NAMED = Named()
