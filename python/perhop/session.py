"""A simulation in your hands: stepped, looked at, changed and copied between two events of the core's engine.

Decision: docs/decisions/121-a-session-is-the-engine-itself.md
"""

from __future__ import annotations

from dataclasses import dataclass, field

from perhop import _core, show
from perhop.arguments import checked, checked_late
from perhop.columns import point, replication
from perhop.frames import Frame
from perhop.runs import Runs
from perhop.scenario import Scenario, assignments
from perhop.unknown import UnknownKeyError


class Session:
    """Replication 0 of a scenario, at time zero: what happens next is yours to say.

    A session that was only looked at has the results of `scenario.run(1)`. Calls that run the simulation release
    Python's lock; Ctrl-C ends them between two events, and the session can go on from there.
    """

    @checked
    def __init__(self, scenario: Scenario, seed: int | None = None) -> None:
        """Begins one, with the file's seed by default.

        Raises:
            ValueError: for a scenario with several points, and a seed beyond its bounds.
        """
        self._core = _core.Session(scenario._seeded(seed))
        self._name = scenario.name
        self._ports = Ports({name: Port(name, self._core, index) for index, name in enumerate(self._core.ports)})
        self._flows = Flows(self._core)
        self._warnings: list[_core.Diagnostic] = []

    @property
    def now(self) -> float:
        """The time it has reached, s."""
        return self._core.now

    @property
    def ports(self) -> Ports:
        """Its ports by name, `"C -> E2"`."""
        return self._ports

    @property
    def flows(self) -> Flows:
        """Its flows that last as long as their sources; those of transfers are not among them."""
        return self._flows

    @property
    def warnings(self) -> list[_core.Diagnostic]:
        """What changes made by `set` were warned of."""
        return self._warnings

    @checked_late
    def until(self, time: str) -> None:
        """Runs until a time since the start, `"1.5s"`, to where a `[[change]]` of that time would be made.

        Raises:
            ScenarioError: it is no time, has passed, or is beyond the end.
            KeyboardInterrupt: Ctrl-C; the session has stopped on the way and can go on, unless it came in a hook.
        """
        self._core.until(time)

    @checked_late
    def step(self, time: str) -> None:
        """Runs for a time, `"10ms"`, as `until` does."""
        self._core.step(time)

    @checked
    def set(self, key: str, value: object) -> None:
        """Changes a value from now on, as a `[[change]]` of this time does: `set("queue.port.target", "3ms")`.

        It takes effect when the session runs on: until then gauges show what was in force before.

        Raises:
            ScenarioError: with everything that is wrong; nothing is then changed.
        """
        self._warnings += self._core.set(assignments({key: value})[0])

    def snapshot(self) -> Snapshot:
        """A copy as it is now.

        Raises:
            ValueError: for QUIC, whose connections cannot be copied.
        """
        return Snapshot(self._core.snapshot())

    @checked
    def restore(self, snapshot: Snapshot) -> None:
        """Continues from a copy of this session, as often as wanted, also after `finish`.

        Raises:
            ValueError: the copy is another session's.
        """
        self._core.restore(snapshot._core)

    def finish(self) -> Runs:
        """Runs what is left. The results, of which `points[0].effective` has every change as a `[[change]]`.

        Raises:
            RunError: the run failed.
        """
        at, made = self._core.finish()
        settings = at["settings"]
        return Runs(self._name, settings["seed"], [point(at)], [replication(made)], settings)

    def __repr__(self) -> str:
        try:
            return f"Session({self._name!r} at {self.now:g} s)"
        except _core.RunError as error:
            return f"Session({self._name!r}: {str(error).split(':', 1)[0]})"


class Ports(dict[str, "Port"]):
    """The ports of a session by name."""

    def __missing__(self, name: str) -> Port:
        """No port is called so.

        Raises:
            KeyError: the message names one that may be meant.
        """
        raise UnknownKeyError(f"no port `{name}` in this scenario{show.near(str(name), list(self))}")


@dataclass(frozen=True)
class Port:
    """A port of a session."""

    name: str
    _core: _core.Session = field(repr=False)
    _index: int = field(repr=False)

    @checked_late
    def counters(self, table: str = "summary") -> Frame:
        """What it counted since the table was last asked for, at first since the start: a row per class and colour.

        The other tables are `queues`, `nodes`, `conditioners` and `tallies`. Columns are those of the results, except
        times of packets.

        Raises:
            ValueError: for another table.
        """
        return Frame(self._core.port_counters(self._index, table))

    def gauges(self) -> Frame:
        """What a sample sees of it now: rows of `series`, the queue's and AQM's, then the conditioners'."""
        return Frame(self._core.port_gauges(self._index))

    @checked_late
    def gauge(self, quantity: str, conditioner: str | None = None) -> float:
        """One of them: `"queue_packets"`, of the port itself or of a conditioner.

        Raises:
            KeyError: there is no such gauge; the message names those there are.
        """
        value = self._core.port_gauge(self._index, quantity, conditioner)
        if value is not None:
            return value
        rows = self.gauges()
        here = [i for i, owner in enumerate(rows["conditioner"]) if owner == conditioner]
        found = [i for i in here if rows["quantity"][i] == quantity]
        if not found:
            known = list(dict.fromkeys(rows["quantity"][i] for i in here))
            whose = "" if conditioner is None else f" of the conditioner {conditioner!r}"
            there = ", ".join(known) or "none"
            raise UnknownKeyError(f"no gauge `{quantity}`{whose} at `{self.name}`: there are {there}")
        return float(rows["value"][found[0]])


@dataclass(frozen=True)
class Flows:
    """The long-lived flows of a session."""

    _core: _core.Session = field(repr=False)

    def counters(self) -> Frame:
        """What each counted since this was last asked for, since the start at first: rows of `flows`."""
        return Frame(self._core.flow_counters())

    def gauges(self) -> Frame:
        """What a sample sees of each now, such as its congestion window: rows of `flow_series`."""
        return Frame(self._core.flow_gauges())


@dataclass(frozen=True)
class Snapshot:
    """A session as it was, for `Session.restore`."""

    _core: _core.Snapshot = field(repr=False)
