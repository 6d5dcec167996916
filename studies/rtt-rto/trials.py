"""What is this paper's own in trying readings: what is shown."""

from __future__ import annotations

from collections.abc import Mapping

from perhop import stats
from perhop_studies.rtt_rto import domains, tables
from perhop_studies.rtt_rto.terms import BASIC, MANY, PAIR, RTO, STANDARD, SW
from perhop_studies.samples import Samples
from perhop_studies.trying import Trial

NOT_VARIED = ("rtt-fig4-rto", "rtt-fig4-2dp-out", "rtt-table2-w2")
"""Run sets of reports alone, or readings themselves."""


def _mean(runs: Samples, quantity: str, **at: object) -> float:
    return runs.mean(quantity, **at).mean


def _figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    two = runs["rtt-fig4"].at(n=MANY, rtt=100)
    found = {f"fig4: {marker} {flow}": _mean(two, flow, marker=marker) for marker in (BASIC, RTO, SW) for flow in PAIR}
    found["fig4: standard total"] = _mean(two, "total", marker=STANDARD)
    found |= {f"fig5: cwnd {marker}": _mean(runs["rtt-fig5"], "F1.cwnd", marker=marker) for marker in (BASIC, SW)}
    found["fig6: F3/mean(F1, F2, F4)"] = stats.mean(
        domains.by_short(runs["rtt-fig6"].at(marker=RTO, n=MANY), ("F1", "F2", "F4"))
    )
    found["67x"] = stats.mean(domains.by_short(runs["rtt-67x"].at(marker=STANDARD)))
    for marker in tables.MARKERS:
        found[f"table1: {marker}"] = _mean(runs["rtt-table1"], tables.OVERALL, marker=marker)
    for marker in tables.MARKERS:
        found[f"table2: {marker}"] = _mean(tables.web(runs["rtt-table2"]), tables.ALL, marker=marker)
    return found


TRIAL = Trial(_figures, fixed=NOT_VARIED)
