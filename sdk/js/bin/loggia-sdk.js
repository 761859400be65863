#!/usr/bin/env node
// `loggia-sdk build SRC --out FILE.wasm [--engine quickjs|starlingmonkey]`. Exits with 0, 1 or 2; messages go to stderr.

import { parseArgs } from "node:util";

import { ENGINES, build } from "../src/build.js";

const USAGE = `usage: loggia-sdk build SRC --out FILE.wasm [--engine ${ENGINES.join("|")}]`;

function stop(code, sentence) {
  console.error(sentence);
  process.exit(code);
}

let given;
try {
  given = parseArgs({ allowPositionals: true, options: { out: { type: "string" }, engine: { type: "string", default: "quickjs" }, help: { type: "boolean" } } });
} catch (error) {
  stop(2, `error: ${error.message}\n${USAGE}`);
}
const { positionals: [command, source, ...rest], values: { out, engine, help } } = given;
if (help) stop(0, USAGE);
if (command !== "build" || !source || !out || rest.length > 0 || !ENGINES.includes(engine)) stop(2, USAGE);
try {
  await build(source, out, engine);
} catch (error) {
  stop(1, `error: ${error.message}`);
}
