// Calls a facade in a unit test, without a component: `new Host({ store: true }).call(notes, "add", { … })`.

import { Failure } from "./failure.js";
import { Call } from "./host.js";
import { port, usePort } from "./port.js";
import { isRequired } from "./schema.js";
import { encode } from "./utf8.js";

const REFUSED = { hint: "Nothing grants it in this test." };
const refuse = (what) => {
  throw Failure.denied(`access denied: ${what} is not granted`, REFUSED);
};

/** State in memory, by the rules of the real one. May be shared by hosts; `conflicts` makes the next commits fail. */
export class Store {
  entries = new Map();
  revision = 0;
  conflicts = 0;
  time = 1_700_000_000_000;

  /** Moves the clock: what expires until then is gone. */
  advance(milliseconds) {
    this.time += milliseconds;
  }

  read(key) {
    const entry = this.entries.get(key);
    return entry && (entry.untilMs === undefined || entry.untilMs > this.time) ? entry : undefined;
  }

  scan(prefix, after, limit, at) {
    if (at !== undefined && at !== this.revision) throw Failure.conflict("the state has changed");
    const compare = (one, other) => Buffer.compare(encode(one), encode(other));
    const keys = [...this.entries.keys()].filter((key) => key.startsWith(prefix) && this.read(key)).sort(compare);
    const rest = after === undefined ? keys : keys.filter((key) => compare(key, after) > 0);
    return { items: rest.slice(0, limit).map((key) => this.read(key)), more: rest.length > limit, revision: this.revision };
  }

  commit(changes) {
    if (this.conflicts > 0) {
      this.conflicts--;
      throw Failure.conflict("somebody else was quicker");
    }
    const odd = changes.filter(({ key, expect }) => expect !== "any" && (this.read(key)?.version ?? "absent") !== expect);
    if (odd.length > 0) throw Failure.conflict("changed meanwhile", { details: { keys: odd.map(({ key }) => key) } });
    this.revision++;
    for (const { key, operation, value, untilMs } of changes) {
      if (operation === "put") this.entries.set(key, { key, value, untilMs, version: this.revision });
      if (operation === "delete") this.entries.delete(key);
    }
    return this.revision;
  }
}

/** A host for one test: what it is given, it grants; what the plugin does, it keeps in `logs`, `progress`, `questions` and `requests`. */
export class Host {
  logs = [];
  progress = [];
  questions = [];
  requests = [];
  #given;

  /** `store` (true or a `Store`), `config`, `person` (answers in turn: an object, or "declined", "cancelled"), `http` and `peers` (functions), `caller`, `detail`. */
  constructor(given = {}) {
    this.#given = { ...given, person: [...(given.person ?? [])], store: given.store === true ? new Store() : given.store };
  }

  /** Calls an action, with checks of which parameters there are. Returns the reply, with its data parsed; throws the failure. */
  call(facade, name, params = {}) {
    const named = [...facade.actions.values()].find((one) => one.name === name || one.aliases.includes(name));
    if (!named) throw Failure.invalidParams(`Unknown action: "${name}". Available actions: ${[...facade.actions.keys()].join(", ")}.`);
    const odd = Object.keys(params).find((key) => !(key in named.fields));
    if (odd) throw Failure.invalidParams(`\`${odd}\` is not a parameter of \`${named.name}\``);
    const missing = Object.keys(named.fields).find((key) => isRequired(named.fields[key]) && !(key in params));
    if (missing) throw Failure.invalidParams(`\`${missing}\` is required`);
    const { caller, detail } = this.#given;
    const answer = this.run(() => facade.answer(new Call({ id: "c1", action: named.name, detail, timeLeftMs: 30_000, caller }), JSON.parse(JSON.stringify(params))), named.effect === "read");
    const parsed = (reply) => ({ ...reply, data: JSON.parse(reply.data) });
    return typeof answer.then === "function" ? answer.then(parsed) : parsed(answer);
  }

  /** Runs code outside of an action. */
  run(act, isReading = false) {
    const before = usePort(this.#port(isReading));
    try {
      return act();
    } finally {
      usePort(before);
    }
  }

  #port(isReading) {
    const { store, config = {}, person, http, peers, caller } = this.#given;
    const state = (space) => {
      if (!store) refuse("`store`");
      if (space === "caller" && !caller) throw Failure.denied("access denied: an anonymous caller has no space", REFUSED);
      return space === "shared" ? store : (store.callers ??= new Map()).get(caller) ?? store.callers.set(caller, new Store()).get(caller);
    };
    const peer = (request) => {
      try {
        return peers ? peers(request) : refuse(`\`${request.facade}\``);
      } catch (error) {
        if (error instanceof Failure) return error;
        throw error;
      }
    };
    return {
      ...port(),
      awaits: true,
      log: (level, message) => this.logs.push([level, message]),
      progress: (...step) => this.progress.push(step),
      cancelled: () => false,
      config: (key) => (key in config ? JSON.stringify(config[key]) : undefined),
      elicit: (message, form) => {
        if (person.length === 0) refuse("`elicit`");
        this.questions.push({ message, form });
        const answer = person.shift();
        return typeof answer === "string" ? { verdict: answer } : { verdict: "accepted", given: answer };
      },
      invoke: (requests) => requests.map(peer),
      check: () => {},
      now: () => store?.time ?? Date.now(),
      pause() {},
      stateGet: (space, keys) => keys.map((key) => state(space).read(key)),
      stateScan: (space, ...scan) => state(space).scan(...scan),
      stateCommit: (space, changes) => (isReading ? refuse("a commit in a `read` action") : state(space).commit(changes)),
      send: (requests) => requests.map((request) => {
        this.requests.push(request);
        return http ? http(request) : Failure.denied(`access denied: ${request.method} ${request.url}`, REFUSED);
      }),
    };
  }
}

/** What the facade publishes, for a snapshot. */
export function describe({ name, title, version, summary, instructions, defaultAction, wants, actions }) {
  return {
    name, title, version, summary, instructions, defaultAction, wants,
    actions: [...actions.values()].map((one) => ({
      name: one.name, summary: one.summary, effect: one.effect, aliases: one.aliases, details: one.details,
      params: JSON.parse(one.paramsJson), data: one.dataJson && JSON.parse(one.dataJson), examples: one.examples.map((text) => JSON.parse(text)),
    })),
  };
}
