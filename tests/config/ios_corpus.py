"""Reads public outputs and configurations of Cisco devices, and counts what became of their lines.

    python3 tests/config/ios_corpus.py --genieparser DIR --ntc-templates DIR --batfish DIR

The directories are checkouts, or bare git directories. Of genieparser's `show policy-map` outputs every second of the
sorted list is counted; `--half development` looks at the others. genieparser says what each output means
(`*_expected.py`): each value there is compared with perhop's model or counters. The exit code is 1 if less than 90 %
of the lines about QoS are taken or approximated, or if a value differs.

The program is `cargo run --example account` of crates/config, built first. Standard library only.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ios_expected

ROOT = Path(__file__).resolve().parents[2]

# Outputs of genieparser that are about QoS: not firewalls, not subscribers.
OUTPUTS = re.compile(r"/(iosxe|ios)/.*ShowPolicyMap[^/]*/cli/equal/[^/]*output[^/]*\.txt$")
NOT_QOS = re.compile("TypeInspect|TypeAccessControl|TypePacketService|TypeControlSubscriber")
RAWS = re.compile(r"^tests/cisco_ios/show_policy-map/.*\.raw$")
CONFIGURATIONS = re.compile(r"grammar/cisco/testconfigs/ios-[^/]*policy[^/]*$|unit-tests/configs/cisco_qos$")
BAR = 0.9

# Values that differ because genieparser means something else, by file and path.
KNOWN = [
    (
        "ShowPolicyMap/cli/equal/golden_output5",
        "bandwidth_remaining_percent",
        "the policy is shown twice, the second time without",
    ),
    (
        "ShowPolicyMapType/cli/equal/golden_output25",
        "class-default/police",
        "classes of the child stand in the parent there",
    ),
]


@dataclass
class Source:
    """A checkout, or a bare git directory."""

    path: Path

    @property
    def bare(self) -> bool:
        return (self.path / "HEAD").exists() and (self.path / "objects").exists()

    def _git(self, *arguments: str) -> bytes:
        return subprocess.run(["git", f"--git-dir={self.path}", *arguments], check=True, stdout=subprocess.PIPE).stdout

    def names(self, pattern: re.Pattern[str]) -> list[str]:
        if self.bare:
            names = self._git("ls-tree", "-r", "--name-only", "HEAD").decode().splitlines()
        else:
            names = [str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file()]
        return sorted(name for name in names if pattern.search(name))

    def read(self, name: str) -> bytes:
        return self._git("show", f"HEAD:{name}") if self.bare else (self.path / name).read_bytes()


@dataclass
class Tally:
    """What became of lines and values."""

    lines: Counter[str] = field(default_factory=Counter)
    files: int = 0
    faults: list[str] = field(default_factory=list)
    notes: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)

    def share(self) -> float:
        """Of the lines about QoS, those that are taken or approximated."""
        read = self.lines["taken"] + self.lines["approximated"]
        return read / max(1, sum(self.lines.values()))


def account(program: Path, text: bytes) -> dict[str, Any]:
    """What perhop says of a text; percentages are of a link of 1 Gbit/s."""
    command = [str(program), "--from", "ios", "--link", "1Gbit/s"]
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True)
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def kind(note: str) -> str:
    """A note without the names in it."""
    return re.sub(r"access list \S+", "access list X", re.sub(r"`[^`]*`", "`X`", note))


def count_lines(tally: Tally, name: str, text: bytes, answer: dict[str, Any]) -> bool:
    tally.files += 1
    if fault := answer.get("fault"):
        tally.faults.append(f"{name}: {fault['code']}: {fault['message']}")
        return False
    for entry in answer["account"].values():
        tally.lines[entry["verdict"]] += 1
        for note in entry["notes"]:
            tally.notes[entry["verdict"], kind(note)] += 1
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
        if line.strip() and str(number) not in answer["account"]:
            tally.left[line.strip()] += 1
    return True


def expected(source: Source, name: str) -> dict[str, Any]:
    text = source.read(name.replace("_output.txt", "_expected.py")).decode()
    value: dict[str, Any] = ast.literal_eval(text.split("=", 1)[1].strip())
    return value


def compare(tally: Tally, name: str, values: Iterator[ios_expected.Verdict]) -> None:
    for verdict in values:
        known = next((why for file, path, why in KNOWN if file in name and path in verdict.path), None)
        if verdict.what == "different" and known:
            verdict.what, verdict.why = "not compared", known
        tally.values[verdict.what] += 1
        if verdict.what == "not compared":
            tally.reasons[verdict.why] += 1
        elif verdict.what == "different":
            tally.different.append(f"{name}: {verdict.path}: expected {verdict.expected!r}, here {verdict.ours!r}")


def show(title: str, tally: Tally, verbose: bool) -> None:
    total = sum(tally.lines.values())
    print(f"## {title}: {tally.files} files, {total} lines about QoS")
    for verdict in ("taken", "approximated", "not modelled"):
        print(f"{tally.lines[verdict]:6} {verdict}")
    print(f"{100 * tally.share():6.2f} % taken or approximated")
    for fault in tally.faults:
        print(f"       {fault}")
    for (verdict, note), count in sorted(tally.notes.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:6} {verdict}: {note}")
    if verbose:
        print("not in the account:")
        for line, count in tally.left.most_common():
            print(f"{count:6} {line}")
    if tally.values:
        print("values of genieparser:", ", ".join(f"{count} {what}" for what, count in tally.values.most_common()))
        for why, count in tally.reasons.most_common():
            print(f"{count:6} not compared: {why}")
        for line in tally.different:
            print(f"       different: {line}")


def genie(program: Path, source: Source, half: str) -> Tally:
    names = [name for name in source.names(OUTPUTS) if not NOT_QOS.search(name)]
    tally = Tally()
    for name in names[1::2] if half == "counted" else names[0::2]:
        text = source.read(name)
        answer = account(program, text)
        if count_lines(tally, name, text, answer):
            compare(tally, name, ios_expected.verdicts(expected(source, name), answer))
    return tally


def plain(program: Path, source: Source, pattern: re.Pattern[str]) -> Tally:
    tally = Tally()
    for name in source.names(pattern):
        text = source.read(name)
        count_lines(tally, name, text, account(program, text))
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--genieparser", type=Path)
    parser.add_argument("--ntc-templates", type=Path)
    parser.add_argument("--batfish", type=Path)
    parser.add_argument("--half", choices=["counted", "development"], default="counted")
    parser.add_argument("--program", type=Path, default=ROOT / "target/debug/examples/account")
    parser.add_argument("--verbose", action="store_true", help="print lines that are not in the account, too")
    arguments = parser.parse_args()
    tallies: list[tuple[str, Tally]] = []
    if arguments.genieparser:
        tallies.append(("genieparser", genie(arguments.program, Source(arguments.genieparser), arguments.half)))
    if arguments.ntc_templates:
        tallies.append(("ntc-templates", plain(arguments.program, Source(arguments.ntc_templates), RAWS)))
    if arguments.batfish:
        tallies.append(("batfish", plain(arguments.program, Source(arguments.batfish), CONFIGURATIONS)))
    for title, tally in tallies:
        show(title, tally, arguments.verbose)
    lines = sum((tally.lines for _, tally in tallies), Counter[str]())
    total = Tally(lines=lines)
    print(f"## All: {sum(lines.values())} lines about QoS, {100 * total.share():.2f} % taken or approximated")
    different = sum(len(tally.different) for _, tally in tallies)
    return int(total.share() < BAR or different > 0)


if __name__ == "__main__":
    sys.exit(main())
