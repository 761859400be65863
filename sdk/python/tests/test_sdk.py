"""`python -m unittest discover -s tests` in sdk/python, with src in PYTHONPATH."""

import contextlib
import enum
import io
import json
import tempfile
import tomllib
import unittest
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from loggia_sdk import (
    CALLER, FULL, Call, Cell, Collection, Counter, Example, Facade, Failure, Format, Length, Name, Next, Page, Pattern, Range, Reply, Secret,
    build, choose, confirm, elicit, host, http, transaction,
)
from loggia_sdk.decode import decode
from loggia_sdk.http import Response
from loggia_sdk.state import id_with_number, number_in_id
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

    def test_the_build_command_says_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "json.py")
            source.write_text("")
            for given, expected in ((Path(folder, "none.py"), "no such file"), (source, "the name of another module")):
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(build.main([str(given), "--out", str(Path(folder, "x.wasm"))]), 1)
                self.assertIn(expected, said.getvalue())


if __name__ == "__main__":
    unittest.main()
