// Makes elements. Every text goes through `append`, so that none is read as markup and nothing in
// it is invisible: there is no other way to put text on this page.

import { append, plain } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "on") for (const [kind, act] of Object.entries(value)) element.addEventListener(kind, act);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (["value", "checked", "disabled", "indeterminate", "hidden", "open"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : plain(value));
  }
  return add(element, children);
}

export function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false || child === "") continue;
    if (Array.isArray(child)) add(element, child);
    else if (child instanceof Node) element.append(child);
    else append(element, child);
  }
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

// Sixteen units square, drawn with the colour of the text.
const ICONS = {
  check: "M3 8.5l3.2 3.2L13 5",
  cross: "M4 4l8 8M12 4l-8 8",
  warn: "M8 2.5l6 10.8H2zM8 6.5v3M8 11.4v.1",
  stop: "M5.5 2h5L14 5.500v5L10.500 14h-5L2 10.500v-5zM8 5v3.500M8 11v.1",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.300V11M8 5v.1",
  skip: "M4 8h8",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.800V8l2.200 1.500",
  pencil: "M10.500 3l2.500 2.500L6 12.500l-3 .5.500-3z",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  folder: "M2 4h4l1.500 2H14v7H2z",
  bell: "M4 11V7.500a4 4 0 0 1 8 0V11l1 1H3zM7 13.800h2",
  bellOff: "M4 11V7.500a4 4 0 0 1 6.800-2.800M12 7.500V11l1 1H5M7 13.800h2M2.500 13.500l11-11",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.500V3M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1",
  moon: "M12.800 9.500A5.300 5.300 0 0 1 6.500 3.200a5.300 5.300 0 1 0 6.300 6.300z",
  help: "M5.800 6.200A2.200 2.200 0 1 1 8 8.400V9.500M8 12v.1",
  person: "M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8zM3 13.800a5 5 0 0 1 10 0",
  people: "M6 8a2.400 2.400 0 1 0 0-4.800A2.400 2.400 0 0 0 6 8zM1.800 13a4.300 4.300 0 0 1 8.400 0M10.500 3.500a2.300 2.300 0 0 1 0 4.300M12 9.300a4 4 0 0 1 2.300 3.700",
  search: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.300 10.300L14 14",
  filter: "M2.500 4h11M4.500 8h7M6.500 12h3",
  rule: "M3 3h10v10H3zM5.500 6.500h5M5.500 9.500h3",
  copy: "M6 6h7v7H6zM3 10V3h7",
};

export function icon(name, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name] ?? ICONS.info);
  svg.append(path);
  return svg;
}

// What is left of a deadline, as a ring.
export function ring() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "ring");
  svg.setAttribute("aria-hidden", "true");
  for (const kind of ["track", "left"]) {
    const circle = document.createElementNS(SVG, "circle");
    for (const [name, value] of Object.entries({ class: kind, cx: 10, cy: 10, r: 8, pathLength: 100 })) {
      circle.setAttribute(name, value);
    }
    svg.append(circle);
  }
  return svg;
}

// What can be pressed. `key` is the key that does the same.
export function button(label, properties = {}, ...before) {
  const { key, ...rest } = properties;
  const shown = typeof label === "string" ? h("span", { class: "label" }, label) : label;
  return h(
    "button",
    { type: "button", "aria-keyshortcuts": key, ...rest },
    ...before,
    shown,
    key && h("kbd", { "aria-hidden": "true" }, key)
  );
}
