"""A record: scenario -> table -> column -> hash of its values in their order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / "tests/reference/results"

Table = dict[str, str]
"""Hashes by column; `rows` holds the number of rows."""
Record = dict[str, dict[str, Table]]


def digest(data: bytes) -> str:
    """48 bits of BLAKE2b: two different columns are equal by chance once in 3e14."""
    return hashlib.blake2b(data, digest_size=6).hexdigest()


def of_column(values: npt.NDArray[Any]) -> str:
    """Its hash: kind of value, then every value bit for bit."""
    if values.dtype == object:
        return digest(json.dumps([str(v) for v in values]).encode())
    return digest(values.dtype.kind.encode() + values.astype(values.dtype.newbyteorder("<")).tobytes())


def of_table(columns: dict[str, npt.NDArray[Any]]) -> Table:
    """The number of rows, and unless there are none the hash of each column."""
    rows = len(next(iter(columns.values()), np.array([])))
    return {"rows": str(rows), **{name: of_column(values) for name, values in columns.items() if rows}}


@dataclass
class Differences:
    """What a comparison found."""

    gone: list[str] = field(default_factory=list)
    """Recorded, and no longer there."""
    changed: list[tuple[str, str, str]] = field(default_factory=list)
    """Scenario, table and column."""
    new: list[str] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether everything recorded is unchanged."""
        return not self.gone and not self.changed


def compare(recorded: Record, now: Record) -> Differences:
    """Every recorded column against today's."""
    old, found = dict(_cells(recorded)), dict(_cells(now))
    differences = Differences(new=_heads(found, old), gone=_heads(old, found))
    differences.changed = [key for key, value in old.items() if key in found and found[key] != value]
    return differences


def _cells(record: Record) -> Iterator[tuple[tuple[str, str, str], str]]:
    for scenario, tables in record.items():
        for table, columns in tables.items():
            for column, value in columns.items():
                yield (scenario, table, column), value


def _heads(these: dict[tuple[str, str, str], str], others: dict[tuple[str, str, str], str]) -> list[str]:
    """Columns that the others lack; one line for a whole table or scenario that they lack."""
    known = {key[:n] for key in others for n in (1, 2, 3)}
    lacking = [key for key in these if key not in others]
    return list(dict.fromkeys(", ".join(key[: _first_unknown(key, known)]) for key in lacking))


def _first_unknown(key: tuple[str, ...], known: set[tuple[str, ...]]) -> int:
    return next(n for n in (1, 2, 3) if key[:n] not in known)


def read(name: str) -> Record:
    """A record as checked in."""
    found: Record = json.loads((HOME / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write(name: str, record: Record) -> None:
    """Writes a record, one line for each table."""
    scenarios = []
    for scenario, tables in sorted(record.items()):
        lines = [f"    {json.dumps(table)}: {json.dumps(columns)}" for table, columns in tables.items()]
        scenarios.append(f"  {json.dumps(scenario)}: {{\n" + ",\n".join(lines) + "\n  }")
    (HOME / f"{name}.json").write_text("{\n" + ",\n".join(scenarios) + "\n}\n", encoding="utf-8")
