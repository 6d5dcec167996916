"""Not in the paper: half of the classes are silent, and come back. What becomes of their shares?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.criteria import Cell
from perhop_studies.drawing import PUBLISHED, Look, Picture, canvas, legend_above, picture
from perhop_studies.msvb_sio.terms import CLASSES, LINK, LOOKS, Division, percent
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, never_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = ("fig2", "fig3", "fig4", "fig5")
"""Whose loads are run with and without `silent`; Fig. 6 has that of Fig. 5."""

idle = Study(
    "msvb-idle-class",
    title="Unused shares (not in the paper)",
    runs=("msvb-idle-class", "msvb-silent"),
)
STUDIES = [idle]

BUSY, LATER = CLASSES[:5], CLASSES[5:]
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


def silent(runs: Samples, queue: str) -> Samples:
    """The run in which classes 6 to 10 send nothing."""
    return runs.of("msvb-idle-class").at(case="silent", queue=queue)


def later(runs: Samples, queue: str) -> Samples:
    """The run in which they begin at 50 s."""
    return runs.of("msvb-idle-class").at(case="later", queue=queue)


@idle.claim("redistribute-shares")
def a_fifth_each(runs: Samples) -> Measured:
    """Each of those that send has a fifth."""
    found = Division.of(silent(runs, "msvb-silent"), dict.fromkeys(BUSY, 0.2))
    return Measured(found.each())


@idle.claim("redistribute-same-marks")
def the_same_packet_for_packet(runs: Samples) -> Finding:
    """As long as no class pauses for 1 s, `silent` is MSVB as the paper has it.

    Every quantity of a run is compared, exactly: drops by colour, what each class brought, waits in ns, the queue over
    time. One mark more or less on any packet alters its flow's window, and with it all of these.
    """
    found = {figure: _alike(runs, figure) for figure in FIGURES}
    parts = [never_below(f"of {figure}: identical runs", alike, 1.0) for figure, (alike, _) in found.items()]
    left_out = ", ".join(f"{figure} {n}" for figure, (_, n) in found.items() if n)
    note = "Packet for packet on random loads: crates/core/tests/aqm/virtual_buffer.rs."
    return Finding(parts, f"{note} Excluded, as a class was silent for 1 s: runs of {left_out}." if left_out else note)


def _alike(runs: Samples, figure: str) -> tuple[list[float], int]:
    """Whether each run is what it is without `silent`, and how many had a class that paused."""
    both = runs.of("msvb-silent").at(figure=figure)
    ours, of = both.at(rule="silent").all, {s.replication: s.values for s in both.at(rule="off").all}
    busy = [sample for sample in ours if not sample.values.get("silences")]
    same = [
        float({k: v for k, v in sample.values.items() if k != "silences"} == of[sample.replication]) for sample in busy
    ]
    return same, len(ours) - len(busy)


@idle.claim("literal-and-others")
def what_the_others_do(runs: Samples) -> Finding:
    """As the paper has it, MSVB leaves what silent classes could have sent; and when they come back."""
    rows: list[dict[str, Any]] = []
    for queue, look in QUEUES.items():
        one, two = silent(runs, queue), later(runs, queue)
        shares = percent(Division.of(one, dict.fromkeys(BUSY, 0.2)).part(BUSY[0]))
        back = [settled(two, i) for i in range(len(shares))]
        rows.append(
            {
                "queue": look.label,
                "utilisation": one.mean("utilisation").mean,
                "class 1, %": stats.mean(shares),
                "drops, %": 100 * one.mean("drops").mean,
                "queue, packets": one.mean("queue").mean,
                "sd of queue": one.mean("deviation").mean,
                "second run: s until even": stats.mean(t for t in back if not math.isnan(t)),
                "in runs": sum(not math.isnan(t) for t in back),
            }
        )
    note = "First run: classes 6 to 10 silent. Second: they begin at 50 s; time until every class stays within 10 % ±1."
    return Finding([], note, rows, seeds=len(silent(runs, "msvb").all))


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


def _over_time(axes: Axes, runs: Samples) -> None:
    times = range(1, END + 1)
    groups = {"classes 1 to 5": (BUSY, "#0072b2"), "classes 6 to 10": (LATER, "#c2410c"), "all": (CLASSES, "#667584")}
    for label, (names, colour) in groups.items():
        rates = [sum(runs.mean(f"{name}@{t}").mean for name in names) for t in times]
        axes.plot(times, [100 * x / LINK for x in rates], color=colour, label=label, linewidth=1.4)


def draw(runs: Samples, _: list[Cell]) -> Picture:
    """What each half of the classes brings over time, queue by queue."""
    figure, panels = canvas(len(QUEUES), (12.4, 2.9))
    for axes, (queue, look) in zip(panels, QUEUES.items(), strict=True):
        _over_time(axes, later(runs, queue))
        axes.axvline(BACK, color=PUBLISHED, linestyle=":", linewidth=1.0)
        used = stats.mean(silent(runs, queue).values("utilisation"))
        axes.set_title(f"{look.label}: {used:.3f}")
        axes.set_ylim(0, 108)
        axes.set_xlabel("s")
    panels[0].set_ylabel("% of the link")
    legend_above(figure)
    caption = (
        "Classes 6 to 10 begin at 50 s: what each half brings, mean over the replications. In the titles the "
        "utilisation of the run in which they never do."
    )
    alternative = "MSVB as the paper has it uses half of the link until all classes send; with either rule all of it."
    return picture(figure, "msvb-idle-class", caption, alternative)


PICTURES = {"msvb-idle-class": draw}
