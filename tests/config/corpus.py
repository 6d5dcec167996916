"""What becomes of the lines of a kernel's tests of tc, and of other texts.

    python3 tests/config/corpus.py LINUX/tools/testing/selftests/tc-testing [--notes]
    python3 tests/config/corpus.py --texts FILE...

Of each test the lines for `tc` of its setup and its command are one text, and what it expects to be printed is another
one where that is no pattern. A command that the kernel is expected to refuse counts by itself: it may not be taken.
All tests of `tc-tests/qdiscs` and of `actions/police.json`; of five kinds of filters every fifth.
With `--texts` every command for tc of the files counts: what a program typed, one file a table row.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READER = ROOT / "target" / "debug" / "examples" / "account"
# The files of queueing disciplines that perhop has.
HAS = [
    *["cake", "choke", "codel", "drr", "ets", "fifo", "fq", "fq_codel", "fq_pie", "hfsc", "htb", "ingress", "netem"],
    *["pfifo_fast", "prio", "red", "sfq", "tbf", "police"],
]
FILTERS = ["flower", "u32", "matchall", "basic", "fw"]
FIFTH = 5
BAR = 0.95
VERDICTS = ["taken", "approximated", "not modelled", "missed"]
# Signs of a pattern; a full stop may stand for itself.
PATTERN = re.compile(r"[\\\[\](){}*+?|^$]")
COMMAND = r"\s+(-\S+\s+)*(qdisc|class|filter|actions?)\s+(add|change|replace|del)"
TESTED = re.compile(r"\$TC" + COMMAND)
TYPED = re.compile(r"\btc" + COMMAND)


def commands(entries: list[Any]) -> list[str]:
    """The commands of a setup, each a text or a list of a text and its exit codes."""
    return [entry if isinstance(entry, str) else entry[0] for entry in entries if entry]


def account(text: str) -> dict[int, dict[str, Any]]:
    """The account of a text by its lines."""
    run = subprocess.run([READER, "--from", "tc"], input=text.encode(), capture_output=True, timeout=60, check=False)
    if run.returncode:
        raise SystemExit(f"{READER} failed on:\n{text}\n{run.stderr.decode()}")
    return {int(line): entry for line, entry in json.loads(run.stdout).get("account", {}).items()}


class Tally:
    """Lines by verdict, and why they are not taken."""

    def __init__(self) -> None:
        self.lines: Counter[str] = Counter()
        self.notes: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self.shown: Counter[str] = Counter()
        self.missed: list[tuple[str, str, str]] = []

    def case(self, case: dict[str, Any]) -> None:
        """Counts a test of a kernel."""
        lines = [*commands(case.get("setup", [])), case["cmdUnderTest"]]
        fails = str(case.get("expExitCode", "0")) != "0"
        # One line each: what is not for tc stays in, to be passed over.
        entries = account("\n".join(line.replace("\n", " ") for line in lines) + "\n")
        if fails and TESTED.search(lines[-1]):
            self.denied(case["id"], lines[-1], entries.get(len(lines)))
            lines.pop()
        for number, line in enumerate(lines, 1):
            if TESTED.search(line):
                self.line(case["id"], line, entries.get(number))
        if not fails:
            self.printed(case)

    def line(self, where: str, line: str, entry: dict[str, Any] | None) -> None:
        """Counts a line that a kernel takes."""
        verdict = entry["verdict"] if entry else "missed"
        self.lines[verdict] += 1
        if verdict not in ("taken", "approximated"):
            self.missed.append((where, "; ".join([verdict, *(entry["notes"] if entry else [])]), line))
        for note in entry["notes"] if entry else []:
            self.notes[(verdict, note)] += 1

    def denied(self, where: str, line: str, entry: dict[str, Any] | None) -> None:
        """Counts a line that a kernel refuses."""
        verdict = entry["verdict"] if entry else "missed"
        idle = any(note.startswith("no effect") for note in entry["notes"]) if entry else False
        denied = idle or verdict in ("not modelled", "missed")
        self.refused["refused" if denied else verdict] += 1
        if not denied:
            self.missed.append((where, f"{verdict}, and the kernel refuses it", line))

    def printed(self, case: dict[str, Any]) -> None:
        """Counts what a test expects to be printed."""
        pattern = case.get("matchPattern", "")
        literal = re.match(r"(qdisc|class|filter) ", pattern) and not PATTERN.search(pattern)
        if not literal or case.get("matchCount") == "0":
            return
        entry = account(pattern + "\n").get(1, {"verdict": "missed", "notes": []})
        self.shown[entry["verdict"]] += 1
        for note in entry["notes"]:
            self.notes[(entry["verdict"], f"printed: {note}")] += 1

    def row(self, name: str) -> str:
        """A row of the table."""
        counts = [self.lines[verdict] for verdict in VERDICTS]
        every = sum(counts)
        share = f"{100 * (counts[0] + counts[1]) / every:.1f} %" if every else "-"
        refused = f"{self.refused['refused']}/{self.refused.total()}"
        shown = f"{self.shown['taken'] + self.shown['approximated']}/{self.shown.total()}"
        return f"| {name} | " + " | ".join(str(count) for count in counts) + f" | {share} | {refused} | {shown} |"


def tests(folder: Path) -> Iterator[tuple[str, Tally]]:
    """The tests of a kernel, by their files."""
    files = [*sorted((folder / "tc-tests" / "qdiscs").glob("*.json")), folder / "tc-tests" / "actions" / "police.json"]
    files += [folder / "tc-tests" / "filters" / f"{name}.json" for name in FILTERS]
    for path in files:
        tally = Tally()
        cases = json.loads(path.read_text())
        for case in cases[::FIFTH] if path.stem in FILTERS else cases:
            tally.case(case)
        yield path.stem, tally


def texts(files: list[Path]) -> Iterator[tuple[str, Tally]]:
    """Texts of commands, each read as a whole."""
    for path in files:
        tally = Tally()
        text = path.read_text()
        entries = account(text)
        for number, line in enumerate(text.splitlines(), 1):
            if TYPED.search(line):
                tally.line(str(number), line, entries.get(number))
        yield path.name, tally


def reasons(every: dict[str, Tally], has: list[str]) -> None:
    """Reasons by kind, most frequent first."""
    notes: Counter[tuple[str, str, str]] = Counter()
    for name, tally in every.items():
        for (verdict, note), count in tally.notes.items():
            notes[(verdict, "perhop has" if name in has else "others", note)] += count
    print("\n| lines | verdict | files | reason |\n|---|---|---|---|")
    for (verdict, where, note), count in sorted(notes.items(), key=lambda it: (it[0][1], it[0][0], -it[1])):
        print(f"| {count} | {verdict} | {where} | {note} |")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", help="tools/testing/selftests/tc-testing of a kernel")
    options.add_argument("--texts", type=Path, nargs="+", default=[], metavar="FILE", help="texts of commands")
    options.add_argument("--notes", action="store_true", help="print the lines that are not modelled")
    asked = options.parse_args()
    if bool(asked.folder) == bool(asked.texts):
        options.error("give the directory of a kernel's tests, or --texts FILE...")
    subprocess.run(["cargo", "build", "-q", "-p", "perhop-config", "--example", "account"], cwd=ROOT, check=True)
    print("| file | taken | approximated | not modelled | missed | share | refused as expected | printed |")
    print("|---|---|---|---|---|---|---|---|")
    kept: Counter[str] = Counter()
    every = {}
    for name, tally in texts(asked.texts) if asked.texts else tests(asked.folder):
        every[name] = tally
        print(tally.row(name))
        if asked.texts or name in HAS:
            kept.update(tally.lines)
    good, of = kept["taken"] + kept["approximated"], max(kept.total(), 1)
    share = f"{100 * good / of:.1f} % (wanted: {100 * BAR:.0f} %)"
    print(f"\nOf what perhop has: {good} of {of} lines taken or approximated, {share}")
    reasons(every, [*every] if asked.texts else HAS)
    for name, tally in every.items():
        for where, what, line in tally.missed:
            if asked.notes or not what.startswith("not modelled"):
                print(f"!! {name} {where} {what}: {line}", file=sys.stderr)
    return 0 if good >= BAR * of else 1


if __name__ == "__main__":
    sys.exit(main())
