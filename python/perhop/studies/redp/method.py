"""What is read off the tables of one REDP run. Rates in kbit/s.

| quantity                    | unit    | is                                                                 |
|-----------------------------|---------|--------------------------------------------------------------------|
| `X.C`, `X.total`            | kbit/s  | of flow X, in colour C, as received                                |
| `X.left`                    | kbit/s  | green of flow X that left the first boundary's marker              |
| `C`, `total`                | kbit/s  | of all flows                                                       |
| `std.C`, `std.total`        | kbit/s  | population standard deviation over the flows                       |
| `least.C`                   | kbit/s  | the smallest of the flows                                          |
| `timeouts`                  | -       | of all flows                                                       |
| `R.in.C`, `R.out.C`         | kbit/s  | into and out of the marker of edge router R                        |
| `R.C>D`                     | packets | came to it in colour C, left in D (or `dropped`)                   |
| `R.demoted` and so on       | packets | the marker's tallies                                               |
| `at.R.C`                    | packets | that came to core router R's link over 1.2 Mbit/s in colour C      |
| `lost.R.C`, `lost.R.reason` | packets | dropped there, by colour; by reason                                |
| `sink.C`                    | packets | received                                                           |
| `leaf.C`                    | packets | sent by the hosts, marked by the leaf markers                      |

and where the queue is sampled each 10 ms those of `queues`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from perhop import stats
from perhop.studies.redp import queues
from perhop.studies.runs import Method
from perhop.studies.samples import Tables, real

COLOURS = ("green", "yellow", "red")
KINDS = (*COLOURS, "total")
REASONS = ("early", "forced", "overflow")
CORES = ("CR1", "CR2")
"""Routers with RIO; T4 has the first alone."""


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    seconds = _seconds(tables["arrivals"])
    found = {**_received(tables), **_markers(tables, seconds), **_hops(tables, seconds)}
    found["timeouts"] = math.fsum(real(n) for n in tables["traffic"]["timeouts"])
    return {**found, **queues.measured(tables["series"])}


def _seconds(arrivals: Mapping[str, Any]) -> float:
    """The time measured."""
    sent = 8 * stats.total(arrivals["delivered_bytes"])
    return sent / stats.total(arrivals["throughput_bit_s"])


def _received(tables: Tables) -> dict[str, float]:
    arrivals = tables["arrivals"]
    rates = {name: dict.fromkeys(KINDS, 0.0) for name in tables["traffic"]["class"]}
    sink = dict.fromkeys(COLOURS, 0.0)
    columns = ("class", "colour", "throughput_bit_s", "delivered_packets")
    for name, colour, rate, packets in zip(*(arrivals[c] for c in columns), strict=True):
        rates[name]["total"] += real(rate) / 1000
        if colour in sink:
            rates[name][colour] += real(rate) / 1000
            sink[colour] += real(packets)
    found = {f"{name}.{kind}": rate for name, mine in rates.items() for kind, rate in mine.items()}
    return {**found, **_together(rates), **{f"sink.{colour}": n for colour, n in sink.items()}}


def _together(rates: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind in KINDS:
        each = [mine[kind] for mine in rates.values()]
        found |= {kind: stats.total(each), f"std.{kind}": spread(each), f"least.{kind}": min(each)}
    return found


def spread(values: list[float]) -> float:
    """The population standard deviation."""
    centre = stats.mean(values)
    return math.sqrt(stats.mean([(x - centre) ** 2 for x in values]))


def _markers(tables: Tables, seconds: float) -> dict[str, float]:
    rows, found = tables["conditioners"], defaultdict[str, float](float)
    columns = ("hop", "conditioner", "colour_in", "colour_out", "packets", "bytes")
    for hop, name, before, after, packets, size in zip(*(rows[c] for c in columns), strict=True):
        if name.split()[0] == "boundary":
            router, rate = hop.split()[0], 8 * real(size) / seconds / 1000
            found[f"{router}.in.{before}"] += rate
            found[f"{router}.out.{after}"] += rate
            found[f"{router}.{before}>{after}"] += real(packets)
        else:
            found[f"leaf.{after}"] += real(packets)
    tallies = tables["tallies"]
    for hop, name, quantity, value in zip(
        *(tallies[c] for c in ("hop", "conditioner", "quantity", "value")), strict=True
    ):
        if name.split()[0] == "boundary":
            found[f"{hop.split()[0]}.{quantity}"] = real(value)
    return dict(found)


def _hops(tables: Tables, seconds: float) -> dict[str, float]:
    """What left the first marker, flow by flow, and what became of packets at the links of 1.2 Mbit/s."""
    rows, found = tables["summary"], defaultdict[str, float](float)
    columns = ("hop", "class", "colour", "arrived_packets", "dropped_packets", "queued_bytes")
    losses = [rows[f"dropped_{reason}_packets"] for reason in REASONS]
    for hop, name, colour, arrived, dropped, size, *by in zip(*(rows[c] for c in columns), *losses, strict=True):
        source, _, sink = hop.partition(" -> ")
        if source in ("ER", "ER1") and sink == "CR1" and colour == "green":
            found[f"{name}.left"] += 8 * real(size) / seconds / 1000
        if source in CORES and colour in COLOURS:
            found[f"at.{source}.{colour}"] += real(arrived)
            found[f"lost.{source}.{colour}"] += real(dropped)
            for reason, n in zip(REASONS, by, strict=True):
                found[f"lost.{source}.{reason}"] += real(n)
    return dict(found)


METHOD = Method(measured)
