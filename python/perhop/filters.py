"""Which rows of results are kept: by swept keys and by columns that name rows. `--where` has the same names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from perhop.arguments import fits, shown
from perhop.columns import Column, Columns

Conditions = Mapping[str, object] | Sequence[str]
"""`{"class": ["voice", "data"], "cir": "5Mbit/s"}`, or `["class=voice,data", "cir=5Mbit/s"]`."""

Selection = Mapping[str, Sequence[str]]
"""By swept key or column, the values of which a row has one."""


def texts(conditions: Conditions) -> list[str]:
    """As `--where` takes them."""
    if not isinstance(conditions, Mapping):
        return list(conditions)
    return [f"{key}={text(value)}" for key, values in conditions.items() for value in _several(key, values)]


def _several(key: str, values: object) -> Sequence[object]:
    if not fits(values, Iterable):
        return [values]
    listed = list(cast("Iterable[object]", values))
    if not listed:
        raise ValueError(f"{key} = []: name at least one value")
    return listed


def text(value: object) -> str:
    """A label or a name as a text."""
    return value if isinstance(value, str) else shown(value.item() if isinstance(value, np.generic) else value)


def named(column: Column) -> list[str]:
    """A column's values as texts, in order of appearance."""
    return list(dict.fromkeys(str(value) for value in column if value is not None))


def fitting(columns: Columns, kept: Selection) -> npt.NDArray[np.bool_]:
    """Which rows have one of the values of each key that is among the columns."""
    keep = np.ones(len(next(iter(columns.values()), ())), dtype=np.bool_)
    for key, values in kept.items():
        if key in columns:
            keep &= np.array([value is not None and str(value) in values for value in columns[key]], dtype=np.bool_)
    return keep


def both(kept: Selection, more: Selection) -> Selection:
    """What both keep."""
    return {**kept, **{key: [value for value in of if value in kept.get(key, of)] for key, of in more.items()}}


def worded(kept: Selection) -> str:
    """`class voice or data, cir 5Mbit/s`."""
    return ", ".join(f"{key} {' or '.join(values)}" for key, values in kept.items())
