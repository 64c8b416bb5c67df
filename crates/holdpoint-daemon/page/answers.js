// Gives answers and says what came of them.

import * as api from "./api.js";
import { proofFor } from "./passkeys.js";
import { hear, requests, tell } from "./store.js";
import { count, names } from "./text.js";
import { toast } from "./toasts.js";
import { moment } from "./undo.js";
import { ending } from "./words.js";

// The requests whose answer is on its way.
const busy = new Set();
export const isBusy = (id) => busy.has(id);

function setBusy(ids, is) {
  for (const id of ids) {
    if (is) busy.add(id);
    else busy.delete(id);
    tell("busy", id);
  }
}

const firstUp = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const stop = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);
const sentence = (text) => stop(firstUp(text));

const inSentence = (text) => text.replace(/^(You|Its|It|A)\b/, (word) => word.toLowerCase());

// What the request is about, short enough for a message.
const named = (request) => `${request.tool} (${request.id})`;

function said(request, outcome, message) {
  switch (outcome) {
    case "settled":
      if (request.state === "released") return ["good", `Released: ${named(request)}.`];
      if (["user_denied", "user_comment", "session_blacklist"].includes(request.settled?.method)) return ["good", `Refused: ${named(request)}.`];
      return ["note", `${sentence(request.settled?.reason ?? "it was refused")} ${named(request)} does not run.`];
    case "counted": {
      const { approvals, terms } = request;
      return ["good", `Your yes counts: ${approvals.length} of ${terms.required} for ${named(request)}.`];
    }
    case "again":
      return ["note", `Judged again with your changes. ${named(request)} still waits: look at it and answer.`];
    default:
      return ["bad", `${named(request)}: ${sentence(message ?? "your answer had no effect")}`];
  }
}

// Why an answer had no effect, told by what happened instead.
function late(request, message) {
  if (request?.settled) return stop(`Your answer came too late and changed nothing: ${inSentence(ending(request))}`);
  return sentence(message ?? "your answer had no effect");
}

function trouble(problem, request) {
  if (problem.status === 409 && problem.body?.request) {
    hear("settled", problem.body.request);
    toast("note", late(problem.body.request, problem.body.message ?? problem.body.error));
    return problem.body.message ?? problem.message;
  }
  if (problem.status === 409) toast("note", late(requests.get(request?.id), problem.message));
  else if (problem.status === 429) toast("bad", "Too many answers at once. Wait a moment and try again.");
  else if (problem.status === 0) toast("bad", "Nothing was answered: the daemon cannot be reached.");
  else toast("bad", `Nothing was answered. ${sentence(problem.message)}`);
  return problem.message;
}

// Whether an answer lets the call run.
const releases = ({ answer }) => ["yes", "once", "always", "keep", "all", "turn", "idle"].includes(answer);

// Answers one request as it was shown. What lets a call run, and whatever was said with a single key, can be taken back for a
// moment. Gives back the outcome, or `{ problem }` in words.
export async function give(request, body, { byKey = false } = {}) {
  if (busy.has(request.id)) return { problem: "an answer is on its way" };
  setBusy([request.id], true);
  try {
    if (releases(body) || byKey) {
      const { goes, why } = await moment(`${releases(body) ? "Releasing" : "Refusing"} ${named(request)}…`, { byKey });
      if (!goes) {
        toast("note", why);
        return { problem: why };
      }
    }
    const proof = await proofFor(request, body);
    const reply = await api.answer(request.id, { ...body, ...proof, binding: request.binding });
    if (reply.request) hear("changed", reply.request);
    toast(...said(reply.request ?? request, reply.outcome, reply.message));
    return reply;
  } catch (problem) {
    return { problem: trouble(problem, request) };
  } finally {
    setBusy([request.id], false);
  }
}

// Answers many together, and says in one message what came of them.
export async function giveMany(chosen, body) {
  const open = chosen.filter((request) => !busy.has(request.id));
  const ids = open.map((request) => request.id);
  setBusy(ids, true);
  try {
    if (releases(body)) {
      const { goes, why } = await moment(`Releasing ${count(ids.length, "request")}…`);
      if (!goes) {
        toast("note", why);
        return { problem: why };
      }
    }
    const reply = await api.answerMany(open.map(({ id, binding }) => ({ id, binding })), body);
    const tally = new Map();
    for (const { outcome, request } of reply.results) {
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
      if (request) hear("changed", request);
    }
    const verb = body.answer === "yes" ? "released" : "refused";
    const parts = [];
    if (tally.get("settled")) parts.push(`${count(tally.get("settled"), "request")} ${verb}`);
    if (tally.get("counted")) parts.push(`${count(tally.get("counted"), "yes", "yeses")} counted, others must agree`);
    if (tally.get("error")) parts.push(`${tally.get("error")} could not be answered`);
    if (tally.get("no_effect")) parts.push(`${tally.get("no_effect")} without effect`);
    const why = [...new Set(reply.results.filter((one) => one.message).map((one) => one.message))].slice(0, 2);
    toast(tally.get("error") ? "bad" : tally.get("no_effect") ? "note" : "good", [stop(firstUp(names(parts))), ...why.filter(Boolean).map(sentence)].join(" "));
    return reply;
  } catch (problem) {
    return { problem: trouble(problem) };
  } finally {
    setBusy(ids, false);
  }
}

const LONGER = 300;

export async function extend(request) {
  try {
    const reply = await api.extend(request.id, LONGER);
    if (reply?.request) hear("changed", reply.request);
    toast("good", `Five more minutes for ${named(request)}.`);
  } catch (problem) {
    trouble(problem, request);
  }
}
