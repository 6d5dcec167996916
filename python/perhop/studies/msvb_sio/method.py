"""How the files of MSVB and SIO are run, and what is read off their tables.

Settings of `runs.toml` and `readings.toml` may name a queue in the place of a section: `svb.v0` is v0 of the
bottleneck's queue where that is SVB's.

| quantity             | unit    | is                                                            |
|----------------------|---------|---------------------------------------------------------------|
| `X.throughput`       | bit/s   | of class X: what reaches its sink                             |
| `utilisation`        | -       | share of the time the bottleneck was sending                  |
| `drops`              | -       | packets dropped at the bottleneck by packets that came        |
| `in.rate`            | bit/s   | IN packets (green) that passed the bottleneck                 |
| `in.drops`           | -       | of the IN packets that came there                             |
| `out.drops`          | -       | of all others                                                 |
| `queue`, `deviation` | packets | that wait: mean and standard deviation over time              |
| `timeouts`           | -       | of all flows                                                  |
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from perhop.studies import runs as simulation
from perhop.studies.runs import Job, Method, RunSet, Settings
from perhop.studies.samples import Tables, real

BOTTLENECK, QUEUE = "CORE -> Edge2", "queue.bottleneck"
SCHEMES = ("red", "svb", "fred", "rio", "sio", "msvb")


def overrides(chosen: RunSet, settings: Settings) -> list[str]:
    """Settings as the command line would write them; those of another queue than the bottleneck's are left out."""
    queue = settings.get(QUEUE, _stated(chosen.scenario)["queue"]["bottleneck"])
    laid = {}
    for key, value in settings.items():
        kind, _, name = key.partition(".")
        if kind not in SCHEMES:
            laid[key] = value
        elif kind == queue["aqm"]:
            laid[f"{QUEUE}.{name}"] = value
    first = {key: value for key, value in laid.items() if key == QUEUE}
    return simulation.plain(chosen, {**first, **laid})


@cache
def _stated(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def measured(_: Job, __: Mapping[str, Any], tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    return {**_classes(tables), **_bottleneck(tables), **_queue(tables["series"])}


def _classes(tables: Tables) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    arrivals = tables["arrivals"]
    for name, rate in zip(arrivals["class"], arrivals["throughput_bit_s"], strict=True):
        found[f"{name}.throughput"] += real(rate)
    found["timeouts"] = float(sum(tables["traffic"]["timeouts"]))
    return found


def _bottleneck(tables: Tables) -> dict[str, float]:
    links = tables["links"]
    i = list(links["hop"]).index(BOTTLENECK)
    green, others = _fates(tables["summary"], green=True), _fates(tables["summary"], green=False)
    seconds = real(links["delivered_bytes"][i]) * 8 / real(links["rate_bit_s"][i]) / real(links["utilisation"][i])
    return {
        "utilisation": real(links["utilisation"][i]),
        "drops": _share(green["dropped"] + others["dropped"], green["arrived"] + others["arrived"]),
        "in.rate": 8 * green["delivered"] / seconds,
        "in.drops": _share(green["dropped"], green["arrived"]),
        "out.drops": _share(others["dropped"], others["arrived"]),
    }


def _fates(summary: Mapping[str, Any], *, green: bool) -> dict[str, float]:
    """Packets that came to the bottleneck and were dropped, bytes that passed."""
    columns = ("hop", "colour", "arrived_packets", "dropped_packets", "delivered_bytes")
    found = {"arrived": 0.0, "dropped": 0.0, "delivered": 0.0}
    for hop, colour, arrived, dropped, delivered in zip(*(summary[c] for c in columns), strict=True):
        if hop == BOTTLENECK and (colour == "green") == green:
            found["arrived"] += real(arrived)
            found["dropped"] += real(dropped)
            found["delivered"] += real(delivered)
    return found


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _queue(series: Mapping[str, Any]) -> dict[str, float]:
    mine = (series["hop"] == BOTTLENECK) & (series["quantity"] == "queue_packets") & (series["t_s"] >= 10)
    waiting = series["value"][mine]
    return {"queue": float(waiting.mean()), "deviation": math.sqrt(float(waiting.var()))}


METHOD = Method(measured, overrides=overrides)
