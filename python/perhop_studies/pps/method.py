"""How the files of PPS are run, and what is read off their tables.

| quantity                    | unit  | is                                                                     |
|-----------------------------|-------|------------------------------------------------------------------------|
| `X.throughput`, `X.goodput` | bit/s | traffic X over the whole run: what reaches the sink, what it hands on  |
| `X.squares`                 | -     | sum of the squares of its flows' throughput                            |
| `X.late`                    | bit/s | its throughput over 20-200 s                                           |
| `X.lost`                    | -     | packets dropped by packets sent, of all its flows                      |
| `N.source_tickets`          | 1/s   | what taggers of sources put on the packets that N sends, over 20-200 s |
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
| `L.astray`           | -       | how far the two are apart, by E, mean of the same        |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from perhop import stats
from perhop_studies.quantities import Tables, groups, sums, total
from perhop_studies.runs import Method, RunSet, Settings
from perhop_studies.settings import Reading

START, END = 20.0, 200.0
"""Seconds between which a run is taken to be settled."""

TCP = {"segments": "segments", "retransmitted": "retransmitted_segments", "timeouts": "timeouts"}
Series = Mapping[float, float]
"""Values by time, s."""


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    tcp = {name: total(tables["traffic"], column) for name, column in TCP.items()}
    return {**_flows(tables), **tcp, **_tags(tables), **_sources(tables["series"]), **_links(tables)}


def _flows(tables: Tables) -> dict[str, float]:
    found: dict[str, float] = {}
    for quantity in ("throughput", "goodput"):
        whole = sums(tables["flows"], f"{quantity}_bit_s", by="traffic")
        found |= {f"{name}.{quantity}": rate for name, rate in whole.items()}
    rates = groups(tables["flows"], "throughput_bit_s", by="traffic")
    found |= {f"{name}.squares": stats.total(x * x for x in each) for name, each in rates.items()}
    dropped, sent = (sums(tables["flows"], f"{count}_packets", by="traffic") for count in ("dropped", "sent"))
    found |= {f"{name}.lost": dropped[name] / packets if packets else 0.0 for name, packets in sent.items()}
    delivered = sums(tables["flow_series"], "delivered_bytes", by=("traffic", "t_s"))
    for name in dict.fromkeys(name for name, _ in delivered):
        found[f"{name}.late"] = 8 * (delivered[name, END] - delivered[name, START]) / (END - START)
        if (name, 1.0) in delivered:
            seconds = range(1, int(END) + 1)
            found |= {f"{name}@{t}": 8 * (delivered[name, float(t)] - delivered[name, t - 1.0]) for t in seconds}
    return found


def _tags(tables: Tables) -> dict[str, float]:
    tallies = sums(tables["tallies"], "value", by="quantity")
    kinds = ("saturated", "raised", "tagged")
    return {kind: stats.total(n for name, n in tallies.items() if name.partition("_")[0] == kind) for kind in kinds}


def _sources(series: Mapping[str, Any]) -> dict[str, float]:
    of_sources = {"conditioner": _is_source, "quantity": "emitted_tickets_s", "t_s": lambda t: t >= START}
    emitted: dict[str, dict[float, float]] = {}
    for (hop, t), value in sums(series, "value", by=("hop", "t_s"), where=of_sources).items():
        emitted.setdefault(hop.partition(" -> ")[0], {})[t] = value
    return {f"{node}.source_tickets": stats.mean(rates.values()) for node, rates in emitted.items()}


def _is_source(conditioner: str | None) -> bool:
    """`source`, and `source at S2 -> P`, where each port of a conditioner has its own settings."""
    return conditioner is not None and conditioner.partition(" ")[0] == "source"


def _links(tables: Tables) -> dict[str, float]:
    gauges, links, summary = _gauges(tables["series"]), tables["links"], tables["summary"]
    dropped, delivered, used = (
        sums(links, column, by="hop") for column in ("dropped_packets", "delivered_packets", "utilisation")
    )
    marks, forced = (sums(summary, column, by="hop") for column in ("marked_packets", "dropped_forced_packets"))
    found: dict[str, float] = {}
    for hop in (hop for hop in links["hop"] if hop in gauges):
        name, came = " - ".join(sorted(hop.split(" -> "))), dropped[hop] + delivered[hop]
        found[f"{name}.utilisation"] = used[hop]
        for quantity, packets in {"drops": dropped, "marks": marks, "forced": forced}.items():
            found[f"{name}.{quantity}"] = packets[hop] / came if packets[hop] else 0.0
        found |= {f"{name}.{quantity}": value for quantity, value in _queue(gauges[hop]).items()}
    return found


WAITING = ("queue_packets", "queue_bytes")


def _gauges(series: Mapping[str, Any]) -> dict[str, dict[str, dict[float, float]]]:
    """What the AQMs report, by hop, quantity and time; a queue's own length is not included."""
    of_aqms = {"conditioner": lambda name: name is None, "quantity": lambda name: name not in WAITING}
    found: dict[str, dict[str, dict[float, float]]] = {}
    for (hop, quantity, t), value in sums(series, "value", by=("hop", "quantity", "t_s"), where=of_aqms).items():
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
        judged = [(expected, average) for expected, average in pairs if average]
        found["expectation"] = stats.mean(expected / average for expected, average in judged)
        found["astray"] = stats.mean(abs(1 - average / e) if e else math.inf for e, average in judged)
    return found


def _settled(series: Series) -> Iterable[float]:
    return (value for t, value in series.items() if t >= START)


FIRST, BITS, LEAST, TAGS = "@pps-tagger.first-tag?", "@*.bits?", "@*.least-tag?", "@*.tags?"


def laid(_: Path, settings: Settings) -> Settings:
    """As they are, without a first tag that is too wide for the others or a least one of tags without codes."""
    wide = settings.get(FIRST, 0) > settings.get(BITS, settings.get(FIRST, 0))
    left = {FIRST: wide, LEAST: settings.get(TAGS, "linear") != "linear"}
    return {key: value for key, value in settings.items() if not left.get(key)}


METHOD = Method(measured, laid=laid)


def answer(reading: Reading, value: str, of: RunSet) -> Settings:
    """What an answer lays over a run set: also under its file's name, and how that ends, such as `sender`."""
    groups = ("all", of.name, of.scenario.stem.rpartition("-")[2], of.scenario.stem)
    return {key: given for group in groups for key, given in reading.values[value].get(group, {}).items()}
