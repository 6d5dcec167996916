"""Lines over time from packets at ports, `events.parquet`: what left each port, and what waited there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from perhop import _core, in_force, sql
from perhop.columns import Columns, Group, Point
from perhop.plots.lines import Line, Of
from perhop.results import Results, traced

if TYPE_CHECKING:
    import duckdb

MOST, LEAST = 200, 10
"""Steps of a line."""
PACKETS = 20
"""In a step, on average, if there are not too few."""
NS = 1_000_000_000

SENT = "fate <> 'dropped' and out_ns is not null"
"""What the other end of the link gets, also after the run."""

RATES = f"""
    select hop, class, colour, least(out_ns // $width, $steps - 1) as step, sum(size_bytes)::double as bytes
    from {sql.EVENTS} where {SENT} group by all order by all
"""
BACKLOGS = f"""
    with moved as (
        select hop, in_ns as moment, 1 as packets, size_bytes as bytes from {sql.EVENTS}
        union all
        select hop, coalesce(out_ns, dropped_ns), -1, -size_bytes from {sql.EVENTS}
        where coalesce(out_ns, dropped_ns) is not null
    )
    select hop, least(moment // $width, $steps - 1) as step,
        sum(packets)::double as packets, sum(bytes)::double as bytes
    from moved group by all order by all
"""


class Steps(NamedTuple):
    """Equal parts of a run."""

    number: int
    width_ns: int

    @property
    def ends(self) -> np.ndarray:
        """When each is over, s."""
        return np.arange(1, self.number + 1) * (self.width_ns / NS)

    def filled(self, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Values by step; nothing where there is none."""
        return np.bincount(steps.astype(np.int64), values.astype(np.float64), self.number)


def are_there(runs: Results) -> bool:
    """Whether some of these runs have packets at ports."""
    return bool(traced(runs).replications)


def rates(runs: Results, point: int) -> dict[str, dict[Group, Line]]:
    """Bits a second that left each port, by class and colour, in each step."""
    lines: dict[str, dict[Group, Line]] = {}
    with _asked(runs, point, RATES) as (steps, found):
        for (hop, *group), rows in _groups(found, ("hop", "class", "colour")):
            value = 8 * NS / steps.width_ns * steps.filled(found["step"][rows], found["bytes"][rows])
            lines.setdefault(hop, {})[tuple(group)] = Line(steps.ends, value)
    return lines


def backlogs(runs: Results, point: int) -> dict[Of, Line]:
    """Packets and bytes that wait at each port at the end of each step."""
    lines: dict[Of, Line] = {}
    with _asked(runs, point, BACKLOGS) as (steps, found):
        for (hop,), rows in _groups(found, ("hop",)):
            for what in ("packets", "bytes"):
                value = np.cumsum(steps.filled(found["step"][rows], found[what][rows]))
                lines[Of(hop, "", f"queue_{what}")] = Line(steps.ends, value)
    return lines


@contextmanager
def _asked(runs: Results, point: int, query: str) -> Iterator[tuple[Steps, Columns]]:
    """The answer of a query on the first replication of a point that has packets at ports."""
    of = traced(runs)
    first = next((r for r in of.replications if r.point == point), None)
    if first is None:
        yield Steps(1, NS), {}
        return
    with sql.connect() as connection:
        sql.register(connection, replace(of, replications=[first]))
        steps = _steps(connection, runs.points[point])
        connection.execute(query, {"width": steps.width_ns, "steps": steps.number})
        yield steps, {name: np.asarray(column) for name, column in connection.fetchnumpy().items()}


def _steps(connection: duckdb.DuckDBPyConnection, point: Point) -> Steps:
    found = connection.execute(f"select count(*), max(in_ns) from {sql.EVENTS}").fetchone() or (0, 0)
    stated = _core.quantity(in_force.settings(point.effective).get("scenario.duration", ""))
    end = max(round(stated[0] * NS) if stated else 0, (found[1] or 0) + 1)
    number = max(LEAST, min(MOST, found[0] // PACKETS))
    return Steps(number, -(-end // number))


def _groups(found: Columns, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Rows of each group, in the order of their first."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, group in enumerate(zip(*(found.get(key, ()) for key in keys), strict=True)):
        groups.setdefault(tuple(map(str, group)), []).append(i)
    return ((group, np.array(rows)) for group, rows in groups.items())
