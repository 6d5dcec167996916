"""Captures through a policy: `perhop meter` and `perhop mark` from Python, with their reports as tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from perhop import _core, show
from perhop.arguments import bounded, checked, shown
from perhop.columns import Column
from perhop.frames import Frame
from perhop.unknown import UnknownKeyError

Path = str | os.PathLike[str]
Row = dict[str, Any]
GROUPS = ("host", "pair", "flow", "dscp", "ecn")
"""What `by` may be."""


@dataclass(frozen=True, repr=False)
class Metered:
    """What was found in a capture."""

    report: dict[str, Any]
    """All of it, as `--json` prints it."""
    warnings: list[str]
    """Of the policy, then of the capture."""
    _tables: dict[str, Frame] = field(compare=False)

    @property
    def tables(self) -> list[str]:
        """Names of its tables."""
        return list(self._tables)

    @checked
    def table(self, name: str) -> Frame:
        """A table.

        Raises:
            KeyError: when there is no such table; the message names those there are.
        """
        if name not in self._tables:
            there = f"there are {', '.join(self._tables)}{show.near(name, self._tables)}"
            raise UnknownKeyError(f"no table `{name}` here: {there}")
        return self._tables[name]

    def __repr__(self) -> str:
        return f"{self._head}\n{self._shown!r}"

    def _repr_html_(self) -> str:
        return show.note(self._head) + self._shown._repr_html_()

    @property
    def _head(self) -> str:
        forward, reverse = (self.report[way]["packets"] for way in ("forward", "reverse"))
        seconds = self.report["duration_s"]
        lasting = "" if seconds is None else f" of {seconds:.6g} s"
        return f"{show.count(self.report['packets'], 'packet')}{lasting}: {forward} forward, {reverse} reverse"

    @property
    def _shown(self) -> Frame:
        """The table that is printed: the groups, or the colours that a policy gives, or the flows."""
        name = self.report.get("by") or ("colours" if self.report["conditioners"] else "flows")
        return self._tables.get(name, Frame())


@checked
def meter(  # noqa: PLR0913
    capture: Path,
    policy: Path | None = None,
    *,
    by: str | None = None,
    queue: str | None = None,
    link: str | None = None,
    framing: str | None = None,
    rtt: bool = False,
    bursts: bool = False,
    seed: int = 1,
    partial: bool = False,
    once: bool = False,
    flow_timeout: str | None = None,
) -> Metered:
    """Who sends what in a capture, and the colours that a policy would give it; as `perhop meter`.

    Args:
        capture: pcap or pcapng, plain or compressed.
        policy: the file with its conditioners; without one the flows are counted.
        by: "host", "pair", "flow", "dscp" or "ecn": a table of packets in these groups in place of all others.
        queue: a queue of the policy into which the forward packets are replayed, behind which is `link`.
        link: the rate of that line, as "10Mbit/s".
        framing: the bytes of a packet that this rate counts: "l3" (as without), "l2", "l2+fcs" or "l1".
        rtt: also round-trip times and windows of TCP.
        bursts: also the most bytes within any 1, 10 and 100 ms.
        seed: of the conditioners' random streams.
        partial: keep the complete packets of a truncated capture.
        once: take packets that the capture holds twice once.
        flow_timeout: forget flows that are silent for longer, as "60s".

    Raises:
        ValueError: for a capture or a policy that cannot be read, with everything that is wrong in it.
    """
    if by is not None and by not in GROUPS:
        raise ValueError(f"by = {shown(by)}: must be one of {', '.join(GROUPS)}{show.near(by, GROUPS)}")
    line = {"queue": queue, "link": link, "framing": framing}
    stated = next((name for name, value in line.items() if value is not None), None)
    if policy is None and stated is not None:
        raise ValueError(f"{stated}= without policy=: name the file that has the queue")
    request = {"inputs": [capture], "policy": policy, "by": by, **line, "rtt": rtt, "bursts": bursts}
    through = _through(seed, flow_timeout, partial=partial, once=once)
    return _metered(_core.metered_captures, request | {"through": through})


@checked
def mark(  # noqa: PLR0913
    capture: Path,
    out: Path,
    policy: Path,
    *,
    force: bool = False,
    seed: int = 1,
    partial: bool = False,
    once: bool = False,
    flow_timeout: str | None = None,
) -> Metered:
    """Writes a capture re-marked by a policy; as `perhop mark`. With `force` it replaces the file `out`.

    The other arguments are those of `meter`.

    Raises:
        ValueError: for a capture or a policy that cannot be read, and for an output that exists or cannot be written.
    """
    request = {"input": capture, "output": out, "policy": policy, "force": force}
    through = _through(seed, flow_timeout, partial=partial, once=once)
    return _metered(_core.marked_capture, request | {"through": through})


def _through(seed: int, flow_timeout: str | None, **flags: bool) -> dict[str, object]:
    return {"seed": bounded("seed", seed), "flow_timeout": flow_timeout, "json": True, **flags}


def _metered(verb: Callable[[str], tuple[list[str], list[str]]], request: dict[str, object]) -> Metered:
    said, warned = verb(json.dumps(request, default=os.fspath))
    report = json.loads(said[0])
    return Metered(report, [*warned, *report["warnings"]], dict(_tables(report)))


def _tables(report: dict[str, Any]) -> Iterator[tuple[str, Frame]]:
    """Its lists of rows; those of a part, as of round trips, have the name of the part before theirs."""
    if colours := list(_colours(report)):
        yield "colours", _frame(colours)
    for name, part in report.items():
        parts = part.items() if isinstance(part, dict) else [("", part)]
        for inner, rows in parts:
            if isinstance(rows, list) and rows and isinstance(rows[0], dict):
                whole = f"{name}_{inner}" if inner else name
                yield report["by"] if whole == "rows" else whole, _frame(rows)


def _colours(report: dict[str, Any]) -> Iterator[Row]:
    """Packets by conditioner, by the colour that they came with and left with."""
    for of in report.get("conditioners", []):
        yield from ({"conditioner": of["name"], **row} for row in of["colours"])
    yield from ({"conditioner": None, **row} for row in report.get("unmatched", []))


def _frame(rows: Sequence[Row]) -> Frame:
    """A column for each value; lists within a row are left to the report."""
    flat = [dict(_flat(row)) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return Frame({name: _column([row.get(name) for row in flat]) for name in names})


def _flat(row: Row, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}_")
        elif not isinstance(value, list):
            yield f"{before}{name}", value


def _column(values: Sequence[Any]) -> Column:
    known = [value for value in values if value is not None]
    if not known or not all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return np.array(values, dtype=object)
    if len(known) == len(values) and all(isinstance(value, int) for value in known):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
