// The sessions as they stand: what waits in them, which rules people left, whether prompts are off.

import * as api from "./api.js";
import { h, icon, replace } from "./dom.js";
import { now, on } from "./store.js";
import { ago } from "./text.js";

const room = h("div", { class: "sessions" });
export const element = h("section", { class: "wide-view", "aria-label": "Sessions" }, room);

const SUSPENDED = {
  all: "Nothing is asked for the rest of the session",
  turn: "Nothing is asked until the turn ends", idle: "Nothing is asked until the session is idle",
};

function warning(text) {
  return h("ul", { class: "warnings" }, h("li", { class: "warning" }, icon("warn"), h("span", null, text)));
}

function suspension(word) {
  return word && warning(`${SUSPENDED[word] ?? `Prompts are off: ${word}`}. What is denied stays denied.`);
}

function marked(mark) {
  return mark && warning(`Text from ${mark.tool ?? mark.origin} carried instructions (${mark.severity}, record ${mark.record ?? "lost"}). What reaches the network or secrets is asked about until “holdpoint permissions unmark”.`);
}

function rules(title, kind, list) {
  if (!list.length) return null;
  return h("div", { class: `rules ${kind}` }, h("h4", null, title), h("ul", null, list.map((pattern) => h("li", null, h("code", null, pattern)))));
}

function card(session) {
  const parts = [rules("Always allowed", "allow", session.allow), rules("Never allowed", "deny", session.deny)].filter(Boolean);
  return h("article", { class: "session" },
    h("header", null, h("h3", null, session.agent || "Session"), h("code", null, session.session),
      session.pending > 0 && h("a", { class: "tag waits", href: "#pending" }, `${session.pending} waiting`),
      session.last && h("span", { class: "faint" }, `last seen ${ago(now() - session.last)}`)),
    suspension(session.suspended), marked(session.mark),
    parts.length ? h("div", { class: "two" }, parts) : h("p", { class: "faint" }, "No rules of its own."));
}

let pause = 0;
async function load() {
  clearTimeout(pause);
  try {
    const { sessions } = await api.sessions();
    replace(room, sessions.length ? sessions.map(card) : h("p", { class: "empty" }, "No session is known yet."));
  } catch (problem) {
    replace(room, h("p", { class: "empty" }, `The sessions cannot be read: ${problem.message}.`));
  }
}

// An event of a request may have changed its session: it is read again, once for many of them.
export function start() {
  for (const kind of ["snapshot", "opened", "changed", "settled"]) {
    on(kind, () => {
      if (!element.isConnected) return;
      clearTimeout(pause);
      pause = setTimeout(load, 300);
    });
  }
}

export const show = load;
