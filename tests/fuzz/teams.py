"""Saved teams that are changed: by their bytes, or in their structure and signed again.

A changed team is refused with one sentence; or it is read, and predicts, explains, describes, learns on and is saved
as a team, with probabilities or one sentence for each.
"""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.fuzz.mutations import as_json, changed_bytes, changed_json
from tests.fuzz.targets import Finding, Target, sentence

import twoheads as th
from twoheads.errors import TwoheadsError
from twoheads.storage.artifact import _checksum

CLASSES = ("a", "b", "c")


def problem(n_people: int = 1, n_models: int = 1) -> tuple[Any, Any]:
    """A simulation: observations and truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 40)
    rows = [rng.dirichlet(np.ones(3), 40) * 0.5 + 0.5 * np.eye(3)[truth] for _ in range(n_models)]
    human = np.where(rng.random((n_people, 40)) < 0.8, truth, rng.integers(0, 3, (n_people, 40)))
    frame: Any = {f"human_{who}": np.array(CLASSES)[codes] for who, codes in zip("xyz", human, strict=False)}
    for at, row in enumerate(rows):
        before = f"m{at}." if n_models > 1 else ""
        frame |= {f"{before}p_{name}": row[:, code] for code, name in enumerate(CLASSES)}
    return _frame(frame), np.array(CLASSES)[truth]


def _frame(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return th.Observations.from_frame(pa.table(columns))


def scored() -> tuple[Any, Any]:
    """A simulation with a score of a machine and a person's label, of two classes."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    frame = {"human": np.array(CLASSES)[truth], "m.score": truth + rng.normal(size=60)}
    import pyarrow as pa

    return th.Observations.from_frame(pa.table(frame), positive="b"), np.array(CLASSES)[truth]


def graded() -> tuple[Any, Any]:
    """A simulation with a score of a machine and a person's grade, of three classes."""
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 4, 60)
    return _frame({"human": truth, "m.score": truth + rng.normal(size=60)}), truth


#: Teams of every kind: how they are made, and of what.
TEAMS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]]]] = {
    "recommended": (th.recommended, problem),
    "crowd": (th.recommended, lambda: problem(3)),
    "models": (th.recommended, lambda: problem(2, 2)),
    "scores": (th.recommended, scored),
    "grades": (th.recommended, graded),
    "P+L": (th.ProbabilityLabelCombiner, problem),
    "SP": (lambda: th.ProbabilityLabelCombiner(th.OneCoinConfusion()), problem),
    "vector": (lambda: th.ProbabilityLabelCombiner(calibrator=th.VectorScaling()), problem),
    "dirichlet": (lambda: th.ProbabilityLabelCombiner(calibrator=th.DirichletCalibration()), problem),
    "ensemble": (lambda: th.ProbabilityLabelCombiner(calibrator=th.EnsembleTemperatureScaling()), problem),
    "imax": (lambda: th.ProbabilityLabelCombiner(calibrator=th.IMaxBinning()), problem),
    "identity": (lambda: th.ProbabilityLabelCombiner(calibrator=th.Identity()), problem),
    "L+L": (th.LabelLabelCombiner, problem),
    "LR": (th.LogisticCombiner, problem),
    "paper": (lambda: th.paper_2021("P+L"), problem),
    "paper-EM": (lambda: th.paper_2021("P+L-EM"), problem),
    "paper-L+L": (lambda: th.paper_2021("L+L"), problem),
}


@cache
def document(name: str) -> str:
    """A saved team."""
    make, of = TEAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "team.json"
        make().fit(*of()).save(path)
        return path.read_text()


def used(team: Any, X: Any, y: Any, folder: Path) -> None:
    """What a team does, each with an answer or one sentence."""
    for action in (
        lambda: _probabilities(team.predict_proba(X)),
        lambda: team.describe(),
        lambda: team.explain(X) if hasattr(team, "explain") else None,
        lambda: th.choose(team, X, 2.0),
        lambda: _saved(team, X, folder),
        lambda: copy.deepcopy(team).partial_fit(X, y) if hasattr(team, "partial_fit") else None,
    ):
        try:
            action()
        except TwoheadsError as error:
            sentence(error)


def _probabilities(proba: Any) -> None:
    if not (np.isfinite(proba).all() and (proba >= 0).all() and np.allclose(proba.sum(axis=1), 1)):
        raise Finding(f"no probabilities: {proba[:3]}")


def _saved(team: Any, X: Any, folder: Path) -> None:
    team.save(folder / "again.json")
    if th.load(folder / "again.json").predict_proba(X).tobytes() != team.predict_proba(X).tobytes():
        raise Finding("a team that is saved and read predicts otherwise")


def team_bytes(rng: Random, folder: Path) -> str:
    """The bytes of a saved team are changed."""
    name = rng.choice(list(TEAMS))
    path = folder / "team.json"
    before = document(name).encode()
    path.write_bytes(changed_bytes(before, rng))
    try:
        team = th.load(path)
    except TwoheadsError as error:
        return sentence(error)
    if json.loads(path.read_bytes())["object"] != json.loads(before)["object"]:
        raise Finding("another content with the same checksum")
    used(team, *TEAMS[name][1](), folder)
    return "accepted"


def team_structure(rng: Random, folder: Path) -> str:
    """The structure of a saved team is changed, and signed again."""
    name = rng.choice(list(TEAMS))
    whole = json.loads(document(name))
    whole["object"] = changed_json(whole["object"], rng)
    if rng.random() < 0.1:
        whole = changed_json(whole, rng)
    if not isinstance(whole, dict):
        return "not a document"
    whole["sha256"] = _checksum(whole.get("object"))
    path = folder / "team.json"
    path.write_bytes(as_json(whole))
    try:
        team = th.load(path)
    except TwoheadsError as error:
        return sentence(error)
    if not hasattr(team, "predict_proba"):
        return "a part"
    used(team, *TEAMS[name][1](), folder)
    return "accepted"


TARGETS: dict[str, Target] = {"team-bytes": team_bytes, "team-structure": team_structure}
