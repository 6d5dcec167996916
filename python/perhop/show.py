"""How values are shown: on a terminal, and as HTML in a notebook."""

from __future__ import annotations


def printable(text: str) -> str:
    """A text without characters that steer a terminal: each is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
