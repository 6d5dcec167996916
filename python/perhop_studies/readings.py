"""The open readings of a paper: `studies/<paper>/readings.toml` as settings to lay over its scenario files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
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


Readings = dict[str, Reading]
"""Those of a paper, by id."""


def load(path: Path) -> Readings:
    """Reads a paper's readings; without the file it leaves nothing open.

    Raises:
        ValueError: a frozen answer that is not one of the values.
    """
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = [Reading(**{key.replace("-", "_"): x for key, x in one.items()}) for one in stated.get("reading", [])]
    for one in found:
        if one.frozen not in one.values:
            raise ValueError(f"{path}: {one.id} is frozen at {one.frozen!r}, which is not one of its values")
    return {one.id: one for one in found}
