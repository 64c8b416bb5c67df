//! An answer as another program writes it: the reply of a webhook, the content of a response file
//! (J-48 … J-52). What is not surely an answer to this very request is no yes.

use holdpoint_core::Timestamp;
use holdpoint_core::text::escape_for_display;
use serde::Deserialize;
use serde_json::{Map, Value};
use subtle::ConstantTimeEq;

use super::ChannelError;
use crate::answer::{Answer, Scope};
use crate::request::{Offer, Request};
use crate::time::UnixMillis;

/// The longest reply that is read: an answer with a comment, or with arguments somebody changed. A longer one is no answer.
pub const MAX_REPLY: u64 = 64 << 10;

/// A reply as it is written.
#[derive(Deserialize)]
struct Text {
    request_id: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    comment: Option<String>,
    #[serde(default)]
    remember: Option<bool>,
    remember_pattern: Option<String>,
    expires_at: Option<String>,
    approver: Option<String>,
    binding: Option<String>,
    phrase: Option<String>,
    #[serde(alias = "modified_args")]
    modified_arguments: Option<Map<String, Value>>,
}

/// A reply that is about this request.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// Nobody has answered yet.
    Pending,
    /// Somebody has.
    Answered(Answered),
}

/// What they answered.
#[derive(Debug, PartialEq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// What was typed to confirm it.
    pub phrase: Option<String>,
    /// Who the reply says it was: only a label, unless something vouches for the reply.
    pub approver: Option<String>,
    /// What was wanted and cannot be done, for whoever answered.
    pub notice: Option<String>,
}

/// Why a text is no reply.
#[derive(Debug)]
pub enum Wrong {
    /// It is not one: not JSON, not of this form, perhaps only half of it.
    Unreadable(String),
    /// It is one, and must not count.
    Refused(String),
}

impl From<Wrong> for ChannelError {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Unreadable(reason) | Wrong::Refused(reason) => ChannelError::Broken(reason),
        }
    }
}

impl Reply {
    /// Reads a reply to `request`.
    pub fn read(bytes: &[u8], request: &Request, now: UnixMillis) -> Result<Self, Wrong> {
        let text: Text = serde_json::from_slice(bytes).map_err(|error| {
            Wrong::Unreadable(format!(
                "the reply is no JSON of the form that is documented (line {}, column {})",
                error.line(),
                error.column()
            ))
        })?;
        let named = text.request_id.as_deref().unwrap_or_default();
        if !bool::from(named.as_bytes().ct_eq(request.id.as_bytes())) {
            return refused(
                "the reply is not about this request (`request_id`): it does not count",
            );
        }
        let seen = text.binding.as_deref();
        if seen.is_some_and(|seen| seen != request.binding) {
            return refused(
                "the reply is about another version of this call (`binding`): it does not count",
            );
        }
        let rule_ends = match text.expires_at.as_deref() {
            None => false,
            Some(time) => {
                let Some(end) = Timestamp::parse(time.trim()) else {
                    return refused("the reply's `expires_at` is no time as RFC 3339 has it");
                };
                if end.micros() / 1000 <= now.0 {
                    return refused("the reply has expired (`expires_at`): it does not count");
                }
                true
            }
        };
        let Some(word) = text.decision.as_deref() else {
            return refused("the reply has no `decision`");
        };
        let Some(decision) = Decision::from_word(word.trim()) else {
            let word = escape_for_display(word, 40);
            return refused(&format!("the reply's decision `{word}` is unknown"));
        };
        Ok(match decision {
            Decision::Pending => Reply::Pending,
            Decision::Now(kind) => Reply::Answered(answered(text, kind, rule_ends, request)?),
        })
    }
}

fn refused<T>(reason: &str) -> Result<T, Wrong> {
    Err(Wrong::Refused(reason.to_owned()))
}

/// What the word of a reply means.
enum Decision {
    Pending,
    Now(Kind),
}

enum Kind {
    Allow,
    Deny,
    Once,
    AllowSession,
    DenySession,
    All,
    Turn,
    Idle,
    Comment,
    Edit,
}

impl Decision {
    fn from_word(word: &str) -> Option<Self> {
        Some(Decision::Now(match word {
            "pending" => return Some(Decision::Pending),
            "allow" => Kind::Allow,
            "deny" => Kind::Deny,
            "allow_once" => Kind::Once,
            "allow_session" => Kind::AllowSession,
            "deny_session" => Kind::DenySession,
            "allow_all" => Kind::All,
            "allow_turn" => Kind::Turn,
            "allow_idle" | "allow_until_idle" => Kind::Idle,
            "comment" => Kind::Comment,
            "edit" => Kind::Edit,
            _ => return None,
        }))
    }
}

fn answered(text: Text, kind: Kind, rule_ends: bool, request: &Request) -> Result<Answered, Wrong> {
    let changes = text.modified_arguments.unwrap_or_default();
    let changed = changes
        .iter()
        .any(|(key, value)| request.asked.input.get(key) != Some(value));
    let remember = text.remember.unwrap_or(false);
    let pattern = text.remember_pattern.as_deref().map(str::trim);
    let mut notice = None;
    let mut scope = |ends: bool| match rule_of(request, pattern, ends) {
        Ok(scope) => Some(scope),
        Err(reason) => {
            notice = Some(reason);
            None
        }
    };
    let answer = match kind {
        // Whoever wants other arguments does not want these to run.
        Kind::Allow | Kind::Once | Kind::AllowSession | Kind::All | Kind::Turn | Kind::Idle
            if changed =>
        {
            Answer::Edit { input: changes }
        }
        Kind::Edit if changes.is_empty() => {
            return refused("the reply wants to edit, and has no `modified_arguments`");
        }
        Kind::Edit => Answer::Edit { input: changes },
        Kind::Comment => {
            let comment = text.comment.or(text.reason).unwrap_or_default();
            if comment.trim().is_empty() {
                return refused("the reply is a comment, and has no `comment`");
            }
            Answer::Comment { comment }
        }
        Kind::Deny | Kind::DenySession if remember || matches!(kind, Kind::DenySession) => {
            // A rule that refuses may well hold for longer than was asked.
            match scope(false) {
                Some(scope) => Answer::Never { scope: Some(scope) },
                None => Answer::No,
            }
        }
        Kind::Deny | Kind::DenySession => {
            let said = [text.comment, text.reason].into_iter().flatten();
            match said.into_iter().find(|text| !text.trim().is_empty()) {
                Some(comment) => Answer::Comment { comment },
                None => Answer::No,
            }
        }
        Kind::Allow | Kind::AllowSession if remember || matches!(kind, Kind::AllowSession) => {
            match scope(rule_ends) {
                Some(scope) => Answer::Always { scope: Some(scope) },
                None => Answer::Yes,
            }
        }
        Kind::Allow | Kind::AllowSession => Answer::Yes,
        Kind::Once => Answer::Once,
        Kind::All => Answer::All,
        Kind::Turn => Answer::Turn,
        Kind::Idle => Answer::Idle,
    };
    Ok(Answered {
        answer,
        phrase: text.phrase,
        approver: text.approver,
        notice,
    })
}

/// The offer a reply means by `remember`; why no rule is left, if none is. Only what was offered is
/// ever stored, and what was meant is never replaced by something else.
fn rule_of(request: &Request, pattern: Option<&str>, ends: bool) -> Result<Scope, String> {
    if ends {
        return Err(
            "no rule was left: one that ends at `expires_at` cannot be kept; this call only".into(),
        );
    }
    let offers = &request.terms.offers;
    let Some(pattern) = pattern.filter(|pattern| !pattern.is_empty()) else {
        return unnamed_rule(request);
    };
    let meant = offers.iter().filter(|offer| is_meant(offer, pattern));
    let narrowest = meant.map(|offer| offer.scope).min();
    narrowest.ok_or_else(|| {
        let offered: Vec<&str> = offers
            .iter()
            .flat_map(|offer| &offer.patterns)
            .map(String::as_str)
            .collect();
        format!(
            "no rule was left: `{}` is not offered for this call ({}); this call only",
            escape_for_display(pattern, 100),
            escape_for_display(&offered.join(", "), 300)
        )
    })
}

/// Whether an offer is the rule `pattern` and nothing beyond: `git *` may come with `git`, which the
/// pattern alone would miss (J-37).
fn is_meant(offer: &Offer, pattern: &str) -> bool {
    let bare = pattern.strip_suffix(" *");
    offer.patterns.iter().any(|one| one == pattern)
        && offer
            .patterns
            .iter()
            .all(|one| one == pattern || Some(one.as_str()) == bare)
}

/// The rule of a reply that names none: the program and subcommand of a command, the name of another
/// tool (J-37, J-49).
fn unnamed_rule(request: &Request) -> Result<Scope, String> {
    let has = |scope| request.terms.offers.iter().any(|one| one.scope == scope);
    let command = request
        .asked
        .input
        .keys()
        .any(|key| holdpoint_core::names_command(key));
    if has(Scope::Prefix) {
        Ok(Scope::Prefix)
    } else if has(Scope::Tool) && !command {
        Ok(Scope::Tool)
    } else {
        Err("no rule was left: none is offered for a call like this; this call only".into())
    }
}

#[cfg(test)]
mod tests;
