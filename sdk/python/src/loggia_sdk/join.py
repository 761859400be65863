"""Joins two modules of a built component, so that the interpreter's functions enter the table of functions at their first use.

componentize-py links libraries. One module, the owner, defines the memory, the table and the globals that libraries share, and has a function
for each one that a library calls and a later library defines. Each library writes its functions into the table: 5,378 in a small
component, 4,955 of them the interpreter's. An engine does that one by one for each instance, which takes longer than many a call, unless one
module defines the table and fills it: then an element becomes a function when it is first used.

So the owner becomes part of the interpreter's module. As the first module of all, that cannot import from libraries: what the interpreter
imports becomes a function that calls through a new place at the end of the table. An adapter, in place of the interpreter, fills these places
and passes the interpreter's exports on. No index changes within the interpreter's code, and none within the component, whose only other
change is that the adapter has more arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from .module import ACTIVE, Import, LayoutError, Module, constant, expect
from .wasm import MODULE, Code, ComponentSection, Kind, Reader, Section, name, section, signed, spans, unsigned, vector

# Names that componentize-py gives. Globals of the owner are those of a library: `libpython3.14.so:errno`.
TABLE, SYMBOLS = b"__indirect_function_table", (b"GOT.mem", b"GOT.func")
BASES = (b"__memory_base", b"__table_base")
NAMES_FOR_DEBUGGERS = b"name"
# The joined module, as an argument of the adapter.
JOINED = b"joined"
# Functions, without a maximum.
TABLE_TYPE = bytes([0x70, 0])
# How an instance of a module begins, and an argument that is an instance.
INSTANTIATE, INSTANCE = 0, 0x12
# Aliases: the sort of what modules export, and their targets.
OF_CORE, OF_CORE_INSTANCE, OUTER = 0, 1, 2
# What the two modules have. Anything else, such as a function that runs when an instance is made, would be lost.
OF_BOTH = {Section.TYPE, Section.IMPORT, Section.FUNCTION, Section.GLOBAL, Section.EXPORT, Section.CODE}
OF_OWNER, OF_INTERPRETER = OF_BOTH | {Section.TABLE, Section.MEMORY, Section.DATA}, OF_BOTH | {Section.ELEMENT}


def join(component: bytes) -> bytes:
    """The component with its owner and its interpreter joined. Raises `LayoutError` if it has no such modules."""
    found = list(spans(component))
    contents = [bytes(component[span.start : span.end]) for span in found]
    positions = [at for at, span in enumerate(found) if span.number == ComponentSection.MODULE]
    modules = [Module(contents[at]) for at in positions]
    owners = [at for at, module in enumerate(modules) if module.sections.keys() >= {Section.TABLE, Section.MEMORY}]
    expect(len(owners) == 1, f"{len(owners)} modules define a table and a memory")
    owner, interpreter = owners[0], max(range(len(modules)), key=lambda at: Reader(modules[at].elements()).unsigned())
    expect(interpreter > owner, "no library writes functions into the table")
    used = {one.name for module in modules for one in module.imports()}
    used |= {one for at, span in enumerate(found) if span.number == ComponentSection.ALIAS for one in _aliased(contents[at])}
    joint = Joint(modules[owner], modules[interpreter], used)
    contents[positions[owner]], contents[positions[interpreter]] = joint.joined(), joint.adapter()
    instances = Instances(owner, interpreter)
    for at, span in enumerate(found):
        if span.number == ComponentSection.INSTANCE:
            contents[at] = instances.rewrite(contents[at])
    return bytes(component[: len(MODULE)]) + b"".join(section(span.number, content) for span, content in zip(found, contents))


class Function(NamedTuple):
    # Its index among the types.
    type: int
    body: bytes


class Joint:
    """The two modules that an owner and an interpreter become."""

    def __init__(self, owner: Module, interpreter: Module, used: set[bytes]):
        expect(owner.sections.keys() == OF_OWNER, f"the owner has the sections {sorted(owner.sections)}")
        expect(interpreter.sections.keys() == OF_INTERPRETER, f"the interpreter has the sections {sorted(interpreter.sections)}")
        self.owner, self.interpreter = owner, interpreter
        # Each export that is passed on is a part of each instance, and few of thousands are used.
        self.passed = [one for one in interpreter.exports() if one.name in used]
        own_types = interpreter.types()
        self.types = own_types + owner.types()
        self.table_size = _table_size(owner)
        # The adapter writes these into the table: what the interpreter imports, and what the owner does.
        needed = [one for one in interpreter.imports() if one.kind == Kind.FUNCTION]
        handed = [one._replace(type=unsigned(len(own_types) + one.type_index())) for one in owner.imports()]
        expect(all(one.kind == Kind.FUNCTION for one in handed), "the owner imports something else than functions")
        self.places = needed + handed
        calls = [self._call(one.type_index(), self.table_size + at) for at, one in enumerate(self.places)]
        own = [Function(*one) for one in zip(interpreter.functions(), interpreter.bodies())]
        early = [self._call(len(own_types) + kind, _element(body)) for kind, body in zip(owner.functions(), owner.bodies())]
        self.functions = calls[: len(needed)] + own + calls[len(needed) :] + early
        # The owner's functions move by as many.
        self.moved = len(needed) + len(own)
        # Globals: what the interpreter imports, its own, and the owner's other ones.
        shared, named = owner.globals([]), {one.name: one.index for one in owner.exports() if one.kind == Kind.GLOBAL}
        imports = [one for one in interpreter.imports() if one.kind == Kind.GLOBAL]
        library = _library(imports, named)
        kept = [named[_owners_name(one, library)] for one in imports]
        expect(len(set(kept)) == len(kept), "the interpreter imports a global twice")
        others = sorted(set(range(len(shared))) - set(kept))
        own_globals = interpreter.globals([shared[at] for at in kept])
        self.globals = [shared[at] for at in kept] + own_globals + [shared[at] for at in others]
        self.global_index = dict(zip(kept, count())) | dict(zip(others, count(len(kept) + len(own_globals))))
        self.table_base = shared[named[library + b":table_base"]].value

    def _call(self, kind: int, element: int) -> Function:
        """A function of a type that passes its parameters to an element of the table."""
        parameters = Reader(self.types[kind], at=1).unsigned()
        given = b"".join(bytes([Code.LOCAL_GET]) + unsigned(at) for at in range(parameters))
        # It has no locals, and its table is the first one.
        call = bytes([Code.I32_CONST]) + signed(element) + bytes([Code.CALL_INDIRECT]) + unsigned(kind) + unsigned(0)
        return Function(kind, unsigned(0) + given + call + bytes([Code.END]))

    def joined(self) -> bytes:
        """The module that defines memory, table, globals and the interpreter's functions. Its exports are the owner's, since the component
        uses them, and those of the interpreter, named by their numbers."""
        move = {Kind.FUNCTION: lambda at: at + self.moved, Kind.GLOBAL: self.global_index.get}
        exports = [one._replace(index=move.get(one.kind, int)(one.index)) for one in self.owner.exports()]
        exports += [one._replace(name=_number(at)) for at, one in enumerate(self.passed)]
        return _module(
            (Section.TYPE, vector(self.types)),
            (Section.FUNCTION, vector(unsigned(one.type) for one in self.functions)),
            (Section.TABLE, vector([self._table()])),
            (Section.MEMORY, self.owner.sections[Section.MEMORY]),
            (Section.GLOBAL, vector(one.render() for one in self.globals)),
            (Section.EXPORT, vector(one.render() for one in exports)),
            (Section.ELEMENT, vector([_segment(self.table_base, self.interpreter.elements())])),
            (Section.CODE, vector(name(one.body) for one in self.functions)),
            (Section.DATA, self.owner.sections[Section.DATA]),
            # For traces and profiles: the interpreter's functions have the indices that they had.
            *[(Section.CUSTOM, one) for one in self.interpreter.custom if Reader(one).name() == NAMES_FOR_DEBUGGERS],
        )

    def adapter(self) -> bytes:
        """The module that writes into the table what the interpreter needs, and passes the interpreter's exports on."""
        kinds = {Kind.FUNCTION: lambda at: unsigned(self.functions[at].type), Kind.GLOBAL: lambda at: self.globals[at].type}
        expect({one.kind for one in self.passed} <= kinds.keys(), "the interpreter exports something else than functions and globals")
        passed = [Import(JOINED, _number(at), one.kind, kinds[one.kind](one.index)) for at, one in enumerate(self.passed)]
        table = next(one for one in self.interpreter.imports() if one.name == TABLE)
        imports = [*self.places, *passed, table._replace(type=self._table())]
        # Functions and globals are counted each for itself.
        numbers = {Kind.FUNCTION: iter(range(len(self.places), len(imports))), Kind.GLOBAL: iter(range(len(imports)))}
        return _module(
            (Section.TYPE, vector(self.types)),
            (Section.IMPORT, vector(one.render() for one in imports)),
            (Section.EXPORT, vector(one._replace(index=next(numbers[one.kind])).render() for one in self.passed)),
            (Section.ELEMENT, vector([_segment(self.table_size, vector(map(unsigned, range(len(self.places)))))])),
        )

    def _table(self) -> bytes:
        return TABLE_TYPE + unsigned(self.table_size + len(self.places))


class Instances:
    """The instances of a component, in its order."""

    def __init__(self, owner: int, interpreter: int):
        # Indices of modules.
        self.owner, self.interpreter = owner, interpreter
        self.count = 0
        # The arguments that the owner has, and itself.
        self.more: list[tuple[bytes, int]] = []

    def rewrite(self, content: bytes) -> bytes:
        """A section of instances in which that of the interpreter has more arguments."""
        reader = Reader(content)
        return vector(reader.vector(lambda: self._one(reader)))

    def _one(self, reader: Reader) -> bytes:
        start, instance = reader.at, self.count
        self.count += 1
        if reader.byte() != INSTANTIATE:
            reader.vector(lambda: (reader.name(), reader.byte(), reader.unsigned()))
            return reader.since(start)
        module = reader.unsigned()
        given = reader.vector(lambda: (reader.name(), reader.byte(), reader.unsigned()))
        if module == self.owner:
            self.more = [*given, (JOINED, INSTANCE, instance)]
        if module != self.interpreter:
            return reader.since(start)
        given += self.more
        expect(len({one for one, *_ in given}) == len(given), "the owner and the interpreter have arguments of one name")
        return bytes([INSTANTIATE]) + unsigned(module) + vector(name(one) + bytes([kind]) + unsigned(at) for one, kind, at in given)


def _aliased(content: bytes) -> Iterator[bytes]:
    """The names of exports of core instances in a section of aliases."""
    reader = Reader(content)
    for _ in range(reader.unsigned()):
        if reader.byte() == OF_CORE:
            reader.byte()
        target = reader.byte()
        reader.unsigned()
        if target == OUTER:
            reader.unsigned()
        else:
            exported = reader.name()
            if target == OF_CORE_INSTANCE:
                yield exported


def _table_size(owner: Module) -> int:
    reader = owner.reader(Section.TABLE)
    expect(reader.unsigned() == 1 and reader.take(len(TABLE_TYPE)) == TABLE_TYPE, "the table has a maximum, or is not the only one")
    return reader.unsigned()


def _element(body: bytes) -> int:
    """The element that a function of the owner calls, which does nothing else."""
    reader = Reader(body)
    expect(reader.unsigned() == 0, "a function of the owner has locals")
    while (instruction := reader.byte()) == Code.LOCAL_GET:
        reader.unsigned()
    expect(instruction == Code.I32_CONST, "a function of the owner does something else than to call an element of the table")
    element = reader.signed()
    expect(reader.byte() == Code.CALL_INDIRECT, "a function of the owner does something else than to call an element of the table")
    return element


def _library(imports: list[Import], named: dict[bytes, int]) -> bytes:
    """The interpreter's name, with which the owner's names of all its globals begin."""
    for library in (one.rpartition(b":")[0] for one in named if one.endswith(b":memory_base")):
        if all(_owners_name(one, library) in named for one in imports):
            return library
    raise LayoutError("the owner lacks globals that the interpreter imports")


def _owners_name(one: Import, library: bytes) -> bytes:
    if one.module in SYMBOLS:
        return library + b":" + one.name
    return library + b":" + one.name.strip(b"_") if one.name in BASES else one.name


def _segment(place: int, functions: bytes) -> bytes:
    """A segment of the first table."""
    return bytes([ACTIVE]) + constant(place) + functions


def _number(at: int) -> bytes:
    return b"%d" % at


def _module(*sections: tuple[int, bytes]) -> bytes:
    return MODULE + b"".join(section(*one) for one in sections)
