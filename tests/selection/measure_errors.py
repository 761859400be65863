"""(c) Does a failure say enough to correct the call? Each task's call is broken in several ways, and corrected by rules."""

from breaks import BREAKS, broken
from correct import CallCorrection
from corpus import filled
from forms import reader
from measure_calls import caller, is_valid

ATTEMPTS = 2


def measure(served, shown, truth, tasks, seed):
    """Returns a row per break: the calls, and the shares that were right at once, after one and after two corrections.

    Right is a valid call of the action that was meant; `wrong action` is the share of valid calls of another one. `truth` is what
    `granular` shows: the whole schema, by which calls are broken.
    """
    module = reader(served.form)
    siblings = {}
    for (facade, _), entry in truth.items():
        siblings.setdefault(facade, {}).update(entry.parameters)
    rows, stuck = [], []
    for break_ in BREAKS:
        counts = [0] * (ATTEMPTS + 1)
        made = wrong = 0
        for task in tasks:
            values = filled(task.values, served.filler.prepare(task, caller(served, shown)))
            tool, arguments = module.place(shown[task.tool, task.action], values)
            parameters = truth[task.tool, task.action].parameters
            call = broken(
                break_, tool, arguments, task.action, parameters, siblings[task.tool], f"{seed}-{task.name}-{break_.__name__}"
            )
            if call is None:
                continue
            made += 1
            after, call, answer = corrections(served, call, task, values)
            if after is None:
                failure = {key: answer.get(key) for key in ("error", "hint", "expected")}
                stuck.append((served.form, break_.__name__, task.name, call, failure))
            elif ran(served, call, answer) != task.action:
                wrong += 1
            else:
                counts[after] += 1
        if made:
            shares = [round(sum(counts[: at + 1]) / made, 3) for at in range(ATTEMPTS + 1)]
            row = {"form": served.form, "break": break_.__name__, "calls": made}
            rows.append({**row, "at once": shares[0], "after 1": shares[1], "after 2": shares[2]})
            rows[-1]["wrong action"] = round(wrong / made, 3)
    return rows, stuck


def corrections(served, call, task, values):
    """Returns the number of corrections until the call is valid, or None; the last call, and its answer."""
    for attempt in range(ATTEMPTS + 1):
        answer = served.call(*call)
        if is_valid(answer):
            return attempt, call, answer
        if attempt < ATTEMPTS:
            corrected = CallCorrection(*call, answer, task.action, values).corrected()
            if corrected is None:
                break
            call = corrected
    return None, call, answer


def ran(served, call, answer):
    """Returns the action that a valid call ran. Envelopes name it as the caller did, so an alias is looked up."""
    action = answer.get("action")
    if served.form == "granular":
        return served.actions.get(call[0], action)
    described = served.call(call[0], {"action": "describe", "of": action})
    return described.get("data", {}).get("name", action)
