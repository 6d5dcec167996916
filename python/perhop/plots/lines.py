"""Lines over time, and what they are of."""

from __future__ import annotations

from typing import NamedTuple

from perhop.columns import Values


class Line(NamedTuple):
    """Values over time."""

    t_s: Values
    value: Values


class Of(NamedTuple):
    """What a line of `series` shows."""

    hop: str
    conditioner: str
    """Nothing for the queue and its AQM."""
    quantity: str
