"""The published forms, one file each: what each shows of an action, and how its calls are written.

A form's module has `read(tools)`, which returns `{(tool, action): ShownAction}` from the published text alone, and
`place(shown, values)`, which returns the tool's name and the arguments of a call.
"""

import importlib


def reader(form):
    """Returns the module of a form."""
    return importlib.import_module(f"forms.{form}")
