// What a view has of Loggia. It runs in the frame of the plugin, so nothing here protects anything: the shell does.
(() => {
  "use strict";
  const shell = window.parent;
  const waiting = new Map();
  const shows = [], themes = [];
  let nextId = 1, shown = null, theme = "light";

  const post = (message) => shell.postMessage(message, "*");

  window.addEventListener("message", ({ source, data }) => {
    if (source !== shell || data === null || typeof data !== "object") return;
    if (data.loggia === "context") {
      theme = data.theme;
      document.documentElement.dataset.theme = theme;
      for (const [name, value] of Object.entries(data.variables)) {
        document.documentElement.style.setProperty(name, value);
      }
      themes.forEach((show) => show(theme));
    } else if (data.loggia === "result") {
      shown = [data.envelope, data.input];
      shows.forEach((show) => show(...shown));
    } else if (data.loggia === "answer" && waiting.has(data.id)) {
      const { resolve, reject } = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.error === undefined) resolve(data.envelope);
      else reject(new Error(data.error));
    }
  });

  window.loggia = Object.freeze({
    /** Calls `show(envelope, input)` for the result, and again for each later one. */
    onresult(show) {
      shows.push(show);
      if (shown !== null) show(...shown);
    },
    /** Calls an action of the page's tool; the envelope of its result, whether it succeeded or not. */
    call(action, params = {}) {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, { resolve, reject });
        post({ loggia: "call", id, action, params });
      });
    },
    /** Calls `show(theme)` whenever the theme changes. */
    ontheme(show) {
      themes.push(show);
    },
    get theme() {
      return theme;
    },
  });

  document.addEventListener("DOMContentLoaded", () => {
    const report = () => post({ loggia: "size", height: Math.ceil(document.body.getBoundingClientRect().height) });
    new ResizeObserver(report).observe(document.body);
    post({ loggia: "ready" });
  });
})();
