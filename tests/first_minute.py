"""Times the README's first minute, from an empty environment to the first picture.

`first_minute.py` runs the README's first commands in this directory, by the `perhop` that is on the PATH.
`first_minute.py --make` begins with a clone of this checkout in an empty directory and with `make`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def block(language: str) -> list[str]:
    """The lines of the first block in this language of the README's section."""
    section = README.read_text(encoding="utf-8").split("\n## A first result\n")[1].split("\n## ")[0]
    return section.split(f"```{language}\n")[1].split("```")[0].splitlines()


def commands() -> list[list[str]]:
    """The commands of perhop with which the README begins."""
    shown = [line.removeprefix("$ ") for line in block("console")]
    return [shlex.split(line, comments=True) for line in shown if line.startswith("perhop ")]


def timed(command: list[str], **options: str | Path) -> str:
    """Runs a command, prints how many seconds it took, and returns what it printed."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{time.monotonic() - began:8.1f} s  {shlex.join(command)}", flush=True)
    return str(done.stdout)


def first_minute(place: Path) -> None:
    """Runs the README's commands in `place`: the table is the README's, and there is a picture."""
    printed = [timed(command, cwd=place) for command in commands()]
    if missing := set(block("text")) - set(printed[0].splitlines()):
        sys.exit("the README shows other results:\n" + "\n".join(sorted(missing)) + f"\n\n{printed[0]}")
    if not list(place.glob("*.svg")):
        sys.exit("no picture was drawn")


def made(place: Path) -> Path:
    """A clone of this checkout in which `make` has been run."""
    timed(["git", "clone", "--quiet", str(ROOT), "perhop"], cwd=place)
    timed(["make"], cwd=place / "perhop")
    return place / "perhop"


def main() -> None:
    """The command line."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as empty:
        place = made(Path(empty)) if "--make" in sys.argv[1:] else Path.cwd()
        os.environ["PATH"] = f"{place / '.venv/bin'}:{os.environ['PATH']}"
        first_minute(place)
    print(f"{time.monotonic() - began:8.1f} s  in all")


if __name__ == "__main__":
    main()
