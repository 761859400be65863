"""(b) Is a call valid at the first try, if it is made from the published text alone?"""

from corpus import filled
from forms import reader
from generate import complete, generate


def is_valid(envelope):
    """Whether a call was understood: it may still fail for another reason than its parameters."""
    return envelope.get("ok") is True or envelope.get("code") not in ("invalid_params", "protocol")


def caller(served, shown):
    """Returns a function that makes a right call: for setups, and to check the corpus."""
    module = reader(served.form)
    return lambda tool, action, values: served.call(*module.place(shown[tool, action], values))


def measure(served, shown, tasks):
    """Returns a row for the list, and for `names` another one for the list and `describe`; and what was not valid."""
    module = reader(served.form)
    rows, invalid = [], []
    for reads in ("list", "list, describe") if hasattr(module, "describe") else ("list",):
        sums = {"valid": 0, "complete": 0, "ok": 0}
        for task in tasks:
            values = filled(task.values, served.filler.prepare(task, caller(served, shown)))
            seen = shown[task.tool, task.action]
            if reads != "list":
                seen = module.describe(seen, served.call)
            generated = generate(seen, values)
            answer = served.call(*module.place(seen, generated))
            sums["valid"] += is_valid(answer)
            sums["complete"] += is_valid(answer) and complete(generated, values)
            sums["ok"] += answer.get("ok") is True
            if not is_valid(answer):
                invalid.append((served.form, reads, task.name, task.action, answer.get("error")))
        shares = {key: round(value / len(tasks), 3) for key, value in sums.items()}
        rows.append({"form": served.form, "reads": reads, "tasks": len(tasks), **shares})
    return rows, invalid
