"""Bounds beside the criteria's texts: how they are read, what they say, and that they are the frozen ones."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perhop_studies import Paper, Study
from perhop_studies.bounds import Bounds, Expression, Hold, Measured
from perhop_studies.criteria import Criterion
from perhop_studies.papers import PAPERS, paper
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import Part, Value, at_least, near, positive, surely_below, within

BOUNDED = [
    pytest.param(found, study, criterion, id=f"{study.id}-{criterion.claim}")
    for found in map(paper, PAPERS)
    for study in found.studies
    for criterion in found.criteria().of(study.id)
    if criterion.bounds.holds
]
NUMBER = re.compile(r"\d*\.?\d+")
TEN = [1.0 + 0.01 * i for i in range(10)]
BY_WORD = {
    ("pf-fig6", "fsam-constant-in-n"): {"half": 0.5},
    ("svb-lemma31", "packets"): {"half": 0.5},
    ("redp-fig5", "demoted-in-proportion"): {"tenth": 0.1},
    ("redp-fig5", "dropped-in-proportion"): {"tenth": 0.1},
}
"""Numbers that a text has as words."""
OF_THE_TABLE = ("sio-table1/in-tp-", "sio-table1/out-dp-", "sio-table1/queue-sio")
"""Criteria that name the printed table: its cells are the numbers."""


def read(*holds: str, **entry: Any) -> Bounds:
    return Bounds.read({"holds": list(holds), **entry}, {})


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("F2/F1 >= 2.5", at_least("F2/F1", TEN, 2.5)),
        ("g(F-SAM), n <= 10 in [0.02, .25]", within("g(F-SAM), n <= 10", TEN, (0.02, 0.25))),
        ("q < B >= 0.95", at_least("q < B", TEN, 0.95)),
        ("F1 within 3 % of 1", near("F1", TEN, 0.03)),
        ("F1 within 35 of 175", within("F1", TEN, (140.0, 210.0))),
        ("q within .03 of 0", within("q", TEN, (-0.03, 0.03))),
        ("A+B >= 0.97 * 1.2", at_least("A+B", TEN, 1.164)),
        ("a - b surely > 0", positive("a - b", TEN)),
        ("a/b surely < 1.2", surely_below("a/b", TEN, 1.2)),
    ],
)
def test_a_hold_is_a_label_and_a_bound(text: str, part: Part) -> None:
    hold = Hold.parse(text)
    assert hold.judge(hold.label, TEN) == part


@pytest.mark.parametrize(
    "text", ["", "F1", "F1 >= ", ">= 2", "F1 = 2", "F1 in [1]", "F1 in (1, 2)", "F1 within 2", "F1 >= x"]
)
def test_what_is_no_hold_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(ValueError, match="a hold is"):
        Hold.parse(text)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3))
def test_a_band_has_its_centre_in_the_middle(centre: float, off: float) -> None:
    low, high = Hold.parse(f"x within {off:.6f} of {centre:.6f}").band
    assert low <= high
    assert (low + high) / 2 == pytest.approx(centre, abs=1e-5)


def test_a_star_stands_for_any_text_and_the_label_itself_goes_before() -> None:
    bounds = read("x/e * within 15 % of 1", "x/e B >= 2", "*: sum >= 0")
    values: list[Value | Part] = [
        Value("x/e A", TEN),
        Value("x/e B", TEN),
        Value("a: sum", TEN),
        positive("c", TEN),
        Value("b: sum", TEN),
    ]
    names = [part.name for part in bounds.judge("s/c", Measured(values)).parts]
    assert names == ["x/e A in [0.85, 1.15]", "x/e B >= 2", "a: sum >= 0", "c > 0", "b: sum >= 0"]


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        (["F1 >= 1"], "s/c: `F2` has no bound in `holds`; near: `F1`"),
        (["F* >= 1", "*2 >= 1"], "s/c: `F2` has 2 bounds"),
        (["F2 >= 1", "F3 >= 1"], "s/c: nothing measured is called `F3`: F2"),
    ],
)
def test_each_value_has_one_bound_and_each_bound_a_value(holds: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        read(*holds).judge("s/c", Measured([Value("F2", TEN)]))


def runs() -> Samples:
    """Two markers, three replications."""
    rows = [("basic", 2.0), ("rtt", 4.0)]
    return Samples(
        Sample(
            "r", {"marker": marker, "n": 5}, i, {"F1": x + i, "in.rate": 10 * x, "drop ratio": 0.5, "F2": x * (i + 1)}
        )
        for marker, x in rows
        for i in range(3)
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("F1", [2.0, 3.0, 4.0]),
        ("F2/F1", [1.0, 4 / 3, 1.5]),
        ("100 * 'in.rate'(marker='rtt') / 1e3 - .5", [3.5] * 3),
        ("in_rate if 0 else F1", None),
        ("-F1 + 'drop ratio' * 2", [-1.0, -2.0, -3.0]),
        ("F1(marker='rtt') - F1", [2.0] * 3),
        ("max(F1, F2) / min(F1, F2)", [1.0, 4 / 3, 1.5]),
        ("mean(F1, F2, 0)", [4 / 3, 7 / 3, 10 / 3]),
        ("jain(F1, F1)", [1.0] * 3),
        ("F1(runs='r', n=5)", [2.0, 3.0, 4.0]),
    ],
)
def test_an_expression_is_worked_out_replication_by_replication(text: str, values: list[float] | None) -> None:
    expression = Expression("s/c", text)
    if values is None:
        with pytest.raises(ValueError, match="neither a number nor a quantity"):
            expression.values(runs(), {"marker": "basic"})
    else:
        assert expression.values(runs(), {"marker": "basic"}) == pytest.approx(values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("F11", "s/c: `F11`: no quantity `F11` at column 1: did you mean `F1`?"),
        ("1 + drop.ratoi", "no quantity `drop.ratoi` at column 5: did you mean `drop ratio`?"),
        ("F1 +", "s/c: `F1 +`: invalid syntax"),
        ("F1(marker=F2)", "runs are named as in (n=200) at column 1"),
        ("F1(5)", "neither a number nor a quantity at column 1"),
        ("print('x')", "neither a number nor a quantity at column 1"),
        ("__import__('os').system('x')", "neither a number nor a quantity"),
        ("F1 ** 2", "neither a number nor a quantity"),
        ("1 + 1", "a number alone measures nothing"),
    ],
)
def test_what_is_no_expression_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        Expression("s/c", text).values(runs(), {"marker": "basic"})


def test_runs_that_are_not_there_are_named() -> None:
    with pytest.raises(LookupError, match="no runs at"):
        Expression("s/c", "F1(n=7)").values(runs(), {"marker": "basic"})


def test_bounds_on_quantities_are_at_the_criterions_point() -> None:
    bounds = read("F1 >= 1", "rate of {set} <= 50", measures={"rate of {set}": "'in.rate'"}, of={"marker": "{set}"})
    found = bounds.of_quantities("s/c", runs(), {"set": "rtt", "n": 5})
    assert [part.interval.mean for part in found.parts] == [5.0, 40.0]
    assert [part.name for part in found.parts] == ["F1 >= 1", "rate of {set} <= 50"]


def test_a_study_measures_once_what_several_criteria_bound() -> None:
    study = Study("s", title="", runs="r")

    @study.measures
    def both(runs: Samples) -> list[Value]:
        return [Value("F1", runs.values("F1", marker="rtt")), Value("F2", runs.values("F2", marker="rtt"))]

    def judged(*holds: str, **entry: Any) -> list[str]:
        criterion = Criterion("s", "c", "hard", "text", rule="c", bounds=read(*holds, **entry))
        return [part.name for part in study.judge(criterion, runs()).parts]

    assert judged("F2 >= 1") == ["F2 >= 1"]
    assert judged("F* >= 1") == ["F1 >= 1", "F2 >= 1"]
    assert judged("F1 + F2 >= 1", of={"marker": "rtt"}) == ["F1 + F2 >= 1"]
    with pytest.raises(ValueError, match="nothing measured is called `F3`"):
        judged("F1 >= 1", "F3 >= 1")


def test_a_function_may_judge_several_criteria_and_none_has_two() -> None:
    study = Study("s", title="", runs="r")
    study.claim("a", "b")(lambda runs: Measured([Value("F1", runs.values("F1", marker="rtt"))]))
    with pytest.raises(ValueError, match="s/b has a claim already"):
        study.claim("b")(lambda _: Measured([]))
    found = study.judge(Criterion("s", "b", "hard", "text", rule="b", bounds=read("F1 >= 1")), runs())
    assert [part.name for part in found.parts] == ["F1 >= 1"]


def test_without_a_claim_and_without_bounds_nothing_is_judged() -> None:
    study = Study("s", title="", runs="r")
    with pytest.raises(LookupError, match="s/c: neither a claim nor `holds`"):
        study.judge(Criterion("s", "c", "hard", "text", rule="c"), runs())


def numbers(text: str) -> set[float]:
    """Those of a text: a share in percent is a share, too, "within 5 %" is up to 1.05, and Mb/s are kb/s."""
    found = {float(x) for x in NUMBER.findall(text)}
    found |= {1000 * x for x in found} if "Mb/s" in text else set()
    shares = {float(x) / 100 for x in re.findall(rf"({NUMBER.pattern}) ?%", text)}
    return found | shares | {1 - x for x in shares} | {1 + x for x in shares}


@pytest.mark.parametrize(("found", "study", "criterion"), BOUNDED)
def test_each_bounds_numbers_stand_in_the_frozen_text(found: Paper, study: Study, criterion: Criterion) -> None:
    """So that neither can change alone; 0 and 1 as what something is compared with need not be there."""
    stated = numbers(criterion.text) | {0.0, 1.0} | set(BY_WORD.get((study.id, criterion.rule), {}).values())
    if f"{study.id}/{criterion.rule}".startswith(OF_THE_TABLE):
        stated |= {cell.published for cell in found.criteria().table(study.id)}
    for hold in criterion.bounds.holds:
        bound = {float(x) for x in NUMBER.findall(hold.text[len(hold.label) :])}
        assert bound <= stated, (hold.text, criterion.text)


@pytest.mark.parametrize(("found", "study", "criterion"), BOUNDED)
def test_bounds_are_of_what_is_judged(found: Paper, study: Study, criterion: Criterion) -> None:
    assert criterion.kind != "report", (found.name, study.id)


@pytest.mark.parametrize("hold", ["x / y >= 0", "x / y <= 9", "x / y surely > 0", "x / y not surely < 0"])
def test_a_share_of_nothing_meets_no_bound(hold: str) -> None:
    runs = Samples(Sample("r", {}, n, {"x": 1.0, "y": float(n % 2)}) for n in range(10))
    assert read(hold, of={"runs": "r"}).of_quantities("a/b", runs, {}).verdict == "not reproduced"
