"""How the C library of a process of ours manages memory; never called at import."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

#: Parameters of mallopt, from malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8


@cache
def keep_freed_memory() -> None:
    """Have the C library of Linux keep the memory of freed arrays: up to 64 MiB at the end of its heap.

    By default it returns the memory of arrays as large as a block to the system, and fetching it again costs as much as
    the arithmetic done in it; more on Dask workers, which are configured to return all they can. This changes the whole
    process, so only processes of our own do it: the command line and Dask workers.
    """
    _mallopt(_M_MMAP_THRESHOLD, 32 * 2**20)
    _mallopt(_M_TRIM_THRESHOLD, 64 * 2**20)


def _mallopt(parameter: int, value: int) -> None:
    function = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if function is not None:
        function(parameter, value)


#: Bytes of address space below which a command runs in one thread: each further thread reserves 64 MB and its stack.
_MANY_THREADS_NEED = 4 << 30
#: What makes the libraries we load use one thread, and Arrow reserve no more memory than it uses.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def address_space() -> int | None:
    """How many bytes of address space this process may use (``ulimit -v``); None without a limit."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def has_little_memory() -> bool:
    """Whether the limit on the address space is too small for several threads."""
    limit = address_space()
    return limit is not None and limit < _MANY_THREADS_NEED


def use_little_memory() -> None:
    """Have the libraries that are loaded later use one thread and reserve little; last digits may differ."""
    os.environ.update(_ONE_THREAD)
    _mallopt(_M_ARENA_MAX, 1)
