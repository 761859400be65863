// Text to bytes and back: QuickJS has no TextEncoder. And text as the host takes it: it has no lone surrogates, which a text that is cut
// between the halves of a letter has in JavaScript.

/** A text with U+FFFD for each lone surrogate. */
export const wellFormed = String.prototype.toWellFormed
  ? (text) => text.toWellFormed()
  : (text) => text.replace(/[\ud800-\udfff]/gu, "\ufffd");

// An escaped pair, which only `JSON.rawJSON` writes; an escaped lone surrogate; any other escape, so that `\\ud800` is none.
const ESCAPES = /\\(?:ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|(ud[89a-f][\da-f]{2})|[^])/gi;

/** Like `JSON.stringify`, with U+FFFD for each lone surrogate: it writes them as escapes, which no parser of UTF-8 takes. */
export function jsonText(value) {
  const text = JSON.stringify(value);
  if (!text || !text.includes("\\ud")) return text;
  return text.replace(ESCAPES, (whole, lone) => (lone ? "\ufffd" : whole));
}

/** UTF-8 of a text. Lone surrogates become U+FFFD, as in TextEncoder. */
export function encode(text) {
  const bytes = [];
  for (const letter of text) {
    let code = letter.codePointAt(0);
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return Uint8Array.from(bytes);
}

/** The text of UTF-8. Throws a TypeError for other bytes. */
export function decode(bytes) {
  const parts = [];
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
    let code = more === 0 ? first : first & (0x3f >> more);
    if (more < 0 || at + more >= bytes.length) throw new TypeError("no UTF-8");
    for (let next = 1; next <= more; next++) {
      const byte = bytes[at + next];
      if ((byte & 0xc0) !== 0x80) throw new TypeError("no UTF-8");
      code = (code << 6) | (byte & 0x3f);
    }
    const least = [0, 0x80, 0x800, 0x10000][more];
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new TypeError("no UTF-8");
    text += String.fromCodePoint(code);
    at += more + 1;
    // Long texts in pieces: a rope of single letters is slow to flatten.
    if (text.length > 4096) {
      parts.push(text);
      text = "";
    }
  }
  return parts.join("") + text;
}
