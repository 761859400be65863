"""Fenced blocks of Markdown pages, and the steps that HTML comments make of them.

    <!-- book: SESSION[,SESSION…] KIND [ARGUMENT] -->

stands directly above a block, and says what is done with it in each session ("rust", "python", …) of the page:

    file PATH      writes the block
    edit PATH      applies it: lines that begin with `-` go, lines that begin with `+` come; `@@` separates places
    same PATH      compares it with the file
    run            runs the lines after `$ `, or all lines of `sh`, and compares what follows them with the output
    until          the same, again and again until it is so
    serve          runs its one command until the session ends, once its output has appeared

A block marked `…` in expected output stands for any text in a line, or for any lines. Without a block:

    new NAME       `loggia new NAME` in the session's language, and enters the folder
    copy FROM [TO] copies a file of the repository

For all sessions alike, in place of one:

    excerpt PATH   the block's lines are lines of this file of the repository, in this order
"""

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$", re.S | re.M)
COMMENT = re.compile(r"^<!-- book: (.*?) -->\n", re.M)
DIRECTIVE = re.compile(r"(?:(?P<sessions>[a-z]+(?:,[a-z]+)*) )?(?P<kind>file|edit|same|run|until|serve|new|copy|excerpt)(?: (?P<argument>\S.*))?")
WITHOUT_BLOCK = ("new", "copy")


@dataclass(frozen=True)
class Listing:
    """A fenced block."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Step:
    """What a comment says."""

    page: str
    line: int
    sessions: tuple[str, ...]
    kind: str
    argument: str
    listing: Listing | None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def listings(page: str, text: str) -> list[Listing]:
    return [Listing(page, line_of(text, block.start()), block[3].strip(), dedent(block[4], block[1])) for block in FENCE.finditer(text)]


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def dedent(text: str, indent: str) -> str:
    return re.sub(f"^{indent}", "", text, flags=re.M)


class PageError(ValueError):
    """A comment that cannot be followed, or a block without one."""


def steps(page: str, text: str) -> list[Step]:
    """The steps of a page, all of whose blocks have one, except `text` and `mermaid`."""
    blocks = {listing.line: listing for listing in listings(page, text)}
    found, used = [], set()
    for comment in COMMENT.finditer(text):
        line = line_of(text, comment.start())
        words = DIRECTIVE.fullmatch(comment[1])
        if not words:
            raise PageError(f"{page}:{line}: unknown step: {comment[1]}")
        listing = None
        if words["kind"] not in WITHOUT_BLOCK:
            listing = blocks.get(line + 1)
            if not listing:
                raise PageError(f"{page}:{line}: no block follows")
            used.add(line + 1)
        sessions = tuple((words["sessions"] or "").split(",")) if words["sessions"] else ()
        if not sessions and words["kind"] != "excerpt":
            raise PageError(f"{page}:{line}: no session")
        found.append(Step(page, line, sessions, words["kind"], words["argument"] or "", listing))
    for line, listing in blocks.items():
        if line not in used and listing.language not in ("text", "mermaid"):
            raise PageError(f"{page}:{line}: nothing tests this block")
    return found


def has_steps(path: Path) -> bool:
    return bool(COMMENT.search(path.read_text(encoding="utf-8")))
