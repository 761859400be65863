import { NEXT, fieldsOf, jsonOf, millisecondsOf, optional, textOf } from "./checks.js";

const nextOf = (what, next) => fieldsOf(what, next, NEXT);
const FACTS = { code: textOf, message: textOf, hint: optional(textOf), retryAfterMs: optional(millisecondsOf), next: optional(nextOf) };

/** A failed call, with a message that helps the caller to correct it. Throw it in an action. */
export class Failure extends Error {
  /** `more`: `hint`, `details`, `retryAfterMs`, `next`; of other facades' failures also `expected` and `example`. */
  constructor(code, message = "", more) {
    super(textOf("message", message));
    this.name = "Failure";
    this.code = code;
    Object.assign(this, more);
    checkFailure(this);
  }
}

/** Checks the facts of a failure, which may have changed since it was made. */
export function checkFailure(failure) {
  for (const [name, check] of Object.entries(FACTS)) {
    const checked = check(name, failure[name]);
    // What is as it should be may be frozen.
    if (checked !== failure[name]) failure[name] = checked;
  }
  for (const name of ["details", "example", "expected"]) {
    if (failure[name] !== undefined) jsonOf(name, failure[name]);
  }
}

// `invalid_data` is the SDKs' own: malformed UTF-8 or JSON. The host passes it on.
for (const code of ["invalid_params", "not_found", "denied", "conflict", "unavailable", "timed_out", "internal", "invalid_data"]) {
  const name = code.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  Failure[name] = (message, more) => new Failure(code, message, more);
}
Failure.cancelled = (message = "cancelled", more) => new Failure("cancelled", message, more);
