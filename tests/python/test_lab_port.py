"""`explain --as tc --port`: tc itself reads every command, in a separate network namespace."""

from __future__ import annotations

import csv
import ipaddress
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from perhop import Scenario

ROOT = Path(__file__).resolve().parents[2]
#: Every kind of filter and action: addresses of both versions, ports, protocols, code points; a policer that marks.
PORT = """
[scenario]
accounting = "l2"

[links]
"a - b" = { rate = "10Mbit/s", delay = "5ms" }
"a -> b" = { queue = "port" }

[queue.port]
scheduler = "htb"
arithmetic = "linux"
classes = [
  { name = "all", rate = "10Mbit/s" },
  { name = "voice", parent = "all", for = "EF", rate = "1Mbit/s", queue = { limit = "20p" } },
  { name = "rest", parent = "all", rate = "9Mbit/s", ceil = "10Mbit/s", queue = { scheduler = "fq-codel" } },
]

[conditioner.contract]
at = "a -> b"
match = { destination = ["10.0.0.0/8", "2001:db8::/32"], destination-port = [80, 443] }
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "15kB"
green = "mark AF11"
red = "mark AF12"

[conditioner.tunnels]
at = "a -> b"
match = { protocol = [47, "icmp", "icmpv6"], source = "10.0.1.1/32", dscp = ["EF", "BE"] }
kind = "marker"
green = "drop"

[traffic.t]
model = "cbr"
rate = "1Mbit/s"
size = "1000B"
from = "a"
to = "b"
"""


def ports() -> list[tuple[str, str]]:
    """Every port with a queue or a conditioner of every example of one point."""
    found = []
    for file in sorted((ROOT / "examples").glob("*.toml")):
        read: dict[str, Any] = tomllib.loads(file.read_text())
        if "scenario" in read and "sweep" not in read:
            named = [name for name in read.get("links", {}) if "->" in name]
            found += [(str(file), name) for name in named]
    return found


def tried(commands: list[list[str]], folder: Path) -> list[str]:
    """What tc does not read. 2 is the answer of a kernel that lacks a module, 0 that of one that has it."""
    script = ["ip link add eth0 type veth peer name eth1", "ip link set eth0 up"]
    script += [f"{' '.join(argv)} || echo status $?: {' '.join(argv)}" for argv in commands]
    (folder / "script").write_text("\n".join(script))
    apart = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run([*apart, "sh", "script"], cwd=folder, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if not line.startswith("status 2:")] + re.findall(
        r"^(?:Usage|What is|Unknown|Illegal|bad action).*", done.stderr, re.MULTILINE
    )


def test_tc_reads_every_kind_of_filter(tmp_path: Path) -> None:
    port = Scenario(PORT).as_tc(port="a -> b", dev="eth0")
    commands = [it["argv"] for it in port["commands"]]
    assert port["lost"] == []
    assert sum("flower" in argv for argv in commands) > 20
    assert tried(commands, tmp_path) == []
    assert tried([["tc", "qdisc", "add", "dev", "eth0", "root", "fq_codel", "limits", "5"]], tmp_path) != []


@pytest.mark.parametrize(("file", "port"), ports())
def test_tc_reads_the_ports_of_the_examples(file: str, port: str, tmp_path: Path) -> None:
    linux = Scenario.from_toml(file).as_tc(port=port, dev="eth0")
    assert tried([it["argv"] for it in linux["commands"]], tmp_path) == []


def test_the_script_is_read_by_a_shell(tmp_path: Path) -> None:
    """With names that a shell would run; nothing but comments and tc."""
    name = "c;touch canary;`touch canary`"
    text = PORT.replace("contract", f'"{name}"').replace('"voice"', f'"{name}"').replace("a - b", f"{name} - b")
    text = text.replace("a -> b", f"{name} -> b").replace('from = "a"', f"from = '{name}'")
    (tmp_path / "port.toml").write_text(text)
    explain = [sys.executable, "-m", "perhop", "explain", "port.toml", "--as", "tc", "--port", f"{name} -> b"]
    done = subprocess.run(explain, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert all(line.startswith(("# ", "tc ")) for line in done.stdout.splitlines())
    assert "canary" in done.stdout
    assert not any("canary" in line for line in done.stdout.splitlines() if line.startswith("tc "))
    (tmp_path / "script").write_text(done.stdout)
    apart = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    subprocess.run([*apart, "sh", "script"], cwd=tmp_path, capture_output=True, check=False)
    assert not (tmp_path / "canary").exists()


PORT_OF = ["--as", "tc", "--port"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ([*PORT_OF, "a -> c"], 2, r"error\[E006\] no port `a -> c`\n   help: did you mean `a -> b`"),
        ([*PORT_OF, "a -> b", "--dev", "x;y"], 2, r"error\[E295\] the interface \"x;y\" of `--dev` has ';'\n   help: "),
        (["--port", "a -> b"], 2, r"error\[E295\] --port 'a -> b' without --as tc\n   help: write --as tc --port"),
        (["--as", "tc", "--dev", "eth0"], 2, r"error\[E295\] --dev eth0 without a port\n   help: "),
        ([*PORT_OF, "a -> b", "-s", "conditioner.contract.red=colour red"], 1, r"warning: .* the 1 line `# lost:"),
    ],
)
def test_what_does_not_fit_is_said(options: list[str], code: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "port.toml").write_text(PORT)
    words = [sys.executable, "-m", "perhop", "explain", "port.toml", *options]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert re.search(says, done.stderr)


def test_a_device_without_a_port_is_refused() -> None:
    with pytest.raises(ValueError, match="without a port"):
        Scenario(PORT).as_tc(dev="eth0")


def sent() -> dict[str, dict[str, int]]:
    """What tc handed to the kernel for each recorded filter."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    with (ROOT / "lab/records/wire.csv").open() as file:
        for row in csv.DictReader(file):
            if " flower " in row["command"] or " pedit " in row["command"]:
                found[row["command"]][row["field"]] = int(row["value"])
    return found


def test_tc_hands_over_what_a_filter_says() -> None:
    """Recorded in lab/records/wire.csv: prefixes with their masks, code points without the bits of ECN."""
    checked = 0
    for command, fields in sent().items():
        words = command.split()
        said = dict(itertools.pairwise(words))
        assert fields.get("eth_type", 0x800) == {"ip": 0x800, "ipv6": 0x86DD}[said["protocol"]] or "pedit" in words
        for key in ("src_ip", "dst_ip"):
            if key in said:
                net = ipaddress.ip_network(said[key])
                suffix, shift = ("_high", 64) if net.version == 6 else ("", 0)
                assert fields[key + suffix] == int(net.network_address) >> shift
                assert fields[f"{key}_mask{suffix}"] == int(net.netmask) >> shift
                checked += 1
        if "ip_tos" in said:
            assert "/".join(f"{fields[it]:#04x}" for it in ("ip_tos", "ip_tos_mask")) == said["ip_tos"]
            checked += 1
        if "pedit" in words:
            shift = {"ip": 16, "ip6": 20}[said["munge"]]
            assert fields["set"] == int(said["set"], 16) << shift
            assert fields["retain"] ^ 0xFFFFFFFF == int(said["retain"], 16) << shift
            checked += 1
    assert checked > 8


def test_tc_is_there() -> None:
    """Without it the tests above would pass for nothing."""
    assert shutil.which("tc")
