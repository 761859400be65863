"""The scorer notices what a form hides, and which action ran: against a facade of the test."""

import unittest

import measure_calls
import measure_errors
from corpus import CorpusTask, Filler
from forms import flat

TASKS = [
    CorpusTask("notes-1", "Keep this: milk", "notes", "add", {"text": "milk", "count": 2}),
    CorpusTask("notes-2", "What is there?", "notes", "list", {}),
]
PROPERTIES = {
    "action": {"type": "string", "enum": ["add", "list", "describe"]},
    "text": {"type": "string"},
    "count": {"type": "integer"},
}


class NotesFacade:
    """`add` requires `text` and takes an integer `count`; without an action, it lists. Its failures are written as the host's."""

    form, actions = "flat", {}

    def __init__(self, description="add(text, count?): Add a note\nlist(): List notes", properties=None):
        self.filler = Filler()
        self.tools = [
            {"name": "notes", "description": description, "inputSchema": {"properties": PROPERTIES if properties is None else properties}}
        ]
        self.shown = flat.read(self.tools)

    def call(self, _, arguments):
        given = dict(arguments)
        action = given.pop("action", "list")
        if action == "describe":
            return {"ok": True, "action": action, "data": {"name": given["of"]}}
        if action not in ("add", "list"):
            error = f'Unknown action: "{action}". Available actions: add, list, describe.'
            return {"ok": False, "code": "invalid_params", "action": action, "error": error}
        problems = [f"`{name}` is not a parameter of `{action}`" for name in given if action == "list" or name not in PROPERTIES]
        if action == "add" and "text" not in given:
            problems.append("`text` is required")
        if action == "add" and not isinstance(given.get("count", 0), int):
            problems.append("`count` must be an integer")
        if problems:
            return {"ok": False, "code": "invalid_params", "action": action, "error": "; ".join(problems)}
        return {"ok": True, "action": action, "data": {}}


class CallsTest(unittest.TestCase):
    def row(self, *published):
        served = NotesFacade(*published)
        rows, invalid = measure_calls.measure(served, served.shown, TASKS)
        return rows[0]["valid"], rows[0]["complete"], len(invalid)

    def without(self, hidden):
        return {name: schema for name, schema in PROPERTIES.items() if name != hidden}

    def test_a_whole_form_is_valid_and_complete(self):
        self.assertEqual(self.row(), (1.0, 1.0, 0))

    def test_a_hidden_required_parameter_is_invalid(self):
        self.assertEqual(self.row("add(count?): Add a note\nlist()", self.without("text")), (0.5, 0.5, 1))

    def test_a_hidden_optional_parameter_is_incomplete(self):
        self.assertEqual(self.row("add(text): Add a note\nlist()", self.without("count")), (1.0, 0.5, 0))

    def test_a_wrong_type_is_invalid(self):
        wrong = {**PROPERTIES, "count": {"type": "string"}}
        self.assertEqual(self.row("add(text, count?): Add a note\nlist()", wrong), (0.5, 0.5, 1))


class ErrorsTest(unittest.TestCase):
    def test_shares_are_of_calls_that_ran_what_was_meant(self):
        served = NotesFacade()
        rows, stuck = measure_errors.measure(served, served.shown, served.shown, TASKS, 1)
        shares = {row["break"]: (row["calls"], row["at once"], row["after 2"], row["wrong action"]) for row in rows}
        self.assertEqual(shares["missing_required"], (1, 0.0, 1.0, 0.0))
        self.assertEqual(shares["unknown_parameter"], (2, 0.0, 1.0, 0.0))
        # Without an action it lists: right for one task, wrong for the other once its parameters are dropped.
        self.assertEqual(shares["no_action"], (2, 0.5, 0.5, 0.5))
        # "store" and "show" resemble no action.
        self.assertEqual(shares["action_synonym"], (2, 0.0, 0.0, 0.0))
        unsolved = [(name, task) for name in ("action_synonym", "rare_synonym") for task in ("notes-1", "notes-2")]
        self.assertEqual([entry[1:3] for entry in stuck], unsolved)


if __name__ == "__main__":
    unittest.main()
