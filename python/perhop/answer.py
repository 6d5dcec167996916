"""The answer of a run: what each class was promised, offered and got; intervals of the table `classes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from perhop import _core
from perhop.columns import COLOURS, Group, Values
from perhop.measured import interval, known
from perhop.results import Results, with_every
from perhop.stats import Interval
from perhop.units import COLUMNS

ALL = "all"
"""The colour of the row that is of a class as a whole."""


@dataclass(frozen=True)
class Between:
    """A quantile of a class, which lies between those of its colours: the lowest and the highest."""

    low: Interval
    high: Interval


@dataclass(frozen=True)
class Answer:
    """A class at a point. Rates are in bit/s, losses in per cent of the packets lost or delivered, delays in ms."""

    point: int
    name: str
    contracts: list[_core.ContractDict]
    """What conditioners with a `cir` commit to at the ports that it passes."""
    offered: Interval
    """What arrived at the first ports on its way."""
    delivered: Interval
    colours: dict[str, Interval]
    """What was delivered, by colour at the end of the path."""
    green: Interval | None
    """What was delivered in contract; `None` without a contract, or if all that arrived is unmarked."""
    lost: Interval | None
    """`None` if nothing was offered, or where data and ACKs of the class share a port."""
    losses: dict[str, Interval]
    """The same of each colour, as far as some of it arrived."""
    p50: Between | None
    p99: Between | None
    mixed: bool
    """Whether ACKs of the class pass the ports of its data, and are counted with it in `offered`."""

    @property
    def contract_bit_s(self) -> float | None:
        """The lowest rate committed to all of this class alone, if there is one."""
        rates = [c["rate_bit_s"] for c in self.contracts if c["classes"] == [self.name] and c["per"] == "aggregate"]
        alone = [c for c in self.contracts if c["classes"] == [self.name]]
        return min(rates) if rates and len({c["conditioner"] for c in alone}) == len(alone) else None


@dataclass(frozen=True)
class Network:
    """What a point's scenario says about its classes."""

    contracts: list[_core.ContractDict]
    passed: list[_core.PassedDict]
    warnings: list[_core.Diagnostic]
    recorded_warnings: list[_core.Diagnostic]
    """Those of them that mean something of packets that passed between interfaces."""

    def of(self, name: str) -> list[_core.ContractDict]:
        """The contracts that a class's data may come under."""
        return [contract for contract in self.contracts if name in contract["classes"]]


@cache
def network(effective: str) -> Network:
    """From an effective scenario."""
    scenario = _core.Scenario(effective, "manifest.json", [], [])
    return Network(scenario.contracts, scenario.passed, scenario.warnings, scenario.recorded_warnings)


def answers(runs: Results) -> list[Answer]:
    """For each point, in the order of the scenario's classes."""
    by = ["point", "class", "colour"]
    measures, whole = (
        [of for of in COLUMNS.values() if of.table == "classes" and of.key is None],
        with_every(runs, "colour"),
    )
    cells = {of.name: whole.values("classes", of.name, by=by, missing=of.missing) for of in measures}
    found = (group for group in cells["throughput_bit_s"] if group[-1] == ALL)
    colours = [colour for colour in COLOURS if colour in set(runs.table("classes")["colour"])]
    return [
        _answer(Cells(cells, point, name), colours, network(runs.points[int(point)].effective))
        for point, name, _ in found
    ]


@dataclass(frozen=True)
class Cells:
    """What each replication gave of each column, for one class at one point."""

    of: dict[str, dict[Group, Values]]
    point: str
    name: str

    def get(self, column: str, colour: str) -> Values | None:
        """The values of one colour, or of the class as a whole; `None` without a row."""
        return self.of[column].get((self.point, self.name, colour))

    def mean(self, column: str, colour: str) -> Interval | None:
        """Over the replications that have it."""
        values = self.get(column, colour)
        return None if values is None else known(COLUMNS["classes", column], values)

    def rate(self, column: str, colour: str) -> Interval:
        """As `mean`; zero without a row."""
        whole = self.of[column][self.point, self.name, ALL]
        return self.mean(column, colour) or interval(COLUMNS["classes", column], np.zeros(len(whole)))

    def between(self, column: str, colours: list[str]) -> Between | None:
        """Of a quantile: the lowest and the highest of the colours in each replication."""
        found = np.array([values for colour in colours if (values := self.get(column, colour)) is not None])
        together = found[:, ~np.isnan(found).all(axis=0)] if found.size else found
        if not together.size:
            return None
        of = COLUMNS["classes", column]
        return Between(interval(of, np.nanmin(together, axis=0)), interval(of, np.nanmax(together, axis=0)))


def _answer(cells: Cells, colours: Sequence[str], known: Network) -> Answer:
    """One class at one point, of what is shown."""
    contracts = known.of(cells.name)
    here = [colour for colour in colours if cells.get("throughput_bit_s", colour) is not None]
    return Answer(
        int(cells.point),
        cells.name,
        contracts,
        cells.rate("offered_bit_s", ALL),
        cells.rate("throughput_bit_s", ALL),
        {colour: cells.rate("throughput_bit_s", colour) for colour in here},
        cells.rate("throughput_bit_s", "green") if contracts and here != ["unmarked"] else None,
        cells.mean("loss_percent", ALL),
        {colour: lost for colour in here if (lost := cells.mean("loss_percent", colour))},
        cells.between("delay_p50_ms", here),
        cells.between("delay_p99_ms", here),
        any(p["acks"] for p in known.passed if p["class"] == cells.name),
    )
