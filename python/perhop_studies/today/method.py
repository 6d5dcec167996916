"""What is read off the tables of one run of the study `today`.

| quantity    | unit | is                                                                                             |
| ----------- | ---- | ---------------------------------------------------------------------------------------------- |
| `share.X`   | -    | what class X got through the link `E -> D`, by what it is entitled to                          |
| `fairness`  | -    | Jain's index of the shares: 1 if all got the same part of their contracts                      |
| `contract`  | -    | the least share, at most 1: what the customer who fares worst got; the blaster is not asked    |
| `wait`      | ms   | mean wait of all packets at the link                                                           |
| `call`      | ms   | 99th percentile of what a packet of the call waited on its way: delay beyond its constant part |
| `call.lost` | -    | share of the call's packets that were lost                                                     |
| `used`      | -    | share of the time in which the link was sending                                                |
| `X.lost`    | -    | share of the packets of the datagram traffic X (video, blaster) that were lost                 |
| `fetch`     | ms   | mean time of a transfer, from request to last byte, where there are transfers                  |
"""

from __future__ import annotations

import math

from perhop import stats
from perhop_studies import measures
from perhop_studies.quantities import Tables, groups, sums, total
from perhop_studies.runs import Method
from perhop_studies.today.contracts import ENTITLED, laid

LINK = "E -> D"
CALL = 200
"""Bytes of a packet of the call."""
DATAGRAMS = ("video", "blaster")


def measured(tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    shares = _shares(tables)
    found = {f"share.{name}": share for name, share in shares.items()}
    found["fairness"] = measures.jain(shares.values())
    found["contract"] = min(1.0, *(share for name, share in shares.items() if name not in DATAGRAMS))
    found["used"] = total(tables["links"], "utilisation", {"hop": LINK})
    return {**found, **_waits(tables), **_lost(tables), **_fetched(tables)}


def _shares(tables: Tables) -> dict[str, float]:
    """By class, of those that were sent in this scenario."""
    arrivals = tables["arrivals"]
    seconds = 8 * total(arrivals, "delivered_bytes") / total(arrivals, "throughput_bit_s")
    through = sums(tables["summary"], "delivered_bytes", by="class", where={"hop": LINK})
    names = [name for name in dict.fromkeys(tables["traffic"]["class"]) if name in ENTITLED and name != "call"]
    return {name: 8e-6 * through[name] / seconds / ENTITLED[name] for name in names}


def _waits(tables: Tables) -> dict[str, float]:
    here = {"hop": LINK}
    means = groups(tables["summary"], "wait_mean_ms", where=here)[()]
    packets = groups(tables["summary"], "delivered_packets", where=here)[()]
    waited = [mean * n for mean, n in zip(means, packets, strict=True) if n]
    late = max(groups(tables["arrivals"], "delay_p99_ms", where={"class": "call"}).get((), [math.nan]))
    return {"wait": stats.total(waited) / stats.total(packets), "call": late - _constant(tables)}


def _constant(tables: Tables) -> float:
    """What a packet of the call takes where nothing waits: links and transmissions on its way, ms."""
    way = set(groups(tables["summary"], "arrived_packets", by="hop", where={"class": "call"}))
    delays, rates = (sums(tables["links"], column, by="hop") for column in ("delay_ms", "rate_bit_s"))
    return stats.total(delays[hop] + 8000 * CALL / rates[hop] for hop in way)


def _lost(tables: Tables) -> dict[str, float]:
    flows = tables["flows"]
    sent, dropped = (sums(flows, column, by="traffic") for column in ("sent_packets", "dropped_packets"))
    return {f"{name}.lost": dropped[name] / sent[name] for name in ("call", *DATAGRAMS) if name in sent}


def _fetched(tables: Tables) -> dict[str, float]:
    times = groups(tables["transfers"], "last_byte_ms")
    return {"fetch": stats.mean(times[()])} if times else {}


METHOD = Method(measured, laid=laid)
