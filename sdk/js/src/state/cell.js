// One value, and a number that only goes up.

import { countOf } from "../checks.js";
import { Table } from "./table.js";
import { transaction } from "./transaction.js";

class Cell {
  #table;
  constructor(name, options) {
    this.#table = new Table(name, options);
  }

  of(tx) {
    tx.takes(this.#table);
    const table = this.#table;
    return {
      get() {
        const bytes = tx.get(table.name);
        return bytes && table.read(table.name, bytes);
      },
      set: (value) => tx.write(table.write(table.name, value)),
      clear: () => tx.write({ key: table.name, operation: "delete", expect: "any" }),
    };
  }

  get() {
    const entry = this.#table.space.get(this.#table.name);
    return entry && this.#table.read(entry.key, entry.value);
  }

  set(value) {
    this.#table.space.commit([this.#table.write(this.#table.name, value)]);
  }

  clear() {
    this.#table.space.commit([{ key: this.#table.name, operation: "delete", expect: "any" }]);
  }

  update(otherwise, change) {
    return transaction((tx) => {
      const slot = this.of(tx);
      const value = slot.get() ?? otherwise;
      const changed = change(value) ?? value;
      slot.set(changed);
      return changed;
    }, { space: this.#table.where });
  }
}

/** One value: settings, a cursor, the last item seen. */
export const cell = (name, options) => new Cell(name, options);
/** A number that starts at 0 and only increases. */
export const counter = (name, options) => {
  const kept = new Cell(name, options);
  const add = (by) => {
    const more = countOf("by", by);
    return kept.update(0, (number) => number + more);
  };
  return { get: () => kept.get() ?? 0, add, next: () => add(1) };
};
