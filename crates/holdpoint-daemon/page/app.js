// The page: signs in, follows the daemon, and shows one view at a time.

import * as api from "./api.js";
import * as detail from "./detail.js";
import * as passkeys from "./passkeys.js";
import * as delegation from "./people.js";
import { button, h, icon, replace } from "./dom.js";
import * as history from "./history.js";
import * as keys from "./keys.js";
import * as notify from "./notify.js";
import * as pending from "./pending.js";
import * as policy from "./policy.js";
import * as sessions from "./sessions.js";
import { choice, clear, hear, on, pending as waiting, state } from "./store.js";
import { announce, toast } from "./toasts.js";
import { undoAll } from "./undo.js";

const SHUT = "You were signed out. Sign in again.";

const main = document.getElementById("main");
const bar = document.getElementById("bar");

// ---- light and dark

const dark = matchMedia("(prefers-color-scheme: dark)");
function theme() {
  const chosen = choice("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  return chosen ?? (dark.matches ? "dark" : "light");
}
theme();

// ---- views

const report = {
  element: h("section", { class: "report-view", "aria-label": "Report" }),
  show() {
    replace(report.element, h("iframe", { src: "/report", title: "Report" }));
  },
};
const VIEWS = [
  ["pending", "Pending", pending], ["history", "History", history], ["sessions", "Sessions", sessions], ["policy", "Policy", policy], ["report", "Report", report],
];
const view = h("div", { id: "view" });
const badge = h("span", { class: "badge", hidden: true });
let tab = null;

function go(name) {
  const [word, title, room] = VIEWS.find(([one]) => one === name) ?? VIEWS[0];
  if (tab === word) return;
  tab = word;
  detail.close();
  for (const link of document.querySelectorAll("#tabs a")) {
    if (link.dataset.tab === word) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  // What is seen of it is the tab; whoever hears the page goes by headings.
  view.replaceChildren(h("h2", { class: "unseen" }, title), room.element);
  document.body.dataset.tab = word;
  scrollTo(0, 0);
  room.show?.();
}

function goBy(hash) {
  const id = detail.idIn(hash);
  if (id) {
    if (!tab) go("pending");
    detail.open(id);
    return;
  }
  detail.close();
  go(hash.replace(/^#/, ""));
}

// ---- the bar

const line = h("span", { class: "line" });
const bell = button(icon("bellOff"), { class: "icon-only" });
const shade = button(icon("moon"), { class: "icon-only", "aria-label": "Change between light and dark" });

function showBell() {
  const isOn = notify.wanted();
  bell.hidden = !notify.possible();
  replace(bell, icon(isOn ? "bell" : "bellOff"));
  bell.setAttribute("aria-pressed", String(isOn));
  bell.setAttribute("aria-label", "Desktop notifications");
  bell.title = isOn ? "Desktop notifications are on" : "Desktop notifications are off";
}

function showShade() {
  const now = theme();
  replace(shade, icon(now === "dark" ? "sun" : "moon"));
  shade.title = now === "dark" ? "Light" : "Dark";
}

let stream = null;
let countdown = 0;
let wasLive = false;

function lineStands(how, retryAt) {
  clearInterval(countdown);
  line.className = `line ${how}`;
  if (how === "signed-out") {
    leave(SHUT);
  } else if (how === "live") {
    replace(line, h("span", { class: "lamp" }), h("span", { class: "word" }, "Live"));
    line.title = "This page hears of everything at once";
    if (!wasLive) wasLive = true;
    else announce("Connected again");
  } else if (how === "connecting") {
    replace(line, h("span", { class: "lamp" }), h("span", { class: "word" }, wasLive ? "Reconnecting…" : "Connecting…"));
  } else {
    const show = () => {
      const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000));
      replace(line, h("span", { class: "lamp" }), h("span", { class: "word" }, `Reconnecting in ${seconds} s`), button("Now", { class: "small", on: { click: () => stream?.now() } }));
    };
    show();
    line.title = "The daemon cannot be reached; what you see may be old";
    countdown = setInterval(show, 1000);
  }
  document.body.classList.toggle("offline", how !== "live" && wasLive);
}

function showBadge() {
  const number = waiting().length;
  badge.hidden = number === 0;
  badge.textContent = String(number);
  badge.setAttribute("aria-label", `${number} waiting`);
}

function setUpBar() {
  replace(document.getElementById("tabs"), VIEWS.map(([name, title]) =>
    h("a", { href: `#${name}`, data: { tab: name } }, title, name === "pending" && badge)));
  bell.addEventListener("click", async () => {
    const problem = await notify.toggle();
    showBell();
    if (problem) toast("note", problem);
  });
  shade.addEventListener("click", () => {
    const next = theme() === "dark" ? "light" : "dark";
    choice("theme", next === (dark.matches ? "dark" : "light") ? null : next);
    showShade();
  });
  dark.addEventListener("change", showShade);
  replace(document.getElementById("status"), line, bell, shade,
    button(icon("help"), { class: "icon-only", "aria-label": "Keys", title: "Keys (?)", on: { click: keys.help } }),
    h("details", { class: "person" }, h("summary", null, icon("person"), h("span", { class: "name" })),
      h("div", { class: "menu" }, h("p", { class: "faint role" }), button("Let somebody answer for you…", { class: "quiet", on: { click: delegation.show } }), button("Passkeys…", { class: "quiet passkeys", on: { click: () => passkeys.show(state.person) } }), button("Sign out", { class: "quiet sign-out", on: { click: signOut } }))));
  document.addEventListener("click", (event) => {
    const menu = document.querySelector(".person");
    if (menu?.open && (!menu.contains(event.target) || event.target.closest("button"))) menu.open = false;
  });
}

// ---- signing in and out

function signInScreen(message) {
  bar.hidden = true;
  document.body.dataset.tab = "sign-in";
  const name = h("input", { type: "text", name: "name", autocomplete: "username", autocapitalize: "off", spellcheck: "false", required: true });
  const token = h("input", { type: "password", name: "token", autocomplete: "current-password", required: true });
  const note = h("p", { class: "dialog-note", role: "alert", hidden: !message }, icon("info"), message ?? "");
  const form = h("form", null,
    h("label", { class: "field" }, h("span", null, "Name"), name), h("label", { class: "field" }, h("span", null, "Token"), token),
    h("button", { type: "submit", class: "primary" }, "Sign in"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    form.classList.add("sending");
    try {
      const person = await api.signIn({ name: name.value.trim(), token: token.value });
      token.value = "";
      enter(person);
    } catch (problem) {
      note.hidden = false;
      token.value = "";
      replace(note, icon("warn"), problem.status === 401 || problem.status === 403 ? "This name and token do not belong together." : `Signing in failed: ${problem.message}.`);
      token.focus();
    } finally {
      form.classList.remove("sending");
    }
  });
  replace(main, h("section", { class: "sign-in", "aria-label": "Sign in" },
    h("img", { src: "/assets/icon.svg", alt: "", width: "52", height: "52" }),
    h("h1", null, "Holdpoint"), h("p", { class: "faint" }, "Calls of agents wait here for a person."), note,
    h("div", { class: "local" }, h("p", null, "On this machine, run"), h("pre", { class: "code" }, "holdpoint open"), h("p", { class: "faint" }, "It opens this page signed in.")),
    h("p", { class: "or" }, "or, with a name and a token"), form));
  if (matchMedia("(pointer: fine)").matches) name.focus();
}

function enter(person) {
  state.person = person;
  document.querySelector(".person .name").textContent = person.name;
  document.querySelector(".person .role").textContent = `Signed in as ${person.name}${person.role ? `, ${person.role}` : ""}`;
  bar.hidden = false;
  replace(main, view, detail.element);
  wasLive = false;
  tab = null;
  goBy(location.hash);
  stream = api.follow(hear, lineStands);
}

function leave(message) {
  undoAll();
  stream?.close();
  stream = null;
  state.person = null;
  clear();
  detail.close();
  pending.stop();
  document.querySelectorAll("dialog[open]").forEach((one) => one.close());
  document.body.classList.remove("offline");
  notify.badge();
  signInScreen(message);
}

async function signOut() {
  try {
    await api.signOut();
  } catch {
    return toast("bad", "Signing out failed: the daemon cannot be reached.");
  }
  return leave("You are signed out.");
}

// A code works once. It leaves the address before anything else happens.
function takeCode() {
  const code = new URLSearchParams(location.hash.replace(/^#/, "")).get("code");
  if (code !== null) window.history.replaceState(null, "", location.pathname);
  return code;
}

async function begin() {
  const code = takeCode();
  if (code) {
    try {
      return enter(await api.signIn({ code }));
    } catch (problem) {
      if (problem.status === 0 || problem.status === 429) return signInScreen(`Signing in failed: ${problem.message}.`);
      return signInScreen("This code was used already or is too old: a code works once, for a minute. Run holdpoint open again.");
    }
  }
  if (!api.mayBeSignedIn()) return signInScreen();
  try {
    return enter(await api.me());
  } catch (problem) {
    return signInScreen(problem.status === 401 ? null : `The daemon cannot be asked: ${problem.message}.`);
  }
}

// Installed on a phone or a desktop, the page needs somebody who shows its notifications; nothing is kept by it.
navigator.serviceWorker?.register("/assets/sw.js", { scope: "/" }).catch(() => undefined);

setUpBar();
showBell();
showShade();
pending.start();
detail.start(pending);
history.start();
sessions.start();
notify.start((id) => {
  location.hash = "#pending";
  go("pending");
  pending.show(id);
});
for (const kind of ["snapshot", "opened", "settled"]) on(kind, showBadge);
keys.start({
  tab: () => (state.person ? tab : null),
  go: (index) => {
    location.hash = `#${VIEWS[index][0]}`;
  },
  search: () => (tab === "history" ? history.focusSearch() : tab === "pending" && pending.keys.filter()),
});
api.whenShut(() => state.person && leave(SHUT));
api.whenSignedInElsewhere(() => {
  if (state.person) leave();
  begin();
});
addEventListener("hashchange", () => {
  // A code may come while the page is open: `holdpoint open` found its tab.
  if (/[#&]code=/.test(location.hash)) {
    if (state.person) leave();
    begin();
  }
  else if (state.person) goBy(location.hash);
});
begin();
