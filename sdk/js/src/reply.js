// Successful results with more than data.

/** Data with a message, a page of a longer list, a suggested next call, or media. Made by `reply`. */
export class Reply {
  constructor(data, more = {}) {
    this.data = data;
    this.message = more.message;
    this.page = more.page;
    this.next = more.next;
    this.content = more.content ?? [];
  }
}

/** `more`: `message`, `page` ({ count, total, cursor }), `next` ({ action, params, reason, facade }), `content`. */
export const reply = (data, more) => new Reply(data, more);

const block = (tag, val, { audience, priority, ...extras } = {}) => {
  const annotations = {
    ...(audience === undefined ? {} : { audience: Array.isArray(audience) ? audience : [audience] }),
    ...(priority === undefined ? {} : { priority: Math.min(Math.max(priority, 0), 1) }),
  };
  return { block: { tag, val }, extras: Object.keys(annotations).length > 0 ? { annotations, ...extras } : extras };
};

/** MCP content blocks. The last argument of each: `audience` ("user", "assistant" or both), `priority`, `_meta`. */
export const content = {
  text: (text, more) => block("text", text, more),
  image: (data, mimeType, more) => block("image", { data, mimeType }, more),
  audio: (data, mimeType, more) => block("audio", { data, mimeType }, more),
  link: (uri, name, { description, mimeType, ...more } = {}) => block("link", { uri, name, description, mimeType }, more),
  resource: (uri, body, { mimeType, ...more } = {}) =>
    block("embedded", typeof body === "string" ? { uri, mimeType, text: body } : { uri, mimeType, blob: body }, more),
};
