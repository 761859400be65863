// What QuickJS lacks of what libraries expect: a console, text codecs, and randomness that differs from call to call.

import { getRandomBytes } from "wasi:random/random@0.2.12";

import { isQuickJs, u64 } from "./engine.js";
import { log } from "./host.js";
import { decode, encode } from "./utf8.js";

if (isQuickJs) {
  const { trace, debug, info, warn, error } = log;
  globalThis.console ??= { trace, debug, log: info, info, warn, error };
  globalThis.TextEncoder ??= class TextEncoder {
    encoding = "utf-8";
    encode(text = "") {
      return encode(String(text));
    }
  };
  globalThis.TextDecoder ??= class TextDecoder {
    encoding = "utf-8";
    decode(bytes = new Uint8Array()) {
      return decode(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes.buffer ?? bytes));
    }
  };
  // The engine's own generator was seeded while the component was built: each call would see the same numbers.
  let pool = new Uint32Array();
  let at = 0;
  Math.random = () => {
    if (at + 2 > pool.length) {
      pool = new Uint32Array(Uint8Array.from(getRandomBytes(u64(256))).buffer);
      at = 0;
    }
    const high = pool[at++] >>> 6;
    return (high * 2 ** 27 + (pool[at++] >>> 5)) / 2 ** 53;
  };
}
