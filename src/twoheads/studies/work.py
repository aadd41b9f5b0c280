"""Many small fits on several cores, with progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from twoheads.engines.threads import n_threads
from twoheads.errors import InvalidParameter

Out = TypeVar("Out")
Case = TypeVar("Case", bound=Hashable)

#: Called with the study's name, the number of its tasks done, and the number in all.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Work:
    """Where tasks run.

    Attributes
    ----------
    study : str
        For whom.
    jobs : int or None
        Processes; by default one per core. With 1, everything runs in this process.
    progress : callable or None
    """

    study: str
    jobs: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and (isinstance(self.jobs, bool) or self.jobs != int(self.jobs) or self.jobs < 1):
            raise InvalidParameter(f"jobs must be a whole number of 1 or more; it is {self.jobs!r}.")

    def map(self, function: Callable[..., Out], tasks: Iterable[tuple[Any, ...]]) -> list[Out]:
        """``function(*task)`` for each task, in order."""
        todo = list(tasks)
        jobs = min(self.jobs or n_threads(), len(todo))
        if jobs > 1:
            parallel = Parallel(n_jobs=jobs, return_as="generator")
            results: Generator[Out] = parallel(delayed(_on_one_thread)(function, task) for task in todo)
        else:
            results = (_on_one_thread(function, task) for task in todo)
        done = []
        try:
            self._report(0, len(todo))
            for result in results:
                done.append(result)
                self._report(len(done), len(todo))
        finally:
            with warnings.catch_warnings():  # the warning that tasks were cancelled is expected after Ctrl-C
                warnings.simplefilter("ignore", UserWarning)
                results.close()
        return done

    def by_case(
        self, function: Callable[..., Out], tasks: Mapping[Case, Sequence[tuple[Any, ...]]]
    ) -> dict[Case, list[Out]]:
        """``function(*task)`` for each task of each case, in order; the cases share the processes."""
        results = iter(self.map(function, [task for each in tasks.values() for task in each]))
        return {case: [next(results) for _ in each] for case, each in tasks.items()}

    def _report(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(self.study, done, total)


def _on_one_thread(function: Callable[..., Out], task: tuple[Any, ...]) -> Out:
    """Run on one thread: matrices are small, and the processes use the cores already."""
    with threadpool_limits(1):
        return function(*task)
