"""What becomes of the lines of a kernel's tests of tc: python3 tests/config/corpus.py LINUX/tools/testing/selftests/tc-testing [--notes]

Of each test the lines for `tc` of its setup and its command are one text, and what it expects to be printed is another one where that is
no pattern. A command that the kernel is expected to refuse counts by itself: it may not be taken.
All tests of `tc-tests/qdiscs` and of `actions/police.json`; of five kinds of filters every fifth.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = ROOT / "target" / "debug" / "examples" / "account"
# The files of queueing disciplines that perhop has.
HAS = "cake choke codel drr ets fifo fq fq_codel fq_pie hfsc htb ingress netem pfifo_fast prio red sfq tbf".split()
FILTERS = "flower u32 matchall basic fw".split()
FIFTH = 5
BAR = 0.95
VERDICTS = ["taken", "approximated", "not modelled", "missed"]
# Signs of a pattern; a full stop may stand for itself.
PATTERN = re.compile(r"[\\\[\](){}*+?|^$]")


def commands(entries):
    """The commands of a setup, each a text or a list of a text and its exit codes."""
    return [entry if isinstance(entry, str) else entry[0] for entry in entries if entry]


def is_tc(command):
    return "$TC" in command and re.search(r"\$TC\s+(-\S+\s+)*(qdisc|class|filter|actions?)\s+(add|change|replace|del)", command)


def account(text):
    """The account of a text by its lines."""
    run = subprocess.run([READER, "--from", "tc"], input=text.encode(), capture_output=True, timeout=60)
    if run.returncode:
        raise SystemExit(f"{READER} failed on:\n{text}\n{run.stderr.decode()}")
    found = json.loads(run.stdout)
    return {int(line): entry for line, entry in found.get("account", {}).items()}


class Tally:
    """Lines by verdict, and why they are not taken."""

    def __init__(self):
        self.lines = collections.Counter()
        self.notes = collections.Counter()
        self.refused = collections.Counter()
        self.shown = collections.Counter()
        self.missed = []

    def add(self, case, notes):
        setup = [line for line in commands(case.get("setup", []))]
        command = case["cmdUnderTest"]
        lines = [*setup, command]
        # One line each: what is not for tc stays in, to be passed over.
        entries = account("\n".join(line.replace("\n", " ") for line in lines) + "\n")
        fails = str(case.get("expExitCode", "0")) != "0"
        for number, line in enumerate(lines, 1):
            if not is_tc(line):
                continue
            entry = entries.get(number)
            verdict = entry["verdict"] if entry else "missed"
            if fails and number == len(lines):
                idle = any(note.startswith("no effect") for note in entry["notes"]) if entry else False
                self.refused["refused" if idle or verdict in ("not modelled", "missed") else verdict] += 1
                if verdict in ("taken", "approximated") and not idle:
                    self.missed.append((case["id"], verdict, line))
                continue
            self.lines[verdict] += 1
            if verdict == "missed":
                self.missed.append((case["id"], verdict, line))
            for note in entry["notes"] if entry else []:
                self.notes[(verdict, note)] += 1
                if notes and verdict == "not modelled":
                    print(f"    {case['id']} {note}: {line}", file=sys.stderr)
        self.printed(case, fails)

    def printed(self, case, fails):
        pattern = case.get("matchPattern", "")
        if fails or not re.match(r"(qdisc|class|filter) ", pattern) or PATTERN.search(pattern) or case.get("matchCount") == "0":
            return
        entries = account(pattern + "\n")
        self.shown[entries[1]["verdict"] if 1 in entries else "missed"] += 1
        for note in entries.get(1, {}).get("notes", []):
            self.notes[(entries[1]["verdict"], f"printed: {note}")] += 1


def tallies(folder, notes):
    files = sorted((folder / "tc-tests" / "qdiscs").glob("*.json")) + [folder / "tc-tests" / "actions" / "police.json"]
    files += [folder / "tc-tests" / "filters" / f"{name}.json" for name in FILTERS]
    for path in files:
        tally = Tally()
        cases = json.loads(path.read_text())
        for case in cases[::FIFTH] if path.stem in FILTERS else cases:
            tally.add(case, notes)
        yield path.stem, tally


def row(name, tally):
    counts = [tally.lines[verdict] for verdict in VERDICTS]
    every = sum(counts)
    share = f"{100 * (counts[0] + counts[1]) / every:.1f} %" if every else "-"
    refused = f"{tally.refused['refused']}/{sum(tally.refused.values())}"
    shown = f"{tally.shown['taken'] + tally.shown['approximated']}/{sum(tally.shown.values())}"
    return f"| {name} | " + " | ".join(str(count) for count in counts) + f" | {share} | {refused} | {shown} |"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--notes", action="store_true", help="print the lines that are not modelled")
    asked = options.parse_args()
    subprocess.run(["cargo", "build", "-q", "-p", "perhop-config", "--example", "account"], cwd=ROOT, check=True)
    print("| file | taken | approximated | not modelled | missed | share | refused as expected | printed |\n|---|---|---|---|---|---|---|---|")
    kept = collections.Counter()
    every = {}
    for name, tally in tallies(asked.folder, asked.notes):
        every[name] = tally
        print(row(name, tally))
        if name in HAS or name == "police":
            kept.update(tally.lines)
    good = kept["taken"] + kept["approximated"]
    share = good / sum(kept.values())
    print(f"\nOf what perhop has: {good} of {sum(kept.values())} lines taken or approximated, {100 * share:.1f} % (wanted: {100 * BAR:.0f} %)")
    reasons(every)
    for name, tally in every.items():
        for case in tally.missed:
            print(f"!! {name} {case[0]} {case[1]}: {case[2]}", file=sys.stderr)
    return 0 if share >= BAR else 1


def reasons(every):
    """Reasons by kind, most frequent first."""
    notes = collections.Counter()
    for name, tally in every.items():
        for (verdict, note), count in tally.notes.items():
            notes[(verdict, "perhop has" if name in (*HAS, "police") else "others", note)] += count
    print("\n| lines | verdict | files | reason |\n|---|---|---|---|")
    for (verdict, where, note), count in sorted(notes.items(), key=lambda it: (it[0][1], it[0][0], -it[1])):
        print(f"| {count} | {verdict} | {where} | {note} |")


if __name__ == "__main__":
    sys.exit(main())
