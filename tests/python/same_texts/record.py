"""A record: text -> verb -> hash of the answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from same.record import HOME, digest

Record = dict[str, dict[str, str]]

WITHIN = "target/texts/"
"""Where texts within other files are written."""


@dataclass
class Differences:
    """What a comparison found."""

    changed: list[tuple[str, str]] = field(default_factory=list)
    """Text and verb."""
    gone: list[str] = field(default_factory=list)
    """Recorded, and no longer there."""
    left: list[str] = field(default_factory=list)
    """The same of texts within other files, which is no difference."""
    new: list[str] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether everything recorded is unchanged."""
        return not self.changed and not self.gone


def of_answer(code: int, out: bytes, err: bytes) -> str:
    """Its hash."""
    return digest(f"{code} {len(out)} ".encode() + out + err)


def compare(recorded: Record, now: Record) -> Differences:
    """Every recorded answer against today's."""
    gone = _lacking(recorded, now)
    return Differences(
        changed=[
            (text, verb)
            for text, verbs in recorded.items()
            for verb, value in verbs.items()
            if now.get(text, {}).get(verb, value) != value
        ],
        gone=[name for name in gone if not name.startswith(WITHIN)],
        left=[name for name in gone if name.startswith(WITHIN)],
        new=_lacking(now, recorded),
    )


def _lacking(these: Record, others: Record) -> list[str]:
    """Texts that the others lack, and verbs of texts that they have."""
    verbs = [f"{text}: {verb}" for text in these if text in others for verb in these[text] if verb not in others[text]]
    return [text for text in these if text not in others] + verbs


def read(name: str) -> Record:
    """A record as checked in; empty before the first."""
    file = _file(name)
    found: Record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def write(name: str, record: Record) -> None:
    """Writes a record, one line for each text."""
    lines = [f"{json.dumps(text)}: {json.dumps(verbs)}" for text, verbs in sorted(record.items())]
    _file(name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _file(name: str) -> Path:
    return HOME / f"{name}.json"
