// The page's own part: it speaks with the client (MCP Apps 2026-01-26: JSON-RPC by postMessage) and with the frame of the plugin.
// Whatever a server or a plugin says is text here: it is never parsed as HTML.
(() => {
  "use strict";
  const VERSION = "2026-01-26";
  // Calls of a frame at the same time.
  const MAX_CALLS = 8;
  // Arguments of Loggia that are not a view's to give: `confirm` is a person's consent, the others name another action.
  const RESERVED = ["confirm", "action", "cmd", "params"];
  const MAX_HEIGHT = 4000;
  const MAX_ROWS = 200, MAX_COLUMNS = 8, MAX_CELL = 400;

  const client = window.parent;
  if (client === window) return;
  const config = JSON.parse(document.getElementById("config").textContent);
  const root = document.getElementById("result");
  const approvals = new ApprovalCards(document.getElementById("approvals"), request, show);
  const waiting = new Map();
  let nextId = 1, calls = 0;
  let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", variables = {};
  let input = {};
  // The plugin's frame, and what it is to show.
  let frame = null, framed = null;

  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  const own = (object, name) => typeof name === "string" && Object.hasOwn(object, name) ? object[name] : undefined;

  // --- The client

  const send = (message) => client.postMessage({ jsonrpc: "2.0", ...message }, "*");

  function request(method, params) {
    return new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });
  }

  function fromClient(message) {
    if (message.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      const call = waiting.get(message.id);
      waiting.delete(message.id);
      if (call === undefined) return;
      if (message.error === undefined) call.resolve(message.result);
      else call.reject(new Error(String(message.error?.message ?? "the client refused it")));
      return;
    }
    const params = isObject(message.params) ? message.params : {};
    if (message.id !== undefined) {
      const known = message.method === "ui/resource-teardown" || message.method === "ping";
      if (known) send({ id: message.id, result: {} });
      else send({ id: message.id, error: { code: -32601, message: "Method not found" } });
    } else if (message.method === "ui/notifications/tool-input") {
      input = isObject(params.arguments) ? params.arguments : {};
    } else if (message.method === "ui/notifications/tool-result") {
      showFirst(params);
    } else if (message.method === "ui/notifications/tool-cancelled") {
      replace(line("p", "The call was cancelled.", "quiet"));
    } else if (message.method === "ui/notifications/host-context-changed") {
      adopt(params);
    }
  }

  /** Takes the theme and the style variables of the client. */
  function adopt(context) {
    if (context.theme === "light" || context.theme === "dark") theme = context.theme;
    const given = isObject(context.styles?.variables) ? context.styles.variables : {};
    for (const [name, value] of Object.entries(given)) {
      if (/^--[a-z0-9-]{1,64}$/.test(name) && typeof value === "string") variables[name] = value;
    }
    document.documentElement.dataset.theme = theme;
    for (const [name, value] of Object.entries(variables)) document.documentElement.style.setProperty(name, value);
    if (framed?.ready) tell({ loggia: "context", theme, variables });
  }

  async function call(action, params) {
    const known = own(config.actions, action);
    if (known === undefined) throw new Error(`the tool has no action ${String(action).slice(0, 80)}`);
    if (!isObject(params)) throw new Error("the parameters must be an object");
    const reserved = RESERVED.find((name) => Object.hasOwn(params, name));
    if (reserved !== undefined) throw new Error(`a view cannot give \`${reserved}\``);
    // A click in the frame counts for its parents, too: without one, a view cannot change anything.
    if (!known.reads && !navigator.userActivation?.isActive) {
      throw new Error("this action changes something: call it when a person clicks or types");
    }
    if (calls >= MAX_CALLS) throw new Error("too many calls at once");
    calls += 1;
    try {
      const args = known.meant ? params : { action, params };
      return ApprovalCards.envelopeOf(await request("tools/call", { name: config.tool, arguments: args }));
    } finally {
      calls -= 1;
    }
  }

  // --- The frame of the plugin

  const tell = (message) => frame.contentWindow.postMessage(message, "*");

  function fromFrame(message) {
    if (message.loggia === "ready" && !framed.ready) {
      framed.ready = true;
      tell({ loggia: "context", theme, variables });
      tell({ loggia: "result", envelope: framed.envelope, input });
    } else if (message.loggia === "size" && Number.isFinite(message.height)) {
      frame.style.height = `${Math.min(Math.max(message.height, 24), MAX_HEIGHT)}px`;
    } else if (message.loggia === "call" && Number.isSafeInteger(message.id)) {
      const asked = frame, id = message.id;
      const answer = (more) => frame === asked && tell({ loggia: "answer", id, ...more });
      call(message.action, message.params).then(
        (envelope) => answer({ envelope }),
        (error) => answer({ error: error.message }),
      );
    }
  }

  // --- Results

  /** Shows the result of the call: approvals for which it waits, and what came of it. */
  function showFirst(result) {
    const envelope = ApprovalCards.envelopeOf(result);
    if (!approvals.take(result, envelope)) show(result, envelope, config.folds);
    else if (approvals.isWaiting()) approvals.look();
  }

  function show(result, envelope, folds = false) {
    const action = envelope.action ?? envelope.cmd ?? config.meant;
    // The result of a chain is that of its last call.
    const name = envelope.trail === undefined ? own(config.actions, action)?.view : undefined;
    const view = own(config.views, name);
    if (folds && envelope.ok === true) {
      const folded = document.createElement("details");
      folded.append(line("summary", `${config.title}: ${action ?? "done"}`), ...render(envelope, result));
      replace(folded);
    } else if (envelope.ok !== true || view === undefined) {
      replace(...render(envelope, result));
    } else if (framed?.name === name) {
      framed.envelope = envelope;
      if (framed.ready) tell({ loggia: "result", envelope, input });
    } else {
      const inner = document.createElement("iframe");
      // No `allow-same-origin`: the origin is opaque. The page's own policy forbids it to go elsewhere.
      inner.setAttribute("sandbox", "allow-scripts");
      inner.setAttribute("referrerpolicy", "no-referrer");
      inner.title = config.title;
      inner.srcdoc = config.frame + view;
      replace(inner);
      root.className = "framed";
      [frame, framed] = [inner, { name, envelope, ready: false }];
    }
  }

  function replace(...nodes) {
    [frame, framed] = [null, null];
    root.className = "";
    root.replaceChildren(...nodes);
  }

  function line(tag, text, className = "") {
    const node = document.createElement(tag);
    node.textContent = text;
    node.className = className;
    return node;
  }

  function render(envelope, result) {
    const nodes = [];
    if (envelope.ok === false) {
      nodes.push(line("p", String(envelope.error ?? "The call failed."), "failure"));
      if (typeof envelope.hint === "string") nodes.push(line("p", envelope.hint, "quiet"));
      return nodes;
    }
    if (typeof envelope.message === "string") nodes.push(line("p", envelope.message, "quiet"));
    if (envelope.data !== undefined && envelope.data !== null) nodes.push(data(envelope.data));
    for (const block of Array.isArray(result?.content) ? result.content : []) {
      if (block?.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(block.mimeType)) {
        const image = document.createElement("img");
        image.src = `data:${block.mimeType};base64,${block.data}`;
        image.alt = "";
        nodes.push(image);
      }
    }
    if (nodes.length === 0) nodes.push(line("p", "Done.", "quiet"));
    return nodes;
  }

  function short(value) {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
  }

  function data(value) {
    if (Array.isArray(value) && value.length > 0) {
      return value.every(isObject) ? table(value) : list(value);
    }
    if (isObject(value)) {
      const node = document.createElement("dl");
      for (const [name, member] of Object.entries(value)) {
        node.append(line("dt", name.replaceAll("_", " ")), line("dd", typeof member === "string" ? member : short(member)));
      }
      return node;
    }
    return line("p", Array.isArray(value) ? "None." : String(value));
  }

  function list(items) {
    const node = document.createElement("ul");
    node.append(...items.slice(0, MAX_ROWS).map((item) => line("li", short(item))));
    return node;
  }

  function table(rows) {
    const shown = rows.slice(0, MAX_ROWS);
    const columns = [...new Set(shown.flatMap(Object.keys))].slice(0, MAX_COLUMNS);
    const node = document.createElement("table");
    const head = node.createTHead().insertRow();
    for (const name of columns) {
      const cell = line("th", name.replaceAll("_", " "));
      cell.scope = "col";
      head.append(cell);
    }
    const body = node.createTBody();
    for (const row of shown) {
      const cells = body.insertRow();
      for (const name of columns) {
        const value = own(row, name);
        cells.append(line("td", value === undefined ? "" : short(value), typeof value === "number" ? "number" : ""));
      }
    }
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(node);
    if (rows.length > shown.length) scroll.append(line("p", `The first ${shown.length} of ${rows.length}.`, "quiet"));
    return scroll;
  }

  // --- The beginning

  window.addEventListener("message", (event) => {
    if (event.data === null || typeof event.data !== "object") return;
    if (frame !== null && event.source === frame.contentWindow) fromFrame(event.data);
    else if (event.source === client) fromClient(event.data);
  });
  document.title = config.title;
  document.documentElement.dataset.theme = theme;
  const appInfo = { name: "loggia", title: config.title, version: config.version };
  const appCapabilities = { availableDisplayModes: ["inline"] };
  request("ui/initialize", { protocolVersion: VERSION, appInfo, appCapabilities }).then((result) => {
    if (isObject(result?.hostContext)) adopt(result.hostContext);
    approvals.links = isObject(result?.hostCapabilities?.openLinks);
    send({ method: "ui/notifications/initialized", params: {} });
    let last = "";
    const report = () => {
      const box = document.documentElement.getBoundingClientRect();
      const size = { width: Math.ceil(box.width), height: Math.ceil(box.height) };
      if (last !== (last = `${size.width} ${size.height}`)) send({ method: "ui/notifications/size-changed", params: size });
    };
    new ResizeObserver(report).observe(document.documentElement);
  }, (error) => replace(line("p", error.message, "failure")));
})();
