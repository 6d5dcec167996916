"""`perhop plot`: named plots of any run, as PNG, SVG or PDF."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop.plots import packets, rates, series, stacked, style
from perhop.plots.choice import Choice, listed
from perhop.plots.choice import chosen as column_along
from perhop.results import Runs, opened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS: dict[str, Callable[[Runs], Figure]] = {
    "delivered": stacked.delivered,
    "throughput": rates.throughput,
    "fairness": rates.fairness,
    "delay": rates.delay,
    "colours": packets.colours,
    "drops": packets.drops,
    "over-time": series.over_time,
    "queue": series.queue,
    "bucket": series.bucket,
}


def figure(kind: str, runs: Runs) -> Figure:
    """The plot called `kind`.

    Raises:
        ValueError: when there is no such plot, or this run does not have the data for it.
    """
    if kind not in PLOTS:
        raise ValueError(f"no plot `{kind}`: there are {', '.join(PLOTS)}")
    with style.styled():
        drawn = PLOTS[kind](runs)
        style.head(drawn, runs.name, about(kind))
    return drawn


def about(kind: str) -> str:
    """What a plot shows, in one line."""
    return (PLOTS[kind].__doc__ or "").strip().rstrip(".")


def chosen(runs: Runs, choice: Choice) -> Figure:
    """The plot of any column of a table; see `choice.chosen`."""
    with style.styled():
        drawn = column_along(runs, choice)
        style.head(drawn, runs.name, choice.title)
    return drawn


def plot(arguments: dict[str, Any]) -> int:
    """The verb."""
    if arguments["list"]:
        for kind in PLOTS:
            print(f"{kind:<12}{about(kind)}")
        for name in listed(opened(arguments["runs"])) if arguments["runs"] else []:
            print(f"--y {name}")
        return 0
    kind, y = arguments["kind"] or "throughput", arguments["y"]
    path = Path(arguments["output"] or f"{y or kind}.svg")
    if path.suffix.lower() not in style.FORMATS:
        raise ValueError(f"{path}: a picture's name ends with {', '.join(style.FORMATS)}")
    runs = opened(arguments["runs"])
    for note in runs.notes:
        print(f"note: {note}", file=sys.stderr)
    style.save(chosen(runs, Choice(y, arguments["x"], arguments["by"])) if y else figure(kind, runs), path)
    print(path)
    return 0
