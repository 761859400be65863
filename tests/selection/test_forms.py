"""Each form is read from its published text alone."""

import unittest

from forms import flat, granular, names, signatures, union
from forms.notation import read_signatures, read_type
from forms.shown import ShownParameter
from generate import complete, generate


def tool(name, properties, **more):
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}, **more}


ACTION = {"type": "string", "enum": ["add", "list", "describe"]}


class NotationTest(unittest.TestCase):
    def test_types_are_known_where_a_name_comes_again(self):
        found = read_signatures(["Notes.", "list(limit?: integer, mode?: a|b)", "[destructive] add(text, limit?, mode)"], {})
        self.assertEqual(list(found), ["list", "add"])
        add = found["add"]
        self.assertEqual([(name, entry.kind, entry.required) for name, entry in add.items()],
                         [("text", "string", True), ("limit", "integer", False), ("mode", "string", True)])  # fmt: skip
        self.assertEqual(add["mode"].values, ("a", "b"))

    def test_lists_members_and_quoted_values(self):
        edits = read_type('{old?, new, all?: boolean, kinds?: (a|"b c")[]}[]')
        self.assertEqual((edits.kind, edits.item.kind), ("array", "object"))
        members = edits.item.members
        self.assertEqual([(name, entry.required) for name, entry in members.items()],
                         [("old", False), ("new", True), ("all", False), ("kinds", False)])  # fmt: skip
        self.assertEqual((members["old"].kind, members["all"].kind), ("string", "boolean"))
        self.assertEqual(members["kinds"].item.values, ("a", "b c"))
        self.assertEqual(read_type("string[][]").item.item.kind, "string")

    def test_a_name_has_its_last_type_in_members_too(self):
        found = read_signatures(["a(x: {name: boolean})", "b(name)", "c(name: integer, x: {name, tags})"], {})
        self.assertEqual(found["b"]["name"].kind, "boolean")
        members = found["c"]["x"].members
        self.assertEqual([members["name"].kind, members["tags"].item.kind], ["integer", "string"])

    def test_actions_share_a_signature(self):
        found = read_signatures(["get|pin(id, limit)"], {})
        self.assertEqual(list(found), ["get", "pin"])
        self.assertEqual(found["get"], found["pin"])

    def test_an_action_without_parameters(self):
        self.assertEqual(read_signatures(["go()"]), {"go": {}})

    def test_what_all_actions_take_and_usual_types(self):
        found = read_signatures(["get(id)", "list(limit?, archived?, include_x?): All (of them); so", "also detail?: a|b"], {})
        kinds = {name: entry.kind for name, entry in found["list"].items()}
        self.assertEqual(
            kinds, {"detail": "string", "limit": "integer", "archived": "boolean", "include_x": "boolean"}
        )
        self.assertEqual(found["get"]["detail"].values, ("a", "b"))

    def test_prose_is_no_signature(self):
        self.assertEqual(read_signatures(["see(this) page", "open(that", "also nothing"]), {})

    def test_members_of_any_name_and_types_of_parameters(self):
        known = {"spec": ShownParameter("integer")}
        entry = read_type("{a?: {[name]: any}, b: typeof spec, c: object}[]", known).item
        self.assertEqual([member.kind for member in entry.members.values()], ["object", "integer", "object"])


class FormTest(unittest.TestCase):
    def test_flat_reads_who_takes_a_parameter(self):
        properties = {
            "action": ACTION,
            "text": {"type": "string", "description": "[add*] What; 1-9 characters; [list] Words"},
            "both": {"type": "integer", "description": "[required] How many"},
            "free": {"type": "boolean", "description": "default false"},
            "but": {"type": "string", "description": "[all* but list] x"},
            "of": {"type": "string", "description": "[describe] action to explain"},
        }
        shown = flat.read([tool("notes", properties, description="Notes.\nadd: Add one.")])
        add, found = shown["notes", "add"], shown["notes", "list"]
        self.assertEqual({name: entry.required for name, entry in add.parameters.items()},
                         {"text": True, "both": True, "free": False, "but": True})  # fmt: skip
        self.assertEqual({name: entry.required for name, entry in found.parameters.items()},
                         {"text": False, "both": True, "free": False})  # fmt: skip
        self.assertEqual(add.text, "add: Add one.")
        self.assertEqual(flat.place(add, {"text": "x"}), ("notes", {"action": "add", "text": "x"}))

    def test_flat_reads_lines(self):
        properties = {
            "action": {**ACTION, "description": "list(text?: a|b, spec?): List them"},
            "text": {"type": "string", "description": "What"},
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
            "parts": {"type": "array", "items": {"type": "object", "properties": {}}, "description": "{title, spec?: typeof spec}[] So"},
            "detail": {"type": "string"},
            "of": {"type": "string"},
        }
        shown = flat.read([tool("notes", properties, description="Notes.\nadd(text, parts?): Add (one)")])
        add, found = shown["notes", "add"].parameters, shown["notes", "list"].parameters
        self.assertEqual({name: entry.required for name, entry in add.items()}, {"detail": False, "text": True, "parts": False})
        self.assertEqual(add["parts"].item.members["spec"].members["size"].kind, "integer")
        self.assertEqual((add["text"].values, found["text"].values, found["text"].text), ((), ("a", "b"), "What"))

    def test_signatures_are_in_one_line(self):
        properties = {"action": {"type": "string"}, "params": {"type": "object", "description": "see(id); also detail?: a|b"}}
        text = 'Notes; of any(thing).\nget|pin(id, of?: "; x"|y); [destructive] delete(id, all?)'
        shown = signatures.read([tool("notes", properties, description=text)])
        self.assertEqual([action for _, action in shown], ["get", "pin", "delete", "see"])
        self.assertEqual(list(shown["notes", "pin"].parameters), ["detail", "id", "of"])
        self.assertEqual(shown["notes", "pin"].parameters["of"].values, ("; x", "y"))
        self.assertEqual(shown["notes", "delete"].text, "[destructive] delete(id, all?)")

    def test_brackets_in_texts_are_no_actions(self):
        self.assertEqual(flat.takes("[add] Markdown such as [link] or [a, b]", ["add", "list"]), {"add": False})

    def test_union_reads_branches_and_what_is_beside_them(self):
        branch = {"description": "add", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        properties = {"action": ACTION, "params": {"anyOf": [branch]}, "detail": {"type": "string", "description": "[list] how much"}}
        shown = union.read([tool("notes", properties)])
        self.assertEqual(list(shown["notes", "add"].parameters), ["text"])
        self.assertTrue(shown["notes", "add"].parameters["text"].required)
        self.assertEqual(list(shown["notes", "list"].parameters), ["detail"])

    def test_granular_finds_facade_and_action(self):
        tools = [tool("notes_add", {"text": {"type": "string"}}, title="Notes: add"), tool("gather", {}, title="Brief: gather"),
                 tool("brief_run_status", {}, title="Brief: run_status")]  # fmt: skip
        shown = granular.read(tools)
        self.assertEqual(set(shown), {("notes", "add"), ("brief", "gather"), ("brief", "run_status")})
        self.assertEqual(granular.place(shown["brief", "gather"], {}), ("gather", {}))

    def test_names_shows_nothing_until_described(self):
        shown = names.read([tool("notes", {"action": ACTION})])["notes", "add"]
        self.assertEqual(shown.parameters, {})
        data = {"params": {"text": {"type": "string", "required": True}, "tags": {"type": "string[]"}}}
        described = names.describe(shown, lambda name, arguments: {"ok": True, "data": data})
        self.assertEqual([entry.kind for entry in described.parameters.values()], ["string", "array"])


class GenerateTest(unittest.TestCase):
    def shown(self, text):
        properties = {"action": ACTION, "params": {"type": "object"}}
        return signatures.read([tool("notes", properties, description=text)])["notes", "add"]

    def test_facts_take_the_types_that_are_shown(self):
        shown = self.shown("add(text, count?: integer, on?: boolean, mode?: Fast|slow, tags?: string[])")
        facts = {"text": "x", "count": 3, "on": True, "mode": "fast", "tags": ["a"]}
        self.assertEqual(generate(shown, facts), {**facts, "mode": "Fast"})

    def test_a_fact_stays_a_text_if_no_type_is_shown(self):
        self.assertEqual(generate(self.shown("add(amount, words)"), {"amount": 3, "words": ["a"]}), {"amount": "3", "words": '["a"]'})

    def test_what_is_not_shown_stays_out(self):
        shown = self.shown("add(spec?: object, edits?: {new}[], arguments?: object)")
        facts = {"spec": {"a": 1}, "edits": [{"new": "x", "old": "y"}], "arguments": {"b": 2}, "other": 1}
        generated = generate(shown, facts)
        self.assertEqual(generated, {"spec": {}, "edits": [{"new": "x"}], "arguments": {"b": 2}})
        self.assertFalse(complete(generated, facts))


if __name__ == "__main__":
    unittest.main()
