"""Beyond the paper: MSVB that hands on what classes leave, SIO whose OUT comes back. Reported, never judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.criteria import Cell
from perhop_studies.drawing import INK, PUBLISHED, Look, Picture, canvas, halves, legend_above, picture
from perhop_studies.msvb_sio import weighted
from perhop_studies.msvb_sio.terms import CLASSES, EVEN, LINK, LOOKS, Division, percent
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

unused = Study(
    "msvb-unused",
    title="Beyond the paper: what classes leave of their shares",
    runs=("beyond-unused", "msvb-unused", "msvb-fig2", "msvb-fig3", "msvb-fig4", "msvb-fig5"),
)
recovery = Study(
    "sio-recovery",
    title="Beyond the paper: OUT's threshold comes back",
    runs=("sio-laws", "sio-laws-tcp", "sio-flood"),
)
STUDIES = [unused, recovery]

RULES = {
    "off": LOOKS["msvb"],
    "silent": Look("silent", "#12633b", "s"),
    "unused": Look("unused", "#7c3aed", "D"),
}
BUSY, REST = CLASSES[:5], CLASSES[5:]
CASES = {
    "tenth": ("5 send a tenth of their shares", BUSY, REST),
    "half": ("5 send half of them", BUSY, REST),
    "bursts": ("5 on and off, 0.5 s of twice it", BUSY, REST),
    "mice": ("5 send short transfers", BUSY, REST),
    "one": ("1 of 10 sends", CLASSES[:1], ()),
    "flood": ("9 flood, 1 keeps to half", CLASSES[1:], CLASSES[:1]),
}
"""What they are, the classes that need more than their shares, and those that send less."""
MARKS = {"ecn": "ECN", "drops": "drops"}
LAWS = {
    "none": Look("none (paper)", "#667584", "^"),
    "step-1s": Look("step 1 s", "#8a5a00", "v"),
    "step-3s": Look("step 3 s", "#0072b2", "o"),
    "step-10s": Look("step 10 s", "#12633b", "s"),
    "reset-1s": Look("reset 1 s", "#c2410c", "P"),
    "two": Look("step 0.2 s, 10 s", "#7c3aed", "D"),
    "overflows": Look("10 s, overflows alone", "#111111", "x"),
}
"""How OUT's threshold comes back."""
LOADS = {"critical": "Table 1, CIR 1, P1", "twice": "Table 1, CIR 2, P2"}
FLOOD, AFTER, END = 30, 32, 100
"""From when to when IN floods the link, and the end of the run, s."""


def _case(runs: Samples, case: str, marks: str, rule: str) -> Samples:
    return runs.of("beyond-unused").at(case=case, marks=marks, rule=rule)


def _average(runs: Samples, names: Sequence[str], quantity: str) -> list[float]:
    """The mean over these classes, by replication."""
    columns = [runs.values(f"{name}.{quantity}") for name in names]
    return [stats.mean(row) for row in zip(*columns, strict=True)]


def _said(found: Sequence[float], scale: float = 1.0) -> str:
    it = stats.interval([scale * x for x in found])
    half = 0.0 if math.isnan(it.half) else it.half
    digits = 3 if abs(it.mean) < 10 else 2
    return f"{it.mean:.{digits}f} ± {half:.{digits}f}"


@unused.claim("loads")
def what_is_made_of_it(runs: Samples) -> Finding:
    """Utilisation, the rate of a class that needs more, and what the others lose."""
    rows: list[dict[str, Any]] = []
    for case, (name, wanting, within) in CASES.items():
        for marks, mode in MARKS.items():
            for rule in RULES:
                found = _case(runs, case, marks, rule)
                row = {"load": name, "signal": mode, "rule": rule, "utilisation": _said(found.values("utilisation"))}
                row["a class that wants more, Mbit/s"] = _said(_average(found, wanting, "throughput"), 1e-6)
                row["lost of the others', %"] = _said(_average(found, within, "drops"), 100) if within else "-"
                row["wait, ms"] = _said(_average(found, wanting, "wait"))
                rows.append(row)
    seeds = len(_case(runs, "tenth", "ecn", "off").values("utilisation"))
    return Finding([], "Ten classes of equal shares; mean and 95 % interval.", rows, seeds=seeds)


def _figures(runs: Samples, rule: str) -> dict[str, Samples]:
    if rule == "unused":
        return {name: runs.of("msvb-unused").at(figure=name) for name in ("fig2", "fig3", "fig4", "fig5")}
    literal = {name: runs.of(f"msvb-{name}").at(scheme="msvb") for name in ("fig2", "fig3", "fig5")}
    return {**literal, "fig4": runs.of("msvb-fig4").at(scheme="msvb", rates=15)}


def _farthest(found: Division) -> list[float]:
    """How far the class farthest from its part is from it, % of the link."""
    parts = list(found.entitled.values())
    return [max(100 * abs(x - phi) for x, phi in zip(row, parts, strict=True)) for row in found.rows]


@unused.claim("figures")
def nothing_is_worse(runs: Samples) -> Finding:
    """The published experiments, in which all classes send."""
    rows: list[dict[str, Any]] = []
    for rule in ("off", "unused"):
        of = _figures(runs, rule)
        row = {"rule": rule, "Fig. 2: drops, %": _said(of["fig2"].values("drops"), 100)}
        row["Fig. 2: utilisation"] = _said(of["fig2"].values("utilisation"))
        row["Fig. 2: queue@1"] = _said(of["fig2"].values("queue@1"))
        row["Fig. 2: queue@6"] = _said(of["fig2"].values("queue@6"))
        for name, entitled in (("fig3", EVEN), ("fig4", EVEN), ("fig5", weighted.ENTITLED)):
            found, title = Division.of(of[name], entitled), f"Fig. {name[-1]}"
            row[f"{title}: jain"] = f"{stats.mean(found.jain):.4f}"
            row[f"{title}: farthest class, %"] = _said(_farthest(found))
        waits = [[row[i] for row in _waits(of["fig5"])] for i in range(len(CLASSES))]
        spread = [max(row) / min(row) for row in zip(*waits, strict=True)]
        row["Fig. 6: waits, max/min"] = _said(spread)
        rows.append(row)
    return Finding([], "Mean and 95 % interval.", rows, seeds=len(rows and _figures(runs, "off")["fig3"].all))


def _waits(runs: Samples) -> list[list[float]]:
    return [list(row) for row in zip(*(runs.values(f"{name}.wait") for name in CLASSES), strict=True)]


def _law(found: Samples) -> dict[str, str]:
    return {
        "utilisation": _said(found.values("utilisation")),
        "IN dropped, %": _said(found.values("in.drops"), 100),
        "OUT dropped, %": _said(found.values("out.drops"), 100),
        "queue, packets": _said(found.values("queue")),
    }


@recovery.claim("laws")
def how_it_comes_back(runs: Samples) -> Finding:
    """What each law gives, where IN alone nearly fills the link, where it overfills it, and with TCP alone."""
    rows: list[dict[str, Any]] = []
    for law, look in LAWS.items():
        for load, title in LOADS.items():
            found = runs.of("sio-laws").at(law=law, load=load)
            rows.append({"law": look.label, "load": title, **_law(found), "jain": "-"})
        found = runs.of("sio-laws-tcp").at(law=law)
        index = f"{stats.mean(Division.of(found).jain):.4f}"
        rows.append({"law": look.label, "load": "Fig. 3, P1", **_law(found), "jain": index})
    return Finding([], "Mean and 95 % interval.", rows, seeds=len(runs.of("sio-flood").at(law="none").all))


def _second(runs: Samples, t: int) -> list[float]:
    """What the ten classes brought in the second that ends at t, of the link, by replication."""
    columns = [runs.values(f"{name}@{t}") for name in CLASSES]
    return [sum(row) / LINK for row in zip(*columns, strict=True)]


def _later(runs: Samples) -> list[float]:
    """The mean from 4 s after the flood to the end."""
    seconds = [_second(runs, t) for t in range(AFTER + 5, END + 1)]
    return [stats.mean(row) for row in zip(*seconds, strict=True)]


@recovery.claim("flood")
def after_a_flood(runs: Samples) -> Finding:
    """Two seconds of IN beyond the link's rate: as the paper has it OUT does not come back."""
    rows: list[dict[str, Any]] = []
    for law, look in LAWS.items():
        found = runs.of("sio-flood").at(law=law)
        row = {
            "law": look.label,
            "link used after it": _said(_later(found)),
            "IN dropped, %": _law(found)["IN dropped, %"],
        }
        for t in (FLOOD, 40, 60, END):
            row[f"threshold at {t} s"] = _said(found.values(f"threshold@{t}"))
        rows.append(row)
    return Finding([], "Mean and 95 % interval.", rows, seeds=len(runs.of("sio-flood").at(law="none").all))


def _grouped(axes: Axes, runs: Samples, marks: str, quantity: str) -> None:
    for shift, (rule, look) in zip((-0.27, 0.0, 0.27), RULES.items(), strict=True):
        found = []
        for case, (_, _, within) in CASES.items():
            mine = _case(runs, case, marks, rule)
            lost = percent(_average(mine, within, "drops")) if within else [math.nan]
            found.append(stats.interval(mine.values("utilisation") if quantity == "utilisation" else lost))
        style: dict[str, Any] = {"color": look.colour, "ecolor": INK, "capsize": 2, "alpha": 0.85, "label": look.label}
        axes.bar([i + shift for i in range(len(CASES))], [f.mean for f in found], 0.26, yerr=halves(found), **style)
    axes.set_xticks(range(len(CASES)), list(CASES))
    axes.grid(visible=False, axis="x")


def draw_unused(runs: Samples, _: list[Cell]) -> Picture:
    """Utilisation and what classes within their shares lose."""
    figure, panels = canvas(4, (12.4, 3.1))
    for axes, (marks, mode) in zip(panels[:2], MARKS.items(), strict=True):
        _grouped(axes, runs, marks, "utilisation")
        axes.axhline(0.95, color=PUBLISHED, linestyle=(0, (5, 3)), linewidth=1.0)
        axes.set_title(f"utilisation, {mode}")
    for axes, (marks, mode) in zip(panels[2:], MARKS.items(), strict=True):
        _grouped(axes, runs, marks, "drops")
        axes.set_title(f"lost within the share, %, {mode}")
    legend_above(figure)
    caption = "Classes that leave part of their shares: use of the link, and what they lose, by rule of `redistribute`."
    alternative = "Only `unused` uses the link under every load; those within their shares lose no more than before."
    return picture(figure, "msvb-unused", caption, alternative)


def draw_recovery(runs: Samples, _: list[Cell]) -> Picture:
    """OUT's threshold and the use of the link around a flood of IN."""
    figure, (threshold, used) = canvas(2, (9.6, 3.3))
    times = range(1, END + 1)
    for law, look in LAWS.items():
        found = runs.of("sio-flood").at(law=law)
        style: dict[str, Any] = {"color": look.colour, "label": look.label, "linewidth": 1.4}
        threshold.plot(times, [found.mean(f"threshold@{t}").mean for t in times], **style)
        used.plot(times, [100 * stats.mean(_second(found, t)) for t in times], **style)
    threshold.set_title("OUT's threshold, packets")
    used.set_title("% of the link brought by the ten classes")
    for axes in (threshold, used):
        axes.axvspan(FLOOD, AFTER, color="#dfe5ea", linewidth=0)
        axes.set_xlabel("s")
        axes.set_ylim(bottom=0)
    legend_above(figure)
    caption = "Two seconds (grey) of IN beyond the link's rate: OUT's threshold, and what the link carries, by law."
    alternative = "As the paper has it the threshold stays at zero; by the other laws it comes back."
    return picture(figure, "sio-recovery", caption, alternative)


PICTURES = {"msvb-unused": draw_unused, "sio-recovery": draw_recovery}
