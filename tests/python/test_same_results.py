"""Every example, study scenario and capture gives what is on record; `make same-results` compares quantities, too."""

from __future__ import annotations

import numpy as np
import pytest

from same.__main__ import check
from same.record import compare, of_table

RECORDED = {"a.toml": {"flows": {"rows": "1", "sent": "aa", "lost": "bb"}, "links": {"rows": "0"}}}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["tables", "captures"])
def test_results_are_those_on_record(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = check(part)
    assert found.none, f"{capsys.readouterr().out}if that is intended: make renew WHAT=results"


def test_a_changed_and_a_missing_column_are_found_and_a_new_one_is_only_listed() -> None:
    now = {"a.toml": {"flows": {"rows": "1", "sent": "ab", "marked": "cc"}, "links": {"rows": "0"}, "hops": {"x": "1"}}}
    found = compare(RECORDED, now)
    assert found.changed == [("a.toml", "flows", "sent")]
    assert found.gone == ["a.toml, flows, lost"]
    assert found.new == ["a.toml, flows, marked", "a.toml, hops"]
    assert not found.none


def test_a_scenario_that_is_gone_is_one_line() -> None:
    assert compare(RECORDED, {}).gone == ["a.toml"]
    assert compare({}, RECORDED).none


def test_a_hash_sees_the_value_its_kind_and_the_order_of_rows() -> None:
    columns = [np.array(v) for v in ([1, 2], [2, 1], [1.0, 2.0], [1.0, np.nextafter(2.0, 3)])]
    texts = [np.array(v, dtype=object) for v in (["a", "b"], ["b", "a"], ["a,b", ""])]
    assert len({of_table({"x": column})["x"] for column in [*columns, *texts]}) == 7
