// Tells of new requests outside of the page: the title, the icon, and the desktop if one asked for it.

import { choice, on, pending } from "./store.js";
import { riskOf } from "./words.js";

const canNotify = () => "Notification" in window && isSecureContext;
export const possible = canNotify;
export const wanted = () => canNotify() && Notification.permission === "granted" && choice("notify") === "yes";

// Asked for by a click only. Gives back what to tell the person, if anything.
export async function toggle() {
  if (wanted()) {
    choice("notify", null);
    return null;
  }
  if (!canNotify()) return "This browser shows no notifications here.";
  const permission = await Notification.requestPermission();
  if (permission !== "granted") return "The browser does not allow notifications for this page. Its site settings can change that.";
  choice("notify", "yes");
  return null;
}

const MOST = 3;

export function start(show) {
  let fresh = [];
  let pause = 0;
  on("opened", (request) => {
    badge();
    // Nobody waits for an answer to what ran inside the sandbox.
    if (request.offered || !wanted() || document.hasFocus()) return;
    fresh.push(request);
    clearTimeout(pause);
    pause = setTimeout(() => {
      const told = fresh.length > MOST ? [] : fresh;
      // Others may see the screen, or the lock screen of a phone: what the call is stays on the page.
      for (const one of told) tell("Holdpoint", `A call of ${riskOf(one)} risk waits for you`, one.id, show);
      if (!told.length) tell("Holdpoint", `${fresh.length} requests wait for you`, fresh[0].id, show);
      fresh = [];
    }, 200);
  });
  for (const kind of ["snapshot", "settled"]) on(kind, badge);
}

function tell(title, body, id, show) {
  let shown;
  try {
    shown = new Notification(title, { body, tag: `holdpoint-${id}`, icon: "/assets/icon.svg" });
  } catch {
    // On phones only the service worker shows notifications.
    navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, { body, tag: `holdpoint-${id}`, icon: "/assets/icon-192.png", data: { id } }));
    return;
  }
  shown.addEventListener("click", () => {
    window.focus();
    show(id);
    shown.close();
  });
  const over = on("settled", (request) => {
    if (request.id !== id) return;
    shown.close();
    over();
  });
}

let drawn = -1;
const picture = new Image();
picture.src = "/assets/icon.svg";
picture.addEventListener("load", () => {
  drawn = -1;
  badge();
});

// How many wait, in the title and on the icon.
export function badge() {
  const waiting = pending().filter(({ offered }) => !offered).length;
  document.title = waiting ? `(${waiting}) Holdpoint` : "Holdpoint";
  if (drawn === waiting || !picture.complete || !picture.naturalWidth) return;
  drawn = waiting;
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
  const brush = canvas.getContext("2d");
  brush.drawImage(picture, 0, 0, 64, 64);
  if (waiting) {
    const text = waiting > 99 ? "99" : String(waiting);
    brush.fillStyle = "#c3273a";
    brush.beginPath();
    brush.roundRect(text.length > 1 ? 20 : 28, 26, text.length > 1 ? 44 : 36, 38, 12);
    brush.fill();
    brush.fillStyle = "#fff";
    brush.font = "bold 32px system-ui, sans-serif";
    brush.textAlign = "center";
    brush.textBaseline = "middle";
    brush.fillText(text, text.length > 1 ? 42 : 46, 47);
  }
  document.getElementById("favicon").href = canvas.toDataURL("image/png");
}
