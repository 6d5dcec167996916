"""Shares and delays of repeated recordings of the cells whose queues draw random numbers: repeats.csv.

python3 tests/kernel/repeats.py [RUNS]: records each of them RUNS times (default 10) and writes the file.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cells
import record
from cells import Row

FILE = cells.HERE / "repeats.csv"


def figures(rows: list[Row]) -> dict[str, float]:
    """Of each source port the shares dropped and marked; mean and 99th percentile of the delay of what left."""
    found: dict[str, float] = {}
    for port in sorted({row.port for row in rows}):
        own = [row for row in rows if row.port == port]
        found[f"{port} dropped"] = sum(row.departure is None for row in own) / len(own)
        found[f"{port} marked"] = sum(row.ecn_out == 3 for row in own) / len(own)
    delays = sorted(row.departure - row.arrival for row in rows if row.departure is not None)
    found["mean"] = sum(delays) / len(delays)
    found["p99"] = delays[len(delays) * 99 // 100]
    return found


def repeated(folder: Path, runs: int) -> None:
    """Records all random cells, `runs` times in one boot."""
    record.job([cell for cell in cells.all_cells() if cell.text["kind"] == "random"], folder)
    once = json.loads((folder / "job.json").read_text())
    jobs = [{**job, "name": f"{job['name']}.{run}"} for run in range(runs) for job in once]
    (folder / "job.json").write_text(json.dumps(jobs))
    subprocess.run([record.LAB / "run", folder, "1800"], check=True)


def write(folder: Path, runs: int) -> None:
    """The file, from a folder of records."""
    with FILE.open("w", encoding="ascii", newline="") as text:
        out = csv.writer(text, lineterminator="\n")
        out.writerow(["port", "pattern", "run", "what", "value"])
        for cell in (cell for cell in cells.all_cells() if cell.text["kind"] == "random"):
            for run in range(runs):
                rows = record.rows(folder / f"{cell.port}.{cell.pattern}.{run}.rows")
                for what, value in figures(rows).items():
                    out.writerow([cell.port, cell.pattern, run, what, f"{value:.6g}"])


def main() -> None:
    """Builds the kernel if needed, records, writes."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    subprocess.run([record.LAB / "build.sh"], stdout=subprocess.DEVNULL, check=True)
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        repeated(Path(made), runs)
        write(Path(made), runs)


if __name__ == "__main__":
    main()
