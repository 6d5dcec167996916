"""How the files of PAM and F-SAM are run, and what is read off their tables.

| quantity          | unit    | is                                                          |
|-------------------|---------|-------------------------------------------------------------|
| `X.goodput`       | bit/s   | mean over the flows of traffic X                            |
| `X.std`           | bit/s   | population standard deviation over the flows of X           |
| `X.total`         | bit/s   | sum over the flows or transfers of X                        |
| `X.throughput`    | bit/s   | mean over the flows of X, retransmissions and headers too   |
| `X.transfer`      | bit/s   | mean over the transfers of X: size by completion time       |
| `X.in`, `X.out`   | packets | green and other packets of X behind the marker              |
| `in_bytes`        | B       | all green bytes behind the marker                           |
| `cbs`             | B       | the marker's burst, where it has one                        |
| `jain`            | -       | Jain's index over the goodput of all standing flows         |
| `utilisation`     | -       | of the bottleneck                                           |
| `forced`          | packets | chosen IN without tokens (PAM, F-SAM); only with a series   |
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from perhop import stats
from perhop.scenario import toml
from perhop.studies import runs as simulation
from perhop.studies.runs import Axis, Job, Method, RunSet, Settings
from perhop.studies.samples import Tables, real

MARKERS = "conditioner.marker"
KINDS = ("token-bucket", "tsw2cm", "pam", "f-sam")
MARKER_HOP, BOTTLENECK = "E1 -> C", "C -> E2"

AXES = {
    MARKERS: Axis("marker"),
    "traffic.bulk.flows": Axis("n", int),
    "traffic.mice.loop": Axis("loop"),
    "traffic.rogue.rate": Axis("rate", lambda text: int(text.removesuffix("Mbit/s")), "mbit_s"),
}


def overrides(chosen: RunSet, settings: Settings) -> list[str]:
    """Settings as the command line would write them; those of markers change the swept list."""
    others = {key: value for key, value in settings.items() if not _of_marker(key)}
    return [*simulation.plain(chosen, others), f'sweep."{MARKERS}"={toml(markers(chosen, settings))}']


def markers(chosen: RunSet, settings: Settings) -> list[dict[str, Any]]:
    """The swept markers of a file under these settings."""
    return swept_markers(_stated(chosen.scenario), {key: value for key, value in settings.items() if _of_marker(key)})


@cache
def _stated(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def _of_marker(key: str) -> bool:
    return key.split(".", maxsplit=1)[0] in (*KINDS, "marker", "markers")


def swept_markers(stated: Mapping[str, Any], settings: Settings) -> list[dict[str, Any]]:
    """The swept markers of a file: `pam.x` changes PAM, `marker.x` each that has x, `markers.only` keeps kinds."""
    found = [dict(marker) for marker in stated["sweep"][MARKERS]]
    for key, value in settings.items():
        kind, name = key.split(".", 1)
        for marker in found:
            if marker["kind"] == kind or (kind == "marker" and name in marker):
                marker[name] = value
    only = settings.get("markers.only")
    return [m for m in found if only is None or m["kind"] in only]


def buckets(job: Job) -> dict[str, float]:
    """CBS in bytes of each swept marker that has one."""
    swept = markers(job.set, {**job.set.settings, **job.reading})
    return {m["kind"]: in_bytes(m["cbs"]) for m in swept if "cbs" in m}


def in_bytes(text: str) -> float:
    """`"12500B"` and `"100kB"`, the two forms the files use."""
    number = text.removesuffix("B")
    return float(number.removesuffix("k")) * (1000 if number.endswith("k") else 1)


def measured(job: Job, at: Mapping[str, Any], tables: Tables) -> dict[str, float]:
    """All of the above from one replication."""
    found = quantities(tables)
    burst = buckets(job).get(at["marker"])
    return found if burst is None else {**found, "cbs": burst}


def quantities(tables: Tables) -> dict[str, float]:
    """What the tables alone say."""
    found: dict[str, float] = {}
    _traffic(tables, found)
    _marks(tables["summary"], found)
    links = tables["links"]
    found["utilisation"] = float(links["utilisation"][list(links["hop"]).index(BOTTLENECK)])
    if "series" in tables and len(tables["series"]["value"]):
        found["forced"] = _last(tables["series"], "forced_out_packets")
    found["jain"] = stats.jain(float(x) for x in tables["flows"]["goodput_bit_s"])
    return found


def _traffic(tables: Tables, found: dict[str, float]) -> None:
    traffic, flows = tables["traffic"], tables["flows"]
    for i, name in enumerate(traffic["traffic"]):
        found[f"{name}.goodput"] = real(traffic["goodput_mean_bit_s"][i])
        found[f"{name}.std"] = real(traffic["goodput_std_bit_s"][i])
        found[f"{name}.total"] = real(traffic["goodput_bit_s"][i])
        found[f"{name}.transfer"] = real(traffic["transfer_goodput_mean_bit_s"][i])
        each = [float(x) for x, of in zip(flows["throughput_bit_s"], flows["traffic"], strict=True) if of == name]
        found[f"{name}.throughput"] = stats.mean(each)
        found[f"{name}.in"] = found[f"{name}.out"] = 0.0


def _marks(summary: Mapping[str, Any], found: dict[str, float]) -> None:
    columns = ("class", "colour", "hop", "arrived_packets", "arrived_bytes")
    totals: dict[str, float] = defaultdict(float, in_bytes=0.0)
    for of, colour, hop, packets, size in zip(*(summary[c] for c in columns), strict=True):
        if hop != MARKER_HOP or colour == "unmarked":
            continue
        totals[f"{of}.{'in' if colour == 'green' else 'out'}"] += int(packets)
        totals["in_bytes"] += int(size) if colour == "green" else 0
    found.update(totals)


def _last(series: Mapping[str, Any], quantity: str) -> float:
    values = [float(v) for v, q in zip(series["value"], series["quantity"], strict=True) if q == quantity]
    return values[-1] if values else math.nan


METHOD = Method(measured, AXES, overrides)
