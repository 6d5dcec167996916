"""The program: its command lines, and what they print."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from same.record import ROOT

from .texts import Text
from .verbs import LEAST_MS, LINK, MOST_BITS, MOST_MS, OF, OF_REFUSED, PORTS, REFUSED, TIME, TUNED

OUT = "target/texts-of-"
CUTS = (
    (re.compile(rb"\d+\.\d s(?= \(\d+\.\d M packet-hops/s\)|; result hash)"), b"WALL s"),
    (re.compile(rb"\d+\.\d(?= M packet-hops/s\))"), b"SPEED"),
    (re.compile(rb"%b\d{8}" % OUT.encode()), b"OUT"),
    (re.compile(rb'(OUT/[^\s"]*)-[0-9a-f]{8,16}(?=[\s"/;])'), rb"\1-HASH"),
)
"""What depends on the day or the place, and what stands in its place."""


@dataclass(frozen=True)
class Answer:
    """What a command line gave."""

    code: int
    out: bytes
    err: bytes


@dataclass(frozen=True)
class Asker:
    """The program, and where it runs."""

    program: Path
    base: Path = ROOT

    def answers(self, text: Text) -> Iterator[tuple[str, Answer]]:
        """Those of all verbs of a text."""
        for verb in OF[text.kind]:
            answer = self.answer(text, verb)
            yield verb, answer
            if verb == "check" and text.kind == "scenario" and answer.code == REFUSED:
                yield from ((other, self.answer(text, other)) for other in OF_REFUSED)
                return
        for verb in self.more(text):
            yield verb, self.answer(text, verb)

    def more(self, text: Text) -> Iterator[str]:
        """Verbs that depend on what stands in the text."""
        if text.kind == "scenario":
            words = (self.base / text.name).read_text(encoding="utf-8", errors="replace")
            yield from TUNED if "svb" in words else ()
            yield from ("sweep", "sweep --json") if "[sweep]" in words else ()
            for port in _ports(self.value(text, "explain --json")):
                yield from (f"explain --as {system} --port {shlex.quote(port)} --dev eth1" for system in ("tc", "ios"))
        if text.kind == "configuration":
            predicted = self.value(text, f"predict --all {LINK} --json").get("predictions", [])
            for port in [it["port"] for it in predicted if len(predicted) > 1][:PORTS]:
                which = f"--interface {shlex.quote(port['interface'])} --direction {port['direction']}"
                yield from (f"import {LINK} {which}", f"predict {LINK} {which} --json")

    def value(self, text: Text, verb: str) -> dict[str, Any]:
        """An answer in JSON; nothing of a text that is refused."""
        return _value(self, text, verb)

    def answer(self, text: Text, verb: str) -> Answer:
        """Of a verb."""
        out = f"{OUT}{os.getpid():08}"
        try:
            return self._piped(self.command(text, verb, out))
        finally:
            shutil.rmtree(self.base / out, ignore_errors=True)

    def command(self, text: Text, verb: str, out: str = "OUT") -> str:
        """As it is typed at the root of the tree."""
        first, *others = verb.split(" | ")
        last = "" if text.kind == "listed" and not text.name else shlex.quote(text.name)
        words = [f"{first}{self._limits(text, first, out)} {last}", *(f"{other} -" for other in others)]
        return " | ".join(f"perhop {word}" for word in words)

    def _limits(self, text: Text, verb: str, out: str) -> str:
        """Options that make a verb short, and where its files go."""
        match verb.split(maxsplit=1)[0]:
            case "run":
                return f" --replications 1 {TIME} --out {out}"
            case "sweep":
                return f" --shard 1/100000 --replications 1 {TIME} --out {out}"
            case "predict":
                return f" --replications 1 --duration {self._duration(text, verb)}ms"
            case "mark":
                return f" --output {out}/marked.pcap"
        return ""

    def _duration(self, text: Text, verb: str) -> int:
        """Milliseconds in which the link sends `MOST_BITS`; the least for several links."""
        if "--all" in verb:
            return LEAST_MS
        imported = self.value(text, verb.replace("predict", "import").removesuffix(" --json") + " --json")
        rate = imported.get("port", {}).get("link_bit_s") or MOST_BITS
        return round(min(max(MOST_BITS / rate * 1000, LEAST_MS), MOST_MS))

    def _piped(self, command: str) -> Answer:
        """The last one's output, and what all said beside it."""
        first, *others = command.split(" | ")
        last = _first(self, first) if others else self.run(first)
        errors = last.err
        for other in others:
            last = self.run(other, last.out)
            errors += last.err
        return Answer(last.code, last.out, errors)

    def run(self, command: str, given: bytes = b"") -> Answer:
        """Of one command line."""
        words = shlex.split(command)
        where = next((word for word in words if word.startswith(OUT)), None)
        if where and words[1] == "mark":
            (self.base / where).parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            words,
            executable=self.program,
            cwd=self.base,
            input=given,
            capture_output=True,
            env=ENVIRONMENT,
            check=False,
        )
        return Answer(done.returncode, cut(done.stdout), cut(done.stderr))


@lru_cache(maxsize=8)
def _value(asker: Asker, text: Text, verb: str) -> dict[str, Any]:
    answer = asker.answer(text, verb)
    found: dict[str, Any] = json.loads(answer.out) if answer.out.startswith(b"{") else {}
    return found


@lru_cache(maxsize=8)
def _first(asker: Asker, command: str) -> Answer:
    return asker.run(command)


ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}


def cut(printed: bytes) -> bytes:
    """Without what `CUTS` has."""
    for pattern, instead in CUTS:
        printed = pattern.sub(instead, printed)
    return printed


def listed(asker: Asker) -> Iterable[Text]:
    """Everything that `perhop list` has a page of."""
    whole = Text("", "listed")
    lists = asker.value(whole, "list --json")
    codes = json.loads(asker.answer(Text("diagnostics", "listed"), "list --json").out)
    names = {it["name"] for entries in lists.values() for it in entries} | {it["code"] for it in codes}
    return [
        whole,
        *(Text(name, "listed") for name in sorted({*lists, "tcp", "units", "diagnostics", "no-such"} | names)),
    ]


def _ports(facts: dict[str, Any]) -> list[str]:
    """The first ports of a scenario with conditioners or a separate queue."""
    conditioned = {it["link"] for it in facts.get("conditioners", [])}
    queued = {name for name in facts.get("effective", {}).get("links", {}) if " -> " in name}
    return sorted(conditioned | queued)[:PORTS]
