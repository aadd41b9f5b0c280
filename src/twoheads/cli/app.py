"""The commands, each a few lines over the library; what takes long to import they import themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import twoheads as th
from twoheads import tables
from twoheads.cli import say
from twoheads.cli.asking import note_on_people, people_of, prices_of, say_plan, write_plan
from twoheads.cli.given import as_at_fit, given_columns, hint_at_truth, names_of, say_notes, scan, seed_of, to_judge
from twoheads.cli.options import (
    Annotator,
    Answers,
    Columns,
    Engine,
    Human,
    Item,
    Json,
    Model,
    Normalise,
    Scale,
    Scheduler,
    Seed,
    Table,
    Team,
    Truth,
    TruthColumn,
    Unsure,
)
from twoheads.cli.outputs import may_write
from twoheads.cli.results import print_comparison, print_people
from twoheads.cli.teams import METHODS, make_team, provenance, read_team, remember
from twoheads.errors import InvalidObservations
from twoheads.wording import count

app = typer.Typer(
    name="twoheads",
    help="Combine what people answered with what a model predicted, and know how sure to be.\n\n"
    "Start with:  twoheads demo",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        say.line(f"twoheads {th.__version__}")
        raise typer.Exit


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where the example is written.")] = Path("demo"),
) -> None:
    """Write a small example and run the whole path on it: fit, combine, evaluate, report.

    A real classifier and a simulated reader of scikit-learn's handwritten digits; nothing is downloaded.

    Example:  twoheads demo
    """
    from twoheads.cli.demo import run_demo

    run_demo(folder)


@app.command()
def fit(
    context: typer.Context,
    table: Table = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the team is kept.")] = Path("team.json"),
    answers: Answers = None,
    model: Model = None,
    truth: Truth = None,
    truth_column: TruthColumn = None,
    item: Item = None,
    human: Human = None,
    annotator: Annotator = None,
    model_columns: Columns = None,
    model_scale: Scale = None,
    unsure: Unsure = None,
    normalise: Normalise = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="The classes, where no model's columns name them.", metavar="A,B,..."),
    ] = None,
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = "recommended",
    engine: Engine = "local",
    scheduler: Scheduler = None,
    seed: Seed = 0,
) -> None:
    """Learn a team from a table: who is right when, and how sure the model may be.

    The table has a column human (or several, human_<name>), a column p_<class> for each class, and truth where the true
    class is known; it may be blank for most rows, or not there at all. An id stands in item.

    A table larger than memory is gone through in passes. With --engine dask the rows of Parquet files are held by the
    workers of a cluster.

    Example:  twoheads fit labelled.csv -o team.json
    """
    from twoheads.cli.engines import engine_is_known, fit_team

    columns = given_columns(context)
    if classes is not None:
        columns["classes"] = names_of(classes, "--classes")
    may_write(output, table, answers, model, truth)
    engine_is_known(engine, scheduler)
    scanned = scan(table, answers, model, columns)
    team = make_team(method, scanned.model_scale)
    fingerprint, labelled = fit_team(team, scanned, engine, scheduler, method)
    say_notes(scanned)
    if not getattr(team, "n_labelled_", 1) and truth is None and "truth" not in scanned.columns:
        hint_at_truth(scanned)
    files = {"table": table, "answers": answers, "model": model}
    source = {name: str(path) for name, path in files.items() if path is not None}
    remember(
        team,
        method=method,
        seed=seed or 0,
        source=source,
        columns=columns,
        fingerprint=fingerprint,
        labelled=labelled,
    )
    team.save(output)
    say.words(team.describe())
    say.words(f"The team is kept in {output}. See it with: twoheads show {output}")


@app.command()
def combine(
    context: typer.Context,
    team: Team,
    table: Table = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, Parquet or JSON lines, by its suffix; - is CSV to stdout."),
    ] = None,
    answers: Answers = None,
    model: Model = None,
    item: Item = None,
    human: Human = None,
    annotator: Annotator = None,
    model_columns: Columns = None,
    model_scale: Scale = None,
    unsure: Unsure = None,
    normalise: Normalise = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
) -> None:
    """Combine human and model for every row: id, combined_label, confidence and p_<class>, in constant memory.

    A table without answers is one where nobody was asked. With --engine dask the workers of a cluster write a folder of
    Parquet files.

    Example:  twoheads combine team.json today.parquet -o verdicts.parquet
    """
    from twoheads.cli.engines import combine_on_cluster, engine_is_known

    fitted = read_team(team)
    columns = as_at_fit(fitted, given_columns(context), truth=False)
    # Without anyone's answers the model speaks alone, if the team has learnt how sure it may be.
    scanned = scan(table, answers, model, columns, fitted, need_people=not fitted.has_model_)
    if output is None:
        raise InvalidObservations(
            "Say where the result is to be written: -o verdicts.csv (or .parquet, .jsonl), or -o - for CSV to stdout."
        )
    engine_is_known(engine, scheduler)
    if engine == "dask":
        written = combine_on_cluster(fitted, scanned, output, scheduler)
        say.words(f"{count(written, 'item')} combined; the result is in {output}.")
        return
    to_stdout = str(output) == "-"
    if not to_stdout:
        may_write(output, team, table, answers, model)
    written = 0
    # Counting the rows of a text file takes reading it: only a bar that is seen is worth that.
    with say.progress("combining", scanned.n_rows if say.to_terminal() else None) as done:

        def batches() -> Any:
            nonlocal written
            for seen, _ in scanned.blocks(truth=False):
                proba = fitted.predict_proba(seen)
                yield tables.verdicts(seen, proba, fitted.classes_, item=scanned.item_name, item_type=scanned.item_type)
                written += len(seen)
                done(len(seen))

        if to_stdout:
            tables.write(sys.stdout.buffer, batches(), format="csv")
            sys.stdout.flush()
        else:
            tables.write(output, batches())
    say_notes(scanned)
    say.words(f"{count(written, 'item')} combined" + ("." if to_stdout else f"; the result is in {output}."))


@app.command()
def evaluate(
    context: typer.Context,
    team: Team,
    table: Table = None,
    answers: Answers = None,
    model: Model = None,
    truth: Truth = None,
    truth_column: TruthColumn = None,
    item: Item = None,
    human: Human = None,
    annotator: Annotator = None,
    model_columns: Columns = None,
    model_scale: Scale = None,
    unsure: Unsure = None,
    normalise: Normalise = None,
    json: Json = False,
    seed: Seed = None,
) -> None:
    """Judge human, model and combination side by side, with intervals.

    The team is judged on rows it was not fitted on. Given the table it was fitted on, it is cross-validated instead.

    Example:  twoheads evaluate team.json held-out.csv
    """
    from twoheads.cli.judging import judge

    fitted, scanned, seen, y = to_judge(context)
    found = judge(fitted, scanned, seen, y, seed_of(fitted, seed))
    if json:
        say.as_json(found)
    elif "combination" in found:
        print_comparison(found)
    else:
        say.line(found["headline"])
        if "people" in found:
            print_people(found["people"])
        for note in found["notes"]:
            say.line(note)


@app.command()
def report(
    context: typer.Context,
    team: Team,
    table: Table = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page is written.")] = Path("report.html"),
    answers: Answers = None,
    model: Model = None,
    truth: Truth = None,
    truth_column: TruthColumn = None,
    item: Item = None,
    human: Human = None,
    annotator: Annotator = None,
    model_columns: Columns = None,
    model_scale: Scale = None,
    unsure: Unsure = None,
    normalise: Normalise = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report's numbers as JSON instead.")] = False,
    seed: Seed = None,
) -> None:
    """Write one self-contained page: the answer, its intervals, where each partner saves the other, what to look at.

    Example:  twoheads report team.json held-out.csv -o report.html
    """
    from twoheads.cli.judging import held_out
    from twoheads.report import summary, write_report

    fitted, scanned, seen, y = to_judge(context)
    made = provenance(fitted)
    seen, y, same, notes = held_out(fitted, scanned, seen, y)
    for note in notes:
        say.words(note)
    options: dict[str, Any] = {
        "fitted_on_same": same,
        "random_state": seed_of(fitted, seed),
        "date": made.get("fitted"),
        "source": {"team": str(team), "table": str(table or model or answers)},
    }
    if json:
        say.as_json(summary(fitted, seen, y, **options))
        return
    may_write(output, team, table, answers, model)
    found = write_report(output, fitted, seen, y, **options)
    say.words(found["headline"])
    say.words(f"The report is in {output}.")


@app.command()
def ask(
    context: typer.Context,
    team: Team,
    budget: Annotated[float, typer.Option("--budget", help="The most that all questions together may cost.")],
    table: Table = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, Parquet or JSON lines; - is CSV to stdout."),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option("--people", help="Who can be asked; those the team knows by default.", metavar="A,B,..."),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option("--price", help="What an answer costs: NAME=2.5, repeatedly, or one number.", metavar="PRICE"),
    ] = None,
    answers: Answers = None,
    model: Model = None,
    item: Item = None,
    human: Human = None,
    annotator: Annotator = None,
    model_columns: Columns = None,
    model_scale: Scale = None,
    unsure: Unsure = None,
    normalise: Normalise = None,
) -> None:
    """Say who should look at what next: the questions that are expected to set most labels right for their price.

    The table is as for combine; it need not have any answers yet, and nobody is asked again what he has answered.

    Example:  twoheads ask team.json today.csv --budget 200 -o questions.csv
    """
    from twoheads.policy import choose

    fitted = read_team(team)
    columns = as_at_fit(fitted, given_columns(context), truth=False)
    scanned = scan(table, answers, model, columns, fitted, need_people=False)
    output = None if output is None or str(output) == "-" else output
    if output is not None:
        may_write(output, team, table, answers, model)
    seen, _ = scanned.read(truth=False)
    say_notes(scanned)
    names = people_of(people)
    note_on_people(names, fitted.annotators_)
    plan = choose(fitted, seen, budget, people=names, price=prices_of(price or ["1"]))
    write_plan(plan, scanned, output)
    say_plan(plan, budget)
    if output is not None:
        say.words(f"The questions are in {output}.")


@app.command()
def show(team: Team, json: Json = False) -> None:
    """What a team has learnt, in words and numbers.

    Example:  twoheads show team.json
    """
    fitted = read_team(team)
    if json:
        made = {name: value for name, value in provenance(fitted).items() if name != "labelled"}
        say.as_json({"team": type(fitted).__name__, **made, **fitted.facts()})
        return
    made = provenance(fitted)
    if made:
        say.line(f"{made['method']}, fitted {made['fitted']} on {', '.join(made['source'].values())}.")
    say.line(fitted.describe())


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="error-rates, calibration, learning-curves, ..., or all.")],
    data: Annotated[Path, typer.Option("--data", help="Folder of the public files.", metavar="DIR")],
    out: Annotated[Path, typer.Option("--out", help="Folder for tables and figures.", metavar="DIR")],
    protocol: Annotated[str, typer.Option("--protocol", help="published or stated.")] = "published",
    seeds: Annotated[int | None, typer.Option("--seeds", help="Trials, in place of the protocol's.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Processes; by default one per core.")] = None,
) -> None:
    """Make a table or figure of the paper again from its public data, beside the published numbers.

    Example:  twoheads study error-rates --data cifar10h --out results
    """
    from twoheads import studies

    with say.steps() as progress:
        outcome = studies.run(name, data, out, protocol=protocol, seeds=seeds, jobs=jobs, progress=progress)
    say.line(outcome.text)
