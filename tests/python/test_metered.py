"""`perhop.meter` and `perhop.mark`: the reports of the command line as tables."""

from __future__ import annotations

import json
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import perhop
from conftest import ROOT, Command

CAPTURE, POLICY = ROOT / "tests/captures/tcp.pcap", ROOT / "examples/mark-af.toml"


def test_the_report_is_that_of_the_command_line(perhop: Command) -> None:
    for words, given in (
        ([], {}),
        (["--policy", POLICY], {"policy": POLICY}),
        (["--by", "host"], {"by": "host"}),
        (["--rtt", "--bursts", "--seed", 7, "--once"], {"rtt": True, "bursts": True, "seed": 7, "once": True}),
    ):
        done = perhop("meter", CAPTURE, "--json", *words)
        assert done.returncode == 0, done.stderr
        assert metered(**given).report == json.loads(done.stdout), words


def metered(**given: object) -> perhop.Metered:
    return perhop.meter(CAPTURE, **given)  # type: ignore[arg-type]


def test_rows_are_tables() -> None:
    found = metered(policy=POLICY, rtt=True)
    assert found.tables == ["colours", "conditioners", "code_points", "round_trips_aggregates", *found.tables[4:]]
    assert {"round_trips_flows", "contracts", "flows"} <= set(found.tables)
    flows, rows = found.table("flows"), found.report["flows"]
    assert flows.rows == len(rows)
    assert list(flows["packets"]) == [row["packets"] for row in rows]
    assert list(flows["ecn_ect0"]) == [row["ecn"]["ect0"] for row in rows]
    assert flows["packets"].dtype == np.int64
    colours = found.table("colours")
    assert colours["packets"].sum() == found.report["forward"]["packets"]
    assert set(colours["conditioner"]) == {"gold"}
    assert np.isnan(found.table("conditioners")["conforming_cbs_bytes"]).sum() == 1, "what is null"
    assert found.table("flows").df("polars")["packets"].sum() == flows["packets"].sum()
    with pytest.raises(KeyError, match=r"no table `flow` here: there are colours, .*; did you mean `flows`\?"):
        found.table("flow")


def test_columns_are_of_their_kinds_in_the_order_of_the_report() -> None:
    """Whatever their values: a column without any is of its kind, too."""
    found = metered(policy=POLICY, rtt=True, bursts=True)
    assert list(found.table("flows")) == [*_names(found.report["flows"][0])]
    assert list(found.table("contracts")) == [*_names(found.report["contracts"][0])]
    assert list(found.table("round_trips_flows")) == [*_names(found.report["round_trips"]["flows"][0])]
    conditioners = found.table("conditioners")
    assert np.isnan(conditioners["eir_bit_s"]).all()
    wanted = {"name": object, "cir_bit_s": np.int64, "conforming_cbs_bytes": np.float64, "eir_bit_s": np.float64}
    assert {name: conditioners[name].dtype for name in wanted} == wanted
    flows = found.table("round_trips_flows")
    assert flows["answered"].dtype == np.int64
    assert set(flows["answered"]) == {1}


def _names(row: dict[str, object]) -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from (f"{name}_{inner}" for inner in _names(value))
        elif not isinstance(value, list):
            yield name


def test_packets_in_groups_are_one_table() -> None:
    found = metered(by="host")
    assert found.tables == ["host"]
    assert repr(found).splitlines()[0] == "242 packets of 0.529226 s: 240 forward, 0 reverse"
    assert repr(found).splitlines()[1:] == str(found.table("host")).splitlines()


def test_what_is_printed_first() -> None:
    whole, policed = metered(), metered(policy=POLICY)
    assert repr(whole).endswith(str(whole.table("flows")))
    assert repr(policed).endswith(str(policed.table("colours")))
    assert "242 packets" in policed._repr_html_()
    assert pickle.loads(pickle.dumps(policed)) == policed


def test_marking_writes_the_capture_of_the_command_line(tmp_path: Path, perhop: Command) -> None:
    assert perhop("mark", CAPTURE, "-o", "theirs.pcap", "--policy", POLICY).returncode == 0
    found = _marked(tmp_path / "ours.pcap")
    assert (tmp_path / "ours.pcap").read_bytes() == (tmp_path / "theirs.pcap").read_bytes()
    assert found.report["output"] == str(tmp_path / "ours.pcap")
    with pytest.raises(ValueError, match=r"(?s)E026.*ours.pcap.*force=True"):
        _marked(tmp_path / "ours.pcap")
    _marked(tmp_path / "ours.pcap", force=True)


def _marked(out: Path, *, force: bool = False) -> perhop.Metered:
    return perhop.mark(CAPTURE, out, POLICY, force=force)


def test_warnings_of_the_policy_come_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "idle.toml"
    policy.write_text('[conditioner.all]\nkind = "token-bucket"\ncir = "1Mbit/s"\ncbs = "15kB"\n')
    found = perhop.mark(CAPTURE, tmp_path / "out.pcap", policy)
    assert found.warnings[0].startswith("warning[W310] no colour of this policy has an action")
    assert found.warnings[1:] == found.report["warnings"]
    assert capfd.readouterr() == ("", ""), "Python says nothing by itself"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"capture": "missing.pcap"}, r"error\[E021\] cannot open missing.pcap: "),
        ({"by": "hots"}, r"by = 'hots': must be one of host, .*; did you mean `host`\?"),
        ({"policy": "missing.toml"}, "missing.toml"),
        ({"queue": "x"}, r"E239.*queue= without policy="),
        ({"link": "1Mbit/s"}, r"E239.*link= without policy="),
        ({"framing": "l1"}, r"E239.*framing= without policy="),
        ({"by": "host", "rtt": True}, r"E239.*by= together with rtt="),
        ({"flow_timeout": "soon"}, "flow_timeout"),
        ({"seed": -1}, "`seed` is -1"),
    ],
)
def test_mistakes_are_said(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        perhop.meter(**{"capture": CAPTURE, **given})  # type: ignore[arg-type]


def test_a_name_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("--by").write_bytes(CAPTURE.read_bytes())
    assert perhop.meter("--by").report["packets"] == 242


def test_ctrl_c_ends_it_and_python_goes_on(tmp_path: Path) -> None:
    """A pipe that nothing is written to: without the signal it would be waited for."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = os.open(pipe, os.O_RDWR)
    # what starts the tests may have it ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(2):
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                perhop.meter(pipe)
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(writing)


@pytest.mark.parametrize("source", ["10.77.0.1", "10.77.0.2"])
def test_a_class_takes_the_packets_that_its_match_says(source: str, tmp_path: Path) -> None:
    """Of two queues the first holds one packet, so only flows from the address in its class lose any.

    It is the same whether the class names the address or the conditioner that takes its packets.
    """

    def flows(match: str) -> list[dict[str, object]]:
        policy = tmp_path / "policy.toml"
        policy.write_text(f"""
[conditioner.contract]
match = {{ source = "{source}/32" }}
per = "destination"
kind = "token-bucket"
cir = "1Mbit/s"
cbs = "3000B"

[queue.two]
scheduler = "drr"
classes = [
  {{ match = {{ {match} }}, quantum = "1500B", queue = {{ limit = "1p" }} }},
  {{ quantum = "1500B", queue = {{ limit = "1000p" }} }},
]
""")
        found = perhop.meter(CAPTURE, policy=policy, queue="two", link="100kbit/s").report
        return found["queue"]["flows"]  # type: ignore[no-any-return]

    by_address = flows(f'source = "{source}"')
    lost = {flow["flow"] for flow in by_address if flow["dropped"]["packets"] > 0}  # type: ignore[index]
    assert lost, by_address
    assert all(str(flow).split(" ")[1].startswith(source) for flow in lost), lost
    assert flows('conditioner = "contract"') == by_address
    assert flows('destination = "192.0.2.1"') != by_address, "then nothing is lost"
