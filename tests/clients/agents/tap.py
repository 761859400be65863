"""Starts a host on stdio, passes everything on, and notes how each client introduces itself: tap.py NOTES COMMAND…

NOTES gets a line of JSON for each introduction that differs from the one before it: name, version, and protocol version.
"""

import json
import subprocess
import sys
import threading

MODERN = "io.modelcontextprotocol/"


def introduction(line):
    """Name, version and protocol version of a message; None if it has none."""
    params = json.loads(line).get("params") or {}
    meta = params.get("_meta") or {}
    info = params.get("clientInfo") or meta.get(f"{MODERN}clientInfo")
    version = params.get("protocolVersion") or meta.get(f"{MODERN}protocolVersion")
    return info and [info["name"], info["version"], version]


def requests(host, notes):
    before = None
    for line in sys.stdin.buffer:
        told = introduction(line)
        if told and told != before:
            notes.write(json.dumps(told).encode() + b"\n")
            before = told
        host.stdin.write(line)
        host.stdin.flush()
    host.stdin.close()


def main():
    with open(sys.argv[1], "ab", buffering=0) as notes:
        host = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=requests, args=(host, notes), daemon=True).start()
        for line in host.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        sys.exit(host.wait())


main()
