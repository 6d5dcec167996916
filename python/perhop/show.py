"""How values are shown: on a terminal, and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from html import escape
from numbers import Real

ROWS = 10
"""Rows of a table that a notebook shows."""


def printable(text: str) -> str:
    """A text without characters that steer a terminal: each is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_error(error: Exception) -> str:
    """What a verb says of an error. One with a code says already that it is one."""
    text = str(error)
    return text if text.startswith("error") else f"error: {text}"


def count(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def near(name: str, names: Iterable[str]) -> str:
    """`; did you mean `delay`?`, if one of the names is much like it."""
    close = get_close_matches(name, list(names), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table."""
    head = "".join(f"<th>{escape(printable(heading))}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    number = isinstance(value, Real) and not isinstance(value, bool)
    text = f"{value:.6g}" if number else "" if value is None else printable(str(value))
    side = "right" if text[:1].isdigit() or text[:1] == "-" else "left"
    return f'<td style="text-align: {side}">{escape(text)}</td>'


def note(text: str) -> str:
    """A line of HTML."""
    return f"<p>{escape(printable(text))}</p>"


def folded(title: str, text: str) -> str:
    """Preformatted HTML behind its title."""
    lines = "\n".join(map(printable, text.splitlines()))
    return f"<details><summary>{escape(title)}</summary><pre>{escape(lines)}</pre></details>"
