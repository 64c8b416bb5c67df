// Releasing by a passkey, in a real browser with a virtual authenticator: enrol, release, refuse, lost key, second key, another
// page, a browser that is driven, replay; and the ledger verified by the verifier that shares no code with Holdpoint.
//   node passkeys.mjs PLAYWRIGHT CHROMIUM HOLDPOINT WORK
// Needs a root that may mount, since only root pins keys: where there is none it says so and passes.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [driver, executablePath, program, work] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(path.join(driver, "index.mjs")))).default;
const root = path.resolve(import.meta.dirname, "../..");

const home = path.join(work, "passkeys");
const etc = path.join(home, "etc");
fs.mkdirSync(path.join(home, ".config/holdpoint"), { recursive: true });
fs.mkdirSync(path.join(home, "shop"), { recursive: true });
fs.mkdirSync(path.join(etc, "holdpoint"), { recursive: true });
for (const name of ["passwd", "group", "machine-id"]) {
  if (fs.existsSync(`/etc/${name}`)) fs.copyFileSync(`/etc/${name}`, path.join(etc, name));
}
fs.writeFileSync(path.join(home, ".config/holdpoint/permissions.json"), JSON.stringify({
  defaultPolicy: "ask", channel: { type: "daemon" }, approval: { presence: "none" },
  tools: { Bash: { supervision: "confirm", risk: "high" } },
}));

// Every program of this home has an /etc of its own, in which root pins keys.
const inside = (...args) => ["-m", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"', etc, ...args];
const env = { HOME: home, PATH: process.env.PATH };
if (spawnSync("unshare", inside("true")).status !== 0) {
  console.log("passkeys: left out, nothing here may mount an /etc of its own");
  process.exit(0);
}
const run = (...args) => execFileSync("unshare", inside(program, ...args), { env, cwd: home, encoding: "utf8" });

// At a terminal with a login of its own, as root pins keys.
const typed = (...args) => {
  const line = [program, ...args].map((word) => `'${word}'`).join(" ");
  const login = 'echo "$(id -u)" > /proc/self/loginuid; exec script -q -e -c "$0" /dev/null';
  return execFileSync("unshare", inside("sh", "-c", login, line), { env, cwd: home, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
};

const daemon = spawn("unshare", inside(program, "serve", "--listen", "127.0.0.1:0"), { env, cwd: home, stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve) => {
  let text = "";
  daemon.stdout.on("data", (data) => {
    text += data;
    const found = /http:\/\/localhost:\d+\//.exec(text);
    if (found) resolve(found[0]);
  });
});

function hook(command) {
  const child = spawn("unshare", inside(program, "hook", "claude-code"), { env, cwd: path.join(home, "shop"), stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (data) => (out += data));
  const reply = new Promise((resolve) => child.once("close", () => resolve(out ? JSON.parse(out).hookSpecificOutput.permissionDecision : "")));
  child.stdin.end(JSON.stringify({ session_id: "s", hook_event_name: "PreToolUse", cwd: path.join(home, "shop"), tool_name: "Bash", tool_input: { command } }));
  return { reply, child };
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext();
const page = await context.newPage();
const cdp = await context.newCDPSession(page);
await cdp.send("WebAuthn.enable");
const authenticator = () => cdp.send("WebAuthn.addVirtualAuthenticator", {
  options: { protocol: "ctap2", transport: "usb", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
});
let { authenticatorId } = await authenticator();

// The page's own modules, so that what is tested is what a person's click runs.
const api = (name, ...args) => page.evaluate(async ([name, args]) => {
  const api = await import("/assets/api.js");
  try {
    return await api[name](...args);
  } catch (problem) {
    return { status: problem.status, error: problem.message, body: problem.body };
  }
}, [name, args]);
const waiting = async () => {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = JSON.parse(run("pending", "--json").split("\n").find(Boolean) ?? "null");
    const one = found?.requests?.[0] ?? (Array.isArray(found) ? found[0] : found);
    if (one?.id) return api("request", one.id);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("nothing waits");
};
const give = (request, answer) => page.evaluate(async ([request, answer]) => {
  const { give } = await import("/assets/answers.js");
  return give(request, { answer });
}, [request, answer]);

try {
  await page.goto(/http\S+#code=\S+/.exec(run("open", "--print"))[0]);
  await page.waitForSelector("nav, .tabs, main");
  await page.waitForTimeout(500);

  // Enrol: by the menu, as a person does; root pins what the page shows.
  const enrol = async () => {
    await page.evaluate(async () => {
      const { show } = await import("/assets/passkeys.js");
      const { state } = await import("/assets/store.js");
      await show(state.person);
    });
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const command = await page.locator(".passkey-command").innerText();
    const check = await page.locator(".passkey-check").innerText();
    assert.match(command, /^sudo holdpoint people pin /);
    const [, name, key] = /pin (\S+) --key '([^']+)'/.exec(command);
    assert.throws(() => typed("people", "pin", name, "--key", key, "--check", "AAAAAAAAAA"), "another key than was shown");
    assert.match(typed("people", "pin", name, "--key", key, "--check", check), /Pinned for/);
    await page.keyboard.press("Escape");
    return { name, check };
  };
  const first = await enrol();

  // Release.
  let call = hook("make one");
  let request = await waiting();
  assert.equal(request.terms.presence, "key");
  const asked = await api("answer", request.id, { answer: "yes", binding: request.binding });
  assert.equal(asked.status, 409, "without a signature nothing is released");
  let said = await give(request, "yes");
  assert.equal(said.outcome, "settled", JSON.stringify(said));
  assert.equal(await call.reply, "allow");

  // Replay: what was signed for one call is none for the next.
  const log = fs.readFileSync(path.join(home, ".local/state/holdpoint/ledger/00000001.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const record = log.findLast((one) => one.kind === "hold_answered");
  assert.equal(record.detail.route, "page");
  assert.match(record.detail.device, /^Chrome on \w+, passkey of one device$/);
  call = hook("make one");
  request = await waiting();
  const replayed = await api("answer", request.id, { answer: "yes", binding: request.binding, signed: { statement: record.detail.statement, proof: record.detail.proof } });
  assert.equal(replayed.status, 409, JSON.stringify(replayed));

  // Refuse: no proof is needed.
  said = await give(request, "no");
  assert.equal(said.outcome, "settled");
  assert.equal(await call.reply, "deny");

  // A browser the agent drives, with the whole session of somebody who is signed in and an authenticator of its own: what that signs
  // is nobody's, whatever key it says it is of.
  call = hook("make driven");
  request = await waiting();
  const driven = await browser.newContext({ storageState: await context.storageState() });
  const its = await driven.newPage();
  const itsDevtools = await driven.newCDPSession(its);
  await itsDevtools.send("WebAuthn.enable");
  await itsDevtools.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "usb", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  await its.goto(url);
  const tried = await its.evaluate(async ([id, binding]) => {
    const api = await import("/assets/api.js");
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    const { statement, challenge, credentials } = await api.statement(id);
    const made = await navigator.credentials.create({ publicKey: {
      challenge: new Uint8Array(32), rp: { id: "localhost", name: "its own" }, user: { id: new Uint8Array(8), name: "x", displayName: "x" },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }], authenticatorSelection: { userVerification: "required" },
    } });
    const own = [{ type: "public-key", id: made.rawId }];
    const { id: key, response } = await navigator.credentials.get({ publicKey: { challenge: bytes(challenge), rpId: "localhost", allowCredentials: own, userVerification: "required" } });
    const assertion = { authenticator_data: text(response.authenticatorData), client_data: text(response.clientDataJSON), signature: text(response.signature) };
    const said = [];
    for (const of of [undefined, key, credentials[0]]) {
      const signed = of && { statement, proof: { kind: "webauthn", key: of, assertion } };
      try {
        await api.answer(id, { answer: "yes", binding, signed });
        said.push("released");
      } catch ({ status, message }) {
        said.push(`${status} ${message}`);
      }
    }
    return said;
  }, [request.id, request.binding]);
  assert.equal(tried.length, 3);
  for (const [at, why] of [/409 .*must sign/, /409 .*nobody's/, /409 .*proves nothing/].entries()) assert.match(tried[at], why);
  await driven.close();
  await give(request, "no");
  assert.equal(await call.reply, "deny");

  // Another page of this machine gets a signature, and it counts for nothing.
  const other = http.createServer((_, reply) => reply.end("<!doctype html>"));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  call = hook("make two");
  request = await waiting();
  const toSign = await api("statement", request.id);
  const stranger = await context.newPage();
  const strangers = await context.newCDPSession(stranger);
  await strangers.send("WebAuthn.enable");
  const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
  const theirs = await strangers.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "usb", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  for (const credential of credentials) await strangers.send("WebAuthn.addCredential", { authenticatorId: theirs.authenticatorId, credential });
  await stranger.goto(`http://localhost:${other.address().port}/`);
  const assertion = await stranger.evaluate(async ({ challenge, credentials }) => {
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    const url = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    const key = await navigator.credentials.get({ publicKey: { challenge: bytes(challenge), rpId: "localhost", allowCredentials: credentials.map((id) => ({ type: "public-key", id: bytes(id) })), userVerification: "required" } });
    return { key: key.id, assertion: { authenticator_data: url(key.response.authenticatorData), client_data: url(key.response.clientDataJSON), signature: url(key.response.signature) } };
  }, toSign);
  const foreign = await api("answer", request.id, { answer: "yes", binding: request.binding, signed: { statement: toSign.statement, proof: { kind: "webauthn", ...assertion } } });
  assert.equal(foreign.status, 409);
  assert.match(JSON.stringify(foreign.body), /another page asked/);
  await stranger.close();
  other.close();

  // A lost key: root takes it back, and it releases nothing more; a second one does.
  typed("people", "unpin", first.name, "--key", first.check);
  const lost = await give(request, "yes");
  assert.ok(lost.problem, JSON.stringify(lost));
  await cdp.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
  ({ authenticatorId } = await authenticator());
  await enrol();
  request = await api("request", request.id);
  said = await give(request, "yes");
  assert.equal(said.outcome, "settled", JSON.stringify(said));
  assert.equal(await call.reply, "allow");

  // Nobody touches the key: nothing is released.
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  call = hook("make three");
  request = await waiting();
  const untouched = await give(request, "yes");
  assert.ok(untouched.problem, JSON.stringify(untouched));
  await give(request, "no");
  assert.equal(await call.reply, "deny");

  // From the ledger alone.
  const ledger = path.join(home, ".local/state/holdpoint/ledger");
  const verified = JSON.parse(execFileSync("python3", [path.join(root, "tools/verify_ledger.py"), ledger, "--json"], { encoding: "utf8" }));
  assert.equal(verified.intact, true);
  assert.equal(verified.proofs, 2);
  assert.equal(JSON.parse(run("log", "verify", "--json")).proofs, 2);
  console.log("passkeys: enrol, release, refuse, lost key, second key, another page, a driven browser, replay, no touch: as they should be");
} finally {
  await browser.close();
  daemon.kill();
}
