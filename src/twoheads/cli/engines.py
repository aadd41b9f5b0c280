"""Fitting and combining where the table is: in memory, on disk, on a cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from twoheads import tables
from twoheads.cli import console
from twoheads.cli.class_shares import announce_shares
from twoheads.cli.table_options import TableOptions
from twoheads.combination.combiner import Combiner
from twoheads.combination.items import fits_in_memory
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.statistics.reservoir import ItemSample, merge_samples, sample_size
from twoheads.combination.team import Team
from twoheads.engines.cluster import Cluster, Span
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation.leakage import TrainingItems, training_items, training_items_of_blocks
from twoheads.kernels.arrays import MISSING
from twoheads.observations import as_truth
from twoheads.storage.atomic import atomic_folder

ENGINES = ("local", "dask")


def check_engine(engine: str, scheduler: str | None) -> None:
    """Refuse an unknown engine, and a scheduler without the engine dask."""
    if engine not in ENGINES:
        raise InvalidParameter(f"--engine must be {' or '.join(ENGINES)}; it is {engine!r}.")
    if scheduler is not None and engine != "dask":
        raise InvalidParameter("--scheduler is the address of a Dask scheduler: use --engine dask too.")


def fit_team(team: Combiner, scanned: tables.Table, engine: str, scheduler: str | None, method: str) -> TrainingItems:
    """Fit a team, and note which items it was fitted on."""
    if engine == "dask" and not isinstance(team, ProbabilityLabelCombiner):
        raise InvalidParameter("--engine dask fits teams of P+L (recommended, guarded, P+L, SP, Bayes) only.")
    has_ids = scanned.item_name in scanned.columns
    with console.passes():
        if isinstance(team, ProbabilityLabelCombiner) and (engine == "dask" or not fits_in_memory(scanned)):
            _fit_in_passes(team, scanned, engine, scheduler)
            return training_items_of_blocks(scanned.blocks(), has_ids=has_ids)
        observations, y = scanned.read()
        if not isinstance(team, ProbabilityLabelCombiner) and (as_truth(y, observations) == MISSING).all():
            raise InvalidObservations(
                f"--method {method} needs items of known truth; none of {len(observations):,} has one. "
                "Name the column of the truth with --truth, or fit without truth: --method P+L or recommended."
            )
        team.fit(observations, y)
    return training_items(observations, y, has_ids=has_ids)


def combine_here(team: Combiner, scanned: tables.Table, output: Path | None) -> int:
    """Combine a table in constant memory, to a file or as CSV to stdout; returns the number of items."""
    team = team.at_hand(scanned)
    announce_shares(team)
    # Counting the rows of a text file means reading it: done only for a bar that is shown.
    with console.progress("combining", scanned.n_rows if console.is_terminal() else None) as advance:
        written = _write_verdicts(team, scanned, output or sys.stdout.buffer, advance=advance)
    sys.stdout.flush()
    return written


def combine_into_export(team: Combiner, scanned: tables.Table, data: TableOptions, output: Path) -> int:
    """Combine an export, and write it with a verdict on every item; returns the number of items."""
    from twoheads.tables.exports import write_export
    from twoheads.tables.formats.opening import Reading

    if str(output) == "-":
        raise InvalidParameter(f"--format {data.reading['format']} writes a file: give its name with -o.")
    team = team.at_hand(scanned)
    announce_shares(team)
    table = next(iter(data.files().values()))
    with console.progress("combining", scanned.n_rows if console.is_terminal() else None) as advance:
        return write_export(output, table, Reading(**data.reading), _verdicts(team, scanned, advance=advance))


def combine_on_cluster(team: Combiner, scanned: tables.Table, output: Path, scheduler: str | None) -> int:
    """Combine the pieces of a table where they are read, one Parquet file each, in a new folder."""
    if output.exists():
        raise InvalidParameter(f"{output} exists already; --engine dask writes a new folder. Name another with -o.")
    if not output.parent.is_dir():
        raise InvalidParameter(f"There is no folder {output.parent}. Make it first, or write elsewhere with -o.")
    scanned.need_pieces()
    scanned.check_items()
    with cluster_at(scheduler) as cluster, atomic_folder(output) as part:
        spans = cluster.spans(scanned)
        team = _at_hand_on_cluster(team, scanned, cluster, spans)
        announce_shares(team)
        files = [str(part / f"{at:05d}.parquet") for at in range(len(spans))]
        written = 0
        with console.progress("combining", scanned.n_rows) as advance:
            for n_rows in cluster.results(cluster.submit(partial(_combine_span, team, scanned), spans, files)):
                written += n_rows
                advance(n_rows)
    return written


def _at_hand_on_cluster(team: Combiner, scanned: tables.Table, cluster: Cluster, spans: list[Span]) -> Combiner:
    """The team with the class shares of the table, where it is to learn them, from a sample that the workers draw."""
    if not isinstance(team, Team) or not team.learns_class_shares:
        return team
    samples = list(cluster.results(cluster.submit(partial(_sample_span, team, scanned), spans)))
    merged = merge_samples(samples, sample_size(len(team.classes_)))
    return team if merged is None else team.with_class_shares(team.shares_of_sample(merged))


def _sample_span(team: Team, scanned: tables.Table, span: Span) -> ItemSample | None:
    return team.share_sample(
        team.observe(observations) for observations, _ in scanned.blocks(truth=False, items=False, span=span)
    )


def _fit_in_passes(team: ProbabilityLabelCombiner, scanned: tables.Table, engine: str, scheduler: str | None) -> None:
    if engine == "local":
        team.fit(scanned)
        return
    scanned.need_pieces()
    with cluster_at(scheduler) as cluster:
        team.fit(cluster.hold(scanned))


@contextmanager
def cluster_at(scheduler: str | None) -> Iterator[Cluster]:
    """Connect to a cluster, and print the address of its dashboard."""
    from twoheads.engines.dask import DaskCluster

    with DaskCluster(scheduler) as cluster:
        console.message(f"The dashboard of the cluster: {cluster.dashboard}")
        yield cluster


def _combine_span(team: Combiner, scanned: tables.Table, span: tuple[int, int], file: str) -> int:
    return _write_verdicts(team, scanned, file, span=span)


def _write_verdicts(
    team: Combiner,
    scanned: tables.Table,
    output: str | Path | BinaryIO,
    *,
    span: tuple[int, int] | None = None,
    advance: Callable[[int], None] | None = None,
) -> int:
    """Combine a table, or a span of its pieces, block by block; returns the number of items."""
    batches = _verdicts(team, scanned, span=span, advance=advance)
    return tables.write(output, batches, format=None if isinstance(output, str | Path) else "csv")


def _verdicts(
    team: Combiner,
    scanned: tables.Table,
    *,
    span: tuple[int, int] | None = None,
    advance: Callable[[int], None] | None = None,
) -> Iterator[Any]:
    """The verdicts on a table, or on a span of its pieces, block by block."""
    for observations, _ in scanned.blocks(truth=False, span=span):
        proba = team.predict_proba(observations)
        yield tables.verdicts(observations, proba, team.classes_, item=scanned.item_name, item_type=scanned.item_type)
        if advance is not None:
            advance(len(observations))
