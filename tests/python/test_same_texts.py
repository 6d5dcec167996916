"""What perhop prints of a few texts is on record, and a changed byte is seen; `make same-texts` compares all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from same_texts import corpora, record, within
from same_texts.__main__ import PROGRAM, check_public, write_public
from same_texts.comparison import Comparison
from same_texts.program import Asker, cut
from same_texts.texts import Text, tree
from same_texts.verbs import LINES

RECORDED = {"a.toml": {"check": "aa", "run": "bb"}, f"{record.WITHIN}1f.toml": {"check": "cc"}}
SOME = [
    Text("examples/branch.sh", "configuration"),
    Text("examples/mark-af.toml", "scenario"),
    Text("examples/red.toml", "scenario"),
    Text("tests/captures/udp-ns.pcap", "capture"),
    Text("red", "listed"),
]


def test_a_changed_and_a_missing_answer_are_found_and_a_new_one_is_only_listed() -> None:
    found = record.compare(RECORDED, {"a.toml": {"check": "ab", "explain": "dd"}, "b.toml": {"check": "ee"}})
    assert found.changed == [("a.toml", "check")]
    assert found.gone == ["a.toml: run"]
    assert found.new == ["b.toml", "a.toml: explain"]
    assert found.left == [f"{record.WITHIN}1f.toml"]
    assert not found.none


def test_the_page_of_configurations_has_the_sums_of_the_public_files() -> None:
    recorded = [verbs for verbs in record.read("corpora").values() if "check" in verbs]
    read = [verbs[LINES] for verbs in recorded if LINES in verbs]
    counts = [[int(part.split()[0]) for part in lines.split(", ")] for lines in read]
    taken, near, lost = (sum(column) for column in zip(*counts, strict=True))
    page = " ".join((ROOT / "docs/decisions/118-configurations-are-one-neutral-model.md").read_text().split())
    assert f"has {len(recorded)} public configurations by name. {len(read)} of them are read" in page
    counts_of = f"{taken} are taken, {near} approximated, {lost} not modelled"
    assert f"Of their {taken + near + lost} lines that speak of QoS {counts_of}" in page


def test_a_text_within_another_file_may_go() -> None:
    assert record.compare(RECORDED, {"a.toml": RECORDED["a.toml"]}).none


@pytest.mark.parametrize("answer", [(1, b"a", b""), (0, b"b", b""), (0, b"", b"a"), (0, b"a", b"a")])
def test_a_hash_sees_the_exit_code_and_both_outputs(answer: tuple[int, bytes, bytes]) -> None:
    assert record.of_answer(*answer) != record.of_answer(0, b"a", b"")


def test_answers_are_those_on_record_and_a_changed_byte_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    whole = record.read("texts")
    known = {text.called: whole[text.called] for text in SOME}
    assert Comparison(Asker(PROGRAM), SOME, known).none_differs(), (
        f"{capsys.readouterr().out}if that is intended: make renew WHAT=texts"
    )
    del known["list red"]
    known["examples/red.toml"] = known["examples/red.toml"] | {
        "explain --as ios": "0" * 12,
        "Scenario.as_tc()": "0" * 12,
    }
    assert not Comparison(Asker(PROGRAM), SOME, known, against=PROGRAM).none_differs()
    assert capsys.readouterr().out.splitlines() == [
        "new: list red",
        "changed: examples/red.toml: explain --as ios",
        "  perhop explain --as ios examples/red.toml",
        "  the same in both builds",
        "changed: examples/red.toml: Scenario.as_tc()",
        "  python -m same_texts --answer examples/red.toml 'Scenario.as_tc()'",
        "  the same in both builds",
    ]


def test_the_first_line_that_differs_from_another_build_is_printed(tmp_path: Path) -> None:
    other = tmp_path / "perhop"
    other.write_text('#!/bin/sh\necho "$2: all is well"\n')
    other.chmod(0o755)
    comparison = Comparison(Asker(PROGRAM), SOME, {})
    line = comparison.first_line(other, SOME[2], "check")
    here = "examples/red.toml: no errors, no warnings"
    assert line == f"line 1: {here}\n  other:  examples/red.toml: all is well"


def test_every_text_of_the_record_is_of_the_tree() -> None:
    names = {text.called for text in tree()}
    kept = {name for name in record.read("texts") if not name.startswith((record.WITHIN, "list"))}
    assert kept <= names
    assert {text.called for text in SOME[:4]} <= kept


def test_texts_are_taken_out_of_pages_and_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "Text.\n\n```toml\n[scenario]\nname = 'a'\n```\n\n```\nno text\n```\n"
    test = """
    // "tc qdisc add dev no root pfifo\\n"
    let quote = '"';
    let raw = r#"policy-map a\n class class-default\n"#;
    let text = "tc qdisc add dev eth0 \\\n        root pfifo\\ntc qdisc del dev \\"x\\"\\n";
    let other = "a line\\nand one more";
    """
    monkeypatch.setattr(within, "ROOT", tmp_path)
    for name, words in (("page.md", page), ("test.rs", test)):
        (tmp_path / name).write_text(words)
    written = within.write([Path("page.md"), Path("test.rs")])
    assert sorted((tmp_path / place).read_text() for place in written) == [
        "[scenario]\nname = 'a'\n",
        "policy-map a\n class class-default\n",
        'tc qdisc add dev eth0 root pfifo\ntc qdisc del dev "x"\n',
    ]


def test_wall_times_and_places_are_cut() -> None:
    run = b"target/texts-of-00004711/red/base-4040fada  result hash afcf2f22e7ab0835  0.1 s (1.3 M packet-hops/s)"
    assert cut(run) == b"OUT/red/base-HASH  result hash afcf2f22e7ab0835  WALL s (SPEED M packet-hops/s)"
    assert cut(b"1 point, 0.0 s; result hash d838edfb; in x") == b"1 point, WALL s; result hash d838edfb; in x"


def test_public_files_are_compared_where_they_are_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, base = tmp_path / "home", tmp_path / "files"
    home.mkdir()
    monkeypatch.setattr(record, "HOME", home)
    names = ["a/b/shaper.sh", "a/b/later.sh", "a/b/gone.sh", "a/b/one.pcap"]
    for name in names[:3]:
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text("tc qdisc add dev eth0 root tbf rate 1mbit burst 5k limit 9k\n")
    (base / names[3]).write_bytes((ROOT / "tests/captures/udp-ns.pcap").read_bytes())
    asker = Asker(PROGRAM, base)
    write_public(asker)
    recorded = record.read("corpora")
    assert {name: [*recorded[name]] for name in sorted(recorded)} == {
        name: [corpora.CONTENT, "meter --json"]
        if name.endswith("pcap")
        else [corpora.CONTENT, LINES, "check", "import", "import | explain"]
        for name in sorted(names)
    }
    (base / names[1]).write_text("tc qdisc add dev eth0 root pfifo\n")
    (base / names[2]).unlink()
    assert check_public(asker)
    assert capsys.readouterr().out == f"public files: 2 of 4 on record are in {base} and were compared\n"
    recorded[names[0]]["import"] = "0" * 12
    record.write("corpora", recorded)
    assert not check_public(replace(asker))
    assert f"changed: {names[0]}: import\n  perhop import {names[0]}\n" in capsys.readouterr().out
