// What the daemon says, as far as this page heard of it. Nothing of it outlives the page.

const listeners = new Map();

export function on(kind, act) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(act);
  return () => listeners.get(kind).delete(act);
}

export function tell(kind, value) {
  for (const act of [...(listeners.get(kind) ?? [])]) act(value);
}

// The requests this page knows by their id: those that wait, and those that ended while it looked.
export const requests = new Map();

// Who is signed in, and how far the daemon's clock is ahead of this one.
export const state = { person: null, ahead: 0 };

export const now = () => Date.now() + state.ahead;

export const pending = () => [...requests.values()].filter((request) => request.state === "pending");

// Takes in an event of the daemon. Events and replies overtake each other; the newer version stays.
export function hear(kind, value) {
  if (kind === "snapshot") {
    state.ahead = Number.isFinite(value.now) ? value.now - Date.now() : 0;
    const held = new Set(value.requests.map((request) => request.id));
    for (const [id, request] of [...requests]) {
      if (request.state === "pending" && !held.has(id)) requests.delete(id);
    }
    for (const request of value.requests) requests.set(request.id, request);
    tell("snapshot");
    return;
  }
  const before = requests.get(value.id);
  if (before && before.version >= value.version) return;
  if (!before && value.state !== "pending") {
    tell("settled", value);
    return;
  }
  requests.set(value.id, value);
  if (value.state !== "pending") tell("settled", value);
  else if (before) tell("changed", { request: value, before });
  else tell("opened", value);
}

export function forget(id) {
  requests.delete(id);
}

export function clear() {
  requests.clear();
}

// What the browser keeps for this page: choices about how it looks, and the secret of `api.js`.
export function choice(name, value) {
  const key = `holdpoint.${name}`;
  try {
    if (value === undefined) return localStorage.getItem(key);
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // A browser may forbid it; then the choice lasts as long as the page.
  }
  return value ?? null;
}
