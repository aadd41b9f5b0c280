"""The page: well-formed, self-contained, escaped, with every section there are numbers for."""

import base64
import hashlib
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from benchmarks.simulation import simulate_crowd

import twoheads as th
from report.made import EVIL, problem
from twoheads.cli.running import run
from twoheads.errors import CannotWrite, MissingExtra
from twoheads.report import page, summary, write_report
from twoheads.report.sections import SECTIONS

VOID = {"meta", "br", "img", "link", "hr", "input"}


class Walk(HTMLParser):
    """Tags that open and close, ids, headings and links."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.tags, self.links, self.levels = [], [], [], set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("href", "aria-labelledby"):
            for target in (given.get(name) or "").split():
                self.links.append(target.removeprefix("#"))
        if re.fullmatch(r"h\d", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


def check(text, found):
    walk = Walk(text)
    assert walk.wrong == []
    assert walk.open == []
    assert len(walk.ids) == len(set(walk.ids))
    assert [link for link in walk.links if link not in walk.ids] == []
    assert walk.levels[0] == 1
    assert all(after - before <= 1 for before, after in zip(walk.levels, walk.levels[1:], strict=False))
    assert {"header", "main", "nav", "footer"} <= walk.tags
    there = [name for name in SECTIONS if name.replace("_", "-") in walk.ids]
    assert there == [name for name in SECTIONS if found[name]["available"] or name == "comparison"]
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}';" in text
    rest = re.sub(r"<title.*?</title>", "", text.replace(f"<script>{script}</script>", ""))
    assert not re.search(r"https?://|//[a-z]|@import|<script|<link|javascript:| on[a-z]+=", rest)
    assert len(text.encode()) < 3_000_000
    return walk


@pytest.fixture(scope="module")
def evil():
    X, y = problem(150, EVIL, seed=1)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    found = summary(team, X, y, n_bootstrap=50, title="<b>bold</b>", date="1 May", source={"a": "<i>"})
    return found, page(found)


def test_it_is_well_formed_and_self_contained_and_has_every_section(evil):
    found, text = evil
    walk = check(text, found)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "svg" in walk.tags


def test_class_names_are_escaped(evil):
    _, text = evil
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "猫 &amp; " in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "<b>bold" not in text
    assert "$x_1$" in text  # no formula


def test_the_verdict_and_the_numbers_are_those_of_the_summary(evil):
    found, text = evil
    plain = text.replace("\u00a0", " ")
    verdict = found["verdict"]
    assert f'<span class="badge">{verdict["badge"]}</span>' in plain
    assert re.sub(r"^.", lambda first: first[0].upper(), verdict["text"]) in unescape(plain)
    assert all(words in unescape(plain) for words in (found["statistics"], verdict["sure"], *verdict["next"]))
    for name in ("human", "model", "combination"):
        assert f"{100 * found['comparison'][name]['error']['value']:.1f} %" in plain
    assert "1 May" in text


def test_figures_have_text_alternatives_and_take_the_pages_colours(evil):
    _, text = evil
    figures = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(figures) == 5
    for figure in figures:
        assert 'role="img"' in figure
        assert re.search(r"<title id=[^>]+>[^<]+</title><desc id=[^>]+>[^<]+</desc>", figure)
        assert not re.search(r"#(?:d55e00|0072b2|009e73|1b1d1f|60656b|d8dadd)", figure)
        assert "var(--ink)" in figure


def test_the_same_numbers_give_the_same_page(evil):
    found, text = evil
    assert page(found) == text


@pytest.mark.parametrize("case", ["none", "one", "two", "many", "people", "labels", "recommended"])
def test_pages_of_all_kinds(case):
    classes = [f"class {at}" for at in range(500)] if case == "many" else ["no", "yes"]
    n = {"one": 1, "many": 600}.get(case, 60)
    X, y = problem(n, classes, people=3 if case == "people" else 1, strength=4 if case == "many" else 1.5)
    made = {"labels": th.LabelLabelCombiner()}
    if case == "recommended":
        made[case] = th.recommended()
    team = made.get(case, th.ProbabilityLabelCombiner()).fit(X, None if case == "none" else y)
    found = summary(team, X, None if case == "none" else y, n_bootstrap=20)
    text = page(found)
    check(text, found)
    assert found["statistics"] in unescape(text).replace("\u00a0", " ")


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    X, y = problem(30, ["a", "b"])
    team = th.ProbabilityLabelCombiner().fit(X, y)
    target = tmp_path / "report.html"
    found = write_report(target, team, X, y, n_bootstrap=20)
    assert target.read_text(encoding="utf-8") == page(found)
    target.write_text("before", encoding="utf-8")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(target, team, X, y, n_bootstrap=20)
    assert target.read_text(encoding="utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_report_into_a_missing_folder_names_the_folder(tmp_path):
    X, y = problem(30, ["a", "b"])
    team = th.ProbabilityLabelCombiner().fit(X, y)
    target = tmp_path / "no" / "report.html"
    with pytest.raises(CannotWrite) as refused:
        write_report(target, team, X, y, n_bootstrap=20)
    assert str(refused.value) == (
        f"{target} cannot be written: the folder '{tmp_path}/no' does not exist. Make it first, or write elsewhere."
    )


def test_a_missing_package_says_what_to_install(monkeypatch):
    from twoheads.report import page as module
    from twoheads.report.displays import ConfusionDisplay

    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(
        MissingExtra, match=r"a figure needs matplotlib; install it with: pip install 'twoheads\[cli\]'"
    ):
        ConfusionDisplay(np.eye(2), ["a", "b"]).plot()
    home = __import__("sys").modules["twoheads.report.page"]
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    home._environment.cache_clear()
    with pytest.raises(MissingExtra, match="A report needs jinja2"):
        module({})
    home._environment.cache_clear()


def test_several_people_are_told_as_majority_and_combined():
    seen, truth = simulate_crowd(300, np.full(6, 0.7), per_item=3, n_classes=3, rng=np.random.default_rng(0))
    team = th.recommended().fit(seen, truth)
    found = summary(team, seen, truth, n_bootstrap=20)
    html = page(found)
    (best,) = (rival for rival in found["comparison"]["rivals"] if rival["better_half"])
    error = f"{100 * best['error']['value']:.1f}\u00a0%"
    card = html[html.index(f"{best['words']}</dt>") :][:300]
    assert error in card
    assert "Better half" in html[: html.index(card)][-100:]
    assert f"{best['words']} ({error}), the better half" in found["headline"].replace(" %)", "\u00a0%)")
    assert "people, majority" in html
    assert "people combined, without the model" in html
    assert "human</dt>" not in html


def test_members_that_labelled_fewer_items_are_shown_with_their_number(tmp_path, capsys):
    X, y = problem(200, ["a", "b"], people=2, seed=5)
    X["human_p0"] = np.where(X["human_p0"].isna(), None, y)  # who is always right
    X.loc[130:, ["human_p0", "human_p1"]] = None
    n_asked = int(X[["human_p0", "human_p1"]][100:].notna().any(axis=1).sum())
    team = th.recommended().fit(X[:100], y[:100])
    found = summary(team, X[100:], y[100:], n_bootstrap=20)
    html = page(found)
    assert f'<th scope="row">people, majority ({n_asked} items)</th>' in html
    assert f'<th scope="row">people, combined ({n_asked} items)</th>' in html
    assert '<th scope="row">model, as given</th>' in html
    assert '<th scope="row">team</th>' in html
    line = f"The level line of the majority of people is its error on the {n_asked} of 100 items that it has labelled."
    assert line in html
    assert "level line of the model" not in html
    n_best = int(X["human_p0"][100:].notna().sum())
    words = found["label_statistics"]["words"]
    assert words.startswith(f"The highest Matthews' correlation is that of p0, on {n_best} of 100 items. ")
    X[100:].assign(truth=y[100:]).to_csv(tmp_path / "t.csv", index=False)
    team.save(tmp_path / "team.json")
    assert run(["evaluate", str(tmp_path / "team.json"), str(tmp_path / "t.csv")]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "[" in line]
    named = [next(row for row in rows if row.startswith(start)) for start in ("people, m", "people, c", "combination")]
    assert named[0].startswith(f"people, majority ({n_asked} items)  ")
    assert named[1].startswith(f"people, combined ({n_asked} items)  ")
    assert named[2].startswith("combination  ")


def test_several_people_without_a_model_are_called_the_majority():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    answers = np.where(rng.random((3, 80)) < 0.7, truth, 1 - truth)
    people = pd.DataFrame({f"human_{name}": column for name, column in zip("abc", answers, strict=True)})
    found = summary(th.recommended().fit(people, truth), people, truth, n_bootstrap=20)
    assert found["comparison"]["crowd"] is None
    rows = [re.sub(r"<[^>]+>", "", row).split() for row in re.findall(r'<th scope="row">(.*?)</th>', page(found))]
    assert ["people,", "majority"] in rows
    assert ["●", "majority"] in rows
    assert not [row for row in rows if row[-1] == "human"]


def test_items_say_nothing_of_predictions_where_models_give_scores_only():
    X, y = problem(160, ["bad", "good"], seed=4, people=2)
    scored = X.drop(columns=["p_bad", "p_good"]).assign(**{"judge.score": (10 * X["p_good"]).round()})
    seen = th.Observations.from_frame(scored, positive="good")
    team = th.recommended().fit(seen, y)
    text = page(summary(team, seen, y, n_bootstrap=20))
    assert "judge" in text
    assert "no prediction" not in text


def test_a_panel_without_people_and_probabilities_shows_no_empty_partners():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    panel = pd.DataFrame({f"{judge}.label": np.where(rng.random(200) < 0.8, truth, 1 - truth) for judge in "abc"})
    found = summary(th.recommended().fit(panel[:100], truth[:100]), panel[100:], truth[100:])
    assert not found["exchange"]["available"]
    shown = page(found)
    assert "human: no label" not in re.sub(r"<[^>]*>", "", shown)
    assert "model: no prediction" not in re.sub(r"<[^>]*>", "", shown)
    assert "Errors corrected and introduced" not in shown
