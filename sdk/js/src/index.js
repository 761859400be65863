// Write a Loggia plugin in JavaScript or TypeScript.

export { Facade, action, defineFacade } from "./facade.js";
export { Failure } from "./failure.js";
export { Call, check, choose, config, confirm, elicit, facades, invoke, invokeAll, log, lookup, requireConfig } from "./host.js";
export { Request, Response, http } from "./http.js";
export { Reply, content, reply } from "./reply.js";
export { any, boolean, choice, integer, list, map, number, object, text } from "./schema.js";
export { cell, collection, counter, idWithNumber, numberInId, space, transaction } from "./state/index.js";
