"""`loggia-VERSION-TARGET.tar.xz`: the executable with its licence, manual pages and completions in one folder.

The name and the folder are those of `[package.metadata.binstall]` in host/Cargo.toml.
"""

import shutil
import tarfile
from pathlib import Path

from formats import project


def build(binaries: list[project.Binary], out: Path) -> list[Path]:
    return [pack(binary, out) for binary in binaries]


def pack(binary: project.Binary, out: Path) -> Path:
    name = f"loggia-{project.metadata()['version']}-{binary.target}"
    stage = project.fresh(project.TARGET / "dist/archive" / name)
    project.extras(binary, stage)
    suffix = ".exe" if "-windows-" in binary.target else ""
    shutil.copy(binary.path, stage / f"loggia{suffix}")
    shutil.copy(project.ROOT / "LICENSE", stage)
    shutil.copy(project.ROOT / "README.md", stage)
    time = int(project.environment()["SOURCE_DATE_EPOCH"])

    def reproducible(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = time
        member.mode = 0o755 if member.isdir() or member.name == f"{name}/loggia{suffix}" else 0o644
        return member

    file = out / f"{name}.tar.xz"
    with tarfile.open(file, "w:xz", preset=6) as tar:
        tar.add(stage, name, filter=reproducible)
    return file
