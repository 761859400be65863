"""How long clients went without a successful call.

A gap is the time between two successful calls of one worker, without that in which it waited for a run. It belongs to what
happened meanwhile: kills of single servers alone, a failover of the database, or a partition; with a kill or a failover it begins
there.

A client with a session reads its answers from a stream of events. If that breaks, the SDKs try to resume it, and fail the call by
their timeout only: that is the client's time, and is counted on its own.
"""

import bisect
import statistics
from collections import defaultdict

# Seconds; the others have no goal.
GOALS = {"kill": 3.0, "failover": 10.0}
NAMES = {
    "kill": "gap of a client after a kill",
    "failover": "gap of a client around a failover of the database",
    "kill all": "gap of a client after a kill of all servers",
    "partition": "gap of a client in a partition",
}
ENDS = {"failover": "failover ends", "partition": "partition ends"}


def intervals(events, kind):
    """From its begin to its end; a kill is a moment."""
    found, begun = [], []
    for event in events:
        if event["kind"] == kind:
            if kind in ENDS:
                begun.append(event)
            else:
                found.append((event["time"], event["time"]))
        elif event["kind"] == ENDS.get(kind) and begun:
            found.append((begun.pop(0)["time"], event["time"]))
    return found


def gave_up(line):
    """Whether the client waited for a stream that had broken."""
    return line["outcome"] != "ok" and any(word in line.get("why", "") for word in ("imeout", "timed out", "reconnection attempts"))


def stretches(lines):
    """Of each worker: (success, next success, how long it waited for runs and broken streams meanwhile)."""
    with_sessions = {line["worker"] for line in lines if line["kind"] == "connect" and line.get("version", "2026-07-28") != "2026-07-28"}
    workers = defaultdict(list)
    for line in lines:
        workers[line["worker"]].append(line)
    for own in workers.values():
        own.sort(key=lambda line: line["end"])
        last, waited = None, 0
        for line in own:
            if line["kind"] == "follow" or line["worker"] in with_sessions and line["kind"] != "connect" and gave_up(line):
                waited += line["end"] - line["start"]
            if line["outcome"] == "ok" and line["kind"] != "connect":
                if last is not None:
                    yield last, line["end"], waited
                last, waited = line["end"], 0


def measure(events, lines, report):
    happened = {kind: intervals(events, kind) for kind in NAMES}
    gaps = defaultdict(list)
    for begin, end, waited in stretches(lines):
        meets = {kind: [max(begin, b) for b, e in found if b <= end and e >= begin] for kind, found in happened.items()}
        # What weighs most.
        kind = next((kind for kind in ("partition", "failover", "kill all", "kill") if meets[kind]), None)
        if kind:
            gaps[kind].append((max(0, end - min(meets[kind]) - waited) / 1e9, end))
    for kind, name in NAMES.items():
        found = sorted(gaps[kind])
        if not found:
            continue
        seconds = [gap for gap, _ in found]
        report.figures[name] = f"p50 {statistics.median(seconds):.2f} s, p99 {seconds[int(len(seconds) * 0.99)]:.2f} s, max {seconds[-1]:.2f} s"
        if kind in GOALS and seconds[-1] > GOALS[kind]:
            over = sum(gap > GOALS[kind] for gap in seconds)
            report.violations.append(f"{name} is {seconds[-1]:.1f} s, more than {GOALS[kind]:.0f} s, {over} of {len(found)} times")
    report.gaps = dict(gaps)
    calls = [line for line in lines if line["kind"] not in ("connect", "follow")]
    given_up = [line for line in calls if gave_up(line)]
    report.figures["calls that clients gave up by their own timeout"] = f"{len(given_up)} of {len(calls)}"
    # Of all clients together: how long nobody was served.
    served = sorted(line["end"] for line in calls if line["outcome"] == "ok")
    others = [interval for kind in NAMES if kind != "kill" for interval in happened[kind]]
    for kind in ("kill", "failover"):
        longest = 0
        for begin, _ in happened[kind]:
            if kind == "kill" and any(b - 2e9 <= begin <= e + 2e9 for b, e in others):
                continue
            place = bisect.bisect(served, begin)
            if place < len(served):
                longest = max(longest, served[place] - begin)
        report.figures[f"longest time without any answered call after a {kind}"] = f"{longest / 1e9:.2f} s"
