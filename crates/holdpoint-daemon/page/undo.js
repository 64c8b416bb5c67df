// The moment before a release leaves the page, in which it can be taken back. A page that is closed in it releases nothing.

import { button, h, icon } from "./dom.js";
import { announce } from "./toasts.js";
import { onTyping } from "./typing.js";

// Long enough to see what one has done, and longer than a key must stand alone; the agent waits for seconds already.
const MOMENT = 1500;

// The moments that run now, the newest last.
const running = [];

// Waits for the moment. True if nobody took it back: with Undo, with Escape, or, if it was begun with a key, by typing on.
export function moment(words, { byKey = false } = {}) {
  return new Promise((resolve) => {
    const room = document.getElementById("toasts");
    const back = button("Undo", { class: "undo", "aria-keyshortcuts": "Escape" });
    const shown = h("div", { class: "toast undoing" }, icon("clock"), h("p", null, words), back);
    const end = (goes, why) => {
      clearTimeout(timer);
      deaf();
      running.splice(running.indexOf(one), 1);
      shown.remove();
      if (why) announce(why);
      resolve(goes ? { goes } : { goes, why });
    };
    const one = { back: () => end(false, "Taken back: nothing was answered.") };
    const timer = setTimeout(() => end(true), MOMENT);
    const deaf = byKey ? onTyping(() => end(false, "You typed on, so nothing was answered. Press the key alone.")) : () => undefined;
    back.addEventListener("click", one.back);
    running.push(one);
    room.append(shown);
    announce(words);
  });
}

// Takes back what was begun last; false if nothing can be.
export function undo() {
  const one = running.at(-1);
  one?.back();
  return one !== undefined;
}

// Nobody is there any more to take anything back: nothing of it leaves the page.
export function undoAll() {
  for (const one of [...running]) one.back();
}
