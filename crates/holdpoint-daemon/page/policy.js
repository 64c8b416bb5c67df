// The policy in force: its layers, and on which terms people are asked.

import * as api from "./api.js";
import { h, icon, replace } from "./dom.js";
import { paint, ranges } from "./highlight.js";
import { requests } from "./store.js";
import { names, span } from "./text.js";

const room = h("div", { class: "policy" });
const workspace = h("input", { type: "text", list: "workspaces", placeholder: "your home directory", "aria-label": "Workspace", spellcheck: "false" });
const known = h("datalist", { id: "workspaces" });
export const element = h("section", { class: "wide-view", "aria-label": "Policy" },
  h("form", { class: "tools" }, h("label", { class: "inline" }, "As it holds in ", workspace), known, h("button", { type: "submit" }, "Show")), room);
element.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  load();
});

const word = (value) => (value === null || value === undefined ? "not stated" : typeof value === "string" ? value : null);

function block(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const pre = h("pre", { class: "code" });
  return paint(pre, text, ranges(text, { format: "json" }));
}

function stated(title, value) {
  const short = word(value);
  return h("div", { class: "stated" }, h("h3", null, title), short === null ? block(value) : h("p", null, short));
}

// The terms in words; whatever this page has no words for, as it is written.
function terms({ deadline, required, approvers, ...others } = {}) {
  const said = [
    deadline === null || deadline === 0 ? "A call waits until it is answered." : deadline && `A call that nobody answers within ${span(1000 * deadline)} is refused.`,
    required && (required === 1 ? "One person must say yes." : `${required} people must say yes.`),
    approvers && (approvers.length ? `${names(approvers)} may answer.` : "Whoever is signed in may answer."),
  ];
  return h("div", { class: "stated" }, h("h3", null, "On these terms"), said.filter(Boolean).map((line) => h("p", null, line)), Object.keys(others).length > 0 && block(others));
}

function layer(one) {
  return h("details", { class: "layer" },
    h("summary", null, h("b", null, one.name), h("span", { class: "tag" }, one.authority), h("span", { class: `tag trust-${one.trust}` }, icon(one.trust === "untrusted" ? "warn" : "check"), one.trust),
      one.default && h("span", { class: "faint" }, `default ${one.default}`), h("code", { class: "faint" }, one.digest)),
    one.text ? block(one.text) : h("p", { class: "faint" }, "This layer has no text of its own."));
}

async function load() {
  const names = [...new Set([...requests.values()].map((request) => request.workspace))];
  replace(known, names.map((name) => h("option", { value: name })));
  try {
    const policy = await api.policy(workspace.value.trim() || undefined);
    replace(room,
      h("div", { class: "terms" }, stated("Default", policy.default), stated("People are asked by", policy.channel ?? "the daemon while it runs, else the agent's own dialog"), terms(policy.approval ?? undefined)),
      h("h3", null, "Layers, the highest authority first"),
      policy.layers.length ? policy.layers.map(layer) : h("p", { class: "faint" }, "No layer says anything; what is built in holds."));
    if (policy.layers.length === 1) room.querySelector("details").open = true;
  } catch (problem) {
    replace(room, h("p", { class: "empty" }, `The policy cannot be read: ${problem.message}.`));
  }
}

export const start = () => undefined;
export const show = load;
