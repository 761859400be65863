"""Persistent state: stored by the host, for this plugin only. The policy grants it: `store = true`.

Keys and values are laid out as by the Rust and JavaScript SDKs: a plugin may change its language and keep its state. There are two
spaces: one that all callers share, and one for each caller.
"""

from .cell import Cell, Counter
from .collection import Collection, Item, Listing
from .data import CALLER, SHARED, Change, Entries, Entry, Space
from .ids import id_with_number, number_in_id
from .transaction import Transaction, transaction

__all__ = [
    "CALLER", "SHARED", "Cell", "Change", "Collection", "Counter", "Entries", "Entry", "Item", "Listing", "Space", "Transaction",
    "id_with_number", "number_in_id", "transaction",
]
