"""Long work tells how far it is where standard error is no terminal; short work is silent."""

from __future__ import annotations

import json
import re
import time
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import SCENARIO
from perhop import Scenario, __main__, progress
from perhop.cluster import runs as cluster
from perhop.hands import Work
from perhop.progress import Lines, Part, say, shown, told
from perhop_studies import runs

PATIENCE_S = 60
SOON_S = 0.001


class Stream:
    """A standard error whose lines can be waited for."""

    def __init__(self, *, terminal: bool = False) -> None:
        self.terminal = terminal
        self.lines: Queue[str] = Queue()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.lines.put(text)
        return len(text)

    def flush(self) -> None:
        pass

    def next(self) -> str:
        return self.lines.get(timeout=PATIENCE_S)

    def until(self, pattern: str) -> str:
        """The first line from now on that matches."""
        until = time.monotonic() + PATIENCE_S
        while not re.fullmatch(pattern, line := self.next()):
            assert time.monotonic() < until, line
        return line

    def all(self) -> list[str]:
        return [self.lines.get() for _ in range(self.lines.qsize())]


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Stream:
    """Lines come at once."""
    monkeypatch.setattr(progress, "EVERY_S", SOON_S)
    stream = Stream()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


def test_a_line_has_what_is_known() -> None:
    part = Part("small", began=100.0)
    lines = Lines([part])
    assert lines.line(190.0) == "small, 0:01:30"
    part.report(0, 12)
    assert lines.line(190.0) == "small: 0 of 12, 0:01:30"
    part.report(3, 12)
    assert lines.line(190.0) == "small: 3 of 12, 0:01:30, about 0:04:30 left"
    part.report(12, 12)
    assert lines.last(460.0) == "small: 12 of 12, ended after 0:06:00"


def test_a_part_has_its_own_pace() -> None:
    inner = Part("small", began=160.0, count=(1, 3))
    lines = Lines([Part("perhop sweep", began=100.0), inner])
    assert lines.line(190.0) == "perhop sweep: small: 1 of 3, 0:01:30, about 0:01:00 left"
    inner.said = "web: 2 of 9 runs"
    assert Lines([inner]).line(190.0).startswith("small: web: 2 of 9 runs, 0:00:30")
    assert lines.last(190.0) == "perhop sweep: ended after 0:01:30"


def test_long_work_tells_lines_and_a_last_one(stream: Stream) -> None:
    with shown(None, "small") as report:
        assert report is not None
        report(1, 4)
        stream.until(r"small: 1 of 4, 0:00:\d\d, about 0:0\d:\d\d left\n")
        report(4, 4)
    assert re.fullmatch(r"small: 4 of 4, ended after 0:00:\d\d\n", stream.all()[-1])


def test_short_work_is_silent(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", PATIENCE_S)
    with shown(None, "small") as report:
        assert report is not None
        report(4, 4)
    assert stream.all() == []


def test_half_a_minute_goes_by_before_the_first() -> None:
    assert progress.EVERY_S == 30.0


def test_work_cut_short_tells_no_last_line(stream: Stream) -> None:
    def work() -> None:
        with told("small"):
            stream.next()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not any("ended" in line for line in stream.all())


def test_parts_are_in_the_lines_of_the_whole(stream: Stream) -> None:
    with told("perhop sweep"):
        with shown(None, "small") as report:
            assert report is not None
            report(0, 4)
            stream.until(r"perhop sweep: small: 0 of 4, 0:00:\d\d\n")
        stream.until(r"perhop sweep, 0:00:\d\d\n")
    assert re.fullmatch(r"perhop sweep: ended after 0:00:\d\d\n", stream.all()[-1])


def test_nothing_is_told_on_a_terminal_or_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", SOON_S)
    terminal = Stream(terminal=True)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    with told("perhop map") as part:
        say("3 points")
    assert part is None
    assert terminal.all() == ["\r\x1b[K3 points", ""]
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=None))
    with told("perhop map") as part, shown(None, "small") as report:
        say("3 points")
    assert (part, report) == (None, None)
    with shown(False, "small") as report:
        assert report is None


def test_a_reader_that_has_gone_ends_nothing(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: str) -> int:
        stream.lines.put("tried")
        raise BrokenPipeError

    monkeypatch.setattr(stream, "write", gone)
    with told("small"):
        assert [stream.next(), stream.next()] == ["tried", "tried"]


@pytest.mark.parametrize("verb", __main__.PYTHON_VERBS)
def test_every_verb_tells(verb: str, stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(_: dict[str, Any]) -> int:
        say("3 points")
        stream.until(rf"perhop {verb}: 3 points, 0:00:\d\d\n")
        return 0

    module = SimpleNamespace(**{verb: work})
    monkeypatch.setattr(__main__, "import_module", lambda _: module)
    assert __main__.carry_out(verb, json.dumps({})) == 0
    assert re.fullmatch(rf"perhop {verb}: ended after 0:00:\d\d\n", stream.all()[-1])


def test_a_run_tells(stream: Stream) -> None:
    Scenario.from_toml(SCENARIO, {"scenario.duration": "100s"}).run(4)
    *lines, last = stream.all()
    assert lines
    assert all(re.fullmatch(r"small(: \d of 4)?, 0:00:\d\d(, about 0:\d\d:\d\d left)?\n", line) for line in lines)
    assert re.fullmatch(r"small: 4 of 4, ended after 0:00:\d\d\n", last)


def test_a_cluster_tells(stream: Stream, small: Scenario) -> None:
    class Stub:
        def hand_out(self, works: list[Work], report: Any) -> list[list[Any]]:
            report(0, 1, 3)
            stream.until(r"perhop sweep: small: 1 of 3, 0:00:\d\d, about 0:0\d:\d\d left\n")
            return [[] for _ in works]

    with told("perhop sweep"):
        cluster.written(Stub(), Work(small._core), None)  # type: ignore[arg-type]


def test_studies_tell(stream: Stream) -> None:
    jobs: Any = [SimpleNamespace(set=SimpleNamespace(name="web", at={"marker": "pam"}), total=12) for _ in range(2)]
    with told("perhop reproduce"), told("rtt_rto (2 of 7)"):
        runs.progress(say, jobs, jobs[1], 3)
        stream.until(r"perhop reproduce: rtt_rto \(2 of 7\): web pam: 15 of 24 runs, 0:00:\d\d\n")
