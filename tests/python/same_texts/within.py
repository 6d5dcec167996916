"""Texts within other files: fenced blocks of pages, strings of tests and of cells."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from same.record import ROOT, digest

from .record import WITHIN

FENCED = re.compile(r"^```\w*[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
RAW = re.compile(r'\br(#*)"(.*?)"\1', re.DOTALL)
TRIPLE = re.compile(r'"""(.*?)"""', re.DOTALL)
PLAIN = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
ASIDE = re.compile(r"""^\s*//.*$|'"'|'\\"'""", re.MULTILINE)
"""Comments, and quotes that begin no string."""
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
COMMAND = re.compile(r"(qdisc|class|filter) (add|change|replace|del)\b")
SIGNS = {
    "txt": re.compile(
        r"^\s*(\S*tc\s+(-\S+\s+)*(qdisc|class|filter|actions?)\b|qdisc \S+ \S+:"
        r"|policy-map|class-map|service-policy|rate-limit)",
        re.IGNORECASE | re.MULTILINE,
    ),
    "toml": re.compile(r'^\[\[?[a-z][\w.\-" >]*\]\]?\s*(#.*)?$', re.MULTILINE),
}


def write(files: Iterable[Path]) -> list[Path]:
    """Writes those of the files below `target`, each once; where."""
    found = {}
    for file in files:
        for text in _texts(file):
            if ending := _ending(text):
                found[Path(f"{WITHIN}{digest(text.encode())}.{ending}")] = text
    (ROOT / WITHIN).mkdir(parents=True, exist_ok=True)
    for place, text in found.items():
        (ROOT / place).write_bytes(text.encode())
    return sorted(found)


def _ending(text: str) -> str | None:
    """The one for what it looks like, if it does; of a text of one line only a command of tc does."""
    if "\n" not in text.strip() and not text.startswith("tc "):
        return None
    return next((ending for ending, sign in SIGNS.items() if sign.search(text)), None)


def _texts(file: Path) -> Iterator[str]:
    """All that may be one."""
    if file.suffix == ".md":
        yield from FENCED.findall(_read(file))
    elif file.suffix in {".rs", ".py"}:
        yield from _strings(_read(file))
    elif file.suffix == ".toml" and file.parts[:2] == ("lab", "cells"):
        yield from _leaves(tomllib.loads(_read(file)))
    elif file.suffix == ".jsonl" and file.parts[0] == "lab":
        for line in _read(file).splitlines():
            yield from _leaves(json.loads(line))


def _read(file: Path) -> str:
    return (ROOT / file).read_text(encoding="utf-8", errors="replace")


def _strings(source: str) -> Iterator[str]:
    """Strings of Rust or Python."""
    source = ASIDE.sub("", source)
    for pattern, group in ((RAW, 2), (TRIPLE, 1)):
        yield from (match[group] for match in pattern.finditer(source))
        source = pattern.sub('""', source)
    yield from map(_unescaped, PLAIN.findall(source))


def _unescaped(text: str) -> str:
    joined = re.sub(r"\\\n\s*", "", text)
    return re.sub(r"\\(.)", lambda escape: ESCAPED.get(escape[1], escape[1]), joined)


def _leaves(value: Any) -> Iterator[str]:
    """Texts of a file of values; commands of tc in a list are one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(it, str) and COMMAND.match(it) for it in value):
        yield "".join(f"tc {command}\n" for command in value).replace("{dev}", "eth0").replace("{in}", "eth1")
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
