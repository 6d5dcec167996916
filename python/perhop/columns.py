"""What results consist of: tables as columns, the points of a sweep and the replications of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perhop import _core

Column = npt.NDArray[Any]
Columns = dict[str, Column]
Values = npt.NDArray[np.float64]
Group = tuple[str, ...]
COLOURS = ("green", "yellow", "red", "unmarked")


class Run(NamedTuple):
    """One run of a scenario."""

    point: int
    replication: int


class Origin(NamedTuple):
    """How a run on disk was called."""

    file: str
    """The scenario's file, as it was named."""
    overrides: list[str]
    """`KEY=VALUE` of `-s` and its kind."""
    recorded: bool = False
    """Whether it was recorded between interfaces, and not simulated."""


@dataclass(frozen=True)
class Point:
    """One point of a sweep; a plain run has one, without labels."""

    labels: dict[str, str]
    name: str
    hash: str
    effective: str = field(default="", repr=False)
    """Every value in force there, as TOML."""
    origin: Origin | None = field(default=None, repr=False, compare=False)
    """Unknown for a run in memory."""

    @property
    def title(self) -> str:
        """`flows 5, marker pam`; empty without labels."""
        return ", ".join(f"{short(key)} {value}" for key, value in self.labels.items())


@dataclass(frozen=True)
class Replication:
    """One run of a point: its tables, and the hash of all of them."""

    point: int
    replication: int
    hash: str
    tables: Mapping[str, Columns]
    reused: bool = False
    directory: Path | None = field(default=None, repr=False, compare=False)
    """Where it is on disk; without one it is in memory alone."""

    @property
    def run(self) -> Run:
        """Which run it is."""
        return Run(self.point, self.replication)


def short(key: str) -> str:
    """The last part of a dotted key."""
    return key.rsplit(".", 1)[-1]


def point(found: _core.PointDict) -> Point:
    """From what the core says of it."""
    origin = Origin(*found["origin"]) if "origin" in found else None
    return Point(dict(found["labels"]), found["name"], found["hash"], found["effective"], origin)


def replication(made: _core.ReplicationDict) -> Replication:
    """From what the core says of it."""
    directory = None if made["directory"] is None else Path(made["directory"])
    return Replication(made["point"], made["replication"], made["hash"], made["tables"], made["reused"], directory)
