"""The rule that chose the answers a1, a2, a3, a5 and a7: a grid on Fig. 2 and 3, under the frozen a9.

Every combination of a marker's answers was run, 50 replications each; `records/grid.jsonl` has a row of each. Of these
the rule takes

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
from collections.abc import Iterable, Mapping
from typing import Any

from perhop import stats
from perhop_studies import Paper
from perhop_studies.pam_fsam.terms import FSAM, PAM, TB
from perhop_studies.pam_fsam.tokens import ROWS

GRID = {TB: ("a1",), PAM: ("a1", "a2", "a3"), FSAM: ("a1", "a5", "a7")}

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
    cells = [one for one in paper.criteria().table("pf-fig2") if one.column.endswith(" IN")]
    return {marker: math.fsum(one.published for one in cells if ROWS[one.row] == marker) for marker in GRID}
