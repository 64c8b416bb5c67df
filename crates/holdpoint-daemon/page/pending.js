// The view of what waits: cards in a list, found, ordered, grouped, chosen and answered.

import { extend, give, isBusy } from "./answers.js";
import { Card } from "./cards.js";
import * as detail from "./detail.js";
import * as dialogs from "./dialogs.js";
import { button, h, icon, replace } from "./dom.js";
import { choice, forget, on, pending, requests } from "./store.js";
import { count } from "./text.js";
import { announce, toast } from "./toasts.js";
import { isTyped } from "./typing.js";
import { RISKS, RISK_WORD, agentOf, riskOf, shortSession } from "./words.js";

// Cards that are filled before the first paint; the others follow when the page has time, or when
// they come near the window.
const AT_ONCE = 6;
const NEAR = "900px";
// How long a card that has ended stays to be read.
const STAYS = 3200;
// For so long after something moved by itself, an answer may be meant for what was there before.
const SETTLING = 450;

const cards = new Map();
const heads = new Map();
const filter = { text: "", risks: new Set(), agent: "", session: "" };
let order = "opened";
let grouped = choice("grouped") === "yes";
let current = null;
let lastChosen = null;
let movedOn = -Infinity;
let filling = 0;

const list = h("div", { class: "list", role: "feed", "aria-label": "Requests that wait", hidden: true });
const empty = h("div", { class: "empty", hidden: true });
const tools = h("div", { class: "tools", role: "search" });
const batch = h("div", { class: "batch-bar", role: "region", "aria-label": "The chosen requests", hidden: true });
export const element = h("section", { class: "pending", "aria-label": "Pending" }, h("div", { class: "column" }, tools, empty, list, batch));

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    const card = cards.get(target.dataset.id);
    if (card && !card.filled) card.fill();
  }
}, { rootMargin: NEAR });

// On a phone the answers of a card stay at the edge of the screen, but only once the card has been
// scrolled up far enough to be read: nothing is answered by its last line.
const reach = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const card = cards.get(target.dataset.id);
    if (!card || target.classList.contains("reached") === isIntersecting) continue;
    target.classList.toggle("reached", isIntersecting);
    card.shifted = performance.now();
  }
}, { rootMargin: "0px 0px -50% 0px" });

const shown = () => [...list.children].filter((one) => one.classList.contains("card")).map((one) => cards.get(one.dataset.id)).filter(Boolean);
const waiting = () => shown().filter((card) => card.request.state === "pending");
const chosen = () => waiting().filter((card) => card.selected);

// ---- what is shown, in which order

function fits(card) {
  const { request } = card;
  if (filter.risks.size && !filter.risks.has(riskOf(request))) return false;
  if (filter.agent && agentOf(request) !== filter.agent) return false;
  if (filter.session && request.session !== filter.session) return false;
  return !filter.text || filter.text.split(/\s+/).every((word) => card.text.includes(word));
}

const ORDERS = {
  opened: (one, other) => one.opened - other.opened,
  expires: (one, other) => (one.expires ?? Infinity) - (other.expires ?? Infinity) || one.opened - other.opened,
  risk: (one, other) => RISKS.indexOf(riskOf(one)) - RISKS.indexOf(riskOf(other)) || one.opened - other.opened,
};

function arrange() {
  const fitting = [...cards.values()].filter(fits);
  fitting.sort((one, other) => ORDERS[order](one.request, other.request) || (one.id < other.id ? -1 : 1));
  let wanted = fitting.map((card) => card.element);
  if (grouped) {
    const groups = Map.groupBy(fitting, (card) => card.request.session);
    wanted = [...groups].flatMap(([session, members]) => [head(session, members), ...members.map((card) => card.element)]);
  }
  shift(wanted);
  const keep = new Set(wanted);
  for (const one of [...list.children]) if (!keep.has(one)) one.remove();
  let at = list.firstElementChild;
  for (const one of wanted) {
    if (one === at) at = at.nextElementSibling;
    else list.insertBefore(one, at);
  }
  const total = fitting.length;
  fitting.forEach((card, index) => {
    card.element.setAttribute("aria-posinset", index + 1);
    card.element.setAttribute("aria-setsize", total);
  });
  let now = 0;
  for (const card of fitting) {
    if (card.filled) continue;
    if (now < AT_ONCE) card.fill(), (now += 1);
    else near.observe(card.element);
  }
  fillLater();
  const none = total === 0;
  empty.hidden = !none;
  // A feed without articles is none.
  list.hidden = none;
  if (none) {
    replace(empty, cards.size
      ? [h("h2", null, "Nothing fits the filter"), h("p", null, `${count(cards.size, "request")} ${cards.size === 1 ? "waits" : "wait"}.`), button("Clear the filter", { on: { click: clearFilter } })]
      : [icon("check"), h("h2", null, "Nothing waits"), h("p", null, "When a rule holds a call, it appears here.")]);
  }
  if (!current || !cards.has(current)) current = null;
  list.querySelectorAll(".card[tabindex='0']").forEach((one) => one.setAttribute("tabindex", "-1"));
  (cards.get(current) ?? shown()[0])?.element.setAttribute("tabindex", "0");
  showBatch();
}

function head(session, members) {
  if (!heads.has(session)) heads.set(session, h("div", { class: "group" }));
  const element = heads.get(session);
  replace(element, h("h2", null, `Session ${session}`), h("span", { class: "faint" }, `${agentOf(members[0].request)}, ${count(members.length, "request")}`),
    button("Select all", { class: "quiet small", on: { click: () => members.forEach((card) => choose(card, true)) } }));
  return element;
}

// Cards that nobody has scrolled to yet are filled in the page's spare time, so that the browser's
// own search finds them.
function fillLater() {
  if (filling) return;
  const spare = window.requestIdleCallback ?? ((act) => setTimeout(() => act({ timeRemaining: () => 8 }), 50));
  const step = (time) => {
    for (const card of cards.values()) {
      if (card.filled) continue;
      if (time.timeRemaining() < 3) return spare(step);
      near.unobserve(card.element);
      card.fill();
    }
    filling = 0;
    return undefined;
  };
  // Not before what is in sight has been painted.
  filling = setTimeout(() => spare(step), 400);
}

// Notes which cards are about to be somewhere else: those behind the first that comes or goes.
function shift(wanted) {
  const first = [...list.children].findIndex((one, index) => wanted[index] !== one);
  if (first < 0) return;
  const now = performance.now();
  for (const one of wanted.slice(first)) {
    const card = cards.get(one.dataset.id);
    if (card) card.shifted = now;
  }
}

// ---- the tools above the list

const search = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter by text", "aria-keyshortcuts": "/" });
const risks = h("div", { class: "risks", role: "group", "aria-label": "Risk" });
const agents = h("select", { "aria-label": "Agent" });
const sessions = h("select", { "aria-label": "Session" });
const orders = h("select", { "aria-label": "Order" },
  h("option", { value: "opened" }, "Waiting longest"), h("option", { value: "expires" }, "Expires first"), h("option", { value: "risk" }, "Highest risk"));
const group = h("input", { type: "checkbox", checked: grouped });
const all = h("input", { type: "checkbox", "aria-label": "Select all shown" });
const allWords = h("span", null, "Select all");
const found = h("span", { class: "faint found" });
const more = button("More", { class: "quiet filters", "aria-label": "More filters and the order", "aria-expanded": "false" }, icon("filter"));

function setUpTools() {
  let pause = 0;
  search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      filter.text = search.value.trim().toLowerCase();
      arrange();
      showCounts();
    }, 80);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      search.value = "";
      filter.text = "";
      arrange();
      showCounts();
      focusCard(shown()[0]);
    } else if (event.key === "Enter") focusCard(shown()[0]);
  });
  agents.addEventListener("change", () => set("agent", agents.value));
  sessions.addEventListener("change", () => set("session", sessions.value));
  orders.addEventListener("change", () => {
    order = orders.value;
    arrange();
  });
  group.addEventListener("change", () => {
    grouped = group.checked;
    choice("grouped", grouped ? "yes" : null);
    arrange();
  });
  all.addEventListener("click", () => {
    const to = all.checked;
    waiting().forEach((card) => choose(card, to, false));
    showBatch();
  });
  more.addEventListener("click", () => {
    const open = tools.classList.toggle("open");
    more.setAttribute("aria-expanded", String(open));
  });
  tools.append(
    h("label", { class: "choose all" }, all, allWords), h("span", { class: "search" }, icon("search"), search, h("kbd", { "aria-hidden": "true" }, "/")), risks, found, more,
    h("div", { class: "more" }, agents, sessions, orders, h("label", { class: "switch" }, group, "Group by session")));
}

const set = (name, value) => {
  filter[name] = value;
  arrange();
  showCounts();
};

function clearFilter() {
  Object.assign(filter, { text: "", agent: "", session: "" });
  filter.risks.clear();
  search.value = agents.value = sessions.value = "";
  arrange();
  showCounts();
}

function options(select, first, values, word = (value) => value) {
  const wanted = ["", ...values];
  if (select.dataset.values === JSON.stringify(wanted)) return;
  select.dataset.values = JSON.stringify(wanted);
  const before = select.value;
  replace(select, h("option", { value: "" }, first), values.map((value) => {
    const option = h("option", null, word(value));
    option.value = value;
    return option;
  }));
  select.value = wanted.includes(before) ? before : "";
  select.hidden = values.length < 2 && !select.value;
}

// Counts what there is, for the tools.
function showCounts() {
  const waits = pending();
  options(agents, "All agents", [...new Set(waits.map(agentOf))].sort());
  options(sessions, "All sessions", [...new Set(waits.map((request) => request.session))].sort(), shortSession);
  if (filter.agent && agents.value !== filter.agent) filter.agent = agents.value;
  if (filter.session && sessions.value !== filter.session) filter.session = sessions.value;
  const by = new Map(RISKS.map((risk) => [risk, waits.filter((request) => riskOf(request) === risk).length]));
  for (const risk of RISKS) {
    let chip = risks.querySelector(`[data-risk="${risk}"]`);
    if (!chip) {
      chip = h("button", { type: "button", class: `chip ${risk}`, "aria-pressed": "false", data: { risk } });
      chip.addEventListener("click", () => {
        if (!filter.risks.delete(risk)) filter.risks.add(risk);
        arrange();
        showCounts();
      });
      risks.append(chip);
    }
    chip.hidden = !by.get(risk) && !filter.risks.has(risk);
    chip.setAttribute("aria-pressed", String(filter.risks.has(risk)));
    replace(chip, h("span", { class: "dot" }), `${risk === "none" ? "None" : RISK_WORD[risk]} `, h("b", null, String(by.get(risk))));
  }
  const now = waiting().length;
  found.textContent = now === waits.length ? "" : `${now} of ${waits.length} shown`;
  tools.hidden = waits.length === 0 && cards.size === 0;
  tools.classList.toggle("few", waits.length < 4 && now === waits.length && !filter.text && !filter.risks.size && !filter.agent && !filter.session);
}

// ---- choosing many

function choose(card, selected, tell = true) {
  card.select(selected && card.request.state === "pending");
  if (tell) showBatch();
}

function toggle(card, event) {
  const selected = card.checkbox.checked;
  if (event?.shiftKey && lastChosen && cards.has(lastChosen)) {
    const row = waiting();
    const [one, other] = [row.indexOf(cards.get(lastChosen)), row.indexOf(card)].sort((a, b) => a - b);
    if (one >= 0) row.slice(one, other + 1).forEach((each) => choose(each, selected, false));
  }
  lastChosen = card.id;
  choose(card, selected);
}

function showBatch() {
  const row = waiting();
  const some = row.filter((card) => card.selected);
  all.checked = row.length > 0 && some.length === row.length;
  all.indeterminate = some.length > 0 && some.length < row.length;
  allWords.textContent = some.length ? `${some.length} selected` : "Select all";
  batch.hidden = some.length === 0;
  if (!some.length) return;
  const phrases = some.filter((card) => card.request.terms.phrase).length;
  replace(batch,
    h("p", null, h("b", null, `${some.length} selected`), phrases > 0 && h("span", { class: "faint" }, `${phrases} with a phrase cannot be released together`)),
    h("div", { class: "answers" },
      button("Release…", { class: "release", key: "y", data: { act: "release" }, on: { click: () => together("release") } }, icon("check")),
      button("Refuse…", { class: "refuse", key: "n", data: { act: "refuse" }, on: { click: () => together("refuse") } }, icon("cross")),
      button("Comment…", { key: "c", data: { act: "comment" }, on: { click: () => together("comment") } })),
    button("Clear", { class: "quiet", on: { click: clearChosen } }));
}

const clearChosen = () => {
  cards.forEach((card) => card.select(false));
  showBatch();
};

const together = (answer) => dialogs.together(chosen().map((card) => card.request), answer);

// ---- answering

// Whether the answer may be meant for what was there a moment ago: a pointer for what was under it,
// a key for what was current, and either for what the card said before.
function unsettled(card, event) {
  const pointed = event?.detail > 0;
  return performance.now() - Math.max(pointed ? card.shifted : movedOn, card.changed) < SETTLING;
}

async function act(card, name, event) {
  const { request } = card;
  if (name === "select") return toggle(card, event);
  setCurrent(card);
  if (name === "details") return detail.open(request.id);
  if (request.state !== "pending") return toast("note", "Nothing is left to answer here.");
  if (answersAtOnce(request, name) && unsettled(card, event)) {
    return toast("note", "The list moved just now, so nothing was answered. Look again, and answer.");
  }
  return perform(request, name, event);
}

// Whether an answer leaves without a dialog. What opens one is never passed over: whoever pressed it goes on to type, and
// that must arrive in the dialog.
export const answersAtOnce = (request, name) => name === "refuse" || name === "extend" || (name === "release" && !dialogs.asksFirst(request));

// One answer, from a card or from the details.
export function perform(request, name, event) {
  if (isTyped(event) && answersAtOnce(request, name)) {
    return toast("note", "You typed just now, so nothing was answered. Wait a second, then press it again.");
  }
  // No event is a key of the page; a click without a pointer is Space or Enter on the button.
  const byKey = !event || event.detail === 0;
  switch (name) {
    case "release":
      return dialogs.release(request, { byKey });
    case "refuse":
      return give(request, { answer: "no" }, { byKey });
    case "comment":
      return dialogs.comment(request);
    case "edit":
      return dialogs.edit(request);
    case "rule":
      return dialogs.rule(request);
    case "suspend":
      return dialogs.suspend(request);
    case "extend":
      return extend(request);
    default:
      return undefined;
  }
}

// ---- moving

function setCurrent(card) {
  if (current === card.id) return;
  cards.get(current)?.element.classList.remove("current");
  cards.get(current)?.element.setAttribute("tabindex", "-1");
  current = card.id;
  card.element.setAttribute("tabindex", "0");
  card.element.classList.add("current");
}

function focusCard(card) {
  if (!card) return;
  if (!card.filled) card.fill();
  setCurrent(card);
  card.element.focus({ preventScroll: true });
  const box = card.element.getBoundingClientRect();
  const top = document.getElementById("bar").offsetHeight + tools.offsetHeight + 16;
  const bottom = innerHeight - (batch.hidden ? 0 : batch.offsetHeight);
  if (box.top < top || box.height > bottom - top) scrollBy({ top: box.top - top });
  else if (box.bottom > bottom - 8) scrollBy({ top: box.bottom - bottom + 16 });
}

// The nearest card that still waits.
function nextTo(card) {
  const row = shown();
  const at = row.indexOf(card);
  const waits = (one) => one.request.state === "pending";
  return at < 0 ? undefined : (row.slice(at + 1).find(waits) ?? row.slice(0, at).findLast(waits));
}

// On to the next one, by itself: answers wait until that has been seen.
function moveOn(card) {
  const next = nextTo(card);
  if (!next || !element.isConnected || detail.isOpen()) return;
  movedOn = performance.now();
  focusCard(next);
}

export function show(id) {
  const card = cards.get(id);
  if (!card) return;
  if (!fits(card)) clearFilter();
  focusCard(card);
}

export const keys = {
  move(step) {
    const row = waiting();
    if (!row.length) return;
    const at = row.findIndex((card) => card.id === current);
    if (at >= 0) focusCard(row[Math.min(row.length - 1, Math.max(0, at + step))]);
    else focusCard(nextTo(cards.get(current)) ?? row[0]);
    if (detail.isOpen()) detail.open(current, { focus: false });
  },
  details() {
    if (current && cards.has(current)) detail.open(current);
  },
  // Only a card that is marked as the current one is answered by a key.
  answer(name) {
    if (["release", "refuse", "comment"].includes(name) && chosen().length) return together(name);
    const card = cards.get(current);
    if (!card || card.request.state !== "pending" || !list.contains(card.element)) return keys.move(0);
    if (name !== "extend" && !card.element.querySelector(`[data-act="${name}"]`)) return toast("note", "This request does not allow that answer.");
    return act(card, name);
  },
  select() {
    const card = cards.get(current);
    if (!card) return;
    card.checkbox.checked = !card.selected;
    toggle(card);
  },
  selectAll() {
    all.click();
  },
  filter() {
    search.focus();
    search.select();
  },
  // What Escape undoes; false if there is nothing.
  escape() {
    if (!chosen().length) return false;
    clearChosen();
    return true;
  },
};

list.addEventListener("focusin", (event) => {
  const card = cards.get(event.target.closest(".card")?.dataset.id);
  if (card) setCurrent(card);
});
list.addEventListener("dblclick", (event) => {
  const head = event.target.closest(".card > header");
  if (head && !event.target.closest("button, input, label")) detail.open(head.parentElement.dataset.id);
});

// ---- what the daemon says

function take(request) {
  const card = cards.get(request.id);
  if (card) card.update(request);
  else {
    const fresh = new Card(request, act);
    cards.set(request.id, fresh);
    reach.observe(fresh.element);
  }
}

function drop(id) {
  const card = cards.get(id);
  if (!card) return;
  near.unobserve(card.element);
  reach.unobserve(card.element);
  cards.delete(id);
  forget(id);
}

function leave(id) {
  const card = cards.get(id);
  if (!card || card.request.state === "pending") return;
  const held = card.element.contains(document.activeElement);
  const row = shown();
  const next = row[row.indexOf(card) + 1] ?? row[row.indexOf(card) - 1];
  drop(id);
  arrange();
  showCounts();
  if (held && next) {
    movedOn = performance.now();
    focusCard(next);
  }
}

export function start() {
  setUpTools();
  on("snapshot", () => {
    for (const id of [...cards.keys()]) if (!requests.has(id)) drop(id);
    requests.forEach(take);
    arrange();
    showCounts();
  });
  let fresh = [];
  on("opened", (request) => {
    take(request);
    fresh.push(request);
    if (fresh.length > 1) return;
    // Many may come in one go; the list is arranged once. Not by animation frame: a tab in the
    // background has none.
    setTimeout(() => {
      arrange();
      showCounts();
      const [first] = fresh;
      announce(fresh.length === 1 ? `New request: ${first.tool}, ${riskOf(first)} risk. ${first.decision.reason}` : `${fresh.length} new requests`);
      fresh = [];
    }, 16);
  });
  on("changed", ({ request, before }) => {
    take(request);
    if (request.binding !== before.binding) announce(`${request.tool} was changed and judged again`);
    arrange();
    showCounts();
  });
  on("busy", (id) => cards.get(id)?.busy(isBusy(id)));
  on("settled", (request) => {
    const card = cards.get(request.id);
    if (!card) return;
    const at = document.activeElement;
    const mine = current === request.id && (card.element.contains(at) || at === document.body || dialogs.isOpen());
    choose(card, false, false);
    card.update(request);
    showBatch();
    showCounts();
    if (mine) dialogs.afterwards(() => moveOn(card));
    setTimeout(() => leave(request.id), STAYS);
  });
  setInterval(() => {
    if (document.hidden || !element.isConnected) return;
    for (const card of cards.values()) if (card.filled) card.tick();
  }, 500);
}

export function stop() {
  for (const id of [...cards.keys()]) drop(id);
  list.replaceChildren();
}
