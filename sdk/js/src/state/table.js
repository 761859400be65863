// What collections, cells and counters share: names, keys, JSON.

import { Failure } from "../failure.js";
import { port } from "../port.js";
import { decode, encode, jsonText, wellFormed } from "../utf8.js";

/** The most attempts on conflicts. */
export const ATTEMPTS = 50;
// Rows per read of a full list; the host may return fewer.
const PART = 500;
// The longest key that a host takes, in bytes.
const KEY_LIMIT = 1024;

/** Keys and bytes of one space: `shared`, or `caller`, where each caller has keys of its own. */
export const space = (name) => ({
  get: (key) => port().stateGet(name, [wellFormed(key)])[0],
  getMany: (keys) => port().stateGet(name, keys.map(wellFormed)),
  scan: (prefix, after, limit = PART, at) => port().stateScan(name, wellFormed(prefix), after && wellFormed(after), limit, at),
  commit: (changes) => port().stateCommit(name, changes.map((change) => ({ ...change, key: wellFormed(change.key) }))),
});

/** A change that writes a value. */
export const put = (key, value, more) => ({ key, operation: "put", value, expect: "any", ...more });

/** Where values are, and how long they live. */
export class Table {
  constructor(name, { ttlMs, space: where = "shared" } = {}) {
    if (typeof name !== "string" || !name || name.length > 64 || /[/#]/.test(name)) {
      throw new TypeError(`loggia: \`${name}\` cannot be the name of a table: it has 1 to 64 bytes, without \`/\` and \`#\``);
    }
    Object.assign(this, { name, where, ttlMs, space: space(where) });
  }

  prefix(start) {
    return wellFormed(`${this.name}/${start}`);
  }

  key(id) {
    if (typeof id !== "string" || !id) throw Failure.invalidParams("an id is not empty");
    const bytes = encode(this.prefix(id)).length;
    if (bytes > KEY_LIMIT) throw Failure.invalidParams(`the id is too long: ${encode(id).length} bytes`);
    return this.prefix(id);
  }

  id(key) {
    return key.slice(this.name.length + 1);
  }

  // The key whose version is that of the last write to any row: it tells a transaction that listed the rows about new ones.
  get changed() {
    return `${this.name}#changed`;
  }

  get last() {
    return `${this.name}#last`;
  }

  write(key, value, more) {
    let text;
    try {
      text = jsonText(value);
    } catch (error) {
      throw Failure.internal(`the value for \`${key}\` cannot be written: ${error.message}`);
    }
    if (text === undefined) throw Failure.internal(`the value for \`${key}\` cannot be written: it is no JSON`);
    const untilMs = this.ttlMs === undefined ? undefined : port().now() + this.ttlMs;
    return put(key, encode(text), { untilMs, ...more });
  }

  read(key, bytes) {
    try {
      return JSON.parse(decode(bytes));
    } catch (error) {
      throw Failure.internal(`the value of \`${key}\` cannot be read: ${error.message}`);
    }
  }

  all(start) {
    for (let attempt = 1; ; attempt++) {
      try {
        return this.parts(this.prefix(start));
      } catch (failure) {
        if (failure.code !== "conflict" || attempt === ATTEMPTS) throw failure;
        pause(attempt);
      }
    }
  }

  parts(prefix) {
    const rows = [];
    let at;
    for (;;) {
      const part = this.space.scan(prefix, rows.at(-1)?.key, PART, at);
      at = part.revision;
      rows.push(...part.items);
      if (!part.more || part.items.length === 0) return rows;
    }
  }

  missing(id) {
    return Failure.notFound(`not found: there is no \`${id}\` in ${this.name}`);
  }

  taken(id) {
    return Failure.conflict(`already exists: there is a \`${id}\` in ${this.name}`);
  }
}

/** Backs off after a conflict, exponentially and with jitter: about 1.5 s in total. */
export function pause(attempt) {
  if (attempt > 2) port().pause(Math.random() * (1 << Math.min(attempt, 6)));
}
