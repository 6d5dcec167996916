"""The dictionaries that the core returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:
    import numpy.typing as npt


class Diagnostic(TypedDict):
    """One problem of a file; unknown values are `None`."""

    severity: str
    code: str
    message: str
    file: str
    line: int | None
    column: int | None
    label: str
    help: str
    path: str | None
    """The dotted key, of a scenario that is not from a file."""


class PointDict(TypedDict):
    """One point of a sweep; `name` is its directory's."""

    labels: list[tuple[str, str]]
    name: str
    hash: str
    effective: str
    settings: NotRequired[dict[str, Any]]
    """Not of one that was found on disk."""
    origin: NotRequired[tuple[str, list[str]]]
    """Of that one: the scenario's file and the overrides of its run."""


class ReplicationDict(TypedDict):
    """One replication; `note` says why an existing one was made again."""

    point: int
    replication: int
    hash: str
    reused: bool
    note: str | None
    directory: str | None
    tables: Mapping[str, dict[str, npt.NDArray[Any]]]
    """Each becomes NumPy's when it is first looked at."""


class OpenedDict(TypedDict):
    """A run that was found on disk; `notes` says what was skipped."""

    settings: dict[str, Any]
    points: list[PointDict]
    replications: list[ReplicationDict]
    notes: list[str]


class ContractDict(TypedDict):
    """The rate that a conditioner commits to at one port."""

    conditioner: str
    hop: str
    rate_bit_s: int
    per: str
    """`aggregate` for all that it takes there; or `flow`, `pair`, `class`."""
    classes: list[str]
    """Those whose data it may take."""


PassedDict = TypedDict("PassedDict", {"class": str, "hop": str, "entry": bool, "acks": bool})
"""A port that data of a class passes; whether some enters there, and whether ACKs of the class pass it too."""
