import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { z } from "zod";

import {
  Failure, Response, action, boolean, cell, check, choice, collection, confirm, content, counter, defineFacade, http, idWithNumber, integer, invoke,
  list, log, numberInId, object, reply, text, transaction,
} from "../src/index.js";
import { lineTable, sourced, stackOf } from "../src/lines.js";
import { Host, Store, describe } from "../src/testing.js";
import { decode, encode, jsonText, wellFormed } from "../src/utf8.js";

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
    [() => text({ pattern: /^[a-z]+$/i }), /flag `i` .* write the classes out, such as \[A-Za-z\]/],
    [() => text({ pattern: /^a/um }), /flag `m` .* take it away/],
    [() => read({ params: { t: text({ secret: true }).default("x") } }, () => 1), /would be published/],
    [() => read({ params: { n: integer() }, examples: [{ m: 1 }] }, () => 1), /no parameter `m`/],
    [() => read({ params: { n: integer() }, resource: "notes://note" }, () => 1), /lacks `\{n\}`/],
    [() => read({ view: "hits" }, () => 1), /no view `hits`/],
    [() => read({}), /a table and a function/],
  ]) assert.throws(make, expected);
});

test("patterns are published without the flags that change nothing", () => {
  for (const pattern of ["^[a-z]+$", /^[a-z]+$/, /^[a-z]+$/u, new RegExp("^[a-z]+$", "v")]) assert.equal(params({ t: text({ pattern }) }).properties.t.pattern, "^[a-z]+$");
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

test("the log has the causes of an error", () => {
  const host = new Host();
  const throws = (thrown) => read({}, () => { throw thrown; });
  const inner = new TypeError("inner");
  assert.throws(() => host.call(throws(new RangeError("wrapped", { cause: inner })), "go"), { message: "RangeError: wrapped" });
  assert.match(host.logs[0][1], /^RangeError: wrapped\n[^]*sdk\.test\.js[^]*\ncaused by: TypeError: inner\n[^]*sdk\.test\.js/);
  host.run(() => log.warn("odd:", new Error("outer", { cause: { a: 1 } })));
  assert.match(host.logs[1][1], /^odd: Error: outer\n[^]*\ncaused by: thrown: {"a":1}$/);
  const endless = new Error("endless");
  endless.cause = endless;
  host.run(() => log.error(endless));
  assert.equal(host.logs[2][1].match(/caused by: Error: endless/g).length, 4);
});

const CUT = "ab😀".slice(0, 3);

test("texts for the host have no lone surrogates", () => {
  for (const [given, expected] of [[CUT, "ab\ufffd"], ["\ude00\ud83d", "\ufffd\ufffd"], ["😀 ü", "😀 ü"], ["\\ud83d", "\\ud83d"], ["\\" + CUT, "\\ab\ufffd"], ["\u0001\n" + CUT, "\u0001\nab\ufffd"]]) {
    assert.equal(wellFormed(given), expected);
    assert.deepEqual(JSON.parse(jsonText({ [given]: [given] })), { [expected]: [expected] });
    assert.equal(jsonText(given).includes("\\ud83d"), given === "\\ud83d");
  }
  assert.equal(jsonText(undefined), undefined);

  const host = new Host({ store: true, person: [{}], peers: (request) => reply(request.action), http: (request) => Response.json(200, request.url) });
  const all = read({}, (_, call) => {
    log.info(CUT, { a: 1 });
    call.progress(1, 2, CUT);
    confirm(CUT);
    assert.equal(invoke({ facade: "f", action: CUT }).data, "ab\ufffd");
    assert.equal(http.get("https://h/" + CUT).path(CUT).query({ [CUT]: CUT }).send().json(), "https://h/ab\ufffd/ab%EF%BF%BD?ab%EF%BF%BD=ab%EF%BF%BD");
    assert.equal(decode(http.post("https://h").json(CUT).body), '"ab\ufffd"');
    return reply({ [CUT]: CUT }, {
      message: CUT, page: { cursor: CUT }, next: { action: CUT, reason: CUT },
      content: [content.text(CUT), content.resource(CUT, CUT), content.link(CUT, CUT, { description: CUT })],
    });
  });
  const { data, message, page, next, content: blocks } = host.call(all, "go");
  const seen = [host.logs, host.progress, host.questions, data, message, page, next, blocks.map(({ block }) => block)];
  assert.deepEqual(seen, [
    [["info", 'ab\ufffd {"a":1}']], [[1, 2, "ab\ufffd"]], [{ message: "ab\ufffd", form: { type: "object", properties: {} } }],
    { "ab\ufffd": "ab\ufffd" }, "ab\ufffd", { cursor: "ab\ufffd" }, { facade: "notes", action: "ab\ufffd", reason: "ab\ufffd" },
    [
      { tag: "text", val: "ab\ufffd" }, { tag: "embedded", val: { uri: "ab\ufffd", mimeType: undefined, text: "ab\ufffd" } },
      { tag: "link", val: { uri: "ab\ufffd", name: "ab\ufffd", description: "ab\ufffd", mimeType: undefined } },
    ],
  ]);
  const failed = Failure.notFound("x" + CUT, { hint: CUT, next: { action: CUT } });
  assert.deepEqual([failed.message, failed.hint, failed.next.action], ["xab\ufffd", "ab\ufffd", "ab\ufffd"]);
  failed.hint = CUT;
  assert.throws(() => host.call(read({}, () => { throw failed; }), "go"), { hint: "ab\ufffd" });
  const long = new Response(404, { body: "x".repeat(499) + "😀" });
  assert.throws(() => long.ok(), (error) => error.details.body.endsWith("x\ufffd"));

  host.run(() => {
    notes.create("n_", (id) => ({ id, text: CUT }));
    notes.put(CUT, CUT);
    cell("last").set(CUT);
    assert.deepEqual(notes.list(), [{ id: "ab\ufffd", value: "ab\ufffd" }, { id: "n_0001", value: { id: "n_0001", text: "ab\ufffd" } }]);
    assert.equal(notes.get(CUT), "ab\ufffd");
    assert.equal(cell("last").get(), "ab\ufffd");
  });
});

test("what the host cannot take is refused where it is made", () => {
  const circular = {};
  circular.self = circular;
  for (const [make, name, message] of [
    [() => reply([1], { page: { cursor: 5 } }), "TypeError", "`page.cursor` is a text, not number"],
    [() => reply([1], { page: { total: -1 } }), "RangeError", /`page\.total` is a whole number from 0/],
    [() => reply([1], { page: { total: NaN } }), "RangeError", /not NaN/],
    [() => reply([1], { page: { total: 1.5 } }), "RangeError", /not 1\.5/],
    [() => reply([1], { page: { count: "1" } }), "TypeError", /`page\.count` is a number/],
    [() => reply([1], { page: 5 }), "TypeError", /`page` is an object/],
    [() => reply(1, { message: 5 }), "TypeError", "`message` is a text, not number"],
    [() => reply(1, { next: {} }), "TypeError", /`next\.action` is a text, not undefined/],
    [() => reply(1, { next: { action: "a", params: circular } }), "TypeError", /`next\.params` cannot be written as JSON/],
    [() => reply(1, { content: content.text("a") }), "TypeError", /`content` is a list/],
    [() => reply(1, { content: ["a"] }), "TypeError", /`content` is a list/],
    [() => content.text(5), "TypeError", /`text` is a text/],
    [() => content.image("notbytes", "image/png"), "TypeError", "`data` is a Uint8Array, not string"],
    [() => content.image(new Uint8Array()), "TypeError", /`mimeType` is a text, not undefined/],
    [() => content.link("a"), "TypeError", /`name` is a text/],
    [() => content.resource("a", 5), "TypeError", /`body` is a Uint8Array/],
    [() => content.text("a", { _meta: circular }), "TypeError", /`_meta` cannot be written as JSON/],
    [() => new Failure(5, 6), "TypeError", /is a text, not number/],
    [() => new Failure(5, "m"), "TypeError", "`code` is a text, not number"],
    [() => new Failure("internal", "m", { hint: 5 }), "TypeError", /`hint` is a text/],
    [() => new Failure("internal", "m", { retryAfterMs: -5 }), "RangeError", /`retryAfterMs` is a whole number from 0/],
    [() => new Failure("internal", "m", { retryAfterMs: NaN }), "RangeError", /`retryAfterMs`/],
    [() => new Failure("internal", "m", { details: circular }), "TypeError", /^`details` cannot be written as JSON: /],
    [() => new Failure("internal", "m", { details: 1n }), "TypeError", /^`details` cannot be written as JSON: /],
    [() => new Failure("internal", "m", { details: () => 1 }), "TypeError", /^`details` cannot be written as JSON: /],
    [() => check({ facade: "f", action: 5 }), "TypeError", /`request\.action` is a text/],
    [() => http.get(5), "TypeError", /`url` is a text/],
  ]) {
    assert.throws(make, { name, message }, String(make));
    const host = new Host();
    assert.throws(() => host.call(read({}, make), "go"), { code: "internal" });
    assert.match(host.logs[0][1], /sdk\.test\.js/);
  }

  const host = new Host();
  assert.throws(() => host.call(read({}, () => Object.assign(reply(1), { message: 5 })), "go"), { code: "internal", message: /`message` is a text/ });
  assert.throws(() => host.call(read({}, () => { throw Object.assign(Failure.conflict("m"), { hint: 5 }); }), "go"), { code: "internal", message: /`hint` is a text/ });
});

test("what the host takes stays as it is", () => {
  const given = { message: undefined, page: { count: 0, total: 2 ** 53 - 1, cursor: null }, content: [content.image(Buffer.from("a"), "image/png", { priority: 2, _meta: undefined })] };
  const answer = new Host().call(read({}, () => reply([], given)), "go");
  assert.deepEqual(answer.page, { count: 0, total: 2 ** 53 - 1, cursor: undefined });
  assert.deepEqual(answer.content[0].extras, { annotations: { priority: 1 } });
  const details = { a: [null] };
  const failure = Object.freeze(new Failure("odd_code", undefined, { hint: undefined, details, retryAfterMs: 1100.25, example: null, expected: "a text" }));
  assert.equal(failure.details, details);
  assert.throws(() => new Host().call(read({}, () => { throw failure; }), "go"), { code: "odd_code", message: "", retryAfterMs: 1101, hint: undefined });
  assert.equal(Failure.cancelled().message, "cancelled");
});

test("a component gives the host only what it can take", async () => {
  const { guest, calls, action, content, defineFacade, Failure, invoke, reply } = await component();
  const actions = {
    go: action({ summary: "Go.", effect: "read" }, () => {
      const { page, next } = invoke({ facade: "f", action: "a", params: { text: CUT } });
      return reply([page, next], { next: { action: "go", params: { text: CUT } }, content: [content.text("a", { _meta: { text: CUT } })] });
    }),
    fail: action({ summary: "Fail.", effect: "read", about: CUT }, () => { throw Failure.conflict("no", { details: { text: CUT }, example: CUT, retryAfterMs: 0.5 }); }),
  };
  const plugin = guest({ default: defineFacade({ name: "notes", title: CUT, summary: "Notes.", actions }) });
  assert.equal(plugin.describe().title, "ab\ufffd");
  const call = { id: "c", params: "{}", detail: "standard", timeLeftMs: 1n };
  const answer = plugin.dispatch({ ...call, action: "go" });
  assert.deepEqual(JSON.parse(answer.data), [{ count: 1, total: Number.MAX_SAFE_INTEGER }, { facade: "f", action: "b", params: {} }]);
  assert.deepEqual([answer.next.params, answer.content[0].extras], ['{"text":"ab\ufffd"}', [["_meta", '{"text":"ab\ufffd"}']]]);
  assert.equal(calls[0].params, '{"text":"ab\ufffd"}');
  assert.throws(() => plugin.dispatch({ ...call, action: "fail" }), (failure) => {
    assert.deepEqual([failure.details, failure.retryAfterMs, failure.extras], ['{"text":"ab\ufffd"}', 1n, [["example", '"ab\ufffd"']]]);
    return true;
  });
  assert.equal(JSON.parse(plugin.schema("fail").params).description, "ab\ufffd");
});

/** The SDK as it is in a component, with a host that answers each call to another facade alike. */
async function component() {
  const host = `
    export const calls = [];
    export function invoke(requests) {
      calls.push(...requests);
      const page = { count: 1n, total: 2n ** 64n - 1n };
      return requests.map(() => ({ tag: "ok", val: { data: "1", page, next: { facade: "f", action: "b", params: "[1]" }, content: [], extras: [] } }));
    }`;
  const names = ["subscribeDuration", "handle", "Fields", "OutgoingBody", "OutgoingRequest", "RequestOptions", "httpErrorCode"];
  const none = names.map((name) => `export const ${name} = undefined;`).join("\n");
  const stubs = {
    name: "stubs",
    setup(made) {
      made.onResolve({ filter: /^(loggia|wasi):/ }, ({ path }) => ({ path, namespace: "stubs" }));
      made.onLoad({ filter: /./, namespace: "stubs" }, ({ path }) => ({ contents: path.startsWith("loggia:plugin/host@") ? host : none }));
    },
  };
  const contents = 'export * from "./index.js"; export { guest } from "./abi.js"; export { calls } from "loggia:plugin/host@0.2.0";';
  const resolveDir = fileURLToPath(new URL("../src", import.meta.url));
  const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, write: false, format: "esm", logLevel: "silent", plugins: [stubs] });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

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
    assert.throws(() => counter("c").add(-1), RangeError);
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
