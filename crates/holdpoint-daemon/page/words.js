// The daemon's words in the words of the page, in one place.

import { ago, names } from "./text.js";
import { now, state } from "./store.js";

export const RISKS = ["critical", "high", "medium", "low", "none"];
export const riskOf = (request) => (RISKS.includes(request.decision.risk) ? request.decision.risk : "high");

export const RISK_WORD = { critical: "Critical", high: "High", medium: "Medium", low: "Low", none: "No risk known" };

export const CHECK_WORD = {
  backup: "Backup", disk_space: "Disk space", permission: "Permission", size_limit: "Size",
  sensitive_data: "Sensitive data", command_validator: "Command", sandbox_check: "Sandbox",
};

// What a check came to: its icon and its word.
export const STATUS = {
  passed: ["check", "passed"], warning: ["warn", "warning"], failed: ["cross", "failed"],
  error: ["stop", "could not be found out"], skipped: ["skip", "skipped"],
};

export const METHOD_WORD = {
  user_approved: "answered", user_denied: "answered", user_comment: "refused with a comment",
  session_whitelist: "always", session_blacklist: "never", allow_all: "prompts off for the session",
  turn_suspension: "prompts off for the turn", idle_suspension: "prompts off until idle", timeout: "nobody answered in time",
  whitelist: "allowed by a rule", blacklist: "denied by a rule", default: "the default", guard: "a guard",
  file_guard: "a rule about files", sanitization: "unreadable text", autonomy: "the autonomy level",
  tool_policy: "a rule about the tool", self_protection: "Holdpoint protects itself", no_objection: "nothing objects",
  pre_validation: "it would have failed", no_channel: "nobody could be asked", stopped: "a person stopped it", error: "it changed after it was shown",
};

export const STATE_WORD = { pending: "Waiting", released: "Released", refused: "Refused", expired: "Expired", withdrawn: "Withdrawn" };
export const STATE_ICON = { released: "check", refused: "cross", expired: "clock", withdrawn: "skip", pending: "clock" };

export const SCOPE_WORD = {
  exact: ["Exactly this call", "Nothing that differs in a single character."],
  prefix: ["Calls that begin like this", "The same program and subcommand, with other arguments."],
  tool: ["Every call of this tool", "Whatever its arguments are."],
};

// What the agent is called, with whom it works for.
export function agentOf(request) {
  const { agent_name: name, agent_type: kind } = request.context ?? {};
  return name || kind ? `${request.agent} (via ${name ?? kind})` : request.agent;
}

// "bob released it 2 s ago"
export function ending(request) {
  const { settled } = request;
  if (!settled) return `It is ${request.state}`;
  const when = ago(now() - settled.at);
  const people = settled.approvers ?? [];
  const by = people.length === 1 && people[0] === state.person?.name ? "You" : names(people);
  switch (request.state) {
    case "released":
      return by ? `${by} released it ${when}` : `A rule released it ${when}`;
    case "refused":
      return by ? `${by} refused it ${when}` : `A rule refused it ${when}`;
    case "expired":
      return `It expired ${when}: nobody answered in time`;
    case "withdrawn":
      return `Its agent withdrew it ${when}`;
    default:
      return `It is ${request.state}`;
  }
}

// A session's name is long; its beginning tells it from others.
export const shortSession = (session) => (session.length > 14 ? `${session.slice(0, 10)}…` : session);
