from dataclasses import dataclass
from typing import Annotated

from loggia_sdk import Collection, Facade, Length, Range, Reply


@dataclass
class Note:
    """A note."""

    id: str
    text: str


# Stored by the host. Nothing else outlives a call.
NOTES = Collection("notes", Note)

plugin = Facade("{{name}}", "Short notes kept between conversations.", needs={"store": "to keep the notes"})


@plugin.write
def add(text: Annotated[str, "What the note says.", Length(1, 4000)]) -> Note:
    """Add a note."""
    return NOTES.create("n_", lambda id: Note(id, text))


@plugin.read(name="list")
def list_notes(
    limit: Annotated[int, Range(1, 100)] = 20,
    cursor: Annotated[str | None, "From the last answer, for the next part."] = None,
) -> Reply[list[Note]]:
    """List the notes."""
    return NOTES.page(cursor, limit).reply()
