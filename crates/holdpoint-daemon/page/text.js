// Text of agents, made safe to look at: nothing invisible, nothing that turns the line around.
// Also the words for times.

// Control, bidirectional, zero-width, tag and filler characters, and spaces that are no space.
const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb" +
    "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu"
);

const NAMES = new Map([
  [0x00, "NUL"], [0x07, "BEL"], [0x08, "BS"], [0x0d, "CR"], [0x1b, "ESC"], [0x7f, "DEL"], [0xa0, "NBSP"], [0xad, "SHY"],
  [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"], [0x200e, "LRM"], [0x200f, "RLM"], [0x202a, "LRE"],
  [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x2066, "LRI"], [0x2067, "RLI"],
  [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);

function nameOf(character) {
  const point = character.codePointAt(0);
  return NAMES.get(point) ?? `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

// A text for a place that takes no elements: a title, a notification.
export function plain(text) {
  return String(text).replace(UNSEEN, (character) => `⟨${nameOf(character)}⟩`);
}

// Appends a text to an element, unseen characters as chips.
export function append(element, text) {
  text = String(text);
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > from) element.append(text.slice(from, found.index));
    const chip = document.createElement("span");
    chip.className = "unseen-character";
    chip.textContent = nameOf(found[0]);
    chip.title = `An invisible character: U+${found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    element.append(chip);
    from = found.index + found[0].length;
  }
  if (from < text.length) element.append(from ? text.slice(from) : text);
  return element;
}

// Words in which letters of two scripts stand together, the way a forged host name looks.
export function mixedWords(text) {
  if (!/[^\u0000-\u024f]/.test(text)) return [];
  const found = [];
  for (const word of text.matchAll(/[\p{L}\p{N}.-]+/gu)) {
    if (/[a-z]/i.test(word[0]) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(word[0])) {
      found.push({ from: word.index, to: word.index + word[0].length });
    }
  }
  return found;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

// 4:12, 1:04:12: what is left of a deadline.
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const part = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours ? `${hours}:${part(minutes)}:${part(seconds % 60)}` : `${minutes}:${part(seconds % 60)}`;
}

// "2 s", "4 min", "3 h", "5 days".
export function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function ago(milliseconds) {
  return milliseconds < 1500 ? "just now" : `${span(milliseconds)} ago`;
}

export function moment(milliseconds) {
  const date = new Date(milliseconds);
  const today = new Date().toDateString() === date.toDateString();
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  return today
    ? date.toLocaleTimeString([], time)
    : date.toLocaleString([], { year: "numeric", month: "short", day: "numeric", ...time });
}

// Names in a row: "ann", "ann and bob", "ann, bob and cem".
export function names(list) {
  return list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
}
