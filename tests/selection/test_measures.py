"""Rankings, tokens, sessions, tables, and the corpus as files."""

import collections
import io
import json
import re
import unittest

import corpus
import measure_session
import table
import tokens
from measure_session import SessionCost
from ranking import RANKERS, ToolDocument, ToolIndex, pattern_of, query_words

TOOLS = [
    {"name": "files", "description": "Local files: rename, read.", "inputSchema": {"properties": {"path": {"description": "A folder"}}}},
    {"name": "bank_accounts", "description": "Money.", "_meta": {"anthropic/searchHint": "balance transfer"}, "inputSchema": {}},
    {"name": "web", "description": "Pages.", "inputSchema": {"properties": {"p": {"anyOf": [{"properties": {"url": {}}}]}}}},
]


class RankingTest(unittest.TestCase):
    def setUp(self):
        self.index = ToolIndex([ToolDocument(tool) for tool in TOOLS])

    def test_names_hints_descriptions_and_arguments_are_found(self):
        for ask, name in (("rename something", "files"), ("which folder?", "files"), ("my balance", "bank_accounts"), ("an url", "web")):
            self.assertEqual(self.index.rank("bm25", ask), [name], ask)
            self.assertEqual(self.index.rank("regex", ask), [name], ask)

    def test_keywords_weigh_the_name_most_and_leave_arguments_out(self):
        self.assertEqual(self.index.rank("keywords", "files and money and pages")[0], "files")
        self.assertEqual(self.index.rank("keywords", "balance"), ["bank_accounts"])
        self.assertEqual(self.index.rank("keywords", "folder"), [])

    def test_nothing_matches(self):
        for ranker in RANKERS:
            self.assertEqual(self.index.rank(ranker, "please do it"), [])

    def test_data_is_no_query(self):
        self.assertEqual(query_words("Open https://a.b/c and '/data/x': the 'quoted words' of 2026"), ["open"])

    def test_patterns_are_short_and_valid(self):
        pattern = pattern_of([f"word{number}+" for number in range(99)])
        self.assertLessEqual(len(pattern), 200)
        self.assertTrue(re.compile(pattern))
        self.assertIsNone(pattern_of([]))


class TokenTest(unittest.TestCase):
    def test_counts_are_those_of_the_host(self):
        # As `host/tokens` counts them, and tiktoken.
        for text, count in (("", 0), ("hello world", 2), ("Straße", 2), ("  a   test\n\n", 5), ("1234567890", 4), ("日本語", 2)):
            self.assertEqual(tokens.count(text), count, text)

    def test_other_values_are_compact_json(self):
        self.assertEqual(tokens.count({"a": [1, "é"]}), tokens.count('{"a":[1,"é"]}'))


class SessionTest(unittest.TestCase):
    def test_a_session_is_counted_once_and_at_every_turn(self):
        cost = SessionCost(100)
        cost.turn(1, 10)
        cost.turn(2, 20)
        # 100, then 111, then 133 for the last answer.
        self.assertEqual(cost.ended(), (133, 344))

    def test_sessions_have_ten_steps_for_both_servers(self):
        for session in measure_session.load():
            self.assertEqual(len(session["step"]), 10)
            for step in session["step"]:
                self.assertTrue(step["ask"] and step["action"] and step["theirs"][0])


class TableTest(unittest.TestCase):
    ROWS = [{"form": "flat", "hit": 0.5, "n": None}, {"form": "union", "hit": 1.0, "n": 12}]

    def written(self, style):
        out = io.StringIO()
        table.write("t", self.ROWS, style, out)
        return out.getvalue()

    def test_styles(self):
        self.assertEqual(self.written("tsv"), "t\tform\thit\tn\nt\tflat\t0.500\t\nt\tunion\t1.000\t12\n")
        self.assertEqual([json.loads(line)["hit"] for line in self.written("json").splitlines()], [0.5, 1.0])
        self.assertEqual(self.written("table").splitlines()[2:], ["form   hit    n", "flat   0.500", "union  1.000  12"])


class CorpusTest(unittest.TestCase):
    def test_there_are_enough_tasks_and_no_sentence_twice(self):
        tasks = corpus.load()
        self.assertGreaterEqual(len(tasks), 300)
        asks = collections.Counter(task.ask.lower() for task in tasks)
        self.assertEqual([ask for ask, count in asks.items() if count > 1], [])
        per_action = collections.Counter((task.tool, task.action) for task in tasks)
        self.assertEqual([action for action, count in per_action.items() if count < 2], [])

    def test_kept_names_are_filled_in_everywhere(self):
        for task in corpus.load():
            names = {"n": "7"}
            for setup in task.setup:
                names |= dict.fromkeys(setup.keep, "kept")
            text = json.dumps(corpus.filled(task.values, names))
            self.assertNotIn("{n}", text, task.name)
            self.assertNotRegex(text, r'"\$', task.name)

    def test_pointers_lead_into_lists(self):
        self.assertEqual(corpus.pointed({"a": [{"b": 1}]}, "/a/0/b"), 1)

    def test_a_setup_that_returns_nothing_is_reported(self):
        setup = corpus.SetupCall("notes", "add", {"text": "{n}"}, {"note": "/data/id"})
        task = corpus.CorpusTask("notes-1", "ask", "notes", "get", {"id": "$note"}, (setup,))
        with self.assertRaisesRegex(corpus.SetupFailure, "notes-1: add returned no /data/id"):
            corpus.Filler().prepare(task, lambda *_: {"ok": False})
        names = corpus.Filler().prepare(task, lambda tool, action, values: {"data": {"id": "id-" + values["text"]}})
        self.assertEqual(corpus.filled(task.values, names), {"id": "id-1"})


if __name__ == "__main__":
    unittest.main()
