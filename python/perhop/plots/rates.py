"""Rates and fairness of traffic, delay of what arrives: means with 95 % intervals over replications."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from perhop import accounting, units
from perhop.plots import grid
from perhop.plots.grid import Quantity
from perhop.results import Results
from perhop.units import Column

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def throughput(runs: Results) -> Figure:
    """Goodput of each traffic, in all and for one of its flows."""
    return _facets(runs, "traffic", "goodput_bit_s", "goodput_mean_bit_s")


def fairness(runs: Results) -> Figure:
    """Jain's index over the flows of each traffic: 1 means all equal."""
    return _facets(runs, "traffic", "jain")


def delay(runs: Results) -> Figure:
    """Median, 99 % and 99.9 % quantile of the delay to the destination."""
    return _facets(runs, "arrivals", "delay_p50_ms", "delay_p99_ms", "delay_p999_ms")


def _facets(runs: Results, table: str, *names: str) -> Figure:
    """A column of panels for each column of a table."""
    return grid.facets(runs, [_quantity(runs, units.COLUMNS[table, name]) for name in names])


def _quantity(runs: Results, column: Column) -> Quantity:
    by = [*runs.keys, *units.KEYS[column.table]]
    found = runs.values(column.table, column.name, by=by, missing=math.nan)
    unit, factor = column.usual
    return Quantity(accounting.headed(runs.points, column, unit), found, column, factor)
