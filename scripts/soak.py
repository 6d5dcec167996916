"""make soak: perhop forward at full load for MINUTES (20), the policy read again each 10 s.

Each second the counts must close: came = sent + dropped by reason + held + send errors, where `dropped` has
the drops of the kernel. At the end memory must be flat. It needs root, ip and iperf3; its namespaces go at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PORT = 9877
RELOAD_S = 10
WARM_UP_S = 30
"""Until flows, queues and rings have met their largest."""

SLACK_KB = 1024
"""malloc takes memory in steps of 132 kB, and of each thread's own."""

POLICIES = [
    f"""[policy]
accounting = "l2"
[conditioner.all]
kind = "srtcm"
cir = "{rate}Mbit/s"
cbs = "60kB"
ebs = "60kB"
green = "mark AF11"
yellow = "mark AF12"
red = "mark AF13"
[conditioner.pairs]
match = {{ protocol = "udp" }}
per = "pair"
kind = "token-bucket"
cir = "20Mbit/s"
cbs = "30kB"
red = "drop"
[queue.line]
aqm = "codel"
limit = "{limit}kB"
"""
    for rate, limit in ((50, 300), (80, 400))
]


class Lab:
    """A sender, a middle and a receiver."""

    def __init__(self) -> None:
        self.name = f"live-soak-{os.getpid()}"
        for which in "smr":
            ip(f"netns add {self.name}-{which}")
        for which, near, address in (("s", "va", "10.9.0.1"), ("r", "vb", "10.9.0.2")):
            there = f"{self.name}-{which}"
            ip(f"-n {self.name}-m link add {near} type veth peer name eth0 netns {there}")
            ip(f"-n {there} link set eth0 gso_max_segs 1")
            ip(f"-n {there} address add {address}/24 dev eth0")
            ip(f"-n {there} link set eth0 up")
            ip(f"-n {there} link set lo up")
            ip(f"-n {self.name}-m link set {near} up")
        ip(f"-n {self.name}-m link set lo up")

    def start(self, which: str, *words: str) -> subprocess.Popen[str]:
        """Begin a program in a namespace."""
        command = ["ip", "netns", "exec", f"{self.name}-{which}", *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def close(self) -> None:
        """Remove the namespaces."""
        for which in "smr":
            subprocess.run(["ip", "netns", "delete", f"{self.name}-{which}"], check=False)


def ip(words: str) -> None:
    """`ip` with these words."""
    subprocess.run(["ip", *words.split()], check=True)


def counters(lab: Lab) -> dict[str, float]:
    """Sums of a metric over its labels, by name and device."""
    reader = [
        sys.executable,
        "-c",
        f"import urllib.request as u;print(u.urlopen('http://127.0.0.1:{PORT}',timeout=5).read().decode())",
    ]
    process = lab.start("m", *reader)
    text = process.communicate(timeout=30)[0]
    found: dict[str, float] = {}
    for name, device, value in re.findall(r'^(\w+)\{device="(\w+)"[^}]*\} (\S+)$', text, re.MULTILINE):
        key = f"{name} {device}"
        found[key] = found.get(key, 0) + float(value)
    return found


def gap(found: dict[str, float], device: str) -> float:
    """Frames without a fate."""
    fates = ("sent_packets_total", "drops_total", "held_packets", "send_errors_total")
    came = found[f"perhop_came_packets_total {device}"]
    return came - sum(found[f"perhop_{name} {device}"] for name in fates)


def resident_kb(pid: int) -> int:
    """Memory of a process."""
    match = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(match[1]) if match else 0


def forwarder(lab: Lab, perhop: str, policy: Path) -> subprocess.Popen[str]:
    """perhop between the two, when it forwards."""
    words = f"forward --in va --out vb --policy {policy} --queue line --link 200Mbit/s --metrics {PORT} --json"
    process = lab.start("m", perhop, *words.split())
    while (
        "promiscuity 1"
        not in subprocess.run(
            ["ip", "-n", f"{lab.name}-m", "-details", "link", "show", "vb"], capture_output=True, text=True, check=True
        ).stdout
    ):
        time.sleep(0.1)
    return process


def load(lab: Lab, seconds: int) -> list[subprocess.Popen[str]]:
    """Eight TCP flows, and datagrams beyond the line's rate."""
    servers = [lab.start("r", "iperf3", "-s", "-p", str(port)) for port in (5201, 5202)]
    time.sleep(1)
    words = [["-C", "cubic", "-P", "8", "-p", "5201"], ["-u", "-b", "300M", "-l", "200", "-p", "5202"]]
    clients = [lab.start("s", "iperf3", "-c", "10.9.0.2", "-t", str(seconds + 60), *it) for it in words]
    return servers + clients


def watch(lab: Lab, process: subprocess.Popen[str], policy: Path, seconds: int) -> tuple[list[int], int]:
    """Memory of each second, and how many seconds did not close."""
    memory: list[int] = []
    open_seconds, period = 0, 0
    begun = time.monotonic()
    while (now := time.monotonic() - begun) < seconds:
        if int(now) // RELOAD_S > period:
            period = int(now) // RELOAD_S
            policy.write_text(POLICIES[period % len(POLICIES)], encoding="utf-8")
            process.send_signal(signal.SIGHUP)
        found = counters(lab)
        gaps = [gap(found, device) for device in ("va", "vb")]
        open_seconds += any(gaps)
        if any(gaps):
            print(f"{now:.0f} s: frames without a fate: {gaps}")
        memory.append(resident_kb(process.pid))
        time.sleep(max(0.0, 1 - (time.monotonic() - begun - now)))
    return memory, open_seconds


def main() -> int:
    """Run, and say whether all held."""
    perhop = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/perhop").resolve())
    seconds = int(float(os.environ.get("MINUTES", "20")) * 60)
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "iperf3"))):
        print("soak: it needs root, ip and iperf3", file=sys.stderr)
        return 2
    lab, started = Lab(), []
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(POLICIES[0], encoding="utf-8")
        try:
            process = forwarder(lab, perhop, policy)
            started = [process, *load(lab, seconds)]
            memory, open_seconds = watch(lab, process, policy, seconds)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=30)
        finally:
            for it in started:
                it.kill()
            lab.close()
    print(out.strip())
    reloads = said.count("is in force")
    warm = memory[min(WARM_UP_S, len(memory) // 2) :]
    grew = max(warm) - warm[0]
    closed = f"{len(memory)} seconds, {open_seconds} did not close; {reloads} reloads"
    print(f"{closed}; memory {warm[0]} kB, {grew} kB more at most")
    enough = reloads >= seconds // RELOAD_S - 1
    return 0 if open_seconds == 0 and grew <= SLACK_KB and enough and process.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
