"""How tool search finds a tool: three rankings without embeddings, over what clients index.

Anthropic documents for both of its variants (BM25 and regex) that they search tool names, descriptions, argument names and
argument descriptions, that a pattern is one of Python's `re.search` with at most 200 characters, and that three to five tools come
back. It documents neither the parameters of BM25 nor the order of what a pattern matches: those here are the usual ones, see
README.md. `keywords` follows clients that weigh names, `anthropic/searchHint` and descriptions.
"""

import collections
import math
import re

K1, B = 1.2, 0.75
PATTERN_LENGTH = 200
# Claude Code shows no more of a description.
SHOWN_DESCRIPTION = 2048
WEIGHTS = {"name": 10, "hint": 4, "description": 2}
WORD = re.compile(r"[^\W_]+")
# Words that carry no meaning in a request; queries drop them.
STOP_WORDS = frozenset(
    """a about all also am an and any anything are as at be been but by can could did do does don else for from give had has have how i i'd
    i'll i'm i've if in into is it it's its just let like make me my need no not of off on one or our out please put s show so some
    t that that's the their them then there these they this those to up us want was we were what what's when where which who will
    with would you your""".split()
)
RANKERS = ("bm25", "regex", "keywords")


def words(text):
    """Splits a text into lower-case words, also at `_` and inside camelCase."""
    return [word.lower() for word in WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))]


def query_words(ask):
    """Returns the words of a sentence that are worth a search, each once. URLs, paths and quoted texts are data, not wishes."""
    bare = re.sub(r"https?://\S+|/[\w./{}-]+|'[^']{3,}'|«[^»]*»|\{.*\}", " ", ask)
    found = [word for word in words(bare) if word not in STOP_WORDS and len(word) > 1 and not word.isdigit()]
    return list(dict.fromkeys(found))


def arguments(schema):
    """Yields the names and descriptions of arguments, also of nested ones."""
    for name, member in (schema.get("properties") or {}).items():
        yield name
        yield member.get("description", "")
        yield from arguments(member)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from arguments(schema[key])
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key) or ():
            yield from arguments(branch)


class ToolDocument:
    """What is indexed of one tool."""

    def __init__(self, tool):
        self.name = tool["name"]
        self.hint = (tool.get("_meta") or {}).get("anthropic/searchHint", "")
        self.description = tool.get("description", "")
        parts = [self.name, tool.get("title", ""), self.hint, self.description]
        self.text = "\n".join([*parts, *arguments(tool.get("inputSchema", {}))])


class ToolIndex:
    """The tools of a list, ranked for a sentence. Ties keep the order of the list."""

    def __init__(self, documents):
        self.documents = documents
        self.counts = [collections.Counter(words(document.text)) for document in documents]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean = sum(self.lengths) / max(len(documents), 1)
        self.frequency = collections.Counter(word for count in self.counts for word in count)

    def rank(self, ranker, ask):
        """Returns names, best first; tools without any match are left out."""
        wanted = query_words(ask)
        scores = getattr(self, f"_{ranker}")(wanted)
        order = sorted((index for index, score in enumerate(scores) if score > 0), key=lambda index: -scores[index])
        return [self.documents[index].name for index in order]

    def _bm25(self, wanted):
        scores = []
        for count, length in zip(self.counts, self.lengths):
            score = 0.0
            for word in wanted:
                if count[word]:
                    rarity = math.log(1 + (len(self.counts) - self.frequency[word] + 0.5) / (self.frequency[word] + 0.5))
                    weight = count[word] * (K1 + 1) / (count[word] + K1 * (1 - B + B * length / self.mean))
                    score += rarity * weight
            scores.append(score)
        return scores

    def _regex(self, wanted):
        """A pattern of alternatives, as a model writes it; the more of them match, the better."""
        pattern = pattern_of(wanted)
        if not pattern:
            return [0] * len(self.documents)
        return [len({match.lower() for match in re.findall(pattern, document.text)}) for document in self.documents]

    def _keywords(self, wanted):
        scores = []
        for document in self.documents:
            name, hint = words(document.name), words(document.hint)
            description = words(document.description[:SHOWN_DESCRIPTION])
            scores.append(
                sum(
                    WEIGHTS["name"] * (word in name)
                    + WEIGHTS["hint"] * (word in hint)
                    + WEIGHTS["description"] * (word in description)
                    for word in wanted
                )
            )
        return scores


def pattern_of(wanted):
    """Returns `(?i)(?:word|word…)` of whole words in at most 200 characters, or None."""
    kept = []
    for word in sorted(wanted, key=len, reverse=True):
        pattern = r"(?i)\b(?:" + "|".join([*kept, re.escape(word)]) + r")\b"
        if len(pattern) <= PATTERN_LENGTH:
            kept.append(re.escape(word))
    return r"(?i)\b(?:" + "|".join(kept) + r")\b" if kept else None


def action_documents(shown, facade):
    """What a form shows of each action of a facade, as documents to rank: a model that has the tool must still choose."""
    documents = []
    for (owner, action), entry in shown.items():
        if owner == facade and action not in ("run_status", "run_cancel"):
            document = ToolDocument({"name": action, "description": entry.text})
            document.text += "\n" + "\n".join(
                f"{name} {parameter.text}" for name, parameter in entry.parameters.items()
            )
            documents.append(document)
    return documents
