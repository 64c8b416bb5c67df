// The dialogs: each asks for what an answer needs, shows what would come of it, and gives it.

import { give, giveMany } from "./answers.js";
import * as api from "./api.js";
import * as diff from "./diff.js";
import { button, h, icon, replace } from "./dom.js";
import { choice, on } from "./store.js";
import { count, names } from "./text.js";
import { toast } from "./toasts.js";
import { isTyped } from "./typing.js";
import { RISK_WORD, SCOPE_WORD, ending, riskOf } from "./words.js";

export const isOpen = () => document.querySelector("dialog[open]") !== null;

// Does something when no dialog is open any more: at once, if none is.
export function afterwards(act) {
  const shown = document.querySelector("dialog[open]");
  if (shown) shown.addEventListener("close", () => setTimeout(act), { once: true });
  else act();
}

// A dialog with a form. `submit` gives back a message to stay open with, or nothing to close.
function open({ title, about, content, actions, submit, wide = false }) {
  const note = h("p", { class: "dialog-note", role: "alert", hidden: true });
  const close = button(icon("cross"), { class: "icon-only", "aria-label": "Close" });
  const primary = actions.find((one) => one.type === "submit");
  const form = h("form", { method: "dialog", novalidate: true },
    h("header", null, h("h2", null, title), close),
    h("div", { class: "content" }, note, content),
    h("footer", null, button("Cancel", { class: "quiet", on: { click: () => shown.close() } }), actions));
  const shown = h("dialog", { class: wide ? "wide" : "", "aria-label": title }, form);
  const say = (text) => {
    note.hidden = !text;
    replace(note, icon("warn"), text ?? "");
  };
  close.addEventListener("click", () => shown.close());
  const send = async (submitter) => {
    if (shown.dataset.over || form.classList.contains("sending")) return;
    form.classList.add("sending");
    const problem = await submit(submitter);
    form.classList.remove("sending");
    if (problem) say(problem);
    else shown.close();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // Without a button that is sent by Enter there is nothing that Enter does.
    if (primary && !primary.disabled) send(event.submitter);
  });
  for (const one of actions.filter((action) => action.type === "button")) {
    one.addEventListener("click", (event) => {
      if (isTyped(event)) say("You typed just now, so nothing was answered. Wait a second, then press it again.");
      else send(one);
    });
  }
  // Somebody else may be faster, or change what this dialog is about.
  const over = (text) => {
    shown.dataset.over = "yes";
    say(text);
    for (const one of form.querySelectorAll("footer button:not(.quiet)")) one.disabled = true;
  };
  const deaf = about
    ? [
        on("settled", (request) => request.id === about.id && !form.classList.contains("sending") && over(`${ending(request)}. Nothing is left to answer.`)),
        on("changed", ({ request }) => request.id === about.id && request.binding !== about.binding && !form.classList.contains("sending") &&
          over("It changed while this was open. Close this and look at it again.")),
      ]
    : [];
  shown.addEventListener("close", () => {
    deaf.forEach((stop) => stop());
    shown.remove();
  });
  shown.addEventListener("click", (event) => event.target === shown && shown.close());
  document.body.append(shown);
  shown.showModal();
  return { shown, say };
}

const subject = (request) => h("p", { class: `subject risk-${riskOf(request)}` }, h("b", null, request.tool), h("code", null, request.display.summary));

// The phrase that a review wants, as a field; nothing where none is wanted.
function phraseField(request, changed) {
  const { phrase } = request.terms;
  if (!phrase) return { element: null, value: () => undefined, fits: () => true };
  const input = h("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": "phrase-hint" });
  input.addEventListener("input", changed);
  // It is to be typed: reading it again is the point.
  for (const kind of ["paste", "drop"]) input.addEventListener(kind, (event) => event.preventDefault());
  const element = h("label", { class: "field" },
    h("span", { id: "phrase-hint" }, "This call needs a review. To release it, type ", h("code", { class: "phrase" }, phrase)), input);
  return { element, input, value: () => input.value, fits: () => input.value.trim() === phrase };
}

// A button that lets calls run. It is pressed by itself alone, never by Enter somewhere in its dialog.
const releasing = (label, properties = {}) => button(label, { class: "release", data: { go: "yes" }, ...properties }, icon("check"));

// Gives an answer behind the dialog that asked for it: what lets a call run can be taken back for a moment, on the page.
function giveBehind(request, body) {
  give(request, body);
}

// Whether releasing takes a second step: a phrase, or, for what can do much harm, a look at it again.
export const asksFirst = (request) => Boolean(request.terms.phrase) || ["critical", "high"].includes(riskOf(request));

// Releases, where nothing more is wanted. Otherwise asks first.
export function release(request, { byKey = false } = {}) {
  if (!asksFirst(request)) return give(request, { answer: "yes" }, { byKey });
  if (!request.terms.phrase) return releaseAgain(request);
  const go = button("Release", { type: "submit", class: "release", disabled: true }, icon("check"));
  const phrase = phraseField(request, () => {
    go.disabled = !phrase.fits();
  });
  open({
    title: "Release after review",
    about: request,
    content: [subject(request), h("p", { class: "reason" }, request.decision.reason), phrase.element],
    actions: [go],
    submit: async () => giveBehind(request, { answer: "yes", phrase: phrase.value() }),
  });
  phrase.input.focus();
  return undefined;
}

// The second step for high and critical risk.
function releaseAgain(request) {
  const risk = riskOf(request);
  const { shown } = open({
    title: `Release a call of ${RISK_WORD[risk].toLowerCase()} risk?`,
    about: request,
    content: [
      subject(request),
      h("p", { class: "reason" }, request.decision.reason),
      h("ul", { class: "warnings" }, (request.display.warnings ?? []).filter(({ level }) => level === "danger").map(({ text }) => h("li", { class: "danger" }, icon("stop"), h("span", null, text)))),
    ],
    actions: [releasing(`Yes, release it`)],
    submit: async () => giveBehind(request, { answer: "yes" }),
  });
  focusCancel(shown);
  return undefined;
}

// Where a dialog lets calls run, the way out has the focus.
const focusCancel = (shown) => shown.querySelector("footer .quiet").focus();

export function comment(request) {
  const text = h("textarea", { rows: 4, required: true, placeholder: "What should it do instead?" });
  const go = button("Refuse with this comment", { type: "submit", class: "refuse", disabled: true }, icon("cross"));
  text.addEventListener("input", () => {
    go.disabled = !text.value.trim();
  });
  submitByKey(text);
  open({
    title: "Refuse with a comment",
    about: request,
    content: [subject(request), h("label", { class: "field" }, h("span", null, "The agent reads this as the reason"), text)],
    actions: [go],
    submit: async () => (await give(request, { answer: "comment", comment: text.value })).problem,
  });
  text.focus();
}

// The stop button: nothing of it runs until somebody lets it go on.
export function stopping(scope, what, done) {
  const text = h("input", { type: "text", maxlength: 500, placeholder: "Why? (the agent reads this)" });
  open({
    title: "Stop",
    content: [
      h("p", null, `From now on every call of ${what} is refused, whatever the policy says. What waits is refused, and what runs inside the sandbox is ended.`),
      h("label", { class: "field" }, h("span", null, "Reason, if you want to give one"), text),
    ],
    actions: [button("Stop it", { type: "submit", class: "refuse" }, icon("stop"))],
    submit: async () => {
      try {
        const { refused } = await api.stop(scope, text.value.trim() || undefined);
        toast("good", refused.length ? `Stopped; ${count(refused.length, "call")} that waited ${refused.length === 1 ? "is" : "are"} refused.` : "Stopped.");
      } catch (problem) {
        return `That did not work: ${problem.message}.`;
      }
      await done();
      return undefined;
    },
  });
  text.focus();
}

function submitByKey(text) {
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      text.form.requestSubmit();
    }
  });
}

// Arguments of the call, changed. They are judged again before anything runs.
export function edit(request) {
  const { display, terms } = request;
  const hidden = new Set(display.hidden ?? []);
  const keys = terms.editable.filter((key) => key in display.arguments);
  const changes = h("div", { class: "changes", "aria-live": "polite" });
  const go = button("Judge again", { type: "submit", class: "primary", disabled: true });
  const fields = keys.filter((key) => !hidden.has(key)).map((key) => {
    const before = display.arguments[key];
    const isText = typeof before === "string";
    const shown = isText ? before : JSON.stringify(before, null, 2);
    const area = h("textarea", { class: "mono", rows: Math.min(16, Math.max(2, shown.split("\n").length + 1)), spellcheck: "false", autocapitalize: "off", value: shown });
    const problem = h("p", { class: "field-problem", hidden: true });
    submitByKey(area);
    const field = { key, area, shown, element: h("label", { class: "field" }, h("span", null, h("code", null, key), !isText && " as JSON"), area, problem) };
    field.read = () => {
      problem.hidden = true;
      if (area.value === shown) return { same: true };
      if (isText) return { value: area.value };
      try {
        return { value: JSON.parse(area.value) };
      } catch (error) {
        problem.hidden = false;
        problem.textContent = `This is not JSON: ${error.message}`;
        return { wrong: true };
      }
    };
    return field;
  });
  const look = () => {
    const read = fields.map((field) => ({ field, ...field.read() }));
    const changed = read.filter((one) => !one.same);
    go.disabled = !changed.length || read.some((one) => one.wrong);
    replace(changes, changed.length > 0 && h("h3", null, "What you change"), changed.map(({ field }) => diff.view(diff.compare(field.shown, field.area.value), { label: `Changes to ${field.key}` })));
    return Object.fromEntries(changed.filter((one) => !one.wrong).map((one) => [one.field.key, one.value]));
  };
  fields.forEach((field) => field.area.addEventListener("input", look));
  const locked = keys.filter((key) => hidden.has(key));
  const fixed = Object.keys(display.arguments).filter((key) => !terms.editable.includes(key));
  open({
    title: "Edit the arguments",
    about: request,
    wide: true,
    content: [
      subject(request),
      fields.map((field) => field.element),
      locked.length > 0 && h("p", { class: "hint" }, icon("info"), `Something in ${names(locked)} is hidden here, so it cannot be changed. Refuse with a comment instead.`),
      fixed.length > 0 && h("p", { class: "hint" }, icon("info"), `These stay as they are: ${names(fixed)}.`),
      changes,
      h("p", { class: "hint" }, icon("info"), "The changed call is judged again. If a rule denies it, that is final; otherwise it comes back here for your answer, and nothing runs before that."),
    ],
    actions: [go],
    submit: async () => (await give(request, { answer: "edit", input: look() })).problem,
  });
  fields[0]?.area.focus();
}

// What an answer would release besides its request, found out each time another one is chosen. Nothing is released before it
// is known and shown.
function goingAlong(request, go, mayGo) {
  const room = h("div", { class: "along", "aria-live": "polite" });
  let turn = 0;
  const list = (requests) => h("ul", { class: "batch", tabindex: "0", "aria-label": "Calls that wait" }, requests.map((one) =>
    h("li", { class: `risk-${riskOf(one)}` }, h("b", null, `${RISK_WORD[riskOf(one)]}: ${one.tool}`), h("code", null, one.display.summary))));
  const look = async (said) => {
    const mine = ++turn;
    go.disabled = true;
    replace(room, h("p", { class: "faint" }, "Looking what else this would release…"));
    let found;
    try {
      found = await api.along(request.id, said);
    } catch (problem) {
      if (mine === turn) replace(room, h("p", { class: "dialog-note" }, icon("warn"), `It cannot be said what else this would release: ${problem.message}.`));
      return;
    }
    if (mine !== turn) return;
    const { released, kept } = found;
    replace(room,
      h("p", null, h("b", null, released.length
        ? `${count(released.length, "other call")} that ${released.length === 1 ? "waits is" : "wait are"} released with it:`
        : "No other call that waits is released with it.")),
      released.length > 0 && list(released),
      kept.length > 0 && h("p", { class: "hint" }, icon("stop"), `${count(kept.length, "call")} of critical risk ${kept.length === 1 ? "waits" : "wait"} on: each needs an answer of its own.`),
      kept.length > 0 && list(kept));
    go.disabled = !mayGo();
  };
  return { room, look };
}

// Always and never: the rule is shown before it is stored.
export function rule(request) {
  const offers = request.terms.offers ?? [];
  const many = request.terms.required > 1;
  const always = releasing("Release and always allow", { value: "always" });
  const never = button("Refuse and never allow", { class: "refuse", value: "never" }, icon("cross"));
  const phrase = phraseField(request, () => {
    always.disabled = !mayAlways();
  });
  const mayAlways = () => !many && phrase.fits();
  const { room, look } = goingAlong(request, always, mayAlways);
  const options = offers.map((offer, index) => {
    const [title, meaning] = SCOPE_WORD[offer.scope] ?? [offer.scope, ""];
    const radio = h("input", { type: "radio", name: "scope", value: offer.scope, checked: index === 0 });
    return h("label", { class: "offer" }, radio,
      h("span", { class: "offer-body" }, h("b", null, title), h("span", { class: "faint" }, meaning),
        h("span", { class: "patterns" }, offer.patterns.map((pattern) => h("code", null, pattern))),
        h("span", { class: "lasts" }, icon("clock"), `It holds ${/^(for|until|as)\b/i.test(offer.lasts) ? "" : "for: "}${offer.lasts}`)));
  });
  const places = PLACES.map(([value, title, meaning], index) =>
    h("label", { class: "offer" }, h("input", { type: "radio", name: "place", value, checked: index === 0 }),
      h("span", { class: "offer-body" }, h("b", null, title), h("span", { class: "faint" }, meaning))));
  const { shown } = open({
    title: "Leave a rule behind",
    about: request,
    content: [
      subject(request),
      h("fieldset", { class: "offers" }, h("legend", null, "This is exactly what will be stored"), options),
      !many && h("fieldset", { class: "offers" }, h("legend", null, "Where a rule that allows is kept"), places),
      h("p", { class: "hint" }, icon("info"), "A rule that allows never overrides one that denies. It can be taken back with ", h("code", null, "holdpoint permissions forget"), "."),
      !many && room,
      many && h("p", { class: "hint" }, icon("people"), `${request.terms.required} people must say yes to this one call, so no rule can allow others like it.`),
      phrase.element,
    ],
    actions: [never, always],
    submit: async (submitter) => {
      const answer = submitter?.value;
      if (answer !== "always" && answer !== "never") return "Choose: always or never.";
      const { scope, place } = chosen();
      if (answer === "never") return (await give(request, { answer, scope })).problem;
      return giveBehind(request, { ...answerFor(place), scope, phrase: phrase.value() });
    },
  });
  const chosen = () => ({
    scope: shown.querySelector("input[name=scope]:checked")?.value,
    place: shown.querySelector("input[name=place]:checked")?.value ?? "session",
  });
  const answerFor = (place) => (place === "session" ? { answer: "always" } : { answer: "keep", place });
  const lookAgain = () => look({ ...answerFor(chosen().place), scope: chosen().scope });
  for (const radio of shown.querySelectorAll("input[type=radio]")) radio.addEventListener("change", lookAgain);
  if (many) always.disabled = true;
  else lookAgain();
  focusCancel(shown);
}

const PLACES = [
  ["session", "For this session", "It is gone when the session is."],
  ["project", "For this project", "In a file of yours, never in the repository: other sessions of the project are not asked, either."],
  ["user", "For me", "In your policy, wherever you work."],
];

const SUSPENSIONS = [
  ["turn", "Until this turn ends", "Nothing is asked until the agent has finished what it is doing now."],
  ["idle", "Until the session is idle", "Nothing is asked until the agent waits for its user again."],
  ["all", "For the rest of the session", "Nothing is asked in this session any more."],
];

export function suspend(request) {
  const go = releasing("Release and stop asking");
  const phrase = phraseField(request, () => {
    go.disabled = !phrase.fits();
  });
  const { room, look } = goingAlong(request, go, phrase.fits);
  const { shown } = open({
    title: "Stop asking",
    about: request,
    content: [
      subject(request),
      h("fieldset", { class: "offers" }, h("legend", null, `Release this, and ask about nothing in session ${request.session}`),
        SUSPENSIONS.map(([word, title, meaning], index) => h("label", { class: "offer" },
          h("input", { type: "radio", name: "until", value: word, checked: index === 0 }),
          h("span", { class: "offer-body" }, h("b", null, title), h("span", { class: "faint" }, meaning))))),
      h("ul", { class: "warnings" }, h("li", { class: "warning" }, icon("warn"),
        h("span", null, "Calls that would be held for you will run without anybody looking at them, but for those of critical risk. What is denied stays denied."))),
      room,
      phrase.element,
    ],
    actions: [go],
    submit: async () => giveBehind(request, { answer: until(), phrase: phrase.value() }),
  });
  const until = () => shown.querySelector("input[name=until]:checked").value;
  for (const radio of shown.querySelectorAll("input[name=until]")) radio.addEventListener("change", () => look({ answer: until() }));
  look({ answer: until() });
  focusCancel(shown);
}

// Many at once. Those that want a phrase are left out, and it says so.
export function together(chosen, answer) {
  const wanted = answer === "release" ? chosen.filter((request) => !request.terms.phrase) : chosen;
  const left = chosen.length - wanted.length;
  const words = { release: ["Release", "release", "check"], refuse: ["Refuse", "refuse", "cross"], comment: ["Refuse with this comment", "refuse", "cross"] }[answer];
  const text = answer === "comment" && h("textarea", { rows: 3, placeholder: "What should they do instead?" });
  const go = button(`${words[0]}${answer === "comment" ? "" : ` ${wanted.length}`}`,
    { type: answer === "comment" ? "submit" : "button", class: words[1], data: { go: "yes" }, disabled: !wanted.length || answer === "comment" }, icon(words[2]));
  if (text) {
    text.addEventListener("input", () => {
      go.disabled = !text.value.trim() || !wanted.length;
    });
    submitByKey(text);
  }
  const worst = wanted.filter((request) => ["critical", "high"].includes(riskOf(request))).length;
  const { shown } = open({
    title: `${answer === "release" ? "Release" : "Refuse"} ${count(wanted.length, "request")} together`,
    wide: true,
    content: [
      left > 0 && h("p", { class: "hint" }, icon("info"), `${count(left, "request")} left out: ${left === 1 ? "it needs" : "they need"} a phrase of ${left === 1 ? "its" : "their"} own.`),
      answer === "release" && worst > 0 && h("ul", { class: "warnings" }, h("li", { class: "danger" }, icon("stop"), h("span", null, `${worst} of them ${worst === 1 ? "is" : "are"} of high or critical risk.`))),
      text && h("label", { class: "field" }, h("span", null, "Their agents read this as the reason"), text),
      h("ul", { class: "batch", tabindex: "0", "aria-label": "What is answered" }, wanted.map((request) => h("li", { class: `risk-${riskOf(request)}` }, h("b", null, request.tool), h("code", null, request.display.summary), h("span", { class: "faint" }, request.decision.reason)))),
    ],
    actions: [go],
    submit: async () => {
      if (answer === "release") {
        giveMany(wanted, { answer: "yes" });
        return undefined;
      }
      return (await giveMany(wanted, answer === "comment" ? { answer, comment: text.value } : { answer: "no" })).problem;
    },
  });
  if (text) text.focus();
  else focusCancel(shown);
}

export function help(keys) {
  const single = h("input", { type: "checkbox", checked: choice("keys") !== "off" });
  single.addEventListener("change", () => choice("keys", single.checked ? null : "off"));
  const { shown } = open({
    title: "Keys",
    content: [
      h("dl", { class: "keys" }, keys.map(([key, meaning]) => h("div", null, h("dt", null, key.split(" ").map((one) => h("kbd", null, one))), h("dd", null, meaning)))),
      h("label", { class: "switch" }, single, "Answer with single keys"),
      h("p", { class: "hint" }, icon("info"), "A key answers only if you type nothing else for a second before and after it, and not right after the list moved on by itself. Undo or Esc takes it back in that second."),
    ],
    actions: [],
    submit: async () => undefined,
  });
  shown.querySelector("footer .quiet").textContent = "Close";
}
