"""The contract of `twoheads.engines.chunks.Store`, as small checks.

``make_store(chunks)`` returns a store that keeps the given chunks, each a list of blocks. A store passes if
`check_store` raises no AssertionError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twoheads.engines.blocks import map_blocks
from twoheads.engines.chunks import ChunkedBlocks, Store
from twoheads.kernels.answers import Answers
from twoheads.kernels.blocks import Block

Chunk = list[Block]
MakeStore = Callable[[Sequence[Chunk]], Store]

#: Items of each block of each chunk.
_SIZES = ((2, 1), (3,), (1, 4, 2), (5,))


def check_store(make_store: MakeStore) -> None:
    """Run every check of ``CHECKS`` on stores that ``make_store`` makes."""
    for check in CHECKS:
        check(make_store)


def check_length(make_store: MakeStore) -> None:
    """The length is the number of chunks."""
    assert len(make_store(example_chunks())) == len(_SIZES)


def check_chunks_come_back_unchanged(make_store: MakeStore) -> None:
    """A function receives the blocks that were stored: every field, every bit."""
    chunks = example_chunks()
    results = make_store(chunks).results(_content_of, dict.fromkeys(range(len(chunks))))
    for number, (chunk, found) in enumerate(zip(chunks, results, strict=True)):
        assert _content_of(chunk) == found, f"chunk {number} is not what was stored"


def check_order_of_arguments(make_store: MakeStore) -> None:
    """Results come in the order of the arguments, each computed from its own chunk and argument."""
    store = make_store(example_chunks())
    results = list(store.results(_n_items_and_argument, {2: "two", 0: "zero", 3: "three"}))
    assert results == [(7, "two"), (3, "zero"), (5, "three")]


def check_subsets(make_store: MakeStore) -> None:
    """The function is applied to the chunks that are named, and to no others."""
    store = make_store(example_chunks())
    assert list(store.results(_n_items_and_argument, {1: None})) == [(3, None)]
    assert list(store.results(_n_items_and_argument, {})) == []


def check_repeated_passes(make_store: MakeStore) -> None:
    """Each pass over the chunks gives the same results."""
    store = make_store(example_chunks())
    first, second = (list(store.results(_content_of, dict.fromkeys(range(len(store))))) for _ in range(2))
    assert first == second


def check_closures(make_store: MakeStore) -> None:
    """A function may be a closure: fits send their parameters this way."""
    store, factor = make_store(example_chunks()), np.array([3.0])
    results = list(store.results(lambda chunk, argument: float(factor[0]) * len(chunk) + argument, {0: 0.5, 2: 0.25}))
    assert results == [6.5, 9.25]


def check_nested_maps(make_store: MakeStore) -> None:
    """A function may itself map blocks."""
    store = make_store(example_chunks())
    results = store.results(lambda chunk, _: sum(map_blocks(_n_items, chunk)), dict.fromkeys(range(len(store))))
    assert list(results) == [sum(sizes) for sizes in _SIZES]


def check_errors_are_raised(make_store: MakeStore) -> None:
    """An error in a function is raised with its type and message, and the store can be used afterwards."""
    store = make_store(example_chunks())
    message = ""
    try:
        list(store.results(_fail_on_two, dict.fromkeys(range(len(store)))))
    except ZeroDivisionError as error:
        message = str(error)
    assert "two blocks" in message, "the error in a function is not raised with its message"
    assert list(store.results(_n_items_and_argument, {1: None})) == [(3, None)]


def check_sums_are_the_same_to_the_bit(make_store: MakeStore) -> None:
    """A sum over the blocks adds within each chunk, then over chunks, in order."""
    chunks = example_chunks()
    sizes = {number: [block.n_items for block in chunk] for number, chunk in enumerate(chunks)}
    found = ChunkedBlocks[Block](make_store(chunks), sizes, list).sum(_log_proba_sum)
    expected = 0.0
    for chunk in chunks:
        within = 0.0
        for block in chunk:
            within += _log_proba_sum(block)[0]
        expected += within
    assert found[0].hex() == expected.hex(), f"{found[0]!r} is not {expected!r}"


CHECKS: tuple[Callable[[MakeStore], None], ...] = (
    check_length,
    check_chunks_come_back_unchanged,
    check_order_of_arguments,
    check_subsets,
    check_repeated_passes,
    check_closures,
    check_nested_maps,
    check_errors_are_raised,
    check_sums_are_the_same_to_the_bit,
)


def example_chunks() -> list[Chunk]:
    """Chunks of blocks with every field set, and of blocks with none but the model's."""
    rng = np.random.default_rng(0)
    return [[_example_block(rng, n_items) for n_items in sizes] for sizes in _SIZES]


def _example_block(rng: np.random.Generator, n_items: int) -> Block:
    log_proba = np.log(rng.dirichlet(np.ones(3), n_items).T)
    if n_items == 1:
        return Block(log_proba)
    answers = Answers(rng.integers(0, 3, 2 * n_items), 2 * np.arange(n_items + 1))
    return Block(
        log_proba,
        answers,
        rng.integers(-1, 3, n_items),
        np.exp(log_proba),
        rng.random(n_items),
        Answers(rng.integers(-1, 1, n_items)),
        rng.random(2 * n_items),
        (log_proba, 2 * log_proba),
        rng.random(n_items) < 0.5,
        np.arange(n_items),
    )


def _content_of(chunk: Chunk, _: Any = None) -> list[list[Any]]:
    return [[_as_comparable(getattr(block, name)) for name in Block.__slots__] for block in chunk]


def _as_comparable(value: Any) -> Any:
    """Nested tuples of an array's type, shape and bytes."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(_as_comparable, value))
    if isinstance(value, Answers):
        return _as_comparable((value.column, value.start))
    return value


def _n_items(block: Block) -> int:
    return block.n_items


def _n_items_and_argument(chunk: Chunk, argument: Any) -> tuple[int, Any]:
    return sum(map(_n_items, chunk)), argument


def _fail_on_two(chunk: Chunk, _: Any) -> int:
    if len(chunk) == 2:
        raise ZeroDivisionError("a chunk of two blocks")
    return len(chunk)


def _log_proba_sum(block: Block) -> tuple[float]:
    return (float(block.log_proba.sum()),)
