// Tells a key that is an answer from a letter of something that is typed: an answer stands alone. What a person types while
// nothing takes it, because a click was not heard or the page moved, answers nothing.

// Nothing may be typed for so long before and behind a key that answers. People type a letter every 0.1 to 0.4 seconds.
export const QUIET = 1000;

// The last two keys that were typed anywhere on the page, and who wants to hear of the next one.
let last = -Infinity;
let before = -Infinity;
const listeners = new Set();

// Keys that write nothing are no typing: moving, leaving, and those held down with others.
const isTyping = ({ key }) => key.length === 1 || ["Enter", "Backspace", "Delete", "Process", "Dead", "Unidentified"].includes(key);

addEventListener("keydown", (event) => {
  if (!isTyping(event) || event.repeat) return;
  before = last;
  last = performance.now();
  for (const act of [...listeners]) act(event);
}, { capture: true });

// Whether the key that is being handled stands alone so far.
export const standsAlone = () => last - before >= QUIET;

// Whether a click was made with a key, and that key is part of something typed: Space and Enter press what has the focus.
export function isTyped(event) {
  return event?.detail === 0 && performance.now() - last < QUIET && !standsAlone();
}

// Calls `act` at the next key that is typed; the function that comes back ends it.
export function onTyping(act) {
  listeners.add(act);
  return () => listeners.delete(act);
}
