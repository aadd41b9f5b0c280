"""Hooks of MkDocs: pages from the root of the repository, and formulas as MathML, so that no script is needed."""

from __future__ import annotations

import html
import logging
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

log = logging.getLogger("mkdocs.hooks.site")  # a warning is an error
ROOT = Path(__file__).parents[1]
#: Pages of the site that are files of the repository.
FROM_ROOT = {"ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the repository's root."""
    for name, page in FROM_ROOT.items():
        files.append(File.generated(config, page, content=_from_root((ROOT / name).read_text(encoding="utf-8"))))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Examples with prompts as a session of Python: what they print is no code."""
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)


def on_page_content(content: str, **_: Any) -> str:
    """Formulas that Arithmatex has marked, as MathML; figures of the gallery by their own address alone.

    The gallery's second address of a figure is right only where each page is a folder.
    """
    content = re.sub(r' srcset="\.\./images/[^"]*"', "", content)
    content = re.sub(r'<span class="arithmatex">\\\((.*?)\\\)</span>', _inline, content, flags=re.DOTALL)
    return re.sub(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', _display, content, flags=re.DOTALL)


def _from_root(text: str) -> str:
    text = re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text)
    for name, target in FROM_ROOT.items():
        text = text.replace(f"]({name}", f"]({target}")
    return re.sub(r"\[([^\]]+)\]\((?:README\.md|LICENSE|CITATION\.cff|SECURITY\.md)[^)]*\)", r"\1", text)


def _inline(found: re.Match[str]) -> str:
    return _mathml(found[1], "inline")


def _display(found: re.Match[str]) -> str:
    return f'<div class="formula">{_mathml(found[1], "block")}</div>'


def _mathml(formula: str, display: str) -> str:
    formula = html.unescape(formula.strip())
    found = convert(formula, display=display)
    found = re.sub(r"<mi>log</mi>(?!<mo stretchy)", r'<mi>log</mi><mspace width="0.17em"/>', found)
    if "\\" in found:
        log.warning("A command of this formula is not known: %s", formula)
    return found
