"""Configurations of tc drawn at random: the same for a seed, with all that is to be drawn; and what is kept of them."""

from __future__ import annotations

import json

import pytest

import answers
import differential
from drawn import MOST_CLASSES, PACKETS, configuration

DRAWN = [configuration(1, number) for number in range(200)]


def test_a_seed_draws_the_same_again() -> None:
    assert [configuration(1, number) for number in range(20)] == DRAWN[:20]
    assert configuration(2, 0) != DRAWN[0]


def test_each_has_its_packets_and_few_classes() -> None:
    assert {len(it.packets) for it in DRAWN} == {PACKETS}
    assert all(it.text.count(" class add ") <= MOST_CLASSES for it in DRAWN)


@pytest.mark.parametrize(
    "words",
    [
        *(" htb", " hfsc", " prio", " drr", " clsact", " ingress", "$DEV", "0x"),
        *(" u32 ", " flower ", " fw", " matchall", " basic "),
        *("protocol ip ", "protocol ipv6 ", "protocol arp ", "protocol all ", "protocol 802.1q "),
        *(" police ", " conform-exceed ", " mtu ", " reclassify", " continue", " pipe", " skbedit mark "),
    ],
)
def test_all_words_are_drawn(words: str) -> None:
    assert sum(words in it.text for it in DRAWN) >= 3


def test_the_shell_gives_a_command_for_each_line() -> None:
    for it in DRAWN[:40]:
        commands = answers.commands(it.text)
        assert len(commands) == len(answers.lines(it.text))
        assert not any("$" in command for command in commands)


def test_what_is_kept_has_a_fate_for_each_packet() -> None:
    kept = [json.loads(line) for line in differential.FILE.read_text().splitlines()]
    assert len(kept) == differential.KEPT
    assert differential.FILE.stat().st_size < 300_000
    assert all(len(it["packets"]) == len(it["fates"]) == differential.KEPT_PACKETS for it in kept)
