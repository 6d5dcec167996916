"""Fig. 2 and 3 again: who gets the tokens, beside what the paper printed."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, REFERENCE, Picture, canvas, halves, legend_above, picture
from perhop_studies.pam_fsam.ns2 import FIG2_JITTERED, FIG2_STRICT
from perhop_studies.pam_fsam.terms import FSAM, LOOKS, NAMES, PAM, TB
from perhop_studies.pam_fsam.tokens import FLOWS, ROWS, by_flow
from perhop_studies.samples import Samples

TITLES = {
    "tcp1": "TCP 1",
    "tcp2": "TCP 2",
    "udp": "UDP 2 Mbit/s",
    "udp1": "UDP 1 Mbit/s",
    "udp2": "UDP 4 Mbit/s",
    "udp3": "UDP 2 Mbit/s",
}
LARGEST = {"pf-fig2": 2423 / 2566, "pf-fig3": 805 / 1205}
"""The printed share of the flow that gets most behind the token bucket."""


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """Both pictures of one of the two figures."""
    return [_shares(study, runs, cells), _phases(study, runs)]


def _shares(study: str, runs: Samples, cells: list[Cell]) -> Picture:
    """Share of all IN packets, flow by flow, and the IN fraction of each flow."""
    arrivals = cells[0].at["arrivals"]
    figure, (left, right) = canvas(2)
    for i, marker in enumerate((TB, PAM, FSAM)):
        printed = _printed(cells, marker)
        totals = sum(p[0] for p in printed)
        for axes, what, dots in (
            (left, "share", [p[0] / totals for p in printed]),
            (right, "f", [p[0] / sum(p) for p in printed]),
        ):
            x = [j + 0.27 * (i - 1) for j in range(len(dots))]
            found = [stats.interval(values) for values in by_flow(runs.at(arrivals=arrivals), study, marker, what)]
            bars: dict[str, Any] = {"color": LOOKS[marker].colour, "width": 0.24, "label": NAMES[marker], "alpha": 0.85}
            axes.bar(x, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, **bars)
            label = "published" if i == 0 else None
            axes.plot(x, dots, linestyle="", marker="D", markersize=5.5, mfc="white", mec=PUBLISHED, label=label)
    for axes, title in ((left, "share of all IN packets"), (right, "IN packets / packets of the flow (f)")):
        axes.set_xticks(range(3), [TITLES[f] for f in FLOWS[study]])
        axes.set_title(title)
        axes.grid(visible=False, axis="x")
        axes.set_ylim(bottom=0)
    legend_above(figure)
    number = study.removeprefix("pf-fig")
    caption = (
        f"Fig. {number}: who gets the tokens ({arrivals} arrivals; bars with 95 % intervals, diamonds as published)."
    )
    alternative = "Bars: the token bucket gives one flow nearly all tokens, PAM by rate, F-SAM equally to all."
    return picture(figure, f"{study}-shares", caption, alternative)


def _printed(cells: list[Cell], marker: str) -> list[tuple[float, float]]:
    values = [c.published for c in cells if ROWS[c.row] == marker]
    return list(zip(values[::2], values[1::2], strict=True))


def _phases(study: str, runs: Samples) -> Picture:
    """The token bucket over phases and arrival models: the share of UDP, or of the flow that gets most."""
    figure, [axes] = canvas(1, (7.6, 2.3))
    models = ("strict", "jittered", "poisson")
    for y, model in enumerate(models):
        shares = by_flow(runs.at(arrivals=model), study, TB, "share")
        values = shares[-1] if study == "pf-fig2" else [max(row) for row in zip(*shares, strict=True)]
        spread = [y + 0.28 * ((i * 0.618) % 1 - 0.5) for i in range(len(values))]
        axes.plot(values, spread, linestyle="", marker="o", markersize=4, alpha=0.55, color=LOOKS[TB].colour)
    label = "published" if study == "pf-fig2" else "published (one draw)"
    axes.axvline(LARGEST[study], color=PUBLISHED, linestyle=(0, (5, 3)), label=label)
    for y, theirs in enumerate((FIG2_STRICT, FIG2_JITTERED) if study == "pf-fig2" else ()):
        label = "" if y else "ns-2 2.35 (CBS 12.5 kB)"
        axes.plot(theirs, [y] * len(theirs), linestyle="", marker="|", markersize=16, color=REFERENCE, label=label)
    axes.set_yticks(range(3), [f"{m} arrivals" for m in models])
    axes.set_ylim(2.5, -0.5)
    axes.set_xlim(0, 1.02)
    what = "UDP's share of IN packets" if study == "pf-fig2" else "largest flow's share of IN packets"
    axes.set_title(f"token bucket: {what}, one dot a run")
    axes.legend(loc="lower left")
    number = study.removeprefix("pf-fig")
    caption = f"Fig. {number}, token bucket: strictly periodic sources lock in phase with the tokens; jitter undoes it."
    alternative = "Dots of single runs by arrival model; strict runs spread far more."
    return picture(figure, f"{study}-phases", caption, alternative)
