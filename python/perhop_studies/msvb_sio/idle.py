"""Not in the paper: half of the classes are silent, and come back. What becomes of their shares?"""

from __future__ import annotations

import math

from perhop import stats
from perhop_studies import Study
from perhop_studies.drawing import Look
from perhop_studies.msvb_sio.terms import CLASSES, LINK, LOOKS, percent
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, never_below

FIGURES = ("fig2", "fig3", "fig4", "fig5")
"""Whose loads are run with and without `silent`; Fig. 6 has that of Fig. 5."""

idle_class = Study(
    "msvb-idle-class",
    title="Unused shares (not in the paper)",
    runs=("msvb-idle-class", "msvb-silent"),
)

BACK, END = 50, 100
"""When the silent classes begin in the second run, and its end, s."""
WINDOW, POINTS = 5, 1.0
"""A mean over this many seconds, and how far it may be from a tenth, % of the link."""
QUEUES = {
    "msvb": LOOKS["msvb"],
    "msvb-silent": Look("MSVB, silent", "#12633b", "s"),
    "msvb-unused": Look("MSVB, unused", "#7c3aed", "D"),
    "red": LOOKS["red"],
    "svb": LOOKS["svb"],
}


def of(runs: Samples, case: str, queue: str) -> Samples:
    """The run in which classes 6 to 10 send nothing, `silent`, or that in which they begin at 50 s, `later`."""
    return runs.of("msvb-idle-class").at(case=case, queue=queue)


@idle_class.claim("redistribute-same-marks")
def the_same_packet_for_packet(runs: Samples) -> Finding:
    """As long as no class pauses for 1 s, `silent` is MSVB as the paper has it.

    Every quantity of a run is compared, exactly: drops by colour, what each class brought, waits in ns, the queue over
    time. One mark more or less on any packet alters its flow's window, and with it all of these.
    """
    found = {figure: _alike(runs, figure) for figure in FIGURES}
    parts = [never_below(f"of {figure}: identical runs", alike, 1.0) for figure, (alike, _) in found.items()]
    left_out = ", ".join(f"{figure} {n}" for figure, (_, n) in found.items() if n)
    note = "Packet for packet on random loads: crates/core/tests/all/aqm/virtual_buffer.rs."
    return Finding(parts, f"{note} Excluded, as a class was silent for 1 s: runs of {left_out}." if left_out else note)


def _alike(runs: Samples, figure: str) -> tuple[list[float], int]:
    """Whether each run is what it is without `silent`, and how many had a class that paused."""
    both = runs.of("msvb-silent").at(figure=figure)
    ours, literal = both.at(rule="silent").all, {s.replication: s.values for s in both.at(rule="off").all}
    busy = [sample for sample in ours if not sample.values.get("silences")]
    same = [{k: v for k, v in s.values.items() if k != "silences"} == literal[s.replication] for s in busy]
    return list(map(float, same)), len(ours) - len(busy)


@idle_class.claim("literal-and-others")
def what_the_others_do(runs: Samples) -> Finding:
    """As the paper has it, MSVB leaves what silent classes could have sent; and when they come back."""
    rows = []
    for queue, look in QUEUES.items():
        silent, later = of(runs, "silent", queue), of(runs, "later", queue)
        back = [settled(later, i) for i in range(len(silent.values("drops")))]
        row = {"queue": look.label, "utilisation": silent.mean("utilisation").mean}
        row["class 1, %"] = stats.mean(percent(silent.values("class1.throughput"), LINK))
        row["drops, %"] = 100 * silent.mean("drops").mean
        row |= {"queue, packets": silent.mean("queue").mean, "sd of queue": silent.mean("deviation").mean}
        row["second run: s until even"] = stats.mean(t for t in back if not math.isnan(t))
        rows.append({**row, "in runs": sum(not math.isnan(t) for t in back)})
    note = "First run: classes 6 to 10 silent. Second: they begin at 50 s; time until every class stays within 10 % ±1."
    return Finding([], note, rows, seeds=len(of(runs, "silent", "msvb").all))


def settled(runs: Samples, row: int) -> float:
    """How long after they began every class stays within a tenth and a point, s; NaN if it does not before the end."""
    outside = [BACK]
    for name in CLASSES:
        rates = [runs.values(f"{name}@{t}")[row] for t in range(BACK + 1, END + 1)]
        for i in range(len(rates) - WINDOW + 1):
            mean = stats.mean(rates[i : i + WINDOW])
            if abs(100 * mean / LINK - 10) > POINTS:
                outside.append(BACK + i + 1)
    last = max(outside)
    return float(last - BACK) if last <= END - WINDOW else math.nan
