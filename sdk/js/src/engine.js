// What the two engines do differently.

/** Whether this is QuickJS; otherwise it is StarlingMonkey, which is SpiderMonkey with the web's own functions. */
export const isQuickJs = "__cqjs" in globalThis;

/** A 64-bit number, as the engine passes it to its host. */
export const u64 = isQuickJs ? (number) => number : (number) => BigInt(number);
