"""What is asked about a text."""

from __future__ import annotations

CHECK = ("check", "check --json")
TUNED = ("tune svb", "tune svb --json", "tune msvb", "tune msvb --json")
POLICIES = ("examples/mark-af.toml", "examples/mark-labels.toml")
LINK = "--link 50Mbit/s"
LINES = "lines"
"""Beside the verbs of a configuration that is read: how many of its lines are modelled, by `OF_LINES`."""
OF_LINES = f"import {LINK} --json"
OF: dict[str, tuple[str, ...]] = {
    "scenario": (
        *CHECK,
        "import",
        "explain",
        "explain --json",
        "explain --as tc",
        "explain --as tc --json",
        "explain --as ios",
        "explain --as ios --platform ios --json",
        "run",
        "run --json",
        "run --tc-stats",
        "meter tests/captures/tcp.pcap --json --policy",
    ),
    "other": ("check", "import", "explain"),
    "study": ("check", "explain", "run --json"),
    "configuration": (
        *CHECK,
        "explain",
        "import",
        "import --json",
        f"import {LINK}",
        f"import {LINK} --platform ios --json",
        "import --from tc",
        "import --as policy",
        "predict --json",
        f"predict --all {LINK}",
        *(f"import {LINK} | explain{form}" for form in ("", " --as tc", " --as ios")),
    ),
    "capture": (
        "check",
        "import",
        "explain",
        "meter",
        "meter --json",
        "meter --rtt --samples --json",
        "meter --bursts",
        "meter --once --partial --json",
        *(f"meter --by {by}{form}" for by in ("host", "pair", "flow", "dscp", "ecn") for form in ("", " --json")),
        "meter --csv -",
        *(f"meter --policy {policy}{form}" for policy in POLICIES for form in ("", " --json")),
        *(f"mark --policy {policy}" for policy in POLICIES),
    ),
    "within scenario": ("check", "explain"),
    "within other": ("check",),
    "within configuration": ("check",),
    "listed": ("list", "list --json"),
    "public capture": ("meter --json",),
    "public configuration": ("check", "import", "import | explain"),
}
"""By kind of text; the text is the last word, also of what stands before `|`."""
REFUSED = 2
OF_REFUSED = (
    "check --json",
    "import",
    "explain",
    "explain --as tc",
    "explain --as ios",
    "run",
    "sweep --json",
    "tune svb",
)
"""What is asked about a scenario that `check` refuses, for the same reasons."""
PORTS = 2
"""Ports of a scenario that are written one by one, and of a configuration that are imported so."""
TIME = "--duration 200ms --warmup 0s"
"""Of what is simulated."""
MOST_BITS, MOST_MS, LEAST_MS = 2e6, 1000, 10
