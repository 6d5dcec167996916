"""The notes on a claim that is not reproduced.

`notes.toml` says why it fails, `tried.toml` what other readings gave; both are optional, and both are tables
`"study/claim" = "text"` over claims without their grid point.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from perhop import files

Notes = dict[tuple[str, str], str]
"""By study and claim."""

WHY, TRIED = "notes.toml", "records/tried.toml"


def read(path: Path) -> Notes:
    """The notes of one file; none if it does not exist."""
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {(name.partition("/")[0], name.partition("/")[2]): text for name, text in stated.items()}


def load(directory: Path) -> Notes:
    """Both files of a paper together."""
    why, tried = read(directory / WHY), read(directory / TRIED)
    return {key: joined(why.get(key, ""), tried.get(key, "")) for key in {**why, **tried}}


def joined(*texts: str) -> str:
    """Sentences in sequence, without empty ones."""
    return ". ".join(text for text in texts if text)


def write_tried(path: Path, paper: str, texts: Mapping[str, str]) -> None:
    """The results of the readings, by `study/claim`: one claim per line."""
    head = (
        "# What other readings gave for claims that are not reproduced;\n"
        f"# written by `perhop reproduce {paper} --readings`.\n"
    )
    lines = [f'"{claim}" = {_quoted(text)}' for claim, text in texts.items()]
    files.write(path, head + "\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
