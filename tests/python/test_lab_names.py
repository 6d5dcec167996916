"""Names that a user states reach no shell: not in `explain --as tc`, and not in `perhop lab`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perhop import Scenario

#: Each would leave a file called canary, or break a line, were it read by a shell.
HOSTILE = (
    "a$(touch canary)",
    "b`touch canary`",
    "c;touch canary;",
    "d'|touch canary",
    'e"|touch canary',
    "h\u2028touch canary",
    "i&&touch canary #",
    "site A",
    "r1.lon",
    "a/b",
    "-x",
    "[/red]",
    "n0",
)


#: In a name of a class of HTB control characters are allowed; others with them are refused (E011).
CONTROLS = ("k\ntouch canary\n", "l\rtouch canary", "m\x1b[2J\x07")


def hostile() -> dict[str, Any]:
    """A scenario all of whose names are hostile: nodes, queues and their classes, conditioners, traffic, classes."""
    shaped = {"rate": "1Mbit/s", "ceil": "2Mbit/s"}

    def queue(name: str) -> dict[str, Any]:
        leaf = shaped | {"parent": name, "name": "".join(CONTROLS), "queue": name}
        classes = [shaped | {"name": name}, leaf]
        return {"scheduler": "htb", "classes": classes}

    def traffic(name: str, i: int) -> dict[str, Any]:
        one = {"from": name, "to": "hub", "class": name, "start": f"{i}ms", "spread": "0s"}
        return one | ({"model": "cbr", "rate": "50kbit/s", "size": "500B"} if i % 2 else {"model": "ftp"})

    def policer(name: str) -> dict[str, Any]:
        return {"at": f"{name} -> hub", "kind": "token-bucket", "cir": "5Mbit/s", "cbs": "9kB", "red": "drop"}

    links: dict[str, Any] = {f"{name} - hub": {"rate": "10Mbit/s", "delay": "1ms"} for name in HOSTILE}
    return {
        "scenario": {"duration": "1s", "warmup": "100ms", "accounting": "l2", "sample": "100ms"},
        "links": links | {f"{name} -> hub": {"queue": f"{name}{name}"} for name in HOSTILE},
        "queue": {name: {"limit": "10p"} for name in HOSTILE} | {f"{name}{name}": queue(name) for name in HOSTILE},
        "conditioner": {name: policer(name) for name in HOSTILE},
        "traffic": {name: traffic(name, i) for i, name in enumerate(HOSTILE)},
    }


@pytest.fixture(scope="module")
def linux() -> dict[str, Any]:
    return Scenario.from_dict(hostile()).as_tc()


def test_no_name_is_in_a_command(linux: dict[str, Any]) -> None:
    said = "\n".join(" ".join(it["argv"]) for it in linux["commands"])
    assert not [name for name in (*HOSTILE, *CONTROLS) if name not in ("n0", "-x") and name in said]
    assert "canary" not in said
    assert {it["name"] for it in linux["nodes"]} == {*HOSTILE, "hub"}
    assert len({it["namespace"] for it in linux["nodes"]}) == len(HOSTILE) + 1


def test_the_script_leaves_no_canary(tmp_path: Path) -> None:
    """As the program writes it, from a file with such a name; run by a shell in separate namespaces."""
    file = tmp_path / "$(touch canary);x.toml"
    file.write_text(Scenario.from_dict(hostile()).to_toml())
    explain = [sys.executable, "-m", "perhop", "explain", str(file), "--as", "tc"]
    script = subprocess.run(explain, capture_output=True, check=True).stdout
    assert all(line.startswith((b"#", b"ip ", b"tc ", b"sysctl ")) for line in script.split(b"\n") if line)
    assert sum(b"touch canary" in line for line in script.split(b"\n")) >= len(HOSTILE) // 2
    (tmp_path / "script").write_bytes(script)
    subprocess.run(["sh", "-n", "script"], cwd=tmp_path, check=True)
    apart = ["unshare", "--mount", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    inside = "mount -t tmpfs run /run && sh script; ip netns list | wc -l"
    done = subprocess.run([*apart, "sh", "-c", inside], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not (tmp_path / "canary").exists()
    assert int(done.stdout.split()[-1]) == len(HOSTILE) + 1, done.stderr
