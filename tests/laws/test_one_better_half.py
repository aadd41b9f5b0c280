"""One better half: what is typed and what Python gives name the same one with the same number, or say why not."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.cli.running import run
from twoheads.evaluation import compare

LABELS = np.array(["ant", "bee", "cow", "dog"])
#: How much of the truth is known, by seed.
KNOWN = (1.0, 0.5, 1.0, 0.7, 0.0)


def written(folder, seed):
    """A random table on disk: the arguments that name it, and whether any truth is known.

    1 to 6 people of any ability, every other crowd as a separate table of answers; 1 to 3 models; 2 to 4 classes.
    """
    rng = np.random.default_rng([3, seed])
    n, n_classes, n_people, n_models = 50 + seed, 2 + seed % 3, 1 + seed % 6, (1, 2, 1, 3)[seed % 4]
    truth, columns = rng.integers(0, n_classes, n), {"item": [f"i{at}" for at in range(n)]}
    long = []
    for person in range(n_people):
        answer = np.where(rng.random(n) < rng.uniform(0.4, 0.95), truth, rng.integers(0, n_classes, n))
        asked = rng.random(n) < (1.0 if n_people < 3 else 0.6)
        asked[person::n_people] = True
        columns["human" if n_people == 1 else f"human_p{person}"] = np.where(asked, LABELS[answer], None)
        long += [(f"i{at}", f"p{person}", LABELS[answer[at]]) for at in np.flatnonzero(asked)]
    for model in range(n_models):
        label = np.where(rng.random(n) < rng.uniform(0.5, 0.9), truth, rng.integers(0, n_classes, n))
        proba = 0.6 * rng.dirichlet(np.ones(n_classes), n) + 0.4 * np.eye(n_classes)[label]
        columns |= {f"{f'm{model}.' if n_models > 1 else ''}p_{LABELS[at]}": proba[:, at] for at in range(n_classes)}
    known = np.arange(n) < KNOWN[seed % 5] * n
    if known.any():
        columns["truth"] = np.where(known, LABELS[truth], None)
    frame, arguments = pd.DataFrame(columns), [str(folder / "table.csv")]
    if n_people > 1 and seed % 2:
        pd.DataFrame(long, columns=["item", "annotator", "answer"]).to_csv(folder / "answers.csv", index=False)
        frame = frame.drop(columns=[name for name in frame if name.startswith("human")])
        arguments += ["--answers", str(folder / "answers.csv")]
    frame.to_csv(folder / "table.csv", index=False)
    return arguments, bool(known.any())


def said(capsys, *arguments):
    """What a command prints, as one line."""
    assert run(list(arguments)) == 0
    found = capsys.readouterr()
    return found.out if "--json" in arguments else re.sub(r"\s+", " ", found.out + found.err)


def same_everywhere(folder, seed, capsys):
    """Fit, show and evaluate, typed and in Python: the arguments, the headline, and the rivals or None."""
    table, measured = written(folder, seed)
    team = str(folder / "team.json")
    at_fit, shown = said(capsys, "fit", *table, "-o", team), said(capsys, "show", team)
    evaluated, numbers = (said(capsys, "evaluate", team, *table, *more) for more in ([], ["--json"]))
    numbers = json.loads(numbers)
    assert re.sub(r"\s+", " ", numbers["headline"]) in evaluated
    if not measured:
        for text in (at_fit, shown, evaluated):
            assert "the better half" not in text
        assert numbers["headline"].startswith("No truth is known")
        return [team, *table], numbers["headline"], None
    scanned = th.tables.scan(table[0], **({"answers": table[2]} if len(table) > 1 else {}))
    found = compare(th.load(team), *scanned.read(), n_bootstrap=10)
    for rival, typed in zip(found.rivals, numbers["rivals"], strict=True):
        assert (typed["words"], typed["error"]["value"]) == (rival.words, rival.error.value)
        assert typed["better_half"] == rival.better_half
    (better,) = (rival for rival in found.rivals if rival.better_half)
    assert better.of_all
    assert f"{better.n_items:,}" in numbers["headline"]
    named = f"{better.words} ({100 * better.error.value:.1f} %)"
    assert found.headline() == numbers["headline"]
    assert named in numbers["headline"]
    record = th.load(team).facts()["record"]["rivals"]
    for rival, earlier in zip(found.rivals, record["members"], strict=True):
        if rival.key not in ("crowd", "best_person"):  # the one is fitted, the other picked
            assert (rival.key, rival.name) == (earlier["key"], earlier["name"])
            assert rival.error.value == pytest.approx(earlier["error"])
    before = f"{record['better_half']} ({100 * record['members'][record['better']]['error']:.1f} %)"
    assert before in at_fit
    assert before in shown
    ahead = record["ahead_on_part"]
    assert ("too few items for a better half" in shown) == (ahead is not None)
    assert ahead is None or (ahead in shown and ahead in at_fit)
    assert numbers["notes"] == found.notes()
    assert before == named or f"At fit the better half was {before}:" in evaluated
    return [team, *table], numbers["headline"], numbers["rivals"]


@pytest.mark.parametrize("seed", range(20))
def test_the_commands_and_python_name_the_same_better_half_or_say_why_not(seed, tmp_path, capsys):
    _, headline, rivals = same_everywhere(tmp_path, seed, capsys)
    assert headline
    assert (rivals is None) == (KNOWN[seed % 5] == 0.0)


@pytest.mark.parametrize(
    "seed", [seed if seed == 7 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(20)]
)
def test_the_typed_report_names_the_better_half_of_the_evaluation(seed, tmp_path, capsys):
    arguments, headline, rivals = same_everywhere(tmp_path, seed, capsys)
    report = json.loads(said(capsys, "report", *arguments, "--json"))
    assert report["headline"] == headline
    said(capsys, "report", *arguments, "-o", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    if rivals is None:
        assert "better half</span>" not in page
        return
    assert report["comparison"]["rivals"] == rivals
    (better,) = (rival for rival in rivals if rival["better_half"])
    card = re.search(rf"{re.escape(better['words'])}</dt>.{{0,400}}", page, re.DOTALL)
    assert card
    assert f"{100 * better['error']['value']:.1f}\u00a0%" in card[0]


#: Tables of other kinds: who is there, and what is missing.
KINDS = (
    "few answers",
    "judges",
    "judges and people",
    "scores",
    "confidence and unsure",
    "ties",
    "no model row",
    "several models, gaps",
    "a class never seen",
    "one expert beside judges",
)


def written_of_kind(folder, kind, seed):
    """A random table of a kind, with the truth of two thirds of its items."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, n_classes = 80, 2 if kind in ("scores", "judges") else 3
    truth, columns = rng.integers(0, n_classes, n), {"item": [f"i{at}" for at in range(n)]}

    def label(right, asked=1.0):
        said = np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))
        return np.where(rng.random(n) < asked, LABELS[said], None)

    people = {"few answers": 8, "ties": 2, "judges": 0, "scores": 1, "one expert beside judges": 1}.get(kind, 3)
    for person in range(people):
        asked = {"few answers": rng.uniform(0.05, 0.4), "one expert beside judges": 0.3}.get(kind, 0.9)
        columns["human" if people == 1 else f"human_p{person}"] = label(rng.uniform(0.5, 0.95), asked)
        if kind == "confidence and unsure":
            answer = columns[f"human_p{person}"]
            answer[rng.random(n) < 0.1] = "unsure"
            columns[f"confidence_p{person}"] = np.where(answer == None, np.nan, rng.integers(1, 5, n))  # noqa: E711
    if "judges" in kind:
        columns |= {f"j{at}.label": label(rng.uniform(0.6, 0.9)) for at in range(4)}
    elif kind == "scores":
        columns["judge.score"] = truth + rng.normal(0, 0.7, n)
    else:
        models = ("a.", "b.") if kind == "several models, gaps" else ("",)
        for model in models:
            proba = 0.6 * rng.dirichlet(np.ones(n_classes), n) + 0.4 * np.eye(n_classes)[truth]
            if kind in ("no model row", "several models, gaps"):
                proba[rng.random(n) < 0.2] = np.nan
            columns |= {f"{model}p_{LABELS[at]}": proba[:, at] for at in range(n_classes)}
            if kind == "a class never seen":
                columns["p_dog"] = np.zeros(n)
    columns["truth"] = np.where(rng.random(n) < 0.67, LABELS[truth], None)
    pd.DataFrame(columns).to_csv(folder / "table.csv", index=False)
    return [str(folder / "table.csv")], True


@pytest.mark.parametrize(
    ("kind", "seed"),
    [(kind, 0) for kind in KINDS[::3]] + [pytest.param(kind, 1, marks=pytest.mark.slow) for kind in KINDS],
)
def test_tables_of_other_kinds_have_one_better_half_too(kind, seed, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("laws.test_one_better_half.written", lambda folder, seed: written_of_kind(folder, kind, seed))
    arguments, headline, rivals = same_everywhere(tmp_path, seed, capsys)
    report = json.loads(said(capsys, "report", *arguments, "--json"))
    assert report["headline"] == headline
    assert report["comparison"]["rivals"] == rivals
