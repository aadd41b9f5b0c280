"""Classes of which no item has truth: what is measured on the others says nothing of them."""

from __future__ import annotations

from collections.abc import Sequence

from twoheads.text import count

#: So many classes are named.
_NAMED = 3


def only_class(names: Sequence[str], seen: Sequence[bool]) -> str | None:
    """The one class of several that items with truth are of; None where they are of more, or there are none."""
    return names[list(seen).index(True)] if sum(seen) == 1 < len(names) else None


def unseen_sentence(names: Sequence[str], seen: Sequence[bool], n_items: int) -> str | None:
    """What items with truth cannot show of classes that none of them is; None where there is truth of every class.

    names    of all classes
    seen     whether an item with truth is of the class
    n_items  how many items have truth
    """
    missing = [repr(name) for name, is_seen in zip(names, seen, strict=True) if not is_seen]
    if len(missing) in (0, len(names)):
        return None
    if (name := only_class(names, seen)) is not None:
        only = repr(name)
        rest = missing[0] if len(missing) == 1 else f"the other {len(missing):,} classes"
        items = f"All {count(n_items, 'item')} with truth are" if n_items > 1 else "The one item with truth is"
        return f"{items} {only}: what is measured is how often each is right about {only}; nothing is known of {rest}."
    if len(missing) > _NAMED:
        return f"No item with truth is of {len(missing):,} of the {len(names):,} classes: their errors are not counted."
    return f"No item with truth is {' or '.join(missing)}: errors on such items are not counted."
