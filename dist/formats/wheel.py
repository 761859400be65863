"""A Python wheel, by maturin. It installs the commands `loggia` and `loggia-mcp`, which is the wheel's own name.

maturin always asks cargo to build. Here cargo's answer is that of `cargo_prebuilt.py`: the executable that is to be packed.
"""

from pathlib import Path

from formats import project

MATURIN = "1.16.0"


def build(binaries: list[project.Binary], out: Path) -> list[Path]:
    return [pack(binary, out) for binary in binaries]


def pack(binary: project.Binary, out: Path) -> Path:
    stage = project.fresh(project.TARGET / "dist/wheel" / binary.target)
    environment = {
        **project.environment(),
        "CARGO": str(project.DIST / "formats/cargo_prebuilt.py"),
        "REAL_CARGO": project.CARGO,
        "LOGGIA_BINARY": str(binary.path),
        "CARGO_TARGET_DIR": str(stage / "target"),
    }
    command = [project.python_tool("maturin", MATURIN) / "maturin", "build", "--locked", "--profile", "dist", "--target", binary.target, "--out", stage]
    project.run(*command, cwd=project.DIST / "python", env=environment)
    [wheel] = stage.glob("*.whl")
    return wheel.replace(out / wheel.name)
