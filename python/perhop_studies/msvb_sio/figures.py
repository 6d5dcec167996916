"""The paper's figures again, with what it prints on them, and those of what it does not have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, Look, Picture, canvas, curve, halves, legend_above, picture
from perhop_studies.msvb_sio import beyond, idle, lemma
from perhop_studies.msvb_sio.method import BIN, LIMIT, STEP, STEPS
from perhop_studies.msvb_sio.terms import CIRS, CLASSES, FLOWS, LINK, LOOKS, TCP, UDP, WEIGHTS, percent
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
PRINTED: dict[str, Any] = {"linestyle": "", "marker": "D", "markersize": 5, "mfc": "white", "mec": PUBLISHED}
BLUE, ORANGE = "#0072b2", "#c2410c"
SETS = {
    "rio": LOOKS["rio"],
    "P1": Look("SIO, P1", LOOKS["sio"].colour),
    "P2": Look("SIO, P2", "#b79be8"),
}
COMPARED = {"wrr": Look("WRR", "#12633b", "s", "--"), **{name: LOOKS[name] for name in ("rio", "sio", "msvb")}}
TRIPS = {0.12: BLUE, 0.16: "#8a5a00", 0.20: ORANGE}
SIDES = {1.2: Look("1.2 x critical", BLUE), 0.8: Look("0.8 x critical", ORANGE)}
ROWS: dict[str, tuple[str, Callable[[Samples], list[float]]]] = {
    "In-Tp": ("IN let through, % of the link", lambda runs: percent(runs.values("in.rate"), LINK)),
    "In-Dp": ("IN dropped, %", lambda runs: percent(runs.values("in.drops"))),
    "Out-Dp": ("OUT dropped, %", lambda runs: percent(runs.values("out.drops"))),
    "Avg queue": ("average queue, packets", lambda runs: runs.values("queue")),
}
"""Of Table 1: what each is, and its values."""


def row_of_table(runs: Samples, row: str, scheme: str, cir: int) -> list[float]:
    """A row of Table 1 for one scheme (`rio`, `P1` or `P2`) and CIR, under UDP of 15 Mbit/s."""
    return ROWS[row][1](runs.at(rates=15, scheme=scheme, cir=cir))


def _bars(
    axes: Axes, look: Look, places: Sequence[float], found: Sequence[stats.Interval], width: float = 0.75
) -> None:
    style: dict[str, Any] = {"color": look.colour, "label": look.label, "alpha": 0.85, "ecolor": MUTED, "capsize": 2}
    axes.bar(places, [f.mean for f in found], width, yerr=halves(found), **style)
    axes.grid(visible=False, axis="x")


def _grouped(axes: Axes, names: Sequence[str], found: Mapping[Look, Sequence[stats.Interval]]) -> None:
    """Three bars at each name."""
    for shift, (look, values) in zip((-0.27, 0.0, 0.27), found.items(), strict=True):
        _bars(axes, look, [i + shift for i in range(len(names))], values, 0.26)
    axes.set_xticks(range(len(names)), list(names))


def _shares(runs: Samples, names: Sequence[str] = CLASSES) -> list[stats.Interval]:
    """Parts of the link by class, %."""
    return [stats.interval(percent(runs.values(f"{name}.throughput"), LINK)) for name in names]


def _queues(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(3, (9.6, 5.2), rows=2)
    for axes, (scheme, look) in zip(panels, LOOKS.items(), strict=True):
        found, edges = runs.at(scheme=scheme), [STEP * k for k in range(STEPS + 1)]
        axes.stairs([n / 15 for n in FLOWS], edges, fill=True, color="#dfe5ea", label="flows / 15")
        _evolution(axes, found, edges)
        axes.axhline(LIMIT, **EXPECTED, label="limit")
        lost, full = (100 * stats.mean(found.values(name)) for name in ("drops", "utilisation"))
        axes.set_title(f"{look.label}: lost {lost:.2g} %, link {full:.1f} % busy")
        axes.set(xlim=(0, STEPS * STEP), ylim=(0, 105))
    _label(figure, panels, "time, s", "packets waiting")
    caption = (
        "Fig. 2: the queue while flows come and go: means over 2 s, least and most (one run); steps: mean of each 50 s "
        "over all seeds. Grey: flows, from 50 to 300. For MSVB 350 drops are printed, 0.047 % of a full link."
    )
    alternative = "Queues of six schemes over 600 s: RED's follows the number of flows, MSVB's moves less within steps."
    return picture(figure, "msvb-fig2", caption, alternative)


def _label(figure: Figure, panels: Sequence[Axes], below: str, left: str) -> None:
    """The axes of two rows of three panels, and a legend over them."""
    for axes in panels[3:]:
        axes.set_xlabel(below)
    for axes in panels[::3]:
        axes.set_ylabel(left)
    legend_above(figure)


def _evolution(axes: Axes, runs: Samples, edges: list[int]) -> None:
    ends = range(BIN, STEPS * STEP + 1, BIN)
    low, mean, high = ([runs.values(f"{name}@{t}")[0] for t in ends] for name in ("low", "mean", "high"))
    times = [t - BIN / 2 for t in ends]
    axes.fill_between(times, low, high, color=BLUE, alpha=0.2, linewidth=0, label="least to most")
    axes.plot(times, mean, color=BLUE, linewidth=0.8, label="mean of 2 s")
    steps = [stats.mean(runs.values(f"queue@{k}")) for k in range(1, STEPS + 1)]
    axes.stairs(steps, edges, baseline=None, color=PUBLISHED, label="mean of a step")


def _table(runs: Samples, cells: list[Cell]) -> Picture:
    figure, panels = canvas(4, (11.2, 3.2))
    printed = {(c.row, c.column): c.published for c in cells}
    for axes, (row, (title, _)) in zip(panels, ROWS.items(), strict=True):
        found = {k: [stats.interval(row_of_table(runs, row, s, cir)) for cir in CIRS] for s, k in SETS.items()}
        _grouped(axes, list(CIRS.values()), found)
        for column, shift in (("RIO", -0.27), ("SIO", 0.135)):
            values = [printed[row, f"{column} {name}"] for name in CIRS.values()]
            axes.plot([i + shift for i in range(len(values))], values, **PRINTED, label="published", zorder=5)
        axes.set(title=title, xlabel="CIR of each class, Mbit/s")
        axes.set_ylim(bottom=0)
    legend_above(figure)
    caption = "Table 1: RIO and SIO under both sets of parameters, measured (bars) and published; UDP sends 15 Mbit/s."
    alternative = "Bars beside printed values: IN gets through, OUT is dropped, and queues differ at CIR 2."
    return picture(figure, "sio-table1", caption, alternative)


def _fairness(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(3, (9.6, 2.9))
    for axes, rates in zip(panels, (15, 25, 30), strict=True):
        found = {k: [runs.mean("jain", scheme=s, rates=rates, cir=cir) for cir in CIRS] for s, k in SETS.items()}
        _grouped(axes, list(CIRS.values()), found)
        axes.set(title=f"UDP sends {rates} Mbit/s", xlabel="CIR of each class, Mbit/s", ylim=(0, 1.05))
    panels[0].set_ylabel("Jain's index of the ten classes")
    legend_above(figure)
    caption = (
        "How fair RIO and SIO are to five classes of TCP and five of UDP, by contract; at a CIR of 2 ten contracts "
        "exceed the link."
    )
    alternative = "The indices of RIO and SIO by contract, three sets of UDP rates."
    return picture(figure, "sio-fairness", caption, alternative)


def _by_class(
    runs: Samples, kinds: Mapping[Look, Sequence[str]], top: float, ticks: Sequence[int]
) -> tuple[Figure, list[Axes]]:
    """A panel a scheme, a bar a class, each in the look of its kind."""
    figure, panels = canvas(3, (9.6, 5.0), rows=2)
    for axes, (scheme, look) in zip(panels, LOOKS.items(), strict=True):
        found = runs.at(scheme=scheme)
        for kind, names in kinds.items():
            _bars(axes, kind, [CLASSES.index(name) for name in names], _shares(found, names))
        axes.axhline(10, **EXPECTED, label="its tenth")
        axes.set_title(f"{look.label}: Jain's index {stats.mean(found.values('jain')):.4f}")
        axes.set_xticks(range(len(CLASSES)), list(map(str, ticks)))
        axes.set_ylim(0, top)
    return figure, panels


def _round_trips(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = _by_class(runs, {Look("class", BLUE): CLASSES}, 21, range(40, 221, 20))
    _label(figure, panels, "round-trip time, ms", "% of the link")
    caption = "Fig. 3: parts of the link of ten classes by round-trip time; published: MSVB's index is about 1."
    alternative = "RED and SVB fall from 19 % to 6 % with the round-trip time, MSVB is level at 10 %."
    return picture(figure, "msvb-fig3", caption, alternative)


def _unresponsive(runs: Samples, _: list[Cell]) -> Picture:
    kinds = {Look("TCP", BLUE): TCP, Look("UDP, 1 to 5 Mbit/s", ORANGE): UDP}
    figure, panels = _by_class(runs.at(rates=15), kinds, 36, range(1, 11))
    _label(figure, panels, "class", "% of the link")
    caption = "Fig. 4: parts of the link of five TCP and five UDP classes; published: MSVB's are almost even."
    alternative = (
        "UDP takes nearly all under RED and SVB, slightly more than TCP under RIO and SIO, a tenth under MSVB."
    )
    return picture(figure, "msvb-fig4", caption, alternative)


def _weights(axes: Axes, look: Look, found: list[stats.Interval], title: str) -> None:
    _bars(axes, look, range(1, 11), found)
    axes.set_xticks(range(1, 11), [f"{i}\n({w})" for i, w in enumerate(WEIGHTS.values(), 1)])
    axes.set(xlabel="class (weight)", title=title)


def _weighted(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(4, (11.6, 2.9))
    for axes, (scheme, look) in zip(panels, COMPARED.items(), strict=True):
        found = runs.at(scheme=scheme)
        _weights(axes, look, _shares(found), f"{look.label}: jain {found.mean('jain.weighted').mean:.4f}")
        for i, weight in enumerate(WEIGHTS.values(), 1):
            axes.plot([i - 0.45, i + 0.45], [100 * weight / sum(WEIGHTS.values())] * 2, color=PUBLISHED, linewidth=1.4)
        axes.set_ylim(0, 18)
    panels[0].set_ylabel("% of the link")
    caption = "Fig. 5: parts of the link by class, ten classes with weights 1 to 4; lines: what the weights say."
    alternative = "MSVB on the lines; RIO and SIO give small weights too much and large ones too little."
    return picture(figure, "msvb-fig5", caption, alternative)


def _waits(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(2, (9.2, 3.1))
    for axes, scheme in zip(panels, ("wrr", "msvb"), strict=True):
        found, look = runs.at(scheme=scheme), COMPARED[scheme]
        centres, deviations = ([found.mean(f"{c}.{q}").mean for c in CLASSES] for q in ("wait", "wait_deviation"))
        title = f"{look.label}: largest mean {found.mean('wait.spread').mean:.4g} times the smallest"
        _weights(axes, look, [stats.interval([x]) for x in centres], title)
        style: dict[str, Any] = {"fmt": "none", "ecolor": MUTED, "elinewidth": 1.4, "capsize": 3}
        axes.errorbar(range(1, 11), centres, yerr=deviations, **style)
        axes.set_ylabel("wait, ms")
        axes.set_ylim(bottom=0)
    caption = "Fig. 6: how long packets wait, by class: mean, and the standard deviation of single packets (whiskers)."
    alternative = "In WRR the wait falls with the weight; in MSVB it does so much less."
    return picture(figure, "msvb-fig6", caption, alternative)


def _lemma(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(4, (12.0, 3.2))
    _thresholds(panels[0])
    for axes, flows in zip(panels[1:3], (50, 100), strict=True):
        for side, look in SIDES.items():
            axes.plot(*_swings(*lemma.trajectory(flows, side)), color=look.colour, linewidth=1.4, label=look.label)
        axes.set(xlabel="time, s", yscale="log", ylim=(1e-7, 3), title=f"fluid model, |load/C - 1|, N = {flows}")
    found = [stats.interval(runs.values("deviation", v0=v0)) for v0 in lemma.V0]
    curve(panels[3], Look("packets, N = 50", LOOKS["svb"].colour), lemma.V0, found)
    for rtt, colour in list(TRIPS.items())[:2]:
        panels[3].axvline(lemma.critical(50, rtt), color=colour, linestyle=(0, (2, 2)), linewidth=1.1)
    panels[3].set(xscale="log", xlabel="V0, packets", title="standard deviation of the queue")
    panels[3].set_ylim(bottom=0)
    legend_above(figure)
    caption = (
        "Lemma 3.1: critical thresholds by flows; the fluid model on both sides of them; the queue's deviation in "
        "packet runs by V0, with the critical thresholds at a round trip of 0.12 s and of 0.16 s: 50 packets waiting."
    )
    alternative = "Thresholds fall with flows; above them a disturbance dies, below it grows; the queue is steadier."
    return picture(figure, "svb-lemma31", caption, alternative)


def _swings(times: list[float], load: list[float]) -> tuple[list[float], list[float]]:
    """The largest of each second, over the first half minute."""
    each = sum(t < 1 for t in times)
    seconds = range(30)
    return [s + 0.5 for s in seconds], [max(abs(x - 1) for x in load[s * each : (s + 1) * each]) for s in seconds]


def _thresholds(axes: Axes) -> None:
    flows = list(lemma.TABLE)
    for (rtt, colour), column in zip(TRIPS.items(), zip(*lemma.TABLE.values(), strict=True), strict=True):
        fine = range(flows[0], flows[-1] + 1)
        axes.plot(fine, [lemma.critical(n, rtt) for n in fine], color=colour, label=f"R = {rtt:g} s")
        axes.plot(flows, column, **PRINTED, label="check values")
    axes.set(yscale="log", xlabel="flows", title="critical threshold, packets")


def _idle(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(len(idle.QUEUES), (12.4, 2.9))
    times = range(1, idle.END + 1)
    groups = {"classes 1 to 5": (TCP, BLUE), "classes 6 to 10": (UDP, ORANGE), "all": (CLASSES, MUTED)}
    for axes, (queue, look) in zip(panels, idle.QUEUES.items(), strict=True):
        found = idle.of(runs, "later", queue)
        for label, (names, colour) in groups.items():
            rates = [100 * sum(found.mean(f"{name}@{t}").mean for name in names) / LINK for t in times]
            axes.plot(times, rates, color=colour, label=label, linewidth=1.4)
        axes.axvline(idle.BACK, color=PUBLISHED, linestyle=":", linewidth=1.0)
        used = idle.of(runs, "silent", queue).mean("utilisation").mean
        axes.set(title=f"{look.label}: {used:.3f}", ylim=(0, 108), xlabel="s")
    panels[0].set_ylabel("% of the link")
    legend_above(figure)
    caption = (
        "Classes 6 to 10 begin at 50 s: what each half brings, mean over the replications. In the titles the "
        "utilisation of the run in which they never do."
    )
    alternative = "MSVB as the paper has it uses half of the link until all classes send; with either rule all of it."
    return picture(figure, "msvb-idle-class", caption, alternative)


def _unused(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(4, (12.4, 3.1))
    for i, (marks, mode) in enumerate(beyond.MARKS.items()):
        used, lost = panels[i], panels[2 + i]
        at = {look: [(runs, case, marks, rule) for case in beyond.CASES] for rule, look in beyond.RULES.items()}
        by_rule = {look: [beyond.case_of(*x).mean("utilisation") for x in places] for look, places in at.items()}
        _grouped(used, list(beyond.CASES), by_rule)
        losses = {
            k: [stats.interval(percent(beyond.lost(*x)) or [math.nan]) for x in places] for k, places in at.items()
        }
        _grouped(lost, list(beyond.CASES), losses)
        used.axhline(0.95, color=PUBLISHED, linestyle=(0, (5, 3)), linewidth=1.0)
        used.set_title(f"utilisation, {mode}")
        lost.set_title(f"lost within the share, %, {mode}")
    legend_above(figure)
    caption = "Classes that leave part of their shares: use of the link, and what they lose, by rule of `redistribute`."
    alternative = (
        "Only `unused` uses the link under every load; those within their shares lose little more than before."
    )
    return picture(figure, "msvb-unused", caption, alternative)


def _recovery(runs: Samples, _: list[Cell]) -> Picture:
    figure, (threshold, used) = canvas(2, (9.6, 3.3))
    times = range(1, beyond.END + 1)
    for law, look in beyond.LAWS.items():
        found = runs.of("sio-flood").at(law=law)
        style: dict[str, Any] = {"color": look.colour, "label": look.label, "linewidth": 1.4}
        threshold.plot(times, [found.mean(f"threshold@{t}").mean for t in times], **style)
        used.plot(times, [100 * stats.mean(beyond.second(found, t)) for t in times], **style)
    threshold.set_title("OUT's threshold, packets")
    used.set_title("% of the link brought by the ten classes")
    for axes in (threshold, used):
        axes.axvspan(beyond.FLOOD, beyond.AFTER, color="#dfe5ea", linewidth=0)
        axes.set_xlabel("s")
        axes.set_ylim(bottom=0)
    legend_above(figure)
    caption = "Two seconds (grey) of IN beyond the link's rate: OUT's threshold, and what the link carries, by law."
    alternative = "As the paper has it the threshold stays at zero; by the other laws it comes back."
    return picture(figure, "sio-recovery", caption, alternative)


PICTURES: dict[str, Callable[[Samples, list[Cell]], Picture]] = {
    "msvb-fig2": _queues,
    "sio-table1": _table,
    "sio-fairness": _fairness,
    "msvb-fig3": _round_trips,
    "msvb-fig4": _unresponsive,
    "msvb-fig5": _weighted,
    "msvb-fig6": _waits,
    "msvb-idle-class": _idle,
    "svb-lemma31": _lemma,
    "msvb-unused": _unused,
    "sio-recovery": _recovery,
}


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The pictures of one study."""
    return [PICTURES[study](runs, cells)] if study in PICTURES else []
