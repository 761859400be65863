declare const console: { log(...words: unknown[]): void };
