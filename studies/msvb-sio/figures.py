"""The paper's figures again, with what it prints on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, Look, Picture, canvas, curve, halves, legend_above, picture
from perhop_studies.msvb_sio import beyond, fairness, idle, lemma, protection, stability, weighted
from perhop_studies.msvb_sio.method import BIN, LIMIT, STEP, STEPS
from perhop_studies.msvb_sio.terms import CLASSES, LOOKS, Division
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
PRINTED: dict[str, Any] = {"linestyle": "", "marker": "D", "markersize": 5, "mfc": "white", "mec": PUBLISHED}
TCP, UDP = "#0072b2", "#c2410c"
SETS = {
    "rio": LOOKS["rio"],
    "P1": Look("SIO, P1", LOOKS["sio"].colour),
    "P2": Look("SIO, P2", "#b79be8"),
}
TRIPS = {0.12: "#0072b2", 0.16: "#8a5a00", 0.20: "#c2410c"}
SIDES = {1.2: Look("1.2 x critical", "#0072b2"), 0.8: Look("0.8 x critical", "#c2410c")}


def _queues(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(3, (9.6, 5.2), rows=2)
    for axes, (scheme, look) in zip(panels, LOOKS.items(), strict=True):
        found = runs.at(scheme=scheme)
        _flows(axes)
        _evolution(axes, found, look)
        axes.axhline(LIMIT, **EXPECTED, label="limit")
        lost, full = (100 * stats.mean(found.values(name)) for name in ("drops", "utilisation"))
        axes.set_title(f"{look.label}: lost {lost:.2g} %, link {full:.1f} % busy")
        axes.set_xlim(0, STEPS * STEP)
        axes.set_ylim(0, 105)
    for axes in panels[3:]:
        axes.set_xlabel("time, s")
    for axes in panels[::3]:
        axes.set_ylabel("packets waiting")
    legend_above(figure)
    caption = (
        "Fig. 2: the queue while flows come and go: means over 2 s, least and most (one run); steps: mean of each 50 s "
        "over all seeds. Grey: flows, from 50 to 300. MSVB's published loss is 0.047 %."
    )
    alternative = "Queues of six schemes over 600 s: RED's follows the number of flows, MSVB's moves less within steps."
    return picture(figure, "msvb-fig2", caption, alternative)


def _flows(axes: Axes) -> None:
    """N(t), as high as it will go at the foot of a panel."""
    edges = [STEP * k for k in range(STEPS + 1)]
    heights = [n / 15 for n in stability.FLOWS]
    axes.stairs(heights, edges, fill=True, color="#dfe5ea", label="flows / 15")


def _evolution(axes: Axes, runs: Samples, look: Look) -> None:
    ends = range(BIN, STEPS * STEP + 1, BIN)
    low, mean, high = ([runs.values(f"{name}@{t}")[0] for t in ends] for name in ("low", "mean", "high"))
    times = [t - BIN / 2 for t in ends]
    axes.fill_between(times, low, high, color=LOOKS["msvb"].colour, alpha=0.2, linewidth=0, label="least to most")
    axes.plot(times, mean, color=LOOKS["msvb"].colour, linewidth=0.8, label="mean of 2 s")
    steps = [stats.mean(runs.values(f"queue@{k}")) for k in range(1, STEPS + 1)]
    axes.stairs(steps, [STEP * k for k in range(STEPS + 1)], baseline=None, color=PUBLISHED, label="mean of a step")


def _table(runs: Samples, cells: list[Cell]) -> Picture:
    figure, panels = canvas(4, (11.2, 3.2))
    titles = {
        "In-Tp": "IN let through, % of the link",
        "In-Dp": "IN dropped, %",
        "Out-Dp": "OUT dropped, %",
        "Avg queue": "average queue, packets",
    }
    printed = {(c.row, c.column): c.published for c in cells}
    for axes, (row, title) in zip(panels, titles.items(), strict=True):
        for shift, (scheme, look) in zip((-0.27, 0.0, 0.27), SETS.items(), strict=True):
            found = [stats.interval(protection.found(runs, row, scheme=scheme, cir=cir)) for cir in protection.CIRS]
            _bars(axes, look, found, shift=shift)
        for column, shift in (("RIO", -0.27), ("SIO", 0.135)):
            values = [printed[row, f"{column} {name}"] for name in protection.CIRS.values()]
            axes.plot([i + shift for i in range(len(values))], values, **PRINTED, label="published", zorder=5)
        axes.set_xticks(range(len(protection.CIRS)), list(protection.CIRS.values()))
        axes.set_xlabel("CIR of each class, Mbit/s")
        axes.grid(visible=False, axis="x")
        axes.set_ylim(bottom=0)
        axes.set_title(title)
    legend_above(figure)
    caption = "Table 1: RIO and SIO under both sets of parameters, measured (bars) and published; UDP sends 15 Mbit/s."
    alternative = "Bars beside printed values: IN gets through, OUT is dropped, and queues differ at CIR 2."
    return picture(figure, "sio-table1", caption, alternative)


def _bars(axes: Axes, look: Look, found: Sequence[stats.Interval], *, shift: float = 0.0) -> None:
    style: dict[str, Any] = {"color": look.colour, "width": 0.26, "label": look.label, "alpha": 0.85}
    places = [i + shift for i in range(len(found))]
    axes.bar(places, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, **style)


Divided = Callable[[Samples, str], Division]


def _by_class(runs: Samples, divided: Divided, looks: Sequence[Look]) -> tuple[Any, list[Axes]]:
    """A panel a scheme, a bar a class, each in the look of its kind."""
    figure, panels = canvas(3, (9.6, 5.0), rows=2)
    for axes, (scheme, look) in zip(panels, LOOKS.items(), strict=True):
        found = divided(runs, scheme)
        intervals = found.intervals()
        for kind in dict.fromkeys(looks):
            mine = [i for i, of in enumerate(looks) if of == kind]
            some = [intervals[i] for i in mine]
            style: dict[str, Any] = {"color": kind.colour, "label": kind.label, "alpha": 0.85, "ecolor": MUTED}
            axes.bar(mine, [f.mean for f in some], yerr=halves(some), capsize=2, width=0.75, **style)
        axes.axhline(10, **EXPECTED, label="its tenth")
        axes.set_title(f"{look.label}: Jain's index {stats.mean(found.jain):.4f}")
        axes.grid(visible=False, axis="x")
    for axes in panels[::3]:
        axes.set_ylabel("% of the link")
    return figure, panels


def _round_trips(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = _by_class(runs, fairness.by_round_trip, [Look("class", TCP)] * len(CLASSES))
    for axes in panels:
        axes.set_xticks(range(len(CLASSES)), [str(20 + 20 * i) for i in range(1, len(CLASSES) + 1)])
        axes.set_ylim(0, 21)
    for axes in panels[3:]:
        axes.set_xlabel("round-trip time, ms")
    legend_above(figure)
    caption = "Fig. 3: parts of the link of ten classes by round-trip time; published: MSVB's index is about 1."
    alternative = "RED and SVB fall from 19 % to 6 % with the round-trip time, MSVB is level at 10 %."
    return picture(figure, "msvb-fig3", caption, alternative)


def _unresponsive(runs: Samples, _: list[Cell]) -> Picture:
    looks = [Look("TCP", TCP)] * len(fairness.TCP) + [Look("UDP, 1 to 5 Mbit/s", UDP)] * len(fairness.UDP)
    figure, panels = _by_class(runs, fairness.beside_udp, looks)
    for axes in panels:
        axes.set_xticks(range(len(CLASSES)), [str(i) for i in range(1, len(CLASSES) + 1)])
        axes.set_ylim(0, 36)
    for axes in panels[3:]:
        axes.set_xlabel("class")
    legend_above(figure)
    caption = "Fig. 4: parts of the link of five TCP and five UDP classes; published: MSVB's are almost even."
    alternative = (
        "UDP takes nearly all under RED and SVB, slightly more than TCP under RIO and SIO, a tenth under MSVB."
    )
    return picture(figure, "msvb-fig4", caption, alternative)


def _lemma(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(4, (12.0, 3.2))
    _thresholds(panels[0])
    for axes, flows in zip(panels[1:3], (50, 100), strict=True):
        for side, look in SIDES.items():
            axes.plot(*_swings(*lemma.trajectory(flows, side)), color=look.colour, linewidth=1.4, label=look.label)
        axes.set_xlabel("time, s")
        axes.set_yscale("log")
        axes.set_ylim(1e-7, 3)
        axes.set_title(f"fluid model, |load/C - 1|, N = {flows}")
    found = [stats.interval(runs.values("deviation", v0=v0)) for v0 in lemma.V0]
    curve(panels[3], Look("packets, N = 50", LOOKS["svb"].colour), lemma.V0, found)
    for rtt, colour in list(TRIPS.items())[:2]:
        panels[3].axvline(lemma.critical(50, rtt), color=colour, linestyle=(0, (2, 2)), linewidth=1.1)
    panels[3].set_xscale("log")
    panels[3].set_xlabel("V0, packets")
    panels[3].set_ylim(bottom=0)
    panels[3].set_title("standard deviation of the queue")
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
    axes.set_yscale("log")
    axes.set_xlabel("flows")
    axes.set_title("critical threshold, packets")


PICTURES: dict[str, Callable[[Samples, list[Cell]], Picture]] = {
    "msvb-fig2": _queues,
    "sio-table1": _table,
    "msvb-fig3": _round_trips,
    "msvb-fig4": _unresponsive,
    "svb-lemma31": _lemma,
}
"""By study."""


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The pictures of one study: those here, or of its own group."""
    groups = (weighted, idle, beyond)
    drawn = PICTURES | {name: draw for group in groups for name, draw in group.PICTURES.items()}
    return [drawn[study](runs, cells)] if study in drawn else []
