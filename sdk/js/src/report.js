// Errors and other values, as the log shows them.

import { stackOf } from "./lines.js";

// The most causes of an error. A cause may be its own.
const CAUSES = 4;

/** A value on a line. */
export function shown(value) {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** The sentence of what was thrown. */
export const sentenceOf = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${shown(error)}`);

/** What was thrown, with its stack and those of its causes. */
export function report(error, causes = CAUSES) {
  const own = typeof error?.stack === "string" ? `${sentenceOf(error)}\n${stackOf(error)}` : sentenceOf(error);
  const cause = error?.cause;
  if (cause === undefined || cause === null) return own;
  return causes > 0 ? `${own}\ncaused by: ${report(cause, causes - 1)}` : `${own}\ncaused by: …`;
}
