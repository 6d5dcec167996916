"""`perhop.import_config`: the same as `perhop import --json`, with its account as a table, and a scenario that runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import perhop

WAN = """\
class-map match-any VOICE
 match dscp ef
class-map match-any ERP
 match dscp af31
policy-map LAN-IN
 class ERP
  police cir 4000000 bc 4000
policy-map WAN
 class VOICE
  priority 512
 class ERP
  bandwidth percent 50
 class class-default
  fair-queue
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy output WAN
interface GigabitEthernet0/1
 description of a customer
 service-policy input LAN-IN
"""


def test_a_text_is_a_scenario_with_an_account() -> None:
    wan = perhop.import_config(WAN, interface="Gi0/0")
    assert repr(wan).startswith("ios, GigabitEthernet0/0 output: ")
    by_line = dict(zip(wan.account["line"], wan.account["verdict"], strict=True))
    assert by_line[10] == "taken"
    assert by_line[14] == "approximated"
    assert 19 not in by_line
    assert "FQ-CoDel" in wan.account["notes"][list(wan.account["line"]).index(14)]
    assert "customer" not in json.dumps(wan.report)
    scenario = wan.scenario({"duration": "2s", "warmup": "1s", "replications": 1})
    assert scenario.name == "GigabitEthernet0-0"
    delivered = scenario.run().means("arrivals", "throughput_bit_s", by=["class"])
    assert {("VOICE",), ("ERP",), ("class-default",)} <= set(delivered)


def test_findings_are_those_of_check(tmp_path: Path) -> None:
    file = tmp_path / "lan.cfg"
    file.write_text(WAN)
    lan = perhop.import_config(file, interface="Gi0/1", link="1Gbit/s")
    assert [(found["code"], found["line"]) for found in lan.findings] == [("W451", 7)]
    command = [
        sys.executable,
        "-m",
        "perhop",
        "check",
        "--json",
        "--link",
        "1Gbit/s",
        "--interface",
        "Gi0/1",
        str(file),
    ]
    said = json.loads(subprocess.run(command, check=False, capture_output=True).stdout)
    assert said == lan.findings


def test_a_policy_is_for_captures() -> None:
    lan = perhop.import_config(WAN, interface="Gi0/1", as_="policy")
    assert lan.text.splitlines()[1] == "[policy]"
    with pytest.raises(ValueError, match='as_="scenario"'):
        lan.scenario()


def test_defaults_are_the_platforms() -> None:
    burst = [
        perhop.import_config(WAN.replace(" bc 4000", ""), interface="Gi0/1", platform=it).text for it in ("ios", "ncs")
    ]
    assert 'cbs = "125000B"' in burst[0]
    assert 'cbs = "5000B"' in burst[1]


@pytest.mark.parametrize(
    ("text", "given", "says"),
    [
        (WAN, {}, "choose one by interface="),
        (WAN, {"interface": "Gi0/2"}, "the text has no interface `Gi0/2` with a policy"),
        (WAN.replace("Gigabit", "Any").replace(" bandwidth 10000\n", ""), {"interface": "Any0/1"}, 'link="100Mbit/s"'),
        ("no\nconfiguration\n", {}, 'from_="tc" or from_="ios"'),
        (WAN, {"from_": "junos"}, "junos"),
        (WAN, {"as_": "scenaro"}, "did you mean `scenario`?"),
    ],
)
def test_what_is_wrong_is_said_in_arguments(text: str, given: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        perhop.import_config(text, **given)
