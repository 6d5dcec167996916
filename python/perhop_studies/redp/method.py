"""What is read off the tables of one REDP run. Rates in kbit/s.

| quantity                    | unit    | is                                                                 |
|-----------------------------|---------|--------------------------------------------------------------------|
| `X.C`, `X.total`            | kbit/s  | of flow X, in colour C, as received                                |
| `X.came`, `X.excess`        | kbit/s  | green and red of flow X that came to the first boundary's marker   |
| `X.left`, `X.demoted`       | kbit/s  | green and yellow of flow X that left it                            |
| `X.dropped`                 | packets | of flow X that its dropper dropped                                 |
| `X.lost`                    | -       | part of flow X's packets at CR1 that CR1 dropped                   |
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
from collections.abc import Callable, Mapping
from typing import Any

from perhop import stats
from perhop_studies.quantities import Columns, Tables, sums, total
from perhop_studies.redp import queues
from perhop_studies.runs import Method, RunSet, Settings
from perhop_studies.settings import Reading

COLOURS = ("green", "yellow", "red")
KINDS = (*COLOURS, "total")
REASONS = ("early", "forced", "overflow")
CORES = ("CR1", "CR2")
"""Routers with RIO; T4 has the first alone."""
FIRST = ("ER -> CR1", "ER1 -> CR1")
"""Hops with the first boundary's marker."""


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
    """What came to the markers and left them, flow by flow, and what became of packets at the links of 1.2 Mbit/s."""
    rows = tables["summary"]
    core = {"hop": lambda hop: _router(hop) in CORES, "colour": lambda colour: colour in COLOURS}
    found = {**_boundaries(tables, seconds), **_lost(tables)}
    for name, column in {"at": "arrived_packets", "lost": "dropped_packets"}.items():
        counts = sums(rows, column, by={"hop": _router, "colour": str}, where=core)
        routers = dict.fromkeys(router for router, _ in counts)
        found |= {f"{name}.{router}.{colour}": counts[router, colour] for router in routers for colour in COLOURS}
    for reason in REASONS:
        counts = sums(rows, f"dropped_{reason}_packets", by={"hop": _router}, where=core)
        found |= {f"lost.{router}.{reason}": n for (router,), n in counts.items()}
    return found


def _boundaries(tables: Tables, seconds: float) -> dict[str, float]:
    """What came to the markers and left them, flow by flow."""
    rows, flows = tables["summary"], tables["traffic"]["class"]
    colours = {"left": "green", "demoted": "yellow"}
    sides = {name: _bytes(rows, "queued_bytes", colour, FIRST.__contains__) for name, colour in colours.items()}
    sent = {"came": "green", "excess": "red"}
    sides |= {name: _bytes(rows, "delivered_bytes", colour, _is_hosts) for name, colour in sent.items()}
    second = _bytes(rows, "queued_bytes", "green", "ER2 -> CR2".__eq__)
    came = _bytes(rows, "delivered_bytes", "green", "CR1 -> ER2".__eq__)
    sides["promoted"] = defaultdict(float, {name: second[name] - came[name] for name in flows})
    dropped = sums(rows, "dropped_policer_packets", by="class", where={"hop": FIRST.__contains__})
    found = {f"{name}.{side}": 8 * sizes[name] / seconds / 1000 for side, sizes in sides.items() for name in flows}
    return {**found, **{f"{name}.dropped": dropped[name] for name in flows}}


def _lost(tables: Tables) -> dict[str, float]:
    """The part of each flow's packets that CR1 dropped."""
    rows = tables["summary"]
    core = {"hop": lambda hop: _router(hop) == CORES[0], "colour": lambda colour: colour in COLOURS}
    came, lost = (sums(rows, f"{what}_packets", by="class", where=core) for what in ("arrived", "dropped"))
    return {f"{name}.lost": lost[name] / came[name] if came[name] else math.nan for name in tables["traffic"]["class"]}


def _is_hosts(hop: str) -> bool:
    return hop.startswith("H")


def _bytes(rows: Columns, column: str, colour: str, of: Callable[[str], bool]) -> defaultdict[Any, float]:
    return sums(rows, column, by="class", where={"hop": of, "colour": colour})


def answer(reading: Reading, value: str, of: RunSet) -> Settings:
    """What an answer lays over a run set: `all` leaves a variant of a study what makes it one (its buffer)."""
    stated = reading.values[value]
    general = {key: v for key, v in stated.get("all", {}).items() if key not in of.settings}
    return {**general, **stated.get(of.name, {})}


METHOD = Method(measured)
