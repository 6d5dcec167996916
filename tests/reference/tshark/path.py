"""A path in user space: frames of one device leave the other later, at a rate, and some never.

    path.py LEFT RIGHT [--delay 9ms] [--delay-of 10.79.0.3=39ms ...] [--rate 4Mbit] [--limit 30p] [--loss 2%] [--seed 1]

For make.sh, because not every kernel has netem. Both directions have the same delay, rate and queue; frames are lost on
the way from LEFT to RIGHT and back with the same probability, before the queue. `--delay-of` is for packets from or to
an IPv4 address.
"""

import argparse
import collections
import ipaddress
import random
import select
import socket
import time

ETH_P_ALL = 0x0003
IPV4 = b"\x08\x00"


def seconds(text: str) -> float:
    return float(text.removesuffix("ms")) / 1e3


def bits(text: str) -> float:
    return float(text.removesuffix("Mbit")) * 1e6


def share(text: str) -> float:
    return float(text.removesuffix("%")) / 100


def exception(text: str) -> tuple[bytes, float]:
    address, delay = text.split("=")
    return ipaddress.ip_address(address).packed, seconds(delay)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("devices", nargs=2)
    parser.add_argument("--delay", type=seconds, default=0.0)
    parser.add_argument("--delay-of", type=exception, action="append", default=[])
    parser.add_argument("--rate", type=bits, default=1e9)
    parser.add_argument("--limit", type=lambda text: int(text.removesuffix("p")), default=1000)
    parser.add_argument("--loss", type=share, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def open_wire(name: str) -> socket.socket:
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    wire.bind((name, ETH_P_ALL))
    return wire


class Direction:
    """A queue before a line; frames arrive in order of their own delay's line."""

    def __init__(self, out: socket.socket, options: argparse.Namespace, seed: int) -> None:
        self.out = out
        self.options = options
        self.delays = dict(options.delay_of)
        self.random = random.Random(seed)
        self.free_at = 0.0
        self.under_way: dict[float, collections.deque[tuple[float, bytes]]] = {}

    def delay(self, frame: bytes) -> float:
        if frame[12:14] != IPV4:
            return self.options.delay
        return self.delays.get(frame[26:30], self.delays.get(frame[30:34], self.options.delay))

    def enter(self, now: float, frame: bytes) -> None:
        time_of_one = 8 * len(frame) / self.options.rate
        full = (self.free_at - now) / time_of_one >= self.options.limit
        is_ip = frame[12:14] in {IPV4, b"\x86\xdd"}
        if full or (is_ip and self.random.random() < self.options.loss):
            return
        self.free_at = max(self.free_at, now) + time_of_one
        delay = self.delay(frame)
        self.under_way.setdefault(delay, collections.deque()).append((self.free_at + delay, frame))

    def leave(self, now: float) -> None:
        for line in self.under_way.values():
            while line and line[0][0] <= now:
                self.out.send(line.popleft()[1])

    def next_at(self) -> float:
        return min((line[0][0] for line in self.under_way.values() if line), default=float("inf"))


def main() -> None:
    options = arguments()
    left, right = (open_wire(name) for name in options.devices)
    directions = {left: Direction(right, options, 2 * options.seed), right: Direction(left, options, 2 * options.seed + 1)}
    while True:
        wait = min(direction.next_at() for direction in directions.values()) - time.monotonic()
        readable, _, _ = select.select(list(directions), [], [], min(max(wait, 0), 1))
        for wire in readable:
            frame, (_, _, kind, _, _) = wire.recvfrom(65536)
            if kind != socket.PACKET_OUTGOING:
                directions[wire].enter(time.monotonic(), frame)
        for direction in directions.values():
            direction.leave(time.monotonic())


if __name__ == "__main__":
    main()
