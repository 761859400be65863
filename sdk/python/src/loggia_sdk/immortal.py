"""Makes the objects of a built component immortal, so that calls do not count references to them.

Each call runs in a fresh instance, where the first write to a page costs a page fault. A third of the pages that a call writes would
hold nothing new but reference counts. CPython does not change the count of an immortal object. That it is never freed costs nothing,
since its instance ends with the call.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from .objects import SLOT

# `_Py_IMMORTAL_INITIAL_REFCNT` of CPython 3.14 with addresses of 32 bits.
IMMORTAL = 5 << 28
# Count and type: how each object begins.
HEADER = struct.Struct("<II")
# Numbers of the WebAssembly binary format.
PREAMBLE = 8
CORE_MODULE, COMPONENT, DATA = 1, 4, 11
# A segment that is copied by an instruction, and one that names its memory.
PASSIVE, EXPLICIT = 1, 2
I32_CONST = 0x41
# Length of the instruction that ends an expression.
END = 1


class Segment(NamedTuple):
    """Bytes of a component that become memory."""

    address: int
    offset: int
    length: int


def immortalise(component: bytearray, marks: bytes) -> int:
    """Changes the counts of objects in `component` in place, and returns how many it changed. `marks` is the map of `objects`.

    An object can have been freed after the map was made. Then its count is zero or the address of other free memory.
    """
    addresses = [(at * 8 + bit) * SLOT for at, byte in enumerate(marks) if byte for bit in range(8) if byte >> bit & 1]
    objects, changed = set(addresses), 0
    segments = _memory(component)
    starts = [segment.address for segment in segments]
    for address in addresses:
        segment = segments[bisect_right(starts, address) - 1]
        within = address - segment.address
        if not 0 <= within <= segment.length - HEADER.size:
            continue
        count, kind = HEADER.unpack_from(component, segment.offset + within)
        if 0 < count < addresses[0] and kind in objects:
            HEADER.pack_into(component, segment.offset + within, IMMORTAL, kind)
            changed += 1
    return changed


def _memory(component: bytearray) -> list[Segment]:
    """The segments of the module that fills the memory, by address."""
    largest: list[Segment] = []
    nested = [(0, len(component))]
    while nested:
        start, end = nested.pop()
        # A module and a component differ in the second half of their version.
        is_module = component[start + 6] == 0
        at = start + PREAMBLE
        while at < end:
            section = component[at]
            size, at = _unsigned(component, at + 1)
            if is_module and section == DATA:
                largest = max(largest, sorted(_segments(component, at)), key=lambda found: sum(one.length for one in found))
            elif not is_module and section in (CORE_MODULE, COMPONENT):
                nested.append((at, at + size))
            at += size
    return largest


def _segments(component: bytearray, at: int) -> Iterator[Segment]:
    """The segments of a data section whose address is a constant."""
    count, at = _unsigned(component, at)
    for _ in range(count):
        flags, at = _unsigned(component, at)
        address = None
        if flags == EXPLICIT:
            _, at = _unsigned(component, at)
        if flags != PASSIVE:
            # An address below 2 GiB has the same bytes as an unsigned number.
            operator, (value, at) = component[at], _unsigned(component, at + 1)
            address = value if operator == I32_CONST else None
            at += END
        length, at = _unsigned(component, at)
        if address is not None:
            yield Segment(address, at, length)
        at += length


def _unsigned(component: bytearray, at: int) -> tuple[int, int]:
    """A number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte = component[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
