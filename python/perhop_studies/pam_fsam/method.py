"""How the files of PAM and F-SAM are run, and what is read off their tables.

| quantity          | unit    | is                                                          |
|-------------------|---------|-------------------------------------------------------------|
| `X.goodput`       | bit/s   | mean over the flows of traffic X                            |
| `X.std`           | bit/s   | population standard deviation over the flows of X           |
| `X.total`         | bit/s   | sum over the flows or transfers of X                        |
| `X.throughput`    | bit/s   | mean over the flows of X, retransmissions and headers too   |
| `X.transfer`      | bit/s   | mean over the transfers of X: size by completion time       |
| `X.active`        | -       | transfers of X in progress, mean over time                    |
| `X.lost_per_cut`  | -       | packets of X's flows lost, by cuts of their windows         |
| `X.in`, `X.out`   | packets | green and other packets of X behind the marker              |
| `in_bytes`        | B       | all green bytes behind the marker                           |
| `cbs`             | B       | the marker's burst, where it has one                        |
| `jain`            | -       | Jain's index over the goodput of all long-lived flows         |
| `utilisation`     | -       | of the bottleneck                                           |
| `X.f`             | -       | IN packets by all packets of X                              |
| `X.share`         | -       | X's share of all IN packets                                 |
| `jain.in`, `.f`   | -       | Jain's index over the IN packets, or f, of what is marked   |
| `deviation.f`     | -       | largest distance of an f/mean(f) from 1                     |
| `spread.in`, `.f` | -       | largest by smallest of them                                 |
| `level`, `.sd`    | B       | the marker's bucket over time, where it is sampled          |
| `p`, `p.sd`       | -       | its probability of OUT                                      |
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from perhop import stats
from perhop_studies import measures
from perhop_studies.quantities import Columns, Tables, each, groups, means, sums, total
from perhop_studies.runs import Axis, Method, RunSet, Settings
from perhop_studies.samples import Sample
from perhop_studies.settings import Reading

MARKERS = "conditioner.marker"
TOKENS = ("pf-fig2", "pf-fig3")
"""Files in which the marker's bucket is that of Fig. 2 and 3."""
MARKER_HOP, BOTTLENECK = "E1 -> C", "C -> E2"

AXES = {
    MARKERS: Axis("marker"),
    "traffic.bulk.flows": Axis("n", int),
    "traffic.mice.loop": Axis("loop"),
    "traffic.rogue.rate": Axis("rate", lambda text: int(text.removesuffix("Mbit/s")), "mbit_s"),
}


def stated(effective: Mapping[str, Any]) -> dict[str, float]:
    """The marker's burst."""
    marker = effective["conditioner"]["marker"]
    return {"cbs": float(marker["cbs"].removesuffix("B"))} if "cbs" in marker else {}


OF_TRAFFIC = {
    "goodput": "goodput_mean_bit_s",
    "std": "goodput_std_bit_s",
    "total": "goodput_bit_s",
    "transfer": "transfer_goodput_mean_bit_s",
}


def quantities(tables: Tables) -> dict[str, float]:
    """All of the above but `cbs` from one replication."""
    found = each(tables["traffic"], OF_TRAFFIC, by="traffic") | _marks(tables)
    sent = means(tables["flows"], "throughput_bit_s", by="traffic")
    found |= {f"{name}.throughput": sent.get(name, math.nan) for name in tables["traffic"]["traffic"]}
    found["utilisation"] = total(tables["links"], "utilisation", where={"hop": BOTTLENECK})
    found |= _losses(tables) | _sampled(tables.get("series", {})) | _under_way(tables, found)
    found["jain"] = measures.jain(float(x) for x in tables["flows"]["goodput_bit_s"])
    return found


def _losses(tables: Tables) -> dict[str, float]:
    lost, cuts = (sums(tables["flows"], of, by="traffic") for of in ("dropped_packets", "window_cuts"))
    return {f"{name}.lost_per_cut": lost[name] / cuts[name] if cuts[name] > 0 else math.nan for name in lost}


def _under_way(tables: Tables, found: Mapping[str, float]) -> dict[str, float]:
    """By Little's law: bits per second, times the mean time that a transfer takes for a bit."""
    rates = groups(tables["transfers"], "goodput_bit_s", by="traffic") if "transfers" in tables else {}
    return {f"{name}.active": found[f"{name}.total"] * stats.mean(1 / x for x in row) for name, row in rates.items()}


def _sampled(series: Columns) -> dict[str, float]:
    """Means and deviations over time of what the marker reports, the first five seconds left out."""
    found: dict[str, float] = {}
    for name, quantity in {"level": "bucket_bytes", "p": "out_probability"}.items() if series else ():
        for values in groups(series, "value", where={"quantity": quantity, "t_s": lambda t: t > 5}).values():
            found |= {name: stats.mean(values), f"{name}.sd": statistics.pstdev(values)}
    return found


def _marks(tables: Tables) -> dict[str, float]:
    behind = {"hop": MARKER_HOP, "colour": lambda colour: colour != "unmarked"}
    packets = sums(tables["summary"], "arrived_packets", by=("class", "colour"), where=behind)
    found = {f"{name}.{mark}": 0.0 for name in tables["traffic"]["traffic"] for mark in ("in", "out")}
    for (name, colour), n in packets.items():
        mark = f"{name}.{'in' if colour == 'green' else 'out'}"
        found[mark] = found.get(mark, 0.0) + n
    in_bytes = sums(tables["summary"], "arrived_bytes", by="colour", where=behind)["green"]
    return {**found, **shared(found), "in_bytes": in_bytes}


def shared(marks: Mapping[str, float]) -> dict[str, float]:
    """How tokens are shared by the traffics that are marked; nothing if no packet is IN."""
    packets = {key.removesuffix(".in"): n for key, n in marks.items() if key.endswith(".in")}
    ins = {name: n for name, n in packets.items() if n + marks[f"{name}.out"] > 0}
    if not any(ins.values()):
        return {}
    f = {name: n / (n + marks[f"{name}.out"]) for name, n in ins.items()}
    found = {f"{name}.f": x for name, x in f.items()}
    found |= {f"{name}.share": n / sum(ins.values()) for name, n in ins.items()}
    for of, row in (("in", [*ins.values()]), ("f", [*f.values()])):
        found |= {f"jain.{of}": measures.jain(row), f"spread.{of}": max(row) / min(row) if min(row) > 0 else math.inf}
    return {**found, "deviation.f": max(abs(x / stats.mean(f.values()) - 1) for x in f.values())}


def answer(reading: Reading, value: str, of: RunSet) -> Settings:
    """What an answer lays over a run set: for all, for its group, for it alone."""
    return {
        **reading.settings(value, "tokens" if of.scenario.stem in TOKENS else "load"),
        **reading.settings(value, of.name),
    }


def wire_bytes(samples: list[Sample]) -> list[Sample]:
    """Throughput read as all bytes that arrive (a10)."""
    return [replace(one, values={**one.values, **_arrived(one.values)}) for one in samples]


def _arrived(values: Mapping[str, float]) -> dict[str, float]:
    return {k.replace(".throughput", ".goodput"): v for k, v in values.items() if k.endswith(".throughput")}


METHOD = Method(quantities, AXES, stated=stated)
