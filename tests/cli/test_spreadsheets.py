"""CSV for spreadsheets, and the page's policy."""

import pyarrow as pa
import pytest

from twoheads.cli.running import run
from twoheads.tables.spreadsheets import without_formulas

ROWS = "=1+1,a,0.7,0.3,a\n@x,b,0.4,0.6,b\n-5,a,0.8,0.2,a\nplain,b,0.1,0.9,a\n"


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("item,human,p_a,p_b,truth\n" + ROWS)
    assert run(["fit", "t.csv"]) == 0
    capsys.readouterr()
    return tmp_path


def ids(path):
    return [line.split(",")[0] for line in path.read_text().splitlines()[1:]]


def test_formulas_are_escaped_if_asked(here, capsys):
    assert run(["combine", "team.json", "t.csv", "-o", "v.csv"]) == 0
    assert ids(here / "v.csv") == ["=1+1", "@x", "-5", "plain"]
    assert run(["combine", "team.json", "t.csv", "-o", "v.csv", "--for-spreadsheet"]) == 0
    assert ids(here / "v.csv") == ["'=1+1", "'@x", "'-5", "plain"]
    assert (
        run(["ask", "team.json", "t.csv", "--budget", "9", "--people", "=Ann", "-o", "q.csv", "--for-spreadsheet"]) == 0
    )
    assert all(
        line.startswith(("'", "plain")) and "'=Ann" in line for line in (here / "q.csv").read_text().splitlines()[1:]
    )
    capsys.readouterr()
    assert run(["combine", "team.json", "t.csv", "-o", "v.parquet", "--for-spreadsheet"]) == 2
    assert "--for-spreadsheet is for CSV and TSV" in capsys.readouterr().err


def test_names_of_columns_and_codes_are_escaped_too():
    batch = pa.record_batch({"=item": pa.array(["+1", None]).dictionary_encode(), "n": [-1, 2]})
    assert next(without_formulas([batch])).to_pydict() == {"'=item": ["'+1", None], "n": [-1, 2]}


def test_the_page_allows_nothing_from_elsewhere(here):
    assert run(["report", "team.json", "t.csv", "-o", "r.html"]) == 0
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\';' in (here / "r.html").read_text()
