"""Counts the tokens of a text in o200k_base, exactly, with the vocabulary of `host/tokens` and the standard library."""

import functools
import json
import pathlib
import re
import sys
import unicodedata
import zlib

VOCABULARY = pathlib.Path(__file__).parents[2] / "host" / "tokens" / "o200k_base.deflate"
SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"


@functools.cache
def ranks():
    """Returns the rank of each token: the file holds them in that order, each as a byte of length and its bytes."""
    data, found, at = zlib.decompress(VOCABULARY.read_bytes(), -15), {}, 0
    while at < len(data):
        end = at + 1 + data[at]
        found[data[at + 1 : end]] = len(found)
        at = end
    return found


def _class(*categories):
    """Returns the characters of these categories of Unicode, as ranges for a class of a pattern."""
    ranges, start = [], None
    for point in range(sys.maxunicode + 2):
        inside = point <= sys.maxunicode and unicodedata.category(chr(point)).startswith(categories)
        if inside and start is None:
            start = point
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{point - 1:08x}")
            start = None
    return "".join(ranges)


@functools.cache
def pieces():
    """Returns the pattern that splits a text into pieces, within which tokens merge."""
    letter, number = _class("L"), _class("N")
    upper, lower = _class("Lu", "Lt", "Lm", "Lo", "M"), _class("Ll", "Lm", "Lo", "M")
    return re.compile(
        f"[^\\r\\n{letter}{number}]?[{upper}]*[{lower}]+{ENDINGS}"
        f"|[^\\r\\n{letter}{number}]?[{upper}]+[{lower}]*{ENDINGS}"
        f"|[{number}]{{1,3}}"
        f"| ?[^{SPACE}{letter}{number}]+[\\r\\n/]*"
        f"|[{SPACE}]*[\\r\\n]+"
        f"|[{SPACE}]+(?![^{SPACE}])"
        f"|[{SPACE}]+"
    )


@functools.lru_cache(100_000)
def count_piece(piece):
    """Merges the pair of the lowest rank until none is left."""
    known, parts = ranks(), [piece[at : at + 1] for at in range(len(piece))]
    if piece in known:
        return 1
    while True:
        pairs = [(known.get(parts[at] + parts[at + 1], len(known)), at) for at in range(len(parts) - 1)]
        rank, at = min(pairs, default=(len(known), 0))
        if rank == len(known):
            return len(parts)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def count(value):
    """Returns the tokens of a text, or of the compact JSON of any other value."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return sum(count_piece(piece.group().encode()) for piece in pieces().finditer(text))
