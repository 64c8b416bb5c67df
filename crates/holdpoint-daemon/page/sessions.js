// The sessions as they stand: what waits in them, which rules people left, whether prompts are off; and the stop button.

import * as api from "./api.js";
import { stopping } from "./dialogs.js";
import { button, h, icon, replace } from "./dom.js";
import { now, on, state } from "./store.js";
import { ago } from "./text.js";
import { toast } from "./toasts.js";

const room = h("div", { class: "sessions" });
export const element = h("section", { class: "wide-view", "aria-label": "Sessions" }, room);

const SUSPENDED = {
  all: "Nothing is asked for the rest of the session",
  turn: "Nothing is asked until the turn ends", idle: "Nothing is asked until the session is idle",
};

function warning(text) {
  return h("ul", { class: "warnings" }, h("li", { class: "warning" }, icon("warn"), h("span", null, text)));
}

// Changes what a session remembers, and shows it as it is then.
async function change(session, what, said) {
  try {
    const { changed } = await api.changeSession(session.key, what);
    toast(changed ? "good" : "note", changed ? said : "It was gone already.");
  } catch (problem) {
    toast("bad", `That did not work: ${problem.message}.`);
  }
  await load();
}

function suspension(session) {
  const { suspended: word } = session;
  return word && [
    warning(`${SUSPENDED[word] ?? `Questions are off: ${word}`}. What is denied stays denied, and what is of critical risk is asked about.`),
    mayAnswer() && h("div", { class: "row" }, button("Ask again", { data: { act: "resume" }, on: { click: () => change(session, "resume", "Questions are asked again.") } }))];
}

function marked(session) {
  const { mark } = session;
  return mark && [
    warning(`Text from ${mark.tool ?? mark.origin} carried instructions (${mark.severity}, record ${mark.record ?? "lost"}). What reaches the network or secrets is asked about until somebody takes the mark away.`),
    mayAnswer() && h("div", { class: "row" }, button("Take the mark away", { data: { act: "unmark" }, on: { click: () => change(session, "unmark", "The mark is gone.") } }))];
}

// The plan that is open, and the calls each of its phases has covered.
function planned(session) {
  const { plan } = session;
  return plan && h("div", { class: "rules plan" }, h("h4", null, `Plan ${plan.name}: ${plan.summary}`),
    h("ul", null, plan.phases.map(({ name, covered }) => h("li", null, h("span", null, name), h("span", { class: "faint" }, `${covered} covered`))),
      h("li", null, h("span", null, "held as not in the plan"), h("span", { class: "faint" }, `${plan.outside}`))),
    h("p", { class: "faint" }, `Open until ${plan.until}; \`holdpoint plan close\` ends it.`));
}

function rules(session, title, kind) {
  const list = session[kind];
  if (!list.length) return null;
  const forget = (pattern) => button("Take back", { class: "small", "aria-label": `Take back the rule ${pattern}`, data: { act: "forget" },
    on: { click: () => change(session, { [`forget_${kind}`]: pattern }, "The rule is taken back.") } });
  return h("div", { class: `rules ${kind}` }, h("h4", null, title),
    h("ul", null, list.map((pattern) => h("li", null, h("code", null, pattern), mayAnswer() && forget(pattern)))));
}

const mayAnswer = () => state.person?.role !== "viewer";

const since = (time) => (Number.isNaN(Date.parse(time)) ? "" : `, ${ago(now() - Date.parse(time))}`);

// What is stopped, with the way back.
function stopped(one) {
  const go = async () => {
    try {
      await api.resume(one.scope);
      toast("good", `Calls of ${one.what} are judged again.`);
    } catch (problem) {
      toast("bad", `That did not work: ${problem.message}.`);
    }
    await load();
  };
  return h("article", { class: "session stopped" },
    h("header", null, h("h3", null, icon("warn"), `Stopped: ${one.what}`), h("span", { class: "faint" }, `by ${one.by}${since(one.time)}`)),
    h("p", null, one.reason ? `“${one.reason}”` : "Every call is refused until somebody lets it go on."),
    mayAnswer() && h("div", { class: "row" }, button("Let it go on", { on: { click: go } })));
}

const isStopped = (session, all) => all.some(({ scope }) => scope === "all" || scope.agent === session.agent || scope.session === session.session);

function stopButton(scope, what, label) {
  return button(label, { class: "refuse small", on: { click: () => stopping(scope, what, load) } });
}

function card(session, all) {
  const parts = [rules(session, "Always allowed", "allow"), rules(session, "Never allowed", "deny")].filter(Boolean);
  return h("article", { class: "session" },
    h("header", null, h("h3", null, session.agent || "Session"), h("code", null, session.session),
      session.pending > 0 && h("a", { class: "tag waits", href: "#pending" }, `${session.pending} waiting`),
      session.last && h("span", { class: "faint" }, `last seen ${ago(now() - session.last)}`)),
    mayAnswer() && !isStopped(session, all) && h("div", { class: "row" },
      stopButton({ session: session.session }, `the session ${session.session}`, "Stop"),
      session.agent && stopButton({ agent: session.agent }, `every session of ${session.agent}`, `Stop ${session.agent}`)),
    suspension(session), marked(session), planned(session),
    parts.length ? h("div", { class: "two" }, parts) : h("p", { class: "faint" }, "No rules of its own."));
}

let pause = 0;
async function load() {
  clearTimeout(pause);
  try {
    const { sessions, stopped: all } = await api.sessions();
    const everything = mayAnswer() && !all.some(({ scope }) => scope === "all") &&
      h("p", { class: "stop-all" }, stopButton("all", "every agent of this account", "Stop everything"));
    replace(room, everything, all.map(stopped),
      sessions.length ? sessions.map((one) => card(one, all)) : h("p", { class: "empty" }, "No session is known yet."));
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
