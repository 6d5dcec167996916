"""Captures through a policy: `perhop meter` and `perhop mark` from Python, with their reports as tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from perhop import _core, show
from perhop.arguments import bounded, checked, shown
from perhop.columns import Columns
from perhop.frames import Frame
from perhop.unknown import UnknownKeyError

Path = str | os.PathLike[str]
Verb = Callable[[str], tuple[list[tuple[str, _core.Tables]], list[str]]]
"""From a request to the report and the tables of each capture, and what the policy was warned of."""

GROUPS = ("host", "pair", "flow", "dscp", "ecn")
"""What `by` may be."""


@dataclass(frozen=True, repr=False)
class Metered:
    """What was found in a capture."""

    report: dict[str, Any]
    """All of it, as `--json` prints it."""
    warnings: list[str]
    """Of the policy, then of the capture."""
    _tables: Mapping[str, Columns] = field(compare=False)
    """Each is made when it is first looked at."""

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
        return Frame(self._tables[name])

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
        return Frame(self._tables.get(name, {}))


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


def _metered(verb: Verb, request: dict[str, object]) -> Metered:
    [(text, tables)], warned = verb(json.dumps(request, default=os.fspath))
    report = json.loads(text)
    return Metered(report, [*warned, *report["warnings"]], tables)
