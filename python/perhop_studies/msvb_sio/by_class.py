"""What is read off the tables of one run for each class, and by the second.

| quantity                     | unit    | is                                                                    |
|------------------------------|---------|-----------------------------------------------------------------------|
| `X.wait`, `X.wait_deviation` | ms      | of class X's packets at the bottleneck, those that did not wait included |
| `X.drops`                    | -       | of its packets that came there, dropped                               |
| `X@t`                        | bit/s   | what reached its sink in the second that ends at t, where flows are sampled |
| `threshold@t`                | packets | OUT's threshold of SIO at t, by the same                              |
| `silences`                   | -       | how many times a class was taken to be silent, where MSVB looks       |
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from perhop_studies.quantities import Tables, real, sums


def measured(tables: Tables, hop: str) -> dict[str, float]:
    """All of the above."""
    summary = tables["summary"]
    by_time = {**_seconds(tables), **_thresholds(tables["series"], hop)}
    return {**_waits(summary, hop), **_lost(summary, hop), **by_time, **_silences(tables["tallies"])}


def _waits(summary: Mapping[str, Any], bottleneck: str) -> dict[str, float]:
    """Of a class's packets of all colours together."""
    moments: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    columns = ("hop", "class", "delivered_packets", "wait_mean_ms", "wait_sd_ms")
    for hop, name, packets, mean, deviation in zip(*(summary[c] for c in columns), strict=True):
        if hop == bottleneck and packets:
            sums = (1.0, real(mean), real(mean) ** 2 + real(deviation) ** 2)
            moments[name] = [a + packets * b for a, b in zip(moments[name], sums, strict=True)]
    found = {}
    for name, (n, total, squares) in moments.items():
        found[f"{name}.wait"] = total / n
        found[f"{name}.wait_deviation"] = math.sqrt(max(0.0, squares / n - (total / n) ** 2))
    return found


def _lost(summary: Mapping[str, Any], bottleneck: str) -> dict[str, float]:
    columns = ("arrived_packets", "dropped_packets")
    arrived, dropped = (sums(summary, column, by="class", where={"hop": bottleneck}) for column in columns)
    return {f"{name}.drops": dropped[name] / n if n else 0.0 for name, n in arrived.items()}


def _seconds(tables: Tables) -> dict[str, float]:
    series, flows = tables["flow_series"], tables["flows"]
    of = dict(zip(flows["traffic"], flows["class"], strict=True))
    names, places = np.unique(series["traffic"], return_inverse=True)
    whole, seconds = _whole(series["t_s"])
    bits: dict[str, Any] = defaultdict(lambda: 0)
    for i, name in enumerate(names):
        mine = whole & (places == i)
        bits[of[name]] += 8 * np.bincount(seconds[mine], series["delivered_bytes"][mine])
    return {f"{name}@{t + 1}": float(x) for name, sent in bits.items() for t, x in enumerate(np.diff(sent))}


def _thresholds(series: Mapping[str, Any], bottleneck: str) -> dict[str, float]:
    whole, seconds = _whole(series["t_s"])
    mine = whole & (series["hop"] == bottleneck) & (series["quantity"] == "threshold_out_packets")
    return {f"threshold@{t}": float(value) for t, value in zip(seconds[mine], series["value"][mine], strict=True)}


def _whole(times: Any) -> tuple[Any, Any]:
    """Which samples are at whole seconds, and at which."""
    seconds = np.round(times).astype(int)
    return np.isclose(times, seconds), seconds


def _silences(tallies: Mapping[str, Any]) -> dict[str, float]:
    counted = zip(tallies["quantity"], tallies["value"], strict=True)
    return {quantity: float(value) for quantity, value in counted if quantity == "silences"}
