"""Replications on a Dask cluster: the same results as here, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from distributed import Client
from distributed.comm import CommClosedError

from clusters import PERHOP, Processes, local_cluster, patience
from conftest import Command, command_line
from perhop import RunError, Runs, Scenario, _core
from perhop.cluster import client as cluster_client
from perhop.cluster import identity
from perhop.cluster.client import Cluster
from perhop.cluster.errors import ClusterError
from test_on_disk import SHORT, same
from waits import WAIT_S, begun, heard, until

pytestmark = [
    # Dask's own: sockets of workers that were killed, threads that end after the test.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

GRID = ["dumbbell.flows=2,4"]
EACH = 6


@pytest.fixture(scope="module")
def local() -> Iterator[Client]:
    with local_cluster() as client:
        yield client


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    found = Processes(folder)
    with patience():
        yield found
    found.end()


@pytest.fixture
def patient(tmp_path: Path) -> Command:
    """The command line, with patience for a cluster."""
    return command_line(tmp_path, "-c", PERHOP)


def scenario(*vary: str) -> Scenario:
    return Scenario.from_toml(SHORT, vary=vary or GRID)


def longer(duration: str = "400s") -> Scenario:
    """Whose replications take long enough to be interrupted."""
    return Scenario.from_toml(SHORT, {"scenario.duration": duration}, vary=GRID)


def hashes(runs: Runs) -> list[str]:
    return [r.hash for r in runs]


def written(out: Path) -> int:
    return sum("manifest.json" in files and ".partial" not in folder for folder, _, files in os.walk(out))


def test_a_local_cluster_equals_serial_hash_for_hash(local: Client, tmp_path: Path) -> None:
    serial = scenario().run(EACH, jobs=1)
    there = scenario().run(EACH, out=tmp_path, client=local)
    same(serial, there)
    assert hashes(there) == hashes(serial)
    assert len(set(hashes(serial))) == 2 * EACH, "else the order would not matter"
    same(serial, Runs.open(tmp_path))
    assert not any(r.reused for r in there)
    again = scenario().run(EACH + 1, out=tmp_path, client=local)
    assert sum(not r.reused for r in again) == 2
    same(serial, scenario().run(EACH, client=local))
    axes = {"dumbbell.flows": [2, 4]}
    same(serial, Scenario.from_toml(SHORT).sweep(axes, replications=EACH, client=local, out=tmp_path / "axes"))


def test_the_command_line_prints_what_it_prints_without_a_cluster(
    local: Client, tmp_path: Path, perhop: Command, patient: Command
) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    words = ("sweep", "short.toml", "--vary", GRID[0], "--replications", "3")
    here = perhop(*words, "--out", "here")
    there = patient(*words, "--out", "there", "--cluster", local.scheduler.address, "--chunk", "1s")
    assert there.returncode == 0, there.stderr
    lines = [done.stdout.replace("in here/", "in there/").splitlines() for done in (here, there)]
    assert lines[1][:-1] == lines[0][:-1]
    last = [line[-1].partition(" s; ") for line in lines]
    assert last[1][2] == last[0][2], "result hash and place"
    assert "6 replications (0 already there)" in last[1][0]
    more = patient(*words[:-1], "4", "--out", "there", "--cluster", local.scheduler.address)
    assert "8 replications (6 already there)" in more.stdout


@pytest.mark.slow
def test_a_reproduction_has_the_same_records(local: Client, tmp_path: Path, patient: Command) -> None:
    words = ("reproduce", "pf-fig7", "--seeds", "1", "--out")
    here, there = patient(*words, "here"), patient(*words, "there", "--cluster", local.scheduler.address)
    assert there.returncode == here.returncode, there.stderr
    of = [(tmp_path / name / "results.json").read_bytes() for name in ("here", "there")]
    assert of[0] == of[1]


def test_killed_worker(processes: Processes, tmp_path: Path) -> None:
    """It is killed in the middle; what it had is submitted again."""
    processes.scheduler()
    first, _ = processes.worker(), processes.worker()
    out = tmp_path / "runs"

    def kill() -> None:
        until(lambda: written(out) > 1, "results")
        first.kill()

    with Client(processes.address, timeout=WAIT_S) as client:
        client.wait_for_workers(2, timeout=WAIT_S)
        killer = threading.Thread(target=kill)
        killer.start()
        runs = longer().run(EACH, out=out, client=client, chunk_s=0.2)
        killer.join()
        assert len(client.nthreads()) == 1, "the other was killed"
    assert hashes(runs) == hashes(longer().run(EACH))


def test_restarted_scheduler(processes: Processes, tmp_path: Path) -> None:
    """It is killed in the middle, and another one with other workers starts at the same port."""
    scheduler = processes.scheduler()
    processes.worker()
    out = tmp_path / "runs"

    def restart() -> None:
        until(lambda: written(out) > 1, "results")
        scheduler.kill()
        scheduler.wait()
        processes.scheduler()
        processes.worker()

    with Client(processes.address, timeout=WAIT_S) as client:
        client.wait_for_workers(1, timeout=WAIT_S)
        restarter = threading.Thread(target=restart)
        restarter.start()
        runs = longer().run(EACH, out=out, client=client, chunk_s=0.2)
        restarter.join()
    assert hashes(runs) == hashes(longer().run(EACH))


def test_a_scheduler_that_dies_while_it_is_asked_has_no_threads(monkeypatch: pytest.MonkeyPatch, local: Client) -> None:
    """The client notices only later that the connection is gone."""

    def gone(_: Client) -> dict[str, int]:
        raise CommClosedError("Connection reset by peer")

    monkeypatch.setattr(Client, "nthreads", gone)
    assert local.status == "running"
    assert Cluster(local).threads == 0
    with pytest.raises(ClusterError, match="has had no worker for 0 s"):
        Cluster(local, patience_s=0).wait("before anything was run")


PATCH = "import perhop\nperhop.__version__ = '0.0.9'\n"


def test_mixed_versions(processes: Processes, tmp_path: Path, patient: Command) -> None:
    """Also a build that only calls itself the same, and a worker that comes later."""
    (tmp_path / "short.toml").write_text(SHORT)
    (processes.folder / "patch.py").write_text(PATCH)
    processes.scheduler()
    processes.worker()
    processes.worker("--preload", "patch.py", "--name", "old")
    with Client(processes.address, timeout=WAIT_S) as client:
        client.wait_for_workers(2, timeout=WAIT_S)
        done = patient("sweep", "short.toml", "--vary", GRID[0], "--cluster", processes.address)
        assert done.returncode == 2
        [old] = [it for it, told in client.scheduler_info(n_workers=-1)["workers"].items() if told["id"] == "old"]
        assert f"{old}: perhop 0.0.9" in done.stderr, done.stderr
        assert "nothing was run" in done.stderr
        assert "same wheel" in done.stderr
        assert done.stderr.count("tcp://") == 1, "the other is none of them"
    assert not (tmp_path / "runs").exists()


def test_another_build_of_the_same_version_is_refused(local: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = identity.identity()
    monkeypatch.setattr(identity, "_build", lambda: "other")
    with pytest.raises(ClusterError, match=rf"(?s)build other.*tcp://.*build {mine.build}"):
        scenario().run(1, client=local)


def test_a_worker_of_another_version_that_comes_later_is_refused(
    local: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before the first task did not see it."""
    monkeypatch.setattr(Cluster, "_check", lambda *_: None)
    monkeypatch.setattr(identity, "_build", lambda: "other")
    with pytest.raises(ClusterError, match=r"(?s)came later.*0 of 1 replication complete"):
        Scenario.from_toml(SHORT).run(1, client=local)


def test_a_worker_without_perhop_is_refused(processes: Processes, tmp_path: Path) -> None:
    (processes.folder / "none.py").write_text("import sys\nsys.modules['perhop'] = None\n")
    processes.scheduler()
    processes.worker("--preload", "none.py")
    with Client(processes.address, timeout=WAIT_S) as client:
        client.wait_for_workers(1, timeout=WAIT_S)
        with pytest.raises(ClusterError, match=r"(?s)tcp://\S+: no perhop.*same wheel"):
            scenario().run(1, client=client, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_no_such_scheduler(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    address = f"tcp://127.0.0.1:{Processes(tmp_path).port}"
    done = perhop("sweep", "short.toml", "--cluster", address)
    assert done.returncode == 2
    assert f"no scheduler at {address}" in done.stderr, done.stderr
    assert "`dask scheduler`" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_workers_cannot_write_is_found_before_the_work(local: Client, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", Path("/proc/none")):
        with pytest.raises(OSError, match=rf"(?s)E020.*cannot write {out}"):
            scenario().run(1, client=local, out=out)


def test_another_place_of_the_same_name_is_found_before_the_work(local: Client, tmp_path: Path) -> None:
    """Workers that see another file system under the name that the client writes."""
    from perhop.cluster import place

    place.check(local, str(tmp_path))
    local.run(_elsewhere, str(tmp_path / "theirs"))
    try:
        with pytest.raises(ClusterError, match=r"(?s)another place there.*share"):
            place.check(local, str(tmp_path))
    finally:
        local.run(_elsewhere, None)


def _elsewhere(other: str | None) -> None:
    """On a worker: from now on results go to another place."""
    from perhop import storage

    plain = getattr(storage, "_plain", storage.filesystem)
    storage._plain = plain  # type: ignore[attr-defined]
    storage.filesystem = plain if other is None else lambda _: plain(other)  # type: ignore[assignment]


def test_a_place_that_one_worker_cannot_write_names_it(local: Client, tmp_path: Path) -> None:
    first = min(local.nthreads())
    local.run(_elsewhere, "/proc/none", workers=[first])
    try:
        with pytest.raises(ClusterError, match=rf"(?s){first}: error\[E020\] cannot write") as raised:
            scenario().run(1, client=local, out=tmp_path)
        assert str(raised.value).count("tcp://") == 1
        assert "nothing was run" in str(raised.value)
    finally:
        local.run(_elsewhere, None)


def test_a_failing_point_leaves_the_others(local: Client, tmp_path: Path, patient: Command) -> None:
    """The rest goes on; the failure is reported with scenario, point and seed; exit 1."""
    (tmp_path / "short.toml").write_text(SHORT)
    local.run(_fail_at, 4)
    try:
        words = ("sweep", "short.toml", "--vary", GRID[0], "--replications", "40", "--seed", "7")
        done = patient(*words, "--cluster", local.scheduler.address)
    finally:
        local.run(_fail_at, None)
    assert done.returncode == 1, done.stderr
    assert "40 replications failed; all others are complete" in done.stderr
    assert done.stderr.count("seed 7: planted") == 10
    assert "and 30 more" in done.stderr
    assert "flows_4-" in done.stderr
    assert "flows_2-" not in done.stderr
    kept = {r.replication for r in Runs.open(tmp_path / "runs")}
    assert kept == set(range(40))
    again = patient(*words)
    assert "80 replications (40 already there)" in again.stdout, "those of the other point"


def _fail_at(flows: int | None) -> None:
    """On a worker: replications with so many flows fail."""
    from perhop.cluster import task

    class Failing:
        def __init__(self, core: _core.Scenario, points: Sequence[int] = ()) -> None:
            self._core, self._points = core, points

        def __getattr__(self, name: str) -> object:
            return getattr(self._core, name)

        def asking(self, changes: str) -> Failing:
            return Failing(self._core.asking(changes), json.loads(changes).get("points", self._points))

        def run(self, progress: None) -> object:
            if any(f"flows_{flows}-" in self._core.points[n]["name"] for n in self._points):
                raise RunError("planted")
            return self._core.run(progress)

    plain = getattr(task, "_plain", task.made)
    task._plain = plain  # type: ignore[attr-defined]
    task.made = plain if flows is None else lambda it: Failing(plain(it))  # type: ignore[assignment]


def test_a_full_disk_on_a_worker(processes: Processes, tmp_path: Path) -> None:
    """A limit on the size of the worker's files stands for it; attempts end in words, and nothing is lost."""
    processes.scheduler()
    (processes.folder / "limit.py").write_text(
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "def dask_setup(worker):\n    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))\n"
    )
    processes.worker("--preload", "limit.py")
    out = tmp_path / "runs"
    kept = scenario().run(2, out=out)
    with Client(processes.address, timeout=WAIT_S) as client:
        client.wait_for_workers(1, timeout=WAIT_S)
        with pytest.raises(ClusterError, match=r"(?s)missing after 4 attempts.*E020.*free some space"):
            scenario().run(4, out=out, client=client)
    same(kept, Runs.open(out))


@contextmanager
def _begun(local: Client, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A sweep that has written something."""
    (folder / "long.toml").write_text(longer().to_toml())
    with _sweep(local, folder) as process:
        until(lambda: written(folder / "runs") > 1, "results")
        yield process


def _resumes(local: Client, folder: Path) -> None:
    """The same command runs what is missing."""
    with _sweep(local, folder) as process:
        printed, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said
    assert f"{2 * EACH} replications (0 already there)" not in printed
    assert hashes(Runs.open(folder / "runs")) == hashes(longer().run(EACH))


def _sweep(local: Client, folder: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    options = ["--replications", str(EACH), "--cluster", local.scheduler.address, "--chunk", "100ms"]
    command = [sys.executable, "-c", PERHOP, "sweep", "long.toml", *options]
    return begun(command, folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_ctrl_c_says_what_is_there_and_the_same_command_resumes(local: Client, tmp_path: Path) -> None:
    with _begun(local, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130, said
    assert f"of {2 * EACH} replications complete in {tmp_path}/runs; the same command continues" in said
    assert "Traceback" not in said
    _resumes(local, tmp_path)


def test_a_client_that_dies_and_comes_back_resumes(local: Client, tmp_path: Path) -> None:
    with _begun(local, tmp_path) as process:
        process.kill()
        process.communicate()
    _resumes(local, tmp_path)


STUCK = f"""
import time
import distributed

def stuck(*_):
    print("stuck", flush=True)
    while True:
        time.sleep(1000)

distributed.Client.cancel = stuck
{PERHOP}
"""


def test_ctrl_c_twice_leaves_at_once(local: Client, tmp_path: Path) -> None:
    """Whatever it waits for: here a scheduler that does not answer the first one."""
    (tmp_path / "long.toml").write_text(longer().to_toml())
    command = [sys.executable, "-c", STUCK, "sweep", "long.toml", "--cluster", local.scheduler.address]
    with begun(command, tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until((tmp_path / "runs" / "small").exists, "the first task")
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert heard(process.stdout.fileno(), "stuck\n") == "stuck\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert "Traceback" not in said


def test_missing_says_what_a_second_job_array_runs(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    words = ("sweep", "short.toml", "--vary", "dumbbell.flows=1,2,3,4,5", "--replications", "2")
    assert perhop(*words, "--missing").stdout == "1-5\n"
    for part in ("1/3", "3/3"):
        assert perhop(*words, "--shard", part).returncode == 0
    found = perhop(*words, "--missing=3")
    assert (found.stdout, found.returncode) == ("2\n", 0)
    assert "4 replications are missing of 10, at 2 of 5 points" in found.stderr
    assert perhop(*words, "--missing").stdout == "2,5\n"
    [block] = (tmp_path / "runs").rglob("flows_3-*/*/traffic.parquet")
    block.write_bytes(b"damaged")
    shutil.rmtree(next((tmp_path / "runs").rglob("flows_1-*")))
    assert perhop(*words, "--missing").stdout == "1-3,5\n"
    assert perhop(*words, "--missing", "--json").stdout.count("\n") == 4
    assert perhop(*words).returncode == 0
    nothing = perhop(*words, "--missing")
    assert nothing.stdout == "\n"
    assert "nothing is missing" in nothing.stderr


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ClusterError, match=r"pip install 'perhop\[cluster\]'"),
        cluster_client.reached({"address": "tcp://none:1", "chunk_s": 1.0}),
    ):
        pass
