/** A failed call, with a message that helps the caller to correct it. Throw it in an action. */
export class Failure extends Error {
  /** `more`: `hint`, `details`, `retryAfterMs`, `next`; of other facades' failures also `expected` and `example`. */
  constructor(code, message, more = {}) {
    super(message);
    this.name = "Failure";
    this.code = code;
    Object.assign(this, more);
  }
}

// `invalid_data` is the SDKs' own: malformed UTF-8 or JSON. The host passes it on.
for (const code of ["invalid_params", "not_found", "denied", "conflict", "unavailable", "timed_out", "internal", "invalid_data"]) {
  const name = code.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  Failure[name] = (message, more) => new Failure(code, message, more);
}
Failure.cancelled = (message = "cancelled", more) => new Failure("cancelled", message, more);
