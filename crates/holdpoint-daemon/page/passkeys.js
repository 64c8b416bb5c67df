// Passkeys: signing what is released, and making one for root to pin.
//
// The daemon writes what is signed, to the byte; the browser has a person touch their key for it. Nothing here decides
// anything: the hook verifies the signature before the call runs.

import * as api from "./api.js";
import { button, h, icon, replace } from "./dom.js";

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const base64url = (buffer) => base64(buffer).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

// The longest somebody may take to find and touch their key.
const PATIENCE = 120_000;

const releases = (body) => body.answer === "yes" || body.answer === "once";

// Whether a yes to this request is to be signed.
export const mustSign = (request) => request.terms?.presence === "key";

// What is sent beside a yes that must be signed: `{ signed }`, or nothing where none is wanted.
export async function proofFor(request, body) {
  if (!mustSign(request) || !releases(body)) return {};
  const asked = await api.statement(request.id);
  if (JSON.parse(asked.statement).binding !== request.binding) throw new api.Refused(409, { error: "it is no longer what you were shown: look at it again" });
  const key = await touched(asked);
  return {
    signed: {
      statement: asked.statement,
      proof: {
        kind: "webauthn",
        key: key.id,
        assertion: {
          authenticator_data: base64url(key.response.authenticatorData),
          client_data: base64url(key.response.clientDataJSON),
          signature: base64url(key.response.signature),
        },
      },
    },
  };
}

async function touched({ challenge, rp, credentials }) {
  if (!navigator.credentials?.get) throw new api.Refused(400, { error: "this browser has no passkeys" });
  try {
    return await navigator.credentials.get({
      publicKey: {
        challenge: bytes(challenge),
        rpId: rp,
        allowCredentials: credentials.map((id) => ({ type: "public-key", id: bytes(id) })),
        userVerification: "required",
        timeout: PATIENCE,
      },
    });
  } catch (problem) {
    throw new api.Refused(400, { error: problem.name === "NotAllowedError" ? "no key signed it: touch yours when the browser asks" : `no key signed it (${problem.name})` });
  }
}

// Makes a passkey, and shows how root pins it.
export async function show(person) {
  const room = h("div", { class: "content" }, h("p", { class: "faint" }, "Asking the daemon…"));
  const shown = h("dialog", { "aria-label": "Passkeys" },
    h("form", { method: "dialog" }, h("header", null, h("h2", null, "Passkeys"), h("button", { class: "icon-only", "aria-label": "Close" }, icon("cross"))), room));
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
  await fill(room, person);
}

async function fill(room, person) {
  let reply;
  try {
    reply = await api.passkeys();
  } catch (problem) {
    replace(room, h("p", null, `The keys cannot be read: ${problem.message}.`));
    return;
  }
  const rows = reply.people.flatMap((one) => one.keys.map((key) => h("p", { class: "given" }, h("b", null, one.name), ` ${key.kind === "webauthn" ? "passkey" : "key of ssh"} `, h("code", null, key.check))));
  const told = h("div", { "aria-live": "polite" });
  const add = async () => {
    try {
      const made = await make(person);
      const kept = await api.keepPasskey(made);
      replace(told, h("p", null, "Made. It counts once root has pinned it. Compare ", h("code", { class: "passkey-check" }, kept.check), " with what this command prints:"),
        h("pre", { class: "passkey-command" }, kept.command));
    } catch (problem) {
      replace(told, h("p", null, `No passkey was made: ${problem.message}.`));
    }
  };
  replace(room,
    rows.length ? rows : reply.unusable ? h("p", { role: "alert" }, `No pinned key counts, so nothing that needs one is released: ${reply.unusable}.`) : h("p", null, "Nobody's key is pinned on this machine. Whoever has this account can release calls."),
    button("Add a passkey", { class: "primary", on: { click: add } }),
    told,
    h("p", { class: "hint" }, icon("info"), "A pinned key signs what you release. Calls of high and critical risk then run by a signature alone."));
}

async function make(person) {
  if (!navigator.credentials?.create) throw new Error("this browser has no passkeys here");
  const made = await navigator.credentials.create({
    publicKey: {
      // Nothing is believed of the making itself: root compares the key.
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      rp: { id: location.hostname, name: "Holdpoint" },
      user: { id: new TextEncoder().encode(person.name), name: person.name, displayName: person.name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
      attestation: "none",
      timeout: PATIENCE,
    },
  });
  const flags = new Uint8Array(made.response.getAuthenticatorData())[32];
  return { id: made.id, public_key: base64(made.response.getPublicKey()), device_bound: (flags & 0x08) === 0 };
}
