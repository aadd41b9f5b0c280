"""Output of commands: data to stdout, messages to stderr; tables drawn on a terminal, plain text when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from twoheads.cli.stdin import shown
from twoheads.cli.strict_json import as_json
from twoheads.engines.progress import ProgressCallback, progress_to


@dataclass(frozen=True)
class _Mode:
    """What is printed.

    json     the result as JSON, in place of its lines and tables
    quiet    no messages and no progress
    results  takes results in place of stdout
    """

    json: bool = False
    quiet: bool = False
    results: list[Any] | None = None


_mode: ContextVar[_Mode] = ContextVar("twoheads_mode", default=_Mode())  # noqa: B039


@contextmanager
def mode(*, json: bool, quiet: bool, results: list[Any] | None = None) -> Iterator[None]:
    """What is printed in this context; what an outer one leaves out stays left out."""
    outer = _mode.get()
    inner = _Mode(json or outer.json, quiet or outer.quiet, outer.results if results is None else results)
    token = _mode.set(inner)
    try:
        yield
    finally:
        _mode.reset(token)


def wants_json() -> bool:
    """Whether the result is printed as JSON, in place of what a command writes without it."""
    return _mode.get().json and _mode.get().results is None


def error(text: str) -> None:
    """A message to stderr, also of a quiet command."""
    try:
        Console(stderr=True, highlight=False, soft_wrap=True).print(shown(text), markup=False, emoji=False)
    except MemoryError:  # rich loads more of itself to print; the sentence must be said all the same
        sys.stderr.write(text + "\n")


def message(text: str = "") -> None:
    """A message to stderr."""
    if not _mode.get().quiet:
        error(text)


def line(text: str = "") -> None:
    """A line of the result, to stdout."""
    if not _mode.get().json:
        sys.stdout.write(shown(text) + "\n")


def result(content: dict[str, Any]) -> None:
    """The result of a command, as JSON to stdout if that is asked for."""
    now = _mode.get()
    if now.results is not None:
        now.results.append(content)
    elif now.json:
        sys.stdout.write(as_json(content) + "\n")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table to stdout: drawn on a terminal, columns padded by spaces when piped."""
    if _mode.get().json:
        return
    if sys.stdout.isatty():
        drawn = Table(box=None, pad_edge=False, header_style="bold")
        for at, name in enumerate(header):
            drawn.add_column(name, justify="left" if at == 0 else "right", no_wrap=True)
        for row in rows:
            drawn.add_row(*row)
        Console(highlight=False).print(drawn, markup=False)
        return
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    for row in (header, *rows):
        cells = [
            text.ljust(width) if at == 0 else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        line("  ".join(cells).rstrip())


def shows_progress() -> bool:
    """Whether progress is shown: on a terminal, unless the command is quiet."""
    return sys.stderr.isatty() and not _mode.get().quiet


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr if that is a terminal; yields a function that advances it."""
    if not shows_progress():
        yield lambda done: None
        return
    with _bar() as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


class _Passes(ProgressCallback):
    """Draws each pass of a fit as a bar, with its number, items per second and the objective."""

    def __init__(self, bar: Progress) -> None:
        self._bar, self._task, self._n, self._objective = bar, bar.add_task("fitting", total=None, note=""), 0, ""

    def begin(self, n_items: int) -> None:
        self._n, self._done, self._start = self._n + 1, 0, time.perf_counter()
        self._bar.update(self._task, description=f"fitting, pass {self._n}", completed=0, total=n_items)

    def advance(self, n_items: int) -> None:
        self._done += n_items
        speed = self._done / max(time.perf_counter() - self._start, 1e-9)
        self._bar.update(self._task, advance=n_items, note=f"{speed:,.0f} items/s{self._objective}")

    def objective(self, value: float) -> None:
        self._objective = f", log posterior {value:,.2f}"


@contextmanager
def passes() -> Iterator[None]:
    """Show the progress of fits in this context, on stderr if that is a terminal."""
    if not shows_progress():
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar, progress_to(_Passes(bar)):
        yield


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for each of several named jobs; yields a function of (name, done, total)."""
    if not shows_progress():
        yield lambda name, done, total: None
        return
    with _bar() as bar:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield show
