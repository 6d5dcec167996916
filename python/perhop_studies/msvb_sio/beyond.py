"""Beyond the paper: MSVB that hands on what classes leave, SIO whose OUT comes back. Reported, never judged."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perhop import stats
from perhop_studies import Study
from perhop_studies.drawing import Look
from perhop_studies.msvb_sio.terms import CLASSES, LINK, LOOKS, TCP, UDP, WEIGHTS, average
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding

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

RULES = {
    "off": LOOKS["msvb"],
    "silent": Look("silent", "#12633b", "s"),
    "unused": Look("unused", "#7c3aed", "D"),
}
CASES = {
    "tenth": ("5 send a tenth of their shares", TCP, UDP),
    "half": ("5 send half of them", TCP, UDP),
    "bursts": ("5 on and off, 0.5 s of twice it", TCP, UDP),
    "mice": ("5 send short transfers", TCP, UDP),
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


def case_of(runs: Samples, case: str, marks: str, rule: str) -> Samples:
    """The run of a load."""
    return runs.of("beyond-unused").at(case=case, marks=marks, rule=rule)


def lost(runs: Samples, case: str, marks: str, rule: str) -> list[float]:
    """What those that send less than their shares lose, by replication; nothing where there are none."""
    within = CASES[case][2]
    return average(case_of(runs, case, marks, rule), within, "drops") if within else []


def _said(found: Sequence[float], scale: float = 1.0) -> str:
    it = stats.interval([scale * x for x in found])
    half = 0.0 if math.isnan(it.half) else it.half
    digits = 3 if abs(it.mean) < 10 else 2
    return f"{it.mean:.{digits}f} ± {half:.{digits}f}"


@unused.claim("loads")
def what_is_made_of_it(runs: Samples) -> Finding:
    """Utilisation, the rate of a class that needs more, and what the others lose."""
    rows = []
    for case, (name, wanting, within) in CASES.items():
        for marks, mode in MARKS.items():
            for rule in RULES:
                found = case_of(runs, case, marks, rule)
                row = {"load": name, "signal": mode, "rule": rule, "utilisation": _said(found.values("utilisation"))}
                row["a class that wants more, Mbit/s"] = _said(average(found, wanting, "throughput"), 1e-6)
                row["lost of the others', %"] = _said(lost(runs, case, marks, rule), 100) if within else "-"
                rows.append({**row, "wait, ms": _said(average(found, wanting, "wait"))})
    seeds = len(case_of(runs, "tenth", "ecn", "off").values("utilisation"))
    return Finding([], "Ten classes of equal shares; mean and 95 % interval.", rows, seeds=seeds)


def _figures(runs: Samples, rule: str) -> dict[str, Samples]:
    names = ("fig2", "fig3", "fig4", "fig5")
    if rule == "unused":
        return {name: runs.of("msvb-unused").at(figure=name) for name in names}
    literal = {name: runs.of(f"msvb-{name}").at(scheme="msvb") for name in names}
    return {**literal, "fig4": literal["fig4"].at(rates=15)}


def _farthest(runs: Samples, weights: Sequence[int]) -> list[float]:
    """How far the class farthest from its part is from it, % of the link."""
    rows = zip(*(runs.values(f"{name}.throughput") for name in CLASSES), strict=True)
    parts = [weight / sum(weights) for weight in weights]
    return [max(100 * abs(x / LINK - phi) for x, phi in zip(row, parts, strict=True)) for row in rows]


@unused.claim("figures")
def nothing_is_worse(runs: Samples) -> Finding:
    """The published experiments, in which all classes send."""
    rows = []
    for rule in ("off", "unused"):
        found = _figures(runs, rule)
        row = {"rule": rule, "Fig. 2: drops, %": _said(found["fig2"].values("drops"), 100)}
        row |= {f"Fig. 2: {name}": _said(found["fig2"].values(name)) for name in ("utilisation", "queue@1", "queue@6")}
        for name in ("fig3", "fig4", "fig5"):
            weighted = name == "fig5"
            row[f"Fig. {name[-1]}: jain"] = f"{found[name].mean('jain.weighted' if weighted else 'jain').mean:.4f}"
            weights = list(WEIGHTS.values()) if weighted else [1] * len(CLASSES)
            row[f"Fig. {name[-1]}: farthest class, %"] = _said(_farthest(found[name], weights))
        rows.append({**row, "Fig. 6: waits, max/min": _said(found["fig5"].values("wait.spread"))})
    return Finding([], "Mean and 95 % interval.", rows, seeds=len(_figures(runs, "off")["fig3"].all))


def _law(found: Samples) -> dict[str, str]:
    return {
        "utilisation": _said(found.values("utilisation")),
        "IN dropped, %": _said(found.values("in.drops"), 100),
        "OUT dropped, %": _said(found.values("out.drops"), 100),
        "queue, packets": _said(found.values("queue")),
    }


def _by_law(rows: list[dict[str, str]], runs: Samples) -> Finding:
    return Finding([], "Mean and 95 % interval.", rows, seeds=len(runs.of("sio-flood").at(law="none").all))


@recovery.claim("laws")
def how_it_comes_back(runs: Samples) -> Finding:
    """What each law gives, where IN alone nearly fills the link, where it overfills it, and with TCP alone."""
    rows = []
    for law, look in LAWS.items():
        for load, title in LOADS.items():
            found = runs.of("sio-laws").at(law=law, load=load)
            rows.append({"law": look.label, "load": title, **_law(found), "jain": "-"})
        found = runs.of("sio-laws-tcp").at(law=law)
        rows.append({"law": look.label, "load": "Fig. 3, P1", **_law(found), "jain": f"{found.mean('jain').mean:.4f}"})
    return _by_law(rows, runs)


def second(runs: Samples, t: int) -> list[float]:
    """What the ten classes brought in the second that ends at t, of the link, by replication."""
    columns = [runs.values(f"{name}@{t}") for name in CLASSES]
    return [sum(row) / LINK for row in zip(*columns, strict=True)]


@recovery.claim("flood")
def after_a_flood(runs: Samples) -> Finding:
    """Two seconds of IN beyond the link's rate: as the paper has it OUT does not come back."""
    rows = []
    for law, look in LAWS.items():
        found = runs.of("sio-flood").at(law=law)
        later = zip(*(second(found, t) for t in range(AFTER + 5, END + 1)), strict=True)
        row = {"law": look.label, "link used after it": _said(list(map(stats.mean, later)))}
        row["IN dropped, %"] = _law(found)["IN dropped, %"]
        rows.append(row | {f"threshold at {t} s": _said(found.values(f"threshold@{t}")) for t in (FLOOD, 40, 60, END)})
    return _by_law(rows, runs)
