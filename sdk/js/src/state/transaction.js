// Atomic reads and writes.

import { Failure } from "../failure.js";
import { ATTEMPTS, pause, space } from "./table.js";

/** Access to the state for the function of a `transaction`: `notes.of(tx).get(id)`. Reads are cached, writes are made at the end. */
class Transaction {
  #keys = new Map();
  constructor(where) {
    this.where = where;
    this.space = space(where);
  }

  #touch(key) {
    if (!this.#keys.has(key)) this.#keys.set(key, {});
    return this.#keys.get(key);
  }

  get(key) {
    const { change } = this.#touch(key);
    if (change) return change.operation === "put" ? change.value : undefined;
    return this.see(key)?.value;
  }

  see(key) {
    const touched = this.#touch(key);
    if (!("seen" in touched)) touched.seen = this.space.get(key);
    return touched.seen;
  }

  write(change) {
    this.#touch(change.key).change = change;
  }

  written(prefix) {
    return [...this.#keys].filter(([key, { change }]) => change && key.startsWith(prefix)).map(([, { change }]) => change);
  }

  takes({ name, where }) {
    if (where === this.where) return;
    const called = (one) => (one === "shared" ? "shared" : "caller's");
    throw Failure.internal(`\`${name}\` is in the ${called(where)} space, but the transaction is in the ${called(this.where)}: each space has its own`);
  }

  /** Commits all writes if the reads still hold; whether they did. */
  commit() {
    const touched = [...this.#keys].filter(([, one]) => one.change || "seen" in one);
    if (!touched.some(([, { change }]) => change)) return this.check();
    const changes = touched.map(([key, one]) => ({
      ...(one.change ?? { key, operation: "check", expect: "any" }),
      ...("seen" in one ? { expect: one.seen ? one.seen.version : "absent" } : {}),
    }));
    try {
      this.space.commit(changes);
      return true;
    } catch (failure) {
      if (failure.code === "conflict") return false;
      if (failure.code === "invalid_params") failure.hint ??= "That is too much for one call: give less at once.";
      throw failure;
    }
  }

  /** Tests whether the reads still hold, without a commit, which a `read` action cannot make. */
  check() {
    const seen = [...this.#keys].filter(([, one]) => "seen" in one);
    if (seen.length < 2) return true;
    const now = this.space.getMany(seen.map(([key]) => key));
    return seen.every(([, one], at) => one.seen?.version === now[at]?.version);
  }
}

/**
 * Runs `attempt(tx)` as atomic reads and writes. If anything that it read has changed at its end, it runs again, up to 50 times: it must
 * only compute. Throws its error, if its reads hold; `conflict` if concurrent changes persist.
 */
export function transaction(attempt, { space: where = "shared" } = {}) {
  for (let number = 1; number <= ATTEMPTS; number++) {
    const tx = new Transaction(where);
    let value;
    let error;
    try {
      value = attempt(tx);
    } catch (thrown) {
      error = thrown ?? new Error("nothing was thrown");
    }
    if (error && holds(tx)) throw error;
    if (!error && tx.commit()) return value;
    if (number < ATTEMPTS) pause(number);
  }
  throw Failure.conflict("too many concurrent changes", { hint: "Nothing was written: try again in a moment." });
}

function holds(tx) {
  try {
    return tx.check();
  } catch {
    return true;
  }
}
