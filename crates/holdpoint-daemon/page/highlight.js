// Paints a text: the parts a rule caught, and enough of the grammar to read it by. Colour only ever
// adds to a text; nothing is dimmed or left out, since a painter can be fooled.

import { append, mixedWords } from "./text.js";

const STRENGTH = { allow: 0, notify: 1, contain: 2, ask: 3, review: 4, deny: 5 };

// Marks count the bytes of the text in UTF-8; the page counts units of UTF-16.
export function caught(text, marks = []) {
  marks = marks.filter(({ span: [from, to] }) => from < to);
  const wanted = [...new Set(marks.flatMap((mark) => mark.span))].sort((one, other) => one - other);
  const starts = new Map();
  const ends = new Map();
  let next = 0;
  let bytes = 0;
  let units = 0;
  const reach = (until, floor, ceiling) => {
    while (next < wanted.length && wanted[next] < until) {
      starts.set(wanted[next], floor);
      ends.set(wanted[next], wanted[next] === bytes ? floor : ceiling);
      next += 1;
    }
  };
  for (const character of text) {
    if (next === wanted.length) break;
    const point = character.codePointAt(0);
    const width = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    reach(bytes + width, units, units + character.length);
    bytes += width;
    units += character.length;
  }
  reach(Infinity, text.length, text.length);
  return marks
    .map((mark) => ({ mark, from: starts.get(mark.span[0]), to: ends.get(mark.span[1]) }))
    .filter(({ from, to }) => from < to);
}

const SHELL = new RegExp(
  [
    "(?<comment>(?<=^|[\\s;&|()])#[^\\n]*)",
    "(?<string>'[^']*'|\"(?:\\\\[\\s\\S]|[^\"\\\\])*\")",
    "(?<variable>\\$\\{[^}]*\\}|\\$[\\w#?!@*$-]+|\\$\\(|`)",
    "(?<operator>&&|\\|\\||[|;&<>]+|[0-9]?>&?[0-9]?)",
    "(?<flag>(?<=\\s)--?[A-Za-z0-9][\\w-]*)",
  ].join("|"),
  "gm"
);
const JSON_TOKEN = /(?<key>"(?:\\.|[^"\\])*"(?=\s*:))|(?<string>"(?:\\.|[^"\\])*")|(?<variable>\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*\b)/g;

// More than this is painted plainly: a person does not read it by its colours.
const GRAMMAR_LIMIT = 20_000;

function grammar(text, format, language) {
  if (text.length > GRAMMAR_LIMIT) return [];
  const shell = format === "code" && (!language || /^(ba|z|da|k)?sh(ell)?$/i.test(language));
  const pattern = shell ? SHELL : format === "json" ? JSON_TOKEN : null;
  if (!pattern) return [];
  const tokens = [];
  for (const found of text.matchAll(pattern)) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    tokens.push({ from: found.index, to: found.index + found[0].length, kind });
  }
  return tokens;
}

// Everything that is painted of a text, as ranges with a class.
export function ranges(text, { marks, format, language } = {}) {
  const painted = grammar(text, format, language).map(({ from, to, kind }) => ({ from, to, kind: `tok-${kind}` }));
  for (const { from, to } of mixedWords(text)) {
    painted.push({ from, to, kind: "mixed", title: "Letters of different scripts in one word" });
  }
  for (const { from, to, mark } of caught(text, marks)) {
    painted.push({ from, to, mark });
  }
  return painted;
}

// Appends `text`, which stands at `base` in the text the ranges are about.
export function paint(element, text, painted, base = 0) {
  const here = painted.filter((range) => range.from < base + text.length && range.to > base);
  if (!here.length) return append(element, text);
  const cuts = new Set([0, text.length]);
  for (const { from, to } of here) {
    cuts.add(Math.max(0, from - base));
    cuts.add(Math.min(text.length, to - base));
  }
  const sorted = [...cuts].sort((one, other) => one - other);
  for (let index = 0; index + 1 < sorted.length; index += 1) {
    const [from, to] = [sorted[index], sorted[index + 1]];
    const over = here.filter((range) => range.from - base <= from && range.to - base >= to);
    const piece = text.slice(from, to);
    if (!over.length) {
      append(element, piece);
      continue;
    }
    const marks = over.filter((range) => range.mark).map((range) => range.mark);
    const part = document.createElement(marks.length ? "mark" : "span");
    part.className = over.map((range) => range.kind).filter(Boolean).join(" ");
    if (marks.length) {
      const worst = marks.reduce((one, other) => (STRENGTH[other.verdict] > STRENGTH[one.verdict] ? other : one));
      part.classList.add(`caught-${worst.verdict in STRENGTH ? worst.verdict : "ask"}`);
      if (marks.some((mark) => here.some((range) => range.mark === mark && range.from - base === from))) part.classList.add("first");
      if (marks.some((mark) => here.some((range) => range.mark === mark && range.to - base === to))) part.classList.add("last");
      part.title = marks.map((mark) => `${mark.rule}: ${mark.reason}`).join("\n");
    } else if (over.find((range) => range.title)) part.title = over.find((range) => range.title).title;
    element.append(append(part, piece));
  }
  return element;
}
