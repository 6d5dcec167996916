"""Times the README's first minute, from an empty environment to its first finding and its first picture.

`first_minute.py` runs the README's first commands in this directory, by the `perhop` that is on the PATH.
`first_minute.py --make` begins with a clone of this checkout in an empty directory and with `make`.
`first_minute.py --wheel WHEEL` begins with an empty environment and `pip install WHEEL`, packages from pip's cache. It
does so three times and prints medians beside their goals.
"""

from __future__ import annotations

import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))

from walkthrough import Command, blocks, missing  # noqa: E402
from walkthrough import commands as shown_commands  # noqa: E402

TIMES = 3
"""How often a wheel is tried."""


class Seconds(NamedTuple):
    """From the start to the end of `perhop check`, and to the end of `perhop predict -o`."""

    finding: float
    picture: float


GOALS = Seconds(20, 40)


def commands() -> list[Command]:
    """The commands of perhop with which the README begins, with what it shows below each."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return shown_commands(next(block for language, block in blocks(readme) if language == "console"))


def timed(command: list[str], place: Path, fine: tuple[int, ...] = (0,)) -> str:
    """Runs a command in a directory, prints how many seconds it took, and returns what it printed."""
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=place, env=os.environ | {"COLUMNS": "120"}, capture_output=True, text=True, check=False
    )
    if done.returncode not in fine:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{time.monotonic() - began:8.1f} s  {shlex.join(command)}", flush=True)
    return done.stdout + done.stderr


def first_minute(place: Path, began: float) -> Seconds:
    """Runs the README's commands in `place`: they print what the README shows, and there is a picture."""
    ends = []
    for command in commands():
        # `check` ends with 1 if it has warnings.
        printed = timed(shlex.split(command.line, comments=True), place, fine=(0, 1))
        if line := missing(command.shown, printed):
            sys.exit(f"$ {command.line}\ndoes not print\n{line}\nbut\n{printed}")
        ends.append(time.monotonic() - began)
    if not list(place.glob("*.svg")):
        sys.exit("no picture was drawn")
    return Seconds(ends[0], ends[-1])


def made(empty: Path) -> Seconds:
    """A clone of this checkout in an empty directory, in which `make` is run first."""
    began, place = time.monotonic(), empty / "perhop"
    timed(["git", "clone", "--quiet", str(ROOT), "perhop"], empty)
    timed(["make"], place)
    os.environ["PATH"] = f"{place / '.venv/bin'}:{os.environ['PATH']}"
    return first_minute(place, began)


def installed(wheel: Path, empty: Path) -> Seconds:
    """An empty environment, into which a wheel is installed first; the examples are those of the wheel."""
    began, programs = time.monotonic(), empty / "venv/bin"
    timed([sys.executable, "-m", "venv", "venv"], empty)
    timed([str(programs / "pip"), "install", "-q", "--disable-pip-version-check", str(wheel)], empty)
    code = "import perhop.files; print(perhop.files.data())"
    (empty / "examples").symlink_to(Path(timed([str(programs / "python"), "-c", code], empty).strip()) / "examples")
    before, os.environ["PATH"] = os.environ["PATH"], f"{programs}:{os.environ['PATH']}"
    try:
        return first_minute(empty, began)
    finally:
        os.environ["PATH"] = before


def medians(wheel: Path) -> Seconds:
    """Of several installations of a wheel."""
    found = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as empty:
            found.append(installed(wheel, Path(empty)))
    return Seconds(*map(statistics.median, zip(*found, strict=True)))


def main(words: list[str]) -> None:
    """The command line."""
    match words:
        case []:
            found = first_minute(Path.cwd(), time.monotonic())
        case ["--make"]:
            with tempfile.TemporaryDirectory() as empty:
                found = made(Path(empty))
        case ["--wheel", wheel]:
            found = medians(Path(wheel).resolve(strict=True))
        case _:
            sys.exit(__doc__)
    goals = [f" (goal {goal:g} s)" if words[:1] == ["--wheel"] else "" for goal in GOALS]
    print(f"{found.finding:8.1f} s  to the first finding{goals[0]}")
    print(f"{found.picture:8.1f} s  to the first picture{goals[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
