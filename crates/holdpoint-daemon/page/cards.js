// The card of a request that waits.

import { isBusy } from "./answers.js";
import * as blocks from "./blocks.js";
import { button, h, icon, replace } from "./dom.js";
import { now, state } from "./store.js";
import { ago } from "./text.js";
import { METHOD_WORD, RISKS, STATE_ICON, agentOf, ending, riskOf, shortSession } from "./words.js";

// The answers a request allows. `act` is the word the list knows them by.
export function answers(request) {
  const { terms, display } = request;
  const hidden = new Set(display.hidden ?? []);
  const editable = (terms.editable ?? []).some((key) => key in display.arguments && !hidden.has(key));
  const asks = terms.phrase ? "…" : "";
  return [
    { act: "release", label: `Release${asks}`, key: "y", icon: "check", class: "release" },
    { act: "refuse", label: "Refuse", key: "n", icon: "cross", class: "refuse" },
    { act: "comment", label: "Comment…", title: "Refuse, and tell the agent why", key: "c" },
    editable && { act: "edit", label: "Edit…", key: "e" },
    terms.offers?.length && { act: "rule", label: "Always or never…", title: "Leave a rule behind", key: "a" },
    terms.suspendable && terms.required < 2 && { act: "suspend", label: "Stop asking…", title: "Release this and what comes next", key: "s" },
  ].filter(Boolean);
}

// One loud button; refusing beside it, and the rest behind More.
export function answerBar(request, act) {
  if (state.person?.role === "viewer") return h("p", { class: "faint" }, "You may look at this, and not answer.");
  const made = answers(request).map((one) => button(one.label,
    { key: one.key, class: one.class, title: one.title, data: { act: one.act }, on: { click: (event) => act(one.act, event) } }, one.icon && icon(one.icon)));
  const [release, refuse, ...rest] = made;
  return h("div", { class: "answers", role: "group", "aria-label": "Answer" }, release, refuse,
    h("details", { class: "rest" }, h("summary", null, "More"), h("div", { class: "row" }, rest)));
}

export function timeOf(request, act) {
  const shown = blocks.countdown(request);
  const longer = request.expires !== null &&
    button("+5 min", { class: "longer", title: "Give it five more minutes", "aria-label": "+5 min, more time for this request", data: { act: "extend" }, on: { click: (event) => act("extend", event) } });
  return { shown, element: h("div", { class: "time" }, shown, longer) };
}

// A card: an article whose content is made when it is needed, since there may be hundreds.
export class Card {
  constructor(request, act) {
    this.act = (name, event) => act(this, name, event);
    this.selected = false;
    this.changed = this.shifted = -Infinity;
    this.element = h("article", { class: "card", tabindex: "-1", data: { id: request.id } });
    this.checkbox = h("input", { type: "checkbox" });
    this.checkbox.addEventListener("click", (event) => this.act("select", event));
    this.update(request);
  }

  get id() {
    return this.request.id;
  }

  update(request) {
    const again = this.request && this.request.binding !== request.binding;
    this.request = request;
    this.words = null;
    this.element.setAttribute("aria-label", `${request.tool}, ${riskOf(request)} risk, from ${request.agent}`);
    for (const risk of RISKS) this.element.classList.toggle(`risk-${risk}`, risk === riskOf(request));
    if (again) this.changed = performance.now();
    if (this.filled) this.fill();
  }

  // What the filter looks at.
  get text() {
    if (this.words === null) {
      const { id, tool, agent, session, directory, decision, display, context } = this.request;
      const paths = (display.paths ?? []).map((one) => one.path);
      this.words = [id, tool, agentOf(this.request), agent, session, directory, decision.reason, decision.rule, display.summary, display.details, context?.intent, ...paths]
        .filter(Boolean).join("\n").toLowerCase();
    }
    return this.words;
  }

  select(selected) {
    this.selected = selected;
    this.checkbox.checked = selected;
    this.element.classList.toggle("selected", selected);
  }

  fill() {
    const { request, act } = this;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset?.act : null;
    this.filled = true;
    if (request.state !== "pending") return this.end();
    this.checkbox.setAttribute("aria-label", `Select ${request.tool} ${request.id}`);
    const time = timeOf(request, act);
    this.countdown = time.shown;
    const { decision } = request;
    replace(this.element,
      h("header", null,
        h("label", { class: "choose" }, this.checkbox),
        blocks.pill(request),
        h("h3", null, request.tool),
        decision.verdict === "review" && h("span", { class: "tag" }, "review"),
        h("span", { class: "who" }, agentOf(request)),
        time.element),
      h("div", { class: "inner" },
        h("p", { class: "reason" }, decision.reason),
        blocks.intent(request),
        blocks.editedNote(request),
        blocks.body(request),
        blocks.warnings(request),
        blocks.paths(request),
        blocks.checks(request),
        h("p", { class: "meta" },
          blocks.quorum(request),
          blocks.ruleOf(request) && h("span", null, icon("rule"), h("code", null, decision.rule)),
          h("span", { title: request.directory }, icon("folder"), h("code", null, request.directory)),
          request.context?.environment && h("span", { class: "environment" }, request.context.environment),
          h("span", { title: `Session ${request.session}` }, `session ${shortSession(request.session)}`),
          h("span", { class: "age", title: new Date(request.opened).toLocaleString() }, `asked ${ago(now() - request.opened)}`),
          h("span", { class: "id" }, request.id))),
      h("footer", null, answerBar(request, act),
        button("Details", { class: "quiet details", "aria-keyshortcuts": "Enter", data: { act: "details" }, on: { click: (event) => act("details", event) } })));
    this.checkbox.checked = this.selected;
    this.busy(isBusy(request.id));
    if (focused) (this.element.querySelector(`[data-act="${focused}"]`) ?? this.element).focus({ preventScroll: true });
    return undefined;
  }

  // How it ended, in the place of the answers: the card keeps its size, so that nothing moves under
  // the pointer while it is read.
  end() {
    const { request } = this;
    if (!this.element.firstChild) return;
    this.element.classList.add("ended", `state-${request.state}`);
    this.checkbox.disabled = true;
    const method = request.settled && !["user_approved", "user_denied"].includes(request.settled.method) ? METHOD_WORD[request.settled.method] : null;
    const comment = request.settled?.comment;
    replace(this.element.querySelector("footer"),
      h("p", { class: "ending" }, icon(STATE_ICON[request.state]), h("b", null, ending(request)),
        method && request.state !== "expired" && h("span", null, `(${method})`), comment && h("q", null, comment)));
    this.element.querySelector(".time")?.remove();
    this.countdown = null;
  }

  busy(is) {
    this.element.setAttribute("aria-busy", is ? "true" : "false");
    for (const one of this.element.querySelectorAll(".answers button")) one.disabled = is;
  }

  tick() {
    this.countdown?.tick();
    const age = this.element.querySelector(".age");
    if (age && this.request.state === "pending") {
      const text = `asked ${ago(now() - this.request.opened)}`;
      if (age.textContent !== text) age.textContent = text;
    }
  }
}
