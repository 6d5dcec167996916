"""Statistics against SciPy and hand-computed values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from perhop import stats
from perhop_studies import measures

SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


@pytest.mark.parametrize("freedom", [*range(1, 31), 99, 1000])
@pytest.mark.parametrize("p", [0.5, 0.75, 0.95, 0.975, 0.995, 0.9995])
def test_t_quantiles_are_scipys(freedom: int, p: float) -> None:
    """Rounded to 12 decimals; both sides are exact to about 1e-12."""
    assert stats.t_quantile(p, freedom) == pytest.approx(scipy_stats.t.ppf(p, freedom), rel=1e-11, abs=1e-11)


@given(t=st.floats(0, 50), freedom=st.integers(1, 200))
def test_t_tails_are_scipys(t: float, freedom: int) -> None:
    """SciPy's own error is up to 2e-11: it shows near t = 0 against the closed form of one degree of freedom."""
    assert stats.t_tail(t, freedom) == pytest.approx(scipy_stats.t.sf(t, freedom), abs=1e-10)


@given(t=st.floats(0, 1e6))
def test_t_tails_of_one_and_two_degrees_in_closed_form(t: float) -> None:
    assert stats.t_tail(t, 1) == pytest.approx(0.5 - math.atan(t) / math.pi, abs=1e-15)
    assert stats.t_tail(t, 2) == pytest.approx((1 - t / math.sqrt(2 + t * t)) / 2, abs=1e-15)


@pytest.mark.parametrize(("p", "freedom"), [(0.4, 3), (1.0, 3), (0.9, 0)])
def test_quantiles_out_of_range_are_refused(p: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="t quantile"):
        stats.t_quantile(p, freedom)


@given(SAMPLES)
def test_intervals_are_scipys(sample: list[float]) -> None:
    found = stats.interval(sample)
    error = scipy_stats.sem(sample)
    half = scipy_stats.t.ppf(0.975, len(sample) - 1) * error
    scale = max(1.0, *(abs(x) for x in sample))
    assert found.mean == pytest.approx(math.fsum(sample) / len(sample))
    assert found.half == pytest.approx(half, rel=1e-9, abs=1e-9 * scale)
    assert found.n == len(sample)


def test_a_printed_interval() -> None:
    """t(0.975, 2) = 4.302653 from printed tables; the deviation of 1, 2, 3 is 1."""
    found = stats.interval([1.0, 2.0, 3.0])
    assert (found.mean, found.n) == (2.0, 3)
    assert found.half == pytest.approx(4.302653 / math.sqrt(3), abs=1e-6)
    assert found.contains(0.0)
    assert found.above(-0.5)
    assert found.below(4.5)
    assert not found.above(0.0)


def test_one_value_has_no_interval() -> None:
    found = stats.interval([7.0])
    assert found.mean == 7.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(stats.interval([]).mean)


def test_what_is_not_known_spreads() -> None:
    assert math.isnan(stats.interval([1.0, math.nan, 2.0]).low)


@given(SAMPLES, st.randoms())
def test_sums_do_not_depend_on_the_order(sample: list[float], random: object) -> None:
    shuffled = list(sample)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert stats.interval(shuffled) == stats.interval(sample)


@given(SAMPLES)
def test_paired_p_values_are_scipys(sample: list[float]) -> None:
    other = [x * 0.5 + i for i, x in enumerate(sample)]
    if stats.deviation(stats.differences(sample, other)) > 1e-6:
        expected = scipy_stats.ttest_rel(other, sample).pvalue
        assert stats.paired_p(sample, other) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_pairs_that_are_alike() -> None:
    assert stats.paired_p([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert stats.paired_p([1.0, 2.0], [2.0, 3.0]) == 0.0
    assert stats.paired([1.0, 2.0], [2.0, 3.0]).mean == 1.0
    assert math.isnan(stats.paired_p([1.0], [2.0]))


def test_what_is_not_a_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="3 values against 2"):
        stats.paired([1.0, 2.0, 3.0], [1.0, 2.0])


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50))
def test_jain_lies_between_one_share_and_equal_shares(shares: list[float]) -> None:
    index = measures.jain(shares)
    if any(share > 1e-150 for share in shares):
        assert 1 / len(shares) * (1 - 1e-12) <= index <= 1 + 1e-12


def test_jain_by_hand() -> None:
    assert measures.jain([3.0, 3.0, 3.0]) == 1.0
    assert measures.jain([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert measures.jain([1.0, 3.0]) == pytest.approx(16 / 20)
    assert math.isnan(measures.jain([0.0, 0.0]))
    assert math.isnan(measures.jain([]))


def test_holm_by_hand() -> None:
    """0.01 x 4; 0.02 x 3; 0.03 x 2 and 0.04 x 1 below the one before them, so as large as it."""
    assert stats.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0]
    assert stats.holm([]) == []


PAIRS = st.lists(st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)), min_size=3, max_size=30)


@given(PAIRS)
def test_correlations_and_slopes_are_scipys(pairs: list[tuple[int, int]]) -> None:
    """Whole numbers up to 1000: ties are exact, and sums of squares lose nothing."""
    x, y = ([float(pair[i]) for pair in pairs] for i in (0, 1))
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert measures.correlation(x, y) == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-9)
        assert measures.spearman(x, y) == pytest.approx(scipy_stats.spearmanr(x, y).statistic, abs=1e-9)
        assert measures.slope(x, y) == pytest.approx(scipy_stats.linregress(x, y).slope, abs=1e-9)
    assert measures.ranks(x) == list(scipy_stats.rankdata(x))


def test_what_does_not_vary_has_no_correlation() -> None:
    assert math.isnan(measures.correlation([1.0, 1.0], [1.0, 2.0]))


def test_a_line_through_the_origin_by_hand() -> None:
    """y = 2x exactly; then (1, 1), (2, 3): b = 7/5, residuals -0.4 and 0.2, sum of squares 0.2 of 2."""
    assert measures.through_origin([1, 2, 3], [2, 4, 6]) == (2.0, 1.0)
    b, r2 = measures.through_origin([1, 2], [1, 3])
    assert b == pytest.approx(1.4)
    assert r2 == pytest.approx(0.9)
