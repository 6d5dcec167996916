"""The results of a study's replications, by grid point and quantity. Each paper defines its quantities.

Decision: docs/decisions/104-claims-note-what-they-read.md
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from perhop import stats
from perhop.unknown import UnknownError

Key = tuple[Any, ...]
"""A run set's name, then its axes with their values."""


@dataclass(frozen=True)
class Sample:
    """One replication of one point."""

    runs: str
    at: dict[str, Any]
    """Its place: the variants of the run set, then the swept values."""
    replication: int
    values: dict[str, float]

    @property
    def key(self) -> Key:
        """Its run set's name and its place there."""
        return (self.runs, *self.at.items())


class Samples:
    """The replications of one set of runs, ready for queries.

    `asked`, if given, collects the places whose values are asked for.
    """

    def __init__(self, samples: Iterable[Sample], asked: set[Key] | None = None) -> None:
        self._rows = list(samples)
        self._asked = asked
        self._found: dict[tuple[Any, ...], tuple[list[float], list[Sample]]] = {}

    @property
    def all(self) -> list[Sample]:
        """Every one of them: asks for all their places."""
        return self._note(self._rows)

    def _note(self, rows: list[Sample]) -> list[Sample]:
        if self._asked is not None:
            self._asked.update(row.key for row in rows)
        return rows

    def at(self, **where: Any) -> Samples:
        """Those at this part of the grid.

        Raises:
            UnknownError: nothing was run there.
        """
        return Samples(self._at(where), self._asked)

    def _at(self, where: Mapping[str, Any]) -> list[Sample]:
        found = [s for s in self._rows if all(s.at.get(key) == value for key, value in where.items())]
        if not found:
            raise UnknownError(f"no runs at {where}; there are {self.grid()}")
        return found

    def of(self, runs: str) -> Samples:
        """Those of one run set."""
        return Samples((s for s in self._rows if s.runs == runs), self._asked)

    def values(self, quantity: str, **where: Any) -> list[float]:
        """The quantity at one grid point, by replication.

        Raises:
            UnknownError: nothing was run there.
        """
        key = (quantity, *sorted(where.items()))
        if key not in self._found:
            rows = sorted(self._at(where), key=lambda s: s.replication)
            self._found[key] = [s.values[quantity] for s in rows], rows
        values, rows = self._found[key]
        self._note(rows)
        return values

    def mean(self, quantity: str, **where: Any) -> stats.Interval:
        """Its mean and interval at one grid point."""
        return stats.interval(self.values(quantity, **where))

    def grid(self) -> dict[str, list[Any]]:
        """Every axis with its values, in the order they were run."""
        axes: dict[str, dict[Any, None]] = defaultdict(dict)
        for sample in self._rows:
            for key, value in sample.at.items():
                axes[key][value] = None
        return {key: list(values) for key, values in axes.items()}
