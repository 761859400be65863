// Programs that misbehave. A heading is `//# name -> code: text`: the failure's code, and a part of its message; `ok` is a
// program that ends well, and the text a part of its result. A heading `//! …` is a case for the real host, whose limits end it.

//# endless loop -> timed_out: took more than
for (;;) {}

//# endless loop after a call -> timed_out: after its latest call (line 1
await memories.list();
let i = 0;
while (true) { i++ }

//# endless generator -> timed_out: took more than
function* all() { for (let i = 0; ; i++) yield i }
let sum = 0;
for (const i of all()) sum += i;

//! endless asynchronous iterator -> internal: panicked
async function* all() { for (let i = 0; ; i++) yield i }
for await (const i of all()) {}

//! endless microtasks -> internal: memory
const again = () => Promise.resolve().then(again);
await again();

//# thenable that resolves to itself -> timed_out: took more than
const t = { then(resolve) { resolve(t) } };
await t;

//# loop that catches everything -> timed_out: took more than
for (;;) { try { for (;;) {} } catch {} finally { continue } }

//# loop in a getter of an argument -> timed_out: took more than
await memories.add({ get title() { for (;;) {} } });

//# loop in toJSON of an argument -> timed_out: took more than
await memories.add({ title: { toJSON() { for (;;) {} } } });

//# loop in a trap of an argument -> timed_out: took more than
await memories.add(new Proxy({}, { ownKeys() { for (;;) {} } }));

//# loop in a getter of the result -> timed_out: took more than
return { get a() { for (;;) {} } };

//# loop in a getter of a thrown error -> failed: threw an object
throw { get message() { for (;;) {} } };

//# recursion -> failed: too much recursion
function f() { return f() + 1 }
return f();

//# recursion through a native function -> failed: too much recursion
const f = n => [n].map(f);
f(0);

//# recursion through a getter -> failed: too much recursion
const o = { get a() { return this.a } };
return o.a;

//# recursion through sort -> failed: too much recursion
const f = () => [2, 1].sort(f);
f();

//# recursion through a reviver -> failed: too much recursion
const f = () => JSON.parse("[1]", f);
f();

//# recursion through replace -> failed: too much recursion
const f = () => "a".replace(/a/, f);
f();

//# recursion through a proxy -> failed: too much recursion
const p = new Proxy({}, { get: (_, key, self) => self[key] });
return p.x;

//# recursion through construct -> failed: too much recursion
class A { constructor() { Reflect.construct(A, []) } }
new A();

//# recursion through toJSON -> failed: too much recursion
const o = { toJSON() { return JSON.stringify(o) } };
return JSON.stringify(o);

//# recursion through an iterator -> failed: too much recursion
const o = { [Symbol.iterator]() { return [...o] } };
return [...o];

//# recursion of asynchronous functions -> failed: recursion
const f = async () => { await f() };
await f();

//# million calls -> failed: a program may make 1000 calls
for (let i = 0; i < 1e6; i++) await memories.list();

//# million calls at once -> failed: a program may make 1000 calls
await Promise.all(Array.from({ length: 1500 }, () => memories.list()));

//# calls over the limit, caught -> failed: and this one went on
for (;;) { try { await memories.list() } catch {} }

//# calls in a promise that nothing awaits -> failed: not awaited
for (let i = 0; i < 1500; i++) memories.list();

//# promise that nothing settles -> failed: nothing settles
await new Promise(() => {});

//# wait without an end -> failed: nothing settles
await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9).value;

//# timers -> failed: there are no timers
await new Promise(done => setTimeout(done, 1e9));

//# eval -> failed: code cannot be made from text
const [found] = await memories.list();
return eval(found.title);

//# constructor of functions -> failed: code cannot be made from text
return [].constructor.constructor("return globalThis")();

//# constructor of asynchronous functions -> failed: code cannot be made from text
return (async () => {}).constructor("return 1")();

//# import -> invalid_params: `import` is not supported
const fs = await import("fs");

//# with -> invalid_params: syntax error
with (memories) { list() }

//# program that leaves its function -> invalid_params: closes more than
}); throw 1; (async () => {

//# program that continues its call -> invalid_params: closes more than
})(async () => {

//# program with a comma -> invalid_params: closes more than
})(), (async () => {

//# result that contains itself -> failed: contains itself
const a = {};
a.a = a;
return a;

//# result that is too deep -> failed: nested more than
let o = {};
for (let i = 0; i < 5000; i++) o = { o };
return o;

//# result that is too large -> failed: bytes of JSON
const text = "x".repeat(1e6);
return Array.from({ length: 10 }, () => text);

//# result with a big integer -> failed: is a BigInt
return { n: 10n ** 20n };

//# result with a promise -> failed: is a promise
return { list: memories.list() };

//# result that is a function -> failed: returned a function
return () => 1;

//# result of a symbol -> ok: null
return { [Symbol("a")]: 1, b: Symbol("c"), f() {} }.b;

//# thrown text -> failed: the program threw "no"
throw "no";

//# thrown undefined -> failed: the program threw undefined
throw undefined;

//# thrown error with a hostile name -> failed: the program threw
throw Object.assign(new Error("x"), { name: { toString() { throw 1 } }, message: 5 });

//# large console -> ok: 16 KiB
for (let i = 0; i < 400; i++) console.log("line", i, "x".repeat(100));

//# console of a hostile object -> ok: [no]
console.log({ get a() { throw new Error("no") } });

//# pollution of Object -> ok: "m_0001"
Object.prototype.title = "polluted";
Object.prototype.then = undefined;
Object.keys = () => { throw 1 };
Array.isArray = () => true;
return (await memories.list())[0].id;

//# pollution of Promise -> ok: "m_0001"
Promise.prototype.then = () => { throw 1 };
Promise.resolve = () => 1;
Array.prototype.map = Array.prototype[Symbol.iterator] = () => { throw 1 };
return (await memories.list())[0].id;

//# pollution of JSON -> ok: "m_0001"
JSON.stringify = () => "[]";
JSON.parse = () => [];
Error.prototype.toString = Function.prototype.call = Function.prototype.apply = () => { throw 1 };
return (await memories.list())[0].id;

//# facade that is changed -> failed: TypeError
memories.list = () => "mine";

//# action that is changed -> failed: TypeError
memories.list.full = () => "mine";

//# facade that is redefined -> failed: TypeError
Object.defineProperty(memories, "list", { value: () => "mine" });

//# facade that is replaced -> failed: TypeError
globalThis.memories = 1;

//# prototype of a failure -> failed: TypeError
CallError.prototype.code = "mine";

//# member named proto -> ok: true
const given = JSON.parse('{"__proto__": {"admin": true}}');
return given.admin === undefined && Object.keys(given)[0] === "__proto__";

//# argument that changes while it is read -> ok: "m_0001"
let times = 0;
const args = { get limit() { return times++ === 0 ? 1 : "many" } };
return (await memories.list(args))[0].id;

//# arguments that are no object -> failed: an action takes one object
await memories.list("tea", 5);

//# argument with a symbol key -> ok: "m_0001"
return (await memories.list({ [Symbol("x")]: 1, limit: 1 }))[0].id;

//# escaped name -> ok: "m_0001"
return (await m\u0065mories.list())[0].id;

//# labels -> ok: 3
let n = 0;
outer: for (;;) { inner: for (;;) { if (++n < 3) continue outer; break outer } }
return n;

//# weak references -> ok: "object"
const registry = new FinalizationRegistry(() => { throw 1 });
for (let i = 0; i < 1000; i++) registry.register({}, i);
return typeof new WeakRef({});

//# regular expression that is too deep -> failed: SyntaxError
return new RegExp("(".repeat(5000) + ")".repeat(5000));

//# brackets that are too deep -> invalid_params: nested more than
return ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

//# deep JSON -> failed: recursion limit
JSON.parse("[".repeat(1e5) + "]".repeat(1e5));

//# buffer that is too large -> failed: RangeError
return new ArrayBuffer(1e9).byteLength;

//! text that is too large -> internal: panicked
return "x".repeat(2 ** 30);

//! regular expression that backtracks -> timed_out: CPU time
return /^(a+)+$/.test("a".repeat(40) + "b");

//! hoard of objects -> internal: memory
const all = [];
for (;;) all.push({ at: all.length });

//! hoard of texts -> internal: memory
let text = "x";
for (;;) text += text;

//! hoard of buffers -> failed: RangeError
const all = [];
for (;;) all.push(new Uint8Array(1e6));

//! hoard of promises -> internal: memory
const all = [];
for (;;) all.push(new Promise(() => {}));

//! chain of promises -> internal: memory
let p = Promise.resolve(1);
for (;;) p = p.then(x => x + 1);

//! chain of proxies -> internal: stack
let p = {};
for (let i = 0; i < 1e5; i++) p = new Proxy(p, {});
return p.x;

//! chain of prototypes -> internal: stack
let o = null;
for (let i = 0; i < 1e5; i++) o = Object.create(o);
return o.x;

//! text of a deep object -> internal: stack
let o = {};
for (let i = 0; i < 1e5; i++) o = { o };
return JSON.stringify(o);

//! hoard by sort -> timed_out: took more than
const all = Array.from({ length: 1e5 }, (_, i) => (i * 7919) % 100003);
for (;;) all.sort((a, b) => a - b);
