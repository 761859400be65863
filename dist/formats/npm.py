"""npm packages: one for each platform, which holds the executable, and the launcher, whose `optionalDependencies` name them.

npm installs only the platform package whose `os`, `cpu` and `libc` match. There are no install scripts.
"""

import json
import shutil
import sys
from pathlib import Path

from formats import project

# Node's names of what Rust's target triples name: os, cpu, libc.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64", "glibc"),
    "aarch64-unknown-linux-gnu": ("linux", "arm64", "glibc"),
    "x86_64-unknown-linux-musl": ("linux", "x64", "musl"),
    "aarch64-unknown-linux-musl": ("linux", "arm64", "musl"),
    "x86_64-apple-darwin": ("darwin", "x64", None),
    "aarch64-apple-darwin": ("darwin", "arm64", None),
    "x86_64-pc-windows-gnu": ("win32", "x64", None),
    "x86_64-pc-windows-msvc": ("win32", "x64", None),
    "aarch64-pc-windows-msvc": ("win32", "arm64", None),
}
# The launcher looks for packages of these names: see dist/npm/loggia.js.
NAME = "loggia"


def build(binaries: list[project.Binary], out: Path) -> list[Path]:
    packages = [platform(binary) for binary in binaries]
    names = [json.loads((folder / "package.json").read_text())["name"] for folder in packages]
    # The launcher depends on what is packed with it and nothing else: a name that nobody has published could be taken by others.
    return [pack(folder, out) for folder in [*packages, launcher(names)]]


def platform(binary: project.Binary) -> Path:
    """Lays out the package that holds the executable for one platform."""
    if binary.target not in PLATFORMS:
        sys.exit(f"npm has no name for the target {binary.target}: add it to PLATFORMS in {__file__}")
    os_name, cpu, libc = PLATFORMS[binary.target]
    name = "-".join(part for part in (NAME, os_name, cpu, libc) if part)
    folder = project.fresh(project.TARGET / "dist/npm" / name)
    file = "loggia.exe" if os_name == "win32" else "loggia"
    (folder / "bin").mkdir()
    shutil.copy(binary.path, folder / "bin" / file)
    (folder / "bin" / file).chmod(0o755)
    (folder / "README.md").write_text(f"# {name}\n\nThe executable of [{NAME}](../{NAME}) for {binary.target}. Install `{NAME}`.\n")
    where = {"os": [os_name], "cpu": [cpu]} | ({"libc": [libc]} if libc else {})
    # Yarn keeps packages zipped unless this is set, and nothing runs from a zip file.
    return manifest(folder, name, f"The executable of {NAME} for {binary.target}.", where | {"preferUnplugged": True})


def launcher(platforms: list[str]) -> Path:
    """Lays out the package that users install."""
    folder = project.fresh(project.TARGET / "dist/npm" / NAME)
    (folder / "bin").mkdir()
    shutil.copy(project.DIST / "npm/loggia.js", folder / "bin/loggia.js")
    shutil.copy(project.DIST / "npm/README.md", folder)
    version = project.metadata()["version"]
    more = {
        "bin": {NAME: "bin/loggia.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: version for name in platforms},
    }
    return manifest(folder, NAME, project.metadata()["description"], more)


def manifest(folder: Path, name: str, description: str, more: dict) -> Path:
    shutil.copy(project.ROOT / "LICENSE", folder)
    common = project.metadata()
    package = {
        "name": name,
        "version": common["version"],
        "description": description,
        "license": common["license"],
        "repository": {"type": "git", "url": f"git+{common['repository']}.git"},
        "keywords": common["keywords"],
        **more,
    }
    (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n")
    return folder


def pack(folder: Path, out: Path) -> Path:
    listed = project.run("npm", "pack", "--silent", "--pack-destination", out, cwd=folder, env=project.environment())
    return out / listed.split()[-1]
