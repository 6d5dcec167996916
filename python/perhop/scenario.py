"""A scenario: read, checked and run by the Rust core.

Decision: docs/decisions/095-no-model-in-python.md
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core, files, in_force, own, processes, show, storage
from perhop.arguments import bounded, checked, positive
from perhop.arguments import shown as shown_value
from perhop.builder import Builder, Values, axis, stated
from perhop.cluster import runs as cluster
from perhop.columns import Point, point, replication
from perhop.hands import Work, span
from perhop.progress import shown
from perhop.runs import Runs

if TYPE_CHECKING:
    from distributed import Client

Overrides = Mapping[str, object] | Iterable[str]
Progress = Callable[[int, int], object]


class Scenario:
    """One scenario, from a file or from Python, with its overrides and axes."""

    @checked
    def __init__(
        self, text: str, file_name: str = "scenario.toml", overrides: Overrides = (), vary: Sequence[str] = ()
    ) -> None:
        """Reads and checks.

        Raises:
            ScenarioError: with everything that is wrong in it.
            ValueError: for a path in place of the text.
        """
        if "\n" not in text and text.endswith(".toml"):
            raise ValueError(f"text = {shown_value(text)}: is a path; Scenario.from_toml reads a file")
        self._core = _core.Scenario(text, file_name, assignments(overrides), list(vary))

    @classmethod
    def _of(cls, request: str) -> Scenario:
        new = cls.__new__(cls)
        new._core = _core.Scenario.of(request)
        return new

    def __reduce__(self) -> tuple[Callable[[str], Scenario], tuple[str]]:
        """What it is read from: so it is copied, and travels to another process."""
        return (self._of, (self._core.request,))

    @classmethod
    @checked
    def from_toml(cls, source: str | os.PathLike[str], overrides: Overrides = (), vary: Sequence[str] = ()) -> Scenario:
        """From a file, or from TOML text (a text holds a line break, a path does not).

        `overrides` is `{"traffic.bulk.flows": 20}` or `["traffic.bulk.flows=20"]`; `vary` is `["key=a,b,c"]`.
        """
        if isinstance(source, str) and "\n" in source:
            return cls(source, overrides=overrides, vary=vary)
        path = Path(source)
        return cls(_core.text(str(path), files.head(path)), str(path), overrides, vary)

    @classmethod
    @checked
    def from_dict(cls, tree: Mapping[str, Any], overrides: Overrides = (), vary: Sequence[str] = ()) -> Scenario:
        """From nested dictionaries, the tables of a file: `{"dumbbell": {"flows": 10, ...}}`.

        Raises:
            ScenarioError: with everything that is wrong in it; places are dotted keys.
            TypeError: for a key or a value that a file cannot hold.
        """
        text, keys = in_force.lines(tree)
        options = {"file_name": "scenario", "overrides": [("overrides", it) for it in assignments(overrides)]}
        options |= {"vary": [("vary", it) for it in vary], "keys": keys}
        return cls._of(json.dumps({"source": {"text": text, "options": options}}))

    @classmethod
    @checked
    def build(cls, name: str, **settings: Any) -> Builder[Scenario]:
        """Begins a scenario in Python: its name and the keys of `[scenario]`; the builder's methods add sections."""
        return Builder(cls.from_dict, {"scenario": {"name": name} | stated(settings)})

    @property
    def name(self) -> str:
        """Its name: that of its directory of results."""
        return self._core.name

    @property
    def settings(self) -> dict[str, Any]:
        """`[scenario]` with every effective value: times in seconds."""
        return self._core.settings

    @property
    def points(self) -> list[Point]:
        """The points of its sweep; one without labels if it has none."""
        return list(map(point, self._core.points))

    @property
    def warnings(self) -> list[_core.Diagnostic]:
        """Settings that run, but probably not as intended."""
        return self._core.warnings

    def effective(self) -> str:
        """Every value in force, as TOML."""
        return self._core.effective()

    def to_toml(self) -> str:
        """The file as written, overrides applied; read again it is an equal scenario."""
        return self._core.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """As `to_toml`, as nested dictionaries: for `from_dict`, after changing what should differ."""
        return tomllib.loads(self.to_toml())

    @checked
    def as_tc(self, port: str | None = None, dev: str | None = None) -> dict[str, Any]:
        """The network of its nodes, links and ports on Linux, as data; or one `port` for the interface `dev`.

        Raises:
            ValueError: naming everything that Linux's tools cannot say of the network; several points; an unknown port,
                an interface that cannot be, or one without a port.
        """
        if port is None and dev is not None:
            raise ValueError(f"dev = {shown_value(dev)}: without a port; give port='a -> b' too")
        network: dict[str, Any] = json.loads(self._core.as_tc(port, dev))
        return network

    def explain(self) -> str:
        """Effective values, buffers in path, bucket times, as text."""
        return self._core.explain()

    @checked
    def run(  # noqa: PLR0913
        self,
        replications: int | range | None = None,
        *,
        seed: int | None = None,
        jobs: int = 0,
        out: str | os.PathLike[str] | None = None,
        name: str | None = None,
        resume: bool = True,
        events: bool = False,
        ef: str | Sequence[str] = (),
        tc_stats: bool = False,
        progress: Progress | bool | None = None,
        client: Client | None = None,
        chunk_s: float = 10.0,
    ) -> Runs:
        """Simulates every point; Ctrl-C keeps the finished replications on disk.

        Args:
            replications: how many, or which; the file's number by default.
            seed: the file's by default.
            jobs: threads, or processes for algorithms that are Python classes; 0 is one for each core. The results do
                not depend on it.
            out: directory for the results; without it they stay in memory.
            name: of this run, and the beginning of its directories' names; `Runs.open("runs/SCENARIO/NAME")` finds it.
            resume: take from `out` what it already holds.
            events: also write a row for each packet at each port to `out`, for `Runs.events`.
            ef: ports where EF is held against its rate (RFC 3246), as `"C -> E2,rate=2Mbit/s"`: the table `ef`.
            tc_stats: also read what `tc -s` would show of each port at the end: the table `counters`, `Runs.tc_stats`.
            progress: called with (done, total); `True` shows a bar; `None` shows one on a terminal,
                elsewhere a line each half minute.
            client: of a Dask cluster, whose workers run the replications. With `out`, which all of them see or which is
                an address as `s3://bucket/runs`, they write the results; without it tables come back by the network.
            chunk_s: seconds of work in one task of the cluster.

        Raises:
            ValueError: for an unknown port or code point, and a rate that the port does not have.
        """
        if client is not None and not hasattr(client, "submit"):
            raise TypeError(f"client = {shown_value(client)}: must be a Client of Dask or None")
        if events and out is None:
            raise ValueError(
                "events=True without out=: name a directory, as packets at ports are written to disk during the run"
            )
        chosen, chunk_s = self._replications(replications), positive("chunk_s", chunk_s)
        place = None if out is None else _core.utf8(out)
        if place is not None and client is None and storage.is_address(place):
            raise ValueError(
                f"out={place!r} without client=: only a Dask cluster writes there; pass client=, or name a directory"
            )
        core = self._seeded(seed)
        if own.renewed(core.request):
            core = _core.Scenario.of(core.request)
        work = Work(core).asking(
            output={"out": place, "name": name, "jobs": bounded("jobs", jobs)},
            traced={
                "trace": ["events"] if events else [],
                "ef": [ef] if isinstance(ef, str) else list(ef),
                "tc_stats": tc_stats,
            },
            replications=span(chosen),
            fresh=not resume,
        )
        if client is None:
            alone = jobs == 1 or len(chosen) * len(self._core.points) == 1
            names = [name for name, _ in own.used(work.scenario.request)]
            work = work.asking(output={"jobs": 1}) if names and alone else work
            with shown(progress, self.name) as report, own.in_instances(names):
                done = processes.run(work, jobs, report) if names and not alone else work.run(report)
        else:
            done = cluster.run(client, chunk_s, work, progress)
        points, finished = work.scenario.points, [replication(r) for r in done]
        settings = points[0]["settings"]
        notes = [r["note"] for r in done if r["note"] is not None]
        return Runs(self.name, settings["seed"], list(map(point, points)), finished, settings, notes)

    @checked
    def sweep(self, axes: Mapping[Any, Values], **options: Any) -> Runs:
        """Runs the grid over `axes`, `{"traffic.bulk.flows": [5, 10]}`; see `run` for the options.

        Keys that change together are a tuple with rows of values: `{("a.b", "c"): [[1, 2], [3, 4]]}`. Labels and a
        name are stated in a table: `{"traffic.bulk.flows": {"values": [5, 10], "labels": ["few", "many"], "as": "n"}}`.
        """
        request = json.loads(self._core.request)
        request["source"]["options"]["vary"] += [("axes", axis(key, values)) for key, values in axes.items()]
        return self._of(json.dumps(request)).run(**options)

    def _seeded(self, seed: int | None) -> _core.Scenario:
        """The core's, with this seed; with the file's by default."""
        return self._core if seed is None else self._core.seeded(bounded("seed", seed))

    def _replications(self, chosen: int | range | None) -> range:
        if chosen is None:
            chosen = int(self.settings["replications"])
        if not isinstance(chosen, range):
            return range(bounded("replications", chosen))
        if not chosen or chosen.step != 1 or chosen.start < 0:
            raise ValueError(f"replications = {shown_value(chosen)}: must be a range of numbers from 0 on, with step 1")
        return range(chosen.start, bounded("replications", chosen.stop))

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}: {show.count(len(self._core.points), 'point')})"

    def _repr_html_(self) -> str:
        """Its settings, its points and every value in force."""
        points, settings = self._core.points, {k: v for k, v in self.settings.items() if v is not None}
        swept = [key for key, _ in points[0]["labels"]]
        rows = [[label for _, label in point["labels"]] for point in points[: show.ROWS]]
        return (
            show.note(f"{show.count(len(points), 'point')}, {show.count(len(self.warnings), 'warning')}")
            + show.table(list(settings), [list(settings.values())])
            + (show.table(swept, rows) if swept else "")
            + show.folded("every value in force", self.effective())
        )


def assignments(overrides: Overrides) -> list[str]:
    """`key=value` texts, as `-s` takes them."""
    if isinstance(overrides, Mapping):
        return [f"{key}={in_force.toml(value, (key,))}" for key, value in overrides.items()]
    return list(overrides)
