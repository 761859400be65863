"""Write a Loggia plugin in Python: functions become actions; type hints and docstrings become schemas, at build time."""

from . import host, http, peers, state
from .call import Call, Detail, Level
from .facade import Facade, Resource
from .failure import Failure
from .host import choose, confirm, elicit
from .marks import FULL, MINIMAL, Example, Format, Hint, Length, Name, Pattern, Range, Secret
from .peers import Request
from .reply import Content, Next, Page, Reply
from .state import CALLER, SHARED, Cell, Collection, Counter, transaction

__all__ = [
    "CALLER", "FULL", "MINIMAL", "SHARED", "Call", "Cell", "Collection", "Content", "Counter", "Detail", "Example", "Facade", "Failure",
    "Format", "Hint", "Length", "Level", "Name", "Next", "Page", "Pattern", "Range", "Reply", "Request", "Resource", "Secret", "choose",
    "confirm", "elicit", "host", "http", "peers", "state", "transaction",
]
