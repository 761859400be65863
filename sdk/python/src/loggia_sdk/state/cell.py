"""One value, and a number that only goes up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable, Generic, TypeVar

from ..value_checks import check_count
from .data import Change, Space
from .table import Table
from .transaction import Transaction, transaction

T = TypeVar("T")


class Slot(Generic[T]):
    """A cell within a transaction: `SETTINGS.of(tx)`."""

    def __init__(self, table: Table, tx: Transaction):
        tx.takes(table.name, table.space)
        self._table, self._tx = table, tx

    def get(self) -> T | None:
        """The value, if it exists."""
        text = self._tx.get(self._table.name)
        return None if text is None else self._table.decode(self._table.name, text)

    def set(self, value: T) -> None:
        """Writes the value."""
        self._tx.write(self._table.write(self._table.name, self._table.encode(self._table.name, value)))

    def clear(self) -> None:
        """Deletes the value."""
        self._tx.write(Change.delete(self._table.name))


class Cell(Generic[T]):
    """One value, stored as JSON under the key `name`: settings, a cursor, the last item seen."""

    def __init__(self, name: str, type: type[T] | Any = Any, *, ttl: timedelta | None = None, space: Space = Space.SHARED):
        milliseconds = None if ttl is None else int(ttl.total_seconds() * 1000)
        self._table = Table(name, type, space, milliseconds)

    def of(self, tx: Transaction) -> Slot[T]:
        """The cell within a transaction."""
        return Slot(self._table, tx)

    def get(self) -> T | None:
        """The value, if it exists."""
        entry = self._table.space.get(self._table.name)
        return None if entry is None else self._table.decode(entry.key, entry.value)

    def set(self, value: T) -> None:
        """Writes the value."""
        name = self._table.name
        self._table.space.commit([self._table.write(name, self._table.encode(name, value))])

    def clear(self) -> None:
        """Deletes the value."""
        self._table.space.commit([Change.delete(self._table.name)])

    def update(self, default: T, change: Callable[[T], T | None]) -> T:
        """Changes the value, or the default where there is none, in place or to what `change` returns."""

        def attempt(tx: Transaction) -> T:
            slot = self.of(tx)
            value = slot.get()
            value = default if value is None else value
            changed = change(value)
            value = value if changed is None else changed
            slot.set(value)
            return value

        return transaction(attempt, space=self._table.space)


class Counter:
    """A number that starts at 0 and only increases, stored under the key `name`."""

    def __init__(self, name: str, *, space: Space = Space.SHARED):
        self._cell: Cell[int] = Cell(name, int, space=space)

    def get(self) -> int:
        """Current value."""
        return self._cell.get() or 0

    def next(self) -> int:
        """Increments by one; no two calls get the same number."""
        return self.add(1)

    def add(self, by: int) -> int:
        """Increments by a number, which is not negative; returns the new value."""
        check_count("Counter.add", by=by)
        return self._cell.update(0, lambda number: number + by)
