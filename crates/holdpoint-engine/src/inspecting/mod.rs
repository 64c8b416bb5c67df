//! Text on its way to a model: inspected, put on record, remembered by its session.
//!
//! The core says what is in a text and what is to happen to it. Here that happens: what is to be
//! kept from the model is taken out, what was found is in the ledger before anybody is answered,
//! and a session that was shown orders is marked. Whatever fails on the way is an error, and its
//! text does not go on.

mod body;
mod opinion;
mod origin;
mod stream;

use holdpoint_core::policy::Mode as PolicyMode;
use holdpoint_core::text::clean::{Cleaner, Mode, note, replacement, strip};
use holdpoint_core::text::inspection::{Family, Inspection, JsonInspection, Terms};
use holdpoint_core::text::{Action, Origin, Severity};
use holdpoint_core::{Mark, Policy};
use serde_json::Value;

use crate::locations::Locations;
use crate::recording::{FlaggedText, RecordError, Recorder};
use crate::sessions::{SessionError, SessionId, Sessions};
use body::Body;

pub use body::{is_form, is_picture, strings};

pub use opinion::{Consultation, Effect, Inspectee, consult};
pub use origin::origin_of;
pub use stream::{Passed, TextStream};

/// A text on its way to a model, and the circumstances.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// The agent, or the program that asks for it.
    pub agent: &'a str,
    /// Its session.
    pub session: &'a str,
    /// The directory it works in.
    pub directory: Option<&'a str>,
    /// The tool that returned the text, and what it was called with.
    pub tool: Option<(&'a str, &'a Value)>,
    /// Where the text comes from.
    pub origin: Origin,
    /// Whether the model can be given something else in its place.
    pub replaceable: bool,
    /// The policy in force.
    pub policy: &'a Policy,
}

/// What comes of an inspection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspected {
    /// What happens to the text.
    pub action: Action,
    /// How bad the worst of what was found is.
    pub severity: Option<Severity>,
    /// What is to be told about it: to the model, or to the user about their own words. It says
    /// nothing of the text itself, so it can stand in the place of one that is blocked.
    pub note: Option<String>,
    /// What goes on in place of what came, if that is not the same. Nothing of what is blocked does.
    pub instead: Option<Value>,
    /// Whether the model gets to read what was to be kept from it, because it cannot be replaced.
    pub stays: bool,
    /// The number of the ledger's record, if there is one.
    pub record: Option<u64>,
}

/// Why a text could not be let on.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// What was found could not be put on record.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The session could not be marked.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Inspects what a tool returned, and does about it what the policy wants.
pub fn inspect_value(
    locations: &Locations,
    incoming: &Incoming<'_>,
    value: &Value,
) -> Result<Inspected, InspectError> {
    let terms = &incoming.policy.inspection_terms();
    let (tool, input) = match incoming.tool {
        Some((tool, input)) => (Some(tool), Some(input)),
        None => (None, None),
    };
    if tool.is_some_and(|tool| !incoming.policy.inspects_tool(tool)) {
        return Ok(Inspected::default());
    }
    // Pictures are no text, and what the model itself has said is nobody else's.
    let body = Body::from_value(value, input);
    let found = terms.inspect_json(body.text(), incoming.origin);
    let mut whole = as_one(&found);
    if incoming.replaceable && !needs_words(terms, &whole, incoming.origin) {
        // Progress bars and the like; they are taken out.
        whole.action = Action::Pass;
    }
    let first = whole.action;
    let inspectee = Inspectee {
        origin: incoming.origin,
        action: first,
        policy: incoming.policy,
    };
    let each: Vec<_> = found.findings.iter().map(|(at, one)| (at, one)).collect();
    let opinion = consult(locations, &inspectee, &each, |field| body.string_at(field));
    if let Some(opinion) = &opinion {
        whole.action = opinion.effect.on(first);
    }
    let wanted = whole.action;
    if !incoming.replaceable {
        whole.action = whole.action.min(Action::Annotate);
    }
    let mut inspected = Inspected {
        action: whole.action,
        severity: found.severity(),
        note: note(&whole, incoming.origin),
        stays: whole.action < wanted,
        ..Inspected::default()
    };
    inspected.instead = match whole.action {
        Action::Pass | Action::Annotate if !incoming.replaceable => None,
        Action::Pass | Action::Annotate => stripped(terms, &body, incoming.origin),
        Action::Quarantine => {
            let cleaned = cleaned(terms, &body, incoming.origin);
            if cleaned.is_none() {
                inspected.action = Action::Block;
            }
            cleaned
        }
        Action::Block => None,
    };
    if inspected.action == Action::Block {
        inspected.note = Some(replacement(&whole, incoming.origin));
    }
    if inspected.action > Action::Pass {
        let worst = found.findings.iter().max_by_key(|(_, one)| one.severity);
        inspected.record = Some(put_on_record(
            locations,
            incoming,
            &FlaggedText {
                agent: incoming.agent,
                session: Some(incoming.session),
                directory: incoming.directory,
                tool,
                origin: incoming.origin,
                action: inspected.action,
                observed: is_observed(incoming.policy),
                // Whoever attacks can say that he only tells of attacks, and talk somebody into taking it for harmless.
                marks: first.max(wanted) >= Action::Quarantine || whole.tells_of_attack(),
                inspection: &whole,
                opinion: opinion.as_ref(),
                place: worst.map(|(field, finding)| (body.string_at(field), finding)),
                text: body.text(),
                policy: incoming.policy,
            },
        )?);
    }
    Ok(under(incoming.policy, inspected))
}

/// Inspects what a user wrote. It is warned about and, unless the policy says otherwise, let on
/// it never marks a session, since whoever gives orders there may.
pub fn inspect_prompt(
    locations: &Locations,
    incoming: &Incoming<'_>,
    text: &str,
) -> Result<Inspected, InspectError> {
    let terms = incoming.policy.inspection_terms();
    let found = unasked(
        terms.inspect(text, incoming.origin),
        &terms,
        incoming.origin,
    );
    if found.action == Action::Pass {
        return Ok(Inspected::default());
    }
    let worst = found.findings.iter().max_by_key(|one| one.severity);
    let record = put_on_record(
        locations,
        incoming,
        &FlaggedText {
            agent: incoming.agent,
            session: Some(incoming.session),
            directory: incoming.directory,
            tool: None,
            origin: incoming.origin,
            action: found.action,
            observed: is_observed(incoming.policy),
            marks: false,
            inspection: &found,
            opinion: None,
            place: worst.map(|finding| (text.into(), finding)),
            text: &Value::String(text.to_owned()),
            policy: incoming.policy,
        },
    )?;
    let inspected = Inspected {
        action: found.action,
        severity: found.severity(),
        note: note(&found, incoming.origin),
        record: Some(record),
        ..Inspected::default()
    };
    Ok(under(incoming.policy, inspected))
}

fn is_observed(policy: &Policy) -> bool {
    policy.mode() == PolicyMode::Observe
}

/// What comes of an inspection under a policy. Where it only observes, the text goes on as it came, and nobody is told: what
/// was found is on record.
fn under(policy: &Policy, inspected: Inspected) -> Inspected {
    match policy.mode() {
        PolicyMode::Enforce => inspected,
        PolicyMode::Observe => Inspected {
            severity: inspected.severity,
            record: inspected.record,
            ..Inspected::default()
        },
    }
}

/// What was found in a user's message without what is a user's to do: to speak to the model, and to
/// have it run commands and read files.
fn unasked(mut found: Inspection, terms: &Terms, origin: Origin) -> Inspection {
    found.findings.retain(|finding| {
        !matches!(
            finding.family,
            Family::Statistical
                | Family::Addressed
                | Family::CommandRequest
                | Family::SecretRequest
        )
    });
    let actions = found.findings.iter();
    let action = actions.map(|finding| terms.action(origin, finding.severity));
    found.action = action.max().unwrap_or_default();
    found
}

/// Puts what was found on record, then marks the session if it was to be kept from the model.
fn put_on_record(
    locations: &Locations,
    incoming: &Incoming<'_>,
    found: &FlaggedText<'_>,
) -> Result<u64, InspectError> {
    let written = Recorder::at(locations)?.finding(found)?;
    if let Some(severity) = found.inspection.severity()
        && found.marks
    {
        let mark = Mark {
            time: written.time.to_string(),
            origin: incoming.origin,
            tool: incoming
                .tool
                .map(|(tool, _)| tool.chars().take(200).collect()),
            severity,
            record: Some(written.seq),
            earlier: Vec::new(),
        };
        let sessions = Sessions::at(locations)?;
        sessions.change(&SessionId::new(incoming.session), |state| {
            state.remember(mark);
        })?;
    }
    Ok(written.seq)
}

/// Whether anything is to be said: not of what only a terminal would act on, and which is taken out
/// without a word.
fn needs_words(terms: &Terms, whole: &Inspection, origin: Origin) -> bool {
    whole.action != Action::Annotate
        || whole.findings.iter().any(|finding| {
            finding.family != Family::Terminal
                && terms.action(origin, finding.severity) >= Action::Annotate
        })
}

/// The value without what terminals act on and nobody sees; none if there is nothing of the kind.
fn stripped(terms: &Terms, body: &Body<'_>, origin: Origin) -> Option<Value> {
    if !terms.inspects(origin) || body.strings().all(|text| strip(text) == text) {
        return None;
    }
    let stripped = Cleaner::new(terms, Mode::Strip).json(body.text(), origin);
    Some(body.with_text(stripped.value))
}

/// The value without what was found in it; none if something is left that must not go on.
fn cleaned(terms: &Terms, body: &Body<'_>, origin: Origin) -> Option<Value> {
    let cleaned = Cleaner::new(terms, terms.cleaning).json(body.text(), origin);
    let stripped = Cleaner::new(terms, Mode::Strip).json(&cleaned.value, origin);
    let left = terms.inspect_json(&stripped.value, origin);
    (left.action < Action::Quarantine).then(|| body.with_text(stripped.value))
}

/// What was found in all texts of a value, as if they were one.
fn as_one(found: &JsonInspection) -> Inspection {
    Inspection {
        action: found.action,
        score: found.score,
        findings: found.findings.iter().map(|(_, one)| one.clone()).collect(),
    }
}
