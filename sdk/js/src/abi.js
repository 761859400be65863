// The guest's side of the contract: the SDK's values to and from those of `wit/deps/loggia.wit`. In components only.

import * as wit from "loggia:plugin/host@0.2.0";
import * as state from "loggia:plugin/state@0.2.0";
import { subscribeDuration } from "wasi:clocks/monotonic-clock@0.2.12";

import { isQuickJs, u64 } from "./engine.js";
import { Facade } from "./facade.js";
import { Failure } from "./failure.js";
import { Call } from "./host.js";
import { usePort } from "./port.js";
import { Reply } from "./reply.js";
import { jsonText } from "./utf8.js";
import { sendAll } from "./wasi.js";

const given = (value) => value ?? undefined;
const maybe = (value) => (value === undefined || value === null ? undefined : u64(value));
const extrasOf = (extras = {}) => Object.entries(extras).filter(([, value]) => value !== undefined).map(([name, value]) => [name, jsonText(value)]);
const extrasFrom = (extras) => Object.fromEntries(extras.map(([name, text]) => [name, read(text)]));

/** The exported interface of the author's module, which exports one facade. */
export function guest(module) {
  const found = new Set(Object.values(module).filter((value) => value instanceof Facade));
  if (found.size !== 1) throw new TypeError(`loggia: the module exports ${found.size} facades: write export default defineFacade({ … })`);
  const [facade] = found;
  // Written and read, so that none of its texts has a lone surrogate.
  const described = JSON.parse(jsonText(descriptionOf(facade)));
  const schemas = new Map([...facade.actions].map(([name, one]) => [name, { params: one.paramsJson, data: one.dataJson, examples: one.examples, extras: [] }]));
  usePort(component);
  return {
    describe: () => described,
    schema(name) {
      if (!schemas.has(name)) throw failureOf(Failure.invalidParams(`Unknown action: "${name}".`));
      return schemas.get(name);
    },
    dispatch(call) {
      const fail = (error) => {
        throw failureOf(error);
      };
      try {
        const answer = facade.answer(new Call(call), JSON.parse(call.params));
        return typeof answer.then === "function" ? answer.then(replyOf).catch(fail) : replyOf(answer);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

function descriptionOf({ name, title, version, summary, instructions, actions, defaultAction, views, wants, extras }) {
  return {
    name, title, version, summary, instructions, defaultAction, wants,
    actions: [...actions.values()].map((one) => ({
      name: one.name, summary: one.summary, effect: one.effect, idempotent: one.idempotent, openWorld: one.openWorld,
      longRunning: one.longRunning, details: one.details, aliases: one.aliases, needs: one.needs,
      asResource: one.resource && { uri: one.resource.uri, mimeType: one.resource.mimeType, items: one.resource.items, state: one.resource.state, extras: [] },
      view: one.view, extras: extrasOf(one.extras),
    })),
    views: Object.entries(views).map(([view, html]) => ({ name: view, html, extras: [] })),
    extras: extrasOf(extras),
  };
}

const nextOf = (next) =>
  next && { facade: next.facade ?? "", action: next.action, params: Object.keys(next.params ?? {}).length > 0 ? jsonText(next.params) : undefined, reason: next.reason };
const nextFrom = (next) => (next ? { facade: next.facade, action: next.action, params: paramsFrom(next.params), reason: given(next.reason) } : undefined);

function replyOf({ data, message, page, next, content }) {
  return {
    data, message,
    page: page && { count: maybe(page.count), total: maybe(page.total), cursor: page.cursor },
    next: nextOf(next),
    content: content.map(({ block, extras }) => ({ block, extras: extrasOf(extras) })),
    extras: [],
  };
}

function replyFrom({ data, message, page, next, content }) {
  return new Reply(read(data), {
    message: given(message),
    page: page ? { count: numberFrom(page.count), total: numberFrom(page.total), cursor: given(page.cursor) } : undefined,
    next: nextFrom(next),
    content: content.map(({ block, extras }) => ({ block, extras: extrasFrom(extras) })),
  });
}

function failureOf(error) {
  const { code, message, hint, details, retryAfterMs, next, expected, example } = error instanceof Failure ? error : Failure.internal(String(error?.message ?? error));
  return {
    code, message, hint, next: nextOf(next),
    details: details === undefined ? undefined : jsonText(details),
    retryAfterMs: maybe(retryAfterMs),
    extras: extrasOf({ expected, example }),
  };
}

function failureFrom(error) {
  const one = error?.payload ?? error;
  if (typeof one?.code !== "string") return error;
  const { expected, example } = extrasFrom(one.extras ?? []);
  return new Failure(one.code, one.message, {
    hint: given(one.hint),
    details: one.details ? read(one.details) : undefined,
    retryAfterMs: numberFrom(one.retryAfterMs),
    next: nextFrom(one.next),
    expected,
    example,
  });
}

/** A number of another plugin, which may be larger than JavaScript's whole numbers. */
function numberFrom(value) {
  return value === undefined || value === null ? undefined : Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

/** Parameters that another plugin suggests. */
function paramsFrom(text) {
  const params = read(text ?? "{}");
  return typeof params === "object" && params !== null && !Array.isArray(params) ? params : {};
}

/** The host sends JSON; if it did not, the text itself is more useful than an error. */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function asked(ask) {
  try {
    return ask();
  } catch (error) {
    throw failureFrom(error);
  }
}

const requestOf = ({ facade, action, params = {}, detail = "standard", timeoutMs, idempotencyKey }) => ({
  facade, action, params: jsonText(params), detail, timeoutMs: maybe(timeoutMs), idempotencyKey,
});

const entryFrom = (entry) => (entry ? { key: entry.key, value: entry.value, version: Number(entry.version) } : undefined);

function changeOf({ key, operation, value, untilMs, expect }) {
  const written = untilMs === undefined ? { tag: "put", val: value } : { tag: "put-until", val: [value, u64(untilMs)] };
  return {
    key,
    expect: typeof expect === "number" ? { tag: "version", val: u64(expect) } : { tag: expect },
    operation: operation === "put" ? written : { tag: operation },
  };
}

/** The host, as a component sees it. */
const component = {
  awaits: !isQuickJs,
  log: (level, message) => wit.log(level, message),
  progress: (done, total, message) => wit.progress(done, total, message),
  cancelled: () => wit.cancelled(),
  config: (key) => given(wit.config(key)),
  elicit(message, form) {
    const { tag, val } = asked(() => wit.elicit(message, jsonText(form)));
    return { verdict: tag, given: tag === "accepted" ? read(val) : undefined };
  },
  invoke: (requests) => wit.invoke(requests.map(requestOf)).map(({ tag, val }) => (tag === "ok" ? replyFrom(val) : failureFrom(val))),
  check: (request) => void asked(() => wit.check(requestOf(request))),
  facades: () =>
    asked(() => wit.facades()).map(({ name, title, summary, actions }) => ({
      name, title, summary, actions: actions.map((one) => ({ name: one.name, summary: one.summary, effect: one.effect, aliases: one.aliases })),
    })),
  lookup(facade, action) {
    const { params, data, examples, extras } = asked(() => wit.lookup(facade, action));
    const { signature, effect, confirm } = extrasFrom(extras);
    return { params: read(params), data: data ? read(data) : undefined, examples: examples.map(read), signature, effect, confirm: confirm === true };
  },
  stateGet: (space, keys) => asked(() => state.get(space, keys)).map(entryFrom),
  stateScan(space, prefix, after, limit, at) {
    const { items, more, revision } = asked(() => state.scan(space, prefix, after, limit, maybe(at)));
    return { items: items.map(entryFrom), more, revision: Number(revision) };
  },
  stateCommit: (space, changes) => Number(asked(() => state.commit(space, changes.map(changeOf)))),
  now: () => Date.now(),
  pause(milliseconds) {
    const over = subscribeDuration(u64(Math.round(milliseconds * 1e6)));
    over.block();
    over[Symbol.dispose]?.();
  },
  send: sendAll,
};
