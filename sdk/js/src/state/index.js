// Persistent state: stored by the host, for this plugin only, laid out as by the Rust and Python SDKs. The policy grants it: `store = true`.

export { cell, counter } from "./cell.js";
export { collection } from "./collection.js";
export { idWithNumber, numberInId } from "./ids.js";
export { space } from "./table.js";
export { transaction } from "./transaction.js";
