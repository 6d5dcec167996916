"""What a file is, for Python and its verbs: as for the command line (`crates/cli/tests/all/kinds.rs`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from perhop import Scenario, ScenarioError, _core, tune

CAPTURE = ROOT / "tests" / "captures" / "tcp.pcap"
POLICY = '[queue.q]\naqm = "red"\nlimit = "50p"\nmin = "5p"\nmax = "15p"\nmax-p = 0.1\n'
DEVICE = 'hostname = "r1"\n[interface.ge0]\nservice-policy = "gold"\n'
FILES = {"policy.toml": POLICY.encode(), "device.toml": DEVICE.encode(), "c.pcap": CAPTURE.read_bytes()}
SAID = {
    "policy.toml": "error[E027] a policy where a scenario is needed: the file has [queue] and no [links]",
    "device.toml": "error[E248] neither a scenario nor a policy: the file has [hostname] and no section of either",
    "c.pcap": "error[E027] a capture where a scenario or a policy is needed",
}


@pytest.fixture(params=FILES)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file that is no scenario."""
    file = tmp_path / str(request.param)
    file.write_bytes(FILES[file.name])
    return file


def test_python_refuses_what_is_no_scenario_in_one_line(other: Path) -> None:
    with pytest.raises(ScenarioError) as said:
        Scenario.from_toml(other)
    [found] = said.value.diagnostics
    assert str(said.value).startswith(SAID[other.name])
    assert f"error[{found['code']}] {found['message']}".startswith(SAID[other.name])
    assert found["help"]


def test_tune_refuses_it_too(other: Path) -> None:
    with pytest.raises(ValueError, match=r"where a scenario|neither a scenario") as said:
        tune("msvb", other)
    assert str(said.value).startswith(SAID[other.name])


@pytest.mark.parametrize("way", ["named", "piped"])
def test_the_lab_refuses_it_too(other: Path, way: str) -> None:
    command = [sys.executable, "-m", "perhop", "lab", other.name if way == "named" else "-"]
    done = subprocess.run(command, cwd=other.parent, input=other.read_bytes(), capture_output=True, check=False)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert said.startswith(SAID[other.name])
    assert said.count("error[") == 1


def test_a_policy_is_checked_as_one() -> None:
    assert _core.check(POLICY, "policy.toml", [], []) == []
    [found] = _core.check(DEVICE, "device.toml", [], [])
    assert (found["code"], found["line"]) == ("E248", 1)
