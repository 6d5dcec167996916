"""Dask clusters of processes that tests can kill: a scheduler, and workers without nannies."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest.mock import patch

import dask
from distributed import Client, LocalCluster

from perhop.cluster import client as cluster_client
from perhop.cluster import runs
from waits import WAIT_S

#: Time-outs of Dask that no busy machine reaches; who is killed is missed because its connection ends.
PATIENT = {
    "distributed.comm.timeouts.connect": f"{WAIT_S:.0f}s",
    "distributed.comm.timeouts.tcp": f"{WAIT_S:.0f}s",
    "distributed.scheduler.worker-ttl": f"{WAIT_S:.0f}s",
}
ENVIRONMENT = {
    **{f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": value for key, value in PATIENT.items()},
    # A task is blamed for the first worker that dies under it.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
}
#: The command line whose client has as much patience.
PERHOP = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import clusters; clusters.main()"


@contextmanager
def patience() -> Iterator[None]:
    """Meanwhile this process and the clusters that it starts wait for answers as long as tests do."""
    patient = partial(cluster_client.Cluster, patience_s=WAIT_S)
    constants = patch.multiple(cluster_client, CONNECT_S=WAIT_S, FETCH_S=WAIT_S, Cluster=patient)
    with dask.config.set(PATIENT), constants, patch.object(runs, "Cluster", patient):
        yield


def main() -> None:
    """The command line, with patience."""
    from perhop.__main__ import main as perhop

    with patience():
        sys.exit(perhop(["perhop", *sys.argv[1:]]))


def free_port() -> int:
    """A port at which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def local_cluster() -> Iterator[Client]:
    """Two workers with one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with patience(), LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client
    # What Dask leaves open is closed here, where its warnings are expected.
    gc.collect()


@dataclass
class Processes:
    """A scheduler and its workers, in a folder; all end with the test."""

    folder: Path
    port: int = field(default_factory=free_port)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return f"tcp://127.0.0.1:{self.port}"

    def scheduler(self) -> subprocess.Popen[bytes]:
        """Starts one at the port."""
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def worker(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Starts one with one thread."""
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", *options)
        return self._start("worker", self.address, *options, **environment)

    def _start(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words]
        with (self.folder / f"{words[0]}-{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, env={**os.environ, **ENVIRONMENT, **environment}
            )
        self.running.append(process)
        return process

    def end(self) -> None:
        """Kills all of them."""
        for process in self.running:
            process.kill()
            process.wait()
