"""The answer of a run: what each class was promised, offered, and got, at each point."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from perhop import _core
from perhop.columns import COLOURS, Group, Values
from perhop.measured import interval
from perhop.results import Results
from perhop.shapes import ContractDict, Diagnostic, PassedDict
from perhop.stats import Interval

RATE = "throughput_bit_s"
Cells = dict[Group, Values]


@dataclass(frozen=True)
class Between:
    """A quantile of a class, which lies between those of its colours: the lowest and the highest."""

    low: Interval
    high: Interval


@dataclass(frozen=True)
class Answer:
    """A class at a point. Rates are in bit/s, losses in per cent of the bytes offered, delays in ms."""

    point: int
    name: str
    contracts: list[ContractDict]
    """What conditioners with a `cir` commit to at the ports that it passes."""
    offered: Interval
    """What arrived at the first ports on its way."""
    delivered: Interval
    colours: dict[str, Interval]
    """What was delivered, by colour at the end of the path."""
    green: Interval | None
    """What was delivered in contract; `None` without a contract, or if all that arrived is unmarked."""
    lost: Interval | None
    """`None` if nothing was offered."""
    p50: Between | None
    p99: Between | None
    mixed: bool
    """Whether ACKs of the class pass the ports of its data, and are counted with it in `offered` and `lost`."""

    @property
    def contract_bit_s(self) -> float | None:
        """The lowest rate committed to all of this class alone, if there is one."""
        rates = [c["rate_bit_s"] for c in self.contracts if c["classes"] == [self.name] and c["per"] == "aggregate"]
        alone = [c for c in self.contracts if c["classes"] == [self.name]]
        return min(rates) if rates and len({c["conditioner"] for c in alone}) == len(alone) else None


@dataclass(frozen=True)
class Network:
    """What a point's scenario says about its classes."""

    contracts: list[ContractDict]
    passed: list[PassedDict]
    warnings: list[Diagnostic]

    def of(self, name: str) -> list[ContractDict]:
        """The contracts that a class's data may come under."""
        return [contract for contract in self.contracts if name in contract["classes"]]

    def hops(self, name: str, choose: Callable[[PassedDict], bool] = lambda _: True) -> list[str]:
        """The chosen ones of the ports that a class's data passes."""
        return [p["hop"] for p in self.passed if p["class"] == name and choose(p)]


@cache
def network(effective: str) -> Network:
    """From an effective scenario."""
    scenario = _core.Scenario(effective, "manifest.json", [], [])
    return Network(scenario.contracts, scenario.passed, scenario.warnings)


def answers(runs: Results) -> list[Answer]:
    """For each point, in the order of the scenario's classes."""
    measured = runs.settings["duration_s"] - runs.settings["warmup_s"]
    hops, colours = ["point", "class", "hop"], ["point", "class", "colour"]
    read = Tables(
        runs.totals("summary", "arrived_bytes", by=hops),
        runs.totals("summary", "dropped_bytes", by=hops),
        runs.totals("arrivals", "throughput_bit_s", by=colours),
        runs.values("arrivals", "delay_p50_ms", by=colours, missing=math.nan),
        runs.values("arrivals", "delay_p99_ms", by=colours, missing=math.nan),
        8.0 / measured,
    )
    out = []
    for i, point in enumerate(runs.points):
        replications = sum(r.point == i for r in runs)
        known = network(point.effective)
        for name in dict.fromkeys(p["class"] for p in known.passed):
            out.append(read.answer(Where(i, name, replications), known))
    return out


@dataclass(frozen=True)
class Where:
    """A class at a point with this many replications."""

    point: int
    name: str
    replications: int


@dataclass(frozen=True)
class Tables:
    """The columns that answers are made from, by point, class and port or colour."""

    arrived: Cells
    dropped: Cells
    throughput: Cells
    p50: Cells
    p99: Cells
    bit_s: float
    """Of one byte in the measured time."""

    def answer(self, at: Where, known: Network) -> Answer:
        """One class at one point."""
        offered = _sum(self.arrived, at, known.hops(at.name, lambda p: p["entry"]))
        dropped = _sum(self.dropped, at, known.hops(at.name))
        delivered = {
            c: _sum(self.throughput, at, [c]) for c in COLOURS if (str(at.point), at.name, c) in self.throughput
        }
        some, contracts = offered > 0, known.of(at.name)
        marked = contracts and delivered.keys() != {"unmarked"}
        return Answer(
            at.point,
            at.name,
            contracts,
            interval(RATE, offered * self.bit_s),
            interval(RATE, sum(delivered.values(), np.zeros(at.replications))),
            {colour: interval(RATE, values) for colour, values in delivered.items()},
            interval(RATE, delivered.get("green", np.zeros(at.replications))) if marked else None,
            interval("lost_percent", 100 * dropped[some] / offered[some]) if some.any() else None,
            _between("delay_p50_ms", self.p50, at),
            _between("delay_p99_ms", self.p99, at),
            bool(known.hops(at.name, lambda p: p["acks"])),
        )


def _sum(cells: Cells, at: Where, names: Iterable[str]) -> Values:
    groups = [(str(at.point), at.name, name) for name in names]
    return sum((cells[group] for group in groups if group in cells), np.zeros(at.replications))


def _between(column: str, cells: Cells, at: Where) -> Between | None:
    found = [values for group, values in cells.items() if group[:2] == (str(at.point), at.name)]
    if not found:
        return None
    together = np.array(found)[:, ~np.isnan(found).all(axis=0)]
    if not together.size:
        return None
    return Between(*(interval(column, end(together, axis=0)) for end in (np.nanmin, np.nanmax)))
