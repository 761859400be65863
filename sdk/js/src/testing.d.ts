/** Calls a facade in a unit test, without a component. */

import type { Detail, Facade, Failure, PeerRequest, Reply, Request, Response } from "./index.js";

/** State in memory, by the rules of the real one. */
export class Store {
  /** So many commits fail with a conflict. */
  conflicts: number;
  /** Moves the clock: what expires until then is gone. */
  advance(milliseconds: number): void;
}

export interface HostFacts {
  store?: true | Store;
  config?: Record<string, unknown>;
  /** The person's answers, in turn. */
  person?: (object | "declined" | "cancelled")[];
  http?: (request: Request) => Response | Failure;
  peers?: (request: PeerRequest) => Reply<unknown> | Failure;
  caller?: string;
  detail?: Detail;
}

/** A host for one test: what it is given, it grants; what the plugin does, it keeps. */
export class Host {
  constructor(given?: HostFacts);
  readonly logs: [level: string, message: string][];
  readonly progress: [done: number, total?: number, message?: string][];
  readonly questions: { message: string; form: object }[];
  readonly requests: Request[];
  call(facade: Facade, action: string, params?: object): Reply<any>;
  run<T>(act: () => T): T;
}

/** What the facade publishes, for a snapshot. */
export function describe(facade: Facade): any;
