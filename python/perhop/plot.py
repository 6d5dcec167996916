"""`perhop plot`: named plots of any run, as PNG, SVG or PDF."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from perhop import files, units
from perhop.arguments import checked
from perhop.plots import delays, grid, packets, series, stacked, style
from perhop.plots.choice import Choice, chosen, listed, titled
from perhop.plots.grid import Kind, Quantity
from perhop.plots.sheet import NATURAL, Look, PlotRequest, Sheet
from perhop.plots.style import Figure
from perhop.results import Results, opened
from perhop.show import near


def throughput(runs: Results, sheet: Sheet) -> Figure:
    """Goodput of each traffic, and of one of its flows where it has several."""
    alone = (runs.table("traffic")["flows"] < 2).all()
    return _facets(runs, "traffic", ("goodput_bit_s",) if alone else ("goodput_bit_s", "goodput_mean_bit_s"), sheet)


def fairness(runs: Results, sheet: Sheet) -> Figure:
    """Jain's index over the flows of each traffic: 1 means all equal."""
    return grid.facets(runs, _shared, UNFAIR, sheet)


def delay(runs: Results, sheet: Sheet) -> Figure:
    """Median, 99 % and 99.9 % quantile of the delay to the destination."""
    return _facets(runs, "arrivals", ("delay_p50_ms", "delay_p99_ms", "delay_p999_ms"), sheet)


UNFAIR = Kind(units.KEYS["traffic"], "those with the least fair flows", least=True)


def _facets(runs: Results, table: str, names: Sequence[str], sheet: Sheet) -> Figure:
    """A column of panels for each column of a table."""
    return grid.facets(runs, partial(_measured, table, names), Kind(units.KEYS[table]), sheet)


def _measured(table: str, names: Sequence[str], runs: Results) -> list[Quantity]:
    quantities, by = [], [*runs.keys, *units.KEYS[table]]
    for column in (units.COLUMNS[table, name] for name in names):
        found, (unit, factor) = runs.values(table, column.name, by=by, missing=math.nan), column.usual
        quantities.append(Quantity(units.headed(runs.points, column, unit), found, column, factor))
    return quantities


def _shared(runs: Results) -> list[Quantity]:
    """Jain's index of the traffic that has several flows: of one it is 1."""
    table = runs.table("traffic")
    several = {str(name) for name, flows in zip(table["traffic"], table["flows"], strict=True) if flows > 1}
    if not several:
        raise ValueError("nothing to show: each traffic of this run has one flow, and Jain's index is over several")
    every = _measured("traffic", ("jain",), runs)
    return [
        replace(of, values={g: v for g, v in of.values.items() if g[-1] in several and not np.isnan(v).all()})
        for of in every
    ]


PLOTS: dict[str, Callable[[Results, Sheet], Figure]] = {
    "delivered": stacked.delivered,
    "throughput": throughput,
    "fairness": fairness,
    "delay": delay,
    "cdf": delays.cdf,
    "box": delays.box,
    "colours": packets.colours,
    "drops": packets.drops,
    "over-time": series.over_time,
    "delay-over-time": series.delay_over_time,
    "queue": series.queue,
    "bucket": series.bucket,
}

DEFAULT = "delivered"


@checked
def figure(
    kind: str, runs: Results, x: str | None = None, by: str | Sequence[str] = (), look: Look = NATURAL
) -> Figure:
    """The plot called `kind`; or of a column, `arrivals.delay_p99_ms`, along the key `x` with lines by other keys.

    Raises:
        ValueError: when there is no such plot, this run does not have the data for it, or it would be illegible.
    """
    return drawn(runs, Sheet(look, PlotRequest(kind, x, [by] if isinstance(by, str) else by)))


def drawn(runs: Results, sheet: Sheet) -> Figure:
    """The picture that is asked for; the sheet then has what it leaves out."""
    kind, x, by = sheet.asked.kind, sheet.asked.x, sheet.asked.by
    choice = Choice(kind, x, by) if "." in kind else None
    if choice is None and kind not in PLOTS:
        raise ValueError(f"no plot `{kind}`: there are {', '.join(PLOTS)}, and any TABLE.COLUMN{near(kind, PLOTS)}")
    if choice is None and (x or by):
        raise ValueError(f"plot `{kind}` has its own axes: x and by are for a TABLE.COLUMN")
    with style.styled():
        made = chosen(runs, choice, sheet) if choice else PLOTS[kind](runs, sheet)
        style.head(made, runs.name, titled(choice) if choice else about(kind), sheet)
    return made


def about(kind: str) -> str:
    """What a plot shows, in one line."""
    return (PLOTS[kind].__doc__ or "").strip().rstrip(".")


def plot(arguments: dict[str, Any]) -> int:
    """The verb."""
    if arguments["list"]:
        plots = {kind: about(kind) for kind in PLOTS}
        columns = listed(opened(arguments["runs"], arguments["where"])) if arguments["runs"] else []
        lines = [*(f"{kind:<17}{text}" for kind, text in plots.items()), *(f"--y {name}" for name in columns)]
        print(json.dumps({"plots": plots, "y": columns}) if arguments["json"] else "\n".join(lines))
        return 0
    kind = arguments["y"] or arguments["kind"] or DEFAULT
    asked = PlotRequest(kind, arguments["x"], arguments["by"], arguments["runs"], arguments["where"])
    sheet = Sheet(Look(*(arguments[name] for name in ("title", "width", "height", "log_y"))), asked)
    path = style.picture_file(Path(arguments["output"] or f"{asked.kind}.svg"))
    runs = opened(arguments["runs"], arguments["where"])
    files.refuse(path, arguments["runs"])
    _note(runs.notes)
    made = drawn(runs, sheet)
    _note(sheet.notes)
    style.save(made, path)
    print(path)
    return 0


def _note(notes: Sequence[object]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
