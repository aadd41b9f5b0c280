"""Messages about values, with the file and the row in which they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import label_remedy
from twoheads.text import listed


def no_class(column: str, where: str, label: Any, extent: str, classes: Sequence[str]) -> InvalidObservations:
    """A label that is no class, in words, with the nearest class."""
    shown = listed([repr(name) for name in classes], 8)
    remedy = label_remedy(label, classes)
    return InvalidObservations(
        f"column {column!r} must hold classes; {where} has {label!r} ({extent}), and the classes are {shown}. {remedy}"
    )


@contextmanager
def located(where: Callable[[int], str], extent: Callable[[int], str]) -> Iterator[None]:
    """Say of the rows of a block where they stand in the table, and name the option beside the argument.

    Parameters
    ----------
    where : callable
        Where the row with this number in the block stands, as in "row 3 of scores.csv".
    extent : callable
        Of which rows this many are off.
    """
    try:
        yield
    except InvalidObservations as error:
        text = re.sub(r"^model_proba of ('.*?') ", r"the columns of model \1 ", str(error))
        text = re.sub(r"^model_proba ", "the model's columns ", text)
        text = re.sub(r"\brow (\d+)( \(item [^)]*\))?", lambda found: where(int(found[1])), text, count=1)
        text = re.sub(r"(\d+) of \d+ rows are off", lambda found: extent(int(found[1])), text, count=1)
        text = re.sub(r"model_scale='(\w+)'", r"model_scale='\1' (--model-scale \1)", text)
        text = re.sub(r"ivide each row by its sum", r"\g<0> (normalise=True, --normalise)", text)
        raise InvalidObservations(text) from None
