// The parts of a request that the card and the details both show.

import * as diff from "./diff.js";
import { button, h, icon, ring } from "./dom.js";
import { caught, paint, ranges } from "./highlight.js";
import { now } from "./store.js";
import { ago, clock, count, moment, names } from "./text.js";
import { CHECK_WORD, RISK_WORD, STATUS, riskOf } from "./words.js";

const LINES = 14;
const CHARACTERS = 1100;

export function pill(request) {
  const risk = riskOf(request);
  return h("span", { class: `pill ${risk}` }, icon({ critical: "stop", high: "warn", medium: "info" }[risk] ?? "skip"), RISK_WORD[risk]);
}

// What would run. `whole` shows everything at once.
export function body(request, { whole = false } = {}) {
  const { display } = request;
  const text = display.details || display.summary;
  const figure = h("figure", { class: "what" });
  const caption = h("figcaption", null, h("span", { class: "summary" }, display.summary));
  const rows = display.format === "diff" ? diff.read(text) : null;
  if (rows) {
    const { added, removed } = diff.tally(rows);
    if (!display.summary.includes(`(+${added}`)) caption.append(h("span", { class: "tally" }, h("b", { class: "plus" }, `+${added}`), " ", h("b", { class: "minus" }, `−${removed}`),
      h("span", { class: "unseen" }, `${count(added, "line")} added, ${count(removed, "line")} removed`)));
  } else if (display.language || display.format === "json") {
    caption.append(h("span", { class: "tally" }, display.language ?? display.format));
  }
  // A command is its own summary.
  if (rows || !text.startsWith(display.summary)) figure.append(caption);
  figure.append(rows ? diff.view(rows, { text, marks: display.marks, limit: whole ? undefined : LINES, label: display.summary }) : code(text, display, whole));
  if (display.truncated) {
    const lines = display.original_lines ? ` of ${count(display.original_lines, "line")}` : "";
    figure.append(h("p", { class: "cut" }, icon("warn"), `This is only a part${lines}: the rest was too long to show here. Every argument is in the details.`));
  }
  return [figure, legend(request, whole)];
}

// Whether all that a rule caught is in sight, and says what the reason says.
function speaksForItself({ display, decision }) {
  const [mark, ...others] = display.marks ?? [];
  return mark && !others.length && mark.rule === decision.rule && mark.reason === decision.reason && display.details.length < CHARACTERS && display.details.split("\n").length < LINES;
}

// The rule that decided, if nothing else on the card names it.
export function ruleOf(request) {
  const { marks = [] } = request.display;
  const named = marks.some((mark) => mark.rule === request.decision.rule) && !speaksForItself(request);
  return named ? null : request.decision.rule;
}

function code(text, { marks, format, language }, whole) {
  const lines = text.split("\n").length;
  const long = !whole && (lines > LINES + 3 || text.length > CHARACTERS);
  const pre = h("pre", { class: "code", tabindex: "-1" });
  paint(pre, text, ranges(text, { marks, format, language }));
  if (!long) return pre;
  pre.classList.add("clamped");
  const all = lines > LINES ? `all ${lines} lines` : `all ${text.length.toLocaleString("en")} characters`;
  const open = button(`Show ${all}`, { class: "unfold" });
  open.addEventListener("click", () => {
    pre.classList.remove("clamped");
    open.remove();
    pre.focus();
  });
  return h("div", { class: "folded" }, pre, open);
}

const LEGEND = 6;

// Each caught part with its rule, so that a part below the fold is seen as well.
function legend(request, whole) {
  const { details: text, marks } = request.display;
  const found = caught(text, marks);
  if (!found.length || (!whole && speaksForItself(request))) return null;
  const items = found.slice(0, LEGEND).map(({ mark, from, to }) => {
    const part = text.slice(from, to);
    return h("li", null,
      h("mark", { class: `caught-${mark.verdict} first last` }, part.length > 80 ? `${part.slice(0, 79)}…` : part),
      h("code", { class: "rule" }, mark.rule), (whole || mark.reason !== request.decision.reason) && h("span", null, mark.reason));
  });
  if (found.length > LEGEND) items.push(h("li", { class: "faint" }, `and ${found.length - LEGEND} more, in the details`));
  return h("ul", { class: "legend", "aria-label": "What the rules caught" }, items);
}

export function warnings(request) {
  const { pre_validation_error: error } = request.display;
  // The reason stands above them already.
  const reason = request.decision.reason.toLowerCase();
  const list = (request.display.warnings ?? []).filter(({ text }) => text.toLowerCase() !== reason);
  const icons = { info: "info", warning: "warn", danger: "stop" };
  const all = list.map(({ level, text }) => h("li", { class: icons[level] ? level : "warning" }, icon(icons[level] ?? "warn"), h("span", null, text)));
  if (error) all.unshift(h("li", { class: "danger" }, icon("stop"), h("span", null, `It would fail: ${error}`)));
  return all.length ? h("ul", { class: "warnings", "aria-label": "Warnings" }, all) : null;
}

// Checks in one row; those with something to say have their sentence.
export function checks(request, { whole = false } = {}) {
  const list = request.checks.filter((one) => whole || one.status !== "skipped");
  // Those that passed share a line; the others have one of their own.
  if (!whole) list.sort((one, other) => (other.status === "passed") - (one.status === "passed"));
  if (!list.length) return null;
  return h("ul", { class: `checks${whole ? " whole" : ""}`, "aria-label": "Checks" }, list.map(({ check, status, message }) => {
    const [shape, word] = STATUS[status] ?? STATUS.error;
    const quiet = status === "passed" && !whole;
    return h("li", { class: status, title: quiet ? message : undefined }, icon(shape, word),
      h("b", null, CHECK_WORD[check] ?? check), !quiet && message && h("span", null, message));
  }));
}

export function paths(request, { most = 4 } = {}) {
  const { paths: list = [] } = request.display;
  if (!list.length) return null;
  const items = list.slice(0, most).map(({ path, what }) =>
    h("li", null, h("span", { class: `verb ${["read", "write", "delete", "run"].includes(what) ? what : "use"}` }, what), h("code", null, path)));
  if (list.length > most) items.push(h("li", { class: "faint" }, `and ${list.length - most} more`));
  return h("ul", { class: "paths", "aria-label": "Files and directories" }, items);
}

// What the agent says it wants. Said as its own words: nobody has checked them.
export function intent(request) {
  const text = request.context?.intent;
  return text ? h("p", { class: "intent" }, h("span", { class: "says" }, "The agent says"), h("q", null, text)) : null;
}

export function editedNote(request) {
  const last = request.edits?.at(-1);
  if (!last) return null;
  const times = request.edits.length > 1 ? ` (${request.edits.length} changes so far)` : "";
  return h("div", { class: "edited" }, icon("pencil"),
    h("p", null, h("b", null, `Changed by ${last.by}`), ` ${ago(now() - last.at)}: `, h("code", null, last.changed.join(", ")),
      `. It was judged again; this is what would run now${times}.`));
}

export function editDiff(edit) {
  const rows = diff.read(edit.diff);
  return rows ? diff.view(rows, { text: edit.diff, label: `Changed by ${edit.by}` }) : h("pre", { class: "code" }, edit.diff);
}

// Who has said yes and who still may.
export function quorum(request) {
  const { approvals = [], terms } = request;
  const parts = [];
  if (terms.required > 1) {
    const who = approvals.map((one) => (one.on_behalf_of ? `${one.approver} for ${one.on_behalf_of}` : one.approver));
    parts.push(h("span", { class: "quorum" }, icon("people"), h("b", null, `${approvals.length} of ${terms.required}`), who.length ? `: ${who.join(", ")}` : " have said yes"));
  }
  if (terms.approvers?.length) parts.push(h("span", { class: "quorum" }, icon("person"), `only ${names(terms.approvers)} may answer`));
  return parts;
}

// A countdown; `tick` moves it on.
export function countdown(request) {
  const value = h("span", { class: "value" });
  const circle = request.expires === null ? icon("clock") : ring();
  const shown = h("span", { class: "countdown", role: "timer", "aria-live": "off", title: request.expires === null ? "It waits until somebody answers" : `Refused if nobody answers by ${moment(request.expires)}` }, circle, value);
  const left = circle.querySelector(".left");
  shown.tick = () => {
    if (request.expires === null) {
      if (!value.textContent) value.textContent = "until answered";
      return;
    }
    const remaining = request.expires - now();
    const text = remaining > 0 ? clock(remaining) : "expiring…";
    if (value.textContent === text) return;
    value.textContent = text;
    const whole = Math.max(1, request.expires - request.opened);
    left.setAttribute("stroke-dasharray", `${Math.max(0, Math.min(100, (100 * remaining) / whole)).toFixed(1)} 100`);
    shown.classList.toggle("soon", remaining < 60_000);
    shown.classList.toggle("now", remaining < 15_000);
  };
  shown.tick();
  return shown;
}
