"""Bad input: a clear error, exit code 2, nothing half-written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT, SCENARIO, Command, files

CAPTURE = ROOT / "tests" / "captures" / "tcp.pcap"
POLICY = """
[conditioner.all]
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "65535B"
green = "mark AF11"
red = "mark AF13"
"""

WRONG = {
    "unknown key": (("flows = 4", "flow = 4"), "flows"),
    "rate without a unit": (('"2Mbit/s"', "2000000"), "2000000"),
    "unit of the wrong kind": (('"2Mbit/s"', '"2MB"'), "2MB"),
    "cbs below the largest packet": (('"20000B"', '"100B"'), "cbs"),
    "min not below max": (('min = "15p"', 'min = "30p"'), "min"),
    "probability above 1": (("max-p = 0.02", "max-p = 1.5"), "1.5"),
    "negative rate": (('"2Mbit/s"', '"-2Mbit/s"'), "-2Mbit/s"),
    "zero rate": (('"2Mbit/s"', '"0Mbit/s"'), "0Mbit/s"),
    "value out of range": (('"6s"', '"1e30s"'), "1e30s"),
    "warm-up not below duration": (('"1s"', '"6s"'), "warmup"),
    "name unfit for a directory": (('"small"', '"a/b"'), "a/b"),
    "name with NUL": (('"small"', '"a\\u0000b"'), "name"),
    "duplicate key": (("flows = 4", "flows = 4\nflows = 5"), "flows"),
}


@pytest.mark.parametrize("name", list(WRONG))
@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_wrong_scenario(tmp_path: Path, perhop: Command, name: str, verb: str) -> None:
    (old, new), said = WRONG[name]
    assert old in SCENARIO
    (tmp_path / "wrong.toml").write_text(SCENARIO.replace(old, new))
    done = perhop(verb, "wrong.toml")
    assert done.returncode == 2, done.stdout + done.stderr
    shown = done.stdout + done.stderr
    assert "error[E" in shown
    assert said in shown
    assert [p.name for p in tmp_path.iterdir()] == ["wrong.toml"]


@pytest.mark.parametrize("text", ["", "   \n", '[scenario]\nduration = "3s"\n', "not toml at all"])
def test_an_empty_scenario(tmp_path: Path, perhop: Command, text: str) -> None:
    (tmp_path / "empty.toml").write_text(text)
    done = perhop("run", "empty.toml")
    assert done.returncode == 2
    assert "error[E" in done.stdout + done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["empty.toml"]


def test_a_file_that_is_not_there(perhop: Command) -> None:
    done = perhop("run", "nothing.toml")
    assert done.returncode == 2
    assert "nothing.toml" in done.stderr


def test_a_directory_in_the_way(tmp_path: Path, perhop: Command, scenario_file: Path) -> None:
    """A plain file is where the results should go; an obstacle for every user, root included."""
    (tmp_path / "taken").write_text("mine")
    done = perhop("run", scenario_file, "--out", "taken")
    assert done.returncode == 2
    assert "cannot write taken" in done.stderr
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_directory_that_cannot_be_written(tmp_path: Path, perhop: Command, scenario_file: Path) -> None:
    if os.geteuid() == 0:
        out: Path = Path("/proc/perhop")  # not even root may write there
    else:
        out = tmp_path / "closed"
        out.mkdir(mode=0o500)
    done = perhop("run", scenario_file, "--out", out)
    assert done.returncode == 2
    assert f"cannot write {out}" in done.stderr


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], check=False)
    if mounted.returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_old_results_intact(tiny: Path, perhop: Command, scenario_file: Path) -> None:
    assert perhop("run", scenario_file, "--replications", 2, "--out", tiny).returncode == 0
    before = files(tiny)
    (tiny / "ballast").write_bytes(b"\0" * (_free(tiny) - 8192))
    done = perhop("run", scenario_file, "--replications", 3, "--seed", 2, "--out", tiny)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert files(tiny) == before
    assert not [p for p in tiny.rglob("*") if p.name.endswith((".partial", ".old"))]


WRITERS = {
    "picture": ["plot", "runs", "-o", "x.svg"],
    "raster": ["plot", "runs", "-o", "x.png"],
    "page": ["report", "runs", "-o", "x.html"],
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_a_file_that_cannot_be_completed_is_not_begun(tmp_path: Path, perhop: Command, name: str) -> None:
    """A limit on the size of the process's files simulates a full disk; what was there stays."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    assert perhop("run", "small.toml", "--replications", 2).returncode == 0
    target = tmp_path / WRITERS[name][-1]
    for before in (None, "mine"):
        if before is not None:
            target.write_text(before)
        kept = sorted(tmp_path.rglob("*"))
        command = [sys.executable, "-m", "perhop", *WRITERS[name]]
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=limit)
        assert done.returncode == 2, done.stdout + done.stderr
        assert f"error[E020] cannot write {target.name}: File too large" in done.stderr
        assert sorted(tmp_path.rglob("*")) == kept
        assert before is None or target.read_text() == before


def _free(place: Path) -> int:
    stat = os.statvfs(place)
    return stat.f_bavail * stat.f_frsize


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return path


def test_a_truncated_capture(tmp_path: Path, perhop: Command, policy: Path) -> None:
    (tmp_path / "cut.pcap").write_bytes(CAPTURE.read_bytes()[:-7])
    done = perhop("mark", "cut.pcap", "-o", "out.pcap", "--policy", policy)
    assert done.returncode == 2
    assert "cut.pcap" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.pcap", "policy.toml"]
    partial = perhop("mark", "cut.pcap", "-o", "out.pcap", "--policy", policy, "--partial")
    assert partial.returncode == 0, partial.stderr
    assert (tmp_path / "out.pcap").stat().st_size < (tmp_path / "cut.pcap").stat().st_size


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"text is not a capture"])
def test_what_is_not_a_capture(tmp_path: Path, perhop: Command, policy: Path, content: bytes) -> None:
    (tmp_path / "in.pcap").write_bytes(content)
    done = perhop("mark", "in.pcap", "-o", "out.pcap", "--policy", policy)
    assert done.returncode == 2
    assert "in.pcap" in done.stderr
    assert not (tmp_path / "out.pcap").exists()


def test_a_capture_onto_a_full_disk(tiny: Path, perhop: Command, policy: Path) -> None:
    (tiny / "ballast").write_bytes(b"\0" * (_free(tiny) - 4096))
    done = perhop("mark", CAPTURE, "-o", tiny / "out.pcap", "--policy", policy)
    assert done.returncode == 2
    assert [p.name for p in tiny.iterdir()] == ["ballast"]


PYTHON_VERBS = {
    "plot of nothing": (["plot", "nothing"], "nothing is not a directory"),
    "report of nothing": (["report", "nothing"], "nothing is not a directory"),
    "compare nothing": (["compare", "nothing", "nothing"], "nothing is not a directory"),
    "unknown plot": (["plot", "runs", "--kind", "throughputs"], "there are delivered, throughput, fairness,"),
    "unknown picture format": (["plot", "runs", "-o", "x.bmp"], "x.bmp: a picture's name ends with .png, .svg, .pdf"),
    "no series": (["plot", "runs", "--kind", "queue"], "this run has no series"),
    "unknown metric": (["compare", "runs", "runs", "--metric", "delay"], "no metric `delay`"),
    "unwritable report": (["report", "runs", "-o", "no/such/place.html"], "no/such"),
    "unwritable picture": (["plot", "runs", "-o", "no/such/place.svg"], "no/such"),
}


@pytest.mark.parametrize("name", list(PYTHON_VERBS))
def test_python_verbs_refuse_in_plain_words(tmp_path: Path, perhop: Command, scenario_file: Path, name: str) -> None:
    arguments, said = PYTHON_VERBS[name]
    assert perhop("run", scenario_file, "--replications", 2).returncode == 0
    before = sorted(tmp_path.rglob("*"))
    done = perhop(*arguments)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
