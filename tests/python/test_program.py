"""The program `perhop`, and how it hands to Python what Python carries out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("perhop")


def test_it_starts_without_python() -> None:
    """With a home that is none, Python itself cannot start."""
    without = os.environ | {"PYTHONHOME": "/nowhere"}
    assert subprocess.run([sys.executable, "-c", ""], env=without, capture_output=True, check=False).returncode != 0
    done = subprocess.run([PROGRAM, "--version"], env=without, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("perhop ")


def test_a_request_may_be_longer_than_one_argument(tmp_path: Path) -> None:
    """What the picture of four classes shows is 135 kB; Linux takes 128 KiB in one argument."""
    classes = [f"rtt={40 * i}ms,flows=5..50,share=0.25,for=AF{i}1" for i in (1, 2, 3, 4)]
    asked = [word for it in classes for word in ("--class", it)]
    command = [str(PROGRAM), "tune", "msvb", "--rate", "40Mbit/s", *asked, "-o", "a.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_program_of_python_says_whose_it_is() -> None:
    program = PROGRAM.with_name("perhop-python")
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: perhop-python is for the program perhop: use that, or python -m perhop\n"
