// Keeps a page up to date: when the server announces a change, fetches the page again and replaces the parts that differ.
// Everything works without it.
"use strict";
const status = document.getElementById("live");
let fetching = false;

// Finds in a new part what had the focus in the old one.
function same(part, element) {
  const name = ["id", "href", "name"].find((name) => element.hasAttribute(name));
  const value = name && element.getAttribute(name);
  const alike = part.querySelectorAll(name ? `${element.tagName}[${name}]` : element.tagName);
  return Array.from(alike).find((other) => other.textContent === element.textContent && (!name || other.getAttribute(name) === value));
}

function replace(part, next) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  // Somebody is about to decide or types: what they look at must not move.
  if (focused && focused.closest("form")) return;
  const open = Array.from(part.querySelectorAll("details[open] > summary"), (summary) => summary.textContent);
  for (const summary of next.querySelectorAll("details > summary")) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  }
  if (part.isEqualNode(next)) return;
  part.replaceWith(next);
  if (focused) same(next, focused)?.focus({ preventScroll: true });
}

async function refresh() {
  if (fetching || document.hidden || !getSelection().isCollapsed) return;
  fetching = true;
  try {
    const response = await fetch(location.href, { redirect: "manual" });
    // The session has ended.
    if (response.type === "opaqueredirect") return location.reload();
    if (!response.ok) return;
    const found = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const next = found.getElementById(part.id);
      if (next) replace(part, document.importNode(next, true));
    }
  } catch {
    // The next event tries again.
  } finally {
    fetching = false;
  }
}

if (document.querySelector("[data-part]")) {
  const events = new EventSource(document.body.dataset.events);
  events.addEventListener("open", () => { status.textContent = "Live"; });
  events.addEventListener("error", () => { status.textContent = "Not live: reload to update"; });
  events.addEventListener("change", refresh);
  document.addEventListener("visibilitychange", refresh);
}
