// Many values of one type.

import { Failure } from "../failure.js";
import { Reply } from "../reply.js";
import { idWithNumber, numberInId } from "./ids.js";
import { Rows } from "./rows.js";
import { Table, put } from "./table.js";
import { transaction } from "./transaction.js";

// Rows per read by age.
const NEWEST_PART = 100;

class Listing {
  constructor(items, cursor) {
    this.items = items;
    this.cursor = cursor;
  }

  /** A reply with the values, the count, and the cursor of the next page. */
  reply(make = ({ value }) => value) {
    return new Reply(this.items.map(make), { page: { count: this.items.length, cursor: this.cursor } });
  }
}

class Collection {
  #table;
  constructor(name, options) {
    this.#table = new Table(name, options);
  }

  #value(entry) {
    return entry && this.#table.read(entry.key, entry.value);
  }

  #item(entry) {
    return { id: this.#table.id(entry.key), value: this.#value(entry) };
  }

  #atomic(act) {
    return transaction((tx) => act(this.of(tx)), { space: this.#table.where });
  }

  #put(id, value, more) {
    const change = this.#table.write(this.#table.key(id), value, more);
    this.#table.space.commit([change, put(this.#table.changed, new Uint8Array())]);
  }

  of(tx) {
    return new Rows(this.#table, tx);
  }

  get(id) {
    return this.#value(this.#table.space.get(this.#table.key(id)));
  }

  getMany(ids) {
    return this.#table.space.getMany(ids.map((id) => this.#table.key(id))).map((entry) => this.#value(entry));
  }

  require(id) {
    const value = this.get(id);
    if (value === undefined) throw this.#table.missing(id);
    return value;
  }

  contains(id) {
    return this.#table.space.get(this.#table.key(id)) !== undefined;
  }

  insert(id, value) {
    try {
      this.#put(id, value, { expect: "absent" });
    } catch (failure) {
      throw failure.code === "conflict" ? this.#table.taken(id) : failure;
    }
  }

  put(id, value) {
    this.#put(id, value);
  }

  remove(id) {
    return this.#atomic((rows) => rows.remove(id));
  }

  nextId(prefix) {
    return this.#atomic((rows) => rows.nextId(prefix));
  }

  create(prefix, make) {
    return this.#atomic((rows) => rows.create(prefix, make));
  }

  update(id, change) {
    return this.#atomic((rows) => rows.update(id, change));
  }

  list(start = "") {
    return this.#table.all(start).map((entry) => this.#item(entry));
  }

  page(cursor, limit) {
    const after = cursor === undefined ? undefined : this.#table.prefix(cursor);
    const part = this.#table.space.scan(this.#table.prefix(""), after, Math.max(1, limit));
    const items = part.items.map((entry) => this.#item(entry));
    return new Listing(items, part.more ? items.at(-1)?.id : undefined);
  }

  newest(prefix, cursor, limit, keep = () => true) {
    const end = (this.#value(this.#table.space.get(this.#table.last)) ?? 0) + 1;
    let below = cursor === undefined ? end : Math.min(this.#number(prefix, cursor), end);
    let part = NEWEST_PART;
    const items = [];
    while (below > 1) {
      const from = Math.max(below - part, 1);
      const ids = Array.from({ length: below - from }, (_, at) => idWithNumber(prefix, below - 1 - at));
      let rows;
      try {
        rows = this.getMany(ids);
      } catch (failure) {
        // The rows are too large to be read together.
        if (failure.code !== "invalid_params" || part === 1) throw failure;
        part = Math.ceil(part / 8);
        continue;
      }
      for (const [at, value] of rows.entries()) {
        if (value === undefined || !keep(value)) continue;
        if (items.length === Math.max(1, limit)) return new Listing(items, items.at(-1).id);
        items.push({ id: ids[at], value });
      }
      below = from;
    }
    return new Listing(items, undefined);
  }

  #number(prefix, cursor) {
    const number = numberInId(prefix, cursor);
    if (number !== undefined) return number;
    throw Failure.invalidParams(`\`cursor\` is not one: "${cursor}"`, { hint: "Give the `cursor` of the last answer as it is, or none." });
  }
}

/** Many values of one type, each under an id, as JSON. `ttlMs`: time to live from the last write; `space`: `shared` or `caller`. */
export const collection = (name, options) => new Collection(name, options);
