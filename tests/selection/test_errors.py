"""Breaks change a call as they say, and corrections follow failures as the host writes them."""

import random
import unittest

from breaks import BREAKS, bounds, broken, swapped
from correct import CallCorrection
from forms.shown import ShownParameter

PARAMETERS = {
    "text": ShownParameter("string", True, text="What; 1-20 characters"),
    "mode": ShownParameter("string", values=("words", "meaning")),
    "limit": ShownParameter("integer", text="1-100, default 10"),
}
SIBLINGS = {**PARAMETERS, "id": ShownParameter("string", True)}
RIGHT = {"action": "add", "text": "milk", "limit": 3}


def apply(name, arguments=RIGHT, tool="notes"):
    break_ = next(one for one in BREAKS if one.__name__ == name)
    return broken(break_, tool, arguments, "add", PARAMETERS, SIBLINGS, 1)


class BreakTest(unittest.TestCase):
    def test_every_break_changes_the_call_and_leaves_the_right_one(self):
        before = dict(RIGHT)
        for break_ in BREAKS:
            with self.subTest(break_.__name__):
                _, arguments = apply(break_.__name__)
                self.assertNotEqual(arguments, RIGHT)
                self.assertEqual(RIGHT, before)

    def test_the_same_seed_breaks_alike(self):
        for break_ in BREAKS:
            self.assertEqual(apply(break_.__name__), apply(break_.__name__))

    def test_breaks_find_parameters_in_params(self):
        _, arguments = apply("missing_required", {"action": "add", "params": {"text": "milk"}})
        self.assertEqual(arguments, {"action": "add", "params": {}})

    def test_breaks_that_do_not_apply(self):
        self.assertIsNone(apply("missing_required", {"action": "add", "limit": 1}))
        self.assertIsNone(apply("no_action", {"text": "milk"}))

    def test_granular_tools_are_misspelt(self):
        self.assertEqual(apply("action_synonym", {"text": "x"}, "notes_add"), ("notes_store", {"text": "x"}))

    def test_strict_mode_sends_all_parameters(self):
        self.assertEqual(apply("strict_nulls")[1], {**RIGHT, "mode": None, "id": None})

    def test_bounds_are_read_from_the_text(self):
        self.assertEqual(bounds(PARAMETERS["limit"]), (1, 100, ""))
        self.assertEqual(bounds(PARAMETERS["text"]), (1, 20, "characters"))
        self.assertIsNone(bounds(PARAMETERS["mode"]))

    def test_swapped_differs(self):
        for word in ("add", "aa", "list"):
            self.assertNotEqual(swapped(word, random.Random(2)), word)


class CorrectTest(unittest.TestCase):
    def corrected(self, arguments, error, facts=None, tool="notes", **more):
        failure = {"ok": False, "error": error, **more}
        result = CallCorrection(tool, arguments, failure, "add", facts or {"text": "milk", "mode": "words"}).corrected()
        return result and result[1]

    def test_an_action_is_renamed_to_the_suggestion(self):
        error = 'Unknown action: "ad". Available actions: add, list.'
        self.assertEqual(self.corrected({"action": "ad"}, error, hint='Did you mean "add"?'), {"action": "add"})

    def test_without_suggestion_the_nearest_name_is_used_if_near(self):
        error = "Unknown action. Available actions: append, list."
        self.assertEqual(self.corrected({"action": "apend"}, error), {"action": "append"})
        self.assertIsNone(self.corrected({"action": "write"}, error))

    def test_an_unknown_tool_is_replaced_by_the_nearest(self):
        failure = {"error": 'Unknown tool: "notes_ad". Available tools: files_list, notes_add.'}
        self.assertEqual(CallCorrection("notes_ad", {}, failure, "add", {}).corrected(), ("notes_add", {}))

    def test_of_several_suggestions_the_meant_one_is_used(self):
        error = 'Unknown action: "store". Available actions: put, add, list.'
        self.assertEqual(self.corrected({"action": "store"}, error, hint='Did you mean "put" or "add"?'), {"action": "add"})
        self.assertEqual(self.corrected({"action": "store"}, error, hint='Did you mean "put" or "list"?'), {"action": "put"})
        failure = {"error": 'Unknown tool: "n_x". Did you mean `n_put`, `n_list` or `n_add`? Available tools: n_put, and 3 more.'}
        self.assertEqual(CallCorrection("n_x", {}, failure, "add", {}).corrected(), ("n_add", {}))

    def test_the_actions_that_take_the_parameters_are_read(self):
        error = "`action` is required: the default, `list`, does not take `text`. Actions that take these parameters: put, add."
        self.assertEqual(self.corrected({"text": "x"}, error), {"text": "x", "action": "add"})
        self.assertIsNone(self.corrected({"text": "x"}, error.replace(", add", "")))

    def test_a_missing_action_is_the_one_that_was_meant(self):
        error = "`action` is required. Available actions: add, list."
        self.assertEqual(self.corrected({"text": "x"}, error), {"text": "x", "action": "add"})

    def test_missing_parameters_come_from_the_facts_or_the_example(self):
        self.assertEqual(self.corrected({"action": "add"}, "`text` is required"), {"action": "add", "text": "milk"})
        example = {"action": "add", "title": "Tea"}
        self.assertEqual(self.corrected({}, "`title` is required", example=example), {"title": "Tea"})
        self.assertIsNone(self.corrected({}, "`title` is required"))

    def test_an_unknown_parameter_is_renamed_or_dropped(self):
        self.assertEqual(self.corrected({"txt": "a"}, "`txt` is not a parameter of `add` (did you mean `text`?)"), {"text": "a"})
        self.assertEqual(self.corrected({"text": "a", "x": 1}, "`x` is not a parameter of `add`"), {"text": "a"})
        error = "`id` is not a parameter of `add` (it belongs to `get`)"
        self.assertEqual(self.corrected({"text": "a", "id": 1}, error), {"text": "a"})

    def test_nested_parameters_move_to_where_the_signature_has_them(self):
        error = "`text` is required; `data` is not a parameter of `add`"
        self.assertEqual(
            self.corrected({"data": {"text": "a", "y": 1}}, error, facts={"z": 1}, expected="add(text: string)"), {"text": "a"}
        )

    def test_members_of_lists_are_corrected(self):
        error = "`edits[0].new` is required; `edits[0]` has no member `od` (did you mean `old`?)"
        facts = {"edits": [{"old": "a", "new": "b"}]}
        self.assertEqual(self.corrected({"edits": [{"od": "a"}]}, error, facts=facts), {"edits": [{"new": "b", "old": "a"}]})

    def test_values_are_picked_clamped_and_cut(self):
        error = '`mode` must be one of meaning, words (got "wrds")'
        self.assertEqual(self.corrected({"mode": "wrds"}, error), {"mode": "words"})
        self.assertEqual(self.corrected({"mode": "x"}, error, facts={"text": "a"}), {"mode": "meaning"})
        self.assertEqual(self.corrected({"limit": 101}, "`limit` must be at most 100 (got 101)"), {"limit": 100})
        self.assertEqual(self.corrected({"limit": 0}, "`limit` must be at least 1 (got 0)"), {"limit": 1})
        self.assertEqual(self.corrected({"t": "abc"}, "`t` must have at most 2 characters (got …)"), {"t": "ab"})

    def test_types_come_from_the_facts_or_go(self):
        self.assertEqual(self.corrected({"text": 7}, "`text` must be a string (got 7)"), {"text": "milk"})
        self.assertEqual(self.corrected({"n": 7}, "`n` must be a string (got 7)"), {"n": "7"})
        self.assertEqual(self.corrected({"n": "many", "text": "a"}, '`n` must be an integer (got "many")'), {"text": "a"})

    def test_params_become_an_object(self):
        error = '`params` must be an object (got ["x"])'
        self.assertEqual(self.corrected({"action": "add", "params": ["x"]}, error, facts={"text": "a"}),
                         {"action": "add", "params": {"text": "a"}})  # fmt: skip

    def test_what_no_rule_matches_is_not_corrected(self):
        self.assertIsNone(self.corrected({"text": "a"}, "the moon is full"))


if __name__ == "__main__":
    unittest.main()
