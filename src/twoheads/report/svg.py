"""A figure as an SVG element inside a page, in the page's colours and fonts."""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING

from twoheads.rendering.matplotlib_style import settings
from twoheads.report.displays.style import COLOUR, GRID, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of the figures by the page's names for them, which differ between light and dark.
VARIABLE = {
    COLOUR["human"]: "--human",
    COLOUR["model"]: "--model",
    COLOUR["combination"]: "--combination",
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--line",
}


def inline_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """Write a figure as an SVG element: text as text, colours as CSS variables, nothing from outside.

    Parameters
    ----------
    figure : Figure
    name : str
        The beginning of its ids, different for each figure of a page.
    title, description : str
        For readers who cannot see it.
    """
    text = _drawn(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = _own_ids(text, name)
    for colour, variable in VARIABLE.items():
        text = text.replace(colour, f"var({variable})")
    text = text.replace("xlink:href", "href")
    text = re.sub(r"font: (?:[\w.]+ )*?([\d.]+px) [^;\"]+", r"font-size: \1", text)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert box is not None
    inside = text[text.index(">", text.index("<svg")) + 1 :]
    opening = (
        f'<svg viewBox="0 0 {box[1]} {box[2]}" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'style="max-width:{float(box[1]) * 1.7:.0f}px">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
    )
    return opening + inside.strip()


def _drawn(figure: Figure) -> str:
    file = io.StringIO()
    with settings({"svg.fonttype": "none", "path.simplify": True}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing.*")  # the reader's browser has the fonts
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return file.getvalue()


def _own_ids(text: str, name: str) -> str:
    """Keep only the ids that something refers to, and make them the figure's own."""
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    return re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
