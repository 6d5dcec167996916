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
| `jain`, `jain.weighted` | -    | Jain's index of the classes, and of what they have by the weights of Table 2 |
| `tcp`                | bit/s   | of classes 1 to 5 together                                    |
| `ranked`             | -       | Spearman's correlation of the UDP classes' rates and what they have |
| `wait.spread`, `wait_deviation.spread` | - | largest over smallest `X.wait`, `X.wait_deviation`  |

those of `by_class`, and where a run has steps of 50 s, as Fig. 2 has:

| quantity             | unit    | is                                                            |
|----------------------|---------|---------------------------------------------------------------|
| `queue@k`            | packets | mean over step k                                              |
| `deviation@k`        | packets | standard deviation over its last 40 s                         |
| `mean@t`, `low@t`, `high@t` | packets | mean, least and most over the 2 s that end at t        |
| `rise`               | packets | Delta: mean at 300 flows less mean at the first 50            |
| `range`              | packets | largest step mean less the smallest                           |
| `rank`, `slope`      | -, packets a flow | Spearman's correlation of flows and step means, and their slope |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perhop import stats
from perhop_studies import measures
from perhop_studies.msvb_sio import by_class
from perhop_studies.msvb_sio.terms import CLASSES, FLOWS, TCP, UDP, WEIGHTS
from perhop_studies.quantities import Tables, sums, total
from perhop_studies.runs import Method

BOTTLENECK = "CORE -> Edge2"
HERE = {"hop": BOTTLENECK}
LIMIT, WARMUP = 100, 10.0
"""Queue length at the bottleneck, packets; what is excluded at the start, s."""
STEP, SETTLED, BIN = 50, 40, 2
"""Fig. 2: a step, the last part of it, and a bin of the queue over time, s."""
STEPS = len(FLOWS)


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    found = {**_classes(tables), **_bottleneck(tables), **_queue(tables["series"])}
    found |= by_class.measured(tables, BOTTLENECK)
    return {**found, **derived(found)}


def _classes(tables: Tables) -> dict[str, float]:
    rates = sums(tables["arrivals"], "throughput_bit_s", by="class")
    found = {f"{name}.throughput": rates[name] for name in tables["traffic"]["class"]}
    return {**found, "timeouts": total(tables["traffic"], "timeouts")}


def _bottleneck(tables: Tables) -> dict[str, float]:
    link = {name: total(tables["links"], name, where=HERE) for name in ("utilisation", "delivered_bytes", "rate_bit_s")}
    counted = ("arrived_packets", "dropped_packets", "delivered_bytes")
    arrived, dropped, delivered = (sums(tables["summary"], column, by="colour", where=HERE) for column in counted)
    came, lost = (sum(n for colour, n in found.items() if colour != "green") for found in (arrived, dropped))
    return {
        "utilisation": link["utilisation"],
        "drops": _share(sum(dropped.values()), sum(arrived.values())),
        "in.rate": _share(delivered["green"], link["delivered_bytes"]) * link["utilisation"] * link["rate_bit_s"],
        "in.drops": _share(dropped["green"], arrived["green"]),
        "out.drops": _share(lost, came),
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


def derived(found: Mapping[str, float]) -> dict[str, float]:
    """What follows from the other quantities of a replication."""
    rates = [found.get(f"{name}.throughput", 0.0) for name in CLASSES]
    weighted = [rate / weight for rate, weight in zip(rates, WEIGHTS.values(), strict=True)]
    shared = {
        "jain": measures.jain(rates),
        "jain.weighted": measures.jain(weighted),
        "tcp": stats.total(rates[: len(TCP)]),
    }
    shared["ranked"] = round(measures.spearman(range(len(UDP)), rates[len(TCP) :]), 12)
    return {**shared, **_spread(found, "wait"), **_spread(found, "wait_deviation"), **_load(found)}


def _spread(found: Mapping[str, float], quantity: str) -> dict[str, float]:
    waits = [found.get(f"{name}.{quantity}", 0.0) for name in CLASSES]
    return {f"{quantity}.spread": max(waits) / min(waits)} if min(waits) > 0 else {}


def _load(found: Mapping[str, float]) -> dict[str, float]:
    if "queue@1" not in found:
        return {}
    means = [found[f"queue@{k}"] for k in range(1, STEPS + 1)]
    return {
        "rise": means[FLOWS.index(max(FLOWS))] - means[0],
        "range": max(means) - min(means),
        "rank": measures.spearman(FLOWS, means),
        "slope": measures.slope(FLOWS, means),
    }


METHOD = Method(measured)
