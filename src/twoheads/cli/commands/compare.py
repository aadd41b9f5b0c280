"""``twoheads compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twoheads.cli import console
from twoheads.cli.methods import COMPARED, compared_methods
from twoheads.cli.options import Metrics, Seed, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.score_tables import check_suffix, print_scores, write_scores
from twoheads.cli.signatures import Result
from twoheads.cli.table_options import TableOptions, split_names
from twoheads.errors import InvalidObservations


@reads_table(truth=True)
def compare(
    data: TableOptions,
    methods: Annotated[
        str, typer.Option("--methods", help="The methods, separated by commas.", metavar="NAME,NAME,...")
    ] = ",".join(COMPARED),
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="The row with which others are compared; by default the first method."),
    ] = None,
    metrics: Metrics = None,
    people: Annotated[bool, typer.Option("--people", help="Show each person too.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table: .csv, .tex, .html or .json.")
    ] = None,
    seed: Seed = 0,
) -> Result:
    """Compare methods side by side, and each model and the people alone, by cross-validation on the same folds.

    Every metric has a 95 % interval; differences from the reference are paired by item, and their p-values corrected
    for the number of rows (Holm). Items without truth are in every training set.

    Example:  twoheads compare labelled.csv --methods recommended,P+L,L+L
    """
    from twoheads.cli.holdout import read_items
    from twoheads.evaluation import compare_methods

    names = split_names(methods, "--methods")
    compared_methods(names, "probability")  # names are checked before anything is read
    if output is not None:
        check_suffix(output)
    scanned = data.scan()
    if output is not None:
        check_output(output, scanned.files)
    observations, y, note = read_items(scanned)
    if note:
        console.message(note)
    if y is None:
        raise InvalidObservations(
            "The table must hold the truth of some items to compare methods; it has no column truth."
        )
    chosen = compared_methods(names, observations.model_scale)
    with console.progress("comparing methods", len(chosen)) as advance:
        found = compare_methods(
            chosen,
            observations,
            y,
            reference=reference,
            metrics=None if metrics is None else split_names(metrics, "--metrics"),
            people=people,
            random_state=seed,
            progress=lambda done, total: advance(1),
        )
    print_scores(found)
    if output is not None:
        write_scores(found, output)
        console.message(f"The comparison is in {output}.")
    return found.as_dict()
