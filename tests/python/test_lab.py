"""`perhop explain --as tc` and `perhop lab`: the commands, what is refused, and how two worlds are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from perhop import Scenario
from perhop.kernel.compared import compared
from perhop.kernel.job import Packet, connections_of, job, packets_of, sendable

ROUTER = Path("examples/router-port.toml")


def packet(number: int, left: int | None, *, marked: bool = False, waits: bool = False) -> Packet:
    """A datagram at the port `a -> b`."""
    return Packet(number, "t", 0, "a -> b", 1000, number * 1000, left, waits, marked, 0)


def test_the_tree_of_a_port_is_said_from_the_root_down() -> None:
    """Shaper, strict priority, its classes, DRR within the last of them."""
    said = [
        line.removeprefix("tc -n edge ") for line in Scenario.from_toml(ROUTER).as_tc().commands if " dev p2 " in line
    ]
    ports = [line for line in said if line.startswith(("qdisc", "class")) and "clsact" not in line]
    assert ports == [
        "qdisc add dev p2 root stab overhead -14 linklayer ethernet handle 1: "
        "tbf rate 20000000bit burst 3000 limit 1000000000",
        "qdisc add dev p2 parent 1:1 handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "qdisc add dev p2 parent 2:1 handle 3: pfifo limit 20",
        "qdisc add dev p2 parent 2:2 handle 4: drr",
        "class add dev p2 parent 4: classid 4:1 drr quantum 3000",
        "class add dev p2 parent 4: classid 4:2 drr quantum 1500",
        "qdisc add dev p2 parent 4:1 handle 5: codel limit 500 target 5ms interval 100ms noecn",
        "qdisc add dev p2 parent 4:2 handle 6: pfifo_head_drop limit 50",
    ]
    voice = "filter add dev p2 parent 2: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 2:1"
    assert f"{voice} action police rate 2000000bit burst 3000 conform-exceed drop/ok" in said
    assert "filter add dev p2 parent 4: protocol ip prio 2 matchall flowid 4:2" in said


def test_the_network_has_a_namespace_a_node_and_a_wire_a_direction() -> None:
    """Addresses and wires of both links; the far end of each port."""
    linux = Scenario.from_toml(ROUTER).as_tc()
    assert [line for line in linux.commands if "netns add" in line] == [
        f"ip netns add {node}" for node in ("site", "edge", "core")
    ]
    assert "tc -n core qdisc add dev d2 root netem delay 5ms rate 1000000000bit -14 limit 1000000" in linux.commands
    assert ("edge -> core", "core", "p3") in linux.ends
    assert set(linux.addresses) == {"site", "edge", "core"}


@pytest.mark.parametrize(
    ("override", "refused"),
    [
        ('queue.rest={aqm="svb", limit="50p", v0="10p"}', "`svb`"),
        ('queue.rest={shape={rate="8Mbit/s", burst="3000B"}, limit="50p"}', "a shaper in a class of `drr` or `ets`"),
        ("queue.port.shape.debt=true", "`debt = true`"),
        ("queue.port.shape.granularity=1ms", "`granularity`"),
    ],
)
def test_what_tc_cannot_say_is_refused_by_name(override: str, refused: str) -> None:
    """The message names it and its port."""
    with pytest.raises(ValueError, match=r"tc cannot say .* at `edge -> core`") as found:
        Scenario.from_toml(ROUTER, [override]).as_tc()
    assert refused in str(found.value)


def test_cake_is_said_in_its_own_words() -> None:
    """Its overhead counts from the IP header; what tc's cannot hold is refused."""
    cake = "examples/cake.toml"
    assert any(
        line.endswith("cake bandwidth 9500000bit diffserv4 dual-srchost rtt 100ms overhead 32 noatm no-split-gso")
        for line in Scenario.from_toml(cake).as_tc().commands
    )
    for key, refused in (("flows=64", "`flows`"), ("mpu=300B", "`mpu`"), ("overhead=300B", "`overhead`")):
        with pytest.raises(ValueError, match=rf"tc cannot say .*{refused}.* at `R -> D`"):
            Scenario.from_toml(cake, [f"queue.bottleneck.{key}"]).as_tc()


def test_models_that_the_lab_cannot_send_are_named() -> None:
    """All of them, with what it can send."""
    with pytest.raises(ValueError, match=r"`web` \(web\).*cbr, on-off, poisson"):
        sendable(Scenario.from_toml(Path("examples/web.toml")))


def test_every_datagram_is_sent_once_at_its_time(tmp_path: Path) -> None:
    """In the order of their times, numbered as in the simulator, from the node where they begin."""
    scenario = Scenario.from_toml(ROUTER, ["duration=1s", "warmup=0s", "replications=1"])
    packets = packets_of(scenario.run(out=tmp_path, events=True), scenario)
    sent = job(scenario, scenario.as_tc(), packets, [])["datagrams"]
    assert len(sent) == len({it.number for it in packets}) > 1500
    assert [it[0] for it in sent] == sorted(it[0] for it in sent)
    assert {it[1] for it in sent} == {"site"}
    assert {it[5] >> 2 for it in sent} == {46, 34, 0}


def test_bulk_transfers_become_connections(tmp_path: Path) -> None:
    """One for each flow, opened when the simulator's was; Linux's nodes, routes and sockets are told what it has."""
    lines = ["[links]", '"a - b" = { rate = "10Mbit/s", delay = "10ms" }', "[tcp.host]", "window = 30", "ecn = true"]
    lines += ["[traffic.bulk]", 'model = "ftp"', "flows = 2", 'spread = "1s"', 'from = "a"', 'to = "b"']
    scenario = Scenario.from_toml("\n".join([*lines, 'tcp = "host"', 'dscp = "AF11"']), ["duration=2s", "warmup=1s"])
    linux = scenario.as_tc()
    assert [tuple(it) for it in linux.transfers] == [("bulk", "reno", 1000, 30_000, None)]
    said = "\n".join(linux.commands)
    plain = "tcp_recovery=0 net.ipv4.tcp_sack=0 net.ipv4.tcp_timestamps=0"
    for node, ecn in (("a", 1), ("b", 2)):
        words = f"tcp_early_retrans=0 net.ipv4.tcp_ecn={ecn} net.ipv4.tcp_no_metrics_save=1 net.ipv4.{plain}"
        assert f"ip netns exec {node} sysctl -q -w net.ipv4.{words}" in said
    assert [line.partition(" src ")[2].partition(" ")[2] for line in linux.commands if " route add " in line] == [
        "initcwnd 2 rto_min 200ms",
        "quickack 1",
    ]
    runs = scenario.run(out=tmp_path, events=True, replications=1)
    made = job(scenario, linux, [], connections_of(runs, linux))["connections"]
    assert len(made) == 2
    assert 0 <= made[0]["start_ns"] < made[1]["start_ns"] < 1_000_000_000
    assert {(it["from"], it["to"], it["tos"]) for it in made} == {("a", "b", 10 << 2)}


def test_a_receiver_of_dctcp_has_its_law() -> None:
    """Linux's receiver tells of each mark if its own law is DCTCP; the first namespace has to allow that."""
    lines = ["[links]", '"a - b" = { rate = "10Mbit/s", delay = "10ms" }', "[traffic.bulk]", 'model = "ftp"']
    lines += ['from = "a"', 'to = "b"', 'tcp = "{}"']
    linux = Scenario.from_toml("\n".join(lines).replace("{}", "dctcp"), ["duration=2s", "warmup=1s"]).as_tc()
    assert [it.congestion for it in linux.transfers] == ["dctcp"]
    allowed = "sysctl -q -w net.ipv4.tcp_allowed_congestion_control='reno cubic dctcp'"
    told = [line for line in linux.commands if "ipv4.tcp_" in line]
    assert told[0] == allowed
    assert ["tcp_congestion_control=dctcp" in line for line in told[1:]] == [False, True]
    assert [f"tcp_ecn={ecn} " in line for line, ecn in zip(told[1:], (1, 2), strict=True)] == [True, True]
    with pytest.raises(ValueError, match='has no congestion law "prague"'):
        Scenario.from_toml("\n".join(lines).replace("{}", "prague"), ["duration=2s", "warmup=1s"]).as_tc()


def test_two_worlds_are_compared_packet_for_packet() -> None:
    """Dropped in one only, marked in one only, apart in time; what waits at the end is not a difference."""
    here = [packet(0, 10), packet(1, None), packet(2, 30, marked=True), packet(3, 40), packet(4, None, waits=True)]
    (found,) = compared(here, {"a -> b": [(0, 10, 0), (1, 25, 0), (2, 36, 0), (4, 99, 0)]})
    assert (found.came, found.left, found.kernel_left) == (5, 3, 4)
    assert (found.other_fate, found.other_mark, found.apart_ns) == (2, 1, [0, 6])
