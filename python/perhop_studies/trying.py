"""`perhop reproduce PAPER --readings`: every other answer to what a paper leaves open, one at a time.

Each is run with three seeds, at the points that it changes; hard claims whose verdict is then open, or differs from the
frozen one with ten, are judged again with ten. What each gave is in `records/readings.jsonl`: the claims that it wins
and loses.

Decision: docs/decisions/103-seeds-in-three-looks.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from perhop import files
from perhop_studies import Paper
from perhop_studies.criteria import Criterion
from perhop_studies.readings import Reading
from perhop_studies.runs import Budget, RunSet, Settings
from perhop_studies.samples import Sample
from perhop_studies.variants import FEW, FULL, Bench, Line, Lines, Say, Store, Verdicts, read
from perhop_studies.verdict import REPRODUCED

RECORD = "records/readings.jsonl"


def run(paper: Paper, budget: Budget, out: Path, say: Say) -> Path:
    """Tries every other answer; writes their lines and a page, and returns the latter."""
    bench = Bench(paper, replace(budget, seeds=FULL), say)
    lines = Lines.resumed(out / f"readings-{paper.name}.jsonl", paper.directory / RECORD)
    for reading in paper.readings().values():
        for value in reading.others:
            _try(bench, lines, reading, value)
    page = out / f"readings-{paper.name}.md"
    lines.finish()
    files.write(page, table(lines.found) + "\n")
    say("")
    return page


def _try(bench: Bench, lines: Lines, reading: Reading, value: str) -> None:
    def lay(of: RunSet) -> Settings:
        return bench.paper.answer(reading, value, of)

    changed = bench.laid(lay, lambda place: reading.is_about(place.at))
    bench.say(f"{reading.id}: {value}")
    reread = bench.paper.reread.get(reading.id)
    lines.add(
        bench.hash(changed, bench.hard, "open again", reread and (reading.id, value)),
        lambda: _reread(bench, reread) if reread else _line(bench, changed),
        {"reading": reading.id, "value": value},
    )


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
    moved = [c for c in claims if plain[_name(c)] != laid.verdicts[_name(c)]]
    wanted = set().union(*(laid.asked[_name(c)] for c in moved))
    sure = laid.verdicts | bench.judge(moved, FULL, changed, wanted).verdicts
    return {"changed": len(changed.places), "judged": len(claims), "again": len(moved), **_differing(plain, sure)}


def _name(claim: Criterion) -> str:
    return f"{claim.study}/{claim.claim}"


def _differing(plain: Verdicts, laid: Verdicts) -> Line:
    held, now = ({name for name, verdict in found.items() if verdict == REPRODUCED} for found in (plain, laid))
    return {"wins": [n for n in plain if n in now - held], "loses": [n for n in plain if n in held - now]}


def table(lines: Iterable[Line]) -> str:
    """What each answer wins and loses, as Markdown."""
    head = "| reading | answer | points changed | wins | loses |\n|---|---|---|---|---|\n"
    rows = [
        f"| {x['reading']} | {x['value']} | {x['changed']} | {_listed(x['wins'])} | {_listed(x['loses'])} |"
        for x in lines
    ]
    return head + "\n".join(rows)


def _listed(claims: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in claims) or "-"


def answers(paper: Paper) -> int:
    """How many other answers were tried."""
    return len(read(paper.directory / RECORD))


def won_by(paper: Paper) -> dict[str, list[str]]:
    """By `study/claim`, the answers with which it holds though it does not as frozen."""
    found: dict[str, list[str]] = {}
    for line in read(paper.directory / RECORD):
        for name in line["wins"]:
            found.setdefault(name, []).append(f"{line['reading']} = {line['value']}")
    return found
