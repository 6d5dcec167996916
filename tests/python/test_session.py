"""A simulation in Python's hands: what the core's own tests cannot see, and every call after the wrong one."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import perhop
from perhop import Scenario, Session

FILE = Path(__file__).resolve().parents[2] / "examples/timed-change.toml"
LONG = {"scenario.duration": "20000s", "traffic.site.rate": "9Mbit/s"}
"""Minutes of computing: no step of it is ever complete."""


@pytest.fixture
def session() -> Session:
    return Session(Scenario.from_toml(FILE), seed=3)


def expected(**options: Any) -> str:
    return Scenario.from_toml(FILE).run(1, progress=False, **options).replications[0].hash


def test_a_session_gives_the_runs_of_a_run(session: Session) -> None:
    runs = session.finish()
    alone = Scenario.from_toml(FILE).run(1, seed=3, progress=False)
    assert (runs.name, runs.seed, runs.settings, runs.tables) == (alone.name, 3, alone.settings, alone.tables)
    assert (runs.points, runs.replications[0].hash) == (alone.points, alone.replications[0].hash)
    assert Session(Scenario.from_toml(FILE)).finish().replications[0].hash == expected()


def test_counters_are_numpy_columns_since_last_asked(session: Session) -> None:
    port = session.ports["site -> E1"]
    seen = []
    for _ in range(4):
        session.step("500ms")
        seen.append(int(port.counters()["arrived_packets"].sum()))
    counted = port.counters("conditioners")
    assert all(isinstance(column, np.ndarray) for column in counted.values())
    assert int(counted["packets"].sum()) == sum(seen) > 0
    assert [name for name in port.counters() if name.endswith("_ms")] == []
    assert int(session.flows.counters()["sent_packets"].sum()) == sum(seen)


def test_gauges_have_the_names_of_series(session: Session) -> None:
    session.until("3s")
    port = session.ports["site -> E1"]
    assert port.gauge("bucket_bytes", "contract") <= 20_000
    assert port.gauge("queue_packets") >= 0
    tree = Session(Scenario.from_toml(FILE.with_name("llq.toml")))
    tree.until("3s")
    uplink = tree.ports["E -> ISP"]
    both = uplink.gauge("queue_1.packets") + uplink.gauge("queue_2.packets")
    assert both == uplink.gauge("queue_packets") > 0
    with pytest.raises(KeyError, match="no gauge `queue_packet` at `site -> E1`: there are queue_packets, queue_bytes"):
        port.gauge("queue_packet")
    with pytest.raises(KeyError, match="no port `site - E1` in this scenario; did you mean `site -> E1`"):
        session.ports["site - E1"]
    with pytest.raises(ValueError, match="a port has no counters `arrivals`: there are summary, queues"):
        port.counters("arrivals")


def test_a_refused_change_names_its_place(session: Session) -> None:
    session.until("5s")
    with pytest.raises(perhop.ScenarioError, match="did you mean `cir`") as caught:
        session.set("conditioner.contract.cirr", "2Mbit/s")
    assert [(it["code"], it["file"]) for it in caught.value.diagnostics] == [("E004", "set")]
    assert session.warnings == []
    session.set("conditioner.contract.cir", "1Mbit/s")
    assert [it["code"] for it in session.warnings] == ["W311"]
    assert session.finish().replications[0].hash == expected(seed=3)


def test_a_copy_is_restored_again_and_again(session: Session) -> None:
    session.until("4s")
    snapshot = session.snapshot()
    found = set()
    for _ in range(2):
        session.restore(snapshot)
        found.add(session.finish().replications[0].hash)
    assert found == {expected(seed=3)}
    with pytest.raises(ValueError, match="the snapshot is of another session"):
        Session(Scenario.from_toml(FILE)).restore(snapshot)


def test_quic_runs_in_steps_and_refuses_a_snapshot() -> None:
    quic = Scenario.from_toml(FILE.with_name("quic.toml"), {"scenario.duration": "12s"})
    session = Session(quic)
    session.step("2s")
    with pytest.raises(ValueError, match=r"^the session cannot be copied: traffic `pages` has model .quic., whose .*$"):
        session.snapshot()
    while session.now < 11:
        session.step("37ms")
    assert session.finish().replications[0].hash == quic.run(1, progress=False).replications[0].hash


def test_a_capture_that_is_replayed_is_copied() -> None:
    replayed = {
        "model": "capture",
        "file": str(FILE.parents[1] / "tests/captures/tcp.pcap"),
        "from": "site",
        "to": "E2",
    }
    tree = Scenario.from_toml(FILE).to_dict() | {"traffic": {"site": replayed}, "change": []}
    tree["scenario"] |= {"duration": "2s", "warmup": "0s"}
    session = Session(Scenario.from_dict(tree))
    session.until("300ms")
    snapshot = session.snapshot()
    first = session.finish().replications[0].hash
    session.restore(snapshot)
    assert session.finish().replications[0].hash == first
    assert first == Scenario.from_dict(tree).run(1, progress=False).replications[0].hash


def test_after_the_end_each_call_says_so(session: Session) -> None:
    session.finish()
    assert repr(session) == "Session('timed-change': the session is finished)"
    port = session.ports["E1 -> E2"]
    calls: list[Callable[[], object]] = [
        lambda: session.now,
        lambda: session.step("1ms"),
        lambda: session.until("1s"),
        lambda: session.set("conditioner.contract.cir", "1Mbit/s"),
        port.counters,
        port.gauges,
        session.flows.counters,
        session.flows.gauges,
        session.snapshot,
        session.finish,
    ]
    for call in calls:
        with pytest.raises(
            perhop.RunError, match=r"^the session is finished: begin another one, or restore a snapshot$"
        ):
            call()


def test_arguments_are_checked(session: Session) -> None:
    with pytest.raises(TypeError, match=r"time = 1\.5: must be a text"):
        session.until(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"scenario = 'x\.toml': must be a Scenario"):
        Session("x.toml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed"):
        Session(Scenario.from_toml(FILE), seed=-1)
    with pytest.raises(perhop.ScenarioError, match="E201"):
        session.until("23s")
    swept = Scenario.from_toml(FILE, vary=["conditioner.contract.cbs=10kB,20kB"])
    with pytest.raises(ValueError, match="a session runs one point, and this scenario sweeps 2"):
        Session(swept)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(session)


@pytest.fixture
def alarm() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Has a function called by a signal, soon."""
    before = signal.getsignal(signal.SIGALRM)

    def ring(call: Callable[[], None]) -> None:
        def on(_signal: int, _frame: FrameType | None) -> None:
            call()

        signal.signal(signal.SIGALRM, on)
        signal.setitimer(signal.ITIMER_REAL, 0.2)

    yield ring
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_ctrl_c_stops_a_step_and_the_session_goes_on(alarm: Callable[[Callable[[], None]], None]) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    session = Session(Scenario.from_toml(FILE, LONG))
    alarm(interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.until("19999s")
    stopped = session.now
    assert 0 < stopped < 19_999
    session.step("10ms")
    assert session.now == pytest.approx(stopped + 0.01, abs=1e-9)


def test_who_calls_a_session_while_it_runs_is_refused(alarm: Callable[[Callable[[], None]], None]) -> None:
    session = Session(Scenario.from_toml(FILE, LONG))
    said: list[str] = []

    def call() -> None:
        with pytest.raises(perhop.RunError) as caught:
            session.step("1ms")
        said.append(str(caught.value))
        raise KeyboardInterrupt

    alarm(call)
    with pytest.raises(KeyboardInterrupt):
        session.until("19999s")
    assert len(said) == 1
    assert said[0].startswith("the session is running: another thread, a signal handler or a hook called it")
    session.step("1ms")


def test_other_threads_run_meanwhile(alarm: Callable[[Callable[[], None]], None]) -> None:
    session = Session(Scenario.from_toml(FILE, LONG))
    turns, said, over = 0, "", threading.Event()

    def other() -> None:
        nonlocal turns, said
        while not over.is_set():
            turns += 1
            try:
                _ = session.now
            except perhop.RunError as error:
                said = str(error)
            time.sleep(0.001)

    def interrupt() -> None:
        raise KeyboardInterrupt

    thread = threading.Thread(target=other)
    thread.start()
    alarm(interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.until("19999s")
    over.set()
    thread.join()
    assert turns > 3, "Python's lock is released"
    assert said.startswith("the session is running")
