"""The site builds without a warning and without network, and every page can be read, on any screen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("material")
pytest.importorskip("mkdocs_gallery")
pytest.importorskip("mkdocstrings")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site without the results of the gallery's examples, which have tests of their own."""
    root = tmp_path_factory.mktemp("repository")
    for name in ("docs", "examples", "tools", "src"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("generated", "__pycache__"))
    for path in (*ROOT.glob("*.md"), ROOT / "mkdocs.yml"):
        shutil.copy(path, root)
    environment = os.environ | {"TWOHEADS_GALLERY": "false", "http_proxy": "http://127.0.0.1:9", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=root,
        env=environment | {"https_proxy": "http://127.0.0.1:9", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return root / "site"


def test_it_has_no_formula_or_docstring_as_source(site):
    for page in [*site.glob("*.html"), *site.glob("reference/*.html")]:
        text = page.read_text(encoding="utf-8")
        assert "arithmatex" not in text, page.name
        assert ":math:" not in text, page.name


def test_every_page_can_be_read(site):
    from tools import look_at_site

    if not any(map(shutil.which, look_at_site.BROWSERS)):
        pytest.skip("there is no Chromium on the PATH: apt-get install chromium")
    assert look_at_site.main(site) == 0
