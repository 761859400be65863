"""Tests of the checker: it must accept what one copy could answer, and find everything else. `python3 -m unittest` runs them."""

import random
import unittest

from linear import FOREVER, INITIAL, Operation, Undecided, explain, step


def get(value, version, start, end):
    return Operation("get", None, (value, version), start, end)


def put(value, version, start, end=FOREVER):
    return Operation("put", value, version, start, end)


def increment(by, result, start, end=FOREVER):
    return Operation("increment", by, result, start, end)


def cas(value, expected, result, start, end=FOREVER):
    return Operation("compare_and_put", (value, expected), result, start, end)


class Accepts(unittest.TestCase):
    def accepts(self, *history):
        self.assertIsNone(explain(history))

    def test_sequences(self):
        self.accepts()
        self.accepts(get(None, None, 0, 1), put(5, 7, 2, 3), get(5, 7, 4, 5), increment(2, 7, 6, 7), get(7, 9, 8, 9))
        self.accepts(cas(1, None, 3, 0, 1), cas(2, 3, 4, 2, 3), cas(9, 3, "conflict", 4, 5), get(2, 4, 6, 7))

    def test_overlapping_operations_in_either_order(self):
        self.accepts(put(1, 1, 0, 10), put(2, 2, 0, 10), get(2, 2, 11, 12))
        self.accepts(put(1, 2, 0, 10), put(2, 1, 0, 10), get(1, 2, 11, 12))
        self.accepts(put(1, 1, 0, 10), get(None, None, 1, 9), get(1, 1, 2, 9))

    def test_unknown_outcomes_take_effect_late_or_never(self):
        self.accepts(put(1, 1, 0, 1), put(2, None, 2), get(1, 1, 3, 4))
        self.accepts(put(1, 1, 0, 1), put(2, None, 2), get(1, 1, 3, 4), get(2, 8, 5, 6))
        self.accepts(increment(1, None, 0), increment(1, None, 0), increment(1, 2, 1, 2))
        self.accepts(put(1, 1, 0, 1), cas(2, 1, None, 2), cas(3, 1, "conflict", 3, 4), get(2, 2, 5, 6))


class Rejects(unittest.TestCase):
    def rejects(self, *history):
        self.assertIsNotNone(explain(history))

    def test_a_lost_write(self):
        self.rejects(put(1, 1, 0, 1), get(None, None, 2, 3))
        self.rejects(put(1, 1, 0, 1), put(2, 2, 2, 3), get(1, 1, 4, 5))
        self.rejects(increment(1, 1, 0, 1), increment(1, 1, 2, 3))

    def test_a_stale_read(self):
        self.rejects(put(1, 1, 0, 1), put(2, 2, 2, 9), get(2, 2, 3, 4), get(1, 1, 5, 6))

    def test_a_write_from_nowhere(self):
        self.rejects(put(1, 1, 0, 1), get(3, 2, 2, 3))
        self.rejects(increment(1, 2, 0, 1))

    def test_a_write_before_its_start(self):
        self.rejects(get(2, 1, 0, 1), put(2, None, 2))

    def test_a_write_made_twice(self):
        self.rejects(increment(1, None, 0), increment(1, 3, 1, 2))

    def test_two_owners(self):
        self.rejects(put(1, 1, 0, 1), cas(2, 1, 2, 2, 9), cas(3, 1, 3, 2, 9))
        self.rejects(cas(1, None, 1, 0, 9), cas(2, None, 2, 0, 9))

    def test_a_conflict_without_a_cause(self):
        self.rejects(put(1, 1, 0, 1), cas(2, 1, "conflict", 2, 3))

    def test_versions_that_fall_or_differ(self):
        self.rejects(put(1, 5, 0, 1), put(2, 4, 2, 3))
        self.rejects(put(1, 5, 0, 1), get(1, 6, 2, 3))


def simulate(chance, clients=4, length=60):
    """A history of a correct key: each operation takes effect at some moment between start and end, if at all."""
    planned = []
    for client in range(clients):
        now = chance.random()
        for _ in range(length // clients):
            start, at, end = sorted(now + chance.random() * 3 for _ in range(3))
            planned.append((at, start, end))
            now = end + chance.random() / 10
    state, version, history = INITIAL, 0, []
    for number, (at, start, end) in enumerate(sorted(planned)):
        value, current, _ = state
        version += chance.randint(1, 3)
        kind = chance.choice(["get", "put", "increment", "compare_and_put"])
        lost = kind != "get" and chance.random() < 0.1
        end = FOREVER if lost else end
        if kind == "get":
            operation = get(value, None if value is None else current, start, end)
        elif kind == "put":
            operation = put(number * 1000, None if lost else version, start, end)
        elif kind == "increment":
            operation = increment(1, None if lost else (value or 0) + 1, start, end)
        else:
            expected = chance.choice([current, current - 1]) if value is not None else None
            result = version if expected in (current, None) else "conflict"
            operation = cas(number * 1000, expected, None if lost else result, start, end)
        history.append(operation)
        if operation.result == "conflict" or kind == "get" or lost and chance.random() < 0.5:
            continue
        after = step(state, operation)
        if after is not None:
            state = (after[0], version, True)
    return history


class Simulated(unittest.TestCase):
    """Histories by chance: as they are, and with one mistake."""

    def test_correct_histories_pass_and_changed_ones_do_not(self):
        caught = mutations = 0
        for seed in range(150):
            chance = random.Random(seed)
            history = simulate(chance)
            self.assertIsNone(explain(history), seed)
            # An acknowledged write is dropped: as if the server had forgotten whose value others have read.
            seen = {operation.result for operation in history if operation.kind == "get"}
            dropped = [o for o in history if o.kind == "put" and o.known and (o.argument, o.result) in seen]
            for operation in dropped[:3]:
                mutations += 1
                caught += explain([o for o in history if o is not operation]) is not None
        self.assertGreater(mutations, 100)
        self.assertEqual(caught, mutations, "each of these drops is visible")

    def test_the_search_is_bounded(self):
        history = [put(number, None, 0) for number in range(20)] + [get(-1, 99, 1, 2)]
        with self.assertRaises(Undecided):
            explain(history, limit=1000)


if __name__ == "__main__":
    unittest.main()
