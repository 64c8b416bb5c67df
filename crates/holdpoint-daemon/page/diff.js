// Diffs: read from a unified diff or made from two texts, and shown with line numbers.

import { button, h } from "./dom.js";
import { paint, ranges } from "./highlight.js";

// The rows of a unified diff; none if it is not one. A hunk has the lines its head announces, so
// that a removed line which looks like a head stays a removed line.
export function read(text) {
  const rows = [];
  let [old, now, oldLeft, nowLeft, base, hunks] = [0, 0, 0, 0, 0, 0];
  for (const line of text.split("\n")) {
    const at = base;
    base += line.length + 1;
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line);
    if (oldLeft > 0 || nowLeft > 0) {
      const row = { text: line.slice(1), base: at + 1 };
      if (line.startsWith("+")) rows.push({ ...row, kind: "added", now: now++ }), nowLeft--;
      else if (line.startsWith("-")) rows.push({ ...row, kind: "removed", old: old++ }), oldLeft--;
      else if (line.startsWith("\\")) rows.push({ kind: "note", text: line.slice(2), base: at + 2 });
      else if (line.startsWith(" ") || line === "") rows.push({ ...row, kind: "same", old: old++, now: now++ }), oldLeft--, nowLeft--;
      else rows.push({ kind: "note", text: line, base: at }), (oldLeft = nowLeft = 0);
    } else if (head) {
      [old, now] = [Number(head[1]), Number(head[3])];
      [oldLeft, nowLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      hunks += 1;
      rows.push({ kind: "hunk", text: line, base: at });
    } else if (line.startsWith("\\")) rows.push({ kind: "note", text: line.slice(2), base: at + 2 });
    else if (/^(---|\+\+\+) /.test(line)) rows.push({ kind: "file", text: line, base: at });
    else if (line !== "") rows.push({ kind: "note", text: line, base: at });
  }
  return hunks ? rows : null;
}

// The most cells a comparison may fill; beyond it the changed middle counts as replaced.
const CELLS = 1_000_000;

// The rows between two texts.
export function compare(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let top = 0;
  while (top < old.length && top < now.length && old[top] === now[top]) top += 1;
  let bottom = 0;
  while (bottom < old.length - top && bottom < now.length - top && old.at(-1 - bottom) === now.at(-1 - bottom)) bottom += 1;
  const rows = [];
  const same = (from, to, shift) => {
    for (let line = from; line < to; line += 1) rows.push({ kind: "same", text: old[line], old: line + 1, now: line + 1 + shift });
  };
  same(0, top, 0);
  const [a, b] = [old.slice(top, old.length - bottom), now.slice(top, now.length - bottom)];
  for (const [kind, one, other] of steps(a, b)) {
    if (kind === "removed") rows.push({ kind, text: a[one], old: top + one + 1 });
    else if (kind === "added") rows.push({ kind, text: b[other], now: top + other + 1 });
    else rows.push({ kind, text: a[one], old: top + one + 1, now: top + other + 1 });
  }
  same(old.length - bottom, old.length, now.length - old.length);
  return rows;
}

function* steps(a, b) {
  const [rows, columns] = [a.length + 1, b.length + 1];
  if (rows * columns > CELLS) {
    for (let one = 0; one < a.length; one += 1) yield ["removed", one, 0];
    for (let other = 0; other < b.length; other += 1) yield ["added", 0, other];
    return;
  }
  const longest = new Uint32Array(rows * columns);
  for (let one = a.length - 1; one >= 0; one -= 1) {
    for (let other = b.length - 1; other >= 0; other -= 1) {
      longest[one * columns + other] = a[one] === b[other]
        ? longest[(one + 1) * columns + other + 1] + 1
        : Math.max(longest[(one + 1) * columns + other], longest[one * columns + other + 1]);
    }
  }
  let [one, other] = [0, 0];
  while (one < a.length || other < b.length) {
    if (one < a.length && other < b.length && a[one] === b[other]) yield ["same", one++, other++];
    else if (one < a.length && (other === b.length || longest[(one + 1) * columns + other] >= longest[one * columns + other + 1])) yield ["removed", one++, other];
    else yield ["added", one, other++];
  }
}

// What differs inside lines that stand for each other.
function inside(rows) {
  const words = new Map();
  for (let at = 0; at < rows.length; ) {
    let middle = at;
    while (rows[middle]?.kind === "removed") middle += 1;
    let end = middle;
    while (rows[end]?.kind === "added") end += 1;
    if (middle > at && end - middle === middle - at) {
      for (let step = 0; step < middle - at; step += 1) {
        const [one, other] = [rows[at + step].text, rows[middle + step].text];
        let head = 0;
        while (head < one.length && head < other.length && one[head] === other[head]) head += 1;
        let tail = 0;
        while (tail < one.length - head && tail < other.length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
        if (head + tail > 0.3 * Math.max(one.length, other.length)) {
          words.set(rows[at + step], [head, one.length - tail]);
          words.set(rows[middle + step], [head, other.length - tail]);
        }
      }
    }
    at = Math.max(end, at + 1);
  }
  return words;
}

const KEPT = 3;
const FOLDED = 4;

// Runs of unchanged lines become one fold, save those next to a change.
function folded(rows) {
  const shown = [];
  for (let at = 0; at < rows.length; ) {
    if (rows[at].kind !== "same") {
      shown.push(rows[at++]);
      continue;
    }
    let end = at;
    while (rows[end]?.kind === "same") end += 1;
    const changes = (row) => row?.kind === "added" || row?.kind === "removed";
    const [before, after] = [changes(rows[at - 1]) ? KEPT : 0, changes(rows[end]) ? KEPT : 0];
    if (end - at >= before + after + FOLDED) {
      shown.push(...rows.slice(at, at + before), { kind: "fold", rows: rows.slice(at + before, end - after) }, ...rows.slice(end - after, end));
    } else shown.push(...rows.slice(at, end));
    at = end;
  }
  return shown;
}

// The head of a file says something only where the file is made, removed, renamed or one of many.
function withoutHeads(rows, title) {
  const files = rows.filter((row) => row.kind === "file");
  const [old, now] = files.map((row) => row.text.slice(4).split("\t")[0].replace(/^[ab]\//, ""));
  const plain = files.length === 2 && old === now && title.includes(now);
  return plain ? rows.filter((row) => row.kind !== "file") : rows;
}

// Rows that are put on the page at once.
const AT_ONCE = 2000;

// A diff as a table. `limit` rows are shown first, the others on demand.
export function view(rows, { text = "", marks, limit = AT_ONCE, label = "Changes" } = {}) {
  const painted = ranges(text, { marks });
  const words = inside(rows);
  const body = h("tbody");
  const line = (row) => {
    const cell = h("td", { class: "line" });
    const word = words.get(row);
    const own = word && word[0] < word[1] ? [{ from: word[0], to: word[1], kind: "word" }] : [];
    const shift = row.base ?? 0;
    paint(cell, row.text, row.base === undefined ? own : [...painted, ...own.map((one) => ({ ...one, from: one.from + shift, to: one.to + shift }))], shift);
    if (row.kind === "hunk" || row.kind === "file" || row.kind === "note") {
      cell.colSpan = 4;
      return h("tr", { class: row.kind }, cell);
    }
    const sign = { added: "+", removed: "−", same: " " }[row.kind];
    return h("tr", { class: row.kind },
      h("td", { class: "number" }, row.old === undefined ? "" : String(row.old)),
      h("td", { class: "number" }, row.now === undefined ? "" : String(row.now)),
      h("td", { class: "sign" }, sign), cell);
  };
  const fold = (row) => {
    const open = button(`⋯ ${row.rows.length} unchanged lines`, { class: "unfold" });
    const shell = h("tr", { class: "fold" }, h("td", { colspan: 4 }, open));
    open.addEventListener("click", () => shell.replaceWith(...row.rows.map(line)));
    return shell;
  };
  const table = h("table", { class: "diff", "aria-label": label }, body);
  const shown = folded(withoutHeads(rows, label));
  const put = (from, most) => {
    const end = shown.length - from <= most + 3 ? shown.length : from + most;
    body.append(...shown.slice(from, end).map((row) => (row.kind === "fold" ? fold(row) : line(row))));
    if (end === shown.length) return;
    const more = button(`Show the other ${shown.length - end} lines`, { class: "unfold" });
    const shell = h("tr", { class: "fold rest" }, h("td", { colspan: 4 }, more));
    more.addEventListener("click", () => {
      shell.remove();
      put(end, AT_ONCE);
    });
    body.append(shell);
  };
  put(0, limit);
  return table;
}

export function tally(rows) {
  const of = (kind) => rows.filter((row) => row.kind === kind).length;
  return { added: of("added"), removed: of("removed") };
}
