"""`perhop forward` at work inside the kernel, as a process between two interfaces of a namespace."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

#: It says this once both interfaces are open.
_BEGUN = "forwarding "


class Forwarder:
    """The program, from the time at which it forwards until it is ended."""

    def __init__(self, namespace: str, devices: tuple[str, str], words: list[str]) -> None:
        """`words`: the program, and its options except for the interfaces; waits until it forwards."""
        program, *options = words
        inside = ["ip", "netns", "exec", namespace, program, "forward", "--in", devices[0], "--out", devices[1]]
        self._process = subprocess.Popen(
            [*inside, *options, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        told = []
        assert self._process.stderr
        for line in self._process.stderr:
            told.append(line)
            if line.startswith(_BEGUN):
                return
        raise SystemExit(f"lab: {' '.join(inside)}: {''.join(told).strip()}")

    def end(self) -> dict[str, Any]:
        """Ends it as its user would; its counts."""
        self._process.send_signal(signal.SIGTERM)
        out, said = self._process.communicate()
        if self._process.returncode:
            raise SystemExit(f"lab: perhop forward ended with {self._process.returncode}: {said.strip()}")
        counts: dict[str, Any] = json.loads(out)
        return {"counts": counts, "said": said}
