"""A table as text: aligned, numbers to the right, as many rows and columns as a terminal has room for."""

from __future__ import annotations

import math
import re
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from perhop.columns import Column, Columns, short
from perhop.show import count, printable

ROWS = 20
"""Rows that are printed."""
WIDTH = 100
"""Characters of a line where there is no terminal."""
DIGITS, MOST_DECIMALS = 5, 6
"""Digits of the largest number of a column, and of any behind its point."""
LONGEST = 48
"""Characters of a text."""
KEY = re.compile(r'[A-Za-z]\w*(\.("[^"]*"|[\w-]+))+')
"""The name of a column of swept values."""
GAP = "  "
NONE = "-"
"""Stands where a value is missing."""


@dataclass(frozen=True)
class Printed:
    """A column as it is printed."""

    heading: str
    texts: list[str]
    is_number: bool

    @property
    def width(self) -> int:
        """Characters of its longest text."""
        return max(map(len, [self.heading, *self.texts]))

    @property
    def lines(self) -> list[str]:
        """Its texts, all of one length."""
        side = str.rjust if self.is_number else str.ljust
        return [side(text, self.width) for text in [self.heading, *self.texts]]


def table(columns: Columns, headings: Mapping[str, str], spare: Collection[str] = ()) -> str:
    """All of it, or its beginning with a note of what was left out. `headings` are by column.

    Without room for all, swept keys are called by their last part, and `spare` columns are left out first.
    """
    rows, width = len(next(iter(columns.values()), ())), _width()
    every = {name: _printed(headings[name], column[:ROWS]) for name, column in columns.items()}
    if _fitting([column.width for column in every.values()], width) < len(every):
        brief = _brief(headings)
        shown = {name: _printed(brief[name], column[:ROWS]) for name, column in columns.items() if name not in spare}
        every = shown | {name: column for name, column in every.items() if name in spare}
    fitting = _fitting([column.width for column in every.values()], width)
    kept = list(every.values())[:fitting]
    lines = [GAP.join(row).rstrip() for row in zip(*(column.lines for column in kept), strict=True)]
    shown_names = list(every)[:fitting]
    left = [headings[name] for name in columns if name not in shown_names]
    return "\n".join([*lines, *wrap(_note(rows, left), width)])


def _brief(headings: Mapping[str, str]) -> dict[str, str]:
    """Headings with the last part of a key in place of all of it, where no other column ends so."""
    ends = Counter(map(short, headings))
    brief = {name for name in headings if KEY.fullmatch(name) and ends[short(name)] == 1}
    return {name: short(name) if name in brief else heading for name, heading in headings.items()}


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


def _fitting(widths: Sequence[int], width: int) -> int:
    """How many of the first columns fit, one at least."""
    ends = np.cumsum([of + len(GAP) for of in widths]) - len(GAP)
    return max(1, int((ends <= width).sum()))


def _note(rows: int, left_out: Sequence[str]) -> str:
    """What is not shown; nothing if all is."""
    told = ["no rows"] if not rows else [f"{ROWS} of {rows} rows"] if rows > ROWS else []
    told += [f"{count(len(left_out), 'more column')}: {', '.join(left_out)}"] if left_out else []
    return f"({'; '.join(told)})" if told else ""


def _printed(heading: str, column: Column) -> Printed:
    is_number = column.dtype.kind in "iuf"
    texts = _floats(column) if column.dtype.kind == "f" else list(map(_text, column))
    return Printed(printable(heading), texts, is_number)


def _text(value: object) -> str:
    text = NONE if value is None else printable(str(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _floats(column: Column) -> list[str]:
    """With as many decimals as the largest needs, without zeros at the end of all; none becomes zero by that."""
    known = [abs(float(value)) for value in column if math.isfinite(value)]
    digits = math.floor(math.log10(max(known))) + 1 if any(known) else DIGITS
    decimals = min(max(DIGITS - digits, 0), MOST_DECIMALS)
    while decimals and all(round(value, decimals) == round(value, decimals - 1) for value in known):
        decimals -= 1
    return [_float(float(value), decimals) for value in column]


def _float(value: float, decimals: int) -> str:
    if math.isnan(value):
        return NONE
    return f"{value:.2g}" if value and math.isfinite(value) and not round(value, decimals) else f"{value:.{decimals}f}"
