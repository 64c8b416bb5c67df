//! `holdpoint permissions`: what a session adds to the policy (J-60, J-42).

use std::io::Write;
use std::sync::Arc;

use anyhow::bail;
use holdpoint_broker::Context;
use holdpoint_core::plan::OpenPlan;
use holdpoint_core::policy::RuleList;
use holdpoint_engine::{
    Caller, DefaultPolicy, Engine, Layer, Locations, Mark, Policy, PolicySource, SessionId,
    SessionSource, SessionState, Sessions, Suspensions, ToolCall, working_directory,
};
use holdpoint_ledger::Kind;
use serde_json::{Value, json};

use super::check::{parse_input, print, print_json};
use super::serve::may_loosen;
use super::{kept_rules, which_session};
use crate::cli::{Action, DefaultWord, Permissions, Scope};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &Permissions, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let engine = Engine::at(&Locations::of_this_machine());
    let directory = working_directory(args.cwd.as_deref())?;
    let under = match &args.config {
        Some(file) => PolicySource::File(file.clone()),
        None => engine.layers(&directory),
    };
    if let Action::Sessions = args.action {
        which_session::show(&directory, args.json, terminal)?;
        return Ok(Exit::Fine);
    }
    if !matches!(
        args.action,
        Action::Show
            | Action::List
            | Action::Deny { .. }
            | Action::Resume
            | Action::Check { .. }
            | Action::Status
    ) {
        may_loosen("change what it is asked about", engine.locations())?;
    }
    let meant = which_session::meant(args.session.as_deref(), &directory, terminal)?;
    if let (Some(found), false) = (&meant.found, args.json) {
        writeln!(terminal.out, "Session {}", which_session::words(found))?;
    }
    let session_name = meant.session;
    let kept = SessionSource::Kept(session_name.clone());
    let id = SessionId::new(&session_name);
    let args = &InSession {
        name: &session_name,
        json: args.json,
        action: &args.action,
    };
    match args.action {
        // It is about all of them.
        Action::Sessions => {}
        Action::Show => {
            let policy = engine.policy(&under)?;
            let session = engine.session(&kept)?;
            show(args, &policy, session.state(), terminal)?;
        }
        Action::Allow { pattern } => {
            let pattern = whole(pattern)?;
            let state = {
                let what = json!({"action": "allow", "pattern": pattern});
                change(&engine, &id, what, |state| state.allow_pattern(&pattern))?
            };
            let text = format!(
                "+ Added to session whitelist: {}",
                escape_for_display(&pattern, 500)
            );
            said(args, terminal, &text, &state)?;
        }
        Action::Deny { pattern } => {
            let pattern = whole(pattern)?;
            let state = {
                let what = json!({"action": "deny", "pattern": pattern});
                change(&engine, &id, what, |state| deny(state, &pattern))?
            };
            let text = format!(
                "- Added to session blacklist: {}",
                escape_for_display(&pattern, 500)
            );
            said(args, terminal, &text, &state)?;
        }
        Action::Default { policy: word } => {
            let policy = engine.policy(&under)?;
            let before = engine.session(&kept)?;
            let was = before.state().default.map_or_else(
                || base_default(&policy),
                |default| default.as_str().to_owned(),
            );
            let default = DefaultPolicy::from(*word);
            let state = {
                let what = json!({"action": "default", "default": default.as_str()});
                change(&engine, &id, what, |state| state.default = Some(default))?
            };
            let text = format!("Session default policy: {} (was: {was})", default.as_str());
            said(args, terminal, &text, &state)?;
        }
        Action::List => kept_rules::list(&engine, &directory, &id, args.json, terminal)?,
        Action::Forget { pattern, from } => {
            let pattern = whole(pattern)?;
            kept_rules::forget(&engine, &directory, &id, &pattern, *from)?;
            let session = engine.session(&kept)?;
            let text = format!("Forgotten: {}", escape_for_display(&pattern, 500));
            said(args, terminal, &text, session.state())?;
        }
        Action::Clear => {
            let state = change(
                &engine,
                &id,
                json!({"action": "clear"}),
                SessionState::clear_rules,
            )?;
            said(
                args,
                terminal,
                "Session rules cleared.\nReverted to base config.",
                &state,
            )?;
        }
        Action::Suspend { scope, turn } => {
            let scope = if *turn {
                Scope::Turn
            } else {
                scope.unwrap_or(Scope::Idle)
            };
            let state = change(
                &engine,
                &id,
                json!({"action": "suspend", "scope": scope.as_str()}),
                |state| match scope {
                    Scope::Turn => state.suspended.turn = true,
                    Scope::Idle => state.suspended.idle = true,
                    Scope::All => state.suspended.all = true,
                },
            )?;
            let until = match scope {
                Scope::Turn => "until the turn ends",
                Scope::Idle => "until the session is idle",
                Scope::All => "for the whole session",
            };
            let text = format!("Prompts suspended {until}. What is denied stays denied.");
            said(args, terminal, &text, &state)?;
        }
        Action::Resume => {
            let state = change(
                &engine,
                &id,
                json!({"action": "resume"}),
                SessionState::resume,
            )?;
            said(args, terminal, "Prompts resumed.", &state)?;
        }
        Action::Unmark => {
            let known = engine.session(&kept)?.state().mark.clone();
            let Some(mark) = known else {
                let session = engine.session(&kept)?;
                said(
                    args,
                    terminal,
                    "The session is not marked.",
                    session.state(),
                )?;
                return Ok(Exit::Fine);
            };
            let what = json!({"action": "unmark", "record": mark.record, "time": mark.time});
            let state = change(&engine, &id, what, |state| state.mark = None)?;
            let text = "The mark is gone: what reaches the network or secrets is judged by the \
                        rules alone again.";
            said(args, terminal, text, &state)?;
        }
        Action::Status => {
            let session = engine.session(&kept)?;
            let mut text = match suspension_words(session.state().suspended) {
                Some(words) => format!("Prompts: {words}."),
                None => "Prompts: on.".to_owned(),
            };
            if let Some(mark) = &session.state().mark {
                text.push_str(&format!("\nMarked: {}.", mark_words(mark)));
            }
            if let Some(plan) = &session.state().plan {
                text.push_str(&format!("\nPlan: {}.", plan_words(plan)));
            }
            said(args, terminal, &text, session.state())?;
        }
        Action::Check { tool, arguments } => {
            let call = match arguments {
                Some(text) => ToolCall::new(tool, parse_input("ARGUMENTS", text)?)?,
                None if tool.contains(char::is_whitespace) => ToolCall::shell(tool),
                None => ToolCall::new(tool, Value::Null)?,
            };
            let caller = Caller {
                agent: "permissions".into(),
                session_name: Some(session_name.clone()),
                policy: under,
                session: kept,
                workspace: directory,
                can_contain: true,
                circumstances: Context::default(),
            };
            let decision = engine.decide(call, Arc::new(caller))?.without_secrets();
            if args.json {
                print_json(&decision, terminal)?;
            } else {
                print(&decision, terminal)?;
            }
            return Ok(decision.verdict.into());
        }
    }
    Ok(Exit::Fine)
}

/// What is done, and in which session.
struct InSession<'a> {
    name: &'a str,
    json: bool,
    action: &'a Action,
}

/// Which questions are off, in words.
pub(crate) fn suspension_words(suspended: Suspensions) -> Option<String> {
    let mut scopes = Vec::new();
    if suspended.idle {
        scopes.push("until the session is idle");
    }
    if suspended.turn {
        scopes.push("until the turn ends");
    }
    if suspended.all {
        scopes.push("for the whole session");
    }
    (!scopes.is_empty()).then(|| format!("suspended {}", scopes.join(" and ")))
}

/// What a session remembers of a text that gave orders, in words.
pub(crate) fn mark_words(mark: &Mark) -> String {
    let source = match &mark.tool {
        Some(tool) => format!("{} ({})", escape_for_display(tool, 60), mark.origin),
        None => mark.origin.to_string(),
    };
    let record = match mark.record {
        Some(record) => format!(", record {record}"),
        None => String::new(),
    };
    format!(
        "text from {source} carried instructions at {} ({}{record}); what reaches the network or \
         secrets is asked about until `holdpoint permissions unmark`",
        escape_for_display(&mark.time, 40),
        mark.severity,
    )
}

/// An open plan, of which a session says more than its lists do: what is outside is held.
fn plan_words(plan: &OpenPlan) -> String {
    format!(
        "{} is open in {} until {}; what is not in it is held (`holdpoint plan status`)",
        escape_for_display(&plan.name, 60),
        escape_for_display(&plan.workspace, 200),
        escape_for_display(&plan.until, 40),
    )
}

/// Changes a session's rules, once the change is on record.
fn change(
    engine: &Engine,
    id: &SessionId,
    what: Value,
    edit: impl FnOnce(&mut SessionState),
) -> anyhow::Result<SessionState> {
    let sessions = Sessions::at(engine.locations())?;
    let session = Some(id.name());
    engine
        .recorder()?
        .changes(Kind::SessionRule, session, &what)?;
    Ok(sessions.change(id, |state| {
        edit(state);
        state.clone()
    })?)
}

/// The pattern out of the words it was typed as.
fn whole(words: &[String]) -> anyhow::Result<String> {
    let pattern = words.join(" ");
    if pattern.trim().is_empty() {
        bail!("the pattern is empty: give a tool name or a glob such as 'docker *'");
    }
    Ok(pattern)
}

fn deny(state: &mut SessionState, pattern: &str) {
    if !state.deny.iter().any(|known| known == pattern) {
        state.deny.push(pattern.to_owned());
    }
}

fn said(
    args: &InSession<'_>,
    terminal: &mut Terminal,
    text: &str,
    state: &SessionState,
) -> anyhow::Result<()> {
    if args.json {
        let whole = json!({ "v": 1, "session": args.name, "state": state });
        writeln!(terminal.out, "{whole}")?;
    } else {
        writeln!(terminal.out, "{text}")?;
    }
    Ok(())
}

fn show(
    args: &InSession<'_>,
    policy: &Policy,
    state: &SessionState,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let was = base_default(policy);
    if args.json {
        let lists = |of: fn(&Layer) -> &RuleList| -> Vec<String> { rules(policy, of).collect() };
        let whole = json!({
            "v": 1,
            "session": args.name,
            "state": state,
            "default": state.default.map_or_else(|| was.clone(), |default| default.as_str().to_owned()),
            "base": { "default": was, "allow": lists(|l| &l.allow_list), "ask": lists(|l| &l.ask_list), "deny": lists(|l| &l.deny_list) },
        });
        writeln!(terminal.out, "{whole}")?;
        return Ok(());
    }
    let out = &mut terminal.out;
    let title = "Effective Permission Policy";
    writeln!(out, "{title}\n{}\n", "═".repeat(title.chars().count()))?;
    match state.default {
        Some(default) => writeln!(
            out,
            "Default Policy: {} (session override, was: {was})\n",
            default.as_str()
        )?,
        None => writeln!(out, "Default Policy: {was}\n")?,
    }
    writeln!(out, "Session Rules:")?;
    for pattern in &state.allow {
        writeln!(out, "  + allow: {}", escape_for_display(pattern, 500))?;
    }
    for pattern in &state.deny {
        writeln!(out, "  - deny:  {}", escape_for_display(pattern, 500))?;
    }
    if state.allow.is_empty() && state.deny.is_empty() {
        writeln!(out, "  (none)")?;
    }
    if let Some(words) = suspension_words(state.suspended) {
        writeln!(out, "  prompts {words}")?;
    }
    if let Some(mark) = &state.mark {
        writeln!(out, "  marked: {}", mark_words(mark))?;
    }
    if let Some(plan) = &state.plan {
        writeln!(out, "  plan: {}", plan_words(plan))?;
    }
    writeln!(out, "\nBase Config:")?;
    writeln!(
        out,
        "  Whitelist: {}",
        listed(policy, |layer| &layer.allow_list)
    )?;
    writeln!(
        out,
        "  Blacklist: {}",
        listed(policy, |layer| &layer.deny_list)
    )?;
    if rules(policy, |layer| &layer.ask_list).next().is_some() {
        writeln!(
            out,
            "  Asklist:   {}",
            listed(policy, |layer| &layer.ask_list)
        )?;
    }
    Ok(())
}

fn listed(policy: &Policy, of: fn(&Layer) -> &RuleList) -> String {
    let all: Vec<String> = rules(policy, of)
        .map(|rule| escape_for_display(&rule, 200))
        .collect();
    if all.is_empty() {
        "(none)".into()
    } else {
        all.join(", ")
    }
}

/// The rules of a list in all layers: tools, patterns, then arguments.
fn rules(policy: &Policy, of: fn(&Layer) -> &RuleList) -> impl Iterator<Item = String> {
    policy.layers().iter().map(of).flat_map(|list| {
        let arguments = list.arguments.iter().flat_map(|(tool, named)| {
            named.iter().flat_map(move |(argument, values)| {
                values
                    .iter()
                    .map(move |value| format!("{tool}.{argument}={value}"))
            })
        });
        list.tools
            .iter()
            .chain(&list.patterns)
            .cloned()
            .chain(arguments)
    })
}

fn base_default(policy: &Policy) -> String {
    let standing = policy.standing();
    match (standing.default, standing.autonomy) {
        (Some(default), _) => default.as_str().to_owned(),
        (None, Some(autonomy)) => format!("autonomy {}", autonomy.as_str()),
        (None, None) => DefaultPolicy::Allow.as_str().to_owned(),
    }
}

impl From<DefaultWord> for DefaultPolicy {
    fn from(word: DefaultWord) -> Self {
        match word {
            DefaultWord::Allow => DefaultPolicy::Allow,
            DefaultWord::Deny => DefaultPolicy::Deny,
            DefaultWord::Ask => DefaultPolicy::Ask,
            DefaultWord::Review => DefaultPolicy::Review,
            DefaultWord::Notify => DefaultPolicy::Notify,
            DefaultWord::Defer => DefaultPolicy::Defer,
        }
    }
}
