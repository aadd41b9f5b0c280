"""The documentation is true: its examples run, and it names every public name."""

import doctest
import re
from pathlib import Path

import pytest
import typer

import twoheads
import twoheads.evaluation
from twoheads.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), 0)
    results = doctest.DocTestRunner().run(examples)
    assert results.failed == 0
    assert results.attempted == code.count(">>> ")


def test_every_public_name_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    names = {*twoheads.__all__, *twoheads.evaluation.__all__}
    assert [name for name in sorted(names) if f"`{name}" not in text] == []


def test_every_public_name_has_a_docstring():
    objects = [getattr(twoheads, name) for name in twoheads.__all__]
    assert [item.__name__ for item in objects if not (item.__doc__ or "").strip()] == []


def test_links_between_pages_lead_somewhere():
    missing = [
        f"{page.name}: {target}"
        for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []


def test_public_names_are_those_the_package_gives():
    assert sorted(twoheads._HOME_OF) == sorted(twoheads.__all__)
    assert set(twoheads.__all__) <= set(dir(twoheads))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = twoheads.nothing


def test_readme_promises_the_commands_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    promised = set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"demo", "test"} <= promised
    assert [target for target in sorted(promised) if f"\n{target}:" not in makefile] == []


def test_every_command_and_option_is_documented():
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        assert f"## `twoheads {name}`" in text
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        assert [option for option in sorted(options - {"--help"}) if f"`{option}" not in text] == []


def test_every_metric_is_documented():
    from twoheads.evaluation import METRICS

    text = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    for metric in METRICS:
        needs = "yes" if metric.needs_proba else "no"
        terminal = f"{metric.short_title} {metric.unit}".rstrip()
        assert f"| `{metric.name}` | {metric.title} | {terminal} | {needs} |" in text
