"""Reads and writes the WebAssembly binary format, as far as builds of components need it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple, TypeVar

MODULE = b"\0asm\x01\0\0\0"
Item = TypeVar("Item")


class Section(IntEnum):
    """Sections of a module."""

    CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT = range(8)
    ELEMENT, CODE, DATA = 9, 10, 11


class ComponentSection(IntEnum):
    """Sections of a component."""

    MODULE, INSTANCE = 1, 2
    COMPONENT = 4
    ALIAS = 6


class Kind(IntEnum):
    """What a module imports and exports."""

    FUNCTION, TABLE, MEMORY, GLOBAL = range(4)


class Code(IntEnum):
    """Instructions."""

    END, CALL_INDIRECT, LOCAL_GET, GLOBAL_GET, I32_CONST, I32_ADD = 0x0B, 0x11, 0x20, 0x23, 0x41, 0x6A


class Span(NamedTuple):
    """A section, and where its content is in the binary."""

    number: int
    start: int
    end: int


class Reader:
    """Reads one thing after another from `binary`."""

    def __init__(self, binary: bytes | bytearray, at: int = 0):
        self.binary, self.at = binary, at

    def byte(self) -> int:
        self.at += 1
        return self.binary[self.at - 1]

    def take(self, length: int) -> bytes:
        self.at += length
        return bytes(self.binary[self.at - length : self.at])

    def unsigned(self) -> int:
        """A number in LEB128."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        """A number with a sign in LEB128."""
        start, value = self.at, self.unsigned()
        sign = self.binary[self.at - 1] & 0x40
        return value - (1 << 7 * (self.at - start)) if sign else value

    def name(self) -> bytes:
        return self.take(self.unsigned())

    def vector(self, read: Callable[[], Item]) -> list[Item]:
        return [read() for _ in range(self.unsigned())]

    def since(self, start: int) -> bytes:
        return bytes(self.binary[start : self.at])

    def rest(self) -> bytes:
        return bytes(self.binary[self.at :])


def spans(binary: bytes | bytearray, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The sections of the module or component between `start` and `end`."""
    reader = Reader(binary, start + len(MODULE))
    end = len(binary) if end is None else end
    while reader.at < end:
        number, length = reader.byte(), reader.unsigned()
        yield Span(number, reader.at, reader.at + length)
        reader.at += length


def unsigned(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def signed(value: int) -> bytes:
    written = bytearray()
    while not -0x40 <= value < 0x40:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value & 0x7F])


def name(text: bytes) -> bytes:
    return unsigned(len(text)) + text


def vector(items: Iterable[bytes]) -> bytes:
    items = list(items)
    return unsigned(len(items)) + b"".join(items)


def section(number: int, content: bytes) -> bytes:
    return bytes([number]) + name(content)
