"""Tables 1 and 2: what users of Telnet and of the web wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.criteria import Cell
from perhop_studies.rtt_rto.terms import BASIC, LABELS, RTO, STANDARD, SW, means, ratios
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, difference, greater, not_below, ordered, positive

table1 = Study("rtt-table1", title="Table 1: Telnet", runs="rtt-table1")
table2 = Study("rtt-table2", title="Table 2: WWW", runs=("rtt-table2", "rtt-table2-w2", "rtt-table2-fast"))
STUDIES = [table1, table2]

MARKERS = (STANDARD, BASIC, RTO, SW)
ROWS = {"Standard": STANDARD, "Basic RTT": BASIC, "RTT-RTO": RTO, "RTT-SW": SW}
"""Names in the printed tables."""
LONG, SHORT, OVERALL, SESSION = "F1,F2,F4", "F3,F5", "overall", "per session"
"""Columns of Table 1, which are quantities as well."""
FIRST, ALL = "first packet", "all packets"
"""Of Table 2."""


def cell(runs: Samples, printed: Cell) -> stats.Interval:
    """What was measured where the paper printed a cell: 50 sessions of set W1 for the web."""
    found = runs.of(printed.study).at(marker=ROWS[printed.row])
    return (found.at(sessions=50) if printed.study == table2.id else found).mean(printed.column)


def faster(runs: Samples, quantity: str, markers: tuple[str, ...]) -> list[Part]:
    """Each conditioner's users wait longer than the next one's, paired."""
    series = {f"{quantity}: {LABELS[m]}": runs.values(quantity, marker=m) for m in markers}
    return ordered(series)


@table1.claim("sw-below-rto-below-standard")
def both_schemes_help(runs: Samples) -> Finding:
    """RTT-SW is faster than RTT-RTO, and that faster than the standard conditioner."""
    return Finding([part for q in (OVERALL, SESSION) for part in faster(runs, q, (STANDARD, RTO, SW))])


@table1.claim("rto-against-basic")
def less_than_basic(runs: Samples) -> Finding:
    """RTT-RTO has less delay overall than basic, and sessions no longer."""
    basic, rto = (runs.values(SESSION, marker=m) for m in (BASIC, RTO))
    rest = [1.01 * x - y for x, y in zip(basic, rto, strict=True)]
    by = ratios(runs.values(OVERALL, marker=RTO), runs.values(OVERALL, marker=BASIC))
    changes = {"overall": by, "per session": ratios(rto, basic)}
    note = ", ".join(f"{name} by {100 * (stats.mean(change) - 1):+.1f} %" for name, change in changes.items())
    return Finding([*faster(runs, OVERALL, (BASIC, RTO)), positive("per session: 1.01 x basic - RTT-RTO", rest)], note)


@table1.claim("short-flows")
def short_round_trips(runs: Samples) -> Finding:
    """RTT-SW has the lowest delay for short round trips, the standard conditioner the highest."""
    return Finding(faster(runs, SHORT, (STANDARD, BASIC, RTO, SW)))


@table1.claim("standard-is-slowest")
def in_every_column(runs: Samples) -> Finding:
    """The standard conditioner has the highest delay, and long round trips the longer."""
    parts = []
    for column in (LONG, SHORT, OVERALL, SESSION):
        plain = runs.values(column, marker=STANDARD)
        for marker in (BASIC, RTO, SW):
            parts.append(
                not_below(
                    Value(f"{column}: standard", plain), Value(LABELS[marker], runs.values(column, marker=marker))
                )
            )
    for marker in MARKERS:
        found = runs.at(marker=marker)
        parts.append(greater(Value(f"{LABELS[marker]}: {LONG}", found.values(LONG)), Value(SHORT, found.values(SHORT))))
    return Finding(parts)


def web(runs: Samples, sessions: int = 50) -> Samples:
    """Set W1."""
    return runs.of("rtt-table2").at(sessions=sessions)


def _waits(runs: Samples, quantity: str, marker: str) -> Value:
    return Value(LABELS[marker], runs.values(quantity, marker=marker))


def _longer(runs: Samples, quantity: str, marker: str, name: str) -> Iterator[Value]:
    """By how much users of the other conditioners wait longer than those of this one."""
    for other in (m for m in MARKERS if m != marker):
        mine, theirs = (_waits(runs, quantity, m) for m in (marker, other))
        yield difference(theirs._replace(label=f"{name}: {theirs.label}"), mine)


@table2.measures
def response_times(runs: Samples) -> Iterator[Value]:
    """RTT-RTO completes objects sooner than all others, RTT-SW the first packet; without congestion they are equal."""
    found = web(runs)
    yield from _longer(found, ALL, RTO, ALL)
    for marker in (BASIC, STANDARD):
        other, sw = (_waits(found, ALL, m) for m in (marker, SW))
        yield difference(*(Value(f"{ALL}: {one.label}", one.values) for one in (other, sw)))
    yield from _longer(found, FIRST, SW, f"50 sessions, {FIRST}")
    yield from _longer(web(runs, 100), FIRST, RTO, f"100 sessions, {FIRST}")
    for quantity in (FIRST, ALL):
        rows = zip(*(runs.of("rtt-table2-fast").values(quantity, marker=m) for m in MARKERS), strict=True)
        yield Value(f"{quantity}: slowest / fastest of four", [max(row) / min(row) for row in rows])


@table2.claim("deviations-and-sets")
def both_sets(runs: Samples) -> Finding:
    """Means, deviations, both sets of parameters, all loads."""
    rows: list[dict[str, Any]] = []
    sets = {"W1": runs.of("rtt-table2"), "W2": runs.of("rtt-table2-w2")}
    for name, found in sets.items():
        for sessions in (50, 100):
            rows += [
                _row({"set": name, "sessions": sessions, "Mb/s": 1}, found.at(sessions=sessions, marker=m), m)
                for m in MARKERS
            ]
    rows += [
        _row({"set": "W1", "sessions": 50, "Mb/s": 10}, runs.of("rtt-table2-fast").at(marker=m), m) for m in MARKERS
    ]
    return Finding(
        [], "s; `open` is the share of objects in progress after 1000 s", rows, seeds=len(web(runs).at(marker=RTO).all)
    )


def _row(where: dict[str, Any], runs: Samples, marker: str) -> dict[str, Any]:
    shown = (FIRST, f"{FIRST} sd", ALL, f"{ALL} sd", "objects", "open", "drop ratio")
    return {**where, "conditioner": LABELS[marker], **means(runs, shown)}
