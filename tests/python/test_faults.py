"""A fault of perhop's own shows as the fault that it is; a name that nothing has, as the user's error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from perhop.show import as_error
from perhop.unknown import UnknownError, UnknownKeyError

#: A verb with a fault.
FAULTY = """
import sys
from perhop import compare
from perhop.__main__ import main
def stumble(_): raise {}("traffic")
compare.compare = stumble
sys.exit(main(["perhop", "compare", "a", "b"]))
"""
#: As in a wheel, which has no lab.
WITHOUT_LAB = """
import sys, perhop
sys.path = [it for it in sys.path if it != perhop.__path__[0].removesuffix("/perhop")]
from perhop.__main__ import main
sys.exit(main(["perhop", "lab", "any.toml"]))
"""


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", ["KeyError", "IndexError", "LookupError"])
def test_an_internal_error_is_no_message(tmp_path: Path, kind: str) -> None:
    """Its traceback says where, and the exit code is not that of an error of the user's."""
    done = run(FAULTY.format(kind), tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert "in stumble\n" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(kind)


def test_a_name_that_nothing_has_is_the_users_error(tmp_path: Path) -> None:
    done = run("import sys; from perhop.__main__ import main; sys.exit(main(['perhop', 'map', 'x']))", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no map of `x`: fsam-gain, ")
    assert done.stderr.count("\n") == 1


def test_a_promised_key_error_is_one_and_reads_as_a_sentence() -> None:
    error = UnknownKeyError("no column `x`: there are y")
    assert isinstance(error, KeyError)
    assert as_error(error) == as_error(UnknownError(*error.args)) == "error: no column `x`: there are y"


def test_where_there_is_no_lab_one_line_says_so(tmp_path: Path) -> None:
    done = run(WITHOUT_LAB, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: `perhop lab` needs a checkout of perhop: no wheel has the kernel lab\n"
