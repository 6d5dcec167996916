"""A sweep on Dask workers that Slurm starts: run on a login node with dask-jobqueue installed.

    python examples/cluster/jobqueue.py

Slurm ends the workers with this program. One that dies, or reaches its time limit, loses what it had in hand; the
program has that run elsewhere; run again, it continues from what is in `runs`.
"""

from dask_jobqueue import SLURMCluster
from distributed import Client

import perhop

WORKERS = 2


def main() -> None:
    """Runs it and prints what each flow got."""
    scenario = perhop.Scenario.from_toml("examples/dumbbell.toml")
    job = {"cores": 1, "processes": 1, "memory": "1GB", "walltime": "1:00:00", "log_directory": "logs"}
    with SLURMCluster(**job) as cluster, Client(cluster) as client:
        cluster.scale(WORKERS)
        runs = scenario.sweep({"dumbbell.flows": [5, 10, 20, 40]}, replications=20, client=client, out="runs")
    for (flows,), goodput in runs.means("traffic", "goodput_bit_s", by=["flows"]).items():
        print(f"{flows} flows: {goodput.mean / 1e6:.2f} Mbit/s")


if __name__ == "__main__":
    main()
