"""Our stores keep the contract of `twoheads.testing.check_store`, which finds stores that break it."""

import pytest

from twoheads.engines.chunks import DiskStore, MemoryStore
from twoheads.testing import check_store
from twoheads.testing.stores import CHECKS


def disk_store(chunks):
    store = DiskStore()
    for chunk in chunks:
        store.add(chunk)
    return store


class ChunksAsTable:
    """What a cluster reads in place of a table: each row is a chunk."""

    classes = range(2)

    def __init__(self, chunks):
        self.chunks, self.n_rows = list(chunks), len(chunks)

    def spans(self, _):
        return [(row, row + 1) for row in range(self.n_rows)]


def read_chunk(table, span):
    return table.chunks[span[0]]


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("distributed")
    from twoheads.engines.dask import DaskCluster

    with DaskCluster(workers=1) as one:
        yield one


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make_store", [MemoryStore, disk_store])
def test_stores_here_keep_the_contract(make_store, check):
    check(make_store)


def test_the_store_of_a_cluster_keeps_the_contract(cluster):
    check_store(lambda chunks: cluster.store(ChunksAsTable(chunks), read_chunk))


class Unordered(MemoryStore):
    def results(self, function, arguments):
        return super().results(function, dict(sorted(arguments.items())))


class Swallowing(MemoryStore):
    def results(self, function, arguments):
        try:
            yield from super().results(function, arguments)
        except ZeroDivisionError:
            return


class Rounding(MemoryStore):
    def results(self, function, arguments):
        for result in super().results(function, arguments):
            yield (
                tuple(round(value, 9) for value in result) if isinstance(result, tuple) and len(result) == 1 else result
            )


@pytest.mark.parametrize("broken", [Unordered, Swallowing, Rounding])
def test_a_broken_store_is_found(broken):
    with pytest.raises(AssertionError):
        check_store(broken)
