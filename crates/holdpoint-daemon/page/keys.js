// The keys of the page. A key counts only where no text is typed and no dialog is open, and a key that answers only if it
// stands alone.

import * as detail from "./detail.js";
import * as dialogs from "./dialogs.js";
import * as pending from "./pending.js";
import { choice } from "./store.js";
import { toast } from "./toasts.js";
import { standsAlone } from "./typing.js";
import { undo } from "./undo.js";

const KEYS = [
  ["j k", "next, previous request"], ["Enter", "details"], ["y", "release"], ["n", "refuse"], ["c", "refuse with a comment"],
  ["e", "edit the arguments"], ["a", "always or never: leave a rule"], ["s", "stop asking for a while"], ["+", "five more minutes"],
  ["Esc", "take back the answer given last, for a moment"], ["x", "select"], ["X", "select all shown"], ["/", "filter"], ["1–5", "the views above, in their order"], ["Esc", "close, clear the selection"], ["?", "this help"],
];

const ANSWERS = { y: "release", n: "refuse", c: "comment", e: "edit", a: "rule", s: "suspend", "+": "extend" };

export const help = () => dialogs.help(KEYS);

export function start({ tab, go, search }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialogs.isOpen()) return;
    const typing = event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
    if (typing) return;
    if (event.key === "Escape") {
      if (undo()) return;
      if (!detail.close() && tab() === "pending") pending.keys.escape();
      return;
    }
    if (choice("keys") === "off") return;
    if (act(event)) event.preventDefault();
  });

  function act({ key, repeat, target }) {
    if (key === "?") return help(), true;
    if (key === "/") return search(), true;
    if (/^[1-5]$/.test(key)) return go(Number(key) - 1), true;
    if (tab() !== "pending") return false;
    if (key === "j" || key === "ArrowDown" && target.closest(".card")) return pending.keys.move(1), true;
    if (key === "k" || key === "ArrowUp" && target.closest(".card")) return pending.keys.move(-1), true;
    // A key that is held down answers once.
    if (repeat) return Boolean(ANSWERS[key]);
    if (key === "Enter" && !target.closest("button, a, summary, label, input")) return pending.keys.details(), true;
    if (key === "x") return pending.keys.select(), true;
    if (key === "X") return pending.keys.selectAll(), true;
    if (ANSWERS[key] && !standsAlone()) return toast("note", "You typed just now, so nothing was answered. Wait a second, then press the key alone."), true;
    if (ANSWERS[key]) return pending.keys.answer(ANSWERS[key]), true;
    return false;
  }
}
