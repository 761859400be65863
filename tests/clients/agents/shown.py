"""What the scripts of this folder share: the target, the steps and their lines, and what the scripted model does.

A script takes a URL, or the command of a host on stdio. `TOKEN` in the environment is the bearer token for a URL. It prints a line of
JSON for each step; after `ready` a plugin is replaced. `-` stands for what a client cannot do.
"""

import json
import os
import sys

TARGET = sys.argv[1:]
URL = TARGET[0] if len(TARGET) == 1 else None
HEADERS = {"Authorization": f"Bearer {os.environ['TOKEN']}"} if "TOKEN" in os.environ else {}
ANSWERS = [("accept", {"newest": 3, "why": "dust"}), ("decline", None)]
NONE = "-"


def told(step, **said):
    print(json.dumps({"step": step, **said}), flush=True)


def kinds(blocks):
    """The kind of each block that a model receives, and the JSON of the first text."""
    names = [block["type"] for block in blocks]
    texts = (block["text"] for block in blocks if block["type"] == "text")
    return names, decoded(next(texts, ""))


def decoded(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


class Script:
    """Replaces a model. Its first call lacks a parameter; its second call is the example in the answer that the model receives.

    `turn` takes what the model has received since its last turn: None, or the kinds and the data. It returns a tool and arguments, or
    None at the end.
    """

    def __init__(self):
        self.received = []

    def turn(self, news):
        if news is not None:
            self.received.append(news)
        calls = [
            lambda: ("echo", {"action": "say"}),
            lambda: ("echo", self.received[0]["data"]["example"]),
            lambda: ("test", {"action": "multiple_content_types"}),
        ]
        return calls[len(self.received)]() if len(self.received) < len(calls) else None


def news(kinds, data, failed=NONE):
    """What a model receives: kinds of content, the data, and whether the client marks it as failed."""
    return {"kinds": kinds, "data": data, "failed": failed}


async def take(client):
    """Takes a client through the steps."""
    told("list", tools=await client.names())
    script = Script()
    await client.converse(script)
    error, said, picture = script.received
    told("error", kinds=error["kinds"], failed=error["failed"], code=error["data"]["code"])
    told("call", kinds=said["kinds"], failed=said["failed"], data=said["data"]["data"])
    told("picture", kinds=picture["kinds"])
    told("audio", kinds=await client.audio())
    told("progress", **await client.progress())
    told("elicitation", data=await client.elicitation())
    told("strict", **await client.strict())
    told("ready", news=0)
    told("reload", **await client.reload())


def rising(reports):
    """The line of a progress step."""
    done = [report[0] for report in reports]
    return {"last": list(reports[-1]), "rises": done == sorted(set(done))}


def nulls(schema, **arguments):
    """The arguments that a strict model sends: all parameters, null for those that it does not mean."""
    return {**dict.fromkeys(schema["properties"]), **arguments}
