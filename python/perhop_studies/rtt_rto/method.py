"""What is read off the tables of one run. Rates in Mbit/s.

| quantity             | unit   | is                                                                          |
|----------------------|--------|-----------------------------------------------------------------------------|
| `F1`, `F2` ...       | Mbit/s | what the application of an aggregate got, packets of 1024 bytes counted whole |
| `total`              | Mbit/s | of all aggregates                                                           |
| `drop ratio`         | -      | dropped at the core, by sent                                                |
| `F1.timeouts`        | -      | time-outs of a flow, mean                                                   |
| `F1.DP0` `DP1` `DP2` | -      | share of its packets that left the edge with this drop precedence           |
| `F1.out`             | -      | DP2 / (DP1 + DP2) of its draws                                              |
| `F1.q`               | -      | mean q of these draws                                                       |
| `F1.above`           | -      | share of its packets metered above the target                               |
| `F1.protected`       | -      | share of its packets that small windows protected                           |
| `F1.cwnd`            | -      | congestion window, mean over flows and time, where flows are sampled        |
| `cwnd@t`             | -      | window of flow 0 of F1 at t ms, where flows are sampled                     |
| `lost at hosts`      | -      | packets dropped before they came to an edge                                 |
| `overall` ...        | s      | the columns of Table 1: delay of a packet, duration of a session            |
| `first packet` ...   | s      | the columns of Table 2, without the largest 1 % of all objects requested    |
| `objects`, `open`    | -      | objects requested; share of them in progress at the end                       |

The paper's ns-2 counted no headers: a packet of 1024 bytes was 1024 bytes of data. With 40 of them headers 10 Mbit/s
would bring at most 9.61, and the paper prints 2.3 + 7.52.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop import stats
from perhop_studies.quantities import Tables, sums, total
from perhop_studies.rtt_rto import users
from perhop_studies.runs import Method, Settings

PACKET, DATA = 1024, 984
"""Bytes of a full packet, and of them data."""
PRECEDENCES = {"green": "DP0", "yellow": "DP1", "red": "DP2"}
EDGES = {"E0": "F4", "E1": "F1", "E2": "F2", "E3": "F3", "E5": "F5", "E4": "n4", "E7": "n7", "E8": "n8"}
"""Whose edge it is: one aggregate's, or a web server's."""
WARMUP = 20.0
TRACED = "F1"
"""The aggregate whose windows Fig. 5 shows."""


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    found = {**_received(tables), **_core(tables), **_edges(tables), **_draws(tables["tallies"])}
    for name, read in {"flow_series": _windows, "sessions": users.telnet, "transfers": users.web}.items():
        if name in tables and len(tables[name]["traffic"]):
            found |= read(tables)
    return found


def _received(tables: Tables) -> dict[str, float]:
    rows = tables["traffic"]
    bits, flows, timeouts = (sums(rows, column, by="traffic") for column in ("goodput_bit_s", "flows", "timeouts"))
    found = {name: rate / 1e6 * PACKET / DATA for name, rate in bits.items()}
    each = {f"{name}.timeouts": timeouts[name] / n for name, n in flows.items()}
    return {**found, **each, "total": stats.total(found.values())}


def _core(tables: Tables) -> dict[str, float]:
    lost, early = (
        total(tables["summary"], "dropped_packets", where={"hop": lambda hop, at=at: hop.startswith(at)}) for at in "Cn"
    )
    return {"drop ratio": lost / total(tables["traffic"], "segments"), "lost at hosts": early}


def _edges(tables: Tables) -> dict[str, float]:
    counts = sums(tables["conditioners"], "packets", by={"hop": _edge, "colour_out": str})
    found: dict[str, float] = {}
    for name in dict.fromkeys(name for name, _ in counts):
        mine = {dp: counts[name, colour] for colour, dp in PRECEDENCES.items()}
        found |= {f"{name}.{dp}": n / math.fsum(mine.values()) for dp, n in mine.items()}
    return found


def _edge(hop: str) -> str:
    return EDGES[hop.split(maxsplit=1)[0]]


def _draws(tallies: Mapping[str, Any]) -> dict[str, float]:
    """What conditioners that know round trips report about themselves."""
    at_edges = {"hop": lambda hop: hop.split()[0] in EDGES}
    counts = sums(tallies, "value", by={"hop": _edge, "quantity": str}, where=at_edges)
    found = {}
    for name in (name for name, quantity in counts if quantity == "metered"):
        mine = {quantity: n for (of, quantity), n in counts.items() if of == name}
        draws = mine["drawn_red"] + mine["drawn_yellow"]
        found[f"{name}.out"] = _share(mine["drawn_red"], draws)
        found[f"{name}.q"] = _share(mine["q_sum_millionths"] / 1e6, draws)
        found[f"{name}.above"] = mine["above_target"] / mine["metered"]
        if "protected" in mine:
            found[f"{name}.protected"] = mine["protected"] / mine["metered"]
    return found


def _share(part: float, of: float) -> float:
    return part / of if of else math.nan


def _windows(tables: Tables) -> dict[str, float]:
    series = tables["flow_series"]
    late = series["t_s"] >= WARMUP
    found = {}
    for name in dict.fromkeys(series["traffic"]):
        mine = late & (series["traffic"] == name)
        found[f"{name}.cwnd"] = float(series["cwnd_segments"][mine].mean())
    one = late & (series["traffic"] == TRACED) & (series["flow"] == 0)
    times = (series["t_s"][one], series["cwnd_segments"][one])
    return {**found, **{f"cwnd@{round(1000 * t)}": float(w) for t, w in zip(*times, strict=True)}}


NEAR, FAR = ('links."n1 - E1".delay', 'links."n2 - E2".delay'), ('links."E3 - n3".delay', 'links."E4 - n4".delay')
"""Links of Fig. 2a: where its files have their longer delays, and where they can be instead."""
FIG2A = ("rtt-fig4", "rtt-lived")
SHORT, LONGER = "0.25ms", ("8.75ms", "48.75ms")


def laid(scenario: Path, settings: Settings) -> Settings:
    """As they are; but `long` moves the longer delays of Fig. 2a, whatever they are."""
    moved = {key: value for key, value in settings.items() if key != "long"}
    if "long" in settings and scenario.stem in FIG2A:
        delays = [moved.get(near, longer) for near, longer in zip(NEAR, LONGER, strict=True)]
        moved |= dict.fromkeys(NEAR, SHORT) | dict(zip(FAR, delays, strict=True))
    return moved


METHOD = Method(measured, laid=laid)
