"""The open readings of a paper: `perhop_studies/<paper>/readings.toml` as settings to lay over its scenario files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop_studies.criteria import Criterion
from perhop_studies.sentences import fits


@dataclass(frozen=True)
class Reading:
    """One question the paper leaves open, with its answers."""

    id: str
    question: str
    decided_by: str
    frozen: str
    values: dict[str, dict[str, Any]]
    chosen_on: list[str]
    """Claims on the runs that chose the answer, as patterns of `study/claim`; empty if no run had a say."""
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
        ValueError: a reading without `chosen-on`, or a frozen answer that is not one of the values.
    """
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    entries = stated.get("reading", [])
    if silent := [one["id"] for one in entries if "chosen-on" not in one]:
        raise ValueError(
            f"{path}: {silent[0]}: `chosen-on` is missing: the claims on the runs that chose the answer, [] if none did"
        )
    found = [Reading(**{key.replace("-", "_"): x for key, x in one.items()}) for one in entries]
    for one in found:
        if one.frozen not in one.values:
            raise ValueError(f"{path}: {one.id} is frozen at {one.frozen!r}, which is not one of its values")
    return {one.id: one for one in found}


def in_sample(readings: Readings, criterion: Criterion) -> list[str]:
    """The readings whose answer was chosen on runs that the criterion judges: for these it is a fit, no prediction."""
    return [one.id for one in readings.values() if fits(one.chosen_on, criterion)]
