// A client of the fleet, with the official TypeScript SDKs: `client.mjs SDK MODE URL FOLDER SEED WORKER=TOKEN…`.
//
// Does what `client.py` does; SDK is `v1` (revisions with sessions) or `v2`. Without a seed of its own: the order of its calls
// depends on time anyway.

import { createWriteStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [sdk, mode, url, folder, , ...names] = process.argv.slice(2);
const EPOCH = 5_000_000_000n;
const KEYS = 12;
const PATIENCE = 8_000;
const PAUSE = 20;
const WEIGHTS = { get: 30, put: 14, increment: 14, compare_and_put: 10, note: 14, place: 9, follow: 6, approve: 1.5, ask: 3 };
const HARMLESS = new Set(["get", "follow", "ask", "connect"]);
const me = { name: "loggia-fleet", version: "0" };
const capabilities = { elicitation: {} };

// Numbers of this clock and of Python's `monotonic_ns` are of one clock. They stay below 2**53 for a hundred days.
const now = () => Number(process.hrtime.bigint());
const pick = (list) => list[Math.floor(Math.random() * list.length)];
const person = async (request) => {
  const asksNewest = "newest" in (request.params.requestedSchema?.properties ?? {});
  return { action: "accept", content: asksNewest ? { newest: 3, why: "dust" } : { yes: true } };
};

async function connect(token) {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  if (sdk === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const client = new Client(me, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, person);
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }), { timeout: PATIENCE });
    return { client, version: mode, call: (params) => client.callTool(params, undefined, { timeout: PATIENCE }) };
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(me, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", person);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }), { timeout: PATIENCE });
  return { client, version: client.getNegotiatedProtocolVersion(), call: (params) => client.callTool(params, { timeout: PATIENCE }) };
}

let stops = false;
process.stdin.on("end", () => (stops = true)).resume();
// An error that the SDK tells nobody else must not end the others' work.
process.on("unhandledRejection", () => {});

class Worker {
  number = 0;
  versions = new Map();
  runs = [];
  waiting = [];
  // Whether a run may have begun whose handle was lost.
  lostOne = false;
  failures = 0;

  constructor(name, token) {
    this.name = name;
    this.token = token;
    this.file = createWriteStream(`${folder}/${name}.jsonl`);
    // As in `client.py`.
    this.worker = [...name].reduce((sum, letter, place) => (sum + letter.charCodeAt(0) * Number(31n ** BigInt(place) % 1000n)) % 1000, 0);
  }

  record(kind, start, outcome, more) {
    this.file.write(JSON.stringify({ worker: this.name, kind, start, end: now(), outcome, ...more }) + "\n");
  }

  async run() {
    while (!stops) {
      const start = now();
      let one;
      try {
        one = await connect(this.token);
        this.record("connect", start, "ok", { version: one.version });
        this.failures = 0;
        await this.work(one);
      } catch (error) {
        this.record("connect", start, "unknown", { why: reason(error) });
        await sleep(50);
      }
      await one?.client.close().catch(() => {});
    }
    await new Promise((resolve) => this.file.end(resolve));
  }

  async work({ call }) {
    while (!stops) {
      const kind = this.kind();
      const [name, args, about] = this.plan(kind);
      const start = now();
      try {
        const result = await call({ name, arguments: args });
        this.failures = 0;
        this.note(kind, start, about, result);
      } catch (error) {
        this.record(kind, start, HARMLESS.has(kind) ? "fail" : "unknown", { why: reason(error), ...about });
        this.failures += 1;
        this.lostOne ||= kind === "approve";
        // The check at the end asks once more.
        this.waiting = this.waiting.filter((run) => run !== about.run);
        if (/session|404|closed/i.test(reason(error)) || this.failures >= 3) return;
        await sleep(50);
      }
      await sleep(PAUSE * Math.random() * 2);
    }
  }

  kind() {
    let chance = Math.random() * Object.values(WEIGHTS).reduce((sum, weight) => sum + weight);
    return Object.keys(WEIGHTS).find((kind) => (chance -= WEIGHTS[kind]) < 0) ?? "get";
  }

  plan(kind) {
    this.number += 1;
    const unique = `${this.name}.${this.number}`;
    const key = `r${process.hrtime.bigint() / EPOCH}.${Math.floor(Math.random() * KEYS)}`;
    const value = (this.number * 1000 + this.worker) * 1000;
    switch (kind) {
      case "get":
        return ["keeps", { action: "get", key }, { key }];
      case "put":
        return ["keeps", { action: "put", key, value: String(value) }, { key, argument: value }];
      case "increment":
        return ["keeps", { action: "increment", key }, { key, argument: 1 }];
      case "compare_and_put": {
        const version = this.versions.get(key) ?? null;
        const args = { action: "compare_and_put", key, value: String(value), ...(version === null ? {} : { version }) };
        return ["keeps", args, { key, argument: [value, version] }];
      }
      case "note":
        return ["keeps", { action: "put", key: `note.${unique}`, value: unique }, { key: `note.${unique}`, argument: unique }];
      case "place":
      case "approve":
        return ["orders", { action: kind, id: `${kind}.${unique}`, wait: false }, { key: `${kind}.${unique}` }];
    }
    if (kind === "follow" && this.lostOne) return ["orders", { action: "run_status" }, { list: true }];
    if (kind === "follow" && this.waiting.length + this.runs.length > 0) {
      const run = this.waiting[0] ?? pick(this.runs.slice(-8));
      return ["orders", { action: "run_status", run_id: run, wait: true }, { run }];
    }
    return ["worker", { action: "clean" }, {}];
  }

  note(kind, start, about, result) {
    const envelope = result.structuredContent ?? JSON.parse(result.content[0].text);
    const { data, code } = envelope;
    if (result.isError || !envelope.ok) {
      if (kind === "compare_and_put" && code === "conflict") return this.record(kind, start, "ok", { result: "conflict", ...about });
      const why = `${code}: ${String(envelope.error ?? envelope.message).slice(0, 200)}`;
      return this.record(kind, start, HARMLESS.has(kind) ? "fail" : "unknown", { why, ...about });
    }
    let seen = data ?? null;
    if (kind === "get") {
      this.versions.set(about.key, data?.version ?? null);
      seen = [data ? Number(data.value) : null, data?.version ?? null];
    } else if (kind === "place" || kind === "approve") {
      seen = data.run.id;
      (kind === "place" ? this.runs : this.waiting).push(seen);
    } else if (about.list) {
      const asks = ({ action, status }) => action === "approve" && ["running", "waiting"].includes(status);
      this.waiting = data.runs.filter(asks).map(({ id }) => id);
      this.lostOne = false;
      seen = this.waiting.length;
    } else if (kind === "follow" && about.run) {
      seen = data.run.status;
      if (["succeeded", "failed"].includes(seen)) this.waiting = this.waiting.filter((run) => run !== about.run);
    }
    this.record(kind, start, "ok", { result: seen, ...about });
  }
}

function reason(error) {
  const cause = error?.cause ? ` (${error.cause.code ?? error.cause.message})` : "";
  return `${error?.name}: ${String(error?.message).slice(0, 200)}${cause}`;
}

await Promise.all(
  names.map((name) => {
    const at = name.indexOf("=");
    return new Worker(name.slice(0, at), name.slice(at + 1)).run();
  }),
);
process.exit(0);
