"""The page in a real browser: no console error, no request to the outside, every section, no sideways scrolling."""

import json
import re
import shutil
import subprocess

import pytest

import twoheads as th
from report.made import EVIL, problem
from twoheads.report import write_report
from twoheads.report.page import SECTIONS

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH: apt-get install chromium")

#: Puts the page into frames as wide as two phones and a screen, and says what it finds there.
FRAMES = """<!DOCTYPE html><body><script>
const found = [];
for (const width of [320, 390, 1200]) {
  const frame = document.createElement("iframe");
  frame.style.width = width + "px";
  frame.onload = () => {
    const page = frame.contentDocument, root = page.documentElement;
    found.push({
      width, client: root.clientWidth, scroll: root.scrollWidth,
      sections: [...page.querySelectorAll("main > section")].map(each => each.id),
      requests: frame.contentWindow.performance.getEntriesByType("resource").map(each => each.name),
      wide: [...page.querySelectorAll("body *")].filter(each => !each.closest(".scroll") &&
        each.getBoundingClientRect().right > root.clientWidth + 1).map(each => each.outerHTML.slice(0, 80)),
      figures: [...page.querySelectorAll("svg")].map(each => each.getBoundingClientRect().height),
    });
    document.title = JSON.stringify(found);
  };
  frame.src = "PAGE";
  document.body.append(frame);
}
</script>"""


def opened(tmp_path, name):
    (tmp_path / "frames.html").write_text(FRAMES.replace("PAGE", name), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--enable-logging=stderr",
    ]
    options += ["--v=0", "--virtual-time-budget=10000", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"]
    run = subprocess.run(
        [CHROMIUM, *options, f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "frames.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=80,
        check=True,
    )
    title = re.search(r"<title>(.*?)</title>", run.stdout)
    assert title is not None, run.stderr[-2000:]
    console = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    return json.loads(title[1]), console


def test_it_opens(tmp_path):
    X, y = problem(80, [*EVIL, "a rather long name of a class, with no end in sight"], people=2)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    write_report(tmp_path / "report.html", team, X, y, n_bootstrap=50)
    frames, console = opened(tmp_path, "report.html")
    assert console == []
    assert len(frames) == 3
    for frame in frames:
        assert frame["sections"] == [name.replace("_", "-") for name in SECTIONS]
        assert frame["requests"] == []
        assert frame["scroll"] <= frame["client"], (frame["width"], frame["wide"])
        assert len(frame["figures"]) == 6
        assert all(height > 50 for height in frame["figures"])


def test_the_test_sees_what_it_looks_for(tmp_path):
    bad = '<img src="http://example.org/x.png"><script>nope()</script><p style="width:5000px">wide</p>'
    (tmp_path / "bad.html").write_text(bad, encoding="utf-8")
    frames, console = opened(tmp_path, "bad.html")
    assert any("nope is not defined" in line for line in console)
    assert frames[0]["requests"] == ["http://example.org/x.png"]
    assert frames[0]["scroll"] > frames[0]["client"]
