#!/usr/bin/env node
// Starts the executable of this platform, which npm installed as one of the optional dependencies.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");
const path = require("node:path");

const launcher = require("../package.json");

/** Names of the platform package that this machine needs, best first. */
function candidates() {
  const name = `${launcher.name}-${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  const glibc = process.report?.getReport().header.glibcVersionRuntime !== undefined;
  return [`${name}-${glibc ? "glibc" : "musl"}`];
}

function executable() {
  const names = candidates();
  for (const name of names) {
    try {
      const folder = path.dirname(require.resolve(`${name}/package.json`));
      return path.join(folder, "bin", process.platform === "win32" ? "loggia.exe" : "loggia");
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  const published = Object.keys(launcher.optionalDependencies);
  const reason = published.includes(names[0])
    ? `npm did not install it: reinstall ${launcher.name} without --omit=optional and --no-optional.`
    : `There is none for this platform (there are: ${published.join(", ")}).`;
  console.error(`${launcher.name}: the package ${names[0]} is missing. ${reason}`);
  process.exit(1);
}

const file = executable();
const args = process.argv.slice(2);
if (typeof process.execve === "function" && process.platform !== "win32") {
  // Node 22.15 and later: the executable replaces this process, which would otherwise take 40 MB while it waits.
  process.execve(file, [file, ...args], process.env);
} else {
  const child = spawn(file, args, { stdio: "inherit", windowsHide: true });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"]) {
    if (signal in os.constants.signals) process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`${launcher.name}: ${file} does not start: ${error.message}`);
    process.exit(1);
  });
  // As a shell reports it: 128 and the number of the signal.
  child.on("exit", (code, signal) => process.exit(code ?? 128 + os.constants.signals[signal]));
}
