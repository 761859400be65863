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
from .wasm import Code, ComponentSection, Reader, Section, Span, spans

# `_Py_IMMORTAL_INITIAL_REFCNT` of CPython 3.14 with addresses of 32 bits.
IMMORTAL = 5 << 28
# Count and type: how each object begins.
HEADER = struct.Struct("<II")
# A segment that is copied by an instruction, and one that names its memory.
PASSIVE, EXPLICIT = 1, 2


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
    nested = [Span(ComponentSection.COMPONENT, 0, len(component))]
    while nested:
        whole = nested.pop()
        for span in spans(component, whole.start, whole.end):
            if whole.number == ComponentSection.COMPONENT and span.number in (ComponentSection.MODULE, ComponentSection.COMPONENT):
                nested.append(span)
            elif whole.number == ComponentSection.MODULE and span.number == Section.DATA:
                segments = sorted(_segments(Reader(component, span.start)))
                largest = max(largest, segments, key=lambda found: sum(one.length for one in found))
    return largest


def _segments(reader: Reader) -> Iterator[Segment]:
    """The segments of a data section whose address is a constant."""
    for _ in range(reader.unsigned()):
        flags, address = reader.unsigned(), None
        if flags == EXPLICIT:
            reader.unsigned()
        if flags != PASSIVE:
            # An address below 2 GiB has the same bytes as an unsigned number.
            instruction, value = reader.byte(), reader.unsigned()
            address = value if instruction == Code.I32_CONST else None
            reader.byte()
        length = reader.unsigned()
        if address is not None:
            yield Segment(address, reader.at, length)
        reader.at += length
