"""The open readings of a paper: `studies/<paper>/readings.toml` as settings to lay over its scenario files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Reading:
    """One question the paper leaves open, with its answers."""

    id: str
    question: str
    decided_by: str
    frozen: str
    values: dict[str, dict[str, Any]]
    concerns: list[str] | None = None
    """The swept values it concerns, for instance kinds of marker; None means all."""

    def settings(self, value: str, group: str) -> dict[str, Any]:
        """The settings that this answer lays over the files of a group of studies."""
        stated = self.values[value]
        return {**stated.get("all", {}), **stated.get(group, {})}

    def is_about(self, at: Mapping[str, Any]) -> bool:
        """Whether it concerns this part of the grid."""
        return self.concerns is None or any(value in self.concerns for value in at.values())

    @property
    def others(self) -> list[str]:
        """The answers that are not frozen."""
        return [value for value in self.values if value != self.frozen]


@dataclass(frozen=True)
class Readings:
    """All readings of a paper, and the grids over some of them."""

    by_id: dict[str, Reading]
    grids: dict[str, list[str]]

    def combinations(self, grid: str) -> list[dict[str, str]]:
        """Every combination of the readings in a grid."""
        axes = self.grids[grid]
        return [dict(zip(axes, values, strict=True)) for values in product(*(self.by_id[a].values for a in axes))]

    def settings(self, chosen: Mapping[str, str], group: str) -> dict[str, Any]:
        """The settings that the chosen answers lay over the files of a group."""
        merged: dict[str, Any] = {}
        for name, value in chosen.items():
            merged |= self.by_id[name].settings(value, group)
        return merged

    def frozen(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """The answers in the scenario files."""
        return {name: self.by_id[name].frozen for name in (self.by_id if ids is None else ids)}


def load(path: Path) -> Readings:
    """Reads a paper's readings; without the file it leaves nothing open.

    Raises:
        ValueError: a frozen answer that is not one of the values.
    """
    if not path.is_file():
        return Readings({}, {})
    with path.open("rb") as file:
        stated = tomllib.load(file)
    found = {entry["id"]: _reading(entry) for entry in stated["reading"]}
    for reading in found.values():
        if reading.frozen not in reading.values:
            raise ValueError(f"{path}: {reading.id} is frozen at {reading.frozen!r}, which is not one of its values")
    return Readings(found, stated["grid"])


def _reading(entry: dict[str, Any]) -> Reading:
    return Reading(
        entry["id"], entry["question"], entry["decided-by"], entry["frozen"], entry["values"], entry.get("concerns")
    )
