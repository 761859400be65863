// The approvals of a run: what waits for a person, where it is decided, and how it ended.
//
// Nothing here decides. The page is a part of the client, and the client can send whatever the page can: a click in it proves no person.
// It asks for the run's status with the rights of the caller, refers to the operator's page, and can cancel the caller's own call.
class ApprovalCards {
  static META = "loggia/approvals";
  static LABELS = {
    open: "Waits for approval", approved: "Approved", denied: "Denied", expired: "Expired", withdrawn: "Withdrawn", gone: "Not known any more",
  };
  static OUTCOMES = {
    running: "The call goes on.", succeeded: "The call succeeded.", failed: "The call failed.", cancelled: "The call was cancelled.",
  };
  static FAILURES = 5;

  /** `root` shows the cards, `request` sends a request to the client, `ended` gets the result and the envelope of a run's end. */
  constructor(root, request, ended) {
    Object.assign(this, { root, request, ended });
    this.links = false;
    this.approvals = new Map();
    this.known = null;
    this.status = "";
    this.note = "";
    this.failures = 0;
    this.began = Date.now();
    document.addEventListener("visibilitychange", () => this.isWaiting() && !document.hidden && this.look());
    setInterval(() => this.tick(), 1000);
  }

  isWaiting() {
    return this.known !== null && !["succeeded", "failed", "cancelled", "gone"].includes(this.status);
  }

  /** Takes what a result says of a run's approvals. Returns true if there are any. */
  take(result, envelope) {
    const said = result?._meta?.[ApprovalCards.META];
    if (said !== undefined && Array.isArray(said.approvals)) {
      this.known = { ...this.known, ...said, cancel: said.cancel };
      for (const approval of said.approvals) {
        const before = this.approvals.get(approval.id);
        this.approvals.set(approval.id, { ...before, ...approval });
      }
    }
    if (this.known === null) return false;
    const run = envelope?.data?.run;
    if (run?.id === this.known.run) {
      this.status = String(run.status);
      this.note = "";
      if (run.result !== undefined) this.ended(result, run.result);
    } else if (envelope?.ok === false) {
      // It was forgotten, or its server has ended. What the cards say of open approvals is not true any more.
      if (envelope.code === "not_found") this.status = "gone";
      this.note = String(envelope.error ?? "the state cannot be read");
    }
    if (!this.isWaiting()) {
      for (const approval of this.approvals.values()) if (approval.state === "open") approval.state = "gone";
    }
    this.draw();
    return true;
  }

  /** Makes a call about the run, or asks for its status; then asks again from time to time. */
  async look(wanted = null) {
    clearTimeout(this.timer);
    this.wanted = wanted ?? this.wanted ?? null;
    if (this.busy || !this.isWaiting()) return;
    this.busy = true;
    const call = this.wanted ?? this.known.status;
    this.wanted = null;
    try {
      const result = await this.request("tools/call", { name: call.tool, arguments: call.arguments });
      this.failures = 0;
      this.take(result, ApprovalCards.envelopeOf(result));
    } catch (error) {
      this.failures += 1;
      this.note = `The state cannot be read: ${error.message}`;
      this.draw();
    }
    this.busy = false;
    if (this.wanted !== null) return this.look();
    // Persons take their time: less often the longer it takes. A page that comes into view looks at once.
    const pause = Math.min(Math.max(2000, (Date.now() - this.began) / 10), 15000) * 2 ** this.failures;
    if (this.failures < ApprovalCards.FAILURES && !document.hidden) this.timer = setTimeout(() => this.look(), pause);
  }

  /** The envelope in a result. Clients of which Loggia knows that they read text get it as text alone. */
  static envelopeOf(result) {
    const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
    if (isObject(result?.structuredContent)) return result.structuredContent;
    const text = result?.content?.[0]?.text;
    try {
      const parsed = JSON.parse(text);
      if (isObject(parsed) && typeof parsed.ok === "boolean") return parsed;
    } catch { /* It is a text. */ }
    return result?.isError ? { ok: false, error: text ?? "" } : { ok: true, data: text ?? null };
  }

  /** Hidden characters as escapes: what a person reads is what is there. */
  static visible(value) {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    const shown = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) =>
      char === "\n" ? char : `\\u{${char.codePointAt(0).toString(16)}}`);
    return shown.length > 2000 ? `${shown.slice(0, 2000)}…` : shown;
  }

  static node(tag, className, ...content) {
    const node = document.createElement(tag);
    node.className = className;
    node.append(...content);
    return node;
  }

  draw() {
    const drawn = JSON.stringify([[...this.approvals.values()], this.known, this.status, this.note, this.failures, this.links]);
    // What has not changed stays: a person may be about to click it, or reads it.
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const cards = [...this.approvals.values()].map((approval) => this.card(approval));
    const outcome = ApprovalCards.OUTCOMES[this.status];
    if (outcome !== undefined) cards.push(ApprovalCards.node("p", "quiet", outcome));
    if (this.note !== "") cards.push(ApprovalCards.node("p", "quiet", ApprovalCards.visible(this.note)));
    if (this.failures >= ApprovalCards.FAILURES) cards.push(this.button("Look again", () => {
      this.failures = 0;
      this.look();
    }));
    this.root.replaceChildren(...cards);
    this.tick();
  }

  card(approval) {
    const { node, visible, LABELS } = ApprovalCards;
    const badge = node("span", `badge ${approval.state}`, LABELS[approval.state] ?? visible(approval.state));
    badge.setAttribute("role", "status");
    const name = node("strong", "", visible(`${approval.facade}.${approval.action}`));
    const effect = node("span", "quiet", visible(approval.effect));
    const card = node("article", "card", node("header", "", badge, name, effect), node("p", "", visible(approval.question)));
    const entries = Object.entries(approval.arguments ?? {});
    if (entries.length > 0) {
      const list = node("dl", "arguments");
      for (const [key, value] of entries) list.append(node("dt", "", visible(key)), node("dd", "", visible(value)));
      card.append(list);
    }
    if (Array.isArray(approval.through) && approval.through.length > 0) {
      card.append(node("p", "quiet", `Through ${visible(approval.through.join(" → "))}`));
    }
    if (approval.state !== "open") {
      card.append(node("p", "quiet", visible(approval.id)));
    } else {
      const time = node("span", "");
      time.dataset.expires = approval.expires_ms;
      card.append(node("p", "quiet", time, ` · ${visible(approval.id)}`));
      card.append(node("p", "", "An operator decides, outside of this conversation: ", node("code", "", `loggia approvals show ${visible(approval.id)}`),
        approval.page === undefined ? ", or on the operator's page." : ", or on "));
      const actions = node("div", "actions");
      if (approval.page !== undefined) {
        card.lastChild.append(node("span", "address", visible(approval.page)), ".");
        if (this.links) actions.append(this.button("Open the operator's page", () => this.open(approval.page)));
      }
      if (this.known.cancel) actions.append(this.button("Cancel the call", () => this.look(this.known.cancel)));
      card.append(actions);
    }
    return card;
  }

  button(text, act) {
    const button = ApprovalCards.node("button", "", text);
    button.type = "button";
    button.addEventListener("click", (event) => event.isTrusted && act());
    return button;
  }

  async open(url) {
    try {
      const answer = await this.request("ui/open-link", { url });
      if (answer?.isError) throw new Error("the client did not open the page");
    } catch (error) {
      this.note = `${error.message}: open the address yourself`;
      this.draw();
    }
  }

  /** Shows how much time is left. */
  tick() {
    for (const node of this.root.querySelectorAll("[data-expires]")) {
      const at = Number(node.dataset.expires), left = Math.max(0, at - Date.now()) / 1000;
      const amount = left >= 90 ? `${Math.round(left / 60)} min` : `${Math.ceil(left)} s`;
      node.textContent = `Expires ${new Date(at).toLocaleString()} (in ${amount})`;
    }
  }
}
