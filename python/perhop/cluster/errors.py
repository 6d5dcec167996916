"""What can go wrong with a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from perhop._core import RunError

MOST_SHOWN = 10


def listed(lines: Sequence[str], indent: str = "   ", of: str = "") -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - MOST_SHOWN
    shown = [*lines[:MOST_SHOWN], f"and {more} more{of}"] if more > 0 else lines
    return [f"{indent}{line}" for line in shown]


class ClusterError(OSError):
    """A cluster that cannot do what is asked of it."""


class Failed(NamedTuple):
    """A replication that failed, whoever runs it."""

    scenario: str
    point: str
    replication: int
    seed: int
    why: str

    def __str__(self) -> str:
        at = f"{self.scenario} {self.point}, replication {self.replication}, seed {self.seed}"
        return f"{at}: {self.why.removeprefix('error: ')}"


class FailedError(RunError):
    """Replications that failed; all others are complete."""

    def __init__(self, failed: Sequence[Failed], kept: str) -> None:
        failures = "1 replication" if len(failed) == 1 else f"{len(failed)} replications"
        super().__init__("\n".join([f"{failures} failed; {kept}", *listed(list(map(str, failed)), "")]))
        self.failed = list(failed)


def needed(module: str) -> ModuleType:
    """A module of the extra.

    Raises:
        ClusterError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        message = f"{module} is not installed, which clusters and object storage need: {error}"
        raise ClusterError(f"{message}\n   help: pip install 'perhop[cluster]'") from error
