"""A Debian package, by cargo-deb: the command, its manual pages and completions, and the systemd unit.

`[package.metadata.deb]` in host/Cargo.toml lists the files. cargo-deb expects built files in cargo's target folder; here this folder is
laid out with the executable that is to be packed.
"""

import email.utils
import gzip
import os
import shutil
from pathlib import Path

from formats import project

CARGO_DEB = "3.8.0"


def build(binaries: list[project.Binary], out: Path) -> list[Path]:
    return [pack(binary, out) for binary in binaries if "-linux-" in binary.target]


def pack(binary: project.Binary, out: Path) -> Path:
    stage = project.fresh(project.TARGET / "dist/deb" / binary.target)
    built = stage / "target" / binary.target / "dist"
    built.mkdir(parents=True)
    shutil.copy(binary.path, built / "loggia")
    documents(binary, built / "extras")
    environment = {**project.environment(), "CARGO_TARGET_DIR": str(stage / "target")}
    # cargo-deb finds out by itself which packages the executable's libraries are in.
    tool = project.cargo_tool("cargo-deb", CARGO_DEB)
    environment["PATH"] = f"{tool}{os.pathsep}{environment['PATH']}"
    command = [project.CARGO, "deb", "--package", "loggia", "--no-build", "--no-strip", "--locked", "--profile", "dist"]
    project.run(*command, "--target", binary.target, "--output", stage, cwd=project.ROOT, env=environment)
    [package] = stage.glob("*.deb")
    return package.replace(out / package.name)


def documents(binary: project.Binary, folder: Path) -> None:
    """Writes what Debian's policy wants compressed: manual pages, and both changelogs."""
    project.extras(binary, folder)
    for page in (folder / "man").iterdir():
        compress(page.with_name(f"{page.name}.gz"), page.read_bytes())
        page.unlink()
    compress(folder / "changelog.gz", (project.ROOT / "CHANGELOG.md").read_bytes())
    metadata = project.metadata()
    date = email.utils.formatdate(int(project.environment()["SOURCE_DATE_EPOCH"]))
    maintainer = metadata["metadata"]["deb"]["maintainer"]
    entry = f"loggia ({metadata['version']}-1) stable; urgency=medium\n\n  * See changelog.gz.\n\n -- {maintainer}  {date}\n"
    compress(folder / "changelog.Debian.gz", entry.encode())


def compress(file: Path, content: bytes) -> None:
    # Without a time, so that the same commit gives the same package.
    file.write_bytes(gzip.compress(content, mtime=0))
