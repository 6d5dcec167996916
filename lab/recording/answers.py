"""What the kernel and perhop make of configurations of tc, packet by packet."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from cells import LAB
from drawn import Configuration

ROOT = LAB.parent
#: The kernel that has ematches and VLANs, too.
MORE = {**os.environ, "KERNEL_MORE": "1"}
#: The longest run of a kernel, in seconds of the host.
LONGEST = 3600
#: Configurations of one boot.
MANY = 3000
#: Has the shell print the words of each command, as tc would get them.
TC = "tc() { for word; do printf '%s\\037' \"$word\"; done; echo; }\n"
PERHOP = ["cargo", "run", "-q", "-p", "perhop-config", "--example", "answers"]
#: What the kernel's counters tell apart, and no sender.
DROPS = {"policed", "unclassified"}


@dataclass
class Answer:
    """What became of the packets of a configuration, and what was said of its lines, by their numbers."""

    fates: list[str]
    #: Lines that are refused: by the kernel, or not modelled by perhop.
    refused: dict[int, str] = field(default_factory=dict)
    #: Lines that perhop says nearly the same of.
    nearly: dict[int, str] = field(default_factory=dict)
    #: Why perhop refuses all of the text.
    why: str | None = None


def build() -> int:
    """Builds the kernel if there is none; the exit status."""
    return subprocess.run([LAB / "build.sh"], stdout=subprocess.DEVNULL, env=MORE, check=False).returncode


def commands(text: str) -> list[str]:
    """The commands of a text, as its shell gives them to tc, for tc's own batches."""
    said = subprocess.run(["sh"], input=TC + text, capture_output=True, text=True, check=True).stdout
    lines = [line.removesuffix("\x1f").split("\x1f") for line in said.splitlines()]
    return [" ".join(f'"{word}"' if " " in word else word for word in words) for words in lines]


def lines(text: str) -> list[int]:
    """The numbers of the lines with commands, one each."""
    return [i + 1 for i, line in enumerate(text.splitlines()) if line.startswith("tc ")]


def kernel(configurations: list[Configuration], strict: bool = False) -> list[Answer]:
    """What the kernel does; if this is strict, with no packet where it refuses a line."""
    found: list[Answer] = []
    for at in range(0, len(configurations), MANY):
        found += _booted(configurations[at : at + MANY], strict)
    return found


def _booted(configurations: list[Configuration], strict: bool) -> list[Answer]:
    jobs = [{**vars(it), "commands": commands(it.text), "strict": strict} for it in configurations]
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = Path(made)
        (folder / "configurations.json").write_text(json.dumps(jobs))
        subprocess.run([LAB / "run", folder, str(LONGEST)], env=MORE, check=True)
        said = json.loads((folder / "answers.json").read_text())
    why = "refused by the kernel"
    by = zip(configurations, said, strict=True)
    return [Answer(_fates(one["fates"]), {lines(it.text)[n]: why for n in one["refused"]}) for it, one in by]


def perhop(configurations: list[Configuration]) -> list[Answer]:
    """What perhop does."""
    given = "".join(json.dumps(vars(it)) + "\n" for it in configurations)
    done = subprocess.run(PERHOP, input=given, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    return [_read(json.loads(line)) for line in done.stdout.splitlines()]


def _fates(counted: list[str]) -> list[str]:
    return ["dropped" if fate in DROPS else fate for fate in counted]


def _read(said: dict[str, object]) -> Answer:
    answer = Answer(list(said["fates"]), why=said["refused"])  # type: ignore[call-overload,arg-type]
    for line, verdict, note in said["said"]:  # type: ignore[attr-defined]
        (answer.refused if verdict == "not modelled" else answer.nearly)[line] = note
    return answer
