"""`perhop reproduce PAPER --readings`: every other answer to what a paper leaves open, one at a time.

Each is run with three seeds, at the points that it changes; hard claims whose verdict is then open, or differs from the
frozen one with ten, are judged again with ten. What each gave is in `records/readings.jsonl`: the claims that it wins
and loses.

Decision: docs/decisions/103-seeds-in-three-looks.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from perhop import files
from perhop_studies import Paper
from perhop_studies.runs import Budget
from perhop_studies.samples import Sample
from perhop_studies.variants import FEW, FULL, Bench, Line, Say, Store, Variant, Verdicts, recorded
from perhop_studies.verdict import REPRODUCED

KIND = "readings"


def run(paper: Paper, budget: Budget, out: Path, say: Say) -> Path:
    """Tries every other answer; writes their lines and a page, and returns the latter."""
    bench = Bench(paper, budget, say)
    _, lines = bench.lines(KIND, out, _variants(bench))
    page = out / f"{KIND}-{paper.name}.md"
    files.write(page, table(lines) + "\n")
    return page


def _variants(bench: Bench) -> Iterable[Variant]:
    for reading in bench.paper.readings().values():
        reread = bench.paper.reread.get(reading.id)
        for value in reading.others:
            changed = bench.laid(partial(bench.paper.answer, reading, value), reading.is_about)
            make = partial(_reread, bench, reread) if reread else partial(_line, bench, changed)
            more = ("open again", reread and (reading.id, value))
            yield Variant({"reading": reading.id, "value": value}, changed, bench.hard, make, more)


def _reread(bench: Bench, reread: Callable[[list[Sample]], list[Sample]]) -> Line:
    """Of an answer about what is measured in the same runs."""
    samples = bench.frozen.upto(FULL, bench.frozen.places)
    plain, laid = (bench.by(found, bench.hard, FULL).verdicts for found in (samples, reread(samples)))
    return {"changed": 0, "judged": len(plain), "again": len(plain), **_differing(plain, laid)}


def _line(bench: Bench, changed: Store) -> Line:
    """What an answer wins and loses of the hard claims whose runs it changes."""
    sets = {key[0] for key in changed.places}
    claims = [c for c in bench.hard if sets & {*bench.paper.study(c.study).sets}]
    plain, laid = bench.judge(claims, FULL, Store([], bench.frozen.run)).verdicts, bench.judge(claims, FEW, changed)
    moved = [c for c in claims if plain[c.name] != laid.verdicts[c.name]]
    wanted = set().union(*(laid.asked[c.name] for c in moved))
    sure = laid.verdicts | bench.judge(moved, FULL, changed, wanted).verdicts
    return {"changed": len(changed.places), "judged": len(claims), "again": len(moved), **_differing(plain, sure)}


def _differing(plain: Verdicts, laid: Verdicts) -> Line:
    held, now = ({name for name, verdict in found.items() if verdict == REPRODUCED} for found in (plain, laid))
    return {"wins": [n for n in plain if n in now - held], "loses": [n for n in plain if n in held - now]}


def table(lines: Iterable[Line]) -> str:
    """What each answer wins and loses, as Markdown."""
    head = "| reading | answer | points changed | wins | loses |\n|---|---|---|---|---|"
    cells = ([x["reading"], x["value"], str(x["changed"]), _listed(x["wins"]), _listed(x["loses"])] for x in lines)
    return "\n".join([head, *("| " + " | ".join(row) + " |" for row in cells)])


def _listed(claims: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in claims) or "-"


def answers(paper: Paper) -> int:
    """How many other answers were tried."""
    return len(recorded(paper, KIND))


def won_by(paper: Paper) -> dict[str, list[str]]:
    """By `study/claim`, the answers with which it holds though it does not as frozen."""
    found: dict[str, list[str]] = {}
    for line in recorded(paper, KIND):
        for name in line["wins"]:
            found.setdefault(name, []).append(f"{line['reading']} = {line['value']}")
    return found
