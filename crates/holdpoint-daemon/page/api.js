// Talks to the daemon. The cookie is the browser's alone; beside it the daemon wants the secret it
// gave to this page, since a cookie reaches every port of a machine. The browser keeps that secret
// for this address only, and it is never written to the page or the address line.

import { choice } from "./store.js";

const SECRET = "page";
let csrf = choice(SECRET) ?? "";
let shut = () => undefined;

// Whether somebody may be signed in; without the page's secret nobody is.
export const mayBeSignedIn = () => csrf !== "";

// `act` is called when the daemon no longer knows this page.
export function whenShut(act) {
  shut = act;
}

// Another tab of this browser signed in or out: the cookie is another now, and so is the secret.
export function whenSignedInElsewhere(act) {
  addEventListener("storage", (event) => {
    if (event.key !== `holdpoint.${SECRET}` || event.newValue === csrf) return;
    csrf = event.newValue ?? "";
    act();
  });
}

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? body?.message ?? `the daemon answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

async function send(method, path, body) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (csrf) headers["X-Holdpoint-Csrf"] = csrf;
  let reply;
  try {
    reply = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch {
    throw new Refused(0, { error: "the daemon cannot be reached" });
  }
  const text = await reply.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    value = null;
  }
  if (!reply.ok) {
    const refused = new Refused(reply.status, value);
    if (path !== SIGN_IN && path !== ME) await isShut(refused);
    throw refused;
  }
  return value;
}

const SIGN_IN = "/api/sign-in";
const ME = "/api/me";

// A refusal may be about this one thing, or mean that nobody is signed in here any more.
async function isShut({ status }) {
  if (status !== 401 && status !== 403) return;
  try {
    await me();
  } catch (problem) {
    if (problem.status === 401) shut();
  }
}

const get = (path, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const tail = new URLSearchParams(given).toString();
  return send("GET", tail ? `${path}?${tail}` : path);
};
const post = (path, body = {}) => send("POST", path, body);
const one = (id) => `/api/requests/${encodeURIComponent(id)}`;

export const me = async () => (await get(ME)).person;

export async function signIn(proof) {
  const { person, csrf: secret } = await post(SIGN_IN, proof);
  csrf = secret;
  choice(SECRET, secret);
  return person;
}

export async function signOut() {
  await post("/api/sign-out");
  csrf = "";
  choice(SECRET, null);
}
export const request = (id) => get(one(id));
export const answer = (id, said) => post(`${one(id)}/answer`, said);
export const answerMany = (ids, said) => post("/api/answers", { ids, ...said });
export const along = (id, said) => post(`${one(id)}/along`, said);
export const extend = (id, seconds) => post(`${one(id)}/extend`, { seconds });
export const history = (query) => get("/api/history", query);
export const sessions = () => get("/api/sessions");
export const changeSession = (key, change) => post("/api/sessions/change", { key, change });
export const stop = (scope, reason) => post("/api/stop", { scope, reason });
export const resume = (scope) => post("/api/resume", { scope });
export const policy = (workspace) => get("/api/policy", { workspace });
export const people = () => get("/api/people");
export const passkeys = () => get("/api/passkeys");
export const keepPasskey = (made) => post("/api/passkeys", made);
export const statement = (id) => post(`${one(id)}/statement`);
export const delegate = (to, seconds) => post("/api/delegations", { to, seconds });
export const undelegate = (to) => send("DELETE", `/api/delegations/${encodeURIComponent(to)}`, {});

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;
// The daemon pings more often than this; a line that is silent for longer is dead.
const SILENCE = 60_000;

// Follows the daemon's events until it is closed. `heard(kind, value)` gets each of them,
// `stands(state, retryAt)` how the line stands: `live`, `waiting` (until `retryAt`), `connecting`,
// or `signed-out`.
export function follow(heard, stands) {
  let source = null;
  let timer = 0;
  let watchdog = 0;
  let pause = FIRST_PAUSE;
  let closed = false;

  const lost = async () => {
    if (closed || !source) return;
    source.close();
    source = null;
    clearTimeout(watchdog);
    // An event source does not tell why it failed: whether one is still signed in is asked apart.
    try {
      await me();
    } catch (problem) {
      if (problem.status === 401 && !closed) return stands("signed-out");
    }
    if (closed) return undefined;
    const wait = pause * (0.8 + 0.4 * Math.random());
    pause = Math.min(LONGEST_PAUSE, pause * 2);
    stands("waiting", Date.now() + wait);
    timer = setTimeout(connect, wait);
    return undefined;
  };
  const alive = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(lost, SILENCE);
  };
  function connect() {
    clearTimeout(timer);
    if (closed || source) return;
    stands("connecting");
    source = new EventSource("/api/events");
    alive();
    source.addEventListener("error", lost);
    source.addEventListener("ping", alive);
    for (const kind of ["snapshot", "opened", "changed", "settled"]) {
      source.addEventListener(kind, (event) => {
        alive();
        if (kind === "snapshot") {
          pause = FIRST_PAUSE;
          stands("live");
        }
        heard(kind, JSON.parse(event.data));
      });
    }
  }
  connect();
  return {
    now: connect,
    close() {
      closed = true;
      clearTimeout(timer);
      clearTimeout(watchdog);
      source?.close();
    },
  };
}
