"""What the studies of MSVB and SIO have in common: schemes, classes, shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from perhop import stats
from perhop_studies import measures
from perhop_studies.drawing import Look
from perhop_studies.samples import Samples
from perhop_studies.verdict import Value

LINK = 10e6
"""Rate of the bottleneck, bit/s."""
CLASSES = tuple(f"class{i}" for i in range(1, 11))
EVEN = dict.fromkeys(CLASSES, 0.1)
"""Each class's part of the link."""

LOOKS = {
    "red": Look("RED", "#667584", "^", ":"),
    "svb": Look("SVB", "#8a5a00", "v", ":"),
    "fred": Look("FRED", "#12633b", "s", "--"),
    "rio": Look("RIO", "#c2410c", "D", "--"),
    "sio": Look("SIO", "#7c3aed", "P"),
    "msvb": Look("MSVB", "#0072b2", "o"),
}


@dataclass(frozen=True)
class Division:
    """How the link is divided: parts of its rate, a row a replication, a column a class."""

    entitled: Mapping[str, float]
    rows: list[list[float]]

    @classmethod
    def of(cls, runs: Samples, entitled: Mapping[str, float] = EVEN) -> Division:
        """Among the classes that `entitled` names, by their parts."""
        columns = [runs.values(f"{name}.throughput") for name in entitled]
        return cls(entitled, [[x / LINK for x in row] for row in zip(*columns, strict=True)])

    @property
    def jain(self) -> list[float]:
        """Jain's index of what each has by what it is entitled to."""
        return [measures.jain(x / phi for x, phi in zip(row, self.entitled.values(), strict=True)) for row in self.rows]

    def part(self, name: str) -> list[float]:
        """One class's."""
        place = list(self.entitled).index(name)
        return [row[place] for row in self.rows]

    def total(self, names: Iterable[str]) -> list[float]:
        """Of several classes together."""
        return [sum(values) for values in zip(*map(self.part, names), strict=True)]

    def each(self) -> list[Value]:
        """Every class's part, in % of the link."""
        return [Value(f"{name}, %", percent(self.part(name))) for name in self.entitled]

    def intervals(self) -> list[stats.Interval]:
        """Every class's part, in % of the link."""
        return [stats.interval(percent(self.part(name))) for name in self.entitled]


def percent(values: Iterable[float]) -> list[float]:
    """Of the link, or of packets."""
    return [100 * value for value in values]
