"""Checks recorded histories: is what clients saw of one key what one copy of it could have answered?

A history is linearizable if each operation can be given a moment between its start and its end, so that the operations, one
after another in the order of these moments, explain all results (Herlihy and Wing 1990). The search is that of Wing and Gong with
Lowe's memory of configurations (set of operations done, state). An operation whose outcome is unknown, as its
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


def explain(operations, limit=300_000):
    """None if the history is linearizable, or the longest prefix found and what could not follow it."""
    # A read of unknown outcome says nothing.
    operations = [operation for operation in operations if operation.known or operation.kind != "get"]
    # Known ones are tried first: those of unknown outcome mostly explain nothing.
    operations.sort(key=lambda operation: (operation.end, operation.start))
    known = sum(operation.known for operation in operations)
    everything_known = (1 << known) - 1

    def candidates(done):
        """Those that can come next: none that has not come yet has ended before their start."""
        first_end = next((operations[n].end for n in range(known) if not done >> n & 1), FOREVER)
        alike = set()
        for n, operation in enumerate(operations):
            if done >> n & 1 or operation.start > first_end:
                continue
            if not operation.known:
                # Of several that do the same, the earliest start comes first.
                what = (operation.kind, operation.argument)
                if what in alike:
                    continue
                alike.add(what)
            yield n

    seen, best = {(0, INITIAL)}, ([], INITIAL)
    # (done, state, what came last, candidates that are left)
    stack = [(0, INITIAL, None, candidates(0))]
    steps = 0
    while stack:
        done, state, _, left = stack[-1]
        if done & everything_known == everything_known:
            return None
        for n in left:
            steps += 1
            if steps > limit:
                raise Undecided(f"{len(operations)} operations, {len(operations) - known} of them unknown")
            following = step(state, operations[n])
            after = done | 1 << n
            if following is not None and (after, following) not in seen:
                seen.add((after, following))
                stack.append((after, following, n, candidates(after)))
                if len(stack) > len(best[0]) + 1:
                    best = ([n for _, _, n, _ in stack[1:]], following)
                break
        else:
            stack.pop()
    prefix, state = best
    return [operations[n] for n in prefix], state, [o for n, o in enumerate(operations) if n not in prefix][:6]
