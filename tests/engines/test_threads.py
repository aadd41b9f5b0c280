"""Maps in threads: in order, the same bits for any number of threads, and never stuck."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from twoheads.engines import threads as engine
from twoheads.engines.blocks import add_up


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: request.param)
    return request.param


def sum_in_threads(function, arguments):
    return add_up(engine.map_in_threads(function, arguments))


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_results_come_in_order(threads):
    assert list(engine.map_in_threads(lambda number: number**2, range(50))) == [number**2 for number in range(50)]
    assert list(engine.map_in_threads(lambda number: number, iter([]))) == []


def test_sums_are_the_same_to_the_bit(monkeypatch):
    values = np.random.default_rng(0).normal(size=(64, 1001)) * 10.0 ** np.arange(-32, 32)[:, None]
    sums = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(engine, "n_threads", lambda threads=threads: threads)
        total, squares = sum_in_threads(lambda row: (row.sum(), row**2), list(values))
        sums.append((float(total).hex(), squares.tobytes()))
    assert sums[0] == sums[1] == sums[2]


def test_a_sum_by_hand(threads):
    total, pair = sum_in_threads(lambda n: (n, np.array([n, 1.0])), [1, 2, 3])
    assert total == 6
    assert pair.tolist() == [6.0, 3.0]


def test_an_error_comes_through(threads):
    def kernel(number):
        if number == 3:
            raise ZeroDivisionError("block 3")
        return number

    results = engine.map_in_threads(kernel, range(100))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="block 3"):
        next(results)
    assert list(engine.map_in_threads(abs, range(3))) == [0, 1, 2]


def test_nothing_runs_on_after_an_error(monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: 2)
    begun, done, first_failed = [], [], threading.Event()

    def kernel(number):
        begun.append(number)
        if number == 0:
            first_failed.set()
            raise ValueError("block 0")
        first_failed.wait()
        done.append(number)

    with pytest.raises(ValueError, match="block 0"):
        list(engine.map_in_threads(kernel, range(100)))
    assert sorted(begun) == [0, *sorted(done)]
    assert len(begun) <= 4


def test_an_error_in_the_arguments_comes_through(threads):
    def blocks():
        yield 1
        raise OSError("the file ended")

    with pytest.raises(OSError, match="the file ended"):
        list(engine.map_in_threads(abs, blocks()))


def test_arguments_are_fetched_as_they_are_needed(threads):
    fetched = []

    def blocks():
        for number in range(1000):
            fetched.append(number)
            yield number

    results = engine.map_in_threads(abs, blocks())
    assert fetched == []
    for count in range(1, 20):
        next(results)
        assert len(fetched) <= count + 2 * threads
    results.close()
    assert len(fetched) < 100


def test_a_function_may_map_in_threads_itself(threads):
    def outer(number):
        return sum(engine.map_in_threads(lambda inner: number * inner, range(20)))

    assert list(engine.map_in_threads(outer, range(20))) == [190 * number for number in range(20)]


def test_many_threads_may_map_at_once(monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: 2)
    before = blas_threads()
    with ThreadPoolExecutor(8) as callers:
        sums = list(callers.map(lambda number: sum(engine.map_in_threads(lambda n: n * number, range(50))), range(40)))
    assert sums == [1225 * number for number in range(40)]
    assert blas_threads() == before


def test_blas_is_let_go_whoever_ends_first(monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: 2)
    before = blas_threads()
    one, two = engine.map_in_threads(abs, range(9)), engine.map_in_threads(abs, range(9))
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
from twoheads.engines import threads as engine
from twoheads.engines.blocks import add_up
engine.n_threads = lambda: 2
half_done = engine.map_in_threads(abs, range(9)); next(half_done)
child = os.fork()
if child == 0:
    os._exit(0 if list(engine.map_in_threads(abs, range(9))) == list(range(9)) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_as_many_threads_as_the_process_may_use():
    assert 1 <= engine.n_threads() <= (os.cpu_count() or 1)


def test_a_worker_runs_maps_in_its_own_thread(monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: 2)

    def names():
        return set(engine.map_in_threads(lambda _: threading.current_thread().name, range(5)))

    with engine.single_threaded():
        assert names() == {threading.current_thread().name}
    assert all(name.startswith("twoheads") for name in names())
