"""Pages in a real browser, as wide as a screen and as a phone, light, dark and printed: nothing is cut off."""

import pytest

import twoheads as th
from report.browser import CHROMIUM, Browser
from report.kinds import KINDS
from report.made import EVIL, problem
from twoheads.report import write_report
from twoheads.report.sections import SECTIONS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH: apt-get install chromium")

#: Width, media, and whether dark. Paper is as wide as A4 at 96 dots per inch, without margins.
VIEWS = [
    (1280, "screen", False),
    (1280, "screen", True),
    (400, "screen", False),
    (400, "screen", True),
    (794, "print", False),
]

#: What is wrong with a page as it is shown, by kind; empty lists if nothing is.
AUDIT = """(() => {
  const root = document.documentElement, edge = root.clientWidth + 1, all = [...document.querySelectorAll("body *")];
  const name = each => each.tagName + "." + each.getAttribute("class") + " " + each.textContent.trim().slice(0, 60);
  const printed = matchMedia("print").matches;
  const seen = all.filter(each => each.checkVisibility({visibilityProperty: true}) && each.getClientRects().length);
  const scrolls = each => !printed && each.closest(".scroll");
  const says = each => [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const box = each => each.getBoundingClientRect();
  const beyond = each => box(each).right > edge || box(each).left < -1;
  const wider = each => each.scrollWidth > each.clientWidth + 1;
  const cut = each => says(each) && getComputedStyle(each).overflowX !== "visible" && wider(each);
  const outside = text => {
    const frame = box(text.ownerSVGElement), own = box(text);
    const across = own.left < frame.left - 1 || own.right > frame.right + 1;
    return across || own.top < frame.top - 1 || own.bottom > frame.bottom + 1;
  };
  const light = colour => {
    const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = each => {
    for (; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/^rgba.*, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = each => {
    const [one, other] = [light(getComputedStyle(each).color), light(behind(each))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5;
  };
  const plain = seen.filter(each => !each.closest("svg"));
  return {
    sideways: root.scrollWidth > root.clientWidth ? [root.scrollWidth] : [],
    beyond: plain.filter(each => !scrolls(each) && beyond(each)).map(name),
    cut: plain.filter(each => !each.matches(".scroll") && cut(each)).map(name),
    outside: seen.filter(each => each.matches("svg text") && outside(each)).map(name),
    faint: plain.filter(each => says(each) && !each.matches("[aria-hidden] *, [aria-hidden]") && faint(each)).map(name),
    unhinted: printed ? [] : plain.filter(each => each.matches(".scroll") && wider(each)
      && !each.nextElementSibling.checkVisibility()).map(name),
    flat: seen.filter(each => each.matches("svg") && box(each).height < 50).map(name),
    folded: all.filter(each => printed && each.matches(".fold > :not(summary, details)")
      && !each.checkVisibility()).map(name),
  };
})()"""
OPEN = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


def audited(browser, path):
    """What is wrong with a page in any view, folded and opened."""
    browser.open(path)
    wrong = {}
    for width, media, dark in VIEWS:
        browser.show(width=width, media=media, dark=dark)
        browser.evaluate(SETTLED)
        wrong[width, media, dark] = {kind: found for kind, found in browser.evaluate(AUDIT).items() if found}
    browser.evaluate(OPEN)
    for width in (1280, 400):
        browser.show(width=width)
        browser.evaluate(SETTLED)
        wrong[width, "opened"] = {kind: found for kind, found in browser.evaluate(AUDIT).items() if found}
    return {view: found for view, found in wrong.items() if found}


def written(tmp_path, team, X, y, **options):
    options = {"n_bootstrap": 50, "title": "Lesions", "date": "2026-05-01", **options}
    found = write_report(tmp_path / "report.html", team, X, y, **options)
    return tmp_path / "report.html", found


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_off(browser, tmp_path, kind):
    path, found = written(tmp_path, *KINDS[kind]())
    assert audited(browser, path) == {}
    assert browser.messages == []
    assert browser.requests == []
    ids = browser.evaluate("[...document.querySelectorAll('section, details.fold')].map(each => each.id)")
    for name in SECTIONS:
        assert (name.replace("_", "-") in ids) == (found[name]["available"] or name == "comparison")
    browser.show(width=1280)
    browser.evaluate("scrollTo(0, 0)")
    last = browser.evaluate("document.querySelector('.advice').getBoundingClientRect().bottom")
    assert last <= 800  # verdict, whom, how much, how sure and what next are on the first screen
    browser.show(width=400)
    browser.evaluate(SETTLED)
    first = "[...document.querySelectorAll('.advice h2')].map(each => each.getBoundingClientRect().bottom + 24)"
    assert max(browser.evaluate(first)) <= 800  # on a phone's, the first words of each


def test_methods_side_by_side(browser, tmp_path):
    long = "P+L, under a name that is rather long, " + "withnoend" * 6
    methods = {long: th.ProbabilityLabelCombiner(), "L+L": th.LabelLabelCombiner()}  # which refuses three models
    path, found = written(tmp_path, *KINDS["three_models"](), methods=methods)
    assert found["methods"]["available"]
    assert audited(browser, path) == {}
    assert browser.messages == []
    assert browser.requests == []


def test_names_that_are_long_or_evil(browser, tmp_path):
    X, y = problem(80, [*EVIL, "a rather long name of a class, with no end in sight"], people=2)
    X = X.rename(columns={"human_p0": "human_" + "verylongnameofaperson" * 3})
    path, _ = written(tmp_path, th.ProbabilityLabelCombiner().fit(X, y), X, y)
    assert audited(browser, path) == {}
    assert browser.messages == []

    people = "[...document.querySelectorAll('.people tbody tr')].map(each => Number(each.cells[2].dataset.value))"
    click = (
        "[...document.querySelectorAll('.people thead button')].find(each => /accuracy/.test(each.textContent)).click()"
    )
    before = browser.evaluate(people)
    browser.evaluate(click)
    assert browser.evaluate(people) == sorted(before) != before
    browser.evaluate(click)
    assert browser.evaluate(people) == before
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = false; })")
    browser.evaluate("location.hash = '#method'")
    browser.evaluate(SETTLED)
    assert browser.evaluate("document.getElementById('method').open")

    browser.scripts(allowed=False)
    try:
        browser.open(path)
        browser.show(width=400)
        assert browser.messages == []
        assert browser.evaluate("document.querySelectorAll('.people thead button').length") == 0
        assert browser.evaluate(people) == before
    finally:
        browser.scripts(allowed=True)


def test_the_test_sees_what_it_looks_for(browser, tmp_path):
    (tmp_path / "bad.html").write_text(
        '<!DOCTYPE html><img src="http://example.org/x.png"><script>nope()</script>'
        '<p style="width:5000px">wide</p><p style="overflow:hidden;width:2em;white-space:nowrap">cut off</p>'
        '<p style="color:#aaa">faint</p><svg width="90" height="60"><text x="80" y="20">outside</text></svg>'
        '<div><div class="scroll" style="overflow:auto"><p style="width:9999px">x</p></div><p hidden>hint</p></div>'
        '<details class="fold"><summary>more</summary><p>folded</p></details>',
        encoding="utf-8",
    )
    found = audited(browser, tmp_path / "bad.html")
    screen, paper = found[1280, "screen", False], found[794, "print", False]
    assert {"sideways", "beyond", "cut", "faint", "outside", "unhinted"} <= set(screen)
    assert "folded" in paper
    assert any("nope is not defined" in message for message in browser.messages)
    assert browser.requests == ["http://example.org/x.png"]
