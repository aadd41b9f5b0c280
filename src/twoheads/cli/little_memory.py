"""A limit on the address space (``ulimit -v``): refused where too small, and watched where libraries may crash in it.

Libraries that are written in C end the process, or wait for ever, where they cannot reserve memory: no exception
comes. So what a command needs at least is checked before they are loaded, and a process of few megabytes watches.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from twoheads.cli.signals import ENDING
from twoheads.engines.memory import address_space, has_little_memory, use_little_memory

#: Megabytes of address space below which nothing is loaded: no command that reads a table finished in 400 MB, and
#: OpenBLAS waited for ever in 200.
_LEAST = 400


def guarded(run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """The exit code of ``run(arguments)``; with little memory, a crash in a library is one sentence and code 2."""
    limit = address_space()
    if limit is not None and limit < _LEAST << 20:
        return _refuse(
            f"the command could not start: it may use {limit >> 20:,} MB of memory (ulimit -v), and its libraries may "
            f"crash below {_LEAST:,} MB. Give the program more."
        )
    if not has_little_memory():
        return run(arguments)
    use_little_memory()
    ended, says_ended = os.pipe()
    child = os.fork()
    if child:
        os.close(says_ended)
        return _watch(child, ended)
    try:
        _reserve()
        return run(arguments)
    finally:
        os.write(says_ended, b".")


def _reserve() -> None:
    """Have OpenBLAS reserve its memory while there is room: without room it ends the process, or waits for ever.

    NumPy and SciPy each have their own OpenBLAS, which keeps what its first product of matrices has reserved.
    """
    with contextlib.suppress(ImportError, MemoryError):  # reported where they are used
        np, blas = import_module("numpy"), import_module("scipy.linalg.blas")
        square = np.ones((256, 256))
        blas.dgemm(1.0, square @ square, square)


def _watch(child: int, ended: int) -> int:
    """The exit code of a process, which writes to a pipe before it ends by itself."""

    def pass_on(number: int, _: Any) -> None:
        os.kill(child, number)

    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, pass_on)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not os.read(ended, 1) and code != -signal.SIGKILL:
        return _refuse(
            "the command could not finish: a library crashed, probably for lack of memory (ulimit -v). Give the "
            "program more, or use a smaller table."
        )
    return 128 - code if code < 0 else code


def _refuse(sentence: str) -> int:
    print(f"Error: {sentence}", file=sys.stderr)
    return 2
