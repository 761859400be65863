declare const console: { log(...words: unknown[]): void };
declare module "wasi:io/poll@0.2.12" {
  export function poll(pollables: object[]): Uint32Array;
}
