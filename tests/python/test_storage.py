"""Results on object storage: written by workers, read by the same accessors and by DuckDB where they are."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import moto.settings
import pytest
from distributed import Client
from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem

from clusters import local_cluster
from conftest import Command
from perhop import Runs, Scenario, storage
from perhop.cluster.errors import ClusterError
from test_cluster import GRID, hashes, patient, pytestmark, scenario  # noqa: F401
from test_on_disk import SHORT, same

BUCKET = "s3://bucket/some/runs"
EACH = 3


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server in this process; the environment names it to all that need it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    stated = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }
    before = dict(os.environ)
    os.environ.update(stated)
    storage.filesystem("s3://bucket")[0].mkdir("bucket")
    yield stated["AWS_ENDPOINT_URL"]
    os.environ.clear()
    os.environ.update(before)
    server.stop()
    S3FileSystem.clear_instance_cache()
    gc.collect()


@pytest.fixture(scope="module")
def client(s3: str) -> Iterator[Client]:
    with local_cluster() as client:
        yield client


def test_s3(client: Client, tmp_path: Path, patient: Command) -> None:  # noqa: F811
    """Hash for hash what is on a disk, resumed like it, and read in three ways."""
    serial = scenario().run(EACH, out=tmp_path / "disk")
    there = scenario().run(EACH, out=BUCKET, client=client)
    same(serial, there)
    same(serial, Runs.open(f"{BUCKET}/small"))
    again = scenario().run(EACH + 1, out=BUCKET, client=client)
    assert sum(not r.reused for r in again) == 2
    assert hashes(again)[:EACH] == hashes(serial)[:EACH]
    query = "SELECT sum(delivered_packets), count(*), count(DISTINCT filename) > 1 FROM arrivals"
    with storage.connection(BUCKET) as database:
        found = database.execute(query).fetchone()
    assert found == (sum(again.table("arrivals")["delivered_packets"]), len(again.table("arrivals")["point"]), True)
    (tmp_path / "short.toml").write_text(SHORT)
    words = ("sweep", "short.toml", "--vary", GRID[0], "--replications", str(EACH + 2))
    done = patient(*words, "--out", BUCKET, "--cluster", client.scheduler.address)
    assert done.returncode == 0, done.stderr
    assert f"{2 * EACH + 4} replications ({2 * EACH + 2} already there)" in done.stdout
    assert f"in {BUCKET}/small" in done.stdout


def test_what_has_no_manifest_does_not_count(client: Client, tmp_path: Path) -> None:
    """As when a worker dies while it writes."""
    place = "s3://bucket/part"
    serial = scenario().run(2, out=place, client=client)
    fs, root = storage.filesystem(place)
    fs.rm(fs.glob(f"{root}/small/flows_4-*/*/manifest.json"))
    kept = len(fs.glob(f"{root}/small/flows_2-*/*/manifest.json"))
    fresh = "s3://bucket/part/"
    storage._copy_of.cache_clear()
    assert {p.labels["dumbbell.flows"] for p in Runs.open(fresh).points} == {"2"}
    with storage.connection(place) as database:
        assert database.execute("SELECT count(DISTINCT filename) FROM flows").fetchone() == (kept,)
    again = scenario().run(2, out=place, client=client)
    assert [r.reused for r in again] == [True, True, False, False]
    assert hashes(again) == hashes(serial)


def test_a_bucket_that_is_not_there_or_gives_no_rights_is_found_before_the_work(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match=r"(?s)E020\] cannot write s3://no-such/runs: .*credentials"):
        scenario().run(1, out="s3://no-such/runs", client=client)
    monkeypatch.setattr(moto.settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
    with pytest.raises(OSError, match=r"(?s)E020\] cannot write s3://bucket/x: .*rights"):
        scenario().run(1, out="s3://bucket/x", client=client)


def test_addresses_need_a_cluster(tmp_path: Path, perhop: Command) -> None:
    with pytest.raises(ValueError, match="without client="):
        Scenario.from_toml(SHORT).run(1, out=BUCKET)
    (tmp_path / "short.toml").write_text(SHORT)
    for verb in ("run", "sweep"):
        done = perhop(verb, "short.toml", "--out", BUCKET)
        assert done.returncode == 2
        assert "E020" in done.stderr
        assert "--cluster" in done.stderr
    with pytest.raises(ClusterError, match="s3://bucket/runs"):
        storage.filesystem("nonsense://x")


def test_a_bucket_without_results(s3: str) -> None:
    with pytest.raises(FileNotFoundError, match="no finished replication"):
        storage.connection("s3://bucket/nothing")
    with pytest.raises(FileNotFoundError):
        Runs.open("s3://bucket/nothing")
