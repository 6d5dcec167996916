"""`perhop explain --as tc` and `perhop lab`: the commands, what is refused, and how two worlds are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from perhop import Scenario
from perhop_lab.classes import classes
from perhop_lab.compared import Both, compared
from perhop_lab.job import Packet, connections_of, job, packets_of, sendable
from perhop_lab.worlds import Queue, Sender, World

ROUTER = Path("examples/router-port.toml")
#: A host that sends bursts of four datagrams through FQ-CoDel.
BURSTS = """
[scenario]
duration = "300ms"
warmup = "0s"
replications = 1
[links]
"a - b" = { rate = "10Mbit/s", delay = "1ms" }
"a -> b" = { queue = { scheduler = "fq-codel" } }
[traffic.media]
model = "cbr"
rate = "5Mbit/s"
size = "1000B"
gso = 4
from = "a"
to = "b"
spread = "0s"
"""


def packet(number: int, left: int | None, *, marked: bool = False, waits: bool = False) -> Packet:
    """A datagram at the port `a -> b`."""
    return Packet(number, "t", 0, "a -> b", 1000, number * 1000, left, waits, marked, 0)


def said_of(source: str | Path, *overrides: str) -> list[str]:
    """The commands of a scenario, as lines."""
    return [" ".join(it["argv"]) for it in Scenario.from_toml(source, overrides).as_tc()["commands"]]


def between(tcp: Sequence[str], *overrides: str) -> list[str]:
    """The commands for one bulk transfer from `a` to `b`, whose port has no queue but what `overrides` give it."""
    lines = ["[links]", '"a - b" = { rate = "10Mbit/s", delay = "10ms" }', "[tcp.host]", *tcp]
    lines += ["[traffic.bulk]", 'model = "ftp"', 'from = "a"', 'to = "b"', 'tcp = "host"']
    return said_of("\n".join(lines), "duration=2s", "warmup=1s", *overrides)


def test_the_tree_of_a_port_is_said_from_the_root_down() -> None:
    """Shaper, strict priority, its classes, DRR within the last of them."""
    said = [line.removeprefix("tc -n n1 ") for line in said_of(ROUTER) if " dev p2 " in line]
    ports = [line for line in said if line.startswith(("qdisc", "class")) and "clsact" not in line]
    assert ports == [
        "qdisc add dev p2 root stab overhead -14 linklayer ethernet handle 1: "
        "tbf rate 20000000bit burst 3000 limit 1000000000 peakrate 1000000000bit mtu 1200",
        "qdisc add dev p2 parent 1:1 handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "qdisc add dev p2 parent 2:1 handle 3: pfifo limit 20",
        "qdisc add dev p2 parent 2:2 handle 4: drr",
        "class add dev p2 parent 4: classid 4:1 drr quantum 3000",
        "class add dev p2 parent 4: classid 4:2 drr quantum 1500",
        "qdisc add dev p2 parent 4:1 handle 5: codel limit 500 target 5ms interval 100ms noecn",
        "qdisc add dev p2 parent 4:2 handle 6: pfifo_head_drop limit 50",
    ]
    voice = "filter add dev p2 parent 2: protocol ip prio 1 flower ip_tos 0xb8/0xfc flowid 2:1"
    assert f"{voice} action police rate 2000000bit burst 3000 conform-exceed drop/ok" in said
    assert "filter add dev p2 parent 4: protocol all prio 2 matchall flowid 4:2" in said


def test_the_network_has_a_namespace_a_node_and_a_wire_a_direction() -> None:
    """Addresses and wires of both links; the far end of each port."""
    linux = Scenario.from_toml(ROUTER).as_tc()
    said = said_of(ROUTER)
    assert [line for line in said if "netns add" in line] == [f"ip netns add {node}" for node in ("n0", "n1", "n2")]
    assert "tc -n n2 qdisc add dev d2 root netem delay 5ms rate 1000000000bit -14 limit 1000000" in said
    near, far = {"namespace": "n1", "device": "p2"}, {"namespace": "n2", "device": "p3"}
    assert {"name": "edge -> core", "near": near, "far": far} in linux["ports"]
    assert [(it["name"], it["namespace"]) for it in linux["nodes"]] == [("site", "n0"), ("edge", "n1"), ("core", "n2")]
    assert (linux["duration_ns"], linux["warmup_ns"], linux["sample_ns"]) == (12 * 10**9, 2 * 10**9, 0)


def test_a_command_says_where_it_works_and_on_what() -> None:
    """So that is not read out of its words, which are whole: what prints them puts one blank between two."""
    commands = Scenario.from_toml(ROUTER).as_tc()["commands"]
    assert all(word and (" " not in word or "=" in word) for it in commands for word in it["argv"])
    for it in commands:
        namespace, device, words = it["namespace"], it["device"], it["argv"]
        assert namespace is None or words[1:3] == ["-n", namespace] or words[1:4] == ["netns", "exec", namespace]
        assert device is None or device in words
    assert {it["device"] for it in commands if it["namespace"] == "n2"} == {"lo", "p3", "d2", None}


@pytest.mark.parametrize(
    ("wire", "netems"),
    [
        (("loss=0.01",), ["root netem delay 5ms rate 1000000000bit -14 loss 1% limit 1000000"]),
        (("jitter=1ms",), ["root netem delay 5ms 1ms rate 1000000000bit -14 limit 1000000"]),
        (
            ("jitter=1ms", "distribution=normal"),
            ["root netem delay 5ms 1ms distribution normal rate 1000000000bit -14 limit 1000000"],
        ),
        (
            ("reorder=0.001", "loss=0.01"),
            [
                "root handle 1: netem rate 1000000000bit -14 loss 1% limit 1000000",
                "parent 1:1 netem delay 5ms reorder 0.1% limit 1000000",
            ],
        ),
    ],
)
def test_a_wire_is_said_whole(wire: tuple[str, ...], netems: list[str]) -> None:
    """Who overtakes has spent the time of his bits, and no more."""
    overrides = [f'links."edge -> core".{it}' for it in wire]
    said = said_of(ROUTER, *overrides)
    assert [it.removeprefix("tc -n n2 qdisc add dev d2 ") for it in said if " qdisc add dev d2 " in it] == netems


@pytest.mark.parametrize(
    ("override", "refused"),
    [
        ('queue.rest={aqm="svb", limit="50p", v0="10p"}', "`svb`"),
        ('queue.rest={shape={rate="8Mbit/s", burst="3000B"}, limit="50p"}', "a shaper in a class of `drr` or `ets`"),
        ('queue.rest={aqm="avq", limit="50p"}', "`avq`: Linux 6.12 does not have it"),
        (
            'queue.rest={aqm="red", limit="50p", min="5p", max="15p"}',
            "a `limit` of `red` in packets: Linux counts bytes",
        ),
        ('queue.rest={aqm="codel", limit="50kB"}', "a `limit` of `codel` in bytes or time: Linux counts packets"),
        ('queue.rest={aqm="codel", limit="50p", drop="head"}', '`drop = "head"` of `codel`'),
        ('queue.rest={scheduler="fq-codel", hash="exact"}', '`hash = "exact"` of `fq-codel`'),
        ('queue.rest={scheduler="sfq", hash="exact"}', '`hash = "exact"` of `sfq`'),
        ('queue.rest={scheduler="fq-codel", memory="4MB"}', "`memory` of `fq-codel`"),
        (
            'queue.rest={aqm="codel", limit="50p", target="1234567ns"}',
            "`target` of 1234.567us: it must be in whole microseconds",
        ),
        ("queue.port.shape.overhead=-4B", "an `overhead` below 0"),
        ("queue.port.shape.debt=true", "`debt = true`"),
        ("queue.port.shape.granularity=1ms", "`granularity`"),
        ('links."edge -> core"={queue="port", jitter="1ms", reorder=0.1}', "`reorder` together"),
    ],
)
def test_what_tc_cannot_say_is_refused_by_name(override: str, refused: str) -> None:
    """The message names it and its port."""
    with pytest.raises(ValueError, match=r"port `edge -> core`: tc cannot express ") as found:
        Scenario.from_toml(ROUTER, [override]).as_tc()
    assert refused in str(found.value)


def test_cake_is_said_in_its_own_words() -> None:
    """Its overhead counts from the IP header; what tc's cannot hold is refused."""
    cake = "examples/cake.toml"
    assert any(
        line.endswith("cake bandwidth 9500000bit diffserv4 dual-srchost rtt 100ms overhead 32 noatm split-gso")
        for line in said_of(cake)
    )
    for key, refused in (("flows=64", "`flows`"), ("mpu=300B", "`mpu`"), ("overhead=300B", "`overhead`")):
        with pytest.raises(ValueError, match=rf"port `R -> D`: tc cannot express .*{refused}"):
            Scenario.from_toml(cake, [f"queue.bottleneck.{key}"]).as_tc()


def test_models_that_the_lab_cannot_send_are_named() -> None:
    """All of them, with what it can send."""
    with pytest.raises(ValueError, match=r"`web` \(web\).*cbr, on-off, poisson"):
        sendable(Scenario.from_toml(ROUTER).as_tc() | {"traffic": [{"name": "web", "model": "web"}]})


def test_every_datagram_is_sent_once_at_its_time(tmp_path: Path) -> None:
    """In the order of their times, numbered as in the simulator, from the node where they begin."""
    scenario = Scenario.from_toml(ROUTER, ["duration=1s", "warmup=0s", "replications=1"])
    linux = scenario.as_tc()
    packets = packets_of(scenario.run(out=tmp_path, events=True), linux)
    sent = job(linux, packets, [])["datagrams"]
    assert len(sent) == len({it.number for it in packets}) > 1500
    assert [it[0] for it in sent] == sorted(it[0] for it in sent)
    assert {it[1] for it in sent} == {"n0"}
    assert {it[5] >> 2 for it in sent} == {46, 34, 0}
    assert {it[7] for it in sent} == {1}


def test_a_burst_of_datagrams_is_sent_once(tmp_path: Path) -> None:
    """With the number of its first, and the interface takes it apart behind the queue."""
    scenario = Scenario.from_toml(BURSTS)
    linux = scenario.as_tc()
    packets = packets_of(scenario.run(out=tmp_path, events=True), linux)
    sent = job(linux, packets, [])["datagrams"]
    assert [it[6] for it in sent] == list(range(0, 4 * len(sent), 4))
    assert {it[7] for it in sent} == {4}
    assert 4 * len(sent) == len(packets)
    assert any("tx-udp-segmentation off" in line for line in said_of(BURSTS))


def test_bulk_transfers_become_connections(tmp_path: Path) -> None:
    """One for each flow, opened when the simulator's was; Linux's nodes, routes and sockets are told what it has."""
    lines = ["[links]", '"a - b" = { rate = "10Mbit/s", delay = "10ms" }', "[tcp.host]", "window = 30", "ecn = true"]
    lines += ["[traffic.bulk]", 'model = "ftp"', "flows = 2", 'spread = "1s"', 'from = "a"', 'to = "b"']
    scenario = Scenario.from_toml("\n".join([*lines, 'tcp = "host"', 'dscp = "AF11"']), ["duration=2s", "warmup=1s"])
    linux = scenario.as_tc()
    told = {"congestion": "reno", "segment": 1000, "window": 30_000, "start_ns": 0, "stop_ns": None}
    assert [(it["name"], it["transfers"]) for it in linux["traffic"]] == [("bulk", told)]
    lines = [" ".join(it["argv"]) for it in linux["commands"]]
    said = "\n".join(lines)
    plain = "tcp_recovery=0 net.ipv4.tcp_sack=0 net.ipv4.tcp_timestamps=0"
    for node, ecn in (("n0", 1), ("n1", 2)):
        words = f"tcp_early_retrans=0 net.ipv4.tcp_ecn={ecn} net.ipv4.tcp_no_metrics_save=1 net.ipv4.{plain}"
        assert f"ip netns exec {node} sysctl -q -w net.ipv4.{words}" in said
    assert [line.partition(" src ")[2].partition(" ")[2] for line in lines if " route add " in line] == [
        "initcwnd 2 rto_min 200ms",
        "quickack 1",
    ]
    runs = scenario.run(out=tmp_path, events=True, replications=1)
    made = job(linux, [], connections_of(runs, linux))["connections"]
    assert len(made) == 2
    assert 0 <= made[0]["start_ns"] < made[1]["start_ns"] < 1_000_000_000
    ends = {(it["from"]["namespace"], it["to"]["namespace"], it["tos"]) for it in made}
    assert ends == {("n0", "n1", 10 << 2)}


@pytest.mark.parametrize(
    ("aqm", "counted", "said"),
    [
        ('{aqm="drop-tail", limit="50p"}', -14, "pfifo limit 50"),
        ('{aqm="drop-tail", limit="50kB"}', 0, "bfifo limit 50000"),
        ('{aqm="codel", limit="50p"}', 0, "codel limit 50 target 5ms interval 100ms noecn"),
    ],
)
def test_a_link_is_an_htb_class_of_one_byte(aqm: str, counted: int, said: str) -> None:
    """It takes a packet as soon as the one before it is paid for, which `tbf` does earlier.

    The link sends the IP packet, the queue counts 14 bytes more. A size table says one length for both: that of the
    link where the queue counts packets. What Linux counts anyway needs none.
    """
    port = ['links."a -> b".queue="port"', f"queue.port={aqm}", 'accounting="l2"']
    commands = between(['stack = "linux"'], *port)
    prefix = "tc -n n0 {} add dev p0 "
    stab = f"stab overhead {counted} linklayer ethernet " if counted else ""
    root = prefix.format("qdisc") + f"root {stab}handle 1: htb default 1"
    assert root in commands
    assert prefix.format("class") + "parent 1: classid 1:1 htb rate 10000000bit burst 1 cburst 1" in commands
    assert prefix.format("qdisc") + f"parent 1:1 handle 2: {said}" in commands
    assert not any("tbf" in line for line in commands)


def test_a_host_of_linux_sends_bursts() -> None:
    """Its interface takes a burst as one and its TCP makes none smaller; the receiver has neither.

    Linux's own choice is nothing to be told, and no bound of the interface's.
    """
    for section in (['stack = "linux"'], ['stack = "linux-reno"', 'burst-segments = "linux"']):
        commands = between(section)
        assert "ip -n n0 link set p0 up mtu 1500 txqueuelen 1000" in commands
        assert "ip netns exec n0 ethtool -K p0 tso off gso off gro off" in commands
        assert not any("tcp_min_tso_segs" in line for line in commands)
    for segments, gso in ((1, "off"), (7, "on")):
        commands = between(['stack = "linux"', f"burst-segments = {segments}"])
        (told,) = (line for line in commands if line.startswith("ip netns exec n0 sysctl") and "tcp_" in line)
        assert ("tcp_min_tso_segs=7" in told) == (segments == 7)
        assert f"ip -n n0 link set p0 up mtu 1500 txqueuelen 1000 gso_max_segs {segments}" in commands
        assert f"ip netns exec n0 ethtool -K p0 tso off gso {gso} gro off" in commands
        assert "ip -n n1 link set p1 up mtu 1500 txqueuelen 1000 gso_max_segs 1" in commands
        assert "ip netns exec n1 ethtool -K p1 tso off gso off gro off" in commands
        assert not any("tcp_min_tso_segs" in line for line in commands if line.startswith("ip netns exec n1"))


def test_a_receiver_of_dctcp_has_its_law() -> None:
    """Linux's receiver tells of each mark if its own law is DCTCP; the first namespace has to allow that."""
    lines = ["[links]", '"a - b" = { rate = "10Mbit/s", delay = "10ms" }', "[traffic.bulk]", 'model = "ftp"']
    lines += ['from = "a"', 'to = "b"', 'tcp = "{}"']
    linux = Scenario.from_toml("\n".join(lines).replace("{}", "dctcp"), ["duration=2s", "warmup=1s"]).as_tc()
    assert [it["transfers"]["congestion"] for it in linux["traffic"]] == ["dctcp"]
    told = [" ".join(it["argv"]) for it in linux["commands"] if "net.ipv4.tcp_" in it["argv"][-1]]
    assert told[0] == "sysctl -q -w net.ipv4.tcp_allowed_congestion_control=reno cubic dctcp"
    assert ["tcp_congestion_control=dctcp" in line for line in told[1:]] == [False, True]
    assert [f"tcp_ecn={ecn} " in line for line, ecn in zip(told[1:], (1, 2), strict=True)] == [True, True]
    with pytest.raises(ValueError, match='has no congestion law "prague"'):
        Scenario.from_toml("\n".join(lines).replace("{}", "prague"), ["duration=2s", "warmup=1s"]).as_tc()


def test_a_law_that_linux_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match='has no congestion law "bbr3"'):
        between(['recovery = "rack"', 'congestion = "bbr3"'])


def test_two_worlds_are_compared_packet_for_packet() -> None:
    """Dropped in one only, marked in one only, apart in time; what waits at the end is not a difference."""
    here = [packet(0, 10), packet(1, None), packet(2, 30, marked=True), packet(3, 40), packet(4, None, waits=True)]
    (found,) = compared(here, {"a -> b": [(0, 10, 0), (1, 25, 0), (2, 36, 0), (4, 99, 0)]})
    assert (found.came, found.left, found.kernel_left) == (5, 3, 4)
    assert (found.other_fate, found.other_mark, found.apart_ns) == (2, 1, [0, 6])


def test_two_worlds_are_numbers_for_programs() -> None:
    """As the tables show them; what was not measured is null."""
    apart = compared([packet(0, 10), packet(1, 20)], {"a -> b": [(0, 10, 0), (1, 26, 0)]})
    nowhere = compared([packet(0, None)], {"a -> b": []})
    ours = World([Sender("bulk", 0, 1e6, 2, [4.0, 6.0], [20.0])], {"a -> b": Queue(3.5, 9.0)})
    kernel = World([Sender("bulk", 0, 2e6, 0, [], [])], {"a -> b": Queue(4.0, 10.0)})
    said = Both([*apart, *nowhere], (ours, kernel), []).to_json()
    assert [it["apart_max_us"] for it in said["ports"]] == [0.006, None]
    assert [said["ports"][0][key] for key in ("port", "came", "kernel_left")] == ["a -> b", 2, 2]
    (flow,) = said["tcp"]
    assert (flow["traffic"], flow["perhop"]["cwnd_mean_segments"], flow["perhop"]["srtt_mean_ms"]) == (
        "bulk",
        5.0,
        20.0,
    )
    assert (flow["kernel"]["goodput_bit_s"], flow["kernel"]["srtt_mean_ms"]) == (2e6, None)
    assert said["queues"] == [
        {"port": "a -> b", "perhop": {"mean": 3.5, "p99": 9.0}, "kernel": {"mean": 4.0, "p99": 10.0}}
    ]
    assert Both([], None, []).to_json() == {"ports": [], "classes": [], "tcp": [], "queues": []}


def test_a_sweep_is_refused_unless_one_point_is_left() -> None:
    """Linux is set up as one scenario: that of the point, not that of the file without its sweep."""
    swept = ['sweep."links.\'edge - core\'.delay"=["7ms","9ms"]']
    with pytest.raises(ValueError, match=r"\[sweep\] has 2 points"):
        Scenario.from_toml(ROUTER, swept).as_tc()
    one = Scenario.from_toml(ROUTER, [*swept, 'sweep."links.\'edge - core\'.delay"=["9ms"]'])
    said = [" ".join(it["argv"]) for it in one.as_tc()["commands"]]
    assert any(" netem delay 9ms " in line for line in said)
    assert not any(" netem delay 5ms " in line for line in said)


def test_a_timed_change_is_refused() -> None:
    text = ROUTER.read_text() + '\n[[change]]\nat = "3s"\nlinks."edge - core".rate = "7Mbit/s"\n'
    with pytest.raises(ValueError, match=r"tc cannot express \[\[change\]\]"):
        Scenario.from_toml(text).as_tc()


def test_classes_are_compared_by_what_they_got(tmp_path: Path) -> None:
    """Of datagrams sent after the warm-up: from their first port until they leave the last."""
    lines = ["[links]", '"a - b" = { rate = "10Mbit/s" }', '"b - c" = { rate = "10Mbit/s" }']
    lines += ["[traffic.game]", 'model = "cbr"', 'rate = "1Mbit/s"', 'size = "500B"', 'class = "play"']
    scenario = Scenario.from_toml("\n".join([*lines, 'from = "a"', 'to = "c"']), ["duration=2s", "warmup=1s"])
    runs = scenario.run(replications=1, out=tmp_path)
    ms = 1_000_000

    def way(number: int, came: int, left: int | None, last: str = "b -> c") -> list[Packet]:
        one = packet(number, came * ms)._replace(traffic="game", flow=0, hop="a -> b", came=came * ms)
        after = one._replace(hop=last, came=(came + 1) * ms, left=None if left is None else left * ms)
        return [one, after]

    packets = [*way(0, 900, 950), *way(1, 1100, 1104), *way(2, 1200, None), *way(3, 1300, 1306)]
    left = {"a -> b": [], "b -> c": [(1, 1105 * ms, 0), (2, 1209 * ms, 0), (3, 1307 * ms, 0)]}
    (found,) = classes(packets, left, None, runs)
    assert found.name == "play"
    assert [*found.perhop][1:] == pytest.approx([1 / 3, 6, 6])
    assert [*found.kernel][1:] == pytest.approx([0, 7, 9])
