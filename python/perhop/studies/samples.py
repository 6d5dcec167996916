"""The results of a study's replications, by grid point and quantity. Each paper defines its quantities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from perhop import stats


@dataclass(frozen=True)
class Sample:
    """One replication of one point."""

    runs: str
    at: dict[str, Any]
    """Its place: the variants of the run set, then the swept values."""
    replication: int
    values: dict[str, float]

    def matches(self, where: Mapping[str, Any]) -> bool:
        """Whether it is in this part of the grid."""
        return all(self.at.get(key) == value for key, value in where.items())


class Samples:
    """The replications of one set of runs, ready for queries."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self.all = list(samples)
        self._found: dict[tuple[Any, ...], list[float]] = {}

    def at(self, **where: Any) -> Samples:
        """Those at this part of the grid.

        Raises:
            LookupError: nothing was run there.
        """
        found = [s for s in self.all if s.matches(where)]
        if not found:
            raise LookupError(f"no runs at {where}; there are {self.grid()}")
        return Samples(found)

    def of(self, runs: str) -> Samples:
        """Those of one run set."""
        return Samples(s for s in self.all if s.runs == runs)

    def values(self, quantity: str, **where: Any) -> list[float]:
        """The quantity at one grid point, by replication.

        Raises:
            LookupError: nothing was run there.
        """
        key = (quantity, *sorted(where.items()))
        if key not in self._found:
            rows = sorted(self.at(**where).all, key=lambda s: s.replication)
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
