"""Queues and buckets over time, in the first replication of a point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from perhop.columns import Columns, Point
from perhop.plots import style
from perhop.results import Runs

MOST_POINTS = 6

Line = tuple[str, str | None, str]
"""Hop, conditioner, quantity."""


def queue(runs: Runs) -> Figure:
    """Packets waiting and their average at the ports where two ever waited at once, by queue where it has several."""
    return _over_time(runs, _of_queues, "packets waiting")


def bucket(runs: Runs) -> Figure:
    """Tokens of every conditioner's buckets."""
    return _over_time(runs, _of_buckets, "tokens, B")


def _of_queues(lines: dict[Line, Columns]) -> dict[Line, Columns]:
    used = {hop for (hop, _, what), line in lines.items() if what == "queue_packets" and line["value"].max() > 1}
    shown = {"queue_packets", "avg_queue_packets", "packets"}
    return {key: line for key, line in lines.items() if key[0] in used and key[2].split(".")[-1] in shown}


def _of_buckets(lines: dict[Line, Columns]) -> dict[Line, Columns]:
    return {key: line for key, line in lines.items() if key[1] and "bucket" in key[2]}


def _over_time(runs: Runs, choose: Callable[[dict[Line, Columns]], dict[Line, Columns]], unit: str) -> Figure:
    if "series" not in runs.tables or not len(runs.table("series")["t_s"]):
        raise ValueError("this run has no series: run it again with --trace series, or with `sample` in [scenario]")
    if len(runs.points) > MOST_POINTS:
        raise ValueError(f"{len(runs.points)} points are too many over time: name one point's directory")
    figure, panels = style.panels(len(runs.points))
    for axes, (i, point) in zip(panels, enumerate(runs.points), strict=True):
        chosen = choose(_lines(runs, i))
        for (hop, conditioner, what), line in chosen.items():
            axes.plot(line["t_s"], line["value"], linewidth=0.9, label=_label(hop, conditioner, what))
        axes.set_title(_title(point), loc="left")
        axes.set_ylabel(unit)
        axes.set_xlabel("time, s")
        if not chosen:
            axes.text(0.5, 0.5, "nothing to show", ha="center", transform=axes.transAxes)
            continue
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _label(hop: str, conditioner: str | None, what: str) -> str:
    quantity = what.removesuffix("_packets").removesuffix("_bytes").replace("_", " ")
    return f"{conditioner} at {hop}: {quantity}" if conditioner else f"{hop}: {quantity}"


def _title(point: Point) -> str:
    return f"{point.title}, first replication" if point.title else "first replication"


def _lines(runs: Runs, point: int) -> dict[Line, Columns]:
    table = runs.table("series")
    first = table["replication"][table["point"] == point].min(initial=np.iinfo(np.int64).max)
    rows = np.flatnonzero((table["point"] == point) & (table["replication"] == first))
    keys: dict[Line, list[int]] = {}
    for i in rows:
        keys.setdefault((table["hop"][i], table["conditioner"][i], table["quantity"][i]), []).append(int(i))
    return {key: {name: table[name][at] for name in ("t_s", "value")} for key, at in keys.items()}
