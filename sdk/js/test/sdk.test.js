import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { Failure, Response, action, boolean, choice, collection, counter, defineFacade, http, idWithNumber, integer, list, log, numberInId, object, reply, text, transaction } from "../src/index.js";
import { lineTable, sourced, stackOf } from "../src/lines.js";
import { Host, Store, describe } from "../src/testing.js";
import { decode, encode } from "../src/utf8.js";

const notes = collection("notes");
const facade = (actions) => defineFacade({ name: "notes", summary: "Notes.", actions });
const read = (facts, run) => facade({ go: action({ summary: "Go.", effect: "read", ...facts }, run) });
const params = (fields) => describe(read({ params: fields }, () => 1)).actions[0].params;

test("texts survive UTF-8", () => {
  for (const given of ["", "milk", "ü", "€", "🥛", "a\u0000b", "x".repeat(10_000) + "é"]) {
    assert.deepEqual(Buffer.from(encode(given)), Buffer.from(given, "utf8"));
    assert.equal(decode(encode(given)), given);
  }
  assert.equal(decode(encode("\ud800")), "\ufffd");
  for (const bytes of [[0x80], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff]]) {
    assert.throws(() => decode(Uint8Array.from(bytes)), TypeError, String(bytes));
  }
});

test("mistakes in a facade are reported with the remedy", () => {
  for (const [make, expected] of [
    [() => facade({}), /has no action/],
    [() => facade({ Add: action({ summary: "S.", effect: "read" }, () => 1) }), /cannot be the name of an action/],
    [() => facade({ describe: action({ summary: "S.", effect: "read" }, () => 1) }), /the host gives every facade/],
    [() => read({ effect: "reed" }, () => 1), /"read", "write" or "destructive"/],
    [() => read({ parms: {} }, () => 1), /no key `parms`/],
    [() => read({ params: { action: text() } }, () => 1), /a meaning of its own/],
    [() => read({ params: { n: integer({ min: 50, max: 1 }) } }, () => 1), /nothing is between/],
    [() => read({ params: { n: integer({ length: 1 }) } }, () => 1), /no option `length`/],
    [() => read({ params: { t: text({ secret: true }).default("x") } }, () => 1), /would be published/],
    [() => read({ params: { n: integer() }, examples: [{ m: 1 }] }, () => 1), /no parameter `m`/],
    [() => read({ params: { n: integer() }, resource: "notes://note" }, () => 1), /lacks `\{n\}`/],
    [() => read({ view: "hits" }, () => 1), /no view `hits`/],
    [() => read({}), /a table and a function/],
  ]) assert.throws(make, expected);
});

test("plain JSON Schema and zod describe parameters", () => {
  const made = params({ plain: { type: "string", maxLength: 3 }, zod: z.object({ n: z.number().int().min(1) }), maybe: z.string().optional() });
  assert.deepEqual(made.required, ["plain", "zod"]);
  assert.deepEqual(made.properties.plain, { type: "string", maxLength: 3 });
  assert.equal(made.properties.zod.properties.n.minimum, 1);
  const parsed = read({ params: { day: z.string().transform((day) => day.length) } }, (p) => p.day);
  assert.equal(new Host().call(parsed, "go", { day: "abc" }).data, 3);
  assert.throws(() => new Host().call(parsed, "go", { day: 1 }), { code: "invalid_params" });
});

test("described choices keep their order", () => {
  const topic = choice({ home: "", work: "For money.", other: "" }, "A topic.");
  const topics = [{ type: "string", const: "home" }, { type: "string", const: "work", description: "For money." }, { type: "string", const: "other" }];
  assert.deepEqual(params({ topic }).properties.topic, { oneOf: topics, description: "A topic." });
  assert.deepEqual(params({ topic: choice({ a: "", b: "" }) }).properties.topic, { type: "string", enum: ["a", "b"] });
});

test("thrown errors become failures, with the stack in the log", () => {
  const host = new Host();
  const throws = (thrown) => read({}, () => { throw thrown; });
  assert.throws(() => host.call(throws(new RangeError("odd")), "go"), { code: "internal", message: "RangeError: odd" });
  assert.match(host.logs[0][1], /RangeError: odd\n.*sdk\.test\.js/s);
  assert.throws(() => host.call(throws({ a: 1 }), "go"), { code: "internal", message: 'thrown: {"a":1}' });
  assert.throws(() => host.call(throws(Failure.conflict("no", { hint: "h" })), "go"), { code: "conflict", hint: "h" });
  assert.throws(() => host.call(read({}, () => 1n), "go"), { code: "internal" });
});

test("replies count lists, and name the own facade next", () => {
  const given = new Host().call(read({}, () => reply([1, 2], { next: { action: "go" } })), "go");
  assert.equal(given.page.count, 2);
  assert.equal(given.next.facade, "notes");
});

test("detail levels leave fields out", () => {
  const data = list(object({ id: text(), body: text(), history: list(text()).shown("full") }));
  const made = read({ data }, () => [{ id: "a", body: "b", history: [] }]);
  assert.equal(describe(made).actions[0].details, true);
  const at = (detail) => new Host({ detail }).call(made, "go").data;
  assert.deepEqual(at("minimal"), [{ id: "a" }]);
  assert.deepEqual(at("standard"), [{ id: "a", body: "b" }]);
  assert.deepEqual(at("full"), [{ id: "a", body: "b", history: [] }]);
});

test("state is atomic and survives conflicts", () => {
  const store = new Store();
  const host = new Host({ store });
  host.run(() => {
    assert.deepEqual(notes.create("n_", (id) => ({ id })), { id: "n_0001" });
    store.conflicts = 3;
    assert.deepEqual(notes.create("n_", (id) => ({ id })), { id: "n_0002" });
    assert.throws(() => notes.insert("n_0001", {}), { code: "conflict", message: "already exists: there is a `n_0001` in notes" });
    assert.throws(() => notes.require("x"), { code: "not_found" });
    assert.throws(() => transaction((tx) => { notes.of(tx).put("n_0003", {}); throw Failure.conflict("no"); }), { message: "no" });
    assert.equal(notes.contains("n_0003"), false);
    const seen = transaction((tx) => { notes.of(tx).remove("n_0001"); notes.of(tx).put("z", {}); return notes.of(tx).list().map(({ id }) => id); });
    assert.deepEqual(seen, ["n_0002", "z"]);
    assert.deepEqual({ ...notes.page(undefined, 1) }, { items: [{ id: "n_0002", value: { id: "n_0002" } }], cursor: "n_0002" });
    assert.equal(notes.newest("n_", undefined, 5).items.length, 1);
    assert.throws(() => notes.newest("n_", "odd", 5), { code: "invalid_params" });
    store.conflicts = 1000;
    assert.throws(() => notes.remove("z"), { code: "conflict" });
    store.conflicts = 0;
    assert.deepEqual([counter("c").next(), counter("c").add(10), counter("c").get()], [1, 11, 11]);
    const brief = collection("brief", { ttlMs: 1000 });
    brief.put("a", 1);
    store.advance(1001);
    assert.equal(brief.get("a"), undefined);
  });
  assert.throws(() => new Host({ store }).call(read({}, () => notes.put("a", 1)), "go"), { code: "denied" });
  assert.throws(() => notes.get("a"), { code: "denied" });
});

test("generated ids sort by age", () => {
  const ids = [1, 9_999, 10_000, 99_999, 100_000, 1_234_567].map((number) => idWithNumber("t_", number));
  assert.deepEqual([...ids].sort(), ids);
  assert.deepEqual([ids[0], ids[2], numberInId("t_", ids[2])], ["t_0001", "t_A10000", 10_000]);
  for (const odd of ["", "t_", "t_1", "t_00001", "t_B10000", "s_0001"]) assert.equal(numberInId("t_", odd), undefined, odd);
});

test("requests are escaped, and statuses become failures", () => {
  const host = new Host({ http: (request) => (request.url.endsWith("q=a%20b%26%27") ? Response.json(200, { ok: 1 }) : new Response(404, { server: "h" })) });
  host.run(() => {
    assert.deepEqual(http.get("https://h/x#frag").query({ q: "a b&'" }).send().ok().json(), { ok: 1 });
    assert.equal(http.get("https://h").path("a/b").url, "https://h/a%2Fb");
    assert.throws(() => http.get("https://h").path(".."), { code: "invalid_params" });
    assert.throws(() => http.get("https://h").send().ok(), { code: "not_found", message: "not found: h answered 404" });
  });
});

test("questions need a form, and a no ends the action", async () => {
  const { elicit } = await import("../src/index.js");
  const host = new Host({ person: [{ sure: true, why: "x" }, "declined", "cancelled"] });
  const form = object({ sure: boolean(), why: text({ pattern: "x" }).optional(), mood: choice({ a: "A!" }).optional() });
  host.run(() => {
    assert.deepEqual(elicit("?", form), { sure: true, why: "x" });
    assert.deepEqual(host.questions[0].form.properties.why, { type: "string" });
    assert.throws(() => elicit("?", form), { code: "denied" });
    assert.throws(() => elicit("?", form), { code: "cancelled" });
    assert.throws(() => elicit("?", object({ deep: object({}) })), { code: "internal" });
    log.info("noted", { a: 1 });
  });
  assert.deepEqual(host.logs, [["info", 'noted {"a":1}']]);
});

test("stacks name the author's files", () => {
  const places = [undefined, undefined, ...[4, 5, 6].map((line) => ({ file: "a.ts", line })), { file: "../b.ts", line: 7 }, undefined, { file: "a.ts", line: 9 }];
  const table = lineTable("app.js", places);
  assert.deepEqual(table, { script: "app.js", files: ["a.ts", "../b.ts"], runs: [1, -1, 0, 3, 0, 4, 6, 1, 7, 7, -1, 0, 8, 0, 9] });
  for (const [place, expected] of [
    ["    at f (/app.js:5:9)", "    at f (a.ts:6)"],
    ["    at <anonymous> (/folder/app.js:6:1)", "    at <anonymous> (../b.ts:7)"],
    ["f@some/folder/app.js:8:12\nanswer@app.js:3:1", "f@a.ts:9\nanswer@a.ts:4"],
    ["    at f (/app.js:2:1)", "    at f (/app.js:2:1)"],
    ["    at f (/app.js:7:1)", "    at f (/app.js:7:1)"],
    ["f@/tmp/initializer.js:5:9, other.app.js:5:9", "f@/tmp/initializer.js:5:9, other.app.js:5:9"],
    ["    at f (native)", "    at f (native)"],
  ]) {
    assert.equal(sourced(place, table), expected);
    assert.equal(stackOf({ stack: `${place}\n` }, JSON.stringify(table)), expected);
  }
  const { stack } = new Error("x");
  assert.equal(stackOf({ stack }), stack);
});

test("the build command says what is wrong", () => {
  const folder = mkdtempSync(join(tmpdir(), "loggia-sdk-"));
  const bin = fileURLToPath(new URL("../bin/loggia-sdk.js", import.meta.url));
  const build = (source, ...more) => {
    const file = join(folder, "app.ts");
    writeFileSync(file, source);
    try {
      execFileSync(process.execPath, [bin, "build", file, "--out", join(folder, "app.wasm"), ...more], { stdio: "pipe" });
      return undefined;
    } catch (error) {
      return [error.status, String(error.stderr)];
    }
  };
  const good = 'import { action, defineFacade } from "loggia-sdk";\nexport default defineFacade({ name: "n", summary: "S.", actions: { go: action({ summary: "G.", effect: "read" }, () => 1) } });';
  assert.match(build("let a = ;")?.[1], /app\.ts:1:8: Unexpected/);
  assert.match(build("export const a = 1;")?.[1], /exports 0 facades/);
  assert.match(build(good.replace('"read"', '"reed"') )?.[1], /"read", "write" or "destructive"/);
  assert.match(build('interface Unused {}\n\nconst late = (): number => {\n  throw new Error("late");\n};\nlate();')?.[1], /late[^]*\(app\.ts:4\)[^]*app\.ts:6/);
  assert.equal(build(good, "--engine", "v8")?.[0], 2);
  assert.equal(existsSync(join(folder, "app.wasm")), false);
  assert.equal(build(good), undefined);
  // The list of what the build read, for `loggia build` and `dev`.
  assert.deepEqual(readdirSync(folder).sort(), ["app.d", "app.ts", "app.wasm"]);
  for (const hidden of ["wasx:", ".loggia-"]) assert.equal(readFileSync(join(folder, "app.wasm")).includes(hidden), false, hidden);
  rmSync(folder, { recursive: true });
});
