"""The texts of the tree, by what they are."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from same.record import ROOT

from . import within
from .record import WITHIN

FOLDERS = ("crates", "examples", "fuzz", "lab", "python", "scripts", "tests")
STUDIES = ("python", "perhop_studies")
CAPTURES = {".pcap", ".pcapng"}
CONFIGURATIONS = {".cfg", ".conf", ".ios", ".sh", ".tc", ".txt"}
SECTION = re.compile(r"^\[+(base|conditioner|dumbbell|links?|nodes|policy|queue|scenario|traffic)\b", re.MULTILINE)
"""Of a scenario, a policy or a load."""


@dataclass(frozen=True)
class Text:
    """A text, or a name of `perhop list`."""

    name: str
    """Its path, from the root of the tree."""
    kind: str
    """A key of `verbs.OF`."""

    @property
    def called(self) -> str:
        """In the record."""
        return f"list {self.name}".strip() if self.kind == "listed" else self.name


def tree() -> list[Text]:
    """All of them."""
    files = list(_files())
    own = [Text(str(file), kind) for file in files if (kind := _kind(file))]
    return own + [Text(str(file), f"within {_kind_of_text(file)}") for file in within.write(files)]


def named(name: str) -> Text:
    """The one with a name of the record."""
    if name.startswith("list"):
        return Text(name[5:], "listed")
    file = Path(name)
    kind = f"within {_kind_of_text(file)}" if name.startswith(WITHIN) else _kind(file)
    if kind is None:
        raise SystemExit(f"{name} is not compared")
    return Text(name, kind)


def _files() -> Iterator[Path]:
    """What git has or would have, of today."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return (Path(line) for line in sorted(set(listed.stdout.splitlines())) if (ROOT / line).is_file())


def _kind(file: Path) -> str | None:
    if (
        file.parts[0] not in FOLDERS
        or file.parts[:2] == ("crates", "bench")
        or file.name in {"Cargo.toml", "words.txt", "more.txt"}
        or _is_print(file)
    ):
        return None
    if file.suffix in CAPTURES:
        return "capture"
    if file.suffix == ".toml":
        kind = _kind_of_text(file)
        kind = "study" if kind == "scenario" and file.parts[:2] == STUDIES else kind
        return None if kind == "other" and file.parts[0] != "crates" else kind
    if file.suffix == ".txt" and not within.SIGNS["txt"].search(_read(file)):
        return None
    return "configuration" if file.suffix in CONFIGURATIONS else None


def _is_print(file: Path) -> bool:
    """Whether it is what perhop printed, or a test's memory."""
    beside = file.suffix == ".txt" and (ROOT / file).with_suffix(".toml").exists()
    return beside or bool({"expected", "proptest-regressions"} & set(file.parts))


def _kind_of_text(file: Path) -> str:
    if file.suffix != ".toml":
        return "configuration"
    return "scenario" if SECTION.search(_read(file)) else "other"


def _read(file: Path) -> str:
    return (ROOT / file).read_text(encoding="utf-8", errors="replace")
