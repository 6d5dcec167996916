"""What is read off the tables of one REDP run. Rates in kbit/s.

| quantity                    | unit    | is                                                                 |
|-----------------------------|---------|--------------------------------------------------------------------|
| `X.C`, `X.total`            | kbit/s  | of flow X, in colour C, as received                                |
| `X.left`                    | kbit/s  | green of flow X that left the first boundary's marker              |
| `X.promoted`                | kbit/s  | green of flow X that left ER2, less what came to it green          |
| `C`, `total`                | kbit/s  | of all flows                                                       |
| `std.C`, `std.total`        | kbit/s  | population standard deviation over the flows                       |
| `least.C`                   | kbit/s  | the smallest of the flows                                          |
| `timeouts`                  | -       | of all flows                                                       |
| `seconds`                   | s       | measured                                                           |
| `R.in.C`, `R.out.C`         | kbit/s  | into and out of the marker of edge router R                        |
| `R.C>D`                     | packets | came to it in colour C, left in D (or `dropped`)                   |
| `R.demoted` and so on       | packets | the marker's tallies                                               |
| `at.R.C`                    | packets | that came to core router R's link over 1.2 Mbit/s in colour C      |
| `lost.R.C`, `lost.R.reason` | packets | dropped there, by colour; by reason                                |
| `sink.C`                    | packets | received                                                           |
| `leaf.C`                    | packets | sent by the hosts, marked by the leaf markers                      |

and where the queue is sampled each 10 ms those of `queues`.

Decision: docs/decisions/101-the-kindest-reading-is-not-frozen.md
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from perhop import stats
from perhop_studies.quantities import Columns, Tables, sums, total
from perhop_studies.readings import Reading
from perhop_studies.redp import queues
from perhop_studies.runs import Method, RunSet, Settings

COLOURS = ("green", "yellow", "red")
KINDS = (*COLOURS, "total")
REASONS = ("early", "forced", "overflow")
CORES = ("CR1", "CR2")
"""Routers with RIO; T4 has the first alone."""


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    seconds = _seconds(tables["arrivals"])
    found = {**_received(tables), **_markers(tables, seconds), **_hops(tables, seconds)}
    found |= {"seconds": seconds, "timeouts": total(tables["traffic"], "timeouts")}
    return {**found, **queues.measured(tables["series"], seconds)}


def _seconds(arrivals: Mapping[str, Any]) -> float:
    """The time measured."""
    return 8 * total(arrivals, "delivered_bytes") / total(arrivals, "throughput_bit_s")


def _received(tables: Tables) -> dict[str, float]:
    arrivals = tables["arrivals"]
    whole, coloured = (sums(arrivals, "throughput_bit_s", by=by) for by in ("class", ("class", "colour")))
    rates = {
        name: {**{colour: coloured[name, colour] / 1000 for colour in COLOURS}, "total": whole[name] / 1000}
        for name in tables["traffic"]["class"]
    }
    sink = sums(arrivals, "delivered_packets", by="colour")
    found = {f"{name}.{kind}": rate for name, mine in rates.items() for kind, rate in mine.items()}
    return {**found, **_together(rates), **{f"sink.{colour}": sink[colour] for colour in COLOURS}}


def _together(rates: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    found = dict[str, float]()
    for kind in KINDS:
        flows = [mine[kind] for mine in rates.values()]
        found |= {kind: stats.total(flows), f"std.{kind}": spread(flows), f"least.{kind}": min(flows)}
    return found


def spread(values: list[float]) -> float:
    """The population standard deviation."""
    centre = stats.mean(values)
    return math.sqrt(stats.mean([(x - centre) ** 2 for x in values]))


def _markers(tables: Tables, seconds: float) -> dict[str, float]:
    rows, found = tables["conditioners"], dict[str, float]()
    for side, colour in {"in": "colour_in", "out": "colour_out"}.items():
        sizes = sums(rows, "bytes", by={"hop": _router, colour: str}, where=BOUNDARY)
        found |= {f"{router}.{side}.{c}": 8 * size / seconds / 1000 for (router, c), size in sizes.items()}
    changed = sums(rows, "packets", by={"hop": _router, "colour_in": str, "colour_out": str}, where=BOUNDARY)
    found |= {f"{router}.{before}>{after}": n for (router, before, after), n in changed.items()}
    leaf = sums(rows, "packets", by="colour_out", where={"conditioner": lambda name: not _is_boundary(name)})
    tallies = sums(tables["tallies"], "value", by={"hop": _router, "quantity": str}, where=BOUNDARY)
    told = {f"{router}.{quantity}": value for (router, quantity), value in tallies.items()}
    return {**found, **{f"leaf.{colour}": n for colour, n in leaf.items()}, **told}


def _is_boundary(conditioner: str) -> bool:
    return conditioner.split(maxsplit=1)[0] == "boundary"


BOUNDARY = {"conditioner": _is_boundary}


def _router(hop: str) -> str:
    return hop.split(maxsplit=1)[0]


def _hops(tables: Tables, seconds: float) -> dict[str, float]:
    """What left the markers green, flow by flow, and what became of packets at the links of 1.2 Mbit/s."""
    rows = tables["summary"]
    core = {"hop": lambda hop: _router(hop) in CORES, "colour": lambda colour: colour in COLOURS}
    first, second = (_green(rows, "queued_bytes", hops) for hops in (("ER -> CR1", "ER1 -> CR1"), ("ER2 -> CR2",)))
    came = _green(rows, "delivered_bytes", ("CR1 -> ER2",))
    flows = tables["traffic"]["class"]
    found = {f"{name}.left": 8 * first[name] / seconds / 1000 for name in flows}
    found |= {f"{name}.promoted": 8 * (second[name] - came[name]) / seconds / 1000 for name in flows}
    for name, column in {"at": "arrived_packets", "lost": "dropped_packets"}.items():
        counts = sums(rows, column, by={"hop": _router, "colour": str}, where=core)
        found |= {f"{name}.{router}.{colour}": n for (router, colour), n in counts.items()}
    for reason in REASONS:
        counts = sums(rows, f"dropped_{reason}_packets", by={"hop": _router}, where=core)
        found |= {f"lost.{router}.{reason}": n for (router,), n in counts.items()}
    return found


def _green(rows: Columns, column: str, hops: tuple[str, ...]) -> defaultdict[Any, float]:
    return sums(rows, column, by="class", where={"hop": lambda hop: hop in hops, "colour": "green"})


def answer(reading: Reading, value: str, of: RunSet) -> Settings:
    """What an answer lays over a run set: `all` leaves a variant of a study what makes it one (its buffer)."""
    stated = reading.values[value]
    general = {key: v for key, v in stated.get("all", {}).items() if key not in of.settings}
    return {**general, **stated.get(of.name, {})}


METHOD = Method(measured)
