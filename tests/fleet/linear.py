"""Checks recorded histories: is what clients saw of one key what one copy of it could have answered?

A history is linearizable if each operation can be given a moment between its start and its end, so that the operations, one
after another in the order of these moments, explain all results (Herlihy and Wing 1990). The search is that of Wing and Gong with
Lowe's memory of configurations (set of operations done, state), as in Porcupine. An operation whose outcome is unknown, as its
connection broke, can take effect at any moment after its start, or never.

The model knows what Loggia promises of a key: its value, and its version, which rises with each change.
"""

from dataclasses import dataclass

FOREVER = float("inf")


@dataclass(frozen=True)
class Operation:
    """One operation on one key. `result` is None and `end` is FOREVER if the outcome is unknown."""

    kind: str  # get, put, increment, compare_and_put
    argument: object
    result: object
    start: float
    end: float = FOREVER

    @property
    def known(self) -> bool:
        return self.end != FOREVER


# State of a key: (value, version, whether exactly this version: otherwise it is an unknown one that is not lower).
# A key that does not exist has the value None.
INITIAL = (None, 0, True)


def step(state, operation):
    """The state after an operation, or None if the operation cannot have had its result in this state."""
    value, version, exact = state
    kind, argument, result = operation.kind, operation.argument, operation.result
    if kind == "get":
        seen, at = result
        if seen != value:
            return None
        if seen is None:
            return state
        return (value, at, True) if (at == version if exact else at >= version) else None
    if kind == "increment":
        number = (value or 0) + argument
        return (number, version + 1, False) if not operation.known or result == number else None
    if kind == "put":
        return written(state, argument, operation)
    if kind == "compare_and_put":
        number, expected = argument
        absent = expected is None
        matches = value is None if absent else value is not None and (version == expected if exact else expected >= version)
        if result == "conflict":
            # With a version that is not known exactly, it may have been another one.
            surely = matches and (absent or exact)
            return None if surely else state
        if not matches:
            return None
        return written((value, version if absent else expected, True), number, operation)
    raise ValueError(kind)


def written(state, value, operation):
    """The state after a write; its result is the version, which must be a new one."""
    _, version, _ = state
    if not operation.known:
        return (value, version + 1, False)
    return (value, operation.result, True) if operation.result > version else None


class Undecided(Exception):
    """The search took too many steps."""


def explain(operations, limit=400_000):
    """None if the history is linearizable, or the longest prefix found and what could not follow it."""
    operations = sorted(operations, key=lambda operation: operation.start)
    # A read of unknown outcome says nothing.
    operations = [operation for operation in operations if operation.known or operation.kind != "get"]
    count = len(operations)
    known = sum(operation.known for operation in operations)
    # Calls and returns in the order of time, as a doubly linked list. An entry is 2·n for a call, 2·n+1 for its return.
    times = [(operation.start, 0, 2 * n) for n, operation in enumerate(operations)]
    # A return at the same instant comes later: the two then overlap.
    times += [(operation.end, 1, 2 * n + 1) for n, operation in enumerate(operations)]
    order = [entry for _, _, entry in sorted(times)]
    head = 2 * count
    after, before = [0] * (2 * count + 1), [0] * (2 * count + 1)
    for entry, following in zip([head, *order], [*order, head]):
        after[entry], before[following] = following, entry

    def lift(n):
        for entry in (2 * n, 2 * n + 1):
            after[before[entry]], before[after[entry]] = after[entry], before[entry]

    def unlift(n):
        for entry in (2 * n + 1, 2 * n):
            after[before[entry]] = before[after[entry]] = entry

    state, done, left = INITIAL, 0, known
    seen, stack, steps = {(0, INITIAL)}, [], 0
    best = ([], None)
    entry = after[head]
    while left:
        steps += 1
        if steps > limit:
            raise Undecided(f"{count} operations, {count - known} of them unknown")
        n, returns = divmod(entry, 2)
        if entry != head and not returns:
            following = step(state, operations[n])
            if following is not None and (done | 1 << n, following) not in seen:
                seen.add((done | 1 << n, following))
                stack.append((n, state))
                state, done, left = following, done | 1 << n, left - operations[n].known
                lift(n)
                entry = after[head]
                if len(stack) > len(best[0]):
                    best = ([n for n, _ in stack], state)
            else:
                entry = after[entry]
            continue
        # An operation that has returned must come before everything that follows: the last choice was wrong.
        if not stack:
            prefix = [operations[n] for n in best[0]]
            return prefix, best[1], [operation for operation in operations if operation not in prefix][:6]
        n, state = stack.pop()
        done, left = done & ~(1 << n), left + operations[n].known
        unlift(n)
        entry = after[2 * n]
    return None
