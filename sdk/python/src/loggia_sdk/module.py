"""A core module of a component, read as far as joining modules needs it."""

from __future__ import annotations

from typing import NamedTuple

from .wasm import Code, Kind, Reader, Section, signed, spans, unsigned
from .wasm import name as write_name

FUNCTION_TYPE = 0x60
IMMUTABLE = 0
# A segment that is written into table 0 when an instance is made.
ACTIVE = 0


class LayoutError(Exception):
    """A component is laid out in another way than componentize-py does it. The message says in which."""


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise LayoutError(otherwise)


class Import(NamedTuple):
    module: bytes
    name: bytes
    kind: int
    # As it is written: an index for functions, type and mutability for globals.
    type: bytes

    def render(self) -> bytes:
        return write_name(self.module) + write_name(self.name) + bytes([self.kind]) + self.type

    def type_index(self) -> int:
        return Reader(self.type).unsigned()


class Export(NamedTuple):
    name: bytes
    kind: int
    index: int

    def render(self) -> bytes:
        return write_name(self.name) + bytes([self.kind]) + unsigned(self.index)


class Global(NamedTuple):
    # Type and mutability, as they are written.
    type: bytes
    value: int

    def render(self) -> bytes:
        return self.type + constant(self.value)


def constant(value: int) -> bytes:
    """The expression of a number of 32 bits."""
    return bytes([Code.I32_CONST]) + signed(value) + bytes([Code.END])


class Module:
    """A module. Each method reads one section."""

    def __init__(self, binary: bytes):
        found = list(spans(binary))
        self.sections = {span.number: binary[span.start : span.end] for span in found if span.number != Section.CUSTOM}
        self.custom = [binary[span.start : span.end] for span in found if span.number == Section.CUSTOM]

    def reader(self, number: int) -> Reader:
        return Reader(self.sections.get(number, unsigned(0)))

    def types(self) -> list[bytes]:
        """The types of functions, as they are written."""
        reader = self.reader(Section.TYPE)

        def read() -> bytes:
            start = reader.at
            expect(reader.byte() == FUNCTION_TYPE, "a type is not that of a function")
            for _ in ("parameters", "results"):
                reader.name()
            return reader.since(start)

        return reader.vector(read)

    def imports(self) -> list[Import]:
        reader = self.reader(Section.IMPORT)

        def read() -> Import:
            module, name, kind, start = reader.name(), reader.name(), reader.byte(), reader.at
            if kind == Kind.FUNCTION:
                reader.unsigned()
            elif kind == Kind.GLOBAL:
                reader.take(2)
            else:
                expect(kind in (Kind.TABLE, Kind.MEMORY), f"an import is of kind {kind}")
                reader.take(1 if kind == Kind.TABLE else 0)
                has_maximum = reader.byte() & 1
                for _ in range(1 + has_maximum):
                    reader.unsigned()
            return Import(module, name, kind, reader.since(start))

        return reader.vector(read)

    def functions(self) -> list[int]:
        """The types of the functions that the module defines."""
        reader = self.reader(Section.FUNCTION)
        return reader.vector(reader.unsigned)

    def bodies(self) -> list[bytes]:
        """The locals and instructions of these functions."""
        reader = self.reader(Section.CODE)
        return reader.vector(reader.name)

    def globals(self, imported: list[Global]) -> list[Global]:
        """The globals that the module defines. Their values may begin with those of `imported`."""
        reader = self.reader(Section.GLOBAL)

        def read() -> Global:
            kind, value, instruction = reader.take(2), 0, reader.byte()
            if instruction == Code.GLOBAL_GET:
                source = imported[reader.unsigned()]
                expect(source.type[1] == IMMUTABLE, "a global begins with one that changes")
                value, instruction = source.value, reader.byte()
            if instruction == Code.I32_CONST:
                value, instruction = value + reader.signed(), reader.byte()
            if instruction == Code.I32_ADD:
                instruction = reader.byte()
            expect(instruction == Code.END, f"the value of a global has the instruction {instruction:#x}")
            return Global(kind, (value + (1 << 31)) % (1 << 32) - (1 << 31))

        return reader.vector(read)

    def exports(self) -> list[Export]:
        reader = self.reader(Section.EXPORT)
        return reader.vector(lambda: Export(reader.name(), reader.byte(), reader.unsigned()))

    def elements(self) -> bytes:
        """The vector of functions that the module writes into a table of others, at a place that is a global. Empty if it has other segments."""
        reader = self.reader(Section.ELEMENT)
        if reader.unsigned() != 1 or reader.unsigned() != ACTIVE or reader.byte() != Code.GLOBAL_GET:
            return unsigned(0)
        reader.unsigned()
        expect(reader.byte() == Code.END, "the place of elements is not a global alone")
        return reader.rest()
