"""Dask clusters of processes that tests can kill: a scheduler, and workers without nannies."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client, LocalCluster

WAIT_S = 90.0
FAST = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s",
    # A task is blamed for the first worker that dies under it.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s",
}


def free_port() -> int:
    """A port at which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(true: Callable[[], object], what: str) -> None:
    """Waits until it is."""
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


@contextmanager
def local_cluster() -> Iterator[Client]:
    """Two workers with one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
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
                command, cwd=self.folder, stdout=log, stderr=log, env={**os.environ, **FAST, **environment}
            )
        self.running.append(process)
        return process

    def end(self) -> None:
        """Kills all of them."""
        for process in self.running:
            process.kill()
            process.wait()
