"""Public files: hashes by name are on record, the files are not.

`corpora.json` calls a file OWNER/REPOSITORY/PATH, as checkouts below one directory have it, and has a hash of its
content. A file that is not there, or whose content is another, is not compared; how many were is printed.
"""

from __future__ import annotations

from pathlib import Path

from same.record import digest

from . import record, within
from .texts import Text

CONTENT = "content"
"""Stands beside the verbs of a file."""
MAGIC = {bytes.fromhex(it) for it in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a")}
PACKED = bytes.fromhex("1f8b")
LONGEST = 4_000_000


def new(base: Path) -> list[Text]:
    """All files of a directory that are captures or look like configurations."""
    files = (file for file in sorted(base.rglob("*")) if file.is_file() and ".git" not in file.parts)
    return [Text(str(file.relative_to(base)), kind) for file in files if (kind := _kind(file))]


def known(base: Path) -> list[Text]:
    """Those on record that are there as they were."""
    recorded = record.read("corpora")
    here = [name for name in recorded if (base / name).is_file()]
    texts = [Text(name, kind) for name in here if (kind := _kind(base / name))]
    return [text for text in texts if recorded[text.name][CONTENT] == content(base, text)]


def content(base: Path, text: Text) -> str:
    """The hash of a file."""
    return digest((base / text.name).read_bytes())


def _kind(file: Path) -> str | None:
    if file.stat().st_size > LONGEST:
        return None
    read = file.read_bytes()
    if read[:4] in MAGIC or (read[:2] == PACKED and ".pcap" in file.name):
        return "public capture"
    return "public configuration" if within.SIGNS["txt"].search(read.decode(errors="replace")) else None


def of_those(whole: record.Record, texts: list[Text]) -> record.Record:
    """The part of a record that is about some texts, without their content."""
    return {text.name: {verb: it for verb, it in whole[text.name].items() if verb != CONTENT} for text in texts}
