"""The rule that chose the answers a1, a2, a3, a5 and a7: a grid on Fig. 2 and 3, under the frozen a9.

`scripts/docs/pam_answers.py` runs every combination of a marker's answers, 50 replications each, and keeps a row of
each in `records/grid.jsonl`. Of these the rule takes

1. the unit of the burst (a1) whose IN totals of Fig. 2 miss the printed ones by the least, over all rows;
2. of the rows with that unit those that keep every invariant, and of PAM's those with the smallest weight (a2);
3. of the rest the row with the smallest sum of squared errors of the flows' IN shares against the printed tables:
   Fig. 2 with jittered UDP, Fig. 3 with constant gaps.

| invariant     | of    | is                                                                                       |
|---------------|-------|------------------------------------------------------------------------------------------|
| `bucket`      | all   | IN bytes <= CIR T + CBS in each run                                                      |
| `used`        | PAM   | IN rate >= .95 CIR                                                                       |
| `forced`      | PAM   | packets chosen IN that find no token: less than .5 %                                     |
| `alike`       | PAM   | Fig. 3 jittered, each flow over all runs: |f_i/f - 1| <= .05 + 3 sqrt((1 - f) / (N_i f)) |
| `fixed point` | PAM   | P_max >= 1 - CIR/load in both figures. Added when the first grid showed a tie            |
| `equal`       | F-SAM | Fig. 3 jittered: each share within 10 % of a third, Jain's index >= .98                  |
| `supplied`    | F-SAM | IN rate within 10 % of CIR                                                               |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from perhop import stats
from perhop_studies import Paper
from perhop_studies import runs as simulation
from perhop_studies.pam_fsam.terms import FSAM, PAM, TB
from perhop_studies.pam_fsam.tokens import CIR, DURATION, FLOWS, ROWS
from perhop_studies.quantities import Tables, groups
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Samples

GRID = {TB: ("a1",), PAM: ("a1", "a2", "a3"), FSAM: ("a1", "a5", "a7")}
DRAWS = 50
FIG2, FIG3, FIG3_STRICT = ("pf-fig2", "jittered"), ("pf-fig3", "jittered"), ("pf-fig3", "strict")
FITTED = (FIG2, FIG3_STRICT)
FIXED_POINT = 0.93
"""1 - CIR/load of Fig. 3; that of Fig. 2 is .80."""
SUPPLY = CIR * DURATION
SAMPLE = {"scenario.sample": f"{DURATION - 1}s"}
"""A series, for the packets that were forced OUT."""

Row = Mapping[str, Any]
"""Of the grid: `marker`, its answers, `errors`, `in_total` (packets), `used`, `forced`, the invariants in `broken`."""


def chosen(rows: Iterable[Row], printed: Mapping[str, float]) -> dict[str, str]:
    """What the rule takes; `printed` are the IN totals of Fig. 2 by marker."""
    listed = list(rows)

    def miss(unit: str) -> float:
        return stats.mean(abs(row["in_total"] - printed[row["marker"]]) for row in listed if row["a1"] == unit)

    unit = min(dict.fromkeys(row["a1"] for row in listed), key=miss)
    answers: dict[str, str] = {}
    for marker, ids in GRID.items():
        sound = [row for row in listed if row["marker"] == marker and row["a1"] == unit and not row["broken"]]
        least = min(float(row.get("a2", 0)) for row in sound)
        best = min((row for row in sound if float(row.get("a2", 0)) == least), key=lambda row: float(row["errors"]))
        answers |= {name: best[name] for name in ids}
    return answers


def printed_totals(paper: Paper) -> dict[str, float]:
    """The IN packets that Fig. 2 prints, by marker."""
    return {marker: math.fsum(_printed(paper, FIG2[0], marker)) for marker in GRID}


def grid(paper: Paper, budget: Budget, say: Callable[[str], None]) -> Iterator[Row]:
    """Runs it, a row each."""
    wanted = (FIG2, FIG3, FIG3_STRICT)
    sets = [_counting_forced(one) for one in paper.runs() if (one.name, one.at.get("arrivals")) in wanted]
    for marker, ids in GRID.items():
        for values in product(*(paper.readings()[name].values for name in ids)):
            answers = dict(zip(ids, values, strict=True))
            say(f"{marker}: {', '.join(f'{name} = {value}' for name, value in answers.items())}")
            yield {"marker": marker, **answers, **_Runs.of(paper, sets, marker, answers, budget).row(paper)}


def _counting_forced(one: RunSet) -> RunSet:
    plain = one.method.quantities

    def quantities(tables: Tables) -> dict[str, float]:
        forced = groups(tables["series"], "value", where={"quantity": "forced_out_packets"}).values()
        return {**plain(tables), "forced": sum(values[-1] for values in forced)}

    method = replace(one.method, quantities=quantities)
    return replace(one, draws=DRAWS, method=method, settings={**one.settings, **SAMPLE})


@dataclass(frozen=True)
class _Runs:
    """Those of one marker with its answers."""

    marker: str
    answers: Mapping[str, str]
    samples: dict[tuple[str, str], Samples]

    @classmethod
    def of(cls, paper: Paper, sets: list[RunSet], marker: str, answers: Mapping[str, str], budget: Budget) -> _Runs:
        readings = paper.readings()

        def laid(one: RunSet) -> RunSet:
            keys = [paper.answer(readings[name], value, one) for name, value in answers.items()]
            return replace(one, settings={**one.settings, **dict(chain.from_iterable(x.items() for x in keys))})

        jobs = simulation.prepare(map(laid, sets), budget)
        mine = [part for job in jobs for part in job.narrowed(lambda place: place.at["marker"] == marker)]
        found = simulation.simulate(mine, budget, lambda *_: None)
        keys = {(one.runs, one.at["arrivals"]) for one in found}
        return cls(marker, answers, {k: Samples(s for s in found if (s.runs, s.at["arrivals"]) == k) for k in keys})

    def row(self, paper: Paper) -> Row:
        """What is kept of them."""
        ins = [sum(flows) for flows in zip(*self._each(FIG2, "in"), strict=True)]
        return {
            "errors": round(math.fsum(self._error(paper, where) for where in FITTED), 5),
            "in_total": round(stats.mean(ins)),
            "used": round(self._used, 3),
            "forced": round(self._forced, 5),
            "broken": [name for name, kept in self._invariants().items() if not kept],
        }

    def _each(self, where: tuple[str, str], what: str) -> list[list[float]]:
        return [self.samples[where].values(f"{flow}.{what}") for flow in FLOWS[where[0]]]

    def _shares(self, where: tuple[str, str]) -> list[float]:
        return [stats.mean(values) for values in self._each(where, "share")]

    def _error(self, paper: Paper, where: tuple[str, str]) -> float:
        printed = _printed(paper, where[0], self.marker)
        ours = self._shares(where)
        return math.fsum((x - p / sum(printed)) ** 2 for x, p in zip(ours, printed, strict=True))

    @property
    def _used(self) -> float:
        return stats.mean(self.samples[FIG2].values("in_bytes")) / SUPPLY

    @property
    def _forced(self) -> float:
        packets = [sum(x) for x in zip(*self._each(FIG2, "in"), *self._each(FIG2, "out"), strict=True)]
        return stats.mean(f / n for f, n in zip(self.samples[FIG2].values("forced"), packets, strict=True))

    def _invariants(self) -> dict[str, bool]:
        of = {TB: dict[str, bool], PAM: self._pam, FSAM: self._fsam}[self.marker]
        return {"bucket": all(map(self._within_supply, self.samples)), **of()}

    def _within_supply(self, where: tuple[str, str]) -> bool:
        runs = self.samples[where]
        return all(x <= SUPPLY + cbs for x, cbs in zip(runs.values("in_bytes"), runs.values("cbs"), strict=True))

    def _pam(self) -> dict[str, bool]:
        return {
            "used": self._used >= 0.95,
            "forced": self._forced < 0.005,
            "alike": self._alike(),
            "fixed point": float(self.answers["a3"]) >= FIXED_POINT,
        }

    def _alike(self) -> bool:
        ins, outs = ([sum(flow) for flow in self._each(FIG3, what)] for what in ("in", "out"))
        n = [i + o for i, o in zip(ins, outs, strict=True)]
        f = sum(ins) / sum(n)
        return all(abs(i / k / f - 1) <= 0.05 + 3 * math.sqrt((1 - f) / (k * f)) for i, k in zip(ins, n, strict=True))

    def _fsam(self) -> dict[str, bool]:
        even = all(abs(3 * share - 1) <= 0.1 for share in self._shares(FIG3))
        return {
            "equal": even and stats.mean(self.samples[FIG3].values("jain.in")) >= 0.98,
            "supplied": abs(self._used - 1) <= 0.1,
        }


def _printed(paper: Paper, study: str, marker: str) -> list[float]:
    cells = paper.criteria().table(study)
    return [one.published for one in cells if ROWS[one.row] == marker and one.column.endswith(" IN")]
