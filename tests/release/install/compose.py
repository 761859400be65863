"""The fleet of dist/compose, without a container engine: `compose.py BINARY PLUGINS FOLDER`.

Starts the image's executable three times with the services' command, settings and mounts, PostgreSQL and nginx with their settings, each
under the name and the port that the others use, in a network namespace of its own. Makes calls through nginx, also while a server is
missing, and stops the servers.

What this does not try: the images of PostgreSQL and nginx, and whether an engine accepts the file.
"""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import yaml

import cluster
import database
import image
import mcp

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "dist/compose"


def main() -> None:
    binary, plugins, folder = (Path(word) for word in sys.argv[1:])
    # Before the network is left.
    if not shutil.which("nginx"):
        for words in (["update", "-q"], ["install", "-qy", "nginx-light"]):
            subprocess.run(["apt-get", *words], check=True, stdout=subprocess.DEVNULL)
    services = yaml.safe_load((HERE / "compose.yaml").read_text())["services"]
    servers = [name for name in services if name.startswith("loggia")]
    consistent(services, servers)
    made = subprocess.run([binary, "token", "new", "agents", "--scope", "*"], capture_output=True, text=True, check=True)
    token, hash_ = made.stdout.strip(), re.search(r'hash = "(\S+)"', made.stderr).group(1)
    (folder / "settings").mkdir()
    (folder / "settings/loggia.toml").write_text((HERE / "loggia.toml").read_text())
    (folder / "secrets").mkdir()
    (folder / "secrets/db-password").write_text("ignored by a server that trusts its logins\n")
    places = {"db": "127.0.0.1"} | {name: f"127.0.0.{number}" for number, name in enumerate(servers, 2)}
    running, images = {}, []
    try:
        for name in servers:
            own = folder / name
            own.mkdir()
            images.append(root := image.Image(own, binary).__enter__())
            (root.root / "etc/hosts").write_text("".join(f"{place} {host}\n" for host, place in places.items()))
        cluster.isolate()
        with database.Server(folder, images[0].root, ("db",)):
            for name, root in zip(servers, images):
                mounts = {"/plugins": plugins, "/etc/loggia": folder / "settings", "/run/secrets": folder / "secrets"}
                command = root.command(mounts, {"LOGGIA_TOKEN_HASH": hash_})
                # On an address of its own instead of all of its container's.
                own = ["--http", f"{places[name]}:8080", "--admin", f"{places[name]}:9090"]
                running[name] = subprocess.Popen([*command, *services[name]["command"], *own], stderr=subprocess.DEVNULL)
                cluster.eventually(lambda: mcp.status(f"http://{places[name]}:9090/readyz"), 200)
            running["nginx"] = nginx(folder, places)
            cluster.eventually(lambda: mcp.status("http://127.0.0.1:8080/mcp", {"host": "localhost:8080"}), 401)
            calls(token)
            running[servers[0]].kill()
            running[servers[0]].wait()
            calls(token)
            for name in servers[1:]:
                begun = time.monotonic()
                running[name].send_signal(signal.SIGTERM)
                assert running[name].wait(40) == 0, name
                print(f"{name} ends {time.monotonic() - begun:.1f} s after SIGTERM")
    finally:
        for process in running.values():
            # nginx ends its workers.
            process.terminate()
            process.wait()
        for root in images:
            root.__exit__()


def consistent(services: dict, servers: list[str]) -> None:
    """The files agree on names and ports, and the servers have the restrictions that docs/operators/install.md shows."""
    balanced = re.findall(r"server (\S+):8080 ", (HERE / "nginx.conf").read_text())
    assert balanced == servers == services["nginx"]["depends_on"], balanced
    for name in servers:
        service = services[name]
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
        assert {volume.split(":")[1] for volume in service["volumes"]} == {"/etc/loggia/loggia.toml", "/var/lib/loggia", "/var/cache/loggia"}
        assert "ports" not in service, "only nginx is reached from outside"
    volumes = [volume.split(":")[0] for name in servers for volume in services[name]["volumes"] if not volume.startswith(".")]
    assert len(volumes) == len(set(volumes)), "servers share a state folder"


def nginx(folder: Path, places: dict[str, str]) -> subprocess.Popen:
    """nginx with the file's settings; it finds the names in the system's /etc/hosts, which only it sees changed."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{place} {host}\n" for host, place in places.items()))
    # On an address of its own, too.
    settings = folder / "nginx.conf"
    settings.write_text((HERE / "nginx.conf").read_text().replace("listen 8080;", "listen 127.0.0.1:8080;"))
    script = 'mount --bind "$1" /etc/hosts && exec nginx -c "$2" -e /dev/stderr -g "daemon off;"'
    return subprocess.Popen(["unshare", "--mount", "sh", "-euc", script, "nginx", hosts, settings])


def calls(token: str) -> None:
    for host in ("localhost:8080", "tools.example.com"):
        session = mcp.Http("http://127.0.0.1:8080/mcp", {"host": host, "authorization": f"Bearer {token}"})
        session.open()
        for _ in range(6):
            session.call()


if __name__ == "__main__":
    main()
