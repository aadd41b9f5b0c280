"""A table of scores as columns, as text, as HTML and as LaTeX."""

from __future__ import annotations

from html import escape
from typing import Any, Protocol

from twoheads.evaluation.bootstrap import Score
from twoheads.evaluation.metric import Metric
from twoheads.evaluation.score_rows import PairedDifference, ScoreRow
from twoheads.text import count

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
_SHORT_ROWS = 8


class Table(Protocol):
    """What is written of a table of scores."""

    @property
    def how(self) -> str:
        """How the methods were judged."""

    @property
    def n_items(self) -> int:
        """Items of known truth."""

    @property
    def reference(self) -> str:
        """The row that the others are compared with."""

    @property
    def metrics(self) -> list[Metric]:
        """The metrics."""

    @property
    def rows(self) -> list[ScoreRow]:
        """The rows."""


def columns(table: Table) -> dict[str, list[Any]]:
    """One entry per row and metric."""
    found: dict[str, list[Any]] = {
        name: []
        for name in (
            *("row", "kind", "n_items", "metric", "value", "low", "high"),
            *("difference", "difference_low", "difference_high", "p_value", "corrected_p_value", "refusal"),
        )
    }
    for row in table.rows:
        for metric in table.metrics:
            score, apart = row.scores.get(metric.name), row.differences.get(metric.name)
            line = [row.name, row.kind, row.n_items, metric.name, *_ends(score), *_ends(apart)]
            line += [None, None] if apart is None else [apart.p_value, apart.corrected_p_value]
            for values, value in zip(found.values(), [*line, row.refusal], strict=True):
                values.append(value)
    return found


def _ends(score: Score | None) -> list[float | None]:
    return [None] * 3 if score is None else [score.value, score.low, score.high]


def cell(metric: Metric, score: Score | None, *, signed: bool = False) -> str:
    """A value with its interval, "8.1 [6.5, 9.7]"; a dash if there is none."""
    if score is None:
        return "–"
    sign = "+" if signed else ""
    shown = [
        f"{metric.scale * value:{sign}.{metric.digits}f}"
        for value in (score.value, score.low, score.high)
        if value is not None
    ]
    text = f"{shown[0]} [{shown[1]}, {shown[2]}]" if len(shown) == 3 else shown[0]
    return text.replace("-", "−")


def p_text(difference: PairedDifference | None) -> str:
    """A corrected p-value, "0.03"; a dash if there is none."""
    p = None if difference is None else difference.corrected_p_value
    return "–" if p is None else ("<0.001" if p < 0.001 else f"{p:.3f}")


def header(table: Table) -> list[str]:
    """The heads of the columns of `lines`."""
    first = table.metrics[0].short_title
    names = [f"{metric.short_title} {metric.unit}".rstrip() for metric in table.metrics]
    return ["", "items", *names, f"{first} − {table.reference}", "p (Holm)"]


def lines(table: Table) -> list[list[str]]:
    """The values of each row with intervals, and its difference from the reference in the first metric."""
    return [_line(table, row) for row in table.rows]


def _line(table: Table, row: ScoreRow) -> list[str]:
    if row.refusal:
        return [row.name, "–", *("–" for _ in table.metrics), "–", "–"]
    first = table.metrics[0]
    apart = row.differences.get(first.name)
    cells = [cell(metric, row.scores.get(metric.name)) for metric in table.metrics]
    return [row.name, f"{row.n_items:,}", *cells, cell(first, apart, signed=True), p_text(apart)]


def title(table: Table) -> str:
    """What the table shows, in one sentence."""
    return f"{count(table.n_items, 'item')} of known truth, {table.how}; 95 % intervals."


def refusals(table: Table) -> list[str]:
    """Why methods could not be fitted, a line each."""
    return [f"{row.name}: {row.refusal}" for row in table.rows if row.refusal]


def short(table: Table) -> str:
    """A few lines for a terminal: at most 800 characters."""
    metric = table.metrics[0]
    rows = [
        f"  {row.name[:28]}: {'refused' if row.refusal else cell(metric, row.scores.get(metric.name))}"
        for row in table.rows[:_SHORT_ROWS]
    ]
    more = [f"  and {count(len(table.rows) - _SHORT_ROWS, 'more row')}"] if len(table.rows) > _SHORT_ROWS else []
    names = ", ".join(each.name for each in table.metrics[:5])
    unit = f" {metric.unit}" if metric.unit else ""
    head = f"ScoreTable: {title(table)[:120]} Metrics: {names[:150]}{'' if len(table.metrics) <= 5 else ', ...'}."
    return "\n".join([head, f"{metric.title}{unit}"[:60], *rows, *more])


def html(table: Table) -> str:
    """The table as HTML."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in header(table))
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in line) + "</tr>" for line in lines(table))
    notes = "".join(f"<p>{escape(text)}</p>" for text in refusals(table))
    caption = f"<caption>{escape(title(table))}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{notes}"


def latex(table: Table) -> str:
    """The table for LaTeX with booktabs; refusals are comments below it."""
    layout = "l" + "r" * (len(header(table)) - 1)
    rows = [" & ".join(_escaped(text) for text in line) + r" \\" for line in lines(table)]
    notes = [f"% {_escaped(text)}" for text in [title(table), *refusals(table)]]
    head = " & ".join(_escaped(name) for name in header(table)) + r" \\"
    start, end = rf"\begin{{tabular}}{{{layout}}}", r"\end{tabular}"
    return "\n".join([start, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", end, *notes]) + "\n"


def _escaped(text: str) -> str:
    plain = text.replace("\n", " ").translate(_LATEX)
    return plain.replace("–", "--").replace("−", "$-$").replace("<", "$<$")
