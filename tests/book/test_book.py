"""Tests of what is pure here: `python3 -m unittest discover tests/book`."""

import unittest

from markdown import PageError, steps
from output import appeared, commands, difference, edited


def block(comment: str, language: str = "sh", text: str = "true") -> str:
    return f"{comment}```{language}\n{text}\n```\n"


class Pages(unittest.TestCase):
    def test_steps_have_sessions_kind_and_block(self):
        [new, run] = steps("p", "<!-- book: rust new a -->\n\n" + block("<!-- book: rust,ts run -->\n"))
        self.assertEqual((new.sessions, new.kind, new.argument, new.listing), (("rust",), "new", "a", None))
        self.assertEqual((run.sessions, run.kind, run.listing.text), (("rust", "ts"), "run", "true\n"))

    def test_pages_that_cannot_be_followed_are_refused(self):
        for text, why in {
            block(""): "nothing tests",
            "<!-- book: rust run -->\n\n" + block(""): "no block",
            block("<!-- book: rust walk -->\n"): "unknown step",
            block("<!-- book: run -->\n"): "no session",
        }.items():
            with self.assertRaisesRegex(PageError, why):
                steps("p", text)
        self.assertEqual(steps("p", block("", "text")), [])


class Outputs(unittest.TestCase):
    def test_output_belongs_to_its_command(self):
        text = "$ one  # first\n1\n$ two \\\n    --more\n2\n"
        self.assertEqual(commands(text), [("one", ["1"]), ("two --more", ["2"])])
        with self.assertRaises(ValueError):
            commands("1\n$ one\n")

    def test_only_what_varies_may_differ(self):
        for expected, found, same in [
            (["a"], "a\n", True),
            (["a"], "b\n", False),
            (["a"], "a\nb\n", False),
            (["a", "b"], "a\n", False),
            (["a", "…"], "a\nb\nc\n", True),
            (["…", "c"], "a\nb\nc\n", True),
            (["…", "b"], "a\nb\nc\n", False),
            (["run_… done"], "run_x1 done\n", True),
            (["run_… done"], "run_x1 failed\n", False),
            (["ok    1.5 ms"], "ok 20.0 ms\n", True),
            (["3 notes"], "4 notes\n", False),
            ([], "a\n", False),
        ]:
            self.assertEqual(difference(expected, found) is None, same, (expected, found))

    def test_lines_appear_in_order(self):
        self.assertTrue(appeared(["a", "c"], "a\nb\nc\n"))
        self.assertFalse(appeared(["c", "a"], "a\nb\nc\n"))

    def test_changes_apply_to_one_place(self):
        self.assertEqual(edited("a\nb\nc\n", " a\n-b\n+B\n@@\n-c\n"), "a\nB\n")
        for change in ("-x\n", "-a\n"):
            with self.assertRaises(ValueError):
                edited("a\nb\na\n", change)


if __name__ == "__main__":
    unittest.main()
