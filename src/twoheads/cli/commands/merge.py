"""``twoheads merge``."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twoheads.cli import console
from twoheads.cli.history import entry
from twoheads.cli.methods import read_team
from twoheads.cli.outputs import check_output
from twoheads.cli.provenance import described, provenance_of_fit, save_team
from twoheads.cli.signatures import Result
from twoheads.errors import InvalidParameter

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


def merge(
    teams: Annotated[list[Path], typer.Argument(help="The teams: files that 'twoheads fit' wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the merged team.")],
) -> Result:
    """Merge teams that were fitted on different items into one.

    If all of them keep their items, the merged team is fitted on all of these: an item in several teams counts once,
    as the last of them has it. Otherwise counts are added, and no item may have been learnt by two teams.

    Example:  twoheads merge north.json south.json -o both.json
    """
    if len(teams) < 2:
        raise InvalidParameter("twoheads merge needs at least two teams. Name more files.")
    check_output(output, teams)
    loaded = {path: read_team(path) for path in teams}
    if len(loaded) < len(teams):
        raise InvalidParameter("each team must be named once. Leave out those that are repeated.")
    _refuse_different(loaded)
    if all("kept" in team.provenance() for team in loaded.values()):
        merged = _merge_kept(loaded, output)
    else:
        merged = _merge_counts(loaded, output)
    console.message(merged.describe())
    console.message(f"The team is saved in {output}. Describe it with: twoheads show {output}")
    return {"output": output, **described(merged)}


def _refuse_different(loaded: dict[Path, Combiner]) -> None:
    from twoheads.observations.labels import same_texts

    (first, one), *others = loaded.items()
    for path, other in others:
        if type(one) is not type(other) or repr(one.get_params()) != repr(other.get_params()):
            raise InvalidParameter(
                f"teams must be fitted by the same method to be merged; {first} and {path} are not. "
                "Fit one of them again by the --method of the other."
            )
        if not same_texts(one.classes_, other.classes_):
            raise InvalidParameter(
                f"teams must have the same classes to be merged; {first} and {path} do not. "
                "Fit them again with the same --classes."
            )


def _merge_kept(loaded: dict[Path, Combiner], output: Path) -> Combiner:
    from twoheads.cli.keeping import fit_on_kept, keeps_sample, kept_items_of, merged_items
    from twoheads.tables.kept.kept_items import locked

    first = next(iter(loaded.values()))
    with locked(output), merged_items([kept_items_of(team, path) for path, team in loaded.items()]) as merged:
        done = entry("merge", list(map(str, loaded)), merged.changes().counts)
        history = [*(each for team in loaded.values() for each in team.history()), done]
        keep, made = all(map(keeps_sample, loaded.values())), first.provenance()
        return fit_on_kept(first, first.classes_, merged, output, provenance=made, history=history, keep_sample=keep)


def _merge_counts(loaded: dict[Path, Combiner], output: Path) -> Combiner:
    """Merge what the teams' own files hold."""
    from twoheads.combination.probability_label import ProbabilityLabelCombiner

    first, *others = loaded.values()
    if not isinstance(first, ProbabilityLabelCombiner):
        raise InvalidParameter(
            f"a {type(first).__name__} cannot be merged from its file. Fit on all items, with --keep-items if "
            "teams are to be merged later."
        )
    _refuse_shared(loaded)
    team = first.merge(*(other for other in others if isinstance(other, ProbabilityLabelCombiner)))
    made = first.provenance()
    source = {f"team {at + 1}": str(path) for at, path in enumerate(loaded)}
    provenance = provenance_of_fit(
        method=made.get("method", type(first).__name__),
        seed=made.get("seed", 0),
        source=source,
        columns=made.get("columns", {}),
    )
    counts = {"items": {"new": team.n_labelled_ + team.n_unlabelled_}, "truths": {"new": team.n_labelled_}}
    history = [each for one in loaded.values() for each in one.history()]
    save_team(team, output, provenance, [*history, entry("merge", list(map(str, loaded)), counts)])
    return team


def _refuse_shared(loaded: dict[Path, Combiner]) -> None:
    """Refuse teams that have learnt from the same items, which would count twice; it is seen of labelled ones only."""
    for (path, team), (other_path, other) in combinations(loaded.items(), 2):
        found = team.learnt_.recognise_learnt(other.learnt_)
        if found.learnt.any() and found.certain:
            raise InvalidParameter(
                f"{path} and {other_path} must not have learnt from the same items, which would count twice; they "
                f"share {int(found.learnt.sum()):,} of known truth. Fit on all tables together, or fit both teams "
                "with --keep-items, which recognises items."
            )
    console.message(
        "Items without truth cannot be compared: one that was in two teams counts twice. "
        "Teams fitted with --keep-items recognise them."
    )
