"""Reads what a component publishes, byte for byte, without the host: `surface.py FILE.wasm`."""

import sys

import wasmtime
from wasmtime import component


CONTRACT = {
    "types": [],
    "host": ["log", "progress", "cancelled", "config", "elicit", "invoke", "facades", "lookup", "check"],
    "state": ["get", "scan", "commit"],
}


def refuse(*_):
    raise RuntimeError("a description calls the host")


def plain(value):
    """Records, options and lists as JSON-like data; texts unchanged."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tag"):
        return {"tag": value.tag, "value": plain(value.payload)}
    if hasattr(value, "__dict__"):
        return {name: plain(item) for name, item in vars(value).items()}
    return value


def read(path):
    """`describe()`, and `schema(action)` for each action."""
    engine = wasmtime.Engine()
    guest = component.Component.from_file(engine, path)
    linker = component.Linker(engine)
    linker.add_wasip2()
    linker.add_wasi_http()
    # `describe` and `schema` call nothing.
    with linker.root() as root:
        for interface, functions in CONTRACT.items():
            with root.add_instance(f"loggia:plugin/{interface}@0.2.0") as instance:
                for function in functions:
                    instance.add_func(function, refuse)
    store = wasmtime.Store(engine)
    store.set_wasi(wasmtime.WasiConfig())
    store.set_wasi_http()
    instance = linker.instantiate(store, guest)
    facade = instance.get_export_index(store, "loggia:plugin/facade@0.2.0")

    def call(name, *arguments):
        function = instance.get_func(store, instance.get_export_index(store, name, facade))
        answer = function(store, *arguments)
        function.post_return(store)
        return plain(answer)

    described = call("describe")
    return {"describe": described, "schemas": {action["name"]: call("schema", action["name"]) for action in described["actions"]}}


if __name__ == "__main__":
    import json
    print(json.dumps(read(sys.argv[1]), indent=1))
