// A collection within a transaction.

import { encode } from "../utf8.js";
import { idWithNumber } from "./ids.js";
import { put } from "./table.js";

/** `notes.of(tx)`: writes take effect at the end of the transaction. */
export class Rows {
  #table;
  #tx;
  constructor(table, tx) {
    this.#table = table;
    this.#tx = tx;
    tx.takes(table);
  }

  #write(change) {
    this.#tx.write(change);
    this.#tx.write(put(this.#table.changed, new Uint8Array()));
  }

  get(id) {
    const key = this.#table.key(id);
    const bytes = this.#tx.get(key);
    return bytes && this.#table.read(key, bytes);
  }

  require(id) {
    const value = this.get(id);
    if (value === undefined) throw this.#table.missing(id);
    return value;
  }

  contains(id) {
    return this.#tx.get(this.#table.key(id)) !== undefined;
  }

  insert(id, value) {
    if (this.contains(id)) throw this.#table.taken(id);
    this.put(id, value);
  }

  put(id, value) {
    this.#write(this.#table.write(this.#table.key(id), value));
  }

  remove(id) {
    const there = this.contains(id);
    if (there) this.#write({ key: this.#table.key(id), operation: "delete", expect: "any" });
    return there;
  }

  nextId(prefix) {
    const key = this.#table.last;
    const bytes = this.#tx.get(key);
    const number = (bytes ? this.#table.read(key, bytes) : 0) + 1;
    this.#tx.write(put(key, encode(String(number))));
    return idWithNumber(prefix, number);
  }

  create(prefix, make) {
    const id = this.nextId(prefix);
    const value = make(id);
    this.insert(id, value);
    return value;
  }

  update(id, change) {
    const value = this.require(id);
    const changed = change(value) ?? value;
    this.put(id, changed);
    return changed;
  }

  list(start = "") {
    // Read first, so that any later write is a conflict.
    this.#tx.see(this.#table.changed);
    const rows = new Map(this.#table.all(start).map(({ key, value }) => [key, value]));
    for (const { key, operation, value } of this.#tx.written(this.#table.prefix(start))) {
      rows.delete(key);
      if (operation === "put") rows.set(key, value);
    }
    const ordered = [...rows.keys()].sort((one, other) => compare(encode(one), encode(other)));
    return ordered.map((key) => ({ id: this.#table.id(key), value: this.#table.read(key, rows.get(key)) }));
  }
}

function compare(one, other) {
  const at = one.findIndex((byte, place) => byte !== other[place]);
  return at < 0 ? one.length - other.length : one[at] - (other[at] ?? -1);
}
