"""Memory of freed arrays is kept in processes of our own, and importing the library changes nothing of a process."""

import json
import os
import platform
import subprocess
import sys

import pytest

from twoheads.engines.blocks import BLOCK_NUMBERS

needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of the GNU C library")

PAGE_FAULTS = """
import resource
import numpy as np

def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(300_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults(3)
print(faults(100))
"""

IMPORTS = """
import importlib, json, logging, os, pkgutil, signal, sys, threading, warnings
import numpy, scipy, sklearn, threadpoolctl
for name in ("dask.distributed", "duckdb", "pyarrow", "matplotlib.figure", "typer", "rich.console", "jinja2"):
    try:
        importlib.import_module(name)
    except ImportError:
        pass

def state():
    handlers = {number: repr(signal.getsignal(number)) for number in signal.valid_signals()}
    blas = [(pool["filepath"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info()]
    return {
        "environment": dict(os.environ), "signals": handlers, "blas": blas, "folder": os.getcwd(),
        "numpy": numpy.geterr(), "threads": threading.active_count(),
        "warnings": len(warnings.filters), "logging": repr(logging.root.handlers),
        "random": repr(numpy.random.get_state()), "hook": repr(sys.excepthook), "recursion": sys.getrecursionlimit(),
    }

before, changes = state(), []
sys.addaudithook(
    lambda event, arguments: changes.append("mallopt") if event == "ctypes.dlsym" and "mallopt" in arguments else None
)
os.register_at_fork = lambda **_: changes.append("os.register_at_fork")
import twoheads
names = [found.name for found in pkgutil.walk_packages(twoheads.__path__, "twoheads.")]
for name in names:
    if name != "twoheads.__main__":
        importlib.import_module(name)
after = state()
changes += [key for key in before if before[key] != after[key]]
print(json.dumps([len(names), changes]))
"""


def run(program, **environment):
    environment = os.environ | environment
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@needs_glibc
def test_memory_of_blocks_is_fetched_once_even_where_dask_returns_it():
    kept = "from twoheads.engines.memory import keep_freed_memory; keep_freed_memory()"
    pages = BLOCK_NUMBERS * 8 // 4096
    assert int(run(kept + PAGE_FAULTS, MALLOC_TRIM_THRESHOLD_="65536")) < pages  # not a hundred times that


@needs_glibc
def test_importing_leaves_the_memory_of_the_process_alone():
    alone = int(run(PAGE_FAULTS, MALLOC_TRIM_THRESHOLD_="65536"))
    imported = int(run("import twoheads, twoheads.engines.memory" + PAGE_FAULTS, MALLOC_TRIM_THRESHOLD_="65536"))
    assert imported > alone / 2


def test_importing_any_module_changes_nothing_of_the_process():
    pytest.importorskip("distributed")
    pytest.importorskip("typer")
    n_modules, changes = json.loads(run(IMPORTS))
    assert n_modules > 150
    assert changes == []
