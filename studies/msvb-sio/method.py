"""How the files of MSVB and SIO are run, and what is read off their tables.

| quantity             | unit    | is                                                            |
|----------------------|---------|---------------------------------------------------------------|
| `X.throughput`       | bit/s   | of class X: what reaches its sink                             |
| `utilisation`        | -       | share of the time the bottleneck was sending                  |
| `drops`              | -       | packets dropped at the bottleneck by packets that came        |
| `in.rate`            | bit/s   | IN packets (green) that passed the bottleneck                 |
| `in.drops`           | -       | of the IN packets that came there                             |
| `out.drops`          | -       | of all others                                                 |
| `timeouts`           | -       | of all flows                                                  |
| `queue`, `deviation` | packets | that wait: mean and standard deviation over time              |
| `below`              | -       | share of the time with fewer waiting than there is room for   |

those of `by_class`, and where a run has steps of 50 s, as Fig. 2 has:

| quantity             | unit    | is                                                            |
|----------------------|---------|---------------------------------------------------------------|
| `queue@k`            | packets | mean over step k                                              |
| `deviation@k`        | packets | standard deviation over its last 40 s                         |
| `mean@t`, `low@t`, `high@t` | packets | mean, least and most over the 2 s that end at t        |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perhop import stats
from perhop_studies.msvb_sio import by_class
from perhop_studies.quantities import Tables, sums, total
from perhop_studies.runs import Method

BOTTLENECK = "CORE -> Edge2"
HERE = {"hop": BOTTLENECK}
LIMIT, WARMUP = 100, 10.0
"""Queue length at the bottleneck, packets; what is excluded at the start, s."""
STEP, SETTLED, BIN = 50, 40, 2
"""Fig. 2: a step, the last part of it, and a bin of the queue over time, s."""
STEPS = 12


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    found = {**_classes(tables), **_bottleneck(tables), **_queue(tables["series"])}
    return {**found, **by_class.measured(tables, BOTTLENECK)}


def _classes(tables: Tables) -> dict[str, float]:
    rates = sums(tables["arrivals"], "throughput_bit_s", by="class")
    found = {f"{name}.throughput": rates[name] for name in tables["traffic"]["class"]}
    return {**found, "timeouts": total(tables["traffic"], "timeouts")}


def _bottleneck(tables: Tables) -> dict[str, float]:
    link = {name: total(tables["links"], name, where=HERE) for name in ("utilisation", "delivered_bytes", "rate_bit_s")}
    counted = ("arrived_packets", "dropped_packets", "delivered_bytes")
    arrived, dropped, delivered = (sums(tables["summary"], column, by="colour", where=HERE) for column in counted)
    others = {
        name: sum(n for colour, n in found.items() if colour != "green")
        for name, found in (("arrived", arrived), ("dropped", dropped))
    }
    return {
        "utilisation": link["utilisation"],
        "drops": _share(sum(dropped.values()), sum(arrived.values())),
        "in.rate": _share(delivered["green"], link["delivered_bytes"]) * link["utilisation"] * link["rate_bit_s"],
        "in.drops": _share(dropped["green"], arrived["green"]),
        "out.drops": _share(others["dropped"], others["arrived"]),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _queue(series: Mapping[str, Any]) -> dict[str, float]:
    mine = (series["hop"] == BOTTLENECK) & (series["quantity"] == "queue_packets")
    t, waiting = series["t_s"][mine], series["value"][mine]
    stepped = t[-1] >= STEPS * STEP
    late = waiting if stepped else waiting[t >= WARMUP]
    found = {"queue": _mean(late), "deviation": _deviation(late), "below": _mean(late < LIMIT)}
    return {**found, **_steps(t, waiting), **_bins(t, waiting)} if stepped else found


def _mean(values: Any) -> float:
    return stats.mean(values.tolist())


def _deviation(values: Any) -> float:
    centre = _mean(values)
    return math.sqrt(stats.mean(((values - centre) ** 2).tolist()))


def _steps(t: Any, waiting: Any) -> dict[str, float]:
    found: dict[str, float] = {}
    for k in range(1, STEPS + 1):
        found[f"queue@{k}"] = _mean(waiting[(t > (k - 1) * STEP) & (t <= k * STEP)])
        found[f"deviation@{k}"] = _deviation(waiting[(t > k * STEP - SETTLED) & (t <= k * STEP)])
    return found


def _bins(t: Any, waiting: Any) -> dict[str, float]:
    found: dict[str, float] = {}
    for end in range(BIN, STEPS * STEP + 1, BIN):
        here = waiting[(t > end - BIN) & (t <= end)]
        found |= {f"mean@{end}": _mean(here), f"low@{end}": float(here.min()), f"high@{end}": float(here.max())}
    return found


METHOD = Method(measured)
