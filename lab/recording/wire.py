"""What tc hands to the kernel for what is written: wire.csv, read from its netlink messages.

python3 lab/recording/wire.py writes the table again, from wire.toml's commands. It needs root, strace and iproute2.
"""

from __future__ import annotations

import csv
import re
import struct
import subprocess
import sys
import tomllib
from collections.abc import Iterator

from cells import RECORDS, STATED

COMMANDS, TABLE = STATED / "wire.toml", RECORDS / "wire.csv"
COLUMNS = ["command", "field", "value"]
_NEW_QDISC, _NEW_CLASS, _NEW_FILTER = 36, 40, 44
_OPTIONS = 2
_RATE = ("cell_log:B", "linklayer:B", "overhead:H", "cell_align:h", "mpu:H", "rate:I")


def _curve(prefix: str) -> list[str]:
    return [f"{prefix}.{name}" for name in ("m1:I", "d:I", "m2:I")]


def _rate(prefix: str) -> list[str]:
    return [f"{prefix}.{name}" for name in _RATE]


#: Of each discipline, filter and action its attributes: number, name, and the fields of a structure (or one, without a
#: name); those of a packet's headers have the network's order of bytes.
ATTRIBUTES = {
    "htb": {
        1: [*_rate("rate"), *_rate("ceil"), "buffer:I", "cbuffer:I", "quantum:I", "level:I", "prio:I"],
        6: ["rate64:Q"],
        7: ["ceil64:Q"],
    },
    "tbf": {
        1: [*_rate("rate"), *_rate("peak"), "limit:I", "buffer:I", "mtu:I"],
        4: ["rate64:Q"],
        5: ["peak64:Q"],
        6: ["burst:I"],
        7: ["pburst:I"],
    },
    "red": {1: ["limit:I", "min:I", "max:I", "wlog:B", "plog:B", "scell_log:B", "flags:B"], 3: ["max_p:I"]},
    "pie": {
        1: ["target:I"],
        2: ["limit:I"],
        3: ["tupdate:I"],
        4: ["alpha:I"],
        5: ["beta:I"],
        6: ["ecn:I"],
        7: ["bytemode:I"],
        8: ["dq_rate:I"],
    },
    "codel": {1: ["target:I"], 2: ["limit:I"], 3: ["interval:I"], 4: ["ecn:I"], 5: ["ce_threshold:I"]},
    "fq_codel": {
        1: ["target:I"],
        2: ["limit:I"],
        3: ["interval:I"],
        4: ["ecn:I"],
        5: ["flows:I"],
        6: ["quantum:I"],
        7: ["ce_threshold:I"],
        8: ["drop_batch:I"],
        9: ["memory:I"],
    },
    "sfq": {},
    "cake": {
        2: ["rate64:Q"],
        3: ["diffserv:I"],
        4: ["atm:I"],
        5: ["flow_mode:I"],
        6: ["overhead:i"],
        7: ["rtt:I"],
        8: ["target:I"],
        10: ["memory:I"],
        14: ["mpu:I"],
        16: ["split_gso:I"],
    },
    "drr": {1: ["quantum:I"]},
    "hfsc": {1: _curve("rt"), 2: _curve("ls"), 3: _curve("ul")},
    "police": {
        1: ["index:I", "action:i", "limit:I", "burst:I", "mtu:I", *_rate("rate"), *_rate("peak")],
        8: ["rate64:Q"],
        9: ["peak64:Q"],
        10: ["pkts_rate64:Q"],
        11: ["pkts_burst64:Q"],
    },
    "pedit": {
        4: [
            "index:I",
            "capab:I",
            "action:i",
            "refcnt:i",
            "bindcnt:i",
            "keys:H",
            "pad:H",
            "retain:>I",
            "set:>I",
            "offset:I",
        ]
    },
    "flower": {
        8: ["eth_type:>H"],
        9: ["ip_proto:B"],
        10: ["src_ip:>I"],
        11: ["src_ip_mask:>I"],
        12: ["dst_ip:>I"],
        13: ["dst_ip_mask:>I"],
        16: ["dst_ip_high:>Q"],
        17: ["dst_ip_mask_high:>Q"],
        18: ["tcp.src_port:>H"],
        19: ["tcp.dst_port:>H"],
        20: ["udp.src_port:>H"],
        21: ["udp.dst_port:>H"],
        73: ["ip_tos:B"],
        74: ["ip_tos_mask:B"],
    },
    "netem": {6: ["rate:I", "packet_overhead:i"], 8: ["rate64:Q"], 10: ["latency64:q"], 11: ["jitter64:q"]},
}
#: Disciplines whose options begin with a structure.
FIRST = {
    "pfifo": ["limit:I"],
    "bfifo": ["limit:I"],
    "pfifo_head_drop": ["limit:I"],
    "sfq": ["quantum:I", "perturb:i", "limit:I", "divisor:I", "flows:I", "depth:I", "headdrop:I"],
    "netem": ["latency:I", "limit:I", "loss:I", "gap:I", "duplicate:I", "jitter:I"],
}
#: What varies with the machine, or repeats what another field says.
LEFT_OUT = {"cell_log", "cell_align", "linklayer", "index", "action", "level", "capab", "refcnt", "bindcnt", "pad"}


def sent(words: str) -> tuple[bytes, str]:
    """The last netlink message that `tc` sends for a command, and what it says; in a separate namespace."""
    command = ["unshare", "--net", "strace", "-qq", "-e", "trace=sendmsg", "-e", "write=3", "-o", "/dev/fd/1"]
    done = subprocess.run([*command, "tc", *words.split()], capture_output=True, check=False)
    messages = re.split(rb"^sendmsg\(.*$", done.stdout, flags=re.MULTILINE)
    dumps = [re.findall(rb"^ \| [0-9a-f]+  ((?:[0-9a-f]{2} {1,2})+)", it, re.MULTILINE) for it in messages]
    data = [bytes.fromhex(b"".join(lines).decode()) for lines in dumps if lines]
    return (data[-1] if data else b""), done.stderr.decode(errors="replace")


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Those of a message, one after the other."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            return
        yield kind & 0x3FFF, data[4:length]
        data = data[length + 3 & ~3 :]


def fields(names: list[str], data: bytes) -> Iterator[tuple[str, int]]:
    """The fields of a structure, as far as it goes."""
    at = 0
    for field in names:
        name, _, kind = field.rpartition(":")
        size = struct.calcsize(kind)
        if at + size > len(data):
            return
        if name.rpartition(".")[2] not in LEFT_OUT:
            yield name, struct.unpack_from(kind if kind.startswith(">") else "=" + kind, data, at)[0]
        at += size


def values(words: str) -> list[tuple[str, int]]:
    """What a command hands over, by field; empty where tc refuses it."""
    message, _ = sent(words)
    kind = next(it for it in (*ATTRIBUTES, *FIRST) if f" {it} " in f"{words} ")
    if len(message) < 36 or struct.unpack_from("=H", message, 4)[0] not in (_NEW_QDISC, _NEW_CLASS, _NEW_FILTER):
        return []
    options = dict(attributes(message[36:])).get(_OPTIONS, b"")
    if kind in ("police", "pedit"):
        actions = next(data for _, data in attributes(options) if kind.encode() in data)
        options = dict(attributes(dict(attributes(actions))[1]))[_OPTIONS]
    found = list(fields(FIRST.get(kind, []), options))
    first = sum(struct.calcsize(it.rpartition(":")[2]) for it in FIRST.get(kind, []))
    for number, data in attributes(options[first:]):
        found += fields(ATTRIBUTES.get(kind, {}).get(number, []), data)
    return found


def main() -> int:
    """Writes the table."""
    with TABLE.open("w", encoding="ascii", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for words in tomllib.loads(COMMANDS.read_text())["commands"]:
            rows = values(words)
            out.writerows([words, name, value] for name, value in rows or [("refused", 1)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
