// Everything about one request: beside the list where there is room, over it where there is not.

import * as api from "./api.js";
import * as blocks from "./blocks.js";
import { answerBar, timeOf } from "./cards.js";
import { button, h, icon, replace } from "./dom.js";
import { paint, ranges } from "./highlight.js";
import { now, on, requests } from "./store.js";
import { ago, count, moment, names, span } from "./text.js";
import { toast } from "./toasts.js";
import { METHOD_WORD, RISK_WORD, STATE_ICON, STATE_WORD, agentOf, ending } from "./words.js";

export const element = h("aside", { class: "detail", "aria-label": "Details", tabindex: "-1", hidden: true });
const narrow = matchMedia("(max-width: 1099px)");

let shown = null;
let opener = null;
let countdown = null;
let changed = 0;
let answer = () => undefined;

export const isOpen = () => !element.hidden;

// Each request has an address of its own, so that it can be linked to and Back leads out of it.
const addressOf = (id) => `#request/${encodeURIComponent(id)}`;
export const idIn = (hash) => {
  const found = /^#request\/([\w%-]+)$/.exec(hash);
  if (!found) return null;
  try {
    return decodeURIComponent(found[1]);
  } catch {
    // Somebody else's link: no request has such a name.
    return null;
  }
};
let pushed = false;

function setAddress(id) {
  if (location.hash === addressOf(id)) return;
  if (idIn(location.hash)) window.history.replaceState(null, "", addressOf(id));
  else {
    window.history.pushState(null, "", addressOf(id));
    pushed = true;
  }
}

function leaveAddress() {
  if (!idIn(location.hash)) return;
  if (pushed) window.history.back();
  else window.history.replaceState(null, "", `#${document.body.dataset.tab ?? "pending"}`);
  pushed = false;
}

// Opens the details of a request the page knows, or of one it is given.
export async function open(id, { request, focus = true } = {}) {
  let found = request ?? requests.get(id);
  if (!found) {
    try {
      found = await api.request(id);
    } catch (problem) {
      return toast("bad", `The request cannot be shown: ${problem.message}.`);
    }
  }
  if (element.hidden) opener = document.activeElement;
  setAddress(id);
  show(found);
  element.hidden = false;
  document.body.classList.add("with-detail");
  cover();
  if (focus) element.focus({ preventScroll: true });
  element.scrollTop = 0;
  return undefined;
}

export function close() {
  if (element.hidden) return false;
  element.hidden = true;
  leaveAddress();
  shown = null;
  countdown = null;
  document.body.classList.remove("with-detail");
  cover();
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  return true;
}

// Where the details cover the list, the list cannot be reached behind them.
function cover() {
  const covered = isOpen() && narrow.matches;
  for (const id of ["bar", "view"]) document.getElementById(id)?.toggleAttribute("inert", covered);
}
narrow.addEventListener("change", cover);

export function start({ perform, answersAtOnce }) {
  answer = (name, event) => {
    if (answersAtOnce(shown, name) && performance.now() - changed < 450) return toast("note", "It changed just now, so nothing was answered. Look again, and answer.");
    return perform(shown, name, event);
  };
  const renew = (request) => {
    if (shown?.id !== request.id || request.version <= shown.version) return;
    if (request.binding !== shown.binding) changed = performance.now();
    const top = element.scrollTop;
    const focused = element.contains(document.activeElement) ? document.activeElement.dataset?.act : undefined;
    show(request);
    element.scrollTop = top;
    if (focused) (element.querySelector(`[data-act="${focused}"]`) ?? element).focus({ preventScroll: true });
  };
  on("changed", ({ request }) => renew(request));
  on("settled", renew);
  setInterval(() => countdown?.tick(), 500);
}

function section(title, ...content) {
  return h("section", null, h("h3", null, title), ...content);
}

function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
    .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

function digest(value) {
  if (!value) return null;
  const copy = button(icon("copy"), { class: "icon-only", "aria-label": "Copy this digest" });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(value);
      toast("good", "Copied.");
    } catch {
      toast("note", "The browser does not allow copying here.");
    }
  });
  return h("span", { class: "digest" }, h("code", null, value), copy);
}

function argument(name, value, hidden) {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value, null, 2);
  const pre = h("pre", { class: "code" });
  const known = isText && ["command", "cmd"].includes(name) ? { format: "code", language: "sh" } : isText ? {} : { format: "json" };
  paint(pre, text, ranges(text, known));
  return h("div", { class: "argument" }, h("h4", null, h("code", null, name), h("span", { class: "faint" }, isText ? count(text.length, "character") : "JSON"), hidden && h("span", { class: "tag" }, "partly hidden")), pre);
}

function findings({ findings: list = [] }) {
  if (!list.length) return h("p", { class: "faint" }, "No rule matched; the default policy asks.");
  return h("ul", { class: "findings" }, list.map((one) => h("li", { class: `risk-${one.risk}` },
    h("p", null, h("code", { class: "rule" }, one.rule), h("span", { class: `tag verdict-${one.verdict}` }, one.verdict), h("span", { class: "faint" }, `${RISK_WORD[one.risk] ?? one.risk}${one.risk === "none" ? "" : " risk"}${one.layer ? `, ${one.layer} layer` : ""}`)),
    h("p", null, one.reason), one.part && h("pre", { class: "code small" }, one.part))));
}

function context({ context: given = {} }) {
  const word = (key) => key.replaceAll("_", " ");
  const value = (one) => (Array.isArray(one) && one.every((each) => typeof each === "string") ? one.join(", ") : typeof one === "string" ? one : JSON.stringify(one));
  const pairs = Object.entries(given).filter(([key]) => key !== "intent").map(([key, one]) => [word(key), value(one)]);
  return pairs.length ? facts(pairs) : null;
}

function outcome(request) {
  const { settled } = request;
  if (!settled) return null;
  return h("div", { class: `outcome state-${request.state}` }, icon(STATE_ICON[request.state]),
    h("div", null, h("p", null, h("b", null, `${ending(request)}.`)),
      settled.comment && h("p", null, h("q", null, settled.comment)),
      h("p", { class: "faint" }, `${moment(settled.at)}, after ${span(settled.at - request.opened)}. ${METHOD_WORD[settled.method] ?? settled.method}: ${settled.reason}`)));
}

function show(request) {
  shown = request;
  const { decision, terms, display } = request;
  const pending = request.state === "pending";
  const time = pending ? timeOf(request, (name, event) => answer(name, event)) : null;
  countdown = time?.shown ?? null;
  const hidden = new Set(display.hidden ?? []);
  element.className = `detail risk-${decision.risk}`;
  const args = Object.entries(display.arguments ?? {});
  replace(element,
    h("header", null,
      blocks.pill(request), h("h2", null, request.tool),
      !pending && h("span", { class: `tag state-${request.state}` }, STATE_WORD[request.state] ?? request.state),
      time?.element,
      button(icon("cross"), { class: "icon-only close", "aria-label": "Close the details", on: { click: close } })),
    h("div", { class: "scroll" },
      outcome(request),
      h("p", { class: "reason" }, decision.reason),
      decision.instead && h("p", { class: "instead" }, h("b", null, "Instead: "), decision.instead),
      blocks.intent(request), blocks.editedNote(request),
      blocks.warnings(request),
      section("What would run", blocks.body(request, { whole: true })),
      request.checks.length > 0 && section("Checks", blocks.checks(request, { whole: true })),
      display.paths?.length > 0 && section("Files and directories", blocks.paths(request, { most: 200 })),
      section("Rules that matched", findings(decision)),
      args.length > 0 && section("Arguments in full", args.map(([name, value]) => argument(name, value, hidden.has(name)))),
      request.edits?.length > 0 && section("Changes", request.edits.map((edit) => h("div", { class: "change" }, h("p", null, h("b", null, edit.by), ` changed ${names(edit.changed)} ${ago(now() - edit.at)}`), blocks.editDiff(edit)))),
      request.approvals?.length > 0 && section("Said yes", h("ul", { class: "plain" }, request.approvals.map((one) => h("li", null, h("b", null, one.approver), one.on_behalf_of && ` for ${one.on_behalf_of}`, h("span", { class: "faint" }, ` ${moment(one.at)}`))))),
      section("Who and where", facts([
        ["agent", agentOf(request)], ["session", h("code", null, request.session)], ["directory", h("code", null, request.directory)],
        request.workspace !== request.directory ? ["workspace", h("code", null, request.workspace)] : ["", ""],
        ["asked", moment(request.opened)], ["expires", pending ? (request.expires === null ? "never: it waits until it is answered" : moment(request.expires)) : null],
        ["people needed", String(terms.required)], ["may answer", terms.approvers?.length ? terms.approvers.join(", ") : "whoever is signed in"],
        ["may be changed", terms.editable?.length ? terms.editable.join(", ") : "nothing"]]), context(request)),
      section("Bound to", h("p", { class: "faint" }, "An answer counts for exactly this call, under this policy, with the files it names as they are."),
        facts([["request", h("code", null, request.id)], ["call", digest(decision.call)], ["policy", digest(decision.policy)], ["binding", digest(request.binding)],
          ...(decision.files ?? []).map((file) => ["read", h("span", { class: "digest" }, h("code", null, typeof file === "string" ? file : Object.values(file).filter((part) => typeof part === "string").join(" ")))])]))),
    pending && h("footer", null, answerBar(request, (name, event) => answer(name, event))));
}
