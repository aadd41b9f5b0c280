"""Signatures of commands, from which Typer reads their options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

#: What a command returns: the content of its JSON.
Result = dict[str, Any]
Command = Callable[..., Result]


def parameters_of(command: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a command, by name only, with their annotations evaluated."""
    found = inspect.signature(command, eval_str=True).parameters.values()
    return [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in found]


def option(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    """A parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_signature(
    function: Callable[..., Any], like: Callable[..., Any], parameters: list[inspect.Parameter]
) -> Callable[..., Any]:
    """A function of keywords in the name of a command, with other parameters than that has."""

    @functools.wraps(like)
    def wrapped(**values: Any) -> Any:
        return function(**values)

    signature = inspect.Signature(parameters)
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped
