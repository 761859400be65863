"""(a) Does tool search find the right tool, and what is shown of its actions the right action?"""

from ranking import RANKERS, ToolDocument, ToolIndex, action_documents

COLUMNS = ("form", "ranker", "tools", "hit@1", "hit@3", "none", "facade@1", "facade@3", "action@1", "action@3", "call@1")


def measure(form, tools, shown, tasks):
    """Returns a row per ranker, as shares of the tasks.

    `hit`: the right tool is first, among three. `facade`: a tool of the right facade is. `action`: among the actions of the right
    facade, ranked by what the form shows of each, the right one is. `call@1`: the right tool first, and the right action first in it.
    """
    index = ToolIndex([ToolDocument(tool) for tool in tools])
    facade_of = {entry.tool: facade for (facade, _), entry in shown.items()}
    inside = {facade: ToolIndex(action_documents(shown, facade)) for facade in {task.tool for task in tasks}}
    rows = []
    for ranker in RANKERS:
        sums = dict.fromkeys(COLUMNS[3:], 0)
        for task in tasks:
            found = index.rank(ranker, task.ask)
            facades = list(dict.fromkeys(facade_of.get(name, "") for name in found))
            actions = inside[task.tool].rank(ranker, task.ask)
            right = shown[task.tool, task.action].tool
            sums["hit@1"] += found[:1] == [right]
            sums["hit@3"] += right in found[:3]
            sums["none"] += not found
            sums["facade@1"] += facades[:1] == [task.tool]
            sums["facade@3"] += task.tool in [facade_of.get(name) for name in found[:3]]
            sums["action@1"] += actions[:1] == [task.action]
            sums["action@3"] += task.action in actions[:3]
            one_tool = form == "granular" or actions[:1] == [task.action]
            sums["call@1"] += found[:1] == [right] and one_tool
        shares = {column: round(value / len(tasks), 3) for column, value in sums.items()}
        rows.append({"form": form, "ranker": ranker, "tools": len(tools), **shares})
    return rows
