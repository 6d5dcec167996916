"""A page that is followed to the letter: its files are written, its commands run, its output compared.

- A `toml` block whose first line is `# file: NAME` writes that file, `# add to NAME` appends to it, and
  `# in NAME, in place of [TABLE]` replaces that table. So does a block of a device's configuration: `sh`, or `cisco`,
  whose comments begin with `!`.
- Each `$ perhop ...` line of a `console` block runs. The lines below it must appear in what it prints, in this order;
  `...` stands for any lines. Times and rates of the machine are not compared.
- A `python` block runs, as the file that its first line names if it is `# file: NAME`; a `text` block after it is what
  it prints.
- `perhop lab` runs where its kernel has been built. The kernel draws its own numbers, so lines are compared without
  theirs.

A reader that renews writes what is printed in place of what is shown: a line below a command that is no longer printed
becomes the next one with the same words, numbers aside.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = ("toml", "sh", "cisco")
PLACE = re.compile(r"# in (\S+), in place of \[(.+)\]")
MACHINE = re.compile(r"\d+\.\d s( \(.*\))?$")


@dataclass
class Command:
    """A command of a page with the output it shows."""

    line: str
    shown: list[str] = field(default_factory=list)


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """The language and the text of every fenced block."""
    return ((found[1], found[2]) for found in FENCE.finditer(page))


def commands(block: str) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Command(line.removeprefix("$ ")))
        elif found:
            found[-1].shown.append(line)
    return found


def edit(directory: Path, block: str) -> None:
    """What a block says to do with a file; nothing if it names none."""
    first, rest = block.split("\n", 1)
    first = re.sub("^!", "#", first)
    if first.startswith("# file: "):
        (directory / first.removeprefix("# file: ")).write_text(block)
    elif first.startswith("# add to "):
        path = directory / first.removeprefix("# add to ")
        path.write_text(f"{path.read_text()}\n{rest}")
    elif place := PLACE.fullmatch(first):
        path = directory / place[1]
        path.write_text(replaced(path.read_text(), place[2], rest))


def replaced(text: str, table: str, by: str) -> str:
    """A file's text with one of its tables replaced."""
    pattern = re.compile(rf"^\[{re.escape(table)}\]\n.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
    out, times = pattern.subn(lambda _: f"{by}\n", text)
    assert times == 1, f"[{table}] is there {times} times"
    return out


def run(directory: Path, command: str) -> str:
    """What a command prints, on both streams; 1 is the exit code of warnings."""
    words = shlex.split(command, comments=True)
    assert words[0] == "perhop", command
    return _output(directory, ["-m", *words], fine=(0, 1))


def _output(directory: Path, arguments: list[str], fine: tuple[int, ...] = (0,)) -> str:
    env = os.environ | {"COLUMNS": "120", "NO_COLOR": "1"}
    words = [sys.executable, *arguments]
    done = subprocess.run(words, cwd=directory, env=env, check=False, text=True, capture_output=True)
    assert done.returncode in fine, f"{arguments}\n{done.stderr}"
    return done.stdout + done.stderr


def missing(shown: list[str], printed: str) -> str | None:
    """The first line that is shown and not printed after those before it."""
    rest = iter(MACHINE.sub("", line.rstrip()) for line in printed.splitlines())
    for line in shown:
        wanted = MACHINE.sub("", line.rstrip())
        if wanted not in ("", "...") and wanted not in rest:
            return line
    return None


def has_kernel() -> bool:
    """Whether the lab's kernel has been built."""
    where = Path(__file__).resolve().parents[2] / "lab/where.sh"
    return subprocess.run(["sh", "-c", '. "$0"; test -x "$kernel"', where], check=False).returncode == 0


NUMBER = re.compile(r"[±+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def spoken(line: str) -> list[str]:
    """A line without its numbers; a quantity with its unit is a word."""
    return [word for word in line.split() if not NUMBER.fullmatch(word)]


def worded(lines: list[str]) -> list[str]:
    """Lines without their numbers."""
    return [" ".join(spoken(line)) for line in lines]


def renewed(shown: list[str], printed: str) -> list[str]:
    """What is shown, with the numbers that are printed now."""
    rest, out = printed.splitlines(), []
    for line in shown:
        same = [i for i, found in enumerate(rest) if missing([line], found) is None]
        alike = same or [i for i, found in enumerate(rest) if spoken(found) == spoken(line)]
        if line.strip() in ("", "...") or not alike:
            out.append(line)
            continue
        out.append(line if same else rest[alike[0]].rstrip())
        rest = rest[alike[0] + 1 :]
    return out


@dataclass
class Reader:
    """Follows a page in a directory."""

    directory: Path
    renews: bool = False
    ran: int = 0
    printed: str = ""
    page: str = ""

    def follow(self, page: str) -> None:
        """Every block, in order."""
        self.page = page
        for language, block in blocks(page):
            if language in FILES:
                edit(self.directory, block)
            elif language == "console":
                for command in commands(block):
                    self.run(command)
            elif language == "python":
                edit(self.directory, block)
                named = block.split("\n", 1)[0].partition("# file: ")[2]
                self.printed = _output(self.directory, [named] if named else ["-c", block])
                self.ran += 1
            elif language == "text":
                self.compare("python", block.splitlines())

    def run(self, command: Command) -> None:
        """Runs a command and compares."""
        of_lab = command.line.startswith("perhop lab ")
        if of_lab and not has_kernel():
            return
        self.printed = run(self.directory, command.line)
        self.ran += 1
        self.compare(f"$ {command.line}", command.shown, words_alone=of_lab)

    def compare(self, what: str, shown: list[str], *, words_alone: bool = False) -> None:
        """Fails at the first line that was not printed, or renews the page."""
        if self.renews and shown:
            old, new = ("\n".join(lines) for lines in (shown, renewed(shown, self.printed)))
            assert self.page.count(old) == 1, f"these lines stand more than once:\n{old}"
            self.page = self.page.replace(old, new)
            return
        printed = self.printed
        if words_alone:
            shown, printed = worded(shown), "\n".join(worded(printed.splitlines()))
        gone = missing(shown, printed)
        assert gone is None, f"{what}\ndoes not print\n{gone}\nbut\n{self.printed}"


def main(pages: list[str]) -> None:
    """Follows pages in this directory, with the perhop that this Python has."""
    for page in pages:
        reader = Reader(Path())
        reader.follow(Path(page).read_text())
        print(f"{Path(page).name}: followed, {reader.ran} commands")


if __name__ == "__main__":
    main(sys.argv[1:])
