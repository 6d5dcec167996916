"""Holds perhop beside the kernel at configurations of tc drawn at random: the class and fate of each packet.

python3 lab/recording/differential.py [--seed N] [--count N] [--reduce] [--write]: prints a table of differences by
kind. With --reduce, a shortest text for each kind; with --write, lab/records/configurations.jsonl is written again: the
first twenty of the seed, which a test of perhop-config replays.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import answers
from answers import Answer
from cells import RECORDS
from drawn import Configuration, configuration
from kinds import is_foreign, kind_of
from reduced import Case, reduce

FILE = RECORDS / "configurations.jsonl"
#: What perhop says of a packet of which a filter compares bytes that perhop has not.
UNKNOWN = "unknown"
#: How many configurations are kept, and packets of each.
KEPT, KEPT_PACKETS = 20, 100
NUMBERS = re.compile(r"`[^`]*:[^`]*`|\b[0-9a-fx]+:[0-9a-fx]*|\b\d+\b")


@dataclass
class Held:
    """A configuration and both answers."""

    it: Configuration
    kernel: Answer
    perhop: Answer

    def verdict(self) -> str:
        """What perhop says: refused as a whole, lines not modelled, lines nearly so, or nothing."""
        lost = set(self.perhop.refused) - set(self.kernel.refused)
        if self.perhop.why:
            return "refused"
        return "not modelled" if lost else "nearly" if set(self.perhop.nearly) - set(self.kernel.refused) else "taken"

    def differences(self) -> list[int]:
        """The packets whose fates differ."""
        if self.perhop.why:
            return []
        pairs = zip(self.kernel.fates, self.perhop.fates, strict=True)
        return [i for i, (kernel, perhop) in enumerate(pairs) if perhop not in {kernel, UNKNOWN}]

    def unknown(self) -> int:
        """Of how many packets perhop says that it does not know: of a text that it refuses, all."""
        return len(self.it.packets) if self.perhop.why else self.perhop.fates.count(UNKNOWN)

    def groups(self) -> dict[tuple[str, str, str], list[int]]:
        """Those that look alike: by EtherType and by both fates."""
        found = defaultdict(list)
        for i in self.differences():
            found[self.it.packets[i][:4], self.kernel.fates[i], self.perhop.fates[i]].append(i)
        return dict(sorted(found.items(), key=lambda it: -len(it[1])))


def held(configurations: list[Configuration]) -> list[Held]:
    """Both answers of all."""
    both = zip(configurations, answers.kernel(configurations), answers.perhop(configurations), strict=True)
    return [Held(*it) for it in both]


def shortened(all_held: list[Held], most: int) -> list[tuple[Held, list[int], Case]]:
    """A shortest text for the largest groups of each configuration, with the packets of the group."""
    found = []

    def ask(configurations: list[Configuration]) -> tuple[list[Answer], list[Answer]]:
        return answers.kernel(configurations, strict=True), answers.perhop(configurations)

    for it in all_held:
        for (_, kernel, perhop), packets in list(it.groups().items())[:most]:
            taken = [line for i, line in enumerate(it.it.text.splitlines()) if i + 1 not in it.kernel.refused]
            one = replace(it.it, text="\n".join(taken) + "\n", packets=[it.it.packets[packets[0]]])
            found.append((it, packets, Case(one, kernel, perhop)))
    reduce([case for *_, case in found if not is_foreign(case)], ask)
    return found


def table(all_held: list[Held], cases: list[tuple[Held, list[int], Case]]) -> str:
    """Configurations by what perhop says of them, and differences by kind."""
    rows = [f"{len(all_held)} configurations, {sum(len(it.it.packets) for it in all_held)} packets", ""]
    heads = [
        "perhop says",
        "configurations",
        "with differences",
        "packets that differ",
        "packets of which it does not know",
    ]
    rows += [f"| {' | '.join(heads)} |"]
    rows += ["|---|---|---|---|---|"]
    for verdict in ("taken", "nearly", "not modelled", "refused"):
        some = [it for it in all_held if it.verdict() == verdict]
        packets = [len(it.differences()) for it in some]
        unknown = sum(it.unknown() for it in some)
        rows.append(f"| {verdict} | {len(some)} | {sum(it > 0 for it in packets)} | {sum(packets)} | {unknown} |")
    rows += ["", "| kind | configurations | packets | of them nothing said |", "|---|---|---|---|"]
    by_kind: dict[str, list[tuple[str, int, bool]]] = defaultdict(list)
    for it, packets, case in cases:
        by_kind[kind_of(case)].append((it.it.name, len(packets), it.verdict() == "taken"))
    for kind, found in sorted(by_kind.items(), key=lambda it: -len({name for name, *_ in it[1]})):
        silent = sum(many for _, many, taken in found if taken)
        rows.append(f"| {kind} | {len({name for name, *_ in found})} | {sum(it[1] for it in found)} | {silent} |")
    return "\n".join(rows)


def refusals(all_held: list[Held]) -> str:
    """What perhop says of texts, and of lines that the kernel takes, by how often; of names and numbers none."""
    said = [it.perhop.why.splitlines()[0] for it in all_held if it.perhop.why]
    for it in all_held:
        lines = it.perhop.refused | it.perhop.nearly
        said += [note for line, note in lines.items() if line not in it.kernel.refused]
    alike = Counter(NUMBERS.sub("..", note) for note in said)
    return "\n".join(f"{many:5} {note}" for note, many in alike.most_common(30))


def keep(all_held: list[Held]) -> None:
    """Writes the first twenty of those that perhop takes."""
    rows = []
    for it in [it for it in all_held if not it.perhop.why][:KEPT]:
        row: dict[str, object] = {"name": it.it.name, "direction": it.it.direction, "text": it.it.text}
        rows.append(row | {"packets": it.it.packets[:KEPT_PACKETS], "fates": it.kernel.fates[:KEPT_PACKETS]})
    FILE.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main() -> int:
    """Draws, asks both, prints."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--count", type=int, default=100)
    reader.add_argument("--reduce", action="store_true", help="a shortest text for each kind of difference")
    reader.add_argument("--write", action="store_true", help="replace what is recorded")
    reader.add_argument("--groups", type=int, default=3, help="so many differences of a configuration are shortened")
    reader.add_argument("--keep", type=Path, help="leave both answers in this file")
    asked = reader.parse_args()
    if status := answers.build():
        return status
    all_held = held([configuration(asked.seed, number) for number in range(asked.count)])
    cases = shortened(all_held, asked.groups)
    if asked.keep:
        both = [[vars(one) for one in (it.it, it.kernel, it.perhop)] for it in all_held]
        short = [[it.it.name, packets, vars(case) | {"it": vars(case.it)}] for it, packets, case in cases]
        asked.keep.write_text(json.dumps([both, short]))
    print(table(all_held, cases), refusals(all_held), sep="\n\n")
    if asked.reduce:
        seen = {kind_of(case): case for *_, case in cases}
        for kind, case in seen.items():
            print(f"\n## {kind}\n{case.it.text}{case.it.packets[0]}: kernel {case.kernel}, perhop {case.perhop}")
    if asked.write:
        keep(all_held)
    return 1 if any(it.differences() for it in all_held) else 0


if __name__ == "__main__":
    sys.exit(main())
