"""`perhop plot`: named plots of any run, as PNG, SVG or PDF."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from perhop import files, units
from perhop.arguments import checked
from perhop.plots import grid, packets, series, stacked, style
from perhop.plots.choice import Choice, chosen, listed
from perhop.plots.grid import Quantity
from perhop.plots.style import Figure
from perhop.results import Results, opened
from perhop.show import near


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
    quantities, by = [], [*runs.keys, *units.KEYS[table]]
    for column in (units.COLUMNS[table, name] for name in names):
        found, (unit, factor) = runs.values(table, column.name, by=by, missing=math.nan), column.usual
        quantities.append(Quantity(units.headed(runs.points, column, unit), found, column, factor))
    return grid.facets(runs, quantities)


PLOTS: dict[str, Callable[[Results], Figure]] = {
    "delivered": stacked.delivered,
    "throughput": throughput,
    "fairness": fairness,
    "delay": delay,
    "colours": packets.colours,
    "drops": packets.drops,
    "over-time": series.over_time,
    "queue": series.queue,
    "bucket": series.bucket,
}


@checked
def figure(kind: str, runs: Results, x: str | None = None, by: str | Sequence[str] = ()) -> Figure:
    """The plot called `kind`; or of a column, `arrivals.delay_p99_ms`, along the key `x` with lines by other keys.

    Raises:
        ValueError: when there is no such plot, or this run does not have the data for it.
    """
    choice = Choice(kind, x, [by] if isinstance(by, str) else by) if "." in kind else None
    if choice is None and kind not in PLOTS:
        raise ValueError(f"no plot `{kind}`: there are {', '.join(PLOTS)}, and any TABLE.COLUMN{near(kind, PLOTS)}")
    if choice is None and (x or by):
        raise ValueError(f"plot `{kind}` has its own axes: x and by are for a TABLE.COLUMN")
    with style.styled():
        drawn = chosen(runs, choice) if choice else PLOTS[kind](runs)
        style.head(drawn, runs.name, choice.title if choice else about(kind))
    return drawn


def about(kind: str) -> str:
    """What a plot shows, in one line."""
    return (PLOTS[kind].__doc__ or "").strip().rstrip(".")


def plot(arguments: dict[str, Any]) -> int:
    """The verb."""
    if arguments["list"]:
        plots = {kind: about(kind) for kind in PLOTS}
        columns = listed(opened(arguments["runs"], arguments["where"])) if arguments["runs"] else []
        lines = [*(f"{kind:<12}{text}" for kind, text in plots.items()), *(f"--y {name}" for name in columns)]
        print(json.dumps({"plots": plots, "y": columns}) if arguments["json"] else "\n".join(lines))
        return 0
    kind = arguments["y"] or arguments["kind"] or "throughput"
    path = style.picture_file(Path(arguments["output"] or f"{kind}.svg"))
    runs = opened(arguments["runs"], arguments["where"])
    for note in runs.notes:
        print(f"note: {note}", file=sys.stderr)
    files.refuse(path, arguments["runs"])
    style.save(figure(kind, runs, arguments["x"], arguments["by"]), path)
    print(path)
    return 0
