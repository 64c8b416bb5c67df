// What was answered: found on the server, read page by page.

import * as api from "./api.js";
import * as detail from "./detail.js";
import { button, h, icon, replace } from "./dom.js";
import { on, state } from "./store.js";
import { moment, names, span } from "./text.js";
import { METHOD_WORD, STATE_ICON, STATE_WORD, agentOf, riskOf } from "./words.js";

const PAGE = 50;

const query = { text: "", approver: "", session: "", outcome: "", rule: "" };
const rows = h("tbody");
const table = h("table", { class: "history", "aria-label": "History" },
  h("thead", null, h("tr", null, ["Ended", "Call", "How", "By", "After"].map((title) => h("th", { scope: "col" }, title)))), rows);
const note = h("p", { class: "empty", hidden: true });
const more = button("Load more", { class: "load", hidden: true });
const field = (name, label, type = "search") => {
  const input = h("input", { type, placeholder: label, "aria-label": label });
  let pause = 0;
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      query[name] = input.value.trim();
      load();
    }, 250);
  });
  return input;
};
const outcome = h("select", { "aria-label": "How it ended" }, h("option", { value: "" }, "Every ending"),
  ["released", "refused", "expired", "withdrawn"].map((word) => h("option", { value: word }, STATE_WORD[word])));
outcome.addEventListener("change", () => {
  query.outcome = outcome.value;
  load();
});
const isSearched = () => Object.values(query).some(Boolean);
const search = field("text", "Search calls, reasons, comments");
export const element = h("section", { class: "wide-view", "aria-label": "History" },
  h("div", { class: "tools", role: "search" }, h("span", { class: "search" }, icon("search"), search), field("approver", "Answered by"), field("session", "Session"), outcome, field("rule", "Rule")), table, note, more);

let last = null;
let turn = 0;
const listed = new Map();

function row(request) {
  const { settled } = request;
  const open = button(h("span", null, h("b", null, request.tool), h("code", null, request.display.summary)), { class: "open", on: { click: () => detail.open(request.id, { request }) } });
  return h("tr", { class: `state-${request.state} risk-${riskOf(request)}`, data: { id: request.id } },
    h("td", { class: "when" }, settled ? moment(settled.at) : ""),
    h("td", { class: "call" }, open, h("span", { class: "faint" }, `${agentOf(request)}, ${request.decision.reason}`),
      settled?.comment && h("q", null, settled.comment), request.was_edited && h("span", { class: "tag" }, "edited")),
    h("td", { class: "how" }, h("span", { class: `tag state-${request.state}` }, icon(STATE_ICON[request.state] ?? "info"), STATE_WORD[request.state] ?? request.state),
      settled && !["user_approved", "user_denied"].includes(settled.method) && h("span", { class: "faint" }, METHOD_WORD[settled.method] ?? settled.method)),
    h("td", { class: "by" }, settled?.approvers?.length ? names(settled.approvers) : "nobody"),
    h("td", { class: "after" }, settled ? span(settled.at - request.opened) : ""));
}

async function load({ further = false } = {}) {
  const mine = ++turn;
  more.disabled = true;
  table.setAttribute("aria-busy", "true");
  try {
    const { requests } = await api.history({ ...query, limit: PAGE, before: further ? last : undefined });
    if (mine !== turn) return;
    if (!further) listed.clear(), rows.replaceChildren();
    for (const request of requests) {
      if (listed.has(request.id)) continue;
      listed.set(request.id, request);
      rows.append(row(request));
    }
    last = requests.at(-1)?.settled?.at ?? last;
    more.hidden = requests.length < PAGE;
    note.hidden = listed.size > 0;
    replace(note, isSearched() ? "Nothing fits the search." : "Nothing has been answered yet.");
  } catch (problem) {
    if (mine !== turn) return;
    note.hidden = false;
    replace(note, `The history cannot be read: ${problem.message}.`);
  } finally {
    more.disabled = false;
    table.removeAttribute("aria-busy");
  }
}

export function start() {
  more.addEventListener("click", () => load({ further: true }));
  on("settled", (request) => {
    if (!element.isConnected || isSearched() || listed.has(request.id)) return;
    listed.set(request.id, request);
    rows.prepend(row(request));
    note.hidden = true;
  });
}

export const show = () => {
  if (state.person) load();
};
export const focusSearch = () => search.focus();
