"""Sums and maps over blocks: in order, the same bits on any number of threads, and never stuck."""

import os
import platform
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from twoheads.engines import local


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(local, "n_threads", lambda: request.param)
    return request.param


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize(
    ("n_items", "n_classes"), [(1, 2), (300_000 // 10, 10), (300_000 // 10 + 1, 10), (1_000_000, 10), (500, 1_000_000)]
)
def test_slices_cover_every_item_once(n_items, n_classes):
    slices = local.block_slices(n_items, n_classes)
    assert slices[0].start == 0
    assert slices[-1].stop == n_items
    assert all(one.stop == two.start for one, two in pairwise(slices))
    assert all(some.stop > some.start for some in slices)


def test_no_items_no_slices():
    assert local.block_slices(0, 3) == []


def test_results_come_in_order(threads):
    assert list(local.map_blocks(lambda number: number**2, range(50))) == [number**2 for number in range(50)]
    assert list(local.map_blocks(lambda number: number, iter([]))) == []


def test_sums_are_the_same_to_the_bit(monkeypatch):
    values = np.random.default_rng(0).normal(size=(64, 1001)) * 10.0 ** np.arange(-32, 32)[:, None]
    sums = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(local, "n_threads", lambda threads=threads: threads)
        total, squares = local.sum_blocks(lambda row: (row.sum(), row**2), list(values))
        sums.append((float(total).hex(), squares.tobytes()))
    assert sums[0] == sums[1] == sums[2]


def test_a_sum_by_hand(threads):
    total, pair = local.sum_blocks(lambda n: (n, np.array([n, 1.0])), [1, 2, 3])
    assert total == 6
    assert pair.tolist() == [6.0, 3.0]


def test_an_error_comes_through(threads):
    def kernel(number):
        if number == 3:
            raise ZeroDivisionError("block 3")
        return number

    results = local.map_blocks(kernel, range(100))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="block 3"):
        next(results)
    assert list(local.map_blocks(abs, range(3))) == [0, 1, 2]


def test_nothing_runs_on_after_an_error(monkeypatch):
    monkeypatch.setattr(local, "n_threads", lambda: 2)
    begun, done, first_failed = [], [], threading.Event()

    def kernel(number):
        begun.append(number)
        if number == 0:
            first_failed.set()
            raise ValueError("block 0")
        first_failed.wait()
        done.append(number)

    with pytest.raises(ValueError, match="block 0"):
        list(local.map_blocks(kernel, range(100)))
    assert sorted(begun) == [0, *sorted(done)]
    assert len(begun) <= 4


def test_an_error_in_the_blocks_comes_through(threads):
    def blocks():
        yield 1
        raise OSError("the file ended")

    with pytest.raises(OSError, match="the file ended"):
        list(local.map_blocks(abs, blocks()))


def test_blocks_are_fetched_as_they_are_needed(threads):
    fetched = []

    def blocks():
        for number in range(1000):
            fetched.append(number)
            yield number

    results = local.map_blocks(abs, blocks())
    assert fetched == []
    for count in range(1, 20):
        next(results)
        assert len(fetched) <= count + 2 * threads
    results.close()
    assert len(fetched) < 100


def test_a_kernel_may_map_blocks_itself(threads):
    def outer(number):
        return sum(local.map_blocks(lambda inner: number * inner, range(20)))

    assert list(local.map_blocks(outer, range(20))) == [190 * number for number in range(20)]


def test_many_threads_may_map_at_once(monkeypatch):
    monkeypatch.setattr(local, "n_threads", lambda: 2)
    before = blas_threads()
    with ThreadPoolExecutor(8) as callers:
        sums = list(callers.map(lambda number: sum(local.map_blocks(lambda n: n * number, range(50))), range(40)))
    assert sums == [1225 * number for number in range(40)]
    assert blas_threads() == before


def test_blas_is_let_go_whoever_ends_first(monkeypatch):
    monkeypatch.setattr(local, "n_threads", lambda: 2)
    before = blas_threads()
    one, two = local.map_blocks(abs, range(9)), local.map_blocks(abs, range(9))
    next(one), next(two)
    assert set(blas_threads()) <= {1}
    list(one)
    assert set(blas_threads()) <= {1}
    two.close()
    assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_it_works_after_a_fork():
    code = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from twoheads.engines import local
local.n_threads = lambda: 2
half_done = local.map_blocks(abs, range(9)); next(half_done)
child = os.fork()
if child == 0:
    os._exit(0 if list(local.map_blocks(abs, range(9))) == list(range(9)) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_as_many_threads_as_the_process_may_use():
    assert 1 <= local.n_threads() <= (os.cpu_count() or 1)


def test_passing_blocks_are_made_anew_in_each_pass(threads):
    made = []

    def make(rows):
        made.append(rows)
        return rows.stop - rows.start

    blocks = local.Passing(make, [slice(0, 3), slice(3, 5), slice(5, 9)], 9)
    assert len(blocks) == 3
    assert made == []
    for count in (3, 6):
        assert list(local.map_blocks(lambda block: block * 10, blocks)) == [30, 20, 40]
        assert len(made) == count
    assert blocks[1] == 2


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep memory by themselves")
def test_memory_of_blocks_is_fetched_once_also_where_dask_has_it_handed_back():
    program = """
import resource
import numpy as np
from twoheads.engines import local

def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(local.BLOCK_NUMBERS)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults(3)
print(faults(100))
"""
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < local.BLOCK_NUMBERS * 8 // 4096  # less than one block has pages, not a hundred times that
