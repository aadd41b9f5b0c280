"""Fitting and combining where the table is: in memory, on disk, on a cluster."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from twoheads import tables
from twoheads.cli import say
from twoheads.cli.judging import labelled_hashes, remembered
from twoheads.combination.combiner import Combiner
from twoheads.combination.items import fits_in_memory
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.engines.cluster import Cluster
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import MISSING
from twoheads.observations import as_truth

ENGINES = ("local", "dask")


def engine_is_known(engine: str, scheduler: str | None) -> None:
    """Refuse an engine that there is not, and a scheduler of none."""
    if engine not in ENGINES:
        raise InvalidParameter(f"--engine must be {' or '.join(ENGINES)}; it is {engine!r}.")
    if scheduler is not None and engine != "dask":
        raise InvalidParameter("--scheduler is the address of a Dask scheduler: say --engine dask too.")


@contextmanager
def cluster_at(scheduler: str | None) -> Iterator[Cluster]:
    """A cluster, with word of where it can be watched."""
    from twoheads.engines.dask import DaskCluster

    with DaskCluster(scheduler) as cluster:
        say.words(f"The cluster can be watched at {cluster.dashboard}")
        yield cluster


def fit_team(team: Combiner, scanned: tables.Table, engine: str, scheduler: str | None, method: str) -> tuple[str, Any]:
    """Fit a team; returns the table's fingerprint, and the hashes of its labelled items."""
    with say.passes():
        if not isinstance(team, ProbabilityLabelCombiner):
            if engine == "dask":
                raise InvalidParameter("--engine dask fits teams of P+L (recommended, guarded, P+L, SP, Bayes) only.")
        elif engine == "dask":
            scanned.need_pieces()
            with cluster_at(scheduler) as cluster:
                team.fit(cluster.hold(scanned))
            return remembered(scanned)
        elif not fits_in_memory(scanned):
            team.fit(scanned)
            return remembered(scanned)
        seen, y = scanned.read()
        if not isinstance(team, ProbabilityLabelCombiner) and (as_truth(y, seen) == MISSING).all():
            raise InvalidObservations(
                f"--method {method} learns from items whose truth is known; it is known for none of "
                f"{len(seen):,}. Say where it stands with --truth, or learn without it: --method P+L or recommended."
            )
        team.fit(seen, y)
    return tables.fingerprint(seen), labelled_hashes(scanned, seen, y)


def combine_on_cluster(team: Any, scanned: tables.Table, output: Path, scheduler: str | None) -> int:
    """Combine the pieces of a table where they are read, one Parquet file each; the folder appears when all are."""
    if output.exists():
        raise InvalidParameter(f"{output} is there already; --engine dask writes a new folder. Name another with -o.")
    if not output.parent.is_dir():
        raise InvalidParameter(f"There is no folder {output.parent}. Make it first, or write elsewhere with -o.")
    scanned.need_pieces()
    scanned.check_items()
    with cluster_at(scheduler) as cluster:
        spans = cluster.spans(scanned)
        part = Path(output.resolve()).with_name(f".{output.name[:100]}.{secrets.token_hex(6)}.part")
        part.mkdir()
        try:
            files = [str(part / f"{at:05d}.parquet") for at in range(len(spans))]
            work = partial(_combine_span, team, scanned)
            with say.progress("combining", scanned.n_rows) as done:
                written = 0
                for rows in cluster.results(cluster.submit(work, spans, files)):
                    written += rows
                    done(rows)
            part.rename(output)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return written


def _combine_span(team: Any, scanned: tables.Table, span: tuple[int, int], file: str) -> int:
    blocks = (seen for seen, _ in scanned.blocks(truth=False, span=span))
    item, kind = scanned.item_name, scanned.item_type
    made = (
        tables.verdicts(seen, team.predict_proba(seen), team.classes_, item=item, item_type=kind) for seen in blocks
    )
    return tables.write(file, made)
