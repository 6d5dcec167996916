"""A scenario's network on Linux, as the core describes it."""

from __future__ import annotations

import json
from typing import NamedTuple


class Device(NamedTuple):
    """An interface in a network namespace."""

    namespace: str
    device: str


class Node(NamedTuple):
    """A node of the scenario."""

    name: str
    namespace: str
    address: str


class Port(NamedTuple):
    """A port of the scenario."""

    name: str
    near: Device
    """Where its packets wait."""
    far: Device
    """Where they arrive."""


class Traffic(NamedTuple):
    """What a traffic is, and where it goes."""

    name: str
    model: str
    to: str
    """A namespace."""
    address: str


class Transfers(NamedTuple):
    """What the sockets of a traffic's bulk transfers are told."""

    traffic: str
    congestion: str
    segment: int
    """Data bytes of a full one."""
    window: int
    """The receiver's, bytes."""
    stop_ns: int | None
    """None: at the end of the run."""


class Linux(NamedTuple):
    """A scenario's network as Linux's `ip`, `tc` and `sysctl` make it. Names of the scenario are in no command."""

    commands: list[str]
    """In order, one a line."""
    nodes: list[Node]
    ports: list[Port]
    traffic: list[Traffic]
    transfers: list[Transfers]
    """One for each traffic of the model `ftp`."""
    notes: list[str]
    """What Linux has otherwise than the scenario says."""
    duration_ns: int
    warmup_ns: int
    sample_ns: int
    """0: no series."""


def from_json(text: str) -> Linux:
    """Reads what the core has written."""
    table = json.loads(text)
    return Linux(
        **table
        | {
            "nodes": [Node(**it) for it in table["nodes"]],
            "ports": [Port(it["name"], Device(**it["near"]), Device(**it["far"])) for it in table["ports"]],
            "traffic": [Traffic(**it) for it in table["traffic"]],
            "transfers": [Transfers(**it) for it in table["transfers"]],
        }
    )
