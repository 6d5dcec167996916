"""How the files of PPS are run, and what is read off their tables.

| quantity                    | unit  | is                                                                     |
|-----------------------------|-------|------------------------------------------------------------------------|
| `X.throughput`, `X.goodput` | bit/s | traffic X over the whole run: what reaches the sink, what it hands on  |
| `X.late`                    | bit/s | its throughput over 20-200 s                                           |
| `X@t`                       | bit/s | the same in the second that ends at t, where each second is sampled    |
| `saturated`, `raised`       | tags  | that wanted more than the last code, or less than the first            |
| `tagged`                    | tags  | put on packets                                                         |
| `segments`, `retransmitted` | -     | TCP segments of all flows: sent, and of these sent again               |
| `timeouts`                  | -     | time-outs of all flows                                                 |

and of each link with an AQM, called `P - Q` whichever way the packets go:

| quantity             | unit    | is                                                       |
|----------------------|---------|----------------------------------------------------------|
| `L.utilisation`      | -       | share of the time it was sending                         |
| `L.drops`            | -       | packets dropped by packets that came                     |
| `L.forced`           | -       | those dropped for an average beyond max, by the same     |
| `L.marks`            | -       | packets marked (ECN) by the same                         |
| `L.queue`            | packets | the AQM's average queue, mean of the samples over 20-200 s |
| `L.queue_deviation`  | packets | its standard deviation over these samples                |
| `L.expectation`      | -       | E by the average tickets of a packet, mean of the same   |
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perhop import stats
from perhop.studies.runs import Method
from perhop.studies.samples import Tables, real

START, END = 20.0, 200.0
"""Seconds between which a run is taken to be settled."""

Series = Mapping[float, float]
"""Values by time, s."""


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    return {**_flows(tables), **_tcp(tables), **_tags(tables), **_links(tables)}


def _flows(tables: Tables) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    flows = tables["flows"]
    for i, name in enumerate(flows["traffic"]):
        found[f"{name}.throughput"] += real(flows["throughput_bit_s"][i])
        found[f"{name}.goodput"] += real(flows["goodput_bit_s"][i])
    for name, delivered in _delivered(tables).items():
        found[f"{name}.late"] = 8 * (delivered[END] - delivered[START]) / (END - START)
        found.update(_seconds(name, delivered))
    return found


TCP = {"segments": "segments", "retransmitted": "retransmitted_segments", "timeouts": "timeouts"}


def _tcp(tables: Tables) -> dict[str, float]:
    return {name: float(sum(tables["traffic"][column])) for name, column in TCP.items()}


def _delivered(tables: Tables) -> dict[str, dict[float, float]]:
    """Bytes that have reached the sink, by traffic and time."""
    found: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    series = tables["flow_series"]
    for t, name, size in zip(*(series[c].tolist() for c in ("t_s", "traffic", "delivered_bytes")), strict=True):
        found[name][t] += size
    return found


def _seconds(name: str, delivered: Series) -> Iterator[tuple[str, float]]:
    if 1.0 in delivered:
        for t in range(1, int(END) + 1):
            yield f"{name}@{t}", 8 * (delivered[float(t)] - delivered[float(t - 1)])


def _tags(tables: Tables) -> dict[str, float]:
    tallies = tables["tallies"]
    totals: dict[str, float] = dict.fromkeys(("saturated", "raised", "tagged"), 0.0)
    for quantity, value in zip(tallies["quantity"], tallies["value"], strict=True):
        name = quantity.partition("_")[0]
        if name in totals:
            totals[name] += real(value)
    return totals


def _links(tables: Tables) -> dict[str, float]:
    gauges, links, queues = _gauges(tables["series"]), tables["links"], _queues(tables["summary"])
    found: dict[str, float] = {}
    for i, hop in enumerate(links["hop"]):
        if hop in gauges:
            name = " - ".join(sorted(hop.split(" -> ")))
            dropped, delivered = real(links["dropped_packets"][i]), real(links["delivered_packets"][i])
            found[f"{name}.utilisation"] = real(links["utilisation"][i])
            found[f"{name}.drops"] = dropped / (dropped + delivered) if dropped else 0.0
            for quantity, packets in queues[hop].items():
                found[f"{name}.{quantity}"] = packets / (dropped + delivered) if packets else 0.0
            found |= {f"{name}.{quantity}": value for quantity, value in _queue(gauges[hop]).items()}
    return found


def _queues(summary: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Packets marked, and dropped beyond the maximum, by hop."""
    columns = ("hop", "marked_packets", "dropped_forced_packets")
    found: dict[str, dict[str, float]] = defaultdict(lambda: {"marks": 0.0, "forced": 0.0})
    for hop, marked, forced in zip(*(summary[c] for c in columns), strict=True):
        found[hop]["marks"] += real(marked)
        found[hop]["forced"] += real(forced)
    return found


def _gauges(series: Mapping[str, Any]) -> dict[str, dict[str, dict[float, float]]]:
    """What the AQMs report, by hop, quantity and time; a queue's own length is not included."""
    found: dict[str, dict[str, dict[float, float]]] = {}
    columns = ("t_s", "hop", "conditioner", "quantity", "value")
    for t, hop, conditioner, quantity, value in zip(*(series[c].tolist() for c in columns), strict=True):
        if conditioner is None and quantity not in ("queue_packets", "queue_bytes"):
            found.setdefault(hop, {}).setdefault(quantity, {})[t] = value
    return found


def _queue(gauges: Mapping[str, Series]) -> dict[str, float]:
    found = {}
    if "avg_queue_packets" in gauges:
        average = list(_settled(gauges["avg_queue_packets"]))
        centre = stats.mean(average)
        found["queue"] = centre
        found["queue_deviation"] = math.sqrt(stats.mean((q - centre) ** 2 for q in average))
    if "expected_tickets" in gauges:
        pairs = zip(_settled(gauges["expected_tickets"]), _settled(gauges["average_tickets"]), strict=True)
        found["expectation"] = stats.mean(expected / average for expected, average in pairs if average)
    return found


def _settled(series: Series) -> Iterable[float]:
    return (value for t, value in series.items() if t >= START)


METHOD = Method(measured)
