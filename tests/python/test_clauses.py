"""Where a rule comes from a sentence of an RFC, code and test name the clause: each in one is in the other."""

from __future__ import annotations

import re
from pathlib import Path

CRATES = Path(__file__).resolve().parents[2] / "crates"

#: Comment marks and line ends between the words of a clause.
GAP = r"(?:\s|//[/!]?)+"
NUMBER = r"\d+(?:\.\d+)*"
CLAUSE = re.compile(rf"RFC{GAP}(\d+){GAP}sections?{GAP}({NUMBER}(?:(?:,|{GAP}and|,{GAP}and){GAP}{NUMBER})*)")

#: What separates a file's code from its own tests.
TESTS = "#[cfg(test)]"


def clauses(text: str) -> set[str]:
    """`RFC 6298 section 2.3` for each clause that a text names, alone or in a list."""
    return {
        f"RFC {rfc} section {number}" for rfc, numbers in CLAUSE.findall(text) for number in re.findall(NUMBER, numbers)
    }


def named() -> tuple[set[str], set[str]]:
    """The clauses that the code of core and sim names, and those that their tests name."""
    code, tests = set[str](), set[str]()
    for crate in ("core", "sim"):
        for path in (CRATES / crate / "src").rglob("*.rs"):
            source, _, own = path.read_text().partition(TESTS)
            code |= clauses(source)
            tests |= clauses(own)
        for path in (CRATES / crate / "tests").rglob("*.rs"):
            tests |= clauses(path.read_text())
    return code, tests


def test_a_clause_is_read_in_any_layout() -> None:
    text = "(RFC 6298 sections 2.2, 2.3 and\n    /// 5), RFC\n//! 3168 section 6.1.2: the RFC 793, RFC 1122"
    found = {"RFC 6298 section 2.2", "RFC 6298 section 2.3", "RFC 6298 section 5", "RFC 3168 section 6.1.2"}
    assert clauses(text) == found


def test_each_clause_is_named_by_code_and_test() -> None:
    code, tests = named()
    assert len(code) > 20
    assert sorted(code - tests) == [], "clauses that no test names"
    assert sorted(tests - code) == [], "clauses that only a test names"
