// Short messages that come and go, read out by a screen reader.

import { button, h, icon } from "./dom.js";

// How long a message stays, by its kind.
const SHOWN = { good: 4000, note: 8000, bad: 14_000 };
const MOST = 3;

// `kind` is `good`, `bad` or `note`.
export function toast(kind, text) {
  const room = document.getElementById("toasts");
  const close = button(icon("cross"), { class: "icon-only", "aria-label": "Close this message" });
  const shown = h("div", { class: `toast ${kind}` }, icon({ good: "check", bad: "warn", note: "info" }[kind]), h("p", null, text), close);
  const leave = () => shown.remove();
  close.addEventListener("click", leave);
  room.append(shown);
  while (room.children.length > MOST) room.firstChild.remove();
  setTimeout(leave, SHOWN[kind]);
}

let pause = 0;
// Said by a screen reader only.
export function announce(text) {
  const room = document.getElementById("live");
  clearTimeout(pause);
  pause = setTimeout(() => {
    room.textContent = text;
  }, 150);
}
