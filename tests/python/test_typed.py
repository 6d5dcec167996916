"""Configurations as people type them beside a kernel: the record, and the page that it makes."""

from __future__ import annotations

import os

import typed
import typed_page
from typed import Row


def test_what_is_recorded_is_there() -> None:
    files = {file.stem for file in typed.TYPED.glob("*.tc")}
    assert {it.name for it in typed.recorded()} <= files
    assert all(typed.line_of(typed.TYPED / f"{name}.tc").endswith("bit/s") for name in files)


def test_a_verdict_asks_for_fates_times_and_goodput() -> None:
    port = {"came": 9.0, "other fate": 0.0, "other mark": 0.0, "apart ns": 5.0}

    def found(apart_ns: float, goodput: float, lost: float = 0.0) -> typed_page.Verdict:
        rows = [Row("a", 1, "datagrams", what, None, it) for what, it in (port | {"apart ns": apart_ns}).items()]
        rows += [Row("a", 1, "alone 1:", "lost", 0.0, lost), Row("a", 1, "1:", "goodput", goodput, 100.0)]
        return typed_page.verdict("a", rows)

    assert (found(256, 105).datagrams, found(256, 105).good) == ("exact", True)
    assert (found(257, 105).datagrams, found(257, 105.1).tcp) == ("within", False)
    assert (found(257, 95, 0.02).datagrams, found(257, 95, 0.02).good) == ("apart", False)


def test_the_page_is_what_the_record_says() -> None:
    if os.environ.get("PERHOP_RENEW"):
        typed_page.main()
    text = typed_page.text(typed_page.verdicts())
    assert typed_page.PAGE.read_text(encoding="utf-8") == text, "python3 lab/recording/typed_page.py writes it again"
