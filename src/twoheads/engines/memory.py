"""How the C library of a process of ours manages memory; never called at import."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

#: Parameters of mallopt, from malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@cache
def keep_freed_memory() -> None:
    """Have the C library of Linux keep the memory of freed arrays: up to 64 MiB at the end of its heap.

    By default it returns the memory of arrays as large as a block to the system, and fetching it again costs as much as
    the arithmetic done in it; more on Dask workers, which are configured to return all they can. This changes the whole
    process, so only processes of our own do it: the command line and Dask workers.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 32 * 2**20)
        mallopt(_M_TRIM_THRESHOLD, 64 * 2**20)
