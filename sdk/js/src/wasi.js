// Requests through `wasi:http`: some at once, each awaited in turn. In components only.

import { handle } from "wasi:http/outgoing-handler@0.2.12";
import { Fields, OutgoingBody, OutgoingRequest, RequestOptions, httpErrorCode } from "wasi:http/types@0.2.12";

import { u64 } from "./engine.js";
import { Failure } from "./failure.js";
import { Response, parseUrl } from "./http.js";
import { decode, encode } from "./utf8.js";

// As many as the host lets a call have under way.
const AT_ONCE = 6;
const CHUNK = 64 << 10;

// Error codes of `wasi:http`, and what they mean to the caller.
const CAUSES = {
  "HTTP-request-denied": ["denied"],
  "destination-IP-prohibited": ["private"],
  "DNS-timeout": ["timed_out"], "connection-timeout": ["timed_out"], "connection-read-timeout": ["timed_out"],
  "connection-write-timeout": ["timed_out"], "HTTP-response-timeout": ["timed_out"],
  "DNS-error": ["unreachable", "its name is not known"], "destination-not-found": ["unreachable", "its name is not known"],
  "TLS-protocol-error": ["unreachable", "there is no secure connection to it"],
  "TLS-certificate-error": ["unreachable", "there is no secure connection to it"],
  "TLS-alert-received": ["unreachable", "there is no secure connection to it"],
  "connection-refused": ["unreachable", "it refuses the connection"],
  "connection-terminated": ["unreachable", "the connection was aborted"],
  "HTTP-response-incomplete": ["unreachable", "the connection was aborted"],
  "connection-limit-reached": ["unreachable", "this call has sent all the requests that `limits.http-requests` lets it send"],
  "HTTP-request-body-size": ["too_large", "request"],
  "HTTP-response-body-size": ["too_large", "response"], "HTTP-response-header-section-size": ["too_large", "response"],
  "HTTP-response-header-size": ["too_large", "response"],
  "HTTP-request-method-invalid": ["invalid", "its method, its URL or a header is not valid"],
  "HTTP-request-URI-invalid": ["invalid", "its method, its URL or a header is not valid"],
  "HTTP-request-URI-too-long": ["invalid", "its method, its URL or a header is not valid"],
  "HTTP-request-header-section-size": ["invalid", "its method, its URL or a header is not valid"],
  "HTTP-request-header-size": ["invalid", "its method, its URL or a header is not valid"],
};

export function sendAll(requests) {
  const answers = [];
  for (let at = 0; at < requests.length; at += AT_ONCE) {
    const begun = requests.slice(at, at + AT_ONCE).map((request) => guarded(() => begin(request)));
    answers.push(...begun.map((one) => (one instanceof Failure ? one : guarded(() => finish(one)))));
  }
  return answers;
}

function guarded(step) {
  try {
    return step();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

// Handles go in order, the inner ones first: one that is left to the collector may go after its parent, which is a trap.
const drop = (handle) => handle[Symbol.dispose]?.();

function begin(request) {
  const url = parseUrl(request.url);
  const invalid = (why) => failure(["invalid", why], request, url);
  const fields = new Fields();
  for (const [name, value] of request.headers) {
    tried(() => fields.append(name, encode(value)), () => invalid(`the header \`${name}\` is not valid, or not the plugin's to set`));
  }
  const length = request.body.length;
  // Without it the body would go in chunks, which some servers do not take.
  if (length > 0) fields.set("content-length", [encode(String(length))]);
  const outgoing = new OutgoingRequest(fields);
  const known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].includes(request.method);
  tried(() => {
    outgoing.setMethod(known ? { tag: request.method.toLowerCase() } : { tag: "other", val: request.method });
    outgoing.setScheme({ tag: url.https ? "HTTPS" : "HTTP" });
    outgoing.setAuthority(url.authority);
    outgoing.setPathWithQuery(url.path);
  }, () => invalid("its method or its URL is not valid"));
  const body = length > 0 ? outgoing.body() : undefined;
  const future = tried(() => handle(outgoing, options(request.timeoutMs)), (code) => failed(code, request, url));
  if (body) write(body, request.body);
  return { request, url, future };
}

function write(body, bytes) {
  const stream = body.write();
  try {
    for (let at = 0; at < bytes.length; at += 4096) stream.blockingWriteAndFlush(bytes.slice(at, at + 4096));
    drop(stream);
    OutgoingBody.finish(body, undefined);
  } catch {
    // The host rejects the rest; the response has the reason.
    drop(stream);
    drop(body);
  }
}

function options(timeoutMs) {
  if (timeoutMs === undefined) return undefined;
  const made = new RequestOptions();
  for (const name of ["setConnectTimeout", "setFirstByteTimeout", "setBetweenBytesTimeout"]) {
    try {
      made[name](u64(Math.round(timeoutMs * 1e6)));
    } catch {
      // The host has a limit of its own.
    }
  }
  return made;
}

function finish({ request, url, future }) {
  const ready = future.subscribe();
  ready.block();
  drop(ready);
  const answer = future.get()?.val;
  if (answer?.tag !== "ok") throw failed(answer?.val, request, url);
  const incoming = answer.val;
  const status = incoming.status();
  const fields = incoming.headers();
  const headers = fields.entries().map(([name, value]) => [name.toLowerCase(), text(value)]);
  drop(fields);
  const body = incoming.consume();
  const stream = body.stream();
  try {
    return new Response(status, { headers, body: read(stream, request, url), server: url.authority });
  } finally {
    [stream, body, incoming, future].forEach(drop);
  }
}

function text(bytes) {
  try {
    return decode(bytes);
  } catch {
    return String.fromCharCode(...bytes);
  }
}

function read(stream, request, url) {
  const chunks = [];
  for (;;) {
    let trouble;
    try {
      chunks.push(stream.blockingRead(u64(CHUNK)));
      continue;
    } catch (error) {
      trouble = error?.payload ?? error;
    }
    if (trouble?.tag === "closed") break;
    const code = trouble?.tag === "last-operation-failed" ? httpErrorCode(trouble.val) : undefined;
    throw failed(code ?? { tag: "HTTP-response-incomplete" }, request, url);
  }
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function tried(step, toFailure) {
  try {
    return step();
  } catch (error) {
    throw toFailure(error?.payload ?? error);
  }
}

function failed(code, request, url) {
  if (code?.tag === "internal-error" && code.val) return failure(["unreachable", code.val], request, url);
  return failure(CAUSES[code?.tag] ?? ["unreachable", "it does not answer as a server should"], request, url);
}

/** A refusal has no hint: the host knows the rule, and adds its own. */
function failure([cause, why], { method }, { authority }) {
  switch (cause) {
    case "denied":
      return Failure.denied(`access denied: ${method} to ${authority} is refused by the policy`);
    case "private":
      return Failure.denied(`access denied: ${authority} resolves to an address that is not public`);
    case "timed_out":
      return Failure.timedOut(`timed out: ${authority} took too long`);
    case "too_large":
      return Failure.unavailable(`too large: the ${why} (${authority})`);
    case "invalid":
      return Failure.invalidParams(`not a request that can be sent: ${why}`);
    default:
      return Failure.unavailable(`${authority} cannot be reached: ${why}`);
  }
}
