"""The image of dist/docker/Dockerfile, without a container engine: its last stage is laid out in a folder and run in a chroot.

What this does not try: the stage `build` (the executable is given), and whether an engine accepts the file.
"""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = ROOT / "dist/docker/Dockerfile"

# Mounts the root read-only, then proc, null and what the caller names, and becomes the image's user.
ENTER = """
root=$1 user=$2
shift 2
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    mount -o "remount,bind,$3,nosuid,nodev" "$root$2"
    shift 3
done
shift
mount -t proc proc "$root/proc"
mount --bind /dev/null "$root/dev/null"
mount -o remount,bind,ro "$root"
exec env -i "$@"
"""


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions: name and arguments, with continued lines joined."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if not line.lstrip().startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    return [(name, rest.strip()) for name, _, rest in (line.strip().partition(" ") for line in text.splitlines() if line.strip())]


class Image:
    def __init__(self, folder: Path, binary: Path):
        self.root, self.volumes, self.binary = folder / "root", folder / "volumes", binary
        self.environment: dict[str, str] = {}
        self.user = ""
        self.entrypoint: list[str] = []
        self.default: list[str] = []

    def __enter__(self) -> "Image":
        found = instructions()
        last = max(at for at, (name, _) in enumerate(found) if name == "FROM")
        assert found[last] == ("FROM", "scratch"), found[last]
        for name, rest in found[last + 1 :]:
            self.apply(name, rest)
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.root)

    def apply(self, name: str, rest: str) -> None:
        if name == "COPY":
            self.copy(*shlex.split(rest))
        elif name == "ENV":
            self.environment |= dict(word.split("=", 1) for word in shlex.split(rest))
        elif name == "USER":
            self.user = rest
        elif name == "ENTRYPOINT":
            self.entrypoint = json.loads(rest)
        elif name == "CMD":
            self.default = json.loads(rest)
        else:
            assert name == "EXPOSE", f"an instruction that this does not simulate: {name}"

    def copy(self, *words: str) -> None:
        source, destination = words[-2:]
        target = self.root / destination.lstrip("/")
        if words[0] == "--from=root":
            # What the stage `root` runs, on this Debian.
            assert (source, destination) == ("/image", "/")
            subprocess.run([ROOT / "dist/docker/root", self.root], check=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.binary if words[0] == "--from=build" else ROOT / source, target)

    def megabytes(self) -> float:
        return sum(file.lstat().st_size for file in self.root.rglob("*") if file.is_file() and not file.is_symlink()) / 1e6

    def volume(self, path: str) -> Path:
        """A folder that the image's user may write, mounted at this path."""
        folder = self.volumes / path.strip("/").replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        user, group = (int(number) for number in self.user.split(":"))
        os.chown(folder, user, group)
        return folder

    def command(self, mounts: dict[str, Path], environment: dict[str, str] | None = None) -> list[str]:
        """Starts the image's entrypoint with a read-only root. The mounts are read-only, state and cache are volumes."""
        binds = [[str(folder), path, "ro"] for path, folder in mounts.items()]
        binds += [[str(self.volume(path)), path, "rw"] for path in ("/var/lib/loggia", "/var/cache/loggia")]
        for path in mounts:
            # The mount point; an engine makes it, too.
            (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        (self.root / "dev/null").touch()
        enter = ["unshare", "--mount", "sh", "-euc", ENTER, "enter", str(self.root), self.user]
        variables = [f"{name}={value}" for name, value in {**self.environment, **(environment or {})}.items()]
        become = [shutil.which("setpriv"), "--no-new-privs", shutil.which("chroot"), f"--userspec={self.user}", str(self.root)]
        return [*enter, *(word for bind in binds for word in bind), "--", *variables, *become, *self.entrypoint]
