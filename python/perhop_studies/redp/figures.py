"""The paper's figures again, with what it prints on them, and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, Look, Picture, canvas, curve, halves, legend_above, picture
from perhop_studies.redp import claims, ours, queues
from perhop_studies.redp.terms import DROPPER, IDEAL, LOOKS, PHASE, PLAIN, TCP
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
PRINTED: dict[str, Any] = {"linestyle": "", "markersize": 6, "mfc": "white", "mec": PUBLISHED, "zorder": 5}
STARVED, OTHERS = 25.0, 175.0
"""Fig. 5-a, plain REDP: tcp2's green, and what every other flow has more than, kbit/s."""
SHIFTS = {PLAIN: -0.2, DROPPER: 0.2}
KINDS = {"green": Look("green", "#12633b"), "yellow": Look("yellow", "#c08a00"), "total": Look("total", "#46525e")}
SERVICE = 1000 * 8 / 1.2e6 * 1e3
"""ms in which the bottleneck sends a packet."""

Panels = Sequence["Axes"]


class Plate(NamedTuple):
    """A figure: what draws it in its panels, and what is said of it."""

    draw: Callable[[Panels, Samples], None]
    columns: int
    size: tuple[float, float]
    caption: str
    alternative: str
    rows: int = 1

    def picture(self, name: str, runs: Samples) -> Picture:
        """Drawn from runs."""
        figure, panels = canvas(self.columns, self.size, self.rows)
        self.draw(panels, runs)
        if any(axes.get_legend_handles_labels()[0] for axes in panels):
            legend_above(figure)
        return picture(figure, name, self.caption, self.alternative)


def _bars(axes: Axes, runs: Samples, named: Mapping[str, str], title: str) -> None:
    """Quantities by what they are called, under both markers side by side."""
    for drop, look in LOOKS.items():
        found = [runs.mean(quantity, drop=drop) for quantity in named.values()]
        x, style = [i + SHIFTS[drop] for i in range(len(found))], {"color": look.colour, "ecolor": MUTED}
        bars: dict[str, Any] = {**style, "width": 0.38, "label": look.label, "alpha": 0.85, "capsize": 2}
        axes.bar(x, [v.mean for v in found], yerr=halves(found), **bars)
    axes.set_xticks(range(len(named)), list(named))
    axes.set_title(title)
    axes.set_ylim(bottom=0)
    axes.grid(visible=False, axis="x")


def _flows(panels: Panels, runs: Samples) -> None:
    """Green, yellow and total of each flow, a panel each; what is printed of green with the dropper."""
    for axes, kind in zip(panels, KINDS, strict=False):
        _bars(axes, runs, {flow: f"{flow}.{kind}" for flow in TCP}, f"{kind}, kb/s")
    _printed(panels[0], DROPPER, dict.fromkeys(range(4), IDEAL["green"]))


def _printed(axes: Axes, drop: int, rates: Mapping[int, float], marker: str = "D", label: str = "published") -> None:
    axes.plot([i + SHIFTS[drop] for i in rates], list(rates.values()), marker=marker, label=label, **PRINTED)


def _fig5(panels: Panels, runs: Samples) -> None:
    found = runs.at(buffer=PHASE)
    _flows(panels, found)
    for axes, kind in zip(panels, KINDS, strict=False):
        axes.axhline(IDEAL[kind], **EXPECTED, label="ideal")
    _printed(panels[0], PLAIN, {1: STARVED})
    _printed(panels[0], PLAIN, dict.fromkeys((0, 2, 3), OTHERS), "^", "published: more than")
    sums = {**{kind: kind for kind in KINDS}, "green\nat ER": "ER.in.green"}
    _bars(panels[3], found, sums, "all flows, kb/s")


def _fig6(panels: Panels, runs: Samples) -> None:
    lags = list(range(queues.LAGS[0], queues.LAGS[1] + 1, queues.SHOWN_LAG))
    for axes, (drop, look) in zip(panels, LOOKS.items(), strict=False):
        found = runs.at(drop=drop, buffer=PHASE)
        waiting = [found.values(f"queue@{ms}")[0] for ms in queues.SHOWN]
        axes.plot([ms / 1000 for ms in queues.SHOWN], waiting, color=look.colour, linewidth=0.9)
        axes.axhline(PHASE, **EXPECTED, label="limit")
        axes.set_ylim(0, PHASE + 4)
        axes.set_xlabel("s")
        axes.set_title(f"{look.label}: packets waiting, CoV {found.mean('cov').mean:.2f}")
        again = [found.mean(f"acf@{ms}").mean for ms in lags]
        panels[2].plot([ms / 1000 for ms in lags], again, color=look.colour, label=look.label)
    panels[2].set_xlabel("lag, s")
    panels[2].set_title("autocorrelation of the queue")


def _fig8(panels: Panels, runs: Samples) -> None:
    _flows(panels, runs.of("redp-fig8"))
    panels[0].axhline(IDEAL["total"], **EXPECTED, label="ideal: 300 green")


def _fig9(panels: Panels, runs: Samples) -> None:
    points = (PLAIN, *claims.POINTS)
    titles = {"std.": "std over the four flows, kb/s", "": "all flows, kb/s"}
    for axes, (prefix, title) in zip(panels, titles.items(), strict=True):
        for kind in ("green", "total"):
            found = [claims.at(runs, drop).mean(f"{prefix}{kind}") for drop in points]
            curve(axes, KINDS[kind], [drop / 100 for drop in points], found)
        axes.axvline(0.02, **EXPECTED, label="published choice")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("P_drop")
        axes.set_title(title)


def _udp(panels: Panels, runs: Samples) -> None:
    colours = {"redp": LOOKS[PLAIN].colour, "leaky": "#667584"}
    for axes, (point, (offered, rate)) in zip(panels, claims.RATES.items(), strict=True):
        for i, (sources, marker) in enumerate(product(("strict", "jittered"), claims.MARKERS)):
            index = claims.fairness(runs, point=point, sources=sources, marker=marker)
            x = [i + 0.5 * (k / len(index) - 0.5) for k in range(len(index))]
            axes.plot(x, index, ".", color=colours[marker], label=claims.MARKERS[marker], markersize=4)
            axes.plot([i - 0.3, i + 0.3], [stats.mean(index)] * 2, color=PUBLISHED, linewidth=1.2, label="mean")
        axes.axhline(claims.LEAST[point], **EXPECTED, label="least expected of REDP, strict")
        axes.set_xticks([0.5, 2.5], ["strict", "jittered"])
        axes.set_ylim(0.2, 1.02)
        axes.set_title(f"{offered / 1000:g} Mb/s at {rate / 1000:g}")
        axes.grid(visible=False, axis="x")
    panels[0].set_ylabel("Jain's index of green")


def _map(panels: Panels, runs: Samples) -> None:
    """Four grids of numbers, by marker and access links, in one scale of colour."""
    for axes, (access, (drop, look)) in zip(panels, product(ours.ACCESS, LOOKS.items()), strict=True):
        there = runs.at(access=access, drop=drop)
        grid = [
            [there.mean("std.green", buffer=b, rto=rto, jitter=j).mean for rto, j in ours.RULES] for b in ours.BUFFERS
        ]
        _heat(axes, grid)
        axes.set_title(f"{look.label}, access links of {access} Mb/s")
        axes.set_xticks(range(len(ours.RULES)), [f"{rto / 1000:g} s, {jitter} ms" for rto, jitter in ours.RULES])
        axes.set_yticks(range(len(ours.BUFFERS)), [str(b) for b in ours.BUFFERS])
    for axes in panels[2:]:
        axes.set_xlabel("least time-out, jitter")
    for axes in panels[::2]:
        axes.set_ylabel("buffer, packets")


def _heat(axes: Axes, grid: list[list[float]]) -> None:
    axes.imshow(grid, cmap="YlOrRd", vmin=0, vmax=150, aspect="auto")
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            colour = "white" if value > 90 else "#1c2733"
            axes.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=9, color=colour)
    axes.grid(visible=False)


def _phase(panels: Panels, runs: Samples) -> None:
    """Spread and least of green over the phase, without jitter and with it."""
    shown = [("least.green", 0, "least of the four, kb/s")]
    shown += [("std.green", jitter, f"std of green, {name}") for jitter, name in ours.JITTERS.items()]
    for axes, (quantity, jitter, title) in zip(panels, shown, strict=True):
        for drop, look in LOOKS.items():
            found = [runs.mean(quantity, longer=us, drop=drop, jitter=jitter) for us in ours.LONGER]
            curve(axes, look, [us / 1000 for us in ours.LONGER], found)
        axes.axvline(SERVICE, color=PUBLISHED, linestyle=":", linewidth=1.0)
        axes.set_ylim(0, 200 if quantity == "least.green" else 125)
        axes.set_xlabel("round trips longer by, ms")
        axes.set_title(title)
    panels[0].axhline(STARVED, color=PUBLISHED, linestyle=(0, (5, 3)), linewidth=1.1, label="published, REDP")


PICTURES = {
    "redp-fig5": Plate(
        _fig5,
        4,
        (12.4, 3.4),
        "Fig. 5: one boundary of 0.7 Mb/s before a link of 1.2 Mb/s, B = 30 packets. Published: tcp2 has 25 kb/s green "
        "under REDP, the others more than 175 (triangles); about 175 each with the dropper.",
        "One flow is favoured under REDP, the four are nearly even with the dropper; aggregates are the same.",
    ),
    "redp-fig6": Plate(
        _fig6,
        3,
        (12.4, 3.2),
        "Fig. 6: the queue at CR1 over 20 s of one run, and its autocorrelation, mean over the runs. Published: bursts "
        "with global synchronisation under REDP, reduced with the dropper.",
        "Under REDP the queue is full and overflows; with the dropper it goes up and down below the limit.",
    ),
    "redp-fig8": Plate(
        _fig8,
        3,
        (10.4, 3.3),
        "Fig. 8: two boundaries; published: about 175 kb/s green a flow with the dropper at CR3, ideally 300.",
        "Green, yellow and total of four flows under both markers, with the dropper nearly even.",
    ),
    "redp-fig9": Plate(
        _fig9,
        2,
        (8.4, 3.2),
        "Fig. 9: P_drop; 0 is plain REDP. Published, without numbers: both deviations are lowest at .02.",
        "Both deviations fall from 0 to .02 and little after it; the aggregate total falls beyond it.",
    ),
    "redp-udp": Plate(
        _udp,
        3,
        (10.4, 3.2),
        "Four CBR sources: Jain's index of green leaving the marker, a dot a draw of phases; the paper: REDP is fair.",
        "Under the leaky bucket strict sources are unfair by phase; under REDP nearly fair, with jitter fair.",
    ),
    "redp-map": Plate(
        _map,
        2,
        (9.6, 7.6),
        "Standard deviation of green, kb/s. Published under REDP: 25, and three flows over 175: at least 65.",
        "Large under REDP with buffers of 20 to 30 packets, small from 40 on; the dropper takes most of it away.",
        rows=2,
    ),
    "redp-phase": Plate(
        _phase,
        4,
        (12.4, 3.2),
        "Fig. 5's scenario (at 0) with round trips longer by up to one service time of the bottleneck (dotted). Who "
        "is favoured is a matter of phase, and so is by how much. Published: least green 25 kb/s.",
        "Plain REDP's spread goes from 15 to 105 kb/s and back over 6.7 ms; with the dropper it stays below 30.",
    ),
}
"""By study."""


def draw(study: str, runs: Samples, _: list[Cell]) -> list[Picture]:
    """The pictures of a study."""
    return [PICTURES[study].picture(study, runs)] if study in PICTURES else []
