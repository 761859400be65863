// Services of the host: log, configuration, questions to the person, other facades.

import { fieldsOf, millisecondsOf, optional, paramsOf, textOf } from "./checks.js";
import { Failure } from "./failure.js";
import { port } from "./port.js";
import { report, shown } from "./report.js";
import { fill, givenOf, node } from "./schema.js";
import { wellFormed } from "./utf8.js";

/** Context of a call for its action, and operations during the call. */
export class Call {
  #deadline;
  constructor({ id, action, detail = "standard", timeLeftMs = 0, caller, idempotencyKey }) {
    Object.assign(this, { id, action, detail, caller: caller ?? undefined, idempotencyKey: idempotencyKey ?? undefined });
    this.#deadline = Date.now() + Number(timeLeftMs);
  }

  /** Milliseconds until the host ends the call; zero after that. */
  timeLeft() {
    return Math.max(0, this.#deadline - Date.now());
  }

  /** Reports progress to the caller. Cheap: the host only forwards the latest. */
  progress(done, total, message) {
    port().progress(done, total, optional(textOf)("message", message));
  }

  /** Tests whether the caller has disconnected or cancelled the call. */
  isCancelled() {
    return port().cancelled();
  }

  /** Ends the action with `cancelled` if the caller has disconnected or cancelled. */
  checkpoint() {
    if (this.isCancelled()) throw Failure.cancelled();
  }
}

const line = (level) => (...words) => port().log(level, wellFormed(words.map(toText).join(" ")));

/** Lines of the host's log, under the facade's name. */
export const log = { trace: line("trace"), debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };

function toText(word) {
  if (typeof word === "string") return word;
  return word instanceof Error ? report(word) : shown(word);
}

/** Value of this key under `[grants] config` in the policy. */
export function config(key, otherwise) {
  const text = port().config(textOf("key", key));
  return text === undefined || text === null ? otherwise : JSON.parse(text);
}

/** Like `config`, for a required key. Throws `unavailable`, with the line that the operator has to write. */
export function requireConfig(key) {
  const value = config(key);
  if (value !== undefined) return value;
  throw Failure.unavailable(`not configured: this plugin needs \`${key}\``, {
    hint: `The operator sets it in the plugin's policy file: \`[grants] config = { ${key} = … }\`.`,
  });
}

/**
 * Asks the person with a form, and returns it filled in. A no ends the action: `denied` or `cancelled`; with `refusal: true` it is
 * `undefined`. `name` names the question, so that a client may send the answer with the call.
 */
export function elicit(message, form, { name, refusal = false } = {}) {
  const whole = node(form);
  const schema = formOf(whole);
  const answer = ask(message, name === undefined ? schema : { ...schema, $anchor: name });
  if (answer.verdict === "accepted") return fill(whole, answer.given);
  if (refusal) return undefined;
  if (answer.verdict === "declined") {
    throw Failure.denied("access denied: the person declined", { hint: "Do not ask again unless the person wishes it." });
  }
  throw Failure.cancelled("cancelled: the person closed the question");
}

const ask = (message, form) => port().elicit(textOf("message", message), form);

/** Asks the person to agree, with nothing to fill in. To decline and to close the question are both a no. */
export const confirm = (message) => ask(message, { type: "object", properties: {} }).verdict === "accepted";

/** Asks the person to choose one of several values, each with a title: `{ l_1: "Groceries" }`. `undefined` is a no. */
export function choose(message, field, choices) {
  const options = Object.entries(choices).map(([value, title]) => ({ const: value, title }));
  if (options.length === 0) throw Failure.invalidParams("nothing to choose from");
  const form = { type: "object", properties: { [field]: { type: "string", oneOf: options } }, required: [field] };
  const answer = ask(message, form);
  if (answer.verdict !== "accepted") return undefined;
  const value = answer.given?.[field];
  if (typeof value === "string" && Object.hasOwn(choices, value)) return value;
  throw Failure.invalidData(`the answer is none of the choices of \`${field}\``);
}

const requestOf = (request) =>
  fieldsOf("request", request, {
    facade: textOf, action: textOf, params: optional(paramsOf), timeoutMs: optional(millisecondsOf), idempotencyKey: optional(textOf),
  });

/** Calls other facades at once: `{ facade, action, params, detail, timeoutMs, idempotencyKey }`. Answers, replies or failures, in order. */
export const invokeAll = (requests) => port().invoke(requests.map(requestOf));

/** Calls another facade. Throws its failure, or the host's. */
export function invoke(request) {
  const [answer] = invokeAll([request]);
  if (answer instanceof Failure) throw answer;
  return answer;
}

/** Throws the failure with which the host would refuse the call; runs nothing. */
export const check = (request) => port().check(requestOf(request));
/** The facades that this plugin may call. */
export const facades = () => port().facades();
/** Schemas of another facade's action. */
export const lookup = (facade, name) => port().lookup(textOf("facade", facade), textOf("name", name));

// What clients draw forms of: a flat object with few keywords for each field.
const COMMON = ["type", "title", "description", "default"];
const KEYWORDS = {
  string: ["minLength", "maxLength", "format", "enum", "enumNames"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  boolean: [],
  array: ["items", "minItems", "maxItems"],
};
const FORMATS = ["email", "uri", "date", "date-time"];

function formOf(whole) {
  const schema = givenOf(whole);
  if (schema.type !== "object" || !schema.properties) throw unfit("it is no object with fields");
  const properties = Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, fieldOf(name, one)]));
  return { type: "object", properties, ...(schema.required ? { required: schema.required } : {}) };
}

const unfit = (fault) =>
  Failure.internal(`this cannot be asked for by a form: ${fault}`, {
    hint: "A form is one object, whose fields are texts, numbers, booleans, choices, or lists of choices.",
  });

function fieldOf(name, given) {
  let schema = { ...given };
  if (Array.isArray(schema.type)) schema.type = schema.type.find((kind) => kind !== "null");
  if (schema.enum) schema.enum = schema.enum.filter((value) => value !== null);
  if (schema.anyOf) {
    const { anyOf, ...rest } = schema;
    schema = { ...anyOf.find((one) => one.type !== "null"), ...rest };
  }
  if (schema.oneOf) {
    const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => COMMON.includes(key)));
    return { ...kept, type: "string", oneOf: optionsOf(schema.oneOf) };
  }
  if (schema.type === "array") {
    const items = schema.items?.oneOf ? { anyOf: optionsOf(schema.items.oneOf) } : schema.items?.enum && { type: "string", enum: schema.items.enum };
    if (!items) throw unfit(`its field \`${name}\` is a list, and not of choices`);
    schema.items = items;
  }
  const keywords = KEYWORDS[schema.type];
  if (!keywords) throw unfit(`its field \`${name}\` is a structure, a map, or of more than one kind`);
  return Object.fromEntries(Object.entries(schema).filter(([key, value]) =>
    (COMMON.includes(key) || keywords.includes(key)) && (key !== "format" || FORMATS.includes(value))));
}

const optionsOf = (alternatives) =>
  alternatives.flatMap((one) => ("const" in one ? [one.const] : one.enum).map((value) => ({ const: value, title: one.description ?? value })));
