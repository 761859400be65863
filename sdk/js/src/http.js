// Requests over HTTP, sent by the host. The policy grants destinations: `http = ["https://api.example.com"]`.

import { textOf } from "./checks.js";
import { Failure } from "./failure.js";
import { port } from "./port.js";
import { decode, encode, jsonText, wellFormed } from "./utf8.js";

// Maximum part of a body in a failure, in characters.
const SHOWN = 500;
const CODES = {
  400: "invalid_params", 413: "invalid_params", 414: "invalid_params", 422: "invalid_params",
  401: "denied", 403: "denied", 407: "denied", 451: "denied",
  404: "not_found", 410: "not_found", 408: "timed_out", 504: "timed_out",
  409: "conflict", 412: "conflict", 423: "conflict", 428: "conflict", 429: "unavailable",
};
const SENTENCES = { denied: "access denied", not_found: "not found", timed_out: "timed out", unavailable: "not available now" };

/** `{ https, authority, path }` of a URL. Throws `invalid_params`, without the URL itself, which may contain secrets. */
export function parseUrl(url) {
  const unasked = (why) => Failure.invalidParams(`not a URL that can be asked: ${why}`);
  const at = url.indexOf("://");
  if (at < 0) throw unasked("it begins with no https://");
  const scheme = url.slice(0, at).toLowerCase();
  if (scheme !== "https" && scheme !== "http") throw unasked("it is neither https nor http");
  const [, authority, rest] = /^([^/?]*)(.*)$/s.exec(url.slice(at + 3).split("#")[0]);
  if (!authority) throw unasked("it names no host");
  if (authority.includes("@")) throw unasked("it holds a user or a password: use a header, or the policy's `secrets`");
  if (/[\x00-\x20\x7f\\]/.test(authority + rest) || /[^\x00-\x7f]/.test(authority)) {
    throw unasked("it holds a space, a control character or a backslash: write %20 for a space");
  }
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  return { https: scheme === "https", authority, path: wellFormed(path).replace(/[^\x00-\x7f]+/g, encodeURIComponent) };
}

const escape = (text) => encodeURIComponent(wellFormed(String(text))).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
const pairs = (parameters) =>
  Object.entries(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined && one !== null).map((one) => `${escape(name)}=${escape(one)}`));

/** A whole response, of any status. */
export class Response {
  constructor(status, { headers = [], body = new Uint8Array(), server = "the server" } = {}) {
    Object.assign(this, { status, headers, body: typeof body === "string" ? encode(body) : body, server });
  }

  /** A response with JSON, for tests. */
  static json(status, value) {
    return new Response(status, { headers: [["content-type", "application/json"]], body: jsonText(value) });
  }

  /** The first header of that name. */
  header(name) {
    return this.headers.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1];
  }

  /** The response, if its status is one of 200 to 299; otherwise throws the failure that fits the status. */
  ok() {
    const { status, server } = this;
    if (status >= 200 && status < 300) return this;
    const code = CODES[status] ?? (status >= 500 ? "unavailable" : "internal");
    const sentence = SENTENCES[code] ?? (status >= 300 && status < 400 ? "redirected" : "refused");
    let body = "";
    try {
      body = wellFormed(decode(this.body).trim().slice(0, SHOWN));
    } catch {
      // No text.
    }
    const wait = code === "unavailable" ? (this.header("retry-after") ?? "").trim() : "";
    throw new Failure(code, `${sentence}: ${server} answered ${status}`, {
      details: { status, ...(body ? { body } : {}) },
      ...(/^\d{1,9}$/.test(wait) ? { retryAfterMs: Number(wait) * 1000 } : {}),
    });
  }

  /** The body as text. Throws `invalid_data` if it is not UTF-8. */
  text() {
    try {
      return decode(this.body);
    } catch {
      throw Failure.invalidData(`${this.server} answered something unexpected: no UTF-8`);
    }
  }

  /** The body as JSON. Call `ok` first. Throws `invalid_data`. */
  json() {
    const text = this.text();
    try {
      return JSON.parse(text);
    } catch (error) {
      throw Failure.invalidData(`${this.server} answered something unexpected: ${error.message}`);
    }
  }
}

/** A request, made by `http.get` and its neighbours, sent by `send`. */
export class Request {
  constructor(method, url) {
    Object.assign(this, { method: textOf("method", method), url: textOf("url", url), headers: [], body: new Uint8Array(), timeoutMs: undefined });
  }

  /** Adds a header. A secret does not belong here: the policy binds it to a host, and the host adds it. */
  header(name, value) {
    this.headers.push([textOf("name", name), textOf(name, value)]);
    return this;
  }

  /** Adds segments to the URL's path, escaped, so that a caller's input cannot become another path. Before `query`. */
  path(...parts) {
    for (const part of parts) {
      if (["", ".", ".."].includes(part)) throw Failure.invalidParams(`\`${part}\` cannot be a part of a URL's path`);
      this.url += (this.url.endsWith("/") ? "" : "/") + escape(part);
    }
    return this;
  }

  /** Adds parameters to the URL, escaped; a list adds one for each item, `undefined` none. */
  query(parameters) {
    // The fragment is not sent, and would hide the query.
    this.url = this.url.split("#")[0];
    for (const pair of pairs(parameters)) this.url += (this.url.includes("?") ? "&" : "?") + pair;
    return this;
  }

  #typed(mime, text) {
    this.body = encode(text);
    if (!this.headers.some(([name]) => name.toLowerCase() === "content-type")) this.headers.push(["content-type", mime]);
    return this;
  }

  /** Sends a value as JSON. */
  json(value) {
    return this.#typed("application/json", jsonText(value));
  }

  /** Sends parameters as a form. */
  form(parameters) {
    return this.#typed("application/x-www-form-urlencoded", pairs(parameters).join("&"));
  }

  /** Sets a body of text or bytes. Set its type with `header`. */
  bytes(body) {
    this.body = typeof body === "string" ? encode(body) : body;
    return this;
  }

  /** Sets the timeout, in milliseconds; the host has a limit of its own. */
  timeout(milliseconds) {
    this.timeoutMs = milliseconds;
    return this;
  }

  /** Sends it, and waits for the whole response. Throws `denied`, `timed_out`, `unavailable`, `invalid_params`. */
  send() {
    const [answer] = http.sendAll([this]);
    if (answer instanceof Failure) throw answer;
    return answer;
  }
}

export const http = {
  get: (url) => new Request("GET", url),
  head: (url) => new Request("HEAD", url),
  post: (url) => new Request("POST", url),
  put: (url) => new Request("PUT", url),
  patch: (url) => new Request("PATCH", url),
  delete: (url) => new Request("DELETE", url),
  /** Sends requests at once; responses or failures, in their order. */
  sendAll: (requests) => port().send(requests),
};
