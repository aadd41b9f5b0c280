"""Observations as they are shown, and as the columns of a wide table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers
from twoheads.kernels.chosen_answers import answer_of
from twoheads.observations.frames import new_frame
from twoheads.observations.labels import label_text
from twoheads.rendering.notebook import Shown


class ShownObservations(Shown):
    """What can be seen of observations; their fields are those of `Observations`."""

    classes: NDArray[Any]
    model_proba: tuple[NDArray[Any], ...]
    answers: Answers
    annotators: tuple[str, ...]
    items: NDArray[Any]
    models: tuple[str, ...]
    machines: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(n_items, n_annotators + n_models * n_classes), the shape of the same observations as a frame."""
        return len(self.items), len(self.annotators) + max(1, len(self.models)) * len(self.classes)

    def summary(self) -> dict[str, Any]:
        """What a terminal and a notebook show."""
        people = [name for name in self.annotators if name not in self.machines]
        named = {"classes": list(map(label_text, self.classes.tolist())), "people": people, "models": list(self.models)}
        return {"n_items": len(self.items), **named, "n_answers": int(self.answers.per_item().sum())}

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per item, as `Observations.from_frame` reads it, of a library: pandas, polars or pyarrow.

        Labels are None without an answer; a model's columns are as they were given. Confidences, scores and who was
        unsure are not in it.
        """
        names = np.array([*self.classes.tolist(), None], dtype=object)  # MISSING is the last
        columns: dict[str, Any] = {"item": self.items}
        for at, name in enumerate(self.annotators):
            columns[self._column_of(name)] = names[answer_of(self.answers, at, len(self.classes))]
        for model, proba in zip(self.models, self.model_proba, strict=False):
            start = "" if len(self.models) == 1 else f"{model}."
            for at, label in enumerate(self.classes.tolist()):
                columns[f"{start}p_{label_text(label)}"] = proba[:, at]
        return new_frame(columns, kind)

    def _column_of(self, annotator: str) -> str:
        if annotator in self.machines:
            return f"{annotator}.label"
        return "human" if self.annotators == ("human",) else f"human_{annotator}"
