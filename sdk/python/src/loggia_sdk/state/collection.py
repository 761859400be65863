"""Many values of one type."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Callable, Generic, TypeVar

from ..failure import CONFLICT, INVALID_PARAMS, Failure
from ..reply import Page, Reply
from .data import Change, Entry, Space
from .ids import id_with_number, number_in_id
from .table import Table
from .transaction import Transaction, transaction

T = TypeVar("T")
R = TypeVar("R")
# Rows per read of `newest`.
PART = 100


@dataclass
class Item(Generic[T]):
    """A value of a collection, with its id."""

    id: str
    value: T


@dataclass
class Listing(Generic[T]):
    """A part of a collection; `cursor` is `None` on the last."""

    items: list[Item[T]]
    cursor: str | None = None

    def reply(self, make: Callable[[Item[T]], Any] = lambda item: item.value) -> Reply[Any]:
        """A reply with the values, the count, and the cursor of the next page."""
        values = [make(item) for item in self.items]
        return Reply(values, page=Page(count=len(values), cursor=self.cursor))


class Rows(Generic[T]):
    """A collection within a transaction: `NOTES.of(tx)`. Writes take effect at its end."""

    def __init__(self, table: Table, tx: Transaction):
        self._table, self._tx = table, tx

    def get(self, id: str) -> T | None:
        """The value of an id, if it exists."""
        key = self._table.key(id)
        text = self._read(key)
        return None if text is None else self._table.decode(key, text)

    def require(self, id: str) -> T:
        """The value of an id. Raises `not_found`."""
        value = self.get(id)
        if value is None:
            raise self._table.missing(id)
        return value

    def contains(self, id: str) -> bool:
        """Tests whether a row exists."""
        return self._read(self._table.key(id)) is not None

    def insert(self, id: str, value: T) -> None:
        """Adds a row. Raises `conflict` if the id exists."""
        if self.contains(id):
            raise self._table.taken(id)
        self.put(id, value)

    def put(self, id: str, value: T) -> None:
        """Writes a row, replacing an existing one."""
        key = self._table.key(id)
        self._write(self._table.write(key, self._table.encode(key, value)))

    def remove(self, id: str) -> bool:
        """Deletes a row; returns whether it existed."""
        there = self.contains(id)
        if there:
            self._write(Change.delete(self._table.key(id)))
        return there

    def next_id(self, prefix: str) -> str:
        """A new id: `n_0001`, then `n_0002`."""
        key = self._table.last()
        text = self._read(key)
        number = (0 if text is None else self._table.decode_number(key, text)) + 1
        self._tx.write(Change.put(key, str(number)))
        return id_with_number(prefix, number)

    def create(self, prefix: str, make: Callable[[str], T]) -> T:
        """Adds a row under a new id, of which the value is made."""
        id = self.next_id(prefix)
        value = make(id)
        self.insert(id, value)
        return value

    def update(self, id: str, change: Callable[[T], T | None]) -> T:
        """Changes a row: `change` changes the value in place, or returns another. Returns the new value."""
        value = self.require(id)
        changed = change(value)
        value = value if changed is None else changed
        self.put(id, value)
        return value

    def list(self, start: str = "") -> list[Item[T]]:
        """All rows whose ids begin with `start`, ordered by id, including this transaction's writes."""
        self._tx.takes(self._table.name, self._table.space)
        # Read first, so that any later write is a conflict.
        self._tx.see(self._table.changed())
        rows = {row.key: row.value for row in self._table.all(start)}
        for change in self._tx.written(self._table.prefix(start)):
            rows.pop(change.key, None)
            if change.operation == "put":
                rows[change.key] = change.value
        ordered = sorted(rows, key=lambda key: key.encode())
        return [Item(self._table.id(key), self._table.decode(key, rows[key])) for key in ordered]

    def _read(self, key: str) -> bytes | None:
        self._tx.takes(self._table.name, self._table.space)
        return self._tx.get(key)

    def _write(self, change: Change) -> None:
        self._tx.takes(self._table.name, self._table.space)
        self._tx.write(change)
        self._tx.write(Change.put(self._table.changed(), b""))


class Collection(Generic[T]):
    """Values of one type by id, stored as JSON under the keys `name/id`: `NOTES = Collection("notes", Note)`.

    `ttl` is the time to live of rows, from their last write; `space` may be `CALLER`, where each caller has rows of its own.
    """

    def __init__(self, name: str, type: type[T] | Any = Any, *, ttl: timedelta | None = None, space: Space = Space.SHARED):
        milliseconds = None if ttl is None else int(ttl.total_seconds() * 1000)
        self._table = Table(name, type, space, milliseconds)

    def of(self, tx: Transaction) -> Rows[T]:
        """The collection within a transaction."""
        return Rows(self._table, tx)

    def get(self, id: str) -> T | None:
        """The value of an id, if it exists."""
        return self._decoded(self._table.space.get(self._table.key(id)))

    def get_many(self, ids: list[str]) -> list[T | None]:
        """The values of these ids, in one snapshot. At most 1,000."""
        entries = self._table.space.get_many([self._table.key(id) for id in ids])
        return [self._decoded(entry) for entry in entries]

    def require(self, id: str) -> T:
        """The value of an id. Raises `not_found`."""
        value = self.get(id)
        if value is None:
            raise self._table.missing(id)
        return value

    def contains(self, id: str) -> bool:
        """Tests whether a row exists."""
        return self._table.space.get(self._table.key(id)) is not None

    def insert(self, id: str, value: T) -> None:
        """Adds a row. Raises `conflict` if the id exists."""
        try:
            self._put(id, value, expect="absent")
        except Failure as failure:
            raise self._table.taken(id) if failure.code == CONFLICT else failure from None

    def put(self, id: str, value: T) -> None:
        """Writes a row, replacing an existing one."""
        self._put(id, value)

    def remove(self, id: str) -> bool:
        """Deletes a row; returns whether it existed."""
        return self._atomic(lambda rows: rows.remove(id))

    def next_id(self, prefix: str) -> str:
        """A new id: `n_0001`, then `n_0002`. Never reused; as texts, ids sort by age."""
        return self._atomic(lambda rows: rows.next_id(prefix))

    def create(self, prefix: str, make: Callable[[str], T]) -> T:
        """Adds a row under a new id, of which the value is made."""
        return self._atomic(lambda rows: rows.create(prefix, make))

    def update(self, id: str, change: Callable[[T], T | None]) -> T:
        """Changes a row in place, or to what `change` returns; again, if somebody else was quicker. Raises `not_found`."""
        return self._atomic(lambda rows: rows.update(id, change))

    def list(self, start: str = "") -> list[Item[T]]:
        """All rows whose ids begin with `start`, ordered by id, in one snapshot."""
        return [self._item(entry) for entry in self._table.all(start)]

    def page(self, cursor: str | None, limit: int) -> Listing[T]:
        """At most `limit` rows, ordered by id, after the cursor of an earlier page."""
        after = None if cursor is None else self._table.prefix(cursor)
        part = self._table.space.scan(self._table.prefix(""), after, max(1, limit))
        items = [self._item(entry) for entry in part.items]
        return Listing(items, items[-1].id if part.more and items else None)

    def newest(
        self, prefix: str, cursor: str | None, limit: int, keep: Callable[[T], bool] = lambda _: True
    ) -> Listing[T]:
        """Rows with generated ids, newest first: at most `limit` of those that `keep` accepts."""
        entry = self._table.space.get(self._table.last())
        end = (0 if entry is None else self._table.decode_number(entry.key, entry.value)) + 1
        below = end if cursor is None else min(self._number(prefix, cursor), end)
        part, items = PART, []
        while below > 1:
            start = max(below - part, 1)
            ids = [id_with_number(prefix, number) for number in range(below - 1, start - 1, -1)]
            try:
                rows = self.get_many(ids)
            except Failure as failure:
                # The rows are too large to be read together.
                if failure.code != INVALID_PARAMS or part == 1:
                    raise
                part = -(-part // 8)
                continue
            for id, row in zip(ids, rows):
                if row is None or not keep(row):
                    continue
                if len(items) == max(1, limit):
                    return Listing(items, items[-1].id)
                items.append(Item(id, row))
            below = start
        return Listing(items)

    def _number(self, prefix: str, cursor: str) -> int:
        number = number_in_id(prefix, cursor)
        if number is None:
            hint = "Give the `cursor` of the last answer as it is, or none."
            raise Failure.invalid_params(f'`cursor` is not one: "{cursor}"', hint=hint)
        return number

    def _put(self, id: str, value: T, **more: Any) -> None:
        key = self._table.key(id)
        change = self._table.write(key, self._table.encode(key, value), **more)
        self._table.space.commit([change, Change.put(self._table.changed(), b"")])

    def _atomic(self, act: Callable[[Rows[T]], R]) -> R:
        return transaction(lambda tx: act(self.of(tx)), space=self._table.space)

    def _decoded(self, entry: Entry | None) -> T | None:
        return None if entry is None else self._table.decode(entry.key, entry.value)

    def _item(self, entry: Entry) -> Item[T]:
        return Item(self._table.id(entry.key), self._table.decode(entry.key, entry.value))
