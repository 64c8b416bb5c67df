// The parts of the page that need no browser: offsets, diffs, and what is made visible.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const page = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../crates/holdpoint-daemon/page");
const load = (name) => import(pathToFileURL(path.join(page, name)));
const { caught } = await load("highlight.js");
const { compare, read } = await load("diff.js");
const { clock, mixedWords, names, plain, span } = await load("text.js");

// Marks count bytes; the page counts units of UTF-16.
const text = "é😀 rm -rf ~/ü && ls";
const bytes = (part) => {
  const from = Buffer.byteLength(text.slice(0, text.indexOf(part)));
  return [from, from + Buffer.byteLength(part)];
};
for (const part of ["é", "😀", "rm -rf ~/ü", "ls", text]) {
  const [{ from, to }] = caught(text, [{ span: bytes(part) }]);
  assert.equal(text.slice(from, to), part);
}
assert.deepEqual(caught(text, [{ span: [3, 4] }]).map(({ from, to }) => text.slice(from, to)), ["😀"], "a part of a character is all of it");
assert.deepEqual(caught(text, [{ span: [400, 900] }, { span: [5, 5] }, { span: [9, 2] }]), [], "what is nowhere is left out");
assert.equal(caught(text, [{ span: [0, 900] }])[0].to, text.length);

// A line that looks like a head is a line while the hunk lasts.
const rows = read("--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n same\n--- a/forged\n-@@ -9 +9 @@\n+++ b/forged\n\\ No newline at end of file\n");
assert.deepEqual(rows.map((row) => row.kind), ["file", "file", "hunk", "same", "removed", "removed", "added", "note"]);
assert.deepEqual(rows.filter((row) => row.kind === "removed").map((row) => [row.old, row.text]), [[2, "-- a/forged"], [3, "@@ -9 +9 @@"]]);
assert.equal(read("no diff at all"), null);
assert.equal(read("--- only\n+++ heads\n"), null);

// What is made of two texts leads from the one to the other.
let seed = 7;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
for (let round = 0; round < 400; round += 1) {
  const make = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
  const [before, after] = [make(), make()];
  const made = compare(before, after);
  const side = (out) => made.filter((row) => row.kind !== out).map((row) => row.text).join("\n");
  assert.equal(side("added"), before);
  assert.equal(side("removed"), after);
  const numbers = (out, side) => made.filter((row) => row.kind !== out).map((row) => row[side]);
  for (const [out, side] of [["added", "old"], ["removed", "now"]]) {
    assert.deepEqual(numbers(out, side), numbers(out, side).map((_, index) => index + 1), "lines are counted");
  }
}
const long = (line) => Array.from({ length: 3000 }, (_, index) => `${line} ${index}`).join("\n");
assert.equal(compare(long("a"), long("b")).length, 6000, "too large to compare is replaced");

// Nothing stays invisible.
const unseen = [0x00, 0x07, 0x0d, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x200b, 0x200f, 0x202e, 0x2028, 0x2060, 0x2066, 0x3164, 0xfeff, 0xfe0f, 0xe0041, 0xe0101];
for (const point of unseen) assert.match(plain(`a${String.fromCodePoint(point)}b`), /^a⟨[A-Z0-9+]+⟩b$/u, point.toString(16));
assert.equal(plain("tabs\tand\nlines, ü, 漢字, 😀"), "tabs\tand\nlines, ü, 漢字, 😀");
assert.equal(mixedWords("curl https://ex\u0430mple.test").length, 1);
assert.equal(mixedWords("grüße привет Ωmega").length, 1);
assert.equal(mixedWords("just words").length, 0);

assert.deepEqual([clock(0), clock(61_000), clock(3_700_000), clock(-5)], ["0:00", "1:01", "1:01:40", "0:00"]);
assert.deepEqual([span(900), span(61_000), span(7_200_000)], ["1 s", "1 min", "2 h"]);
assert.deepEqual([names([]), names(["a"]), names(["a", "b", "c"])], ["", "a", "a, b and c"]);
console.log("browser: the parts of the page hold");
