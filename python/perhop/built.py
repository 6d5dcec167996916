"""For what machine the extension module was built, if that is not the one on which this Python runs."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

#: `e_machine` of an ELF file, and `cputype` of a Mach-O file.
ELF = {3: "i686", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
MACH_O = {0x01000007: "x86_64", 0x0100000C: "arm64"}


def misfit() -> str | None:
    """What to say of an extension module for another machine; `None` if there is none."""
    here = f"{platform.system()} {platform.machine()}"
    for module in sorted(Path(__file__).parent.glob("_core*.so")):
        built = built_for(module)
        if built not in (None, here):
            return (
                f"{module} was built for {built}, and this Python, {sys.executable}, runs on {here}. "
                f"Install the wheel for {here}: `pip install --force-reinstall perhop`; or run `make` in a checkout."
            )
    return None


def built_for(module: Path) -> str | None:
    """The system and the processor of an extension module, as `platform` names them."""
    with module.open("rb") as file:
        head = file.read(20)
    if head[:4] == b"\x7fELF":
        number = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
        return f"Linux {ELF.get(number, f'processor {number}')}"
    if head[:4] == b"\xcf\xfa\xed\xfe":
        number = int.from_bytes(head[4:8], "little")
        return f"Darwin {MACH_O.get(number, f'processor {number}')}"
    return None
