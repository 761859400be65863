// Opens pages of tools in Chromium, in a small client of MCP Apps, and looks at what they show and what they cannot do:
//
//     node run.mjs SERVER CHROMIUM PICTURES LOGGIA
//
// SERVER serves `files`, `search`, the fixture `shelf`, and it again as `box`, whose `put` and `remove` need consent. The operator uses the binary LOGGIA.
// Writes pictures into the folder PICTURES.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import dgram from "node:dgram";
import { readFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const [server, executablePath, pictures, loggia] = process.argv.slice(2);
const HERE = import.meta.dirname;
const EXTENSIONS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
// The policy that the specification has for a page that declares no domains.
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
  + "font-src 'self'; media-src 'self' data:; connect-src 'self'; frame-src 'none'; object-src 'none'; base-uri 'self'";

// --- The server

async function ask(method, params) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { extensions: EXTENSIONS },
    "io.modelcontextprotocol/clientInfo": { name: "apps", version: "0" },
  };
  const name = params.uri ?? params.name;
  const headers = {
    "Content-Type": "application/json", Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...(name && { "Mcp-Name": name }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const text = await (await fetch(server, { method: "POST", headers, body })).text();
  const { result, error } = JSON.parse(text.startsWith("{") ? text : text.match(/^data: (\{.*)$/m)[1]);
  return error === undefined ? { result } : { error };
}

async function call(name, args) {
  const { result, error } = await ask("tools/call", { name, arguments: args });
  assert.equal(error, undefined);
  return result;
}

async function pageOf(tool) {
  const { result } = await ask("tools/list", {});
  const uri = result.tools.find(({ name }) => name === tool)._meta.ui.resourceUri;
  const { result: read } = await ask("resources/read", { uri });
  assert.equal(read.contents[0].mimeType, "text/html;profile=mcp-app");
  return read.contents[0].text;
}

// --- The client: two origins, and a target that must hear nothing

function listen(answer) {
  const listener = http.createServer(answer);
  return new Promise((resolve) => listener.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${listener.address().port}`)));
}

const calls = [];
const client = await listen(async (request, response) => {
  if (request.url === "/call") {
    const body = await request.reduce((all, part) => all + part, "");
    calls.push(JSON.parse(body));
    response.end(JSON.stringify(await ask("tools/call", JSON.parse(body))));
  } else {
    response.setHeader("Content-Type", "text/html").end(await readFile(path.join(HERE, "client.html")));
  }
});
// Without it, a page has only the policy that it brings.
let sends_policy = true;
const sandbox = await listen(async (_, response) => {
  if (sends_policy) response.setHeader("Content-Security-Policy", POLICY);
  response.setHeader("Content-Type", "text/html").end(await readFile(path.join(HERE, "sandbox.html")));
});
let heard = [], connections = 0;
const trap = net.createServer((socket) => {
  socket.on("error", () => {});
  connections += 1;
  socket.on("data", (data) => heard.push(data.toString().split("\r\n")[0]));
});
await new Promise((resolve) => trap.listen(0, "127.0.0.1", resolve));
const target = `http://127.0.0.1:${trap.address().port}`;
const stun = dgram.createSocket("udp4");
await new Promise((resolve) => stun.bind(0, "127.0.0.1", resolve));

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 800, height: 700 } });
let page;

/** Shows the result of a call in the page of its tool; returns the shell and the plugin's frame, if there is one. */
async function show(tool, args, theme, frame = true) {
  page = await context.newPage();
  page.on("pageerror", (error) => console.log("error in a page:", error.message));
  await page.goto(client);
  const said = `${tool} ${JSON.stringify(args)}`;
  const options = { said, html: await pageOf(tool), theme, input: args, result: await call(tool, args) };
  await page.evaluate(([to, options]) => window.open_app(to, options), [sandbox, options]);
  const shell = page.frameLocator("iframe").frameLocator("iframe");
  return frame ? shell.frameLocator("iframe") : shell;
}

/** The frame of the plugin, to run scripts in it. */
async function inside(locator) {
  const element = await locator.locator("html").elementHandle();
  return element.ownerFrame();
}

/** Waits until a view has tried. What the driver runs in a frame counts as a click there, so it must look elsewhere. */
const tried = () => page.waitForFunction(() => window.received.some(({ foreign, method }) => foreign && method === "done"));

/** Takes a picture of the whole page: browsers draw no part of a frame that is below the window. */
async function picture(name) {
  const height = await page.evaluate(() => document.querySelector(".turn").offsetHeight + 48);
  await page.setViewportSize({ width: 800, height });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}
const step = (text) => console.log(text);

// --- search

const ENDS = ["we took the ferry to Milazzo", "the vineyards on the slope were worth the walk", "a guide is needed above 2,900 m",
  "pack a warm coat, it is cold at the top", "the bus from Catania leaves at eight"];
for (let at = 1; at <= 30; at += 1) {
  const text = `# Sicily, day ${at}\n\nOn day ${at} of the trip to Sicily we saw Etna again: ${ENDS[at % ENDS.length]}. <b>Note</b> &amp; check ${at}.\n`;
  const put = await call("files", { action: "put", path: `/data/sicily/day-${at}.md`, content: text, parents: true });
  assert.equal(put.isError, false, JSON.stringify(put));
}
let view = await show("search", { action: "hybrid", query: "trip to sicily", limit: 40 }, "light");
await view.locator("li").first().waitFor();
const before = await view.locator("li").count();
assert.match(await view.locator("#count").textContent(), new RegExp(`^${before} of \\d+ found$`));
assert.equal(await view.locator("b b").count(), 0, "text of a file became HTML");
await picture("search-light");
await view.getByRole("button", { name: "More" }).click();
await view.locator("li").nth(before).waitFor();
assert.deepEqual(calls.map(({ name, arguments: { action } }) => [name, action]), [["search", "describe"]]);
step(`search: ${before} hits, then ${await view.locator("li").count()}`);
// The focus is on the first new hit.
await page.keyboard.press("Enter");
await view.locator("details[open]").waitFor();
await page.evaluate(() => window.set_theme("dark"));
await view.locator("html[data-theme=dark]").waitFor();
await picture("search-dark");
const width = await (await inside(view)).evaluate(() => document.documentElement.scrollWidth - innerWidth);
assert.equal(width, 0, "it is wider than its frame");
view = await show("search", { action: "hybrid", query: "nothing that is there: qqqq", limit: 3 }, "light", true);
await view.locator("#count", { hasText: /found/ }).waitFor();
await picture("search-none");
view = await show("search", { action: "hybrid", query: "" }, "light", false);
await view.locator(".failure").waitFor();
await picture("failure");
step("failures are shown with their hints");

// --- A chart that can write, when a person clicks

for (const [id, text] of [["a", "x".repeat(40)], ["b", "x".repeat(90)], ["c", "<img src=x onerror=alert(1)>"]]) {
  await call("shelf", { action: "put", id, title: `Document ${id}`, text });
}
calls.length = 0;
view = await show("shelf", { action: "list" }, "light");
await tried();
await view.locator(".row").nth(2).waitFor();
assert.match(await (await inside(view)).evaluate(() => window.unasked), /when a person clicks/);
assert.deepEqual(calls, []);
await view.locator("#id").fill("d");
await view.locator("#text").fill("by a person");
await view.getByRole("button", { name: "Add" }).click();
await view.locator("#note", { hasText: "added" }).waitFor();
await view.locator(".row").nth(3).waitFor();
await picture("chart");
step("a write needs a click");
view = await show("shelf", { action: "get", id: "c" }, "light", false);
await view.getByText("<img src=x onerror=alert(1)>").waitFor();
await picture("text");

// --- Calls that wait for an operator

const operator = (...words) => promisify(execFile)(loggia, ["approvals", ...words]);
const opened = () => page.evaluate(() => window.received.filter(({ method }) => method === "ui/open-link").map(({ params }) => params.url));
const card = (view) => view.locator("#approvals .card");
/** Shows a call that waits; the page's shell and the id of its approval. */
async function wait(args, theme) {
  const shell = await show("box", args, theme, false);
  await card(shell).locator(".badge.open", { hasText: "Waits for approval" }).waitFor();
  const id = (await card(shell).textContent()).match(/ap_[a-z0-9]{16}/)[0];
  return [shell, id];
}
const becomes = (view, state, label) => card(view).locator(`.badge.${state}`, { hasText: label }).waitFor();

calls.length = 0;
const text = "<img src=x onerror=alert(1)> and \u202ehidden\u202c text";
let [waiting, approval] = await wait({ action: "put", id: "n1", title: "A title", text }, "light");
const told = await card(waiting).textContent();
for (const part of ["box.put", "write", "Run `put` (write) with", "A title", "<img src=x onerror=alert(1)> and \\u{202e}hidden", "min)", "loggia approvals show"]) {
  assert.ok(told.includes(part), `${part}: ${told}`);
}
assert.equal(await card(waiting).locator("img").count(), 0);
await picture("approval-open");
assert.deepEqual(await opened(), []);
await waiting.getByRole("button", { name: "Open the operator's page" }).click();
await page.waitForFunction(() => window.received.some(({ method }) => method === "ui/open-link"));
assert.deepEqual(await opened(), [`https://ops.example.com/operator/approvals/${approval}`]);
await operator("approve", approval);
await becomes(waiting, "approved", "Approved");
await waiting.locator("#approvals", { hasText: "The call succeeded." }).waitFor();
await waiting.locator("#result", { hasText: "Done." }).waitFor();
assert.equal(await waiting.getByRole("button").count(), 0, "nothing is left to do");
await picture("approval-approved");
step("an approved call: open, approved, its outcome");

[waiting, approval] = await wait({ action: "remove", id: "n1" }, "dark");
await picture("approval-dark");
await operator("deny", approval);
await becomes(waiting, "denied", "Denied");
await waiting.locator(".failure", { hasText: "an operator denied `remove`" }).waitFor();
await picture("approval-denied");
step("a denied call shows why it failed");

[waiting] = await wait({ action: "remove", id: "n1" }, "light");
await waiting.getByRole("button", { name: "Cancel the call" }).click();
await becomes(waiting, "withdrawn", "Withdrawn");
await waiting.locator(".failure", { hasText: "cancelled" }).waitFor();
step("a person can cancel the own call");

// The page asked for states and cancelled once, when a person clicked. It sent nothing that could be taken for consent.
const sent = calls.map(({ name, arguments: { action, ...more } }) => `${name} ${action} ${Object.keys(more)}`);
assert.deepEqual([...new Set(sent)].sort(), ["box run_cancel run_id", "box run_status run_id"]);
assert.equal(sent.filter((one) => one.startsWith("box run_cancel")).length, 1);
view = await show("box", { action: "list" }, "light", false);
await view.locator("summary", { hasText: "list" }).click();
await view.locator("dl, table").first().waitFor();
assert.equal(await card(view).count(), 0);
await picture("folded");
step("results that did not wait take one line");

// A page that was kept: its run is not known any more.
view = await show("box", { action: "list" }, "light", false);
const kept = { run: "run_0000000000000000000000", status: { tool: "box", arguments: { action: "run_status", run_id: "run_0000000000000000000000" } },
  approvals: [{ id: approval, state: "open", question: "Run `put`?", facade: "box", action: "put", effect: "write", opened_ms: 1, expires_ms: Date.now() + 60000 }] };
await page.evaluate((kept) => window.show_result({ content: [{ type: "text", text: "{\"ok\":true}" }], _meta: { "loggia/approvals": kept } }), kept);
await becomes(view, "gone", "Not known any more");
assert.equal(await view.getByRole("button").count(), 0);
step("a forgotten call is not shown as waiting");

// --- A view that tries to leave

for (sends_policy of [true, false]) {
  calls.length = 0;
  view = await show("shelf", { action: "escape", target }, "light");
  await tried();
  const hostile = await inside(view);
  const outcomes = await hostile.evaluate(() => window.outcomes);
  for (const name of ["fetch", "request", "socket", "events", "image", "script", "style", "font", "popup", "parent", "client", "config",
    "storage", "cookie", "database", "code", "worker", "top", "shell", "other tool", "prototype", "write", "consent", "other action"]) {
    assert.match(outcomes[name], /^no: /, `${name}: ${outcomes[name]}`);
  }
  assert.ok(!outcomes.base.includes(target), outcomes.base);
  const received = await page.evaluate(() => window.received);
  assert.deepEqual(received.filter(({ foreign, method }) => !foreign && method === "tools/call"), []);
  assert.deepEqual([calls, context.pages().length > 0 && page.url()], [[], `${client}/`]);
  assert.deepEqual(heard, [], "something left the frame");
  // The browser puts an error page in the place of a frame that may not go where it wants; else the target is asked.
  const blocked = page.waitForEvent("framenavigated", (frame) => frame === hostile);
  const asked = new Promise((resolve) => trap.on("connection", (socket) => socket.once("data", resolve)));
  await hostile.evaluate((to) => window.leave(`${to}/leave`), target).catch(() => {});
  await Promise.race([blocked, asked]);
  assert.deepEqual(heard, [], "the frame went elsewhere");
  assert.match(hostile.url(), /^chrome-error:/);
  step(`a hostile view: ${Object.keys(outcomes).length} attempts ${sends_policy ? "with" : "without"} the policy of the client, nothing left`);
}
sends_policy = true;
const ids = JSON.parse((await call("shelf", { action: "list" })).content[0].text).data.map(({ id }) => id);
assert.deepEqual(ids, ["a", "b", "c", "d"]);

// What no policy of a page covers: reported, not asserted. Chromium connects to an address before it asks whether the policy allows
// to load it, in a frame or with `preconnect`; nothing is sent.
step(`connections without a request: ${connections}`);
view = await show("shelf", { action: "escape", target }, "light");
await tried();
const last = await inside(view);
const gathered = last.evaluate((to) => window.connect(to), `127.0.0.1:${stun.address().port}`).then(() => "nothing left", (error) => error.message.split("\n")[0]);
const arrived = new Promise((resolve) => stun.once("message", () => resolve("a datagram left")));
step(`WebRTC: ${await Promise.race([arrived, gathered])}`);
[heard, connections] = [[], 0];
await last.evaluate((to) => void window.preconnect(to), target);
await page.goto(`${client}/end`);
step(`preconnect: ${connections} connections, ${heard.length} requests`);
await browser.close();
process.exit(0);
