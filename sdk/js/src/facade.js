// A facade: its functions, as a table of actions.

import { Failure, checkFailure } from "./failure.js";
import { port } from "./port.js";
import { Reply, replyFacts } from "./reply.js";
import { report, sentenceOf } from "./report.js";
import { dataOf, fill, hasLevels, isRequired, node, paragraph, paramsOf, trim, wrong } from "./schema.js";
import { jsonText, wellFormed } from "./utf8.js";

const RESERVED_ACTIONS = ["describe", "run_status", "run_cancel", "batch"];
const RESERVED_PARAMS = ["action", "cmd", "params", "detail", "wait", "confirm"];
const EFFECTS = ["read", "write", "destructive"];
const FACADE_KEYS = ["name", "title", "version", "summary", "instructions", "default", "needs", "wants", "views", "extras", "actions"];
const ACTION_KEYS = ["summary", "about", "effect", "params", "data", "idempotent", "openWorld", "longRunning", "details", "aliases", "needs", "resource", "view", "examples", "extras"];

/** One action: what it is, and the function `(params, call) => result` that answers it. */
export function action(facts, run) {
  if (typeof run !== "function") throw wrong("an action is a table and a function: action({ … }, (params, call) => …)");
  known("an action", facts, ACTION_KEYS);
  return { ...facts, run };
}

/** One domain of actions, which clients see as one tool. A plugin's module exports one. */
export function defineFacade(facts) {
  return new Facade(facts);
}

/** A facade, checked: its texts are made when it is declared, so that `describe` is a look-up. */
export class Facade {
  constructor(facts) {
    known("a facade", facts, FACADE_KEYS);
    const { name, title, version = "0.1.0", summary, instructions, needs = {}, wants = {}, views = {}, extras = {}, actions } = facts;
    named("a facade", name, 32);
    if (!summary) throw wrong("a facade needs a `summary`, which tells the model what it is for");
    const words = name.replace(/[-_]/g, " ");
    this.name = name;
    this.title = title ?? words[0].toUpperCase() + words.slice(1);
    this.version = version;
    this.summary = paragraph(summary);
    this.instructions = instructions === undefined ? undefined : paragraph(instructions);
    this.defaultAction = facts.default;
    this.wants = [
      ...Object.entries(needs).map(([grant, reason]) => ({ grant, reason, needed: true })),
      ...Object.entries(wants).map(([grant, reason]) => ({ grant, reason, needed: false })),
    ];
    this.views = views;
    this.extras = extras;
    this.actions = new Map(Object.entries(actions ?? {}).map(([key, one]) => [key, tabled(key, one)]));
    this.#check();
  }

  #check() {
    if (this.actions.size === 0) throw wrong(`the facade \`${this.name}\` has no action`);
    const names = [...this.actions.values()].flatMap((one) => [one.name, ...one.aliases]);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice) throw wrong(`\`${twice}\` is the name of two actions of this facade`);
    if (this.defaultAction !== undefined && !this.actions.has(this.defaultAction)) {
      throw wrong(`there is no action \`${this.defaultAction}\`; there are: ${[...this.actions.keys()].join(", ")}`);
    }
    for (const one of this.actions.values()) {
      if (one.view !== undefined && !(one.view in this.views)) throw wrong(`the facade has no view \`${one.view}\``);
    }
  }

  /**
   * Answers a call: a reply whose data is JSON text. Throws `Failure` only: another error becomes `internal`, and its stack goes to the
   * log. Returns a promise where the action does.
   */
  answer(call, params) {
    const fail = (error) => {
      throw this.#failure(error);
    };
    const finish = (result, one) => {
      const reply = written(one, call, result);
      if (reply.next) reply.next = { facade: this.name, ...reply.next };
      return reply;
    };
    try {
      const one = this.actions.get(call.action);
      if (!one) throw Failure.invalidParams(`Unknown action: "${call.action}".`);
      const result = one.run(filled(one, params), call);
      if (typeof result?.then !== "function") return finish(result, one);
      if (!port().awaits) throw new Error("the action is `async`, which the engine `quickjs` cannot await: build with --engine starlingmonkey");
      return result.then((value) => finish(value, one)).catch(fail);
    } catch (error) {
      return fail(error);
    }
  }

  #failure(error) {
    if (!(error instanceof Failure)) {
      port().log("error", wellFormed(report(error)));
      return Failure.internal(sentenceOf(error));
    }
    try {
      checkFailure(error);
    } catch (odd) {
      return this.#failure(odd);
    }
    if (error.next) error.next = { facade: this.name, ...error.next };
    return error;
  }
}

function tabled(key, facts) {
  if (typeof facts?.run !== "function") throw wrong(`\`${key}\` is no action: write action({ … }, (params, call) => …)`);
  const { summary, about, effect, params = {}, data, aliases = [], needs = [], resource, view, examples = [], extras = {} } = facts;
  for (const name of [key, ...aliases]) {
    named("an action", name, name === key ? 64 : 32);
    if (RESERVED_ACTIONS.includes(name)) throw wrong(`\`${name}\` is an action that the host gives every facade; choose another name`);
  }
  if (!summary) throw wrong(`\`${key}\` needs a \`summary\``);
  if (!EFFECTS.includes(effect)) throw wrong(`say what \`${key}\` does to the world: effect: "read", "write" or "destructive"`);
  const fields = {};
  for (const [name, one] of Object.entries(params)) {
    paramNamed(name);
    fields[name] = node(one);
    if (fields[name].bounds?.secret && (fields[name].fallback !== undefined || fields[name].bounds.example !== undefined)) {
      throw wrong(`the value of the secret \`${name}\` would be published with the schema: take it away`);
    }
  }
  const result = data === undefined ? undefined : node(data);
  const schema = result && dataOf(result);
  const place = typeof resource === "string" ? { uri: resource } : resource;
  if (place) checkResource(key, effect, place, fields);
  examples.forEach((example) => checkExample(key, example, fields));
  return {
    name: key,
    summary: paragraph(summary),
    effect,
    idempotent: facts.idempotent ?? false,
    openWorld: facts.openWorld ?? false,
    longRunning: facts.longRunning ?? false,
    details: (facts.details ?? false) || hasLevels(schema),
    aliases,
    needs,
    resource: place,
    view,
    extras,
    fields,
    result,
    run: facts.run,
    paramsJson: jsonText(paramsOf(fields, about && paragraph(about))),
    dataJson: schema && jsonText(schema),
    examples: examples.map(jsonText),
  };
}

function filled(one, params) {
  if (params === null || typeof params !== "object" || Array.isArray(params)) throw Failure.invalidParams("`params` is not a JSON object");
  const given = {};
  for (const [name, field] of Object.entries(one.fields)) {
    const value = params[name] === null && !isRequired(field) && field.kind !== "any" ? undefined : params[name];
    if (value === undefined && isRequired(field) && !field.parse) throw Failure.invalidParams(`\`${name}\` is required`);
    try {
      const inner = fill(field, value);
      if (inner !== undefined) given[name] = inner;
    } catch (error) {
      throw Failure.invalidParams(`\`${name}\` does not fit: ${error?.issues?.[0]?.message ?? error?.message ?? error}`);
    }
  }
  return given;
}

function written(one, call, result) {
  const reply = result instanceof Reply ? result : new Reply(result);
  // Checked once more: an author may have changed it since it was made.
  const { message, page: given, next, content } = replyFacts(reply);
  // Lists are counted; what their author counted stays.
  const page = Array.isArray(reply.data) ? { ...given, count: given?.count ?? reply.data.length } : given;
  let data;
  try {
    data = jsonText(one.result ? trim(one.result, reply.data, call.detail) : (reply.data ?? null));
  } catch (error) {
    throw Failure.internal(`the result cannot be written as JSON: ${error.message}`);
  }
  if (data === undefined) throw Failure.internal("the result cannot be written as JSON: it is a function or a symbol");
  return { data, message, page, next, content };
}

function known(what, facts, keys) {
  const odd = Object.keys(facts ?? {}).find((key) => !keys.includes(key));
  if (odd) throw wrong(`${what} has no key \`${odd}\`; there are: ${keys.join(", ")}`);
}

function named(what, name, most) {
  if (typeof name !== "string" || !/^[a-z][a-z0-9_-]*$/.test(name) || name.length > most) {
    throw wrong(`\`${name}\` cannot be the name of ${what}: begin with a letter, then use at most ${most - 1} of a-z, 0-9, \`_\` and \`-\``);
  }
}

function paramNamed(name) {
  if (name.startsWith("_")) throw wrong(`\`${name}\` begins with \`_\`, which is for a plugin's own book-keeping`);
  named("a parameter", name, 32);
  if (RESERVED_PARAMS.includes(name)) throw wrong(`\`${name}\` has a meaning of its own in every call; choose another name`);
}

function checkResource(key, effect, { uri }, fields) {
  if (effect !== "read") throw wrong(`\`${key}\` cannot be a resource: reading it must change nothing`);
  const variables = [...uri.matchAll(/\{\+?([^}]*)\}/g)].map(([, name]) => name);
  const odd = variables.find((name) => !(name in fields));
  if (odd) throw wrong(`\`${key}\` has no parameter \`${odd}\`; there are: ${Object.keys(fields).join(", ")}`);
  const missing = Object.keys(fields).find((name) => isRequired(fields[name]) && !variables.includes(name));
  if (missing) throw wrong(`the URI of \`${key}\` lacks \`{${missing}}\`, which is required`);
}

function checkExample(key, example, fields) {
  const odd = Object.keys(example).find((name) => !(name in fields));
  if (odd) throw wrong(`an example of \`${key}\` has no parameter \`${odd}\`; there are: ${Object.keys(fields).join(", ")}`);
  const missing = Object.keys(fields).find((name) => isRequired(fields[name]) && !(name in example));
  if (missing) throw wrong(`an example of \`${key}\` lacks \`${missing}\`, which is required`);
}
