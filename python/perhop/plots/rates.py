"""Rates and fairness of traffic, delay of what arrives: means with 95 % intervals over replications."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from perhop.plots import grid
from perhop.plots.grid import Quantity
from perhop.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEGA = 1e-6


def throughput(runs: Results) -> Figure:
    """Goodput of each traffic, in all and for one of its flows."""
    columns = (("goodput, Mbit/s", "goodput_bit_s"), ("per flow, Mbit/s", "goodput_mean_bit_s"))
    return grid.facets(runs, [_column(runs, label, Column("traffic", column, MEGA)) for label, column in columns])


def fairness(runs: Results) -> Figure:
    """Jain's index over the flows of each traffic: 1 means all equal."""
    return grid.facets(runs, [_column(runs, "Jain's index of goodput", Column("traffic", "jain"))])


def delay(runs: Results) -> Figure:
    """Median, 99 % and 99.9 % quantile of the delay to the destination."""
    columns = (("median, ms", "delay_p50_ms"), ("99 %, ms", "delay_p99_ms"), ("99.9 %, ms", "delay_p999_ms"))
    return grid.facets(runs, [_column(runs, f"delay, {label}", Column("arrivals", name)) for label, name in columns])


class Column(NamedTuple):
    """A column of a table, and what its values are multiplied by."""

    table: str
    name: str
    scale: float = 1.0


def _column(runs: Results, label: str, column: Column) -> Quantity:
    table, name, scale = column
    rows = ("traffic",) if table == "traffic" else ("class", "colour")
    found = runs.values(table, name, by=[*runs.keys, *rows], missing=math.nan)
    return Quantity(label, found, name, scale)
