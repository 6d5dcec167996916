"""Peak memory of whole processes: what a file becomes is bounded before it is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("perhop")
POINT_BYTES = 2000
"""Most that a point of a sweep which is only checked may take."""


MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""
"""A small process starts the program: the peak of a child begins with what its parent has."""


def peak(directory: Path, *words: str) -> tuple[int, int]:
    """Exit code, and the most memory of the process, bytes."""
    command = [sys.executable, "-S", "-c", MEASURE, str(PROGRAM), *words]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
    code, most = done.stdout.split()
    return int(code), int(most)


def swept(points: int) -> str:
    return f"""
[scenario]
duration = "1s"
warmup = "0s"
[links]
"s - r" = {{ rate = "1Gbit/s", delay = "1ms" }}
[traffic.t]
model = "cbr"
rate = "8kbit/s"
size = "1000B"
from = "s"
to = "r"
[sweep]
"scenario.seed" = {list(range(points))}
"""


def test_a_point_that_is_only_checked(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(swept(1))
    (tmp_path / "many.toml").write_text(swept(5000))
    (first, least), (second, most) = (peak(tmp_path, "check", f"{name}.toml") for name in ("one", "many"))
    assert (first, second) == (0, 0)
    assert most - least < 4999 * POINT_BYTES


def test_series_that_would_take_all_memory(tmp_path: Path) -> None:
    """Two million links from 12 kB of text took 4 GB before there was a word of it."""
    links = "".join(f'"A{k}x{{1..10000}} - B" = {{ rate = "1Gbit/s", delay = "1ms" }}\n' for k in range(200))
    text = f'[links]\n{links}[traffic.t]\nmodel = "ftp"\nfrom = "A1x1"\nto = "B"\n'
    (tmp_path / "series.toml").write_text(text)
    code, most = peak(tmp_path, "check", "series.toml")
    assert (code, most < 50_000_000) == (2, True)
