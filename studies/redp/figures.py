"""The paper's figures again, with what it prints on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, Look, Picture, canvas, curve, halves, legend_above, picture
from perhop_studies.redp import choice, demotion, promotion, queues, regime, udp
from perhop_studies.redp.terms import COLOURS, IDEAL, LOOKS, PHASE, TCP, by_flow
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
PRINTED: dict[str, Any] = {"linestyle": "", "markersize": 6, "mfc": "white", "mec": PUBLISHED, "zorder": 5}
STARVED, OTHERS = 25.0, 175.0
"""Fig. 5-a, plain REDP: tcp2's green, and what every other flow has more than, kbit/s."""
SHIFTS = (-0.2, 0.2)

Pair = tuple[Samples, Samples]


def _bars(axes: Axes, pair: Pair, found: Callable[[Samples], Sequence[stats.Interval]]) -> None:
    for shift, look, runs in zip(SHIFTS, LOOKS.values(), pair, strict=True):
        values = found(runs)
        style: dict[str, Any] = {
            "color": look.colour,
            "width": 0.38,
            "label": look.label,
            "alpha": 0.85,
            "ecolor": MUTED,
        }
        axes.bar(
            [i + shift for i in range(len(values))], [v.mean for v in values], yerr=halves(values), capsize=2, **style
        )


def _flows(panels: Sequence[Axes], pair: Pair) -> None:
    """Green, yellow and total of each flow, a panel each."""
    for axes, kind in zip(panels, ("green", "yellow", "total"), strict=True):
        _bars(axes, pair, partial(by_flow, kind=kind))
        axes.set_xticks(range(len(TCP)), TCP)
        axes.set_title(f"{kind}, kb/s")
        axes.set_ylim(bottom=0)
        axes.grid(visible=False, axis="x")


def _fig5(runs: Samples) -> Picture:
    pair = demotion.pair(runs)
    figure, panels = canvas(4, (12.4, 3.4))
    _flows(panels[:3], pair)
    for axes, kind in zip(panels, ("green", "yellow", "total"), strict=False):
        axes.axhline(IDEAL[kind], **EXPECTED, label="ideal")
    green = panels[0]
    green.plot([1 + SHIFTS[0]], [STARVED], marker="D", label="published", **PRINTED)
    green.plot([i + SHIFTS[0] for i in (0, 2, 3)], [OTHERS] * 3, marker="^", label="published: more than", **PRINTED)
    green.plot([i + SHIFTS[1] for i in range(4)], [IDEAL["green"]] * 4, marker="D", label="published", **PRINTED)
    sums = {"green": "green", "yellow": "yellow", "total": "total", "ER.in.green": "green\nat ER"}
    _bars(panels[3], pair, lambda found: [found.mean(name) for name in sums])
    panels[3].set_xticks(range(len(sums)), sums.values())
    panels[3].set_title("all flows, kb/s")
    panels[3].grid(visible=False, axis="x")
    legend_above(figure)
    caption = (
        "Fig. 5: one boundary of 0.7 Mb/s before a link of 1.2 Mb/s, B = 30 packets. Published: tcp2 has 25 kb/s green "
        "under REDP, the others more than 175 (triangles); about 175 each with the dropper."
    )
    alternative = "One flow is favoured under REDP, the four are nearly even with the dropper; aggregates are the same."
    return picture(figure, "redp-fig5", caption, alternative)


def _fig6(runs: Samples) -> Picture:
    pair = demotion.pair(runs)
    figure, panels = canvas(3, (12.4, 3.2))
    times = [ms / 1000 for ms in queues.SHOWN]
    for axes, look, found in zip(panels, LOOKS.values(), pair, strict=False):
        waiting = [found.values(f"queue@{ms}")[0] for ms in queues.SHOWN]
        axes.plot(times, waiting, color=look.colour, linewidth=0.9)
        axes.axhline(PHASE, **EXPECTED, label="limit")
        axes.set_ylim(0, PHASE + 4)
        axes.set_xlabel("s")
        axes.set_title(f"{look.label}: packets waiting, CoV {found.mean('cov').mean:.2f}")
    lags = list(range(queues.LAGS[0], queues.LAGS[1] + 1, queues.SHOWN_LAG))
    for look, found in zip(LOOKS.values(), pair, strict=True):
        again = [found.mean(f"acf@{ms}").mean for ms in lags]
        panels[2].plot([ms / 1000 for ms in lags], again, color=look.colour, label=look.label)
    panels[2].set_xlabel("lag, s")
    panels[2].set_title("autocorrelation of the queue")
    legend_above(figure)
    caption = (
        "Fig. 6: the queue at CR1 over 20 s of one run, and its autocorrelation, mean over the runs. Published: bursts "
        "with global synchronisation under REDP, reduced with the dropper."
    )
    alternative = "Under REDP the queue is full and overflows; with the dropper it goes up and down below the limit."
    return picture(figure, "redp-fig6", caption, alternative)


def _fig8(runs: Samples) -> Picture:
    figure, panels = canvas(3, (10.4, 3.3))
    _flows(panels, promotion.pair(runs))
    panels[0].plot([i + SHIFTS[1] for i in range(4)], [IDEAL["green"]] * 4, marker="D", label="published", **PRINTED)
    panels[0].axhline(IDEAL["total"], **EXPECTED, label="ideal: 300 green")
    legend_above(figure)
    caption = "Fig. 8: two boundaries; published: about 175 kb/s green a flow with the dropper at CR3, ideally 300."
    alternative = "Green, yellow and total of four flows under both markers, with the dropper nearly even."
    return picture(figure, "redp-fig8", caption, alternative)


def _fig9(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.4, 3.2))
    points = (0, *choice.POINTS)
    x = [drop / 100 for drop in points]
    titles = ("std over the four flows, kb/s", "all flows, kb/s")
    for axes, title, prefix in zip(panels, titles, ("std.", ""), strict=True):
        for kind in ("green", "total"):
            found = [choice.at(runs, drop).mean(f"{prefix}{kind}") for drop in points]
            curve(axes, Look(kind, COLOURS[kind]), x, found)
        axes.axvline(0.02, **EXPECTED, label="published choice")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("P_drop")
        axes.set_title(title)
    legend_above(figure)
    caption = "Fig. 9: P_drop; 0 is plain REDP. Published, without numbers: both deviations are lowest at .02."
    alternative = "Both deviations fall from 0 to .02 and little after it; the aggregate total falls beyond it."
    return picture(figure, "redp-fig9", caption, alternative)


def _udp(runs: Samples) -> Picture:
    figure, panels = canvas(3, (10.4, 3.2))
    columns = [(sources, marker) for sources in ("strict", "jittered") for marker in udp.MARKERS]
    colours = {"redp": LOOKS[0].colour, "leaky": "#667584"}
    for axes, (point, (offered, rate)) in zip(panels, udp.POINTS.items(), strict=True):
        for i, (sources, marker) in enumerate(columns):
            index = udp.fairness(runs, point=point, sources=sources, marker=marker)
            x = [i + 0.5 * (k / len(index) - 0.5) for k in range(len(index))]
            axes.plot(x, index, ".", color=colours[marker], label=udp.MARKERS[marker], markersize=4)
            axes.plot([i - 0.3, i + 0.3], [stats.mean(index)] * 2, color=PUBLISHED, linewidth=1.2, label="mean")
        axes.axhline(udp.LEAST[point], **EXPECTED, label="least expected of REDP, strict")
        axes.set_xticks([0.5, 2.5], ["strict", "jittered"])
        axes.set_ylim(0.2, 1.02)
        axes.set_title(f"{offered / 1000:g} Mb/s at {rate / 1000:g}")
        axes.grid(visible=False, axis="x")
    panels[0].set_ylabel("Jain's index of green")
    legend_above(figure)
    caption = (
        "Four CBR sources: Jain's index of green leaving the marker, a dot a draw of phases; the paper: REDP is fair."
    )
    alternative = "Under the leaky bucket strict sources are unfair by phase; under REDP nearly fair, with jitter fair."
    return picture(figure, "redp-udp", caption, alternative)


PICTURES: dict[str, Callable[[Samples], Picture]] = {
    "redp-fig5": _fig5,
    "redp-fig6": _fig6,
    "redp-fig8": _fig8,
    "redp-fig9": _fig9,
    "redp-udp": _udp,
    "redp-map": regime.draw_map,
    "redp-phase": regime.draw_phase,
}
"""By study."""


def draw(study: str, runs: Samples, _: list[Cell]) -> list[Picture]:
    """The pictures of a study."""
    return [PICTURES[study](runs)] if study in PICTURES else []
