"""Joins a component of three modules: the owner of the table, the interpreter `lib`, and an adapter of WASI."""

import contextlib
import io
import unittest

from loggia_sdk import build
from loggia_sdk.join import join
from loggia_sdk.module import Export, Global, Import, LayoutError, Module
from loggia_sdk.wasm import MODULE, ComponentSection, Kind, Section, name, section, spans, unsigned, vector

FUNCTION, TABLE, MEMORY, GLOBAL = Kind
# The section of the function that runs when an instance is made.
START = 8
COMPONENT = b"\0asm\x0d\0\x01\0"
I32, MUTABLE = b"\x7f\0", b"\x7f\1"
NUMBER_TO_NUMBER, NOTHING_TO_NOTHING = b"\x60\1\x7f\1\x7f", b"\x60\0\0"
# Locals, `local.get 0`, `call 0`, and the end of a body.
OWN_BODIES = [b"\0\x20\0\x10\0\x0b", b"\0\x20\0\x0b"]
GLOBALS = {b"__stack_pointer": (MUTABLE, 64), b"other": (I32, -9), b"lib:memory_base": (I32, 32), b"lib:table_base": (I32, 1), b"lib:errno": (MUTABLE, 7)}


def module(*sections):
    return MODULE + b"".join(section(number, vector(items)) for number, items in sections)


def through(element, kind, parameters):
    """The body of a function that calls an element of the table."""
    return b"\0" + b"".join(b"\x20" + unsigned(at) for at in range(parameters)) + bytes([0x41, element, 0x11, kind, 0, 0x0B])


def owner(table=b"\x70\0\4", body=None):
    exports = [Export(b"g", FUNCTION, 1), Export(b"reset", FUNCTION, 0), Export(b"memory", MEMORY, 0), Export(b"__indirect_function_table", TABLE, 0)]
    exports += [Export(one, GLOBAL, at) for at, one in enumerate(GLOBALS)]
    return module(
        (Section.TYPE, [NOTHING_TO_NOTHING, NUMBER_TO_NUMBER]),
        (Section.IMPORT, [Import(b"wasi", b"reset", FUNCTION, b"\0").render()]),
        (Section.FUNCTION, [b"\1"]),
        (Section.TABLE, [table]),
        (Section.MEMORY, [b"\0\1"]),
        (Section.GLOBAL, [Global(*one).render() for one in GLOBALS.values()]),
        (Section.EXPORT, [one.render() for one in exports]),
        (Section.CODE, [name(body or through(3, kind=1, parameters=1))]),
        (Section.DATA, [b"\0\x41\0\x0b\2hi"]),
    )


def interpreter(symbol=b"errno"):
    imports = [
        Import(b"env", b"memory", MEMORY, b"\0\1"),
        Import(b"env", b"__indirect_function_table", TABLE, b"\x70\0\2"),
        Import(b"env", b"__table_base", GLOBAL, I32),
        Import(b"env", b"puts", FUNCTION, b"\0"),
        Import(b"env", b"__memory_base", GLOBAL, I32),
        Import(b"GOT.mem", symbol, GLOBAL, MUTABLE),
    ]
    exports = [Export(b"f", FUNCTION, 1), Export(b"unused", FUNCTION, 1), Export(b"place", GLOBAL, 3), Export(b"g", FUNCTION, 2)]
    sections = module(
        (Section.TYPE, [NUMBER_TO_NUMBER]),
        (Section.IMPORT, [one.render() for one in imports]),
        (Section.FUNCTION, [b"\0", b"\0"]),
        # Four bytes after the beginning of the library's memory.
        (Section.GLOBAL, [I32 + b"\x23\1\x41\4\x6a\x0b"]),
        (Section.EXPORT, [one.render() for one in exports]),
        (Section.ELEMENT, [b"\0\x23\0\x0b" + vector([b"\1", b"\2"])]),
        (Section.CODE, [name(body) for body in OWN_BODIES]),
    )
    return sections + section(Section.CUSTOM, name(b"dylink.0")) + section(Section.CUSTOM, name(b"name") + b"f")


def user():
    """A module that uses an export of the interpreter."""
    return module((Section.TYPE, [NUMBER_TO_NUMBER]), (Section.IMPORT, [Import(b"lib", b"g", FUNCTION, b"\0").render()]))


def component(*modules):
    def instance(module, **given):
        return bytes([0, module]) + vector(name(one.encode()) + bytes([0x12, at]) for one, at in given.items())

    exported = bytes([1]) + vector([name(b"reset") + b"\0\0"])
    instances = [[instance(2), exported, instance(0, wasi=1)], [exported, instance(1, env=3)]]
    # The adapter's `f` and `place`, an instance's export, and something of a component around.
    aliases = [b"\0\0\1\4" + name(b"f"), b"\0\3\1\4" + name(b"place"), b"\1\0\0" + name(b"unused"), b"\3\2\1\0"]
    made = [(ComponentSection.MODULE, one) for one in modules] + [(ComponentSection.INSTANCE, vector(one)) for one in instances]
    made.append((ComponentSection.ALIAS, vector(aliases)))
    return COMPONENT + b"".join(section(*one) for one in made)


def contents(binary):
    return [(span.number, binary[span.start : span.end]) for span in spans(binary)]


class JoinTests(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.before = component(owner(), interpreter(), user())
        self.after = contents(join(self.before))
        self.joined, self.adapter = Module(self.after[0][1]), Module(self.after[1][1])

    def test_the_interpreter_defines_the_table_that_it_fills(self):
        joined = self.joined
        self.assertEqual(joined.imports(), [])
        self.assertEqual(joined.types(), [NUMBER_TO_NUMBER, NOTHING_TO_NOTHING, NUMBER_TO_NUMBER])
        # Two more elements: `puts` and `reset`.
        self.assertEqual(joined.sections[Section.TABLE], b"\1\x70\0\6")
        self.assertEqual(joined.sections[Section.ELEMENT], b"\1\0\x41\1\x0b\2\1\2")
        self.assertEqual(joined.sections[Section.DATA], b"\1\0\x41\0\x0b\2hi")
        self.assertEqual(joined.custom, [name(b"name") + b"f"])

    def test_imports_become_calls_of_elements(self):
        self.assertEqual(self.joined.functions(), [0, 0, 0, 1, 2])
        puts, reset, later = through(4, kind=0, parameters=1), through(5, kind=1, parameters=0), through(3, kind=2, parameters=1)
        self.assertEqual(self.joined.bodies(), [puts, *OWN_BODIES, reset, later])
        self.assertEqual([one[:3] for one in self.adapter.imports()][:2], [(b"env", b"puts", FUNCTION), (b"wasi", b"reset", FUNCTION)])
        self.assertEqual(self.adapter.sections[Section.ELEMENT], b"\1\0\x41\4\x0b\2\0\1")

    def test_globals_of_the_interpreter_come_first(self):
        expected = [(I32, 1), (I32, 32), (MUTABLE, 7), (I32, 36), (MUTABLE, 64), (I32, -9)]
        self.assertEqual(self.joined.globals([]), [Global(*one) for one in expected])

    def test_exports_keep_their_names(self):
        places = {b"lib:table_base": 0, b"lib:memory_base": 1, b"lib:errno": 2, b"__stack_pointer": 4, b"other": 5}
        owners = [(b"g", FUNCTION, 4), (b"reset", FUNCTION, 3), (b"memory", MEMORY, 0), (b"__indirect_function_table", TABLE, 0)]
        owners += [(one, GLOBAL, places[one]) for one in GLOBALS]
        self.assertEqual(self.joined.exports(), [*owners, (b"0", FUNCTION, 1), (b"1", GLOBAL, 3), (b"2", FUNCTION, 2)])
        self.assertEqual(self.adapter.exports(), [(b"f", FUNCTION, 2), (b"place", GLOBAL, 0), (b"g", FUNCTION, 3)])
        passed = [(b"joined", b"0", FUNCTION, b"\0"), (b"joined", b"1", GLOBAL, I32), (b"joined", b"2", FUNCTION, b"\0")]
        table = (b"env", b"__indirect_function_table", TABLE, b"\x70\0\6")
        self.assertEqual(self.adapter.imports()[2:], [*passed, table])

    def test_only_the_adapter_has_other_arguments(self):
        before = contents(self.before)
        changed = [at for at, one in enumerate(self.after) if one != before[at]]
        self.assertEqual(changed, [0, 1, 4])
        arguments = vector(name(one) + bytes([0x12, at]) for one, at in ((b"env", 3), (b"wasi", 1), (b"joined", 2)))
        self.assertEqual(self.after[4][1], before[4][1].replace(vector([name(b"env") + b"\x12\3"]), arguments))

    def test_other_layouts_are_left_as_they_are(self):
        small = user()
        for modules, reason in (
            ((small, interpreter(), small), "0 modules define a table and a memory"),
            ((owner(), small, small), "no library writes functions into the table"),
            ((owner(table=b"\x70\1\4\4"), interpreter(), small), "the table has a maximum, or is not the only one"),
            ((owner(body=b"\0\x20\0\x0b"), interpreter(), small), "a function of the owner does something else than to call an element of the table"),
            ((owner(), interpreter() + section(START, b"\1"), small), "the interpreter has the sections [1, 2, 3, 6, 7, 8, 9, 10]"),
            ((owner() + section(START, b"\1"), interpreter(), small), "the owner has the sections [1, 2, 3, 4, 5, 6, 7, 8, 10, 11]"),
            ((owner(), interpreter(symbol=b"stdout"), small), "the owner lacks globals that the interpreter imports"),
        ):
            with self.assertRaises(LayoutError) as raised:
                join(component(*modules))
            self.assertEqual(str(raised.exception), reason)
            with contextlib.redirect_stderr(io.StringIO()) as warned:
                self.assertEqual(build._joined(component(*modules)), component(*modules))
            self.assertIn(reason, warned.getvalue())


if __name__ == "__main__":
    unittest.main()
