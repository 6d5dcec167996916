"""Tables 1 and 2: what users of Telnet and of the web wait for."""

from __future__ import annotations

from collections.abc import Iterator

from perhop import stats
from perhop_studies import Study
from perhop_studies.criteria import Cell
from perhop_studies.rtt_rto.terms import BASIC, COMPARED, LABELS, RTO, STANDARD, SW, rows
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Value, difference

table1 = Study("rtt-table1", title="Table 1: Telnet", runs="rtt-table1")
table2 = Study("rtt-table2", title="Table 2: WWW", runs=("rtt-table2", "rtt-table2-w2", "rtt-table2-fast"))
STUDIES = [table1, table2]

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


def web(runs: Samples, sessions: int = 50) -> Samples:
    """Set W1."""
    return runs.of("rtt-table2").at(sessions=sessions)


def _longer(runs: Samples, quantity: str, marker: str, name: str) -> Iterator[Value]:
    """By how much users of the other conditioners wait longer than those of this one."""
    mine = Value(LABELS[marker], runs.values(quantity, marker=marker))
    for other in (m for m in COMPARED if m != marker):
        yield difference(Value(f"{name}: {LABELS[other]}", runs.values(quantity, marker=other)), mine)


@table2.measures
def response_times(runs: Samples) -> Iterator[Value]:
    """RTT-RTO completes objects sooner than all others, RTT-SW the first packet; without congestion they are equal."""
    found = web(runs)
    yield from _longer(found, ALL, RTO, ALL)
    for marker in (BASIC, STANDARD):
        other, sw = (Value(f"{ALL}: {LABELS[m]}", found.values(ALL, marker=m)) for m in (marker, SW))
        yield difference(other, sw)
    yield from _longer(found, FIRST, SW, f"50 sessions, {FIRST}")
    yield from _longer(web(runs, 100), FIRST, RTO, f"100 sessions, {FIRST}")
    for quantity in (FIRST, ALL):
        waits = zip(*(runs.of("rtt-table2-fast").values(quantity, marker=m) for m in COMPARED), strict=True)
        yield Value(f"{quantity}: slowest / fastest of four", [max(row) / min(row) for row in waits])


@table2.claim("deviations-and-sets")
def both_sets(runs: Samples) -> Finding:
    """Means, deviations, both sets of parameters, all loads."""
    shown = (FIRST, f"{FIRST} sd", ALL, f"{ALL} sd", "objects", "open", "drop ratio")
    axes = {"sessions": "sessions", "marker": "conditioner"}
    sets = {("W1", 1): "rtt-table2", ("W2", 1): "rtt-table2-w2", ("W1", 10): "rtt-table2-fast"}
    found = []
    for (name, rate), of in sets.items():
        mine = runs.of(of)
        known = {axis: title for axis, title in axes.items() if axis in mine.grid()}
        found += [{"set": name, "Mb/s": rate, "sessions": 50, **row} for row in rows(mine, known, shown)]
    note = "s; `open` is the share of objects in progress after 1000 s"
    return Finding([], note, found, seeds=len(web(runs).values(ALL, marker=RTO)))
