"""`perhop report`: a run as one HTML page that needs no network."""

from __future__ import annotations

import io
import math
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from perhop import __version__, files, plot, units
from perhop.plots import style
from perhop.plots.grid import known
from perhop.results import Runs, opened


@dataclass(frozen=True)
class Tabled:
    """A table as the page shows it."""

    title: str
    headings: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Pictured:
    """A plot as the page shows it: inline SVG, or why there is none."""

    title: str
    svg: str
    missing: str


TABLES = {
    "traffic": ("goodput_bit_s", "goodput_mean_bit_s", "goodput_std_bit_s", "jain", "transfer_goodput_mean_bit_s"),
    "arrivals": ("throughput_bit_s", "delay_p50_ms", "delay_p99_ms", "delay_p999_ms", "jitter_p99_ms"),
    "summary": ("arrived_packets", "marked_packets", "dropped_packets", "wait_mean_ms", "wait_p99_ms"),
    "conditioners": ("packets", "bytes"),
    "links": ("delivered_packets", "dropped_packets", "utilisation"),
}
TITLES = {
    "traffic": "Traffic",
    "arrivals": "At the destination, by class and colour",
    "summary": "At each port, by class and colour",
    "conditioners": "Conditioners: colour in, colour out",
    "links": "Links",
}


def html(runs: Runs) -> str:
    """The page."""
    from jinja2 import Environment, StrictUndefined

    source = resources.files("perhop").joinpath("templates", "run.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(source)
    replications = sorted({r.replication for r in runs})
    return page.render(
        runs=runs,
        replications=len(replications),
        tables=[tabled(runs, name) for name in TABLES],
        pictures=[pictured(runs, kind) for kind in plot.PLOTS],
        version=__version__,
    )


def tabled(runs: Runs, name: str) -> Tabled:
    """Means with intervals of a table's main columns, a row for each point and row."""
    keys = units.KEYS[name]
    columns = {column: _column(runs, name, column) for column in TABLES[name]}
    groups = list(dict.fromkeys(group for found in columns.values() for group in found))
    headings = [*(["point"] if runs.keys else []), *keys]
    for column in columns:
        label, unit, _ = units.named(column)
        headings.append(f"{label}, {unit}" if unit else label)
    rows = []
    for group in groups:
        title = [runs.points[int(group[0])].title] if runs.keys else []
        rows.append([*title, *group[1:], *(found.get(group, "-") for found in columns.values())])
    return Tabled(TITLES[name], headings, rows)


def _column(runs: Runs, table: str, column: str) -> dict[tuple[str, ...], str]:
    missing = 0.0 if units.counted(column) else math.nan
    found = runs.values(table, column, by=["point", *units.KEYS[table]], missing=missing)
    factor = units.named(column)[2]
    return {group: units.estimate(known(values), factor) for group, values in found.items()}


def pictured(runs: Runs, kind: str) -> Pictured:
    """A plot as inline SVG, or the reason why this run does not have it."""
    try:
        figure = plot.figure(kind, runs)
    except ValueError as error:
        return Pictured(plot.about(kind), "", str(error))
    text = io.StringIO()
    with style.styled():
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return Pictured(plot.about(kind), svg[svg.index("<svg") :], "")


def report(arguments: dict[str, Any]) -> int:
    """The verb."""
    runs = opened(arguments["runs"])
    for note in runs.notes:
        print(f"note: {note}", file=sys.stderr)
    path = Path(arguments["output"])
    files.write(path, html(runs))
    print(path)
    return 0
