// The place where the SDK meets its host: WIT imports in a component, `testing.Host` in a test, otherwise none.

import { Failure } from "./failure.js";

const refuse = (name) => () => {
  throw Failure.denied(`access denied: \`${name}\` needs a host`, { hint: "In a test, use `Host` of loggia-sdk/testing." });
};

const noHost = {
  log() {},
  progress() {},
  cancelled: () => false,
  config: () => undefined,
  now: () => Date.now(),
  pause() {},
  isComponent: false,
};
for (const name of ["elicit", "invoke", "check", "facades", "lookup", "stateGet", "stateScan", "stateCommit", "send"]) noHost[name] = refuse(name);

let current = noHost;

/** The host of now. */
export const port = () => current;

/** Sets the host; returns the one before. */
export function usePort(next) {
  const before = current;
  current = next ?? noHost;
  return before;
}
