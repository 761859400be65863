// The usual steps of a client, with the official TypeScript SDK: list, call, error, nulls, progress, cancel, elicitation,
// resources, reload.
//
// Takes the SDK (`v1` or `v2`), a mode and a URL, or the command of a host on stdio. `TOKEN` in the environment is the bearer token for
// a URL. Prints a line of JSON for each step; after `ready` one more tool is expected. `steps.py` prints the same lines.

import assert from "node:assert/strict";

const [sdk, mode, ...target] = process.argv.slice(2);
const ANSWERS = [{ action: "accept", content: { newest: 3, why: "dust" } }, { action: "decline" }];

function told(step, said = {}) {
  process.stdout.write(JSON.stringify({ step, ...said }) + "\n");
}

// A promise and its resolver.
function event() {
  let happens;
  const happened = new Promise((resolve) => (happens = resolve));
  return { happened, happens };
}

const changed = event();
let news = 0;
const hears = () => {
  news += 1;
  changed.happens();
};
const updates = [];
let updated = event();
const hearsUpdate = ({ params }) => {
  updates.push(params.uri);
  updated.happens();
};
const answers = ANSWERS.values();
const person = async () => answers.next().value;
const me = { name: "loggia-tests", version: "0" };
const capabilities = { elicitation: {} };

// The SDK's version 1: one package, protocol versions up to 2025-11-25.
async function v1() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ElicitRequestSchema, ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema } = await import(
    "@modelcontextprotocol/sdk/types.js"
  );
  const client = new Client(me, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, person);
  client.setNotificationHandler(ToolListChangedNotificationSchema, hears);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, hearsUpdate);
  const call = (params, options) => client.callTool(params, undefined, options);
  const transport = reach(StreamableHTTPClientTransport, StdioClientTransport);
  // The client passes the negotiated version only to its transport.
  let version;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    version = agreed;
    tell?.(agreed);
  };
  await client.connect(transport);
  return { client, call, version };
}

// Version 2: also 2026-07-28.
async function v2() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged: hears } };
  const client = new Client(me, { capabilities, listChanged, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", person);
  client.setNotificationHandler("notifications/resources/updated", hearsUpdate);
  const call = (params, options) => client.callTool(params, options);
  const transport = reach(StreamableHTTPClientTransport, StdioClientTransport);
  await client.connect(transport);
  return { client, call, version: client.getNegotiatedProtocolVersion() };
}

function reach(Http, Stdio) {
  const [first, ...args] = target;
  if (args.length > 0) return new Stdio({ command: first, args, stderr: "ignore" });
  return new Http(new URL(first), { requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } } });
}

const { client, call, version } = await { v1, v2 }[sdk]();

async function names() {
  return (await client.listTools()).tools.map((tool) => tool.name);
}

async function data(name, args) {
  const result = await call({ name, arguments: args });
  assert(!result.isError, JSON.stringify(result));
  return result.structuredContent.data;
}

async function error() {
  const result = await call({ name: "echo", arguments: { action: "say" } });
  assert(result.isError, JSON.stringify(result));
  told("error", { text: JSON.parse(result.content[0].text).code, structured: result.structuredContent.code });
}

// As a model in strict mode calls: null for each parameter that it does not mean.
async function nulls() {
  const echo = (await client.listTools()).tools.find((tool) => tool.name === "echo");
  const none = Object.fromEntries(Object.keys(echo.inputSchema.properties).map((name) => [name, null]));
  told("nulls", { data: await data("echo", { ...none, action: "say", text: "hello" }) });
}

async function progress() {
  const reports = [];
  const onprogress = ({ progress, total, message }) => reports.push([progress, total, message]);
  await call({ name: "echo", arguments: { action: "steps" } }, { onprogress });
  const done = reports.map(([done]) => done);
  const rises = done.every((one, n) => n === 0 || one > done[n - 1]);
  told("progress", { last: reports.at(-1), rises });
}

async function cancel() {
  const begun = event();
  const stop = new AbortController();
  const options = { signal: stop.signal, onprogress: begun.happens };
  const cancelled = call({ name: "worker", arguments: { action: "work", steps: 100_000 } }, options).then(
    () => false,
    () => true,
  );
  await begun.happened;
  stop.abort();
  // One call runs at a time: the second waits until the other's guest has stopped.
  told("cancel", { cancelled: await cancelled, after: await data("worker", { action: "work", steps: 1 }) });
}

async function put(text) {
  await data("shelf", { action: "put", id: "a b", title: "A", text });
}

async function text(uri) {
  return (await client.readResource({ uri })).contents[0].text;
}

async function resources() {
  await put("# Hello");
  const templates = (await client.listResourceTemplates()).resourceTemplates.map((found) => found.uriTemplate);
  const uris = (await client.listResources()).resources.map((found) => found.uri);
  const [uri] = uris.filter((found) => found.startsWith("shelf://document/"));
  const before = await text(uri);
  if (version >= "2026") {
    await client.listen({ resourceSubscriptions: [uri] });
    // The first one says that it may have changed before.
    await updated.happened;
    [updated] = [event()];
    updates.length = 0;
  } else {
    await client.subscribeResource({ uri });
  }
  await put("# Changed");
  await updated.happened;
  told("resources", { templates, uris, text: before, updated: updates[0], now: await text(uri) });
}

told("connect", { version });
told("list", { tools: await names() });
told("call", { data: await data("echo", { action: "say", text: "hello" }) });
await error();
await nulls();
await progress();
await cancel();
const answered = [];
for (const _ of ANSWERS) answered.push(await data("worker", { action: "clean" }));
told("elicitation", { data: answered });
await resources();
told("ready", { news });
await changed.happened;
told("reload", { tools: await names() });
await client.close();
