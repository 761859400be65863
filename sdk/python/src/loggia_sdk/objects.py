"""Finds the objects of the interpreter while a component is built. Runs inside the component."""

from __future__ import annotations

import gc
import sys
from types import CodeType
from typing import Any

# Bytes of memory for each bit of a map: objects begin at multiples of it.
SLOT = 4
# Bytes of memory that a map covers. Components have 64 MiB unless their operator grants more.
COVERED = 64 << 20
EMPTY = bytes(4096)


def write_map(path: str) -> None:
    """Writes one bit for each slot of memory, the lowest bit of a byte first: 1 if an object begins there."""
    marks = bytearray(COVERED // SLOT // 8)
    gc.collect()
    # Iterators leave less behind, in the memory that becomes the component, than a list and a set of all objects would.
    open_parts = [iter([sys.modules, *gc.get_objects()])]
    while open_parts:
        for part in open_parts[-1]:
            slot = id(part) // SLOT
            at, bit = slot >> 3, 1 << (slot & 7)
            if at < len(marks) and not marks[at] & bit:
                marks[at] |= bit
                open_parts.append(iter(_parts(part)))
                break
        else:
            open_parts.pop()
    with open(path, "wb") as file:
        file.write(marks)
    for at in range(0, len(marks), len(EMPTY)):
        marks[at : at + len(EMPTY)] = EMPTY


def _parts(one: Any) -> list[Any]:
    """The objects that an object refers to. The garbage collector does not know those of code."""
    code = [one.co_consts, one.co_names, one.co_name, one.co_qualname] if isinstance(one, CodeType) else []
    return [type(one), *code, *gc.get_referents(one)]
