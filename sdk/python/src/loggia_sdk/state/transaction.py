"""Atomic reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, TypeVar

from ..failure import CONFLICT, INVALID_PARAMS, Failure
from .data import Change, Entry, Space
from .table import ATTEMPTS, pause

T = TypeVar("T")


@dataclass
class _Touched:
    """A key that was read (`seen` is a list of the entry, or of None) or is to be written."""

    seen: list[Entry | None] | None = None
    change: Change | None = None


class Transaction:
    """Access to the state for the function of a `transaction`: `NOTES.of(tx).get(id)`.

    Reads are cached, writes are buffered and visible to later reads. At the end all writes are committed at once, unless anything
    that was read has changed: then the function runs again from the start, up to 50 times. So it must only compute.
    """

    def __init__(self, space: Space):
        self.space = space
        self._keys: dict[str, _Touched] = {}

    def get(self, key: str) -> bytes | None:
        """Reads a key, including this transaction's writes."""
        touched = self._keys.setdefault(key, _Touched())
        if touched.change is not None:
            return touched.change.value if touched.change.operation == "put" else None
        entry = self.see(key)
        return None if entry is None else entry.value

    def see(self, key: str) -> Entry | None:
        """Reads a key for its version, even if it has a pending write."""
        touched = self._keys.setdefault(key, _Touched())
        if touched.seen is None:
            touched.seen = [self.space.get(key)]
        return touched.seen[0]

    def write(self, change: Change) -> None:
        """Writes or deletes a key at the end."""
        self._keys.setdefault(change.key, _Touched()).change = change

    def written(self, prefix: str) -> list[Change]:
        """Pending writes of keys that start with `prefix`."""
        return [one.change for key, one in self._keys.items() if key.startswith(prefix) and one.change is not None]

    def takes(self, name: str, space: Space) -> None:
        """Raises `internal` for a table of another space: one commit is of one space."""
        if space is not self.space:
            here, there = ("shared", "caller's") if space is Space.CALLER else ("caller's", "shared")
            raise Failure.internal(
                f"`{name}` is in the {there} space, but the transaction is in the {here}: each space has its own"
            )

    def commit(self) -> bool:
        """Commits all writes if the reads still hold; whether they did."""
        if all(one.change is None for one in self._keys.values()):
            return self.check()
        changes = []
        for key in sorted(self._keys):
            touched = self._keys[key]
            if touched.change is None and touched.seen is None:
                continue
            change = touched.change or Change(key, "check")
            if touched.seen is not None:
                change.expect = touched.seen[0].version if touched.seen[0] else "absent"
            changes.append(change)
        try:
            self.space.commit(changes)
        except Failure as failure:
            if failure.code == CONFLICT:
                return False
            if failure.code == INVALID_PARAMS and not failure.hint:
                failure.hint = "That is too much for one call: give less at once."
            raise
        return True

    def check(self) -> bool:
        """Tests whether the reads still hold, without a commit, which a `read` action cannot make."""
        seen = {key: one.seen[0] for key, one in self._keys.items() if one.seen is not None}
        if len(seen) < 2:
            return True
        now = self.space.get_many(list(seen))
        return all((old and old.version) == (new and new.version) for old, new in zip(seen.values(), now))


def transaction(attempt: Callable[[Transaction], T], *, space: Space = Space.SHARED) -> T:
    """Runs `attempt(tx)` as atomic reads and writes; see `Transaction`.

    Raises its failure, if its reads hold; `conflict` if concurrent changes persist.
    """
    for number in range(1, ATTEMPTS + 1):
        tx = Transaction(space)
        try:
            value: Any = attempt(tx)
        except Failure:
            # A failure is valid only if its reads still hold.
            if _holds(tx):
                raise
        else:
            if tx.commit():
                return value
        if number < ATTEMPTS:
            pause(number)
    hint = "Nothing was written: try again in a moment."
    raise Failure.conflict("too many concurrent changes", hint=hint)


def _holds(tx: Transaction) -> bool:
    try:
        return tx.check()
    except Failure:
        return True
