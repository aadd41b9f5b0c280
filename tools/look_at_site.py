"""Every page of the built site in headless Chromium, 400 and 1280 pixels wide, light and dark: ``make look``.

A page must not scroll sideways, have a broken figure, fetch anything, or have text that is hard to read on its ground.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

WIDTHS, SCHEMES = (400, 1280), ("default", "slate")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: One frame after the other: each page at each width, in each scheme.
FRAMES = Path(__file__).with_name("look_at_site.html")


def look(site: Path, pages: list[Path]) -> list[dict[str, Any]]:
    """What the browser finds on these pages."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("There is no Chromium on the PATH: apt-get install chromium")
    cases = [{"page": page.resolve().as_uri(), "width": width} for page in pages for width in WIDTHS]
    script = (
        FRAMES.read_text(encoding="utf-8").replace("CASES", json.dumps(cases)).replace("SCHEMES", json.dumps(SCHEMES))
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "frames.html").write_text(script, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
        options += [
            "--virtual-time-budget=600000",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={folder}/profile",
        ]
        done = subprocess.run(
            [browser, *options, Path(folder, "frames.html").as_uri()],
            capture_output=True,
            text=True,
            timeout=540,
            check=True,
        )
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    if title is None or not title[1].startswith("["):
        raise SystemExit(f"The browser did not finish: {done.stderr[-1000:]}")
    return list(json.loads(title[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")))


def problems(found: dict[str, Any]) -> list[str]:
    """What is wrong with one page, at one width, in one scheme."""
    wrong = []
    if found["scroll"] > found["client"]:
        wrong.append(f"scrolls sideways ({found['scroll']} > {found['client']}): {found['wide']}")
    wrong += [f"broken figure {name}" for name in found["broken"]] + [f"fetches {name}" for name in found["fetched"]]
    if found["contrast"] < 4.5:
        wrong.append(f"contrast of text {found['contrast']:.1f}: {found['faint']}")
    return wrong


def main(site: Path) -> int:
    """Look at every page; the number of problems, each printed once."""
    pages = [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]
    number = 0
    for start in range(0, len(pages), 20):
        for found in look(site, pages[start : start + 20]):
            for problem in problems(found):
                number += 1
                print(f"{Path(found['page']).name}, {found['width']} px, {found['scheme']}: {problem}")
    print(f"{len(pages)} pages at {WIDTHS} px, light and dark: {number} problems")
    return number


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1])) else 0)
