"""An order-independent fingerprint of a table's rows, the same for any file format and any size of blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Floats
from twoheads.observations import Observations
from twoheads.observations.labels import label_text

_Words = NDArray[np.uint64]


def fingerprint(observations: Observations | Iterable[Observations]) -> str:
    """A short text that identifies observations.

    Each item is hashed from its answers (who answered what) and the bits of its probabilities; the hashes are added up,
    so that neither the order of rows nor the size of blocks matters. The arithmetic is this package's own: the text is
    the same on every machine and with every version of the libraries that read files. Ids and truth do not count: a
    table is the same after its rows were renumbered or more truth was filled in.

    Parameters
    ----------
    observations : Observations, or several
        One, or the blocks of one table.

    Examples
    --------
    >>> observations = Observations.from_arrays([0, 1, 1], [[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
    >>> fingerprint(observations) == fingerprint([observations[1:], observations[:1]])
    True
    >>> fingerprint(observations) == fingerprint(observations[:2])
    False
    """
    blocks = [observations] if isinstance(observations, Observations) else observations
    total, mixed, n_items, names = 0, 0, 0, ""
    for block in blocks:
        rows = row_hashes(block)
        total = (total + int(rows.sum(dtype=np.uint64))) % 2**64
        mixed ^= int(np.bitwise_xor.reduce(rows))
        n_items += len(block)
        names = "\0".join([block.model_scale, *map(label_text, block.classes.tolist())])
    return hashlib.sha256(f"{n_items} {total} {mixed} {names}".encode()).hexdigest()[:32]


def row_hashes(observations: Observations) -> _Words:
    """A hash of each item, (n_items,)."""
    rows = answer_hashes(
        observations.answers,
        observations.unsure,
        observations.annotators,
        observations.classes,
        observations.confidence,
    )
    for model, proba in enumerate(observations.model_proba):
        for at in range(proba.shape[1]):
            odd = np.uint64(text_hash(f"{model} {label_text(observations.classes[at].item())}") | 1)
            column = np.ascontiguousarray(proba[:, at], dtype=np.float64) + 0.0  # turns -0 into 0
            bits = column.view(np.uint64)
            blank = np.isnan(column)
            if blank.any():
                bits[blank] = 1
            bits ^= bits >> np.uint64(32)  # short fractions have their bits at the top only
            bits *= odd
            bits ^= bits >> np.uint64(29)
            rows += bits
    if observations.scores is not None:
        for name, values in zip(observations.scores.names, observations.scores.values.T, strict=True):
            bits = (np.where(np.isnan(values), 0.5, values) + 0.0).view(np.uint64) * np.uint64(text_hash(name) | 1)
            rows += stirred(bits ^ np.isnan(values).astype(np.uint64))
    return stirred(rows)


def answer_hashes(
    answers: Answers,
    unsure: Answers | None,
    annotators: Sequence[str],
    classes: NDArray[Any],
    confidence: Floats | None = None,
) -> _Words:
    """A hash of each item's answers: who answered what, "unsure" included, (n_items,); not mixed yet."""
    names = [label_text(name) for name in classes.tolist()]
    table = np.array(
        [answer_word(annotator, name) for annotator in annotators for name in names] + [0], dtype=np.uint64
    )
    words = table[answers.column]  # the code of "no answer" is the last index
    if confidence is not None:
        sure = ~np.isnan(confidence)
        words[sure] = stirred(words[sure] ^ (confidence[sure] + 0.0).view(np.uint64))
    rows = _by_item(answers, words)
    if unsure is not None:
        words = np.array([answer_word(annotator, None) for annotator in annotators] + [0], dtype=np.uint64)
        rows = rows + _by_item(unsure, words[unsure.column])
    return rows


def _by_item(answers: Answers, words: _Words) -> _Words:
    """The sum of a word per entry of ``answers.column`` over the answers of each item."""
    if answers.start is None:
        return words
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    return np.asarray(sums[answers.start[1:]] - sums[answers.start[:-1]])


def stirred(words: _Words) -> _Words:
    """Words mixed so that each bit depends on all bits (the finaliser of MurmurHash3); in place."""
    for shift, odd in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(odd)
    words ^= words >> np.uint64(33)
    return words


def unstirred(words: _Words) -> _Words:
    """The words that `stirred` has mixed."""
    found = words ^ (words >> np.uint64(33))
    for odd in (0xC4CEB9FE1A85EC53, 0xFF51AFD7ED558CCD):
        found = found * np.uint64(pow(odd, -1, 2**64))
        found ^= found >> np.uint64(33)
    return found


def answer_word(annotator: str, name: str | None) -> int:
    """The hash of one annotator's answer, the name of a class; None for "unsure"."""
    return text_hash(f"{annotator}\0{name}" if name is not None else f"{annotator}\0\0unsure")


def text_hash(text: str) -> int:
    """64 bits of a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
