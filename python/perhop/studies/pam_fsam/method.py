"""How the files of PAM and F-SAM are run, and what is read off their tables.

| quantity          | unit    | is                                                          |
|-------------------|---------|-------------------------------------------------------------|
| `X.goodput`       | bit/s   | mean over the flows of traffic X                            |
| `X.std`           | bit/s   | population standard deviation over the flows of X           |
| `X.total`         | bit/s   | sum over the flows or transfers of X                        |
| `X.throughput`    | bit/s   | mean over the flows of X, retransmissions and headers too   |
| `X.transfer`      | bit/s   | mean over the transfers of X: size by completion time       |
| `X.in`, `X.out`   | packets | green and other packets of X behind the marker              |
| `in_bytes`        | B       | all green bytes behind the marker                           |
| `cbs`             | B       | the marker's burst, where it has one                        |
| `jain`            | -       | Jain's index over the goodput of all long-lived flows         |
| `utilisation`     | -       | of the bottleneck                                           |
| `forced`          | packets | chosen IN without tokens (PAM, F-SAM); only with a series   |
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from perhop import stats
from perhop.studies.runs import Axis, Method
from perhop.studies.samples import Tables, real

MARKERS = "conditioner.marker"
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


def quantities(tables: Tables) -> dict[str, float]:
    """All of the above but `cbs` from one replication."""
    found: dict[str, float] = {}
    _traffic(tables, found)
    _marks(tables["summary"], found)
    links = tables["links"]
    found["utilisation"] = float(links["utilisation"][list(links["hop"]).index(BOTTLENECK)])
    if "series" in tables and len(tables["series"]["value"]):
        found["forced"] = _last(tables["series"], "forced_out_packets")
    found["jain"] = stats.jain(float(x) for x in tables["flows"]["goodput_bit_s"])
    return found


def _traffic(tables: Tables, found: dict[str, float]) -> None:
    traffic, flows = tables["traffic"], tables["flows"]
    for i, name in enumerate(traffic["traffic"]):
        found[f"{name}.goodput"] = real(traffic["goodput_mean_bit_s"][i])
        found[f"{name}.std"] = real(traffic["goodput_std_bit_s"][i])
        found[f"{name}.total"] = real(traffic["goodput_bit_s"][i])
        found[f"{name}.transfer"] = real(traffic["transfer_goodput_mean_bit_s"][i])
        each = [float(x) for x, of in zip(flows["throughput_bit_s"], flows["traffic"], strict=True) if of == name]
        found[f"{name}.throughput"] = stats.mean(each)
        found[f"{name}.in"] = found[f"{name}.out"] = 0.0


def _marks(summary: Mapping[str, Any], found: dict[str, float]) -> None:
    columns = ("class", "colour", "hop", "arrived_packets", "arrived_bytes")
    totals: dict[str, float] = defaultdict(float, in_bytes=0.0)
    for of, colour, hop, packets, size in zip(*(summary[c] for c in columns), strict=True):
        if hop != MARKER_HOP or colour == "unmarked":
            continue
        totals[f"{of}.{'in' if colour == 'green' else 'out'}"] += int(packets)
        totals["in_bytes"] += int(size) if colour == "green" else 0
    found.update(totals)


def _last(series: Mapping[str, Any], quantity: str) -> float:
    values = [float(v) for v, q in zip(series["value"], series["quantity"], strict=True) if q == quantity]
    return values[-1] if values else math.nan


METHOD = Method(quantities, AXES, stated=stated)
