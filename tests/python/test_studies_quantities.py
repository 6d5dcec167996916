"""Groups of a table's rows, against the same by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perhop_studies.quantities import each, groups, means, sums, total

TABLE: dict[str, Any] = {
    "hop": np.array(["A -> B", "A -> C", "B -> A", "A -> B"], dtype=object),
    "colour": ["green", "red", None, "green"],
    "packets": np.array([1, 2, 3, 4]),
    "wait": [0.5, None, 1.5, 2.5],
}


def test_sums_by_one_column_and_by_several() -> None:
    assert sums(TABLE, "packets", by="hop") == {"A -> B": 5.0, "A -> C": 2.0, "B -> A": 3.0}
    both = {("A -> B", "green"): 5.0, ("A -> C", "red"): 2.0, ("B -> A", None): 3.0}
    assert sums(TABLE, "packets", by=("hop", "colour")) == both
    assert sums(TABLE, "packets", by="hop")["nowhere"] == 0.0
    assert total(TABLE, "packets") == 10.0


def test_groups_may_be_made_of_what_a_column_says() -> None:
    by: dict[str, Any] = {"hop": lambda hop: hop.split()[0], "colour": str}
    assert sums(TABLE, "packets", by=by) == {("A", "green"): 5.0, ("A", "red"): 2.0, ("B", "None"): 3.0}


def test_only_rows_that_count_are_taken() -> None:
    assert sums(TABLE, "packets", by="hop", where={"colour": "green"}) == {"A -> B": 5.0}
    assert total(TABLE, "packets", where={"hop": lambda hop: hop.startswith("A"), "colour": "red"}) == 2.0
    assert total(TABLE, "packets", where={"colour": None}) == 3.0
    assert groups(TABLE, "packets", where={"hop": "nowhere"}) == {}


def test_what_is_missing_is_not_a_number() -> None:
    assert math.isnan(sums(TABLE, "wait", by="hop")["A -> C"])
    assert means(TABLE, "wait", by="hop", where={"colour": "green"}) == {"A -> B": 1.5}


def test_a_table_with_a_row_a_name() -> None:
    table = {"traffic": ["a", "b"], "goodput_bit_s": [1.0, 2.0], "flows": [3, 4]}
    found = each(table, {"rate": "goodput_bit_s", "n": "flows"}, by="traffic")
    assert found == {"a.rate": 1.0, "b.rate": 2.0, "a.n": 3.0, "b.n": 4.0}


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(IndexError):
        sums({"hop": ["A"], "packets": [1, 2]}, "packets", by="hop")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 2**40))))
def test_sums_are_those_of_a_counter(rows: list[tuple[str, str, int]]) -> None:
    table = {name: [row[i] for row in rows] for i, name in enumerate(("one", "two", "n"))}
    counted, only = Counter[tuple[str, str]](), Counter[str]()
    for one, two, n in rows:
        counted[one, two] += n
        only[one] += n * (two == "x")
    assert dict(sums(table, "n", by=("one", "two"))) == dict(counted)
    assert sum(sums(table, "n", by="one", where={"two": "x"}).values()) == only.total()
