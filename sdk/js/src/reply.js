// Successful results with more than data.

import { NEXT, bytesOf, countOf, fieldsOf, isAbsent, jsonOf, numberOf, optional, textOf } from "./checks.js";

const PAGE = { count: optional(countOf), total: optional(countOf), cursor: optional(textOf) };

function contentOf(what, blocks) {
  if (Array.isArray(blocks) && blocks.every((one) => typeof one?.block?.tag === "string")) return blocks;
  throw new TypeError(`\`${what}\` is a list of what content.text(…), content.image(…) and their neighbours make`);
}

/** Data with a message, a page of a longer list, a suggested next call, or media. Made by `reply`. */
export class Reply {
  constructor(data, more = {}) {
    this.data = data;
    Object.assign(this, replyFacts(more));
  }
}

/** What a reply has beside its data, checked. With few calls inside one another: QuickJS keeps ten lines of a stack, the author's last. */
export const replyFacts = ({ message, page, next, content }) => ({
  message: optional(textOf)("message", message),
  page: isAbsent(page) ? undefined : fieldsOf("page", page, PAGE),
  next: isAbsent(next) ? undefined : fieldsOf("next", next, NEXT),
  content: contentOf("content", content ?? []),
});

/** `more`: `message`, `page` ({ count, total, cursor }), `next` ({ action, params, reason, facade }), `content`. */
export const reply = (data, more) => new Reply(data, more);

const block = (tag, val, { audience, priority, ...extras } = {}) => {
  const annotations = {
    ...(audience === undefined ? {} : { audience: Array.isArray(audience) ? audience : [audience] }),
    ...(priority === undefined ? {} : { priority: Math.min(Math.max(numberOf("priority", priority), 0), 1) }),
  };
  const more = Object.entries(extras).filter(([, value]) => value !== undefined);
  more.forEach(([name, value]) => jsonOf(name, value));
  return { block: { tag, val }, extras: { ...(Object.keys(annotations).length > 0 ? { annotations } : {}), ...Object.fromEntries(more) } };
};

const mediaOf = (data, mimeType) => ({ data: bytesOf("data", data), mimeType: textOf("mimeType", mimeType) });

/** MCP content blocks. The last argument of each: `audience` ("user", "assistant" or both), `priority`, `_meta`. */
export const content = {
  text: (text, more) => block("text", textOf("text", text), more),
  image: (data, mimeType, more) => block("image", mediaOf(data, mimeType), more),
  audio: (data, mimeType, more) => block("audio", mediaOf(data, mimeType), more),
  link: (uri, name, { description, mimeType, ...more } = {}) =>
    block("link", {
      uri: textOf("uri", uri),
      name: textOf("name", name),
      description: optional(textOf)("description", description),
      mimeType: optional(textOf)("mimeType", mimeType),
    }, more),
  resource: (uri, body, { mimeType, ...more } = {}) => {
    const held = typeof body === "string" ? { text: textOf("body", body) } : { blob: bytesOf("body", body) };
    return block("embedded", { uri: textOf("uri", uri), mimeType: optional(textOf)("mimeType", mimeType), ...held }, more);
  },
};
