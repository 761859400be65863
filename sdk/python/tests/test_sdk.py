"""`python -m unittest discover -s tests` in sdk/python, with src in PYTHONPATH."""

import contextlib
import enum
import importlib
import io
import json
import struct
import sys
import tempfile
import tomllib
import types
import unittest
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from unittest import mock

from loggia_sdk import (
    CALLER, FULL, Call, Cell, Collection, Content, Counter, Example, Facade, Failure, Format, Length, Name, Next, Page, Pattern, Range, Reply, Secret,
    build, choose, confirm, elicit, host, http, immortal, peers, transaction,
)
from loggia_sdk.decode import decode
from loggia_sdk.encode import well_formed, write
from loggia_sdk.http import Response
from loggia_sdk.state import id_with_number, number_in_id
from loggia_sdk.state.data import Change
from loggia_sdk.state.table import prepare
from loggia_sdk.testing import Host, Store, describe

ROOT = Path(__file__).resolve().parents[3]
NOTES = Collection("notes", dict)


def read(function, **options):
    facade = Facade("notes", "Notes.")
    function.__doc__ = function.__doc__ or "Go."
    facade.read(**options)(function)
    return facade


@dataclass
class Report:
    id: str
    body: str
    history: Annotated[list[str], FULL]


@dataclass
class Question:
    sure: bool
    why: Annotated[str | None, Pattern("x")]
    mood: Literal["a", "b"] | None


@dataclass
class Deep:
    inner: Report


@dataclass
class Node:
    name: str
    next: "Node | None" = None


@dataclass
class Even:
    n: int

    def __post_init__(self):
        if self.n % 2:
            raise ValueError(f"{self.n} is odd")


@dataclass
class Lost:
    inner: "Nowhere"  # noqa: F821


# What componentize-py says of a mistake: the traceback in the component, and its last line again.
SAID = """Traceback (most recent call last):
  File "<string>", line 1, in <module>
AssertionError: Traceback (most recent call last):
  File "/0/loggia_guest_entry.py", line {entry}
{frames}TypeError: loggia: {message}


Caused by:
    TypeError: loggia: {message}

Stack backtrace:
   0: <anyhow::Error>::msg::<alloc::string::String>
   1: anyhow::__private::format_err
             at /tmp/python-build/Python-3.11.7/Objects/methodobject.c:486:24
"""
DECLARED = """  File "/1/app.py", line 4, in <module>
    @notes.read
     ^^^^^^^^^^
  File "/2/loggia_sdk/facade.py", line 119, in read
    return self._declare("read", function, options)
           ~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/2/loggia_sdk/facade.py", line 327, in somewhere
"""


def said(source, message, frames=DECLARED, entry="1, in <module>\n    import app"):
    """The words of componentize-py where the SDK's line `source` raised the message."""
    return SAID.format(entry=entry, frames=f"{frames}    raise TypeError({source})\n", message=message)


@dataclass(init=False, repr=False)
class Record:
    """Any record of the contract: its fields are `_0`, `_1` and so on."""

    def __init__(self, *values):
        vars(self).update((f"_{at}", value) for at, value in enumerate(values))

    def __repr__(self):
        return repr(vars(self))


class Generated(types.ModuleType):
    """A module of componentize-py's that holds any name: an enum, an exception or a record."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("Effect", "Detail", "Level", "Space"):
            members = "READ WRITE DESTRUCTIVE MINIMAL STANDARD FULL TRACE DEBUG INFO WARN ERROR SHARED CALLER"
            return enum.Enum(name, members)
        return type(name, (Exception if name == "Err" else Record,), {})


@contextlib.contextmanager
def generated():
    """The module `abi` with records as in a component, and the module of the host's imports."""
    modules = {"componentize_py_types": Generated("componentize_py_types"), "wit_world.imports": Generated("wit_world.imports")}
    for name in ("plugin_host", "plugin_state", "plugin_types"):
        modules[f"wit_world.imports.loggia_{name}_0_2_0"] = Generated(name)
    for name in ("wasi_http_outgoing_handler", "wasi_http_types", "wasi_io_streams"):
        modules[f"wit_world.imports.{name}_0_2_12"] = Generated(name)
    for name, module in modules.items():
        if name.startswith("wit_world.imports."):
            setattr(modules["wit_world.imports"], name.rpartition(".")[2], module)
    with mock.patch.dict(sys.modules, {**modules, "wit_world": Generated("wit_world")}):
        sys.modules.pop("loggia_sdk.abi", None)
        yield importlib.import_module("loggia_sdk.abi"), modules["wit_world.imports.loggia_plugin_host_0_2_0"]


class Tests(unittest.TestCase):
    def refused(self, code, text=""):
        test = self

        @contextlib.contextmanager
        def check():
            with test.assertRaises(Failure) as caught:
                yield
            test.assertEqual(caught.exception.code, code, caught.exception)
            test.assertIn(text, caught.exception.message)

        return check()

    def test_the_package_holds_the_hosts_contract(self):
        text = (ROOT / "wit/loggia.wit").read_text()
        for copy in ("sdk/python/src/loggia_sdk/wit/deps", "sdk/js/wit/deps"):
            self.assertEqual((ROOT / copy / "loggia.wit").read_text(), text, f"copy wit/loggia.wit to {copy}")

    def test_the_packages_repeat_the_workspaces_facts(self):
        facts = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
        wheel = tomllib.loads((ROOT / "sdk/python/pyproject.toml").read_text())["project"]
        self.assertEqual(wheel["urls"]["Repository"], facts["repository"])
        package = json.loads((ROOT / "sdk/js/package.json").read_text())
        self.assertEqual(package["repository"]["url"], f"git+{facts['repository']}.git")
        for folder, made in (("sdk/python", wheel), ("sdk/js", package)):
            self.assertEqual((made["version"], made["license"]), (facts["version"], facts["license"]), folder)
            # Not a link: npm leaves links out, and a source archive would hold one that leads nowhere.
            self.assertEqual((ROOT / folder / "LICENSE").read_text(), (ROOT / "LICENSE").read_text(), f"copy LICENSE to {folder}")

    def test_mistakes_are_reported_with_the_remedy(self):
        async def waits() -> int:
            """Go."""

        def bare(n): ...
        def odd(n: complex): ...
        def bound(s: Annotated[str, Range(1, 2)]): ...
        def wide(n: Annotated[int, Range(50, 1)]): ...
        def reserved(action: str): ...
        def secret(s: Annotated[str, Secret()] = "x"): ...
        def many(*all: str): ...
        def fine(n: int): ...
        def default(n: int = "x"): ...
        def nothing(): ...

        for make, expected in [
            (lambda: Facade("Notes", "N."), "cannot be the name of a facade"),
            (lambda: Facade("notes", ""), "what it is for"),
            (lambda: Facade("notes", "N.").finish(), "has no action"),
            (lambda: Facade("notes", "N.").read(nothing), "needs a docstring"),
            (lambda: read(waits), "is `async`"),
            (lambda: read(bare), "needs a type"),
            (lambda: read(odd), "has no schema"),
            (lambda: read(bound), "use `Length`"),
            (lambda: read(wide), "no number is in"),
            (lambda: read(reserved), "a meaning of its own"),
            (lambda: read(secret), "would be published"),
            (lambda: read(many), "callers name each one"),
            (lambda: read(default), 'the default of `n` of `default` has another type: expected int (got "x")'),
            (lambda: read(fine, name="describe"), "the host gives every facade"),
            (lambda: read(fine, aliases=["fine"]).read(fine), "already the name"),
            (lambda: read(fine, examples=[{"m": 1}]), "no parameter `m`"),
            (lambda: read(fine, resource="notes://note"), "lacks `{n}`"),
            (lambda: read(fine, view="hits").finish(), "no view `hits`"),
            (lambda: Collection("a/b"), "cannot be the name of a table"),
            (lambda: (Collection("lost", Lost), prepare()), "`lost` names one that does not exist: name 'Nowhere'"),
        ]:
            with self.assertRaises((TypeError, ValueError)) as caught:
                make()
            self.assertIn(expected, str(caught.exception))

    def test_hints_become_schemas(self):
        class Mood(enum.Enum):
            GOOD = "good"
            BAD = "bad"

        def go(
            day: Annotated[str, "A day.", Format("date"), Example("2026-01-31")],
            mood: Mood,
            union: int | str,
            move_: Annotated[str | None, Name("move")] = None,
        ) -> set[int]:
            """Go.

            Args:
                mood: How it is.
            """

        action = describe(read(go))["actions"][0]
        self.assertEqual(action["data"], {"type": "array", "uniqueItems": True, "items": {"type": "integer"}})
        self.assertEqual(action["params"]["properties"]["mood"], {"type": "string", "enum": ["good", "bad"], "description": "How it is."})
        self.assertEqual(action["params"]["required"], ["day", "mood", "union"])
        self.assertEqual(action["params"]["properties"]["union"], {"anyOf": [{"type": "integer"}, {"type": "string"}]})
        self.assertIn("move", action["params"]["properties"])

    def test_members_of_enums_keep_their_order(self):
        class Topic(enum.Enum):
            HOME = "home"
            WORK = "work"
            """For money."""
            OTHER = "other"

        class Size(enum.Enum):
            SMALL = 1
            """One box."""
            LARGE = 2

        def go(topic: Topic, sizes: list[Size]) -> Topic: ...

        action = describe(read(go))["actions"][0]
        topics = [
            {"type": "string", "const": "home"},
            {"type": "string", "const": "work", "description": "For money."},
            {"type": "string", "const": "other"},
        ]
        self.assertEqual(action["params"]["properties"]["topic"], {"oneOf": topics})
        self.assertEqual(action["data"], {"oneOf": topics})
        sizes = [{"description": "One box.", "type": "integer", "const": 1}, {"type": "integer", "const": 2}]
        self.assertEqual(action["params"]["properties"]["sizes"], {"type": "array", "items": {"oneOf": sizes}})

    def test_calls_are_checked_as_by_the_host(self):
        def go(n: Annotated[int, Range(1, 5)], tags: Annotated[list[str], Length(most=2)] = [], more: str | None = None) -> Any:
            tags.append("own")
            return [n, tags, more]

        facade = read(go)
        for params, expected in [({}, "`n` is required"), ({"n": 6}, "at most 5"), ({"n": "1"}, "of type integer"), ({"n": 1, "m": 1}, "not a parameter"),
                             ({"n": 1, "tags": ["a", "b", "c"]}, "at most 2"), ({"n": 1, "tags": [1]}, "`tags[0]`")]:
            with self.refused("invalid_params", expected):
                Host().call(facade, "go", params)
        for _ in range(2):
            # A default is not shared between calls.
            self.assertEqual(Host().call(facade, "go", {"n": 1, "more": None}).data, [1, ["own"], None])

    def test_values_are_decoded_by_their_types(self):
        class Mood(enum.Enum):
            GOOD = "good"
            BAD = 2

            @classmethod
            def _missing_(cls, value):
                return cls.GOOD if value == "fine" else None

        for hint, given, expected in [
            (int, 2.0, 2),
            (float, 2, 2.0),
            (bool, True, True),
            (str | None, None, None),
            (Annotated[int | None, Range(1, 5)], None, None),
            (Literal["a", 2], 2, 2),
            (Mood, "good", Mood.GOOD),
            (Mood, 2, Mood.BAD),
            (Mood, "fine", Mood.GOOD),
            (set[int], [1, 1], {1}),
            (list, [1, "a"], [1, "a"]),
            (dict[str, list[Mood]], {"x": [2]}, {"x": [Mood.BAD]}),
            (int | Report, {"id": "a", "body": "b", "history": []}, Report("a", "b", [])),
            (Question, {"sure": True}, Question(True, None, None)),
            (Node, {"name": "a", "next": {"name": "b"}}, Node("a", Node("b"))),
            (Any, [{}], [{}]),
        ]:
            self.assertEqual(decode(hint, given), expected, hint)
        for hint, given, expected in [
            (int, True, "expected int (got true)"),
            (int, 2.5, "expected int (got 2.5)"),
            (float, False, "expected float (got false)"),
            (str, 1, "expected str (got 1)"),
            (Literal["a", 2], "b", 'expected one of a, 2 (got "b")'),
            (Mood, "ill", 'expected one of good, 2 (got "ill")'),
            (Mood, [], "expected one of good, 2 (got [])"),
            (list[int], [1, "x"], '`[1]` must be int (got "x")'),
            (dict[str, list[int]], {"x": [1, None]}, "`x[1]` must be int (got null)"),
            (list[Report], [{"id": "a", "body": 1, "history": []}], "`[0].body` must be str (got 1)"),
            (Deep, {"inner": {"id": "a"}}, "`inner.body` is required"),
            (Deep, {"inner": 3}, "`inner` must be Report (got 3)"),
            (int | bool, "x", 'expected int | bool (got "x")'),
            (Node, {"name": "a", "next": {"name": 1}}, "`next.name` must be str (got 1)"),
            (complex, 1, "expected complex (got 1)"),
            (Even, {"n": 3}, "3 is odd"),
        ]:
            with self.assertRaises(ValueError) as caught:
                decode(hint, given)
            self.assertEqual(str(caught.exception), expected, hint)

        def go(deep: Deep, even: Even | None = None) -> None: ...

        deep = {"inner": {"id": "a", "body": "b", "history": []}}
        for params, expected in [({}, "`deep` is required"), ({"deep": {"inner": {"id": 1}}}, "`deep.inner.id` must be str (got 1)"),
                                 ({"deep": deep, "even": {"n": 3}}, "3 is odd")]:
            with self.refused("invalid_params", expected):
                read(go).answer(Call("1", "go"), params)

    def test_exceptions_become_internal_with_a_logged_traceback(self):
        def go() -> int:
            return [][3]

        run = Host()
        with self.refused("internal", "IndexError: list index out of range"):
            run.call(read(go), "go")
        self.assertEqual(run.logs[0][0], "error")
        self.assertIn("return [][3]", run.logs[0][1])

        def odd():
            return {1: object()}

        with self.refused("internal", "cannot be written as JSON"):
            run.call(read(odd), "odd")

    def test_exceptions_without_a_text_are_named_alone(self):
        def fails() -> int:
            assert not NOTES

        def full() -> int:
            raise MemoryError

        for action, expected in ((fails, "AssertionError"), (full, "MemoryError")):
            with self.assertRaises(Failure) as caught:
                Host().call(read(action), action.__name__)
            self.assertEqual(caught.exception.message, expected)

    def test_wrong_types_are_refused_where_they_are_made(self):
        for make, wrong, expected in [
            (lambda: Page(cursor=5), TypeError, "`cursor` of `Page` must be `str`, not `int`"),
            (lambda: Page(total=1.5), TypeError, "`total` of `Page` must be `int`, not `float`"),
            (lambda: Page(count=True), TypeError, "`count` of `Page` must be `int`, not `bool`"),
            (lambda: Page(total=-1), ValueError, "`total` of `Page` must be from 0 to 2^64 - 1, not -1"),
            (lambda: Page(total=1 << 64), ValueError, "not 18446744073709551616"),
            (lambda: Reply(1, message=5), TypeError, "`message` of `Reply` must be `str`, not `int`"),
            (lambda: Reply(1, page={"total": 1}), TypeError, "`page` of `Reply` must be `Page`, not `dict`"),
            (lambda: Reply(1, next="go"), TypeError, "`next` of `Reply` must be `Next`, not `str`"),
            (lambda: Reply(1, content="text"), TypeError, "`content` of `Reply` must be `list` or `tuple`, not `str`"),
            (lambda: Reply(1, content=["text"]), TypeError, "`content` of `Reply` must be `Content`, not `str`"),
            (lambda: Content.of_text(None), TypeError, "`text` of `Content` must be `str`, not `NoneType`"),
            (lambda: Content.of_text("a", _meta={1: 2}), TypeError, "the keys of a dictionary"),
            (lambda: Content.image("x", "image/png"), TypeError, "`data` of `Content` must be `bytes`"),
            (lambda: Next("go", {"n": object()}), TypeError, "`object` cannot be written as JSON"),
            (lambda: Next(5), TypeError, "`action` of `Next` must be `str`, not `int`"),
            (lambda: Failure(5, 6), TypeError, "`code` of `Failure` must be `str`, not `int`"),
            (lambda: Failure.conflict(None), TypeError, "`message` of `Failure` must be `str`, not `NoneType`"),
            (lambda: Failure("a", "b", hint=5), TypeError, "`hint` of `Failure` must be `str`, not `int`"),
            (lambda: Failure("a", "b", next="go"), TypeError, "`next` of `Failure` must be `Next`, not `str`"),
            (lambda: Failure("a", "b", retry_after_ms=1.5), TypeError, "`retry_after_ms` of `Failure` must be `int`, not `float`"),
            (lambda: Failure("a", "b", retry_after_ms=-1), ValueError, "`retry_after_ms` of `Failure` must be from 0"),
        ]:
            with self.assertRaises(wrong) as caught:
                make()
            self.assertIn(expected, str(caught.exception))
        Reply(1, "m", Page(0, 9, "c"), Next("go", {"n": 1}, "why", "other"), (Content.of_text(""), Content.resource("a:b", b"")))
        Failure("a", "b", hint="h", details=[1], retry_after_ms=0, next=Next("go"))

        def go() -> Reply[int]:
            return Reply(1, page=Page(cursor=5))

        run = Host()
        with self.refused("internal", "TypeError: `cursor` of `Page` must be `str`, not `int`"):
            run.call(read(go), "go")
        self.assertIn("return Reply(1, page=Page(cursor=5))", run.logs[0][1])

    def test_failures_that_cannot_be_sent_are_logged(self):
        circular = []
        circular.append(circular)
        late = Failure("locked", "the door")
        late.hint = 5
        for failure, expected in [
            (Failure("locked", "the door", details=circular), "RecursionError"),
            (Failure("locked", "the door", details={1: object()}), "the keys of a dictionary must be `str`"),
            (Failure("locked", "the door", details=float("nan")), "ValueError"),
            (late, "`hint` of `Failure` must be `str`, not `int`"),
        ]:
            def go() -> int:
                raise failure

            run = Host()
            with self.refused("internal", expected):
                run.call(read(go), "go")
            [(level, line)] = run.logs
            self.assertEqual(level, "error")
            self.assertIn("locked: the door", line)

    def test_lone_surrogates_become_replacement_characters(self):
        for text, expected in [
            ("a", "a"), ("é😀", "é😀"), ("x\ud800", "x\ufffd"), ("\udc00\ud800x", "\ufffd\ufffdx"), ("\ud83d\ude00", "😀"),
        ]:
            self.assertEqual(well_formed(text), expected)
            self.assertEqual(write({text: [text]}), f'{{"{expected}":["{expected}"]}}')
        self.assertEqual(Change.put("a", "x\ud800").value, "x\ufffd".encode())
        with Host(store=True).running():
            NOTES.put("a", {"text": "x\ud800"})
            self.assertEqual(NOTES.get("a"), {"text": "x\ufffd"})

    def test_all_texts_for_the_host_are_well_formed(self):
        odd = "x\ud800"
        reply = Reply(
            write(odd), odd, Page(cursor=odd), Next(odd, {odd: odd}, odd, odd),
            [Content.of_text(odd, _meta=odd), Content.image(b"", odd), Content.resource(odd, odd), Content.link(odd, odd, description=odd)],
        )
        failure = Failure(odd, odd, hint=odd, details=odd, next=Next(odd), example=odd)
        facade = read(lambda: None, name="go")
        facade.summary = facade.instructions = odd
        with generated() as (abi, imports):
            sent = []
            for name in ("log", "progress", "config", "elicit", "lookup", "check"):
                setattr(imports, name, lambda *values: sent.append(values))
            wit = abi.WitPort()
            wit.log("info", odd)
            wit.progress(1.0, None, odd)
            wit.config(odd)
            wit.elicit(odd, {odd: odd})
            wit.check(peers.Request(odd, odd, {odd: odd}, idempotency_key=odd))
            with self.assertRaises(AttributeError):
                # What it returns is no schema.
                wit.lookup(odd, odd)
            sent += [abi._to_reply(reply), abi._to_failure(failure), abi._description(facade), abi._to_change(Change.delete(odd))]
        self.assertEqual(len(sent), 10)
        for one in sent:
            self.assertIn("x\ufffd", repr(one))
            self.assertNotIn("ud800", repr(one))

    def test_replies_count_lists_and_name_the_own_facade(self):
        def go() -> Reply[list[int]]:
            return Reply([1, 2], page=Page(total=9), next=Next("go"))

        reply = Host().call(read(go), "go")
        self.assertEqual((reply.page.count, reply.page.total, reply.next.facade), (2, 9, "notes"))

    def test_detail_levels_leave_fields_out(self):
        def go() -> list[Report]:
            return [Report("a", "b", [])]

        facade = read(go)
        self.assertTrue(describe(facade)["actions"][0]["details"])
        for level, data in (("minimal", {"id": "a"}), ("standard", {"id": "a", "body": "b"}), ("full", {"id": "a", "body": "b", "history": []})):
            self.assertEqual(Host(detail=level).call(facade, "go").data, [data])

    def test_state_is_atomic_and_survives_conflicts(self):
        store = Store()
        with Host(store=store, caller="ann").running():
            self.assertEqual(NOTES.create("n_", lambda id: {"id": id}), {"id": "n_0001"})
            store.conflicts = 3
            self.assertEqual(NOTES.create("n_", lambda id: {"id": id}), {"id": "n_0002"})
            with self.refused("conflict", "already exists"):
                NOTES.insert("n_0001", {})
            with self.refused("not_found"):
                NOTES.require("x")

            def fails(tx):
                NOTES.of(tx).put("n_0003", {})
                raise Failure.conflict("no")

            with self.refused("conflict", "no"):
                transaction(fails)
            self.assertFalse(NOTES.contains("n_0003"))

            def seen(tx):
                NOTES.of(tx).remove("n_0001")
                NOTES.of(tx).put("z", {})
                return [item.id for item in NOTES.of(tx).list()]

            self.assertEqual(transaction(seen), ["n_0002", "z"])
            page = NOTES.page(None, 1)
            self.assertEqual(([item.id for item in page.items], page.cursor), (["n_0002"], "n_0002"))
            self.assertEqual(len(NOTES.newest("n_", None, 5).items), 1)
            with self.refused("invalid_params"):
                NOTES.newest("n_", "odd", 5)
            store.conflicts = 1000
            with self.refused("conflict", "too many"):
                NOTES.remove("z")
            store.conflicts = 0
            counter = Counter("c")
            self.assertEqual([counter.next(), counter.add(10), counter.get()], [1, 11, 11])
            for by, error in ((-1, ValueError), (0.5, TypeError)):
                self.assertRaises(error, counter.add, by)
            cell = Cell("places", list)
            self.assertEqual(cell.update([], lambda places: places + ["Rome"]), ["Rome"])
            brief = Collection("brief", int, ttl=timedelta(seconds=1))
            brief.put("a", 1)
            store.advance(1001)
            self.assertIsNone(brief.get("a"))
            own = Collection("notes", dict, space=CALLER)
            self.assertEqual(own.list(), [])
            typed = Collection("notes", Report)
            with self.refused("internal", "`notes/z` cannot be read"):
                typed.get("z")
        with self.refused("denied"):
            NOTES.get("a")

        def go() -> None:
            NOTES.put("a", {})

        with self.refused("denied", "commits nothing"):
            Host(store=store).call(read(go), "go")

    def test_generated_ids_sort_by_age(self):
        numbers = [1, 9_999, 10_000, 99_999, 100_000, 1_234_567]
        ids = [id_with_number("t_", number) for number in numbers]
        self.assertEqual(sorted(ids), ids)
        self.assertEqual([number_in_id("t_", one) for one in ids], numbers)
        for odd in ("", "t_", "t_1", "t_00001", "t_B10000", "t_AA10000", "s_0001"):
            self.assertIsNone(number_in_id("t_", odd), odd)

    def test_requests_are_escaped_and_statuses_fail(self):
        def answer(request):
            return Response.of_json(200, {"ok": 1}) if request.url.endswith("q=a%20b%26") else Response(404, server="h")

        with Host(http=answer).running():
            self.assertEqual(http.get("https://h/x#frag").query(q="a b&").send().ok().json(), {"ok": 1})
            self.assertEqual(http.get("https://h").path("a/b").url, "https://h/a%2Fb")
            with self.refused("invalid_params"):
                http.get("https://h").path("..")
            with self.refused("not_found", "h answered 404"):
                http.get("https://h").send().ok()
        for odd in ("x", "ftp://h", "https://", "https://u@h", "https://h/ x"):
            with self.refused("invalid_params"):
                http.Url.parse(odd)

    def test_questions_need_a_form_and_a_no_ends(self):
        run = Host(person=[{"sure": True, "why": "x"}, "declined", "cancelled", {}, {"list": "b"}, "declined"])
        with run.running():
            self.assertEqual(elicit("?", Question), Question(True, "x", None))
            self.assertEqual(run.questions[0][1]["properties"]["mood"], {"type": "string", "enum": ["a", "b"]})
            with self.refused("denied"):
                elicit("?", Question)
            with self.refused("cancelled"):
                elicit("?", Question)
            self.assertTrue(confirm("?"))
            self.assertEqual(choose("?", "list", {"a": "A", "b": "B"}), "b")
            self.assertIsNone(choose("?", "list", {"a": "A"}))
            with self.refused("internal", "its field `inner` is a structure"):
                elicit("?", Deep)

    def test_configuration_names_the_line_to_write(self):
        with Host(config={"limit": "x"}).running():
            with self.refused("unavailable", "needs `region`"):
                host.require_config("region")
            with self.refused("internal", "`limit` is invalid"):
                host.config("limit", type=int)

    def test_live_objects_of_a_component_become_immortal(self):
        kind, live, free, dead, plain, moved = 0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x1028
        headers = [(3, kind), (1, kind), (live, kind), (0, kind), (1, 0x7777), (immortal.IMMORTAL, kind)]
        data = b"".join(struct.pack("<II", *header) for header in headers)

        def section(number, content):
            return bytes([number, len(content)]) + content

        def segment(address, content):
            return bytes([0, 0x41, address & 0x7F | 0x80, address >> 7, 0x0B, len(content)]) + content

        # The last header is in two segments.
        cut = segment(0x1030, data[:4]) + segment(0x1034, data[4:8])
        passive, other = bytes([1, 2]) + b"ab", bytes([2, 0, 0x23, 0, 0x0B, 1]) + b"c"
        module = section(11, bytes([5]) + passive + other + segment(kind, data) + cut)
        small = section(11, bytes([1]) + segment(kind, data[:8]))
        core, nested = b"\0asm\1\0\0\0", b"\0asm\x0d\0\1\0"
        component = bytearray(nested + section(1, core + small) + section(4, nested + section(1, core + module)))
        marks = bytearray(0x2000 // 32)
        for address in (kind, live, free, dead, plain, moved, 0x1030, 0x1F00):
            marks[address // 32] |= 1 << address // 4 % 8
        before = bytes(component)
        self.assertEqual(immortal.immortalise(component, bytes(marks)), 2)
        headers[0] = headers[1] = (immortal.IMMORTAL, kind)
        expected = b"".join(struct.pack("<II", *header) for header in headers)
        self.assertEqual(bytes(component), before.replace(data, expected))
        self.assertEqual(immortal.immortalise(bytearray(before), bytes(len(marks))), 0)

    def test_the_build_command_says_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "json.py")
            source.write_text("")
            for given, expected in ((Path(folder, "none.py"), "no such file"), (source, "the name of another module")):
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(build.main([str(given), "--out", str(Path(folder, "x.wasm"))]), 1)
                self.assertIn(expected, said.getvalue())

    def test_the_build_command_shows_the_message_and_the_place(self):
        several = '  File "/1/app.py", line 1, in <module>\n    import helper\n  File "/1/parts/helper.py", line 7, in <module>\n'
        chained = "During handling of the above exception, another exception occurred:\n\n" + build.TRACEBACK
        found = 'f"loggia: `{module.__name__}` holds {len(found)} facades: write `notes = Facade(\\"notes\\", \\"…\\")`, once"'
        entry = "4, in <module>\n    LoggiaPluginFacade020 = abi.guest(abi.find_facade(app))"
        finding = '  File "/2/loggia_sdk/abi.py", line 38, in find_facade\n'
        for source, message in [
            ('f"loggia: `{name}` has a meaning of its own in every call: …"', "`action` has a meaning of its own in every call: …"),
            ('f"loggia: the parameter `{parameter.name}` of `{name}` needs a type"', "the parameter `n` of `go` needs a type"),
            ('f"loggia: the default of `{parameter.name}` … {wrong}") from None', 'the default of `n` of `go` … (got "x")'),
            ('f"loggia: `{name}` cannot be the name of {what}: {advice}"', "`Go Now` cannot be the name of an action: …"),
            ('f"loggia: `{name}` is `async`: each call …"', "`go` is `async`: each call …"),
            ('f"loggia: `{name}` needs a docstring: its first …"', "`go` needs a docstring: its first …"),
            ('f"loggia: `{one}` is an action that the host gives …"', "`describe` is an action that the host gives …"),
        ]:
            self.assertEqual(build._mistake(said(source, message)), f"app.py:4: {message}")
        for count in (0, 2):
            message = f'`app` holds {count} facades: write `notes = Facade("notes", "…")`, once'
            self.assertEqual(build._mistake(said(found, message, finding, entry)), message)
        # The author's own modules, a text of several lines, an earlier error, and packages below the sources.
        self.assertEqual(build._mistake(said('f"loggia: …"', "two\n\nlines", several)), "parts/helper.py:7: two\n\nlines")
        first = said('f"loggia: …"', "first").partition("\n\nCaused by")[0]
        self.assertEqual(build._mistake(first + chained + said('f"loggia: …"', "last", several)), "parts/helper.py:7: last")
        beside = '  File "/1/loggia_sdk/facade.py", line 9, in x\n  File "/1/lib/site-packages/y/z.py", line 9, in x\n'
        self.assertEqual(build._mistake(said('f"loggia: …"', "other", DECLARED + beside)), "app.py:4: other")
        # Another error is shown whole, even if a line of source has the word.
        whole = said('f"loggia: …"', "x").replace("TypeError: loggia: x", "KeyError: 'x'")
        self.assertEqual(build._mistake(whole), whole.strip())


if __name__ == "__main__":
    unittest.main()
