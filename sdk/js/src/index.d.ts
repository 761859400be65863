/** Write a Loggia plugin in JavaScript or TypeScript. */

export type Effect = "read" | "write" | "destructive";
export type Detail = "minimal" | "standard" | "full";
export type Audience = "user" | "assistant";
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

type Values<F> = { [K in keyof F]: F[K] };
type Simplify<T> = { [K in keyof T]: T[K] };
type OptionalKeys<F> = { [K in keyof F]: undefined extends TypeOf<F[K]> ? K : never }[keyof F];
type FieldsOf<F> = Simplify<{ [K in Exclude<keyof F, OptionalKeys<F>>]: TypeOf<F[K]> } & { [K in OptionalKeys<F>]?: TypeOf<F[K]> | null }>;
/** Parameters: what is optional is `undefined`, never `null`. */
type ParamsOf<F> = Simplify<{ [K in Exclude<keyof F, OptionalKeys<F>>]: TypeOf<F[K]> } & { [K in OptionalKeys<F>]?: TypeOf<F[K]> }>;

/** What zod 4's schemas look like. */
interface JsonSchemaSource {
  toJSONSchema(options?: any): object;
  parse(value: unknown): unknown;
  readonly _output?: unknown;
}
/** Our builders, what makes JSON Schema of itself, or plain JSON Schema. */
export type SchemaSource = SchemaNode<any> | JsonSchemaSource | { readonly [keyword: string]: unknown };
type TypeOf<S> = S extends SchemaNode<infer T> ? T : S extends { readonly _output: infer T } ? T : any;
/** The type of a schema's values. */
export type Infer<S> = TypeOf<S>;

/** One value's schema. Immutable: each method returns another. */
export class SchemaNode<T> {
  private readonly type: T;
  /** Describes the value here. */
  doc(text: string): SchemaNode<T>;
  /** May be left out; in a result, `null`. */
  optional(): SchemaNode<T | undefined>;
  /** The value of what is left out. */
  default(value: Exclude<T, undefined>): SchemaNode<Exclude<T, undefined>>;
  /** The least detail level that shows a field of a result. */
  shown(level: "minimal" | "full"): SchemaNode<T>;
}

interface TextBounds { min?: number; max?: number; pattern?: RegExp | string; format?: string; hint?: string; secret?: boolean; example?: string }
interface NumberBounds { min?: number; max?: number; hint?: string; example?: number }
interface SizeBounds { min?: number; max?: number; hint?: string }

export function text(bounds?: TextBounds): SchemaNode<string>;
export function integer(bounds?: NumberBounds): SchemaNode<number>;
export function number(bounds?: NumberBounds): SchemaNode<number>;
export function boolean(): SchemaNode<boolean>;
export function any(): SchemaNode<any>;
/**
 * One of some texts; as an object, each with its description, which may be empty. `about` describes the type.
 * They are published in this order; of an object's keys, JavaScript puts whole numbers first.
 */
export function choice<const V extends readonly string[]>(values: V, about?: string): SchemaNode<V[number]>;
export function choice<K extends string>(values: Record<K, string>, about?: string): SchemaNode<K>;
export function list<S extends SchemaSource>(item: S, bounds?: SizeBounds): SchemaNode<TypeOf<S>[]>;
/** An object with any keys. */
export function map(): SchemaNode<Record<string, any>>;
export function map<S extends SchemaSource>(item: S, bounds?: SizeBounds): SchemaNode<Record<string, TypeOf<S>>>;
/** An object with these fields. `about` describes the type. */
export function object<F extends Record<string, SchemaSource>>(fields: F, about?: string): SchemaNode<FieldsOf<Values<F>>>;

export interface ActionFacts<P, S> {
  /** One sentence. */
  summary: string;
  /** What else there is to say; describes the parameters as a whole. */
  about?: string;
  /** What it does to the world. The host enforces it. */
  effect: Effect;
  params?: P;
  /** The schema of the result's data. */
  data?: S;
  idempotent?: boolean;
  openWorld?: boolean;
  longRunning?: boolean;
  details?: boolean;
  aliases?: string[];
  /** Grants without which the action is not published. */
  needs?: string[];
  resource?: string | { uri: string; mimeType?: string; items?: string; state?: string };
  view?: string;
  examples?: object[];
  extras?: Record<string, Json>;
}

export interface Action { readonly run: Function }
type Result<T> = T | Reply<T> | Promise<T | Reply<T>>;
/** One action: what it is, and the function that answers it. */
export function action<const P extends Record<string, SchemaSource> = {}, S extends SchemaSource = never>(
  facts: ActionFacts<P, S>,
  run: (params: ParamsOf<P>, call: Call) => Result<[S] extends [never] ? unknown : TypeOf<S>>,
): Action;

export interface FacadeFacts {
  name: string;
  title?: string;
  version?: string;
  summary: string;
  instructions?: string;
  /** The action of a call that names none. */
  default?: string;
  /** Grants, each with the reason. */
  needs?: Record<string, string>;
  wants?: Record<string, string>;
  /** Fragments of HTML that show results to a person. */
  views?: Record<string, string>;
  extras?: Record<string, Json>;
  actions: Record<string, Action>;
}
/** One domain of actions, which clients see as one tool. */
export class Facade {
  constructor(facts: FacadeFacts);
  readonly name: string;
}
export function defineFacade(facts: FacadeFacts): Facade;

/** Context of a call for its action. */
export class Call {
  constructor(facts: { id: string; action: string; detail?: Detail; timeLeftMs?: number; caller?: string; idempotencyKey?: string });
  readonly id: string;
  readonly action: string;
  readonly detail: Detail;
  /** Opaque; only if the policy grants it. */
  readonly caller: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Milliseconds until the host ends the call. */
  timeLeft(): number;
  progress(done: number, total?: number, message?: string): void;
  isCancelled(): boolean;
  /** Ends the action with `cancelled` if the caller has disconnected or cancelled. */
  checkpoint(): void;
}

export interface FailureFacts { hint?: string; details?: unknown; retryAfterMs?: number; next?: Next; expected?: string; example?: unknown }
/** A failed call, with a message that helps the caller to correct it. */
export class Failure extends Error implements FailureFacts {
  constructor(code: string, message: string, more?: FailureFacts);
  code: string;
  hint?: string;
  details?: unknown;
  retryAfterMs?: number;
  next?: Next;
  expected?: string;
  example?: unknown;
  static invalidParams(message: string, more?: FailureFacts): Failure;
  static notFound(message: string, more?: FailureFacts): Failure;
  static denied(message: string, more?: FailureFacts): Failure;
  static conflict(message: string, more?: FailureFacts): Failure;
  static unavailable(message: string, more?: FailureFacts): Failure;
  static timedOut(message: string, more?: FailureFacts): Failure;
  static cancelled(message?: string, more?: FailureFacts): Failure;
  static internal(message: string, more?: FailureFacts): Failure;
  static invalidData(message: string, more?: FailureFacts): Failure;
}

export interface Page { count?: number; total?: number; cursor?: string }
/** The call that should follow; without `facade`, to the plugin's own. */
export interface Next { action: string; params?: object; reason?: string; facade?: string }
export interface Content { readonly block: { tag: string; val: unknown }; readonly extras: object }
export interface ReplyFacts { message?: string; page?: Page; next?: Next; content?: Content[] }
export class Reply<T> implements ReplyFacts {
  constructor(data: T, more?: ReplyFacts);
  data: T;
  message?: string;
  page?: Page;
  next?: Next;
  content: Content[];
}
export function reply<T>(data: T, more?: ReplyFacts): Reply<T>;
interface ContentFacts { audience?: Audience | Audience[]; priority?: number; _meta?: object }
export const content: {
  text(text: string, more?: ContentFacts): Content;
  image(data: Uint8Array, mimeType: string, more?: ContentFacts): Content;
  audio(data: Uint8Array, mimeType: string, more?: ContentFacts): Content;
  link(uri: string, name: string, more?: ContentFacts & { description?: string; mimeType?: string }): Content;
  resource(uri: string, body: string | Uint8Array, more?: ContentFacts & { mimeType?: string }): Content;
};

type Line = (...words: unknown[]) => void;
/** Lines of the host's log. */
export const log: { trace: Line; debug: Line; info: Line; warn: Line; error: Line };
export function config<T = Json>(key: string): T | undefined;
export function config<T>(key: string, otherwise: T): T;
export function requireConfig<T = Json>(key: string): T;
/** Asks the person with a form. A no ends the action, or is `undefined` with `refusal: true`. */
export function elicit<S extends SchemaSource>(message: string, form: S, options?: { name?: string; refusal?: false }): TypeOf<S>;
export function elicit<S extends SchemaSource>(message: string, form: S, options: { name?: string; refusal: true }): TypeOf<S> | undefined;
export function confirm(message: string): boolean;
export function choose<K extends string>(message: string, field: string, choices: Record<K, string>): K | undefined;

export interface PeerRequest { facade: string; action: string; params?: object; detail?: Detail; timeoutMs?: number; idempotencyKey?: string }
export interface Peer { name: string; title: string; summary: string; actions: { name: string; summary: string; effect: Effect; aliases: string[] }[] }
export interface PeerSchema { params: object; data?: unknown; examples: unknown[]; signature?: string; effect?: Effect; confirm: boolean }
export function invoke(request: PeerRequest): Reply<any>;
export function invokeAll(requests: PeerRequest[]): (Reply<any> | Failure)[];
export function check(request: PeerRequest): void;
export function facades(): Peer[];
export function lookup(facade: string, action: string): PeerSchema;

/** A whole response, of any status. */
export class Response {
  constructor(status: number, more?: { headers?: [string, string][]; body?: string | Uint8Array; server?: string });
  static json(status: number, value: unknown): Response;
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
  header(name: string): string | undefined;
  /** Throws the failure that fits a status that is not one of 200 to 299. */
  ok(): this;
  text(): string;
  json<T = any>(): T;
}
export class Request {
  constructor(method: string, url: string);
  readonly method: string;
  readonly url: string;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
  header(name: string, value: string): this;
  path(...parts: string[]): this;
  query(parameters: Record<string, unknown>): this;
  json(value: unknown): this;
  form(parameters: Record<string, unknown>): this;
  bytes(body: string | Uint8Array): this;
  timeout(milliseconds: number): this;
  send(): Response;
}
type Asks = (url: string) => Request;
export const http: { get: Asks; head: Asks; post: Asks; put: Asks; patch: Asks; delete: Asks; sendAll(requests: Request[]): (Response | Failure)[] };

export interface TableOptions { ttlMs?: number; space?: "shared" | "caller" }
export interface Transaction { get(key: string): Uint8Array | undefined }
/** Runs `attempt` as atomic reads and writes; again, if what it read has changed. It must only compute. */
export function transaction<T>(attempt: (tx: Transaction) => T, options?: { space?: "shared" | "caller" }): T;
export interface Item<T> { id: string; value: T }
export interface Rows<T> {
  get(id: string): T | undefined;
  require(id: string): T;
  contains(id: string): boolean;
  insert(id: string, value: T): void;
  put(id: string, value: T): void;
  remove(id: string): boolean;
  nextId(prefix: string): string;
  create(prefix: string, make: (id: string) => T): T;
  update(id: string, change: (value: T) => T | void): T;
  list(start?: string): Item<T>[];
}
export interface Listing<T> {
  items: Item<T>[];
  cursor: string | undefined;
  reply(): Reply<T[]>;
  reply<U>(make: (item: Item<T>) => U): Reply<U[]>;
}
export interface Collection<T> extends Rows<T> {
  of(tx: Transaction): Rows<T>;
  getMany(ids: string[]): (T | undefined)[];
  page(cursor: string | undefined, limit: number): Listing<T>;
  newest(prefix: string, cursor: string | undefined, limit: number, keep?: (value: T) => boolean): Listing<T>;
}
export function collection<T = any>(name: string, options?: TableOptions): Collection<T>;
export interface Slot<T> { get(): T | undefined; set(value: T): void; clear(): void }
export interface Cell<T> extends Slot<T> {
  of(tx: Transaction): Slot<T>;
  update(otherwise: T, change: (value: T) => T | void): T;
}
export function cell<T = any>(name: string, options?: TableOptions): Cell<T>;
export function counter(name: string, options?: TableOptions): { get(): number; next(): number; add(by: number): number };
export interface Entry { key: string; value: Uint8Array; version: number }
export interface Change { key: string; operation: "put" | "delete" | "check"; value?: Uint8Array; untilMs?: number; expect: "any" | "absent" | number }
/** Keys and bytes. */
export function space(name: "shared" | "caller"): {
  get(key: string): Entry | undefined;
  getMany(keys: string[]): (Entry | undefined)[];
  scan(prefix: string, after?: string, limit?: number, at?: number): { items: Entry[]; more: boolean; revision: number };
  commit(changes: Change[]): number;
};
export function idWithNumber(prefix: string, number: number): string;
export function numberInId(prefix: string, id: string): number | undefined;
