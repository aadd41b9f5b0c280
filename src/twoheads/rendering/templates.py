"""Jinja templates of a package: those in its folder ``templates``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twoheads.errors import MissingExtra

if TYPE_CHECKING:
    from jinja2 import Environment


def template_environment(package: str, purpose: str) -> Environment:
    """An environment that escapes HTML and fails on undefined names; ``purpose`` begins the message without Jinja."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra.instead_of(error, "jinja2", "cli", purpose) from None
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
