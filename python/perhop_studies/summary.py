"""What `perhop reproduce` prints at its end: each claim over its grid, each study, and the counts of the first page."""

from __future__ import annotations

from collections.abc import Iterable

from perhop_studies import tally
from perhop_studies.headline import Headline, Part
from perhop_studies.outcome import Outcome
from perhop_studies.records import Record, overall
from perhop_studies.verdict import UNDECIDED, VERDICTS


def text(outcomes: list[Outcome], seconds: float) -> str:
    """All of it."""
    records = [r for outcome in outcomes for r in outcome.records]
    wide = max(len(r.study) for r in records)
    rules = [f"{name[0]:{wide}} {name[1]:34} {name[2]:5} {_counted(v)}" for o in outcomes for name, v in _by_rule(o)]
    names = dict.fromkeys(r.study for r in records)
    studies = [f"{name:{wide}} {overall(r for r in records if r.study == name)}" for name in names]
    counts = [["", *tally.COLUMNS], *([f"{o.paper.name} {o.setting.title}", *o.tally.cells] for o in outcomes)]
    if len(outcomes) > 1 and len({o.setting.name for o in outcomes}) == 1:
        counts.append(["in all", *tally.total(o.tally for o in outcomes).cells])
    taken = f"{len(records)} claims and printed values in {seconds:.0f} s"
    return "\n".join(
        [*rules, "", *studies, "", *_aligned(counts), *_named(records), "", taken, "", *headlines(outcomes)]
    )


def headlines(outcomes: Iterable[Outcome]) -> Iterable[str]:
    """The head-line of each setting, of the papers of which every study was run."""
    whole = [one for one in outcomes if one.complete]
    for setting in dict.fromkeys(one.setting.title for one in whole):
        parts = [Part(one.paper, one.tally) for one in whole if one.setting.title == setting]
        yield from (f"{setting}: {line}." for line in Headline.of(parts).lines)


def _by_rule(outcome: Outcome) -> Iterable[tuple[tuple[str, str, str], list[str]]]:
    """Verdicts of the claims that are judged; those of one line are combined over its grid."""
    rules = {(c.study, c.claim): c.rule for c in outcome.criteria.claims}
    found: dict[tuple[str, str, str], list[str]] = {}
    for entry in (r for r in outcome.records if r.kind != "report"):
        found.setdefault((entry.study, rules[entry.study, entry.claim], entry.kind), []).append(entry.verdict)
    return found.items()


def _counted(verdicts: list[str]) -> str:
    if len(verdicts) == 1:
        return verdicts[0]
    parts = [f"{n} {verdict}" for verdict in VERDICTS if (n := verdicts.count(verdict))]
    return f"{', '.join(parts)} (of {len(verdicts)})"


def _aligned(rows: list[list[str]]) -> Iterable[str]:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ("  ".join([f"{name:{wide[0]}}", *map(str.rjust, cells, wide[1:])]) for name, *cells in rows)


def _named(records: list[Record]) -> list[str]:
    """Claims that a reader should not overlook, by name."""
    listed = {
        "undecided": [f"{r.name} ({r.kind})" for r in records if r.verdict == UNDECIDED],
        "no mutant fails": [r.name for r in records if r.tells is False],
    }
    return [f"{heading}: {', '.join(names)}" for heading, names in listed.items() if names]
