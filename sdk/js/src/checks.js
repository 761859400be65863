// Checks of what an author hands to the host. What has the wrong type would end the call in the engine, which names no place: here it is
// an error with a stack, at the author's line.

import { jsonText, wellFormed } from "./utf8.js";

export const isAbsent = (value) => value === undefined || value === null;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const kindOf = (value) => (value === null ? "null" : Array.isArray(value) ? "a list" : typeof value);

/** A check that also takes nothing, which is `undefined`. */
export const optional = (check) => (what, value) => (isAbsent(value) ? undefined : check(what, value));

export function textOf(what, value) {
  if (typeof value !== "string") throw new TypeError(`\`${what}\` is a text, not ${kindOf(value)}`);
  return wellFormed(value);
}

export function bytesOf(what, value) {
  // By its name, as tests may run in another realm than `Buffer`.
  if (value?.[Symbol.toStringTag] !== "Uint8Array") throw new TypeError(`\`${what}\` is a Uint8Array, not ${kindOf(value)}`);
  return value;
}

export function countOf(what, value) {
  const number = numberOf(what, value);
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`\`${what}\` is a whole number from 0 to 2^53 - 1, not ${number}`);
  return number;
}

/** A time in milliseconds, rounded up: what is calculated of seconds has fractions. */
export const millisecondsOf = (what, value) => countOf(what, Math.ceil(numberOf(what, value)));

export function numberOf(what, value) {
  if (typeof value !== "number") throw new TypeError(`\`${what}\` is a number, not ${kindOf(value)}`);
  return value;
}

/** What can be written as JSON, as it is. */
export function jsonOf(what, value) {
  let text;
  try {
    text = jsonText(value);
  } catch (error) {
    throw new TypeError(`\`${what}\` cannot be written as JSON: ${error.message}`);
  }
  if (text === undefined) throw new TypeError(`\`${what}\` cannot be written as JSON: it is ${kindOf(value)}`);
  return value;
}

export function objectOf(what, value) {
  if (!isObject(value)) throw new TypeError(`\`${what}\` is an object, not ${kindOf(value)}`);
  return value;
}

/** A copy of an object, with its fields checked. Fields without a check stay as they are. */
export function fieldsOf(what, given, checks) {
  const made = { ...objectOf(what, given) };
  for (const [name, check] of Object.entries(checks)) {
    const value = check(`${what}.${name}`, made[name]);
    if (name in made) made[name] = value;
  }
  return made;
}

/** Parameters of a call. */
export const paramsOf = (what, params) => jsonOf(what, objectOf(what, params));

/** Checks of the call that should follow a reply or a failure. */
export const NEXT = { action: textOf, params: optional(paramsOf), reason: optional(textOf), facade: optional(textOf) };
