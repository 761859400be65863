"""The path to a model: both APIs against an endpoint on loopback."""

import json
import unittest

from apis import AnthropicApi, ApiFailure, OpenaiApi, retry_after
from corpus import CorpusTask, Filler
from fake_endpoint import FakeEndpoint, anthropic_says, openai_says
from forms.shown import ShownAction
from measure_model import measure, parameters, same

TOOL = {"name": "notes", "description": "Notes.", "inputSchema": {"type": "object", "properties": {"action": {"type": "string"}}}}
TASK = CorpusTask("notes-1", "Keep this: milk", "notes", "add", {"text": "milk"})
KINDS = {"openai": (OpenaiApi, openai_says), "anthropic": (AnthropicApi, anthropic_says)}


class FakeServed:
    """A facade `notes` whose action `add` requires `text`."""

    form, tools, actions = "flat", [TOOL], {}

    def __init__(self):
        self.filler, self.server, self.calls = Filler(), self, []
        self.instructions = "Read `hint`."

    def call(self, name, arguments):
        self.calls.append((name, arguments))
        if name != "notes":
            return {"ok": False, "code": "protocol", "error": "Unknown tool"}
        if arguments.get("action") == "describe":
            return {"ok": True, "action": "describe", "data": {"name": arguments.get("of")}}
        action = arguments.get("action")
        if "text" not in parameters(arguments):
            return {"ok": False, "code": "invalid_params", "action": action, "error": "`text` is required"}
        return {"ok": True, "action": action, "data": {}}


class ModelTest(unittest.TestCase):
    def run_model(self, kind, script, form="flat"):
        api_type, says = KINDS[kind]
        waits = []
        with FakeEndpoint([says(**entry) if isinstance(entry, dict) else entry for entry in script]) as endpoint:
            api = api_type(endpoint.url, "fake", "secret", sleep=waits.append)
            shown = {("notes", "add"): ShownAction("notes", "notes", "add", {})}
            row, lines = measure(FakeServed(), shown, [TASK], api)
        self.assertEqual(endpoint.script, [], "the whole script was used")
        return row, lines[0], endpoint.requests, waits

    def both(self, script):
        for kind in KINDS:
            with self.subTest(kind):
                yield (kind, *self.run_model(kind, script))

    def test_a_right_call_counts_in_every_column(self):
        for _, row, _, _, _ in self.both([{"name": "notes", "arguments": {"action": "add", "text": "milk"}}]):
            for column in ("right tool", "right action", "right values", "valid at first", "valid after 2"):
                self.assertEqual(row[column], 1.0, column)
            self.assertEqual(row["no call"], 0.0)

    def test_requests_have_the_form_of_their_api(self):
        _, _, requests, _ = self.run_model("openai", [{"text": "no"}])
        path, headers, body = requests[0]
        self.assertEqual((path, headers["Authorization"]), ("/chat/completions", "Bearer secret"))
        self.assertEqual(body["tools"][0]["function"]["parameters"], TOOL["inputSchema"])
        self.assertIn("Read `hint`.", body["messages"][0]["content"])
        self.assertEqual(body["messages"][1], {"role": "user", "content": "Keep this: milk"})
        _, _, requests, _ = self.run_model("anthropic", [{"text": "no"}])
        path, headers, body = requests[0]
        headers = {name.lower(): value for name, value in headers.items()}
        self.assertEqual((path, headers["x-api-key"], headers["anthropic-version"]), ("/v1/messages", "secret", "2023-06-01"))
        self.assertEqual(body["tools"][0]["input_schema"], TOOL["inputSchema"])
        self.assertIn("Read `hint`.", body["system"])

    def test_a_failure_is_sent_back_and_corrected(self):
        script = [{"name": "notes", "arguments": {"action": "add"}}, {"name": "notes", "arguments": {"action": "add", "text": "milk"}}]
        for kind, row, _, requests, _ in self.both(script):
            shares = [row[column] for column in ("valid at first", "valid after 1", "right action", "right values")]
            self.assertEqual(shares, [0.0, 1.0, 1.0, 0.0])
            last = requests[1][2]["messages"][-1]
            text = last["content"] if kind == "openai" else last["content"][0]["content"]
            self.assertEqual(json.loads(text)["error"], "`text` is required")

    def test_at_most_two_corrections(self):
        script = [{"name": "notes", "arguments": {"action": "add"}}] * 3
        for _, row, line, requests, _ in self.both(script):
            self.assertEqual((row["valid after 2"], line["corrections"], len(requests)), (0.0, None, 3))

    def test_a_model_may_call_no_tool(self):
        for _, row, _, _, _ in self.both([{"text": "I cannot do that."}]):
            self.assertEqual((row["no call"], row["right tool"], row["valid at first"]), (1.0, 0.0, 0.0))

    def test_a_tool_that_is_not_there(self):
        script = [{"name": "memo", "arguments": {}}, {"text": "Sorry."}]
        for _, row, _, _, _ in self.both(script):
            self.assertEqual((row["no call"], row["right tool"], row["valid after 2"]), (0.0, 0.0, 0.0))

    def test_describe_is_free_once(self):
        script = [
            {"name": "notes", "arguments": {"action": "describe", "of": "add"}},
            {"name": "notes", "arguments": {"action": "add", "text": "milk"}},
        ]
        for _, row, _, _, _ in self.both(script):
            self.assertEqual((row["valid at first"], row["right action"]), (1.0, 1.0))

    def test_arguments_that_are_no_json_are_a_failed_call(self):
        script = [{"name": "notes", "arguments": "{text: milk"}, {"name": "notes", "arguments": {"action": "add", "text": "milk"}}]
        row, _, _, _ = self.run_model("openai", script)
        self.assertEqual((row["valid at first"], row["valid after 1"]), (0.0, 1.0))

    def test_rate_limits_are_waited_for(self):
        right = {"name": "notes", "arguments": {"action": "add", "text": "milk"}}
        script = [(429, {"Retry-After": "7"}, {"error": "slow down"}), (529, {}, {"error": "overloaded"}), right]
        for _, row, _, _, waits in self.both(script):
            self.assertEqual((row["valid at first"], waits), (1.0, [7.0, 4]))

    def test_a_limit_that_stays_fails_the_task(self):
        for _, row, line, requests, _ in self.both([(429, {"Retry-After": "1"}, {})] * 6):
            self.assertEqual((row["failed"], row["tasks"], row["right tool"], len(requests)), (1, 0, None, 6))
            self.assertIn("HTTP 429", line["failed"])

    def test_a_refusal_is_not_repeated(self):
        for _, _, line, requests, waits in self.both([(401, {}, {"error": "bad key"})]):
            self.assertIn("HTTP 401", line["failed"])
            self.assertIn("bad key", line["failed"])
            self.assertEqual((len(requests), waits), (1, []))

    def test_a_redirect_does_not_take_the_key_along(self):
        for _, _, line, requests, _ in self.both([(302, {"Location": "/elsewhere"}, {})]):
            self.assertIn("HTTP 302", line["failed"])
            self.assertEqual(len(requests), 1)

    def test_answers_that_are_none(self):
        for _, _, line, _, _ in self.both([(200, {}, b"<html>")]):
            self.assertIn("not JSON", line["failed"])
        for _, _, line, _, _ in self.both([(200, {}, {"unexpected": 1})]):
            self.assertIn("has no", line["failed"])

    def test_an_endpoint_that_is_not_there(self):
        waits = []
        api = OpenaiApi("http://127.0.0.1:9", "fake", None, sleep=waits.append)
        with self.assertRaisesRegex(ApiFailure, "cannot be reached"):
            api.turn([], [])
        self.assertEqual(waits, [2, 4, 8, 16, 32])

    def test_retry_after_is_seconds_or_a_date(self):
        self.assertEqual(retry_after("3"), 3.0)
        self.assertEqual(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), 0.0)
        self.assertIsNone(retry_after("soon"))
        self.assertIsNone(retry_after(None))


class FactsTest(unittest.TestCase):
    def test_parameters_are_taken_from_in_and_beside_params(self):
        given = parameters({"action": "add", "text": "a", "params": '{"tags": ["b"]}', "kind": None})
        self.assertEqual(given, {"text": "a", "tags": ["b"]})

    def test_facts_are_exact_and_sentences_roughly(self):
        self.assertTrue(same({"text": "Buy some milk today", "extra": 1}, {"text": "Buy milk"}))
        self.assertTrue(same({"id": "M_1", "limit": 3}, {"id": "m_1", "limit": 3}))
        self.assertFalse(same({"id": "m_12"}, {"id": "m_1"}))
        self.assertFalse(same({"text": "Sell the house"}, {"text": "Buy milk today"}))
        self.assertFalse(same({}, {"text": "x"}))
        self.assertFalse(same({"on": False}, {"on": True}))
        self.assertTrue(same({"l": [{"a": 1, "b": 2}]}, {"l": [{"a": 1}]}))
        self.assertFalse(same({"l": [1, 2]}, {"l": [1]}))


if __name__ == "__main__":
    unittest.main()
