"""How long clients went without a successful call.

A gap is the time between two successful calls of one worker, without that in which it waited for a run. It belongs to what
happened meanwhile: kills of single servers alone, a failover of the database, or a partition; with a kill or a failover it begins
there.
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


def stretches(lines):
    """Of each worker: (success, next success, how long it waited for runs meanwhile)."""
    workers = defaultdict(list)
    for line in lines:
        workers[line["worker"]].append(line)
    for own in workers.values():
        own.sort(key=lambda line: line["end"])
        last, waited = None, 0
        for line in own:
            if line["kind"] == "follow":
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
    # Of all clients together: how long nobody was served.
    served = sorted(line["end"] for line in lines if line["outcome"] == "ok" and line["kind"] != "connect")
    for kind in ("kill", "failover"):
        longest = 0
        for begin, _ in happened[kind]:
            place = bisect.bisect(served, begin)
            if place < len(served):
                longest = max(longest, served[place] - begin)
        report.figures[f"longest time without any answered call after a {kind}"] = f"{longest / 1e9:.2f} s"
