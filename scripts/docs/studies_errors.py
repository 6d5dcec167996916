"""How often early looks at seeds err: the table of docs/reports/studies/settings.md, from planted normal draws.

$ python scripts/docs/studies_errors.py
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from perhop_studies.reproduce import FIRST
from perhop_studies.verdict import FULL, Part, Values, at_least, positive

PAGE = Path(__file__).parents[2] / "docs/reports/studies/settings.md"
BEGIN, END = "<!-- errors: scripts/docs/studies_errors.py -->\n", "<!-- end of errors -->\n"
KINDS = {"comparison": positive, "bound": lambda name, values: at_least(name, values, 0.0)}
"""A condition that asks for the whole interval, and one that asks for the mean; both that it is above zero."""
MEANS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
"""Distances from the bound in standard deviations of a seed."""
DRAWS = 30_000
STATED = {
    "an early look decides for the side on which the true mean is not": 0.01,
    "the verdict is not the one that all ten seeds give": 0.02,
    "the verdict depends on the order in which seeds arrive": 0.04,
}
"""Of two orders that disagree one at least differs from what all ten seeds give: twice as often at most."""


class Errors(NamedTuple):
    """Shares of the draws, in the order of `STATED`."""

    wrong: float
    other: float
    by_order: float


def judged(kind: str, values: Values) -> Part:
    """The condition on these seeds."""
    return KINDS[kind]("x", values)


def decide(kind: str, values: Values) -> tuple[bool | None, int]:
    """Whether the condition holds by the first look that decides, and the number of seeds of that look."""
    looks = [(judged(kind, values[:n]).holds, n) for n in (*FIRST, FULL)]
    return next((look for look in looks if look[0] is not None), looks[-1])


def errors(kind: str, mean: float, draws: int) -> Errors:
    """Of so many draws of ten seeds, normal about a mean at or above the bound."""
    rng = random.Random(f"{kind} {mean}")
    wrong = other = by_order = 0
    for _ in range(draws):
        values = [rng.gauss(mean, 1.0) for _ in range(FULL)]
        holds, after = decide(kind, values)
        wrong += after < FULL and holds is False
        other += holds != judged(kind, values).holds
        by_order += holds != decide(kind, values[::-1])[0]
    return Errors(wrong / draws, other / draws, by_order / draws)


def table() -> str:
    """The largest of each error, of either kind of condition at any distance."""
    found = {(kind, mean): errors(kind, mean, DRAWS) for kind in KINDS for mean in MEANS}
    lines = ["| error of a condition | stated: at most | largest measured |", "|---|---|---|"]
    for i, (name, stated) in enumerate(STATED.items()):
        (kind, mean), most = max(found.items(), key=lambda one: one[1][i])
        at = f"{kind}, {mean:g} standard deviations from it" if mean else f"{kind}, at the bound itself"
        lines.append(f"| {name} | {100 * stated:.0f} % | {100 * most[i]:.1f} % ({at}) |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with a new table."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
