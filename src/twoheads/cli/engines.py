"""Fitting and combining where the table is: in memory, on disk, on a cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twoheads import tables
from twoheads.cli import console
from twoheads.cli.class_shares_option import announce_shares
from twoheads.cli.table_options import TableOptions
from twoheads.combination.combiner import Combiner
from twoheads.combination.insight.class_shares import share_sample
from twoheads.combination.items import fits_in_memory
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.statistics.reservoir import ItemSample, merge_samples, sample_size
from twoheads.combination.team import Team
from twoheads.engines.cluster import Cluster, Span
from twoheads.errors import ClusterTrouble, InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import MISSING
from twoheads.observations import as_truth
from twoheads.storage.atomic import atomic_folder
from twoheads.tables.spreadsheets import without_formulas
from twoheads.tables.verdict_columns import OtherColumns, VerdictOptions
from twoheads.text import did_you_mean

ENGINES = ("local", "dask")


@dataclass(frozen=True)
class Place:
    """Where a command computes.

    engine     one of ENGINES
    scheduler  the address of a running Dask scheduler; None to start one here
    timeout    seconds to wait for workers of a cluster that has none; None for the usual number
    """

    engine: str
    scheduler: str | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown engine, and a scheduler without the engine dask."""
        if self.engine not in ENGINES:
            raise InvalidParameter(
                f"--engine must be {' or '.join(ENGINES)}; it is {self.engine!r}.{did_you_mean(self.engine, ENGINES)}"
            )
        if self.scheduler is not None and self.engine != "dask":
            raise InvalidParameter("--scheduler is the address of a Dask scheduler: use --engine dask too.")


def fit_team(team: Combiner, scanned: tables.Table, place: Place, method: str) -> None:
    """Fit a team where its table is."""
    if place.engine == "dask" and not isinstance(team, ProbabilityLabelCombiner):
        raise InvalidParameter("--engine dask fits teams of P+L (recommended, P+L, SP, Bayes) only.")
    with console.passes():
        if isinstance(team, ProbabilityLabelCombiner) and (place.engine == "dask" or not fits_in_memory(scanned)):
            _fit_in_passes(team, scanned, place)
            return
        observations, y = scanned.read()
        if not isinstance(team, ProbabilityLabelCombiner) and (as_truth(y, observations) == MISSING).all():
            raise InvalidObservations(
                f"--method {method} needs items of known truth; none of {len(observations):,} has one. "
                "Name the column of the truth with --truth, or fit without truth: --method P+L or recommended."
            )
        team.fit(observations, y)


class Combined(NamedTuple):
    """How many items were combined, and the team with the class shares of these items, where it learnt them."""

    n_items: int
    team: Combiner


def combine_here(
    team: Combiner, scanned: tables.Table, options: VerdictOptions, output: Path | None, *, for_spreadsheet: bool
) -> Combined:
    """Combine a table in constant memory, to a file or as CSV to stdout."""
    team = team.at_hand(scanned)
    announce_shares(team)
    # Counting the rows of a text file means reading it: done only for a bar that is shown.
    with console.progress("combining", scanned.n_rows if console.shows_progress() else None) as advance:
        batches = _verdicts(team, scanned, options, advance=advance)
        batches = without_formulas(batches) if for_spreadsheet else batches
        written = tables.write(output or sys.stdout.buffer, batches, format=None if output else "csv")
    sys.stdout.flush()
    return Combined(written, team)


def combine_into_export(
    team: Combiner, scanned: tables.Table, options: VerdictOptions, data: TableOptions, output: Path
) -> Combined:
    """Combine an export, and write it with a verdict on every item."""
    from twoheads.tables.exports import write_export
    from twoheads.tables.formats.opening import Reading

    if str(output) == "-":
        raise InvalidParameter(f"--format {data.reading['format']} writes a file: give its name with -o.")
    if options.columns or options.top is not None or options.review_below is not None:
        raise InvalidParameter(
            f"--columns, --top and --review-below are for tables; --format {data.reading['format']} writes an export. "
            "Leave them out."
        )
    team = team.at_hand(scanned)
    announce_shares(team)
    table = next(iter(data.files().values()))
    with console.progress("combining", scanned.n_rows if console.shows_progress() else None) as advance:
        batches = _verdicts(team, scanned, options, advance=advance)
        return Combined(write_export(output, table, Reading(**data.reading), batches), team)


def combine_on_cluster(
    team: Combiner, scanned: tables.Table, options: VerdictOptions, output: Path, place: Place
) -> Combined:
    """Combine the pieces of a table where they are read, one Parquet file each, in a new folder."""
    if output.exists():
        raise InvalidParameter(f"{output} exists already; --engine dask writes a new folder. Name another with -o.")
    if not output.parent.is_dir():
        raise InvalidParameter(f"There is no folder {output.parent}. Make it first, or write elsewhere with -o.")
    scanned.need_pieces()
    scanned.check_items()
    with cluster_at(place) as cluster, atomic_folder(output) as part:
        spans = cluster.spans(scanned)
        team = _at_hand_on_cluster(team, scanned, cluster, spans)
        announce_shares(team)
        files = [str(part / f"{at:05d}.parquet") for at in range(len(spans))]
        written = 0
        with console.progress("combining", scanned.n_rows) as advance:
            for n_rows in cluster.results(cluster.submit(partial(_combine_span, team, scanned, options), spans, files)):
                written += n_rows
                advance(n_rows)
        for left in part.glob(".*"):  # by a worker that was killed while it wrote; another wrote that file
            left.unlink()
    return Combined(written, team)


def _at_hand_on_cluster(team: Combiner, scanned: tables.Table, cluster: Cluster, spans: list[Span]) -> Combiner:
    """The team with the class shares of the table, where it is to learn them, from a sample that the workers draw."""
    if not isinstance(team, Team) or not team.learns_class_shares:
        return team
    samples = list(cluster.results(cluster.submit(partial(_sample_span, team, scanned), spans)))
    merged = merge_samples(samples, sample_size(len(team.classes_)))
    return team if merged is None else team.with_class_shares(team.shares_of_sample(merged))


def _sample_span(team: Team, scanned: tables.Table, span: Span) -> ItemSample | None:
    return share_sample(team, (team.observe(seen) for seen, _ in scanned.blocks(truth=False, items=False, span=span)))


def _fit_in_passes(team: ProbabilityLabelCombiner, scanned: tables.Table, place: Place) -> None:
    if place.engine == "local":
        team.fit(scanned)
        return
    scanned.need_pieces()
    with cluster_at(place) as cluster:
        team.fit(cluster.hold(scanned))


@contextmanager
def cluster_at(place: Place) -> Iterator[Cluster]:
    """Connect to a cluster, and print the address of its dashboard."""
    from twoheads.engines.dask import DaskCluster

    try:
        with DaskCluster(place.scheduler, timeout=place.timeout) as cluster:
            console.message(f"The dashboard of the cluster: {cluster.dashboard}")
            yield cluster
    except TimeoutError:
        raise ClusterTrouble(
            "the cluster did not answer in time; its machine may be busy. Try again, or use fewer workers."
        ) from None


def _combine_span(
    team: Combiner, scanned: tables.Table, options: VerdictOptions, span: tuple[int, int], file: str
) -> int:
    return tables.write(file, _verdicts(team, scanned, options, span=span))


def _verdicts(
    team: Combiner,
    scanned: tables.Table,
    options: VerdictOptions,
    *,
    span: tuple[int, int] | None = None,
    advance: Callable[[int], None] | None = None,
) -> Iterator[Any]:
    """Combine a table, or a span of its pieces, block by block, as record batches."""
    others, known = OtherColumns(scanned, options.columns, span), None
    for observations, y in scanned.blocks(truth=options.keep_truth, span=span):
        proba = team.predict_proba(observations)
        if options.keep_truth:
            truth = as_truth(y, observations)
            known = truth != MISSING
            proba[known] = np.eye(len(team.classes_))[truth[known]]
        batch = tables.verdicts(observations, proba, team.classes_, item=scanned.item_name, item_type=scanned.item_type)
        yield options.finished(batch, known, others.take(len(observations)))
        if advance is not None:
            advance(len(observations))
