// Opens the operator's page in Chromium: every page, without script, by keyboard alone, with 1,000 runs and with hostile texts.
//
//     node run.mjs ADMIN SERVER BRIEF_ADMIN BRIEF_SERVER ADMIN_TOKEN CALLER_TOKEN CHROMIUM APPS PICTURES
//
// SERVER serves `shelf`, whose `put` needs consent, `worker`, `echo` and `version`, of which another version waits; BRIEF_SERVER serves
// `shelf`, and its approvals expire after seconds. APPS is a folder with playwright-core. Writes pictures into the folder PICTURES.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const [admin, server, briefAdmin, briefServer, adminToken, callerToken, executablePath, apps, pictures] = process.argv.slice(2);
const { chromium } = createRequire(path.join(apps, "package.json"))("playwright-core");
const step = (text) => console.log(text);
const HOSTILE = "</pre><script>window.hacked = 1</script><img src=x onerror=\"window.hacked = 1\">\u202egnp.exe";

// --- A client without elicitation, of both lifecycles

async function post(server, body, headers) {
  const response = await fetch(server, {
    method: "POST",
    headers: { Authorization: `Bearer ${callerToken}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
  });
  const text = await response.text();
  const message = text && JSON.parse(text.startsWith("{") ? text : text.match(/^data: (\{.*)$/m)[1]);
  return { message, session: response.headers.get("mcp-session-id") };
}

/** Returns a function that calls tools of a server, with a session or without. */
function connect(server) {
  let session;
  return async (name, args, stateful = false) => {
    const params = { name, arguments: args };
    if (stateful) {
      if (!session) {
        const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "page", version: "0" } };
        session = (await post(server, { id: 1, method: "initialize", params: hello }, {})).session;
        await post(server, { method: "notifications/initialized" }, { "Mcp-Session-Id": session });
      }
      const headers = { "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18" };
      return (await post(server, { id: 2, method: "tools/call", params }, headers)).message.result.structuredContent;
    }
    params._meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "page", version: "0" },
    };
    const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name };
    return (await post(server, { id: 1, method: "tools/call", params }, headers)).message.result.structuredContent;
  };
}
const call = connect(server);

/** Waits for the result of a run. */
async function ended(tool, run, stateful, client = call) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { data } = await client(tool, { action: "run_status", run_id: run }, stateful);
    if (data.run.result) return data.run.result;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${run} does not end`);
}

// --- The browser

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const problems = [];
const requested = new Set();

/** A context whose pages report what they must not do. */
async function open(options, at = admin) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
  context.on("request", (request) => requested.add(new URL(request.url()).origin));
  context.on("page", (page) => {
    page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("console", (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) problems.push(`policy: ${message.text()}`);
    });
  });
  const page = await context.newPage();
  await page.goto(`${at}/operator/`);
  return page;
}

/** Presses Tab until this has the focus, which must be visible. */
async function tabTo(page, name) {
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const { activeElement: at } = document;
      const style = getComputedStyle(at);
      return { text: (at.textContent || at.name || "").trim(), outline: parseFloat(style.outlineWidth), style: style.outlineStyle };
    });
    if (found.text === name) {
      assert.ok(found.outline >= 2 && found.style !== "none", `${name}: ${JSON.stringify(found)}`);
      return;
    }
  }
  throw new Error(`no ${name} by keyboard`);
}

async function logIn(page, name = "Ada") {
  assert.equal(new URL(page.url()).pathname, "/operator/login");
  await page.getByLabel("Operator token").fill(adminToken);
  await page.getByLabel(/Your name/).fill(name);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
}

async function check(page) {
  const found = await page.evaluate?.(() => ({
    hacked: window.hacked,
    width: document.documentElement.scrollWidth - innerWidth,
    unnamed: Array.from(document.querySelectorAll("input:not([type=hidden]), select, button, a")).filter((element) =>
      !(element.labels?.length || element.textContent.trim() || element.getAttribute("aria-label"))).length,
    headings: document.querySelectorAll("h1").length,
    images: document.querySelectorAll("main img, main script").length,
  }));
  assert.deepEqual({ ...found, width: Math.max(0, found.width) }, { hacked: undefined, width: 0, unnamed: 0, headings: 1, images: 0 }, page.url());
}

/** Contrast of each text with its ground, by WCAG; those below AA. */
const contrasts = (page) => page.evaluate(() => {
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parse(color)), light(ground(element))].sort((a, b) => b - a);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) bad.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}: ${element.textContent.trim().slice(0, 30)}`);
  }
  return bad;
});

const picture = (page, name) => page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });

// --- Things to show

for (let batch = 0; batch < 1000; batch += 20) {
  await Promise.all(Array.from({ length: 20 }, () => call("worker", { action: "work", steps: 0, ms: 0, wait: false })));
}
const endless = (await call("worker", { action: "work", steps: 100000, ms: 50, wait: false })).data.run.id;
for (const text of ["hello", "world"]) await call("echo", { action: "say", text });
await call("echo", { action: "nothing" });
const put = (text, stateful, client = call) => client("shelf", { action: "put", id: "n1", title: "A title", text }, stateful);
const hostile = (await put(HOSTILE)).data.run.id;
step("1,000 runs, and an approval with hostile arguments");

let page = await open({});
await check(page);
await picture(page, "login");
await page.getByLabel("Operator token").fill("loggia_wrong");
await page.getByRole("button", { name: "Log in" }).click();
await page.getByRole("alert").waitFor();
assert.equal(await page.evaluate(() => document.activeElement.name), "token", "the token's field has no focus");
await page.keyboard.type(adminToken);
await tabTo(page, "name");
await page.keyboard.type("<script>window.hacked = 1</script>");
await tabTo(page, "Log in");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
step("logged in by keyboard");

// --- Every page, light and dark, wide and narrow

const PAGES = ["", "approvals", "versions", "facades", "runs", "runs?page=20", `runs/${endless}`, "callers", "tokens", "audit", "audit?event=call"];
for (const [theme, width] of [["light", 1100], ["dark", 1100], ["light", 380]]) {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height: 800 });
  for (const name of PAGES) {
    await page.goto(`${admin}/operator/${name}`);
    await check(page);
    assert.deepEqual(await contrasts(page), [], `${name} ${theme}`);
    const file = (name.startsWith("runs/") ? "run" : name.replace("?page=", "-")) || "overview";
    await picture(page, `${file}-${theme}-${width}`);
  }
}
await page.emulateMedia({ colorScheme: "light" });
await page.setViewportSize({ width: 1100, height: 800 });
step("every page, in both themes and at the width of a phone");

await page.goto(`${admin}/operator/facades`);
await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
await page.goto(`${admin}/operator/runs`);
assert.equal(await page.locator("tbody tr").count(), 50);
let rows = 0;
for (let number = 1; number <= 20; number += 1) {
  await page.goto(`${admin}/operator/runs?page=${number}`);
  rows += await page.locator("tbody tr").count();
}
assert.equal(rows, 1000);
step("1,000 runs on 20 pages");

// --- It updates itself: what is shown changes without a reload

await page.goto(`${admin}/operator/approvals`);
await page.locator("article").waitFor();
assert.match(await page.locator("article pre").textContent(), /<\/pre><script>.*\\u202egnp\.exe/);
await page.locator("#live", { hasText: "Live" }).waitFor();
await page.evaluate(() => { window.marked = true; });
const second = (await put("a second one", true)).data.run.id;
await page.locator("article").nth(1).waitFor({ timeout: 20_000 });
assert.equal(await page.evaluate(() => window.marked), true, "it was loaded again");
await picture(page, "approvals-two");
step("an approval appears by itself");

// --- By keyboard alone

await page.goto(`${admin}/operator/`);
await page.keyboard.press("Tab");
assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
await tabTo(page, "Approvals");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "Approvals", level: 1 }).waitFor();
// Newest first: the second one.
await tabTo(page, "Approve");
await picture(page, "focus");
await page.keyboard.press("Enter");
await page.getByText("Approved. The call goes on.").waitFor();
assert.equal((await ended("shelf", second, true)).ok, true);
await tabTo(page, "Deny");
await page.keyboard.press("Enter");
await page.getByText("Denied. The call fails.").waitFor();
const denied = await ended("shelf", hostile, false);
assert.deepEqual([denied.ok, denied.code], [false, "denied"]);
await picture(page, "approvals-decided");
step("approved and denied by keyboard, of clients of both lifecycles");

await page.goto(`${admin}/operator/`);
await tabTo(page, "Versions");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "Versions", level: 1 }).waitFor();
await page.getByText("! summary: the text overrides other instructions").waitFor();
assert.equal((await call("version", { action: "get" })).data, "one");
await tabTo(page, "Approve");
await page.keyboard.press("Enter");
await page.getByText("Approved. The version is served within a second.").waitFor();
await page.getByText("No version waits.").waitFor();
for (let tries = 0; (await call("version", { action: "get" })).data !== "text"; tries += 1) {
  assert.ok(tries < 200, "the approved version is not served");
  await new Promise((resolve) => setTimeout(resolve, 50));
}
await picture(page, "versions-approved");
step("a version with a flagged text approved by keyboard");

const tired = (await call("worker", { action: "work", steps: 100000, ms: 50, wait: false })).data.run.id;
await page.goto(`${admin}/operator/`);
await tabTo(page, "Runs");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
// Newest first.
await tabTo(page, `${tired.slice(0, 10)}…`);
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "worker.work", level: 1 }).waitFor();
await tabTo(page, "Cancel the run");
await page.keyboard.press("Enter");
await page.getByText("The run is being cancelled.").waitFor();
assert.equal((await ended("worker", tired, false)).code, "cancelled");
step("a run cancelled by keyboard");

await page.goto(`${admin}/operator/`);
await tabTo(page, "Audit");
await page.keyboard.press("Enter");
await page.getByRole("heading", { name: "Audit", level: 1 }).waitFor();
await tabTo(page, "action");
await page.keyboard.type("nothing");
await tabTo(page, "Search");
await page.keyboard.press("Enter");
await page.waitForURL(/action=nothing/);
// One call was refused: `echo` has no such action.
const [line] = await page.locator("tbody tr").all();
assert.equal(await page.locator("tbody tr").count(), 1);
assert.match(await line.textContent(), /refused.*ada.*echo\.nothing/);
await tabTo(page, await line.locator("summary").textContent());
await page.keyboard.press("Enter");
await line.locator("details[open] pre").waitFor();
await picture(page, "audit-found");
step("a line of the audit trail found and opened by keyboard");

// --- Numbers: callers, charts

await page.goto(`${admin}/operator/callers`);
const [name, recent, calls, failed] = await page.locator("tbody tr").first().locator("th, td").allTextContents();
assert.equal(name, "ada");
assert.ok(Number(calls) > 1005 && Number(recent) <= Number(calls) && Number(failed) >= 1, `${recent} ${calls} ${failed}`);
await page.goto(`${admin}/operator/`);
for (const title of ["Calls per second", "Duration of calls"]) {
  const chart = page.locator(`svg[aria-label^="${title}, last 30 minutes."]`);
  const [, highest] = (await chart.getAttribute("aria-label")).match(/Highest: (\d[\d.]*)/);
  assert.ok(Number(highest) > 0, title);
  const lines = await chart.locator("path").evaluateAll((paths) => paths.map((path) => path.getTotalLength()));
  assert.ok(lines.every((length) => length > 0), `${title}: ${lines}`);
}
step("callers and charts show the calls");

// --- Without script

page = await open({ javaScriptEnabled: false });
await page.getByLabel("Operator token").fill(adminToken);
await page.getByRole("button", { name: "Log in" }).click();
await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
for (const name of ["Approvals", "Versions", "Facades", "Runs", "Callers", "Tokens", "Audit"]) {
  await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}
for (const [stateful, button, told] of [[true, "Approve", "Approved. The call goes on."], [true, "Deny", "Denied. The call fails."],
  [false, "Approve", "Approved. The call goes on."]]) {
  const run = (await put("without script", stateful)).data.run.id;
  await page.goto(`${admin}/operator/approvals`);
  await page.getByRole("button", { name: button }).click();
  await page.getByText(told).waitFor();
  const { ok, code } = await ended("shelf", run, stateful);
  assert.deepEqual([ok, code], button === "Approve" ? [true, undefined] : [false, "denied"]);
}
await page.goto(`${admin}/operator/runs/${endless}`);
await page.getByRole("button", { name: "Cancel the run" }).click();
await page.getByText("The run is being cancelled.").waitFor();
assert.equal((await ended("worker", endless, false)).code, "cancelled");
await page.getByRole("button", { name: "Log out" }).click();
await page.getByRole("heading", { name: "Log in", level: 1 }).waitFor();
step("everything without script");

// --- Not decided in time: the page shows it by itself, and a decision that comes too late changes nothing

page = await open({}, briefAdmin);
await logIn(page);
// A page without script keeps its buttons.
const still = await open({ javaScriptEnabled: false }, briefAdmin);
await logIn(still);
const callBrief = connect(briefServer);
for (const stateful of [true, false]) {
  const run = (await put("too late", stateful, callBrief)).data.run.id;
  await still.goto(`${briefAdmin}/operator/approvals`);
  await still.getByRole("button", { name: "Approve" }).waitFor();
  await page.goto(`${briefAdmin}/operator/approvals`);
  await page.getByRole("button", { name: "Approve" }).waitFor();
  const { ok, code } = await ended("shelf", run, stateful, callBrief);
  assert.deepEqual([ok, code], [false, "timed_out"]);
  await page.getByRole("button", { name: "Approve" }).waitFor({ state: "detached", timeout: 20_000 });
  await page.getByText("expired", { exact: true }).first().waitFor();
  await still.getByRole("button", { name: "Approve" }).click();
  await still.getByText("It was not decided: it has expired.").waitFor();
}
await picture(page, "approvals-expired");
step("approvals of both lifecycles expire on the page");

assert.deepEqual(problems, []);
assert.deepEqual([...requested], [admin, briefAdmin], "another origin was asked");
await browser.close();
step(`no request to another origin, no violation of the policy; pictures: ${pictures}`);
