"""What differs from the record, and what shows it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest
from pathlib import Path

from . import calls, record
from .collect import collect
from .program import Answer, Asker
from .record import Record
from .texts import Text
from .verbs import LINES, OF_LINES

WIDTH, BEFORE = 160, 60
"""Characters of a line that are printed where it differs, and those of them that are the same."""


@dataclass(frozen=True)
class Comparison:
    """Texts, what is on record of them, and who is asked."""

    asker: Asker
    texts: list[Text]
    recorded: Record
    against: Path | None = None
    """Another build's program."""

    def none_differs(self) -> bool:
        """Compares, and prints each difference with the command that shows it."""
        found = record.compare(self.recorded, collect(self.asker, self.texts))
        of = {text.called: text for text in self.texts}
        for kind, names in (("new", found.new), ("no longer there", found.left), ("missing", found.gone)):
            for name in names:
                print(f"{kind}: {name}")
        for name, verb in found.changed:
            print(f"changed: {name}: {verb}\n  {self.command(of[name], verb)}")
            if self.against:
                print(f"  {self.first_line(self.against, of[name], verb)}")
        return found.none

    def command(self, text: Text, verb: str) -> str:
        """What shows an answer: at the root of the tree, or of a call from `tests/python`."""
        if verb == LINES:
            return self.command(text, OF_LINES)
        if calls.is_call(verb):
            return f"python -m same_texts --answer {text.name} '{verb}'"
        return self.asker.command(text, verb)

    def first_line(self, against: Path, text: Text, verb: str) -> str:
        """The first line in which two builds differ."""
        here, there = (printed(replace(self.asker, program=it), text, verb) for it in (self.asker.program, against))
        pairs = enumerate(zip_longest(here, there, fillvalue="no line"), 1)
        number, a, b = next(((i, a, b) for i, (a, b) in pairs if a != b), (0, "", ""))
        same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(a, b, strict=False)))
        begin = max(0, same - BEFORE)
        cut = slice(begin, begin + WIDTH)
        return f"line {number}: {a[cut]}\n  other:  {b[cut]}" if number else "the same in both builds"


def printed(asker: Asker, text: Text, verb: str) -> list[str]:
    """An answer of a build; of a call that of the Python beside its program."""
    verb = OF_LINES if verb == LINES else verb
    if not calls.is_call(verb):
        return lines(asker.answer(text, verb))
    ask = [str(asker.program.with_name("python")), "-m", "same_texts", "--answer", text.name, verb]
    done = subprocess.run(ask, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()


def lines(answer: Answer) -> list[str]:
    """All that is hashed."""
    both = answer.out + answer.err
    return [*both.decode(errors="backslashreplace").splitlines(), f"exit code {answer.code}"]
