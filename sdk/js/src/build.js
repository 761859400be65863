// Builds a component: bundles with esbuild, then runs componentize-qjs or componentize-js with the SDK's WIT. In Node only. Lists the
// files that the bundle consists of beside the component, as Make reads them, so that `loggia` knows when it is due again.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { SourceMap, createRequire } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { build as bundle } from "esbuild";

import { lineTable, sourced, statement } from "./lines.js";

export const ENGINES = ["quickjs", "starlingmonkey"];
const ENTRY = "loggia-entry.js";
const BUNDLE = "loggia-bundle.js";
const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const run = promisify(execFile);

// componentize-qjs links WASI's own interfaces while it prepares a component, and then knows no `wasi:http`. So the guest is built with
// another name and version of the package, of the same length, and gets its name back in the finished file. Hosts take 0.2.11 for 0.2.12,
// and the engine's own imports keep names that differ.
const WASI = { hidden: "wasx:", real: "wasi:", version: "0.2.12", older: "0.2.11" };

/** Builds `source`, a module that exports one facade, to the component `out`. The file appears whole or not at all. */
export async function build(source, out, engine = "quickjs") {
  const file = resolve(source);
  const target = resolve(out);
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), ".loggia-"));
  try {
    const script = join(folder, `${basename(file).replace(/\.[^.]*$/, "")}.js`);
    const { text, map, files } = await bundled(file);
    const table = lineTable(basename(script), placesOf(text, map, dirname(file)));
    await writeFile(script, text + statement(table));
    const made = join(folder, "out.wasm");
    await explainFailure(engine === "quickjs" ? quickjs(folder, script, made) : starlingmonkey(script, made), table);
    const list = join(folder, "out.d");
    await writeFile(list, depfile(target, files));
    await rename(list, target.replace(/(\.[^./\\]*)?$/, ".d"));
    await rename(made, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function bundled(file) {
  const path = (name) => JSON.stringify(join(PACKAGE, "src", name));
  const entry = `import ${path("globals.js")};\nimport { guest } from ${path("abi.js")};\nimport * as author from ${JSON.stringify(file)};\nexport const facade = guest(author);\n`;
  try {
    const { outputFiles, metafile } = await bundle({
      stdin: { contents: entry, resolveDir: dirname(file), sourcefile: ENTRY },
      bundle: true,
      write: false,
      // Nothing is written there; sources in the map are relative to it.
      outfile: join(dirname(file), BUNDLE),
      sourcemap: "external",
      sourcesContent: false,
      metafile: true,
      format: "esm",
      platform: "neutral",
      target: "es2022",
      mainFields: ["module", "main"],
      alias: { "loggia-sdk": join(PACKAGE, "src", "index.js") },
      external: ["loggia:*", "wasi:*"],
      loader: { ".html": "text", ".md": "text", ".txt": "text" },
      logLevel: "silent",
    });
    // All but the entry, which is no file.
    const output = (name) => outputFiles.find(({ path }) => basename(path) === name).text;
    const map = new SourceMap(JSON.parse(output(`${BUNDLE}.map`)));
    return { text: output(BUNDLE), map, files: Object.keys(metafile.inputs).map((name) => resolve(name)).filter(existsSync).sort() };
  } catch (error) {
    if (!error.errors) throw error;
    throw new Error(error.errors.map(({ text, location }) => (location ? `${location.file}:${location.line}:${location.column}: ${text}` : text)).join("\n"));
  }
}

/** The place of each line of a bundle, by the names that an author knows and no folder of the machine. */
function placesOf(text, map, folder) {
  return text.split("\n").map((words, index) => {
    const { generatedLine, originalSource, originalLine } = map.findEntry(index, words.length);
    // Otherwise an earlier line was the nearest.
    if (generatedLine !== index || originalSource === ENTRY) return undefined;
    return { file: shortName(originalSource, folder), line: originalLine + 1 };
  });
}

/** The name of a source: in a package, with the package's name; otherwise from the folder of the facade. */
function shortName(source, folder) {
  const path = resolve(folder, source);
  const packages = `${sep}node_modules${sep}`;
  const of = path.startsWith(PACKAGE + sep) ? join("loggia-sdk", relative(PACKAGE, path)) : undefined;
  const short = of ?? (path.includes(packages) ? path.slice(path.lastIndexOf(packages) + packages.length) : relative(folder, path));
  return short.replaceAll(sep, "/");
}

/** A rule of Make: the component depends on these files. */
function depfile(target, files) {
  const escaped = (path) => path.replaceAll("$", "$$$$").replace(/[ #]/g, "\\$&");
  return `${[`${escaped(target)}:`, ...files.map(escaped)].join(" ")}\n`;
}

async function quickjs(folder, script, made) {
  const wit = join(folder, "wit");
  await cp(join(PACKAGE, "wit"), wit, { recursive: true });
  const files = [join(wit, "world.wit"), ...(await readdir(join(wit, "deps"))).map((name) => join(wit, "deps", name))];
  for (const file of [...files.filter((name) => !name.endsWith("loggia.wit")), script]) {
    const text = await readFile(file, "utf8");
    await writeFile(file, file === script ? renamed(text) : text.replaceAll(WASI.real, WASI.hidden).replaceAll(WASI.version, WASI.older));
  }
  const main = require.resolve("componentize-qjs");
  // The component keeps the script's path, so it is named from its folder, which is another one in each build.
  const words = ["--wit", wit, "--js", basename(script), "--world", "guest", "--sync", "--output", made];
  await run(process.execPath, [await binOf("componentize-qjs", main), ...words], { cwd: folder, maxBuffer: 64 << 20 });
  const bytes = await readFile(made);
  const hidden = Buffer.from(WASI.hidden);
  for (let at = bytes.indexOf(hidden); at >= 0; at = bytes.indexOf(hidden, at)) bytes.write(WASI.real, at);
  await writeFile(made, bytes);
}

/** The script with the hidden names, in its imports only. */
function renamed(script) {
  return script.replace(/(from\s*|import\s*)"wasi:([a-z/-]+)@0\.2\.12"/g, `$1"${WASI.hidden}$2@${WASI.older}"`);
}

async function binOf(name, main) {
  for (let folder = dirname(main); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
      if (manifest.name === name) return join(folder, typeof manifest.bin === "string" ? manifest.bin : Object.values(manifest.bin)[0]);
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${name} is not installed as expected: npm install`);
}

async function starlingmonkey(script, made) {
  let componentize;
  try {
    ({ componentize } = await import("@bytecodealliance/componentize-js"));
  } catch (error) {
    // componentize-js imports preview2-shim without depending on it.
    const packages = Object.entries(require("../package.json").peerDependencies).map(([name, version]) => `${name}@${version}`);
    throw new Error(`the engine starlingmonkey needs packages: npm install --save-dev ${packages.join(" ")}\n(${error.message})`);
  }
  const { component } = await componentize({ sourcePath: script, witPath: join(PACKAGE, "wit"), worldName: "guest" });
  await writeFile(made, component);
}

/** The author's mistake: the SDK's own sentence if there is one, otherwise all that the builder said, with the author's lines. */
async function explainFailure(building, table) {
  try {
    return await building;
  } catch (error) {
    const text = `${error.stderr ?? ""}${error.stdout ?? ""}${error.message}`;
    const own = /loggia: ([^\n]*)/.exec(text);
    throw new Error(own ? own[1] : sourced(text.trim(), table));
  }
}
