"""What the replications of a study gave, by grid point and quantity.

| quantity          | unit    | is                                                          |
|-------------------|---------|-------------------------------------------------------------|
| `X.goodput`       | bit/s   | mean over the flows of traffic X                            |
| `X.std`           | bit/s   | population standard deviation over the flows of X           |
| `X.total`         | bit/s   | sum over the flows or transfers of X                        |
| `X.throughput`    | bit/s   | mean over the flows of X, retransmissions and headers too   |
| `X.transfer`      | bit/s   | mean over the transfers of X: size by completion time       |
| `X.in`, `X.out`   | packets | green and other packets of X behind the marker              |
| `in_bytes`        | B       | all green bytes behind the marker                           |
| `jain`            | -       | Jain's index over the goodput of all standing flows         |
| `utilisation`     | -       | of the bottleneck                                           |
| `forced`          | packets | chosen IN without tokens (PAM, F-SAM); only with a series   |
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from perhop import stats

Tables = Mapping[str, Mapping[str, Any]]

MARKER_HOP, BOTTLENECK = "E1 -> C", "C -> E2"

AXES = {
    "conditioner.marker": "marker",
    "traffic.bulk.flows": "n",
    "traffic.mice.loop": "loop",
    "traffic.rogue.rate": "rate",
}


@dataclass(frozen=True)
class Sample:
    """One replication of one point."""

    runs: str
    arrivals: str
    at: dict[str, Any]
    replication: int
    values: dict[str, float]

    def matches(self, where: Mapping[str, Any]) -> bool:
        """Whether it lies at this part of the grid."""
        return all(self.at.get(key) == value for key, value in where.items())


class Samples:
    """The replications of one set of runs, ready to be asked."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self.all = list(samples)
        self._found: dict[tuple[Any, ...], list[float]] = {}

    def at(self, arrivals: str) -> Samples:
        """Those of one arrival model."""
        return Samples(s for s in self.all if s.arrivals == arrivals)

    def values(self, quantity: str, **where: Any) -> list[float]:
        """The quantity at one grid point, by replication.

        Raises:
            LookupError: nothing was run there.
        """
        key = (quantity, *sorted(where.items()))
        if key not in self._found:
            rows = sorted((s for s in self.all if s.matches(where)), key=lambda s: s.replication)
            if not rows:
                raise LookupError(f"no runs at {where}; there are {self.grid()}")
            self._found[key] = [s.values[quantity] for s in rows]
        return self._found[key]

    def mean(self, quantity: str, **where: Any) -> stats.Interval:
        """Its mean and interval at one grid point."""
        return stats.interval(self.values(quantity, **where))

    def grid(self) -> dict[str, list[Any]]:
        """Every axis with its values, in the order they were run."""
        axes: dict[str, dict[Any, None]] = defaultdict(dict)
        for sample in self.all:
            for key, value in sample.at.items():
                axes[key][value] = None
        return {key: list(values) for key, values in axes.items()}


def labels(stated: Mapping[str, str]) -> dict[str, Any]:
    """A point's labels by the names the claims use."""
    return {AXES.get(key, key): _value(AXES.get(key, key), text) for key, text in stated.items()}


def _value(axis: str, text: str) -> Any:
    if axis == "n":
        return int(text)
    return int(text.removesuffix("Mbit/s")) if axis == "rate" else text


def quantities(tables: Tables) -> dict[str, float]:
    """All of the above from one replication's tables."""
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
        found[f"{name}.goodput"] = _real(traffic["goodput_mean_bit_s"][i])
        found[f"{name}.std"] = _real(traffic["goodput_std_bit_s"][i])
        found[f"{name}.total"] = _real(traffic["goodput_bit_s"][i])
        found[f"{name}.transfer"] = _real(traffic["transfer_goodput_mean_bit_s"][i])
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


def _real(value: Any) -> float:
    return math.nan if value is None else float(value)
