"""A Debian in a folder, made by debootstrap once and copied for each use."""

import shlex
import shutil
import subprocess
from pathlib import Path

SUITE = "bookworm"


def run(*words) -> str:
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{done.stdout}failed: {' '.join(map(str, words))}"
    return done.stdout


class Chroot:
    """A system in a folder. Processes have its /proc and nothing else of this machine but what `shares` names: folders, which they
    can only read, by their paths in the system."""

    def __init__(self, folder: Path, cache: Path, packages: tuple[str, ...] = ("systemd",), shares: dict[str, Path] | None = None):
        self.root = folder / "root"
        self.packages = ",".join(packages)
        self.cache = cache / "-".join((SUITE, *packages))
        self.shares = shares or {}

    def __enter__(self) -> "Chroot":
        if not (self.cache / "complete").exists():
            if not shutil.which("debootstrap"):
                run("apt-get", "update", "-q")
                run("apt-get", "install", "-qy", "debootstrap")
            shutil.rmtree(self.cache, ignore_errors=True)
            run("debootstrap", "--variant=minbase", f"--include={self.packages}", SUITE, self.cache / "root")
            (self.cache / "complete").touch()
        run("cp", "--archive", "--reflink=auto", self.cache / "root", self.root)
        for inside in self.shares:
            (self.root / inside.lstrip("/")).mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.root)

    def command(self, *words: str) -> list[str]:
        shared = "".join(
            f'mount --bind {shlex.quote(str(path))} "$1{inside}"; mount -o remount,bind,ro "$1{inside}"; ' for inside, path in self.shares.items()
        )
        enter = 'root=$1; shift; exec env -i PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/root chroot "$root" "$@"'
        script = f'mount -t proc proc "$1/proc"; {shared}{enter}'
        # The namespace ends with the process, and so do the mounts.
        return ["unshare", "--mount", "sh", "-euc", script, "enter", str(self.root), *words]

    def run(self, *words: str) -> str:
        return run(*self.command(*words))
