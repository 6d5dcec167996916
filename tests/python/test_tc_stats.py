"""Counters in tc's words: the text, the table, and that nothing changes where they are not asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Command
from perhop import Runs, Scenario

SCENARIO = """
[scenario]
name = "counted"
duration = "2s"
warmup = "0s"
replications = 1
accounting = "l2"

[links]
"a - b" = { rate = "10Mbit/s", delay = "5ms" }
"a -> b" = { queue = "customer" }

[queue.customer]
scheduler = "htb"
arithmetic = "linux"
classes = [
  { name = "link", rate = "8Mbit/s" },
  { name = "voice", parent = "link", for = "EF", rate = "2Mbit/s", ceil = "8Mbit/s" },
  { name = "data", parent = "link", rate = "6Mbit/s", ceil = "8Mbit/s", queue = "flows" },
]

[queue.flows]
scheduler = "fq-codel"
arithmetic = "linux"

[traffic.voice]
model = "cbr"
rate = "1Mbit/s"
size = "200B"
dscp = "EF"
from = "a"
to = "b"

[traffic.bulk]
model = "ftp"
from = "a"
to = "b"
flows = 3
"""
PAGE = Path(__file__).parents[2] / "docs/reference/results.md"
QUEUES = (
    'aqm = "codel"',
    'aqm = "pie"\ndelay = "rate"\narithmetic = "linux"',
    'aqm = "red"\nmin = "10p"\nmax = "30p"',
    'scheduler = "drr"\nclasses = [{ quantum = "1600B" }]',
    'scheduler = "htb"\narithmetic = "linux"\nclasses = [{ rate = "2Mbit/s", quantum = "1600B" }]',
    'scheduler = "fq-codel"',
    'scheduler = "cake"',
)
"""Each that has counters which others lack."""


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Scenario.from_toml(SCENARIO).run(tc_stats=True)


def _counters(runs: Runs, hop: str) -> dict[tuple[str, str], float]:
    rows = runs.table("counters")
    keys = zip(rows["hop"], rows["object"], rows["counter"], rows["value"], strict=True)
    return {(of, counter): value for port, of, counter, value in keys if port == hop}


def test_counters_are_what_the_other_tables_count(runs: Runs) -> None:
    counters, queues = _counters(runs, "a -> b"), runs.table("queues")
    dropped = sum(n for hop, n in zip(queues["hop"], queues["dropped_packets"], strict=True) if hop == "a -> b")
    assert counters["qdisc htb 2:", "drops"] == dropped > 0
    assert counters["class htb 2:1", "packets"] == counters["qdisc htb 2:", "packets"]
    leaves = [counters[f"class htb 2:{n}", "packets"] for n in (2, 3)]
    assert sum(leaves) == counters["class htb 2:1", "packets"]
    paid = [counters[f"class htb 2:{n}", word] for n in (2, 3) for word in ("lended", "borrowed")]
    assert sum(paid) == sum(leaves)
    assert counters["qdisc htb 2:", "overlimits"] == sum(counters[f"class htb 2:{n}", "overlimits"] for n in (1, 2, 3))


def test_the_text_is_tcs(runs: Runs) -> None:
    text, counters = runs.tc_stats(), _counters(runs, "a -> b")
    assert "class htb 2:2 parent 2:1 rate 2Mbit ceil 8Mbit" in text
    sent = [int(counters["qdisc fq_codel 4:", counter]) for counter in ("bytes", "packets", "drops")]
    assert f" Sent {sent[0]} bytes {sent[1]} pkt (dropped {sent[2]}, overlimits 0 requeues 0)" in text
    lended, borrowed = (int(counters["class htb 2:3", word]) for word in ("lended", "borrowed"))
    assert f" lended: {lended} borrowed: {borrowed} giants: 0" in text


def test_a_queue_below_what_tc_lacks_has_perhops_name_and_its_counters() -> None:
    wrr = 'scheduler = "wrr"\nclasses = [{ weight = 1, queue = "flows" }]\n\n'
    head, tail = SCENARIO.partition('scheduler = "htb"')[0], SCENARIO[SCENARIO.index("[queue.flows]") :]
    text = Scenario.from_toml(head + wrr + tail).run(tc_stats=True).tc_stats()
    assert re.search(r"^qdisc fq-codel .*\n( .*\n)+  new_flows_len \d+ old_flows_len \d+$", text, re.MULTILINE)


def test_nothing_changes_unless_they_are_asked_for(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "counted.toml").write_text(SCENARIO)
    asked = perhop("run", "counted.toml", "--tc-stats", "--json", "--out", "with")
    plain = perhop("run", "counted.toml", "--json", "--out", "without")
    assert json.loads(asked.stdout.splitlines()[-1])["counters"]
    assert "counters" not in json.loads(plain.stdout.splitlines()[-1])
    assert list(tmp_path.glob("with/**/counters.parquet"))
    assert not list(tmp_path.glob("without/**/counters.parquet"))
    stored = Runs.open(tmp_path / "without" / "counted")
    with pytest.raises(ValueError, match="tc_stats=True"):
        stored.tc_stats()
    again = Runs.open(tmp_path / "with" / "counted")
    assert "lended:" in again.tc_stats()


def test_the_page_lists_every_counter_that_there_is() -> None:
    head = SCENARIO.split("[queue", maxsplit=1)[0]
    bulk = SCENARIO[SCENARIO.index("[traffic.bulk]") :]
    made = [Scenario.from_toml(f"{head}[queue.customer]\n{queue}\n\n{bulk}").run(tc_stats=True) for queue in QUEUES]
    printed = {str(name) for runs in made for name in runs.table("counters")["counter"]}
    table = PAGE.read_text().split("| word of tc | `counter` | is |\n")[1].split("\n\n")[0]
    listed = {name for row in table.splitlines()[1:] for name in re.findall(r"`(\w+)`", row.split(" | ")[1])}
    assert printed | {"drop_next"} == listed  # CoDel has it only while it drops.
