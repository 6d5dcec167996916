"""`perhop lab` as a process: what signals leave behind, builds side by side, what it reads and says."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import lab_stub
from perhop import Scenario
from test_lab_names import hostile
from waits import WAIT_S, begun, heard, until

ROOT = Path(__file__).resolve().parents[2]
LAB = [sys.executable, "-m", "perhop", "lab"]
PLAIN = """
[scenario]
duration = "1s"
warmup = "0s"
[links]
"a - b" = { rate = "10Mbit/s", delay = "1ms" }
[traffic.t]
model = "cbr"
rate = "100kbit/s"
size = "500B"
from = "a"
to = "b"
"""


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_no_kernel_and_no_folder_outlives_it(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "plain.toml").write_text(PLAIN)
    (tmp_path / "tmp").mkdir()
    environment = lab_stub.install(tmp_path / "cache", ends=False) | {"TMPDIR": str(tmp_path / "tmp")}
    command = [*LAB, "plain.toml"]
    with begun(command, tmp_path, environment, stderr=subprocess.PIPE) as process:
        until(lambda: [it for it in tmp_path.glob(f"tmp/*/{lab_stub.PID}") if it.read_text()], "the kernel", process)
        (file,) = tmp_path.glob(f"tmp/*/{lab_stub.PID}")
        kernel = int(file.read_text())
        words = Path(f"/proc/{kernel}/cmdline").read_bytes().decode().split("\0")
        (box,) = (Path(it.partition("=")[2]).parent for it in words if it.startswith("LAB_JOB="))
        assert box.is_dir()
        process.send_signal(number)
        process.communicate(timeout=WAIT_S)
        assert not lives(kernel)
    assert process.returncode == code
    assert not box.exists()
    assert not list((tmp_path / "tmp").iterdir())


def both(folder: Path, file: str, *more: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """A run of both worlds, with the stub for a kernel."""
    environment = lab_stub.install(folder / "a cache")
    command = [*LAB, file, *more]
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, check=False
    )


def test_standard_input_is_a_scenario(tmp_path: Path) -> None:
    done = both(tmp_path, "-", stdin=PLAIN)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a -> b" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        (ROOT / "examples" / "dumbbell.toml").read_text(),
        PLAIN.replace("[traffic.t]", '[traffic."t{1..2}"]')
        .replace('"a - b"', '"a{1..2} - b"')
        .replace('"a"', '"a{i}"'),
        Scenario.from_dict(hostile()).to_toml(),
    ],
    ids=["dumbbell", "series", "hostile"],
)
def test_any_scenario_and_folder_has_its_job(tmp_path: Path, text: str) -> None:
    """Short forms and strange names; a folder whose name a kernel's command line would cut."""
    (tmp_path / "it is.toml").write_text(text)
    done = both(tmp_path, "it is.toml", "--duration", "2s", "--warmup", "1s", "--keep", "a $(touch canary) folder")
    assert done.returncode == 0, done.stderr
    assert "Datagrams at ports" in done.stdout or "TCP: " in done.stdout
    assert (tmp_path / "a $(touch canary) folder" / "scenario.out.json").exists()
    assert not list(tmp_path.rglob("canary"))


def test_what_is_in_force_is_run(tmp_path: Path) -> None:
    """Overrides of a short form, and what follows from them; the text states neither links nor traffic."""
    settings = ("-s", "dumbbell.flows=3", "-s", "dumbbell.tcp=linux")
    (tmp_path / "short.toml").write_text((ROOT / "examples" / "dumbbell.toml").read_text())
    done = both(tmp_path, "short.toml", *settings, "--duration", "2s", "--warmup", "1s", "--keep", "kept")
    assert done.returncode == 0, done.stderr
    job = json.loads((tmp_path / "kept" / "scenario.json").read_text())
    opened = {(it["traffic"], it["flow"], it["congestion"]) for it in job["connections"]}
    assert opened == {("bulk", flow, "cubic") for flow in range(3)}
    assert job["linux"]["duration_ns"] == 2 * 10**9


def test_what_was_not_run_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(PLAIN.replace("[traffic.t]", '[traffic.t]\nstart = "900ms"\nspread = "0s"'))
    nothing = both(tmp_path, "plain.toml", "--duration", "500ms")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    command = [*LAB, "plain.toml", "--replications", "3"]
    more = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert more.returncode == 2
    assert "`perhop lab` runs one replication" in more.stderr
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "dirname", "cat", "sha256sum", "cut", "uname"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    environment = os.environ | {"PATH": str(tools), "PERHOP_LAB": str(tmp_path / "empty")}
    command = [*LAB, "plain.toml"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"lab: ip is missing (Debian: apt install {packages()})\nerror: nothing was run: there is no kernel\n"
    )


def packages() -> str:
    """What has to be installed."""
    lines = (ROOT / "lab" / "where.sh").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("packages="))
    return line.split('"')[1].replace("$version", "6.12")


#: What lab/edits.sh edits, by the file.
SOURCE = {
    "arch/um/Kconfig": "config HZ\n\tdefault 100\n",
    "arch/um/include/linux/time-internal.h": "#define TIMER_MULTIPLIER 256\n#define TIMER_MIN_DELTA 500\n",
    "arch/x86/um/os-Linux/registers.c": "#include <stdlib.h>\n"
    "int restore_fp_registers(int pid, unsigned long *fp_regs)\n{\n\tstruct iovec iov;\n\n"
    "\t\tiov.iov_base = fp_regs;\n\t\tiov.iov_len = FP_SIZE;\n}\n",
}
FAKE = {
    "tar": 'mkdir linux-source-6.12\ncp -r "$SOURCE/." linux-source-6.12\ncd linux-source-6.12\n'
    "mkdir -p scripts/kconfig\n"
    "echo '#!/bin/sh' >scripts/kconfig/merge_config.sh\nchmod +x scripts/kconfig/merge_config.sh",
    "make": 'case "$*" in *kernelrelease) echo 6.12.0;; *\\ linux) echo x >>"$BUILDS"; touch one.o; '
    'until [ -e "$MAY" ]; do /bin/sleep 0.02; done; '
    "printf '#!/bin/sh\\n' >linux; chmod +x linux;; esac",
}


class Builder:
    """lab/build.sh with tools that build nothing until they may, in a copy whose source is there."""

    def __init__(self, folder: Path) -> None:
        lab, tools = folder / "lab", folder / "tools"
        shutil.copytree(ROOT / "lab", lab)
        where = (lab / "where.sh").read_text().replace("archive=/usr/src/", f"archive={folder}/")
        (lab / "where.sh").write_text(where)
        (folder / "linux-source-6.12.tar.xz").touch()
        tools.mkdir()
        for tool in (*FAKE, "ip", "tc", "ethtool", "busybox", "gcc", "flex", "bison", "bc", "xz"):
            (tools / tool).write_text(f"#!/bin/sh\nset -e\n{FAKE.get(tool, 'exit 1')}\n")
            (tools / tool).chmod(0o755)
        for name, text in SOURCE.items():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "source" / name).write_text(text)
        self.tools, self.cache, self.builds, self.may = tools, folder / "cache", folder / "builds", folder / "may"
        self._script = lab / "build.sh"
        self._environment = os.environ | {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PERHOP_LAB": str(self.cache),
            "SOURCE": str(folder / "source"),
            "BUILDS": str(self.builds),
            "MAY": str(self.may),
        }

    def start(self) -> AbstractContextManager[subprocess.Popen[str]]:
        """Begins a build."""
        return begun([self._script], env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_first_runs_build_one_kernel(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    with builder.start() as first:
        until(builder.builds.exists, "the first build", first)
        with builder.start() as second:
            told = heard(_errors(second), "lab: waiting for another build of the kernel\n")
            builder.may.touch()
            answers = [it.communicate(timeout=WAIT_S) for it in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), answers
    assert answers[0][0] == answers[1][0]
    assert os.access(answers[0][0].strip(), os.X_OK)
    assert builder.builds.read_text() == "x\n"
    assert "waiting for another build" not in answers[0][1]
    assert (told + answers[1][1]).count("\n") == 1, "the second only waits"
    assert not list(builder.cache.glob("build.*"))


def test_a_build_that_is_ended_leaves_nothing_and_the_next_one_builds(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    with builder.start() as process:
        until(builder.builds.exists, "the build", process)
        process.terminate()
        process.communicate(timeout=WAIT_S)
    assert process.returncode == 143
    assert not list(builder.cache.glob("build.*"))
    with builder.start() as again:
        until(lambda: builder.builds.read_text() == "x\nx\n", "the next build", again)
        again.send_signal(signal.SIGHUP)
        again.communicate(timeout=WAIT_S)
    assert again.returncode == 129


@pytest.mark.parametrize("line", [line for text in SOURCE.values() for line in text.splitlines() if line.strip("{}")])
def test_an_edit_that_finds_nothing_ends_the_build(tmp_path: Path, line: str) -> None:
    """Every line of the source is one that an edit needs; the rest of them is a word that none needs."""
    builder = Builder(tmp_path)
    for name, text in SOURCE.items():
        (tmp_path / "source" / name).write_text(text.replace(f"{line}\n", "other\n"))
    with builder.start() as process:
        _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1
    assert "edits.sh found nothing to edit in arch/" in said
    assert not builder.builds.exists()


def test_a_build_says_how_far_it_is(tmp_path: Path) -> None:
    """Its seconds are short ones here."""
    builder = Builder(tmp_path)
    (builder.tools / "sleep").write_text("#!/bin/sh\nexec /bin/sleep 0.02\n")
    (builder.tools / "sleep").chmod(0o755)
    with builder.start() as process:
        until(builder.builds.exists, "the build", process)
        told = heard(_errors(process), " s: 1 files compiled\n")
        assert "lab: building for 30 s: " in told
        builder.may.touch()
        process.communicate(timeout=WAIT_S)
    assert process.returncode == 0


def _errors(process: subprocess.Popen[str]) -> int:
    """What it says on standard error."""
    assert process.stderr is not None
    return process.stderr.fileno()
