"""The documentation is true: its examples run, and it names every public name."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest
import typer
from tests.docs import shell
from tools import help_texts

import twoheads
import twoheads.evaluation
from twoheads.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = sorted(page for page in (ROOT / "docs").rglob("*.md") if "generated" not in page.parts)
PAGES = [ROOT / "README.md", *DOCS]
#: Languages of blocks that are not run: what a command prints, which is compared after commands, and files of make.
NOT_RUN = ("text", "make")


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """The fenced blocks of a page: language and code."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def prose(page):
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def run_python(code, names, page):
    if ">>> " not in code:
        exec(compile(code, name_of(page), "exec"), names)
        return
    examples = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
    examples.globs = names  # the next block goes on with what this one has defined
    results = doctest.DocTestRunner().run(examples, clear_globs=False)
    assert results.failed == 0
    assert results.attempted == code.count(">>> ")


def run_page(page, capfd, *, long):
    names = {"__name__": "page"}
    shell.FILES.get(page.name, lambda: None)()
    printed = ""
    for language, code in blocks(page):
        if language == "python":
            run_python(code, names, page)
        elif language == "sh":
            capfd.readouterr()
            shell.run_block(code, long=long)
            printed = "".join(capfd.readouterr())
        elif language == "text" and printed:
            assert [line for line in code.splitlines() if line not in printed.splitlines()] == []
        else:
            assert language in NOT_RUN, f"a block in {language or 'no language'} would not be run"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples_run(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    run_page(page, capfd, long=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if "```sh" in page.read_text(encoding="utf-8")], ids=name_of)
def test_all_commands_run(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    run_page(page, capfd, long=True)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_code_is_hidden_in_an_indented_block(page):
    # Only fenced blocks are run.
    code = re.compile(r" {4}(twoheads |pip |>>> |from |import |with )")
    assert [line for line in prose(page).splitlines() if code.match(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_have_the_options_that_pages_show(page):
    root = typer.main.get_command(app)
    shown = [code for language, code in blocks(page) if language == "sh"]
    shown += [line.replace("\\|", "|") for line in re.findall(r"`(twoheads [a-z][^`]*)`", prose(page))]
    for command, *arguments in (call for code in shown for call in shell.calls(code)):
        known = {option for parameter in root.commands[command].params for option in parameter.opts}
        used = {argument.partition("=")[0] for argument in arguments if re.match(r"--?[a-z]", argument)}
        assert used <= known | {"--help"}, (command, used - known)


def test_help_texts_are_those_of_the_commands():
    assert help_texts.PAGE.read_text(encoding="utf-8") == help_texts.page(), "run: python -m tools.help_texts"


def public_names():
    for home in ("twoheads", *(f"twoheads.{part}" for part in PUBLIC)):
        for name in import_module(home).__all__:
            yield f"{home}.{name}"


PUBLIC = ("datasets", "evaluation", "report", "studies", "tables", "testing")


def test_the_reference_has_every_public_name_once():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    listed = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted([*public_names(), "twoheads.engines.dask.DaskCluster"])


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE)
    assert len(listed) == len(set(listed))
    pages = {str(page.relative_to(ROOT / "docs")) for page in DOCS}
    assert pages - set(listed) == set()
    assert set(listed) - pages == {"architecture.md", "contributing.md", "changelog.md"}


def test_every_public_name_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    names = {*twoheads.__all__, *twoheads.evaluation.__all__}
    assert [name for name in sorted(names) if f"`{name}" not in text] == []


def test_every_public_name_has_a_docstring():
    objects = [getattr(twoheads, name) for name in twoheads.__all__]
    assert [item.__name__ for item in objects if not (item.__doc__ or "").strip()] == []


def headings(page):
    """The anchors of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)).strip().lower()
        yield re.sub(r"[-\s]+", "-", words)


def test_links_between_pages_lead_somewhere():
    missing = []
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target, _, anchor = link.partition("#")
            place = (page.parent / target).resolve() if target else page
            if "generated" in place.parts or (place.parent == ROOT / "docs" and place.name == "architecture.md"):
                continue  # the site makes them
            if not place.exists() or (anchor and anchor not in headings(place)):
                missing.append(f"{name_of(page)}: {link}")
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


def test_the_results_of_the_readme_are_those_of_their_source():
    source = (ROOT / "docs" / "recommended.md").read_text(encoding="utf-8")
    results = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Results")[2].partition("\n## ")[0]
    names = {"P+L as released by the authors": "P+L as released", "P+L by the paper's equations": "P+L (MAP)"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in results.splitlines() if " / ." in line]
    assert len(rows) == 4
    for name, *cells in rows:
        line = next(line for line in source.splitlines() if line.startswith(f"| {names.get(name, name)} |"))
        all_cells = [cell.strip() for cell in line.strip("|").split("|")[1:]]
        for shown, at in zip(cells, (0, 1, 3, 5), strict=True):
            assert all_cells[at].startswith(shown.replace("/ .", "/ 0.")), (name, shown, all_cells[at])
