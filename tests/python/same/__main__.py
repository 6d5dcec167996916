"""The command line: `python -m same --check`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path

from . import captures, record, studies, tables
from .record import ROOT, Differences, Record, Table

PARTS: dict[str, tuple[Callable[[], list[str]], Callable[[str], dict[str, Table]]]] = {
    "tables": (tables.names, tables.tables),
    "captures": (captures.names, captures.tables),
    "studies": (studies.names, studies.tables),
}


def collect(part: str) -> Record:
    """Today's record of a part, on every core."""
    os.chdir(ROOT)
    names, make = PARTS[part]
    listed = names()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return {name: found for name, found in zip(listed, pool.map(make, listed), strict=True) if found}


def check(part: str, against: str | None = None) -> Differences:
    """Compares, and prints what differs.

    Args:
        part: one of `PARTS`.
        against: the Python of another build of perhop, which is asked for its rows of a table that differs.
    """
    found = record.compare(record.read(part), collect(part))
    for name in found.new:
        print(f"{part}: new: {name}")
    for name in found.gone:
        print(f"{part}: missing: {name}")
    for key in found.changed:
        print(f"{part}: changed: {', '.join(key)}")
        if against and part == "tables":
            print(f"  {_first_row(against, key)}")
    return found


def _first_row(against: str, key: tuple[str, str, str]) -> str:
    """The first row in which two builds differ, from the values that each prints."""
    here, there = (_rows(python, key) for python in (sys.executable, against))
    pairs = enumerate(zip_longest(here, there, fillvalue="no row"))
    return next((f"row {i}: {a} here, {b} there" for i, (a, b) in pairs if a != b), "the same in both builds")


def _rows(python: str, key: tuple[str, str, str]) -> list[str]:
    command = [python, "-m", "same", "--rows", *key]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def rows(name: str, table: str, column: str) -> None:
    """Prints a column, a value a line."""
    os.chdir(ROOT)
    done = tables.runs(name)
    if done is not None and column != "rows":
        print("\n".join(repr(value) for value in done.table(table)[column].tolist()))


def main(arguments: Iterable[str] | None = None) -> int:
    """Carries out the command line."""
    parser = argparse.ArgumentParser(prog="same", description="results against those on record")
    parser.add_argument("--check", action="store_true", help="compare (default)")
    parser.add_argument("--write", action="store_true", help="record the current results")
    parser.add_argument("--against", metavar="PYTHON", help="another build, asked for the first row that differs")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--rows", nargs=3, metavar=("SCENARIO", "TABLE", "COLUMN"), help="print a column")
    chosen = parser.parse_args(arguments if arguments is None else list(arguments))
    if chosen.rows:
        rows(*chosen.rows)
        return 0
    parts = chosen.part or list(PARTS)
    if chosen.write:
        for part in parts:
            record.write(part, collect(part))
        return 0
    found = [check(part, chosen.against) for part in parts]
    return 0 if all(differences.none for differences in found) else 1


if __name__ == "__main__":
    sys.exit(main())
