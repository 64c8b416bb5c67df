// Letting somebody else answer for a while.

import * as api from "./api.js";
import { button, h, icon, replace } from "./dom.js";
import { now, state } from "./store.js";
import { span } from "./text.js";
import { toast } from "./toasts.js";

const TIMES = [[3600, "for one hour"], [8 * 3600, "for eight hours"], [24 * 3600, "for a day"], [7 * 86400, "for a week"]];

export async function show() {
  const room = h("div", { class: "content" }, h("p", { class: "faint" }, "Asking the daemon…"));
  const shown = h("dialog", { "aria-label": "Let somebody answer for you" },
    h("form", { method: "dialog" }, h("header", null, h("h2", null, "Let somebody answer for you"), h("button", { class: "icon-only", "aria-label": "Close" }, icon("cross"))), room));
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
  await fill(room);
}

async function fill(room) {
  let reply;
  try {
    reply = await api.people();
  } catch (problem) {
    replace(room, h("p", null, `The people cannot be read: ${problem.message}.`));
    return;
  }
  const own = state.person.name;
  const people = reply.people.filter((one) => one.name !== own && one.role !== "viewer");
  const given = reply.delegations.filter((one) => one.from === own);
  const again = async (act, said) => {
    try {
      await act();
      toast("good", said);
    } catch (problem) {
      toast("bad", `That did not work: ${problem.message}.`);
    }
    await fill(room);
  };
  const to = h("select", { "aria-label": "Who" }, people.map((one) => h("option", { value: one.name }, one.name)));
  const time = h("select", { "aria-label": "How long" }, TIMES.map(([seconds, word]) => h("option", { value: String(seconds) }, word)));
  replace(room,
    given.map((one) => h("p", { class: "given" }, h("b", null, one.to), ` for another ${span(one.until - now())}`,
      button("End", { class: "small", on: { click: () => again(() => api.undelegate(one.to), "It is ended.") } }))),
    people.length
      ? h("div", { class: "row" }, to, time, button("Allow", { class: "primary", on: { click: () => again(() => api.delegate(to.value, Number(time.value)), `${to.value} may answer for you.`) } }))
      : h("p", null, "Nobody else may answer here. Add somebody with ", h("code", null, "holdpoint people add"), "."),
    h("p", { class: "hint" }, icon("info"), "They answer under their own name; it is recorded for whom."));
}
