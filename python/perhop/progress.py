"""Progress: a bar or a line in place on a terminal, elsewhere a plain line of long work each half minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event, Thread

Report = Callable[[int, int], object]

EVERY_S = 30.0
"""Time before the first line, and between two; shorter work stays silent."""


@contextmanager
def shown(progress: Report | bool | None, title: str) -> Iterator[Report | None]:
    """What the core calls with (done, total): the caller's own function, a bar, plain lines, or nothing."""
    if callable(progress):
        yield progress
    elif progress is False:
        yield None
    elif progress is None and not _on_terminal():
        with told(title) as part:
            yield part.report if part else None
    else:
        with _bar(title) as report:
            yield report


@contextmanager
def told(what: str) -> Iterator[Part | None]:
    """Has plain lines tell of long work, or of this part of it, where standard error is no terminal."""
    if _on_terminal() or sys.stderr is None:
        yield None
        return
    part, lines = Part(what), _lines.get()
    if lines is not None:
        lines.parts.append(part)
        try:
            yield part
        finally:
            lines.parts.remove(part)
        return
    lines = Lines([part])
    token = _lines.set(lines)
    try:
        with lines.written():
            yield part
    finally:
        _lines.reset(token)


def say(text: str) -> None:
    """Says how far work is: a line on a terminal, rewritten in place; elsewhere it is in the next plain line."""
    if _on_terminal():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    elif lines := _lines.get():
        lines.parts[-1].said = text


@dataclass(eq=False)
class Part:
    """Work that takes long, or a part of it."""

    what: str
    began: float = field(default_factory=time.monotonic)
    said: str = ""
    count: tuple[int, int] | None = None
    """Done, and in all."""

    def report(self, done: int, total: int) -> None:
        """Keeps how far it is."""
        self.count = (done, total)

    def __str__(self) -> str:
        done = "" if self.count is None else f"{self.count[0]} of {self.count[1]}"
        return ": ".join(text for text in (self.what, self.said or done) if text)

    def left(self, now: float) -> str:
        """The time that the rest will take at this pace, if that is known."""
        done, total = self.count or (0, 0)
        return f", about {_time((now - self.began) * (total - done) / done)} left" if done else ""


@dataclass
class Lines:
    """Plain lines on standard error: one each half minute, and one at the end if there were any."""

    parts: list[Part]
    """The whole, then the parts within parts that are in progress."""
    lines: int = 0

    @contextmanager
    def written(self) -> Iterator[None]:
        """A thread of its own writes them, since one step may take longer; work cut short says so itself."""
        over = Event()
        thread = Thread(target=self._write, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        if self.lines:
            _line(self.last(time.monotonic()))

    def _write(self, over: Event) -> None:
        while not over.wait(EVERY_S):
            _line(self.line(time.monotonic()))
            self.lines += 1

    def line(self, now: float) -> str:
        """`perhop sweep: small: 3 of 12, 0:01:30, about 0:04:30 left`."""
        parts = list(self.parts)
        return f"{': '.join(map(str, parts))}, {_time(now - parts[0].began)}{parts[-1].left(now)}"

    def last(self, now: float) -> str:
        """`perhop sweep: ended after 0:06:00`."""
        whole = self.parts[0]
        done = "" if whole.count is None else f": {whole.count[0]} of {whole.count[1]}"
        return f"{whole.what}{done}{',' if done else ':'} ended after {_time(now - whole.began)}"


_lines: ContextVar[Lines | None] = ContextVar("lines", default=None)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _line(text: str) -> None:
    # A reader of standard error that has gone is no reason to end the work.
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _time(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield report
