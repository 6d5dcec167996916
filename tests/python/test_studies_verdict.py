"""Verdicts on made-up samples: each outcome can be reached, and only where it should."""

from __future__ import annotations

import math

import pytest

from perhop_studies import verdict
from perhop_studies.verdict import (
    Finding,
    Value,
    at_least,
    at_most,
    greater,
    less_than,
    more_than,
    most,
    near,
    never_below,
    not_below,
    positive,
    surely_below,
    within,
)

FEW, MANY = 3, 10


def around(centre: float, spread: float, n: int) -> list[float]:
    """N values with this mean, alternating by the spread; for odd n one sits in the middle."""
    pairs = [centre + spread * (1 if i % 2 else -1) for i in range(n - n % 2)]
    return pairs + [centre] * (n % 2)


def outcome(*parts: verdict.Part) -> str:
    return Finding(list(parts)).verdict


@pytest.mark.parametrize("n", [FEW, MANY])
def test_a_bound_that_is_clear_is_decided(n: int) -> None:
    assert outcome(at_least("x", around(2, 0.1, n), 1)) == "reproduced"
    assert outcome(at_least("x", around(0, 0.1, n), 1)) == "not reproduced"
    assert outcome(at_most("x", around(0, 0.1, n), 1)) == "reproduced"
    assert outcome(at_most("x", around(2, 0.1, n), 1)) == "not reproduced"
    assert outcome(more_than("x", around(2, 0.1, n), 1)) == "reproduced"


def test_few_seeds_decide_nothing_where_the_interval_holds_the_bound() -> None:
    values = around(1.01, 0.5, FEW)
    assert outcome(at_least("x", values, 1)) == "undecided"
    assert outcome(at_most("x", values, 1)) == "undecided"
    assert outcome(within("x", values, (1, 2))) == "undecided"
    assert outcome(positive("x", around(0.01, 0.5, FEW))) == "undecided"


def test_with_ten_seeds_the_mean_decides_a_bound() -> None:
    assert outcome(at_least("x", around(1.01, 0.5, MANY), 1)) == "reproduced"
    assert outcome(at_most("x", around(1.01, 0.5, MANY), 1)) == "not reproduced"
    assert outcome(at_least("x", [1.0] * MANY, 1)) == "reproduced"
    assert outcome(more_than("x", [1.0] * MANY, 1)) == "not reproduced"


def test_with_ten_seeds_a_comparison_needs_its_whole_interval() -> None:
    assert outcome(positive("x", around(0.01, 0.5, MANY))) == "not reproduced"
    assert outcome(positive("x", around(0.6, 0.5, MANY))) == "reproduced"
    assert outcome(positive("x", around(-0.6, 0.5, FEW))) in ("undecided", "not reproduced")
    assert outcome(positive("x", around(-0.6, 0.01, FEW))) == "not reproduced"


def test_nine_seeds_are_few_and_ten_are_enough() -> None:
    assert outcome(positive("x", around(0.01, 0.5, 9))) == "undecided"
    assert outcome(positive("x", around(0.01, 0.5, 10))) == "not reproduced"


def test_one_seed_never_decides() -> None:
    assert outcome(at_least("x", [5.0], 1)) == "undecided"
    assert outcome(positive("x", [5.0])) == "undecided"
    assert outcome(within("x", [1.5], (1, 2))) == "undecided"


@pytest.mark.parametrize(("mean", "expected"), [(0.9, "not reproduced"), (1.5, "reproduced"), (2.1, "not reproduced")])
def test_a_band_has_two_ends(mean: float, expected: str) -> None:
    assert outcome(within("x", around(mean, 0.2, MANY), (1, 2))) == expected


def test_pairs_are_compared_pair_by_pair() -> None:
    """The sides overlap widely, their differences do not."""
    a = [10.0 * i + 1 for i in range(MANY)]
    b = [10.0 * i for i in range(MANY)]
    assert outcome(greater(Value("a", [x + 0.01 * (i % 2) for i, x in enumerate(a)]), Value("b", b))) == "reproduced"
    assert outcome(greater(Value("b", b), Value("a", a))) == "not reproduced"
    with pytest.raises(ValueError, match="pairs"):
        greater(Value("a", a), Value("b", b[1:]))


def test_an_order_is_as_strong_as_its_weakest_link() -> None:
    low, middle, high = (Value(str(c), around(c, 0.1, MANY)) for c in (1, 2, 3))
    assert outcome(greater(high, middle), greater(middle, low)) == "reproduced"
    assert outcome(greater(high, low), greater(low, middle)) == "not reproduced"


def test_one_failing_condition_fails_a_claim_and_one_open_leaves_it_open() -> None:
    good, bad = at_least("x", [2.0] * MANY, 1), at_least("x", [0.0] * MANY, 1)
    unclear = at_least("x", around(1, 0.5, FEW), 1)
    assert outcome(good, unclear) == "undecided"
    assert outcome(good, unclear, bad) == "not reproduced"
    assert Finding([]).verdict == "reported"


def test_never_below_looks_at_every_single_run() -> None:
    assert outcome(never_below("spare", [5.0, 0.0, 3.0], 0)) == "reproduced"
    assert outcome(never_below("spare", [5.0, -1.0, 3.0], 0)) == "not reproduced"


def test_below_needs_the_mean_and_surely_below_the_whole_interval() -> None:
    values = around(0.9, 0.5, MANY)
    assert outcome(less_than("x", values, 1)) == "reproduced"
    assert outcome(less_than("x", [1.0] * MANY, 1)) == "not reproduced"
    assert outcome(surely_below("x", values, 1)) == "not reproduced"
    assert outcome(surely_below("x", around(0.9, 0.05, MANY), 1)) == "reproduced"
    assert outcome(surely_below("x", around(0.9, 0.5, FEW), 1)) == "undecided"
    assert outcome(surely_below("x", around(1.5, 0.05, FEW), 1)) == "not reproduced"


def test_near_is_about_one() -> None:
    assert outcome(near("x", [1.15] * MANY, 0.15)) == outcome(near("x", [0.85] * MANY, 0.15)) == "reproduced"
    assert outcome(near("x", [1.16] * MANY, 0.15)) == outcome(near("x", [0.84] * MANY, 0.15)) == "not reproduced"
    assert str(near("x", [1.0] * MANY, 0.15)).startswith("x in [0.85, 1.15]")


def test_not_below_forgives_what_the_interval_does() -> None:
    base = [1.0] * MANY
    assert outcome(not_below(Value("a", around(0.99, 0.5, MANY)), Value("b", base))) == "reproduced"
    assert outcome(not_below(Value("a", around(0.9, 0.01, MANY)), Value("b", base))) == "not reproduced"
    assert outcome(not_below(Value("a", around(0.99, 0.5, FEW)), Value("b", base[:FEW]))) == "undecided"
    assert outcome(not_below(Value("a", around(0.9, 0.01, FEW)), Value("b", base[:FEW]))) == "not reproduced"
    assert outcome(not_below(Value("a", around(1.1, 0.01, FEW)), Value("b", base[:FEW]))) == "reproduced"


def test_most_counts_and_stays_open_while_it_can_go_either_way() -> None:
    good, bad = (at_least("x", [c] * MANY, 1) for c in (2.0, 0.0))
    unclear = at_least("x", around(1, 0.5, FEW), 1)
    assert outcome(most("x", [good, good, bad], 2)) == "reproduced"
    assert outcome(most("x", [good, bad, bad], 2)) == "not reproduced"
    assert outcome(most("x", [good, unclear, bad], 2)) == "undecided"
    assert outcome(most("x", [good, good, unclear], 2)) == "reproduced"
    assert most("x", [good, good, bad], 2).interval.mean == 2


def test_what_is_not_a_number_never_passes() -> None:
    broken = [math.nan] * MANY
    parts = [at_least("x", broken, 0), at_most("x", broken, 0), positive("x", broken), within("x", broken, (0, 1))]
    parts += [less_than("x", broken, 0), surely_below("x", broken, 0), near("x", broken, 1)]
    parts.append(not_below(Value("x", broken), Value("y", broken)))
    assert {outcome(part) for part in parts} == {"not reproduced"}
    never = at_most("x", [1.0] * (MANY - 1) + [math.inf], 30)
    assert outcome(never) == "not reproduced"


def test_a_part_says_what_it_is() -> None:
    assert str(at_least("Jain", [0.5, 0.5, 0.5], 0.99)) == "Jain >= 0.99: 0.5 [0.5, 0.5] fails"
