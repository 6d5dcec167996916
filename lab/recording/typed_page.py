"""docs/reports/configurations-beside-linux.md: configurations as people type them, in both worlds, with verdicts.

python3 lab/recording/typed_page.py writes it from lab/records/typed.csv. Why something differs is said in
lab/cells/typed.toml, by the configuration's name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import typed
from cells import LAB, RECORDS, STATED
from typed import Row

PAGE = LAB.parent / "docs/reports/configurations-beside-linux.md"
HEAD = Path(__file__).with_name("typed.md")
EXPLAINED = STATED / "typed.toml"
#: What the page of the queues calls exact, ns.
EXACT_NS = 256
#: Points of the share lost, and relative differences of delays and of goodput.
LOST, DELAY, GOODPUT = 0.01, 0.1, 0.05


class Verdict(NamedTuple):
    """A configuration in both worlds."""

    name: str
    came: int
    other_fate: int
    apart_ns: int
    datagrams: str
    """exact, within or apart"""
    goodputs: list[tuple[str, float, float]]
    """Class, perhop's and the kernel's mean, bit/s."""

    @property
    def tcp(self) -> bool:
        """Whether the goodput of each class agrees."""
        return all(_near(ours, theirs, GOODPUT) for _, ours, theirs in self.goodputs)

    @property
    def good(self) -> bool:
        """Whether both agree."""
        return self.tcp and self.datagrams != "apart"


def verdict(name: str, rows: Sequence[Row]) -> Verdict:
    """Of what was recorded of a configuration."""
    port = {it.what: it.kernel or 0 for it in rows if it.kind == "datagrams"}
    exact = port["other fate"] == port["other mark"] == 0 and port["apart ns"] <= EXACT_NS
    within = all(_within(it) for it in rows if it.kind.startswith("alone "))
    words = "exact" if exact else "within" if within else "apart"
    classes = dict.fromkeys(it.kind for it in rows if it.what == "goodput")
    own = {kind: [it for it in rows if (it.kind, it.what) == (kind, "goodput")] for kind in classes}
    means = [(kind, _mean(it.perhop for it in rows_), _mean(it.kernel for it in rows_)) for kind, rows_ in own.items()]
    return Verdict(name, int(port["came"]), int(port["other fate"]), int(port["apart ns"]), words, means)


def _mean(figures: Iterable[float | None]) -> float:
    return mean(it or 0 for it in figures)


def _within(it: Row) -> bool:
    if it.perhop is None or it.kernel is None:
        return it.perhop == it.kernel
    return abs(it.perhop - it.kernel) <= LOST if it.what == "lost" else _near(it.perhop, it.kernel, DELAY)


def _near(ours: float, theirs: float, most: float) -> bool:
    return abs(ours - theirs) <= most * theirs


def verdicts() -> list[Verdict]:
    """Every configuration that is recorded."""
    return [verdict(name, list(rows)) for name, rows in groupby(typed.recorded(), key=lambda it: it.name)]


def text(found: Sequence[Verdict]) -> str:
    """The page."""
    notes: list[str] = []
    explained = tomllib.loads(EXPLAINED.read_text())["explained"]
    out = HEAD.read_text(encoding="utf-8").format(
        kernel=tomllib.loads((RECORDS / "kernel.toml").read_text())["kernel"],
        many=len(list(typed.TYPED.glob("*.tc"))),
        recorded=len(found),
        datagrams=sum(it.datagrams != "apart" for it in found),
        goodputs=sum(it.tcp for it in found),
        good=sum(it.good for it in found),
        seeds=len(typed.SEEDS),
    )
    for it in found:
        out += _row(it, explained.get(it.name), notes)
    return out + "".join(f"\n({number}) {note}\n" for number, note in enumerate(notes, 1))


def _row(it: Verdict, why: str | None, notes: list[str]) -> str:
    if why and why not in notes:
        notes.append(why)
    told = f" ({notes.index(why) + 1})" if why else ""
    classes = "; ".join(f"{name}: {ours / 1e6:.3f} / {theirs / 1e6:.3f}" for name, ours, theirs in it.goodputs)
    apart = f"{it.apart_ns} ns" if it.apart_ns < 10_000 else f"{it.apart_ns / 1e6:.2f} ms"
    tcp = "agrees" if it.tcp else "**differs**"
    link = f"[{it.name}](../../lab/cells/typed/{it.name}.tc)"
    return f"| {link} | {it.came} | {it.other_fate} | {apart} | {it.datagrams} | {classes} | {tcp}{told} |\n"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(text(verdicts()), encoding="utf-8")


if __name__ == "__main__":
    main()
