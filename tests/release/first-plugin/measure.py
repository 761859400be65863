"""Runs commands one after another, in one shell as a person would, and prints what each took: `measure.py OUTPUT COMMAND…`.

Runs inside the chroot, with nothing but Python's own library. A command that ends with `&` goes on until the end; it has taken the time until
the plugin is loaded. Writes a list of `{"command", "seconds", "cpu", "output"}` as JSON to OUTPUT.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 600
READY = "loaded ("
BROKEN = " ERROR "


def cpu_of_ended() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """CPU time of a running process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def foreground(command: str, cwd: str) -> tuple[str, str]:
    """Runs a command; returns its output and the folder that it leaves the shell in."""
    script = f"{command} 2>&1; code=$?; pwd >/tmp/cwd; exit $code"
    done = subprocess.run(["bash", "-c", script], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        sys.exit(f"`{command}` exits with {done.returncode}:\n{done.stdout}")
    return done.stdout, Path("/tmp/cwd").read_text().strip()


def background(command: str, cwd: str, served: list[subprocess.Popen]) -> str:
    """Starts a server; returns what it has printed until it is ready."""
    with open("/tmp/log", "w") as log:
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    served.append(process)
    end = time.monotonic() + PATIENCE
    while READY not in (printed := Path("/tmp/log").read_text()):
        if process.poll() is not None or BROKEN in printed or time.monotonic() > end:
            sys.exit(f"`{command}` is not ready:\n{printed}")
        time.sleep(0.05)
    return printed


def measure(commands: list[str], served: list[subprocess.Popen]) -> list[dict]:
    results, cwd = [], os.getcwd()
    for command in commands:
        begun, used = time.monotonic(), cpu_of_ended()
        if command.endswith("&"):
            output = background(command.rstrip("& "), cwd, served)
            cpu = cpu_of(served[-1].pid)
        else:
            output, cwd = foreground(command, cwd)
            cpu = cpu_of_ended() - used
        results.append({"command": command, "seconds": time.monotonic() - begun, "cpu": cpu, "output": output})
    return results


def main() -> None:
    served: list[subprocess.Popen] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        results = measure(sys.argv[2:], served)
    finally:
        for process in served:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(30)
    Path(sys.argv[1]).write_text(json.dumps(results))


main()
