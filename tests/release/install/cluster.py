"""A manifest of dist/kubernetes, without a cluster: `cluster.py BINARY PLUGINS FOLDER MANIFEST`.

Checks the manifest against the API's schemas and the rules of the pod security standard `restricted`, then starts the image's executable
with exactly the pod's arguments, environment, settings file, mounts and user, in a network namespace of its own, where its ports are free,
asks its probes, and makes a call with a token. A manifest that names a database gets one, by the name in its settings, but without TLS.

What this does not try: whether a cluster schedules the pod, and its volumes and network.
"""

import contextlib
import ctypes
import fcntl
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import database
import image
import mcp

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "dist"))
from formats import project  # noqa: E402

VALIDATE = "1.37.0"


def main() -> None:
    binary, plugins, folder, manifest = (Path(word) for word in sys.argv[1:])
    documents = parse(manifest)
    kinds = {document["kind"]: document for document in documents}
    pod = kinds["Deployment"]["spec"]["template"]
    [container] = pod["spec"]["containers"]
    restricted(pod["spec"], container)
    service = kinds["Service"]["spec"]
    assert service["selector"].items() <= pod["metadata"]["labels"].items(), "the Service selects other pods"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert [port["targetPort"] for port in service["ports"]] == ["mcp"], "only MCP is for clients"
    selectors = [kinds[kind]["spec"]["selector"]["matchLabels"] for kind in ("PodDisruptionBudget",) if kind in kinds]
    assert all(selector.items() <= pod["metadata"]["labels"].items() for selector in selectors), "it protects other pods"
    for scaler in [kinds["HorizontalPodAutoscaler"]["spec"]] if "HorizontalPodAutoscaler" in kinds else []:
        assert scaler["scaleTargetRef"]["name"] == kinds["Deployment"]["metadata"]["name"]
        [metric] = [metric["pods"]["metric"]["name"] for metric in scaler["metrics"]]
        assert f"`{metric}`" in (ROOT / "docs/operators/operations.md").read_text(), f"there is no metric {metric}"
    claims = {d["metadata"]["name"] for d in documents if d["kind"] == "PersistentVolumeClaim"}
    used = {volume["persistentVolumeClaim"]["claimName"] for volume in pod["spec"]["volumes"] if "persistentVolumeClaim" in volume}
    assert used == claims, (used, claims)

    settings = folder / "settings"
    settings.mkdir()
    needs_database = False
    for name, text in kinds["ConfigMap"]["data"].items():
        if database.NAME in text:
            needs_database = True
            text = text.replace(f"{database.NAME}/loggia", f"{database.NAME}/loggia?sslmode=disable")
        (settings / name).write_text(text)
    settings.chmod(0o755)
    made = subprocess.run([binary, "token", "new", "agents", "--scope", "*"], capture_output=True, text=True, check=True)
    token, hash_ = made.stdout.strip(), re.search(r'hash = "(\S+)"', made.stderr).group(1)
    [variable] = container["env"]
    with image.Image(folder, binary) as root:
        secrets = {m["mountPath"] for m in container["volumeMounts"]} - {"/etc/loggia", "/var/lib/loggia", "/var/cache/loggia"}
        assert len(secrets) == needs_database, secrets
        assert f"{pod['spec']['securityContext']['runAsUser']}:{pod['spec']['securityContext']['runAsGroup']}" == root.user
        isolate()
        mounts = {"/plugins": plugins, "/etc/loggia": settings}
        for path in secrets:
            mounts[path] = folder / "secret"
            mounts[path].mkdir()
            (mounts[path] / "password").write_text("ignored by a server that trusts its logins\n")
        with database.Server(folder, root.root) if needs_database else contextlib.nullcontext():
            runs(root.command(mounts, {variable["name"]: hash_}), container, ports, token, kinds["Service"], pod)


def runs(command: list[str], container: dict, ports: dict[str, int], token: str, service: dict, pod: dict) -> None:
    with subprocess.Popen([*command, *container["args"]], stderr=subprocess.PIPE, text=True) as server:
        try:
            serves(container, ports, token, service)
            stops(server, ports, pod["spec"]["terminationGracePeriodSeconds"])
        except BaseException:
            server.kill()
            print(server.stderr.read(), file=sys.stderr)
            raise


def parse(manifest: Path) -> list[dict]:
    """The manifest's documents, as the API's schemas allow them."""
    tool = project.python_tool("kubernetes-validate", VALIDATE)
    project.run(tool / "kubernetes-validate", "--strict", manifest)
    print_json = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"
    return json.loads(project.run(tool / "python", "-c", print_json, manifest))


def restricted(pod: dict, container: dict) -> None:
    """The fields that the pod security standard `restricted` demands, and a read-only root."""
    context, own = pod["securityContext"], container["securityContext"]
    assert context["runAsNonRoot"] is True and context["runAsUser"] != 0
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own["allowPrivilegeEscalation"] is False and own["capabilities"] == {"drop": ["ALL"]}
    assert own["readOnlyRootFilesystem"] is True
    assert not any(key in pod for key in ("hostNetwork", "hostPID", "hostIPC"))
    assert all(set(volume) & {"configMap", "persistentVolumeClaim", "emptyDir", "secret"} for volume in pod["volumes"])


def serves(container: dict, ports: dict[str, int], token: str, service: dict) -> None:
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container[name]["httpGet"]
        # kubelet asks by the pod's address.
        eventually(lambda: mcp.status(f"http://127.0.0.1:{ports[probe['port']]}{probe['path']}"), 200)
    url = f"http://127.0.0.1:{ports['mcp']}/mcp"
    # The names under which the Service is reached, as clients send them.
    name, port = service["metadata"]["name"], service["spec"]["ports"][0]["port"]
    hosts = [f"{name}:{port}", f"{name}.default.svc.cluster.local:{port}"]
    for host in hosts:
        session = mcp.Http(url, {"host": host, "authorization": f"Bearer {token}"})
        session.open()
        session.call()
    assert mcp.status(url, {"host": hosts[0]}) == 401, "without a token"
    assert mcp.status(url, {"host": f"other:{port}", "authorization": f"Bearer {token}"}) == 403, "by another name"


def stops(server: subprocess.Popen, ports: dict[str, int], grace: int) -> None:
    """On SIGTERM the pod is unready at once, and ends by itself within its grace period."""
    begun = time.monotonic()
    server.send_signal(signal.SIGTERM)
    eventually(lambda: mcp.status(f"http://127.0.0.1:{ports['admin']}/readyz"), 503)
    assert server.wait(grace) == 0, server.returncode
    print(f"the pod ends {time.monotonic() - begun:.1f} s after SIGTERM")


def eventually(probe, expected: int) -> None:
    deadline = time.monotonic() + mcp.TIMEOUT
    while (found := probe()) != expected:
        assert time.monotonic() < deadline, f"{found} instead of {expected}"
        time.sleep(0.05)


def isolate() -> None:
    """Enters a new network namespace, and brings up its loopback interface."""
    # CLONE_NEWNET; Python has `os.unshare` only since 3.12.
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        # SIOCSIFFLAGS with IFF_UP and IFF_RUNNING.
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))


if __name__ == "__main__":
    main()
