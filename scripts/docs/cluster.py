"""What a cluster costs, for docs/reports/speed.md: CPU seconds, as other work on the machine does not count.

python scripts/docs/cluster.py points [N..]        # 10,000 points of about 10 ms: threads, a LocalCluster of 2, of 1
python scripts/docs/cluster.py replications [N..]  # 100,000 replications of about 1 ms: the same, and the size on disk
python scripts/docs/cluster.py many                # 200 workers whose tasks only sleep: scheduler and client
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from distributed import Client, LocalCluster

import perhop
from perhop.cluster import client as handing
from perhop.cluster.task import Done, Task
from perhop.hands import Work, span

SCENARIO = """
[scenario]
name = "small"
warmup = "1s"

[dumbbell]
flows = 4
bottleneck = "5Mbit/s"
rtt = "40ms"
queue = { limit = "50p" }
"""
WORKERS = 200
TICK = os.sysconf("SC_CLK_TCK")


def cpu() -> float:
    """CPU seconds of this process and of all children that have ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, who))


def measured(what: str, out: Path, work: Callable[[str], object]) -> float:
    """Runs it with a new directory for results, and prints what it took."""
    began, wall = cpu(), time.monotonic()
    work(str(out))
    took, wall = cpu() - began, time.monotonic() - wall
    files = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
    print(f"{what:24} {took:7.1f} CPU s, {wall:6.1f} s; {len(files)} files, {sum(files) / 1e6:.1f} MB", flush=True)
    return took


def compared(duration: str, axes: dict[str, list[int]], replications: int, total: int, workers: list[int]) -> None:
    """Threads here beside clusters with as many workers.

    All results stay until the end: for some minutes ext4 gives no inode away again, so who makes files after many
    were removed has to look past each of those. Ten thousand points take up to twice their CPU time then.
    """
    scenario = perhop.Scenario.from_toml(SCENARIO, {"scenario.duration": duration})
    run = {"replications": replications, "progress": False}

    def there(out: str, n: int) -> None:
        options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            scenario.sweep(axes, out=out, client=client, jobs=1, **run)

    with tempfile.TemporaryDirectory() as kept:
        for n in workers:
            to = Path(kept)
            here = measured(f"threads: {n}", to / f"{n}", lambda out, n=n: scenario.sweep(axes, out=out, jobs=n, **run))
            took = measured(f"LocalCluster of {n}", to / f"{n}-there", lambda out, n=n: there(out, n))
            more = f"{(took - here) / total * 1e3:.2f} ms more; overhead {1 - here / took:.1%}"
            print(f"   {here / total * 1e3:.2f} ms a replication here; {more}")


def slept(task: Task) -> Done:
    """A task that takes a second and no CPU time."""
    time.sleep(1.0)
    return Done([(0, n, None) for n in task.replications], [], 0.1 * task.total)


MANY = """
import asyncio, sys
from distributed import Worker

async def main():
    workers = [Worker(sys.argv[1], nthreads=1, dashboard=False) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))

asyncio.run(main())
"""


def used(process: subprocess.Popen[bytes]) -> float:
    """CPU seconds of a process that runs."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def many() -> None:
    """200 workers in one process, scheduler and client in separate processes; tasks of ten replications."""
    handing.perform = slept
    # 200 workers that ask for their versions one after another, in one process, are no measure of anything.
    handing.Cluster._check = lambda *_: None
    address = "tcp://127.0.0.1:18786"
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard"],
        stderr=subprocess.DEVNULL,
    )
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
    workers = subprocess.Popen(
        [sys.executable, "-c", MANY, address, str(WORKERS)], stderr=subprocess.DEVNULL, env=environment
    )
    with Client(address, timeout=60) as client:
        client.wait_for_workers(WORKERS, timeout=120)
        print(f"{WORKERS} workers are there", flush=True)
        scenario = perhop.Scenario.from_toml(SCENARIO, {"scenario.duration": "5s"})
        work, tasks = Work(scenario._core).asking(replications=span(range(20_000))), []
        before, wall = (used(scheduler), time.process_time()), time.monotonic()
        handing.Cluster(client, 1.0).run([work], lambda *_: tasks.append(1))
        wall, n = time.monotonic() - wall, len(tasks)
        spent = (used(scheduler) - before[0], time.process_time() - before[1])
    print(f"{n} tasks of 1 s on {WORKERS} workers: {wall:.1f} s, {n / WORKERS:.1f} s of sleep; {n / wall:.0f} tasks/s")
    print(
        "CPU of a task: "
        + ", ".join(f"{who} {s / n * 1e3:.2f} ms" for who, s in zip(("scheduler", "client"), spent, strict=True))
    )
    for process in (workers, scheduler):
        process.kill()
        process.wait()


def chosen(workers: list[str]) -> list[int]:
    """Numbers of workers to measure."""
    return [int(n) for n in workers] or [2, 1]


def main() -> None:
    """One of them."""
    match sys.argv[1:]:
        case ["points", *workers]:
            compared("90s", {"scenario.seed": list(range(10_000))}, 1, 10_000, chosen(workers))
        case ["replications", *workers]:
            compared("5s", {"dumbbell.flows": [4]}, 100_000, 100_000, chosen(workers))
        case ["many"]:
            many()
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
