//! `holdpoint explain`: the call, the policy in force, what matched, and what would change it.

use std::io::Write;

use holdpoint::{
    Authority, Decision, Finding, Layer, Method, Part, Policy, SessionState, ToolCall, Trust,
    Verdict,
};
use serde::Serialize;
use serde_json::Value;

use super::check::{policy_for, read_call};
use super::permissions::suspension_words;
use crate::cli;
use crate::desk::{Desk, InSession, directory};
use crate::exit::Exit;
use crate::terminal::{Terminal, shown};

pub(crate) fn run(args: &cli::Explain, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let under = &args.call.under;
    let directory = directory(under.cwd.as_deref())?;
    let call = read_call(&args.call)?;
    let mut desk = Desk::new();
    let which = policy_for(under, &directory);
    let session = InSession::Kept(under.session.clone());
    let decision = desk.judge(&call, &which, &session, &directory)?;
    let policy = desk.policy(&which)?;
    let session = desk.session(&under.session)?;
    let parts = holdpoint_core::parts(&call);
    let explanation = Explanation {
        v: 1,
        call: Call {
            tool: call.tool(),
            input: Value::Object(call.input().clone()),
            directory: directory.display().to_string(),
            signature: call.signature(),
        },
        parts: parts.clone().unwrap_or_default(),
        unreadable: parts.err(),
        layers: policy.layers().iter().map(LayerView::of).collect(),
        default: default_words(&policy, session.state()),
        session: SessionView {
            id: &under.session,
            state: session.state(),
        },
        changes: changes(&call, &decision, &policy),
        decision,
    };
    if args.json {
        serde_json::to_writer_pretty(&mut terminal.out, &explanation)?;
        writeln!(terminal.out)?;
    } else {
        explanation.print(terminal)?;
    }
    // Explaining a refusal is no failure: the verdict is in the text, `check` has it as exit code.
    Ok(Exit::Fine)
}

#[derive(Serialize)]
struct Explanation<'a> {
    v: u32,
    call: Call<'a>,
    parts: Vec<Part>,
    unreadable: Option<String>,
    layers: Vec<LayerView>,
    default: String,
    session: SessionView<'a>,
    decision: Decision,
    changes: Vec<String>,
}

#[derive(Serialize)]
struct Call<'a> {
    tool: &'a str,
    input: Value,
    directory: String,
    signature: String,
}

#[derive(Serialize)]
struct LayerView {
    authority: &'static str,
    name: String,
    trusted: bool,
    profile: Option<&'static str>,
    default: Option<&'static str>,
    autonomy: Option<&'static str>,
    deny: usize,
    ask: usize,
    allow: usize,
}

#[derive(Serialize)]
struct SessionView<'a> {
    id: &'a str,
    state: &'a SessionState,
}

impl LayerView {
    fn of(layer: &Layer) -> Self {
        let count = |list: &holdpoint_core::policy::RuleList| {
            let arguments = list.arguments.values().flat_map(|named| named.values());
            list.tools.len() + list.patterns.len() + arguments.map(Vec::len).sum::<usize>()
        };
        Self {
            authority: layer.authority.word(),
            name: layer.name.clone(),
            trusted: layer.trust == Trust::Trusted,
            profile: layer.profile.map(holdpoint::Profile::name),
            default: layer.default.map(holdpoint::DefaultPolicy::word),
            autonomy: layer.autonomy.map(holdpoint::Autonomy::word),
            deny: count(&layer.deny_list),
            ask: count(&layer.ask_list),
            allow: count(&layer.allow_list),
        }
    }

    fn line(&self) -> String {
        let mut notes = Vec::new();
        let mut note = |name: &str, value: Option<&str>| {
            notes.extend(value.map(|value| format!("{name} {value}")));
        };
        note("profile", self.profile);
        note("default", self.default);
        note("autonomy", self.autonomy);
        for (count, word) in [
            (self.deny, "deny"),
            (self.ask, "ask"),
            (self.allow, "allow"),
        ] {
            if count > 0 {
                notes.push(format!("{count} {word}"));
            }
        }
        if !self.trusted {
            notes.push("not trusted: may only tighten".into());
        }
        let notes = if notes.is_empty() {
            String::new()
        } else {
            format!("  ({})", notes.join(", "))
        };
        format!("{:<8} {}{notes}", self.authority, shown(&self.name, 200))
    }
}

impl Explanation<'_> {
    fn print(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let heading = |terminal: &mut Terminal, text: &str| {
            let text = terminal.heading(text);
            writeln!(terminal.out, "{text}")
        };
        heading(terminal, "Call")?;
        writeln!(terminal.out, "  tool     {}", shown(self.call.tool, 200))?;
        writeln!(
            terminal.out,
            "  text     {}",
            shown(&self.call.signature, 500)
        )?;
        writeln!(
            terminal.out,
            "  in       {}",
            shown(&self.call.directory, 200)
        )?;
        if !self.parts.is_empty() || self.unreadable.is_some() {
            heading(terminal, "Commands it would run")?;
        }
        if let Some(problem) = &self.unreadable {
            writeln!(terminal.out, "  cannot be read: {}", shown(problem, 300))?;
        }
        for (number, part) in (1..).zip(&self.parts) {
            writeln!(terminal.out, "  {number}. {}", shown(&part.text, 300))?;
            if let Some(unknown) = part.unknown {
                writeln!(terminal.out, "     unknown: {unknown}")?;
            }
        }
        heading(terminal, "Layers in force, the highest authority first")?;
        for layer in &self.layers {
            writeln!(terminal.out, "  {}", layer.line())?;
        }
        writeln!(
            terminal.out,
            "  {:<8} {}",
            "session",
            session_line(&self.session)
        )?;
        writeln!(terminal.out, "  {:<8} {}", "default", self.default)?;
        heading(terminal, "Rules that matched")?;
        if self.decision.findings.is_empty() {
            writeln!(terminal.out, "  none")?;
        }
        for finding in &self.decision.findings {
            let verdict = terminal.verdict(finding.verdict);
            // Colour takes room the eye does not see.
            let padding = " ".repeat(7usize.saturating_sub(finding.verdict.word().len()));
            writeln!(
                terminal.out,
                "  {verdict}{padding} {}",
                finding_line(finding)
            )?;
        }
        let verdict = terminal.verdict(self.decision.verdict);
        let title = terminal.heading("Verdict");
        writeln!(
            terminal.out,
            "{title}: {verdict} by {} (risk {})",
            self.decision.method.word(),
            self.decision.risk.word()
        )?;
        writeln!(terminal.out, "  {}", shown(&self.decision.reason, 500))?;
        if !self.changes.is_empty() {
            heading(terminal, "What would change it")?;
            for change in &self.changes {
                writeln!(terminal.out, "  - {}", shown(change, 500))?;
            }
        }
        Ok(())
    }
}

fn finding_line(finding: &Finding) -> String {
    let of_session = [Method::SessionWhitelist, Method::SessionBlacklist].contains(&finding.method);
    let ours = if of_session { "session" } else { "holdpoint" };
    let owner = finding.layer.map_or(ours, Authority::word);
    let mut line = format!("{}  [{owner}]", shown(&finding.reason, 300));
    if let Some(part) = &finding.part {
        line.push_str(&format!("  in `{}`", shown(part, 120)));
    }
    line
}

fn session_line(session: &SessionView<'_>) -> String {
    let state = session.state;
    let mut notes = Vec::new();
    if !state.allow.is_empty() {
        notes.push(format!("{} allow", state.allow.len()));
    }
    if !state.deny.is_empty() {
        notes.push(format!("{} deny", state.deny.len()));
    }
    notes.extend(
        state
            .default
            .map(|default| format!("default {}", default.word())),
    );
    notes.extend(suspension_words(state.suspended));
    let notes = if notes.is_empty() {
        "nothing said".to_owned()
    } else {
        notes.join(", ")
    };
    format!("{}  ({notes})", shown(session.id, 100))
}

fn default_words(policy: &Policy, session: &SessionState) -> String {
    let standing = policy.standing();
    let mut words = match (standing.default, standing.autonomy) {
        (Some(default), _) if !standing.stated => {
            format!("{} (no layer states a default)", default.word())
        }
        (Some(default), _) => default.word().to_owned(),
        (None, Some(autonomy)) => format!("as autonomy {} says", autonomy.word()),
        (None, None) => "allow".to_owned(),
    };
    if let Some(default) = session.default {
        words = format!("{} (session override, was: {words})", default.word());
    }
    words
}

/// What a person could do to get another verdict, the shortest way first.
fn changes(call: &ToolCall, decision: &Decision, policy: &Policy) -> Vec<String> {
    let mut changes = Vec::new();
    match decision.verdict {
        Verdict::Deny => {
            let mut refusing = decision
                .findings
                .iter()
                .filter(|finding| finding.verdict == Verdict::Deny)
                .peekable();
            if refusing.peek().is_some() {
                for finding in refusing {
                    let change = format!("{}: {}", finding.rule, removal(finding, policy));
                    if !changes.contains(&change) {
                        changes.push(change);
                    }
                }
                changes.push("no allow rule, session rule or suspension overrides a deny".into());
            } else {
                changes.push(format!("add a rule that allows it, {}", allow_hint(call)));
                changes.push("or state another `defaultPolicy` in the layer that owns it".into());
            }
        }
        Verdict::Review => {
            changes
                .push("a person must review it; no session rule or suspension answers that".into());
            changes.push("to let it run, allow it in the layer that asks for the review".into());
        }
        Verdict::Ask => {
            for part in uncovered(call, decision) {
                changes.push(format!("nothing allows `{part}`"));
            }
            if decision.method == Method::Guard {
                changes.push("write the command so that it says what it runs".into());
            } else if deciding_layer(decision) == Some(Authority::Managed) {
                changes.push("the managed layer asks; only its own rules answer that".into());
            } else {
                changes.push(format!("to allow it in this session, {}", allow_hint(call)));
            }
            changes.push("to refuse it, add it to `deny` in a policy file".into());
        }
        Verdict::Allow | Verdict::Notify => {
            let how = if decision.method == Method::NoObjection {
                "to be asked instead, add it to `ask`, or use a stricter profile"
            } else {
                "to be asked or refuse it, add it to `ask` or `deny`"
            };
            changes.push(how.into());
        }
    }
    let untrusted = policy
        .layers()
        .iter()
        .find(|layer| layer.trust == Trust::Untrusted);
    if let Some(layer) = untrusted.filter(|_| decision.verdict > Verdict::Notify) {
        changes.push(format!(
            "to let {} allow things, run `holdpoint trust` after reading it",
            layer.name
        ));
    }
    changes
}

/// The layer of the rule that decided.
fn deciding_layer(decision: &Decision) -> Option<Authority> {
    let first = decision.findings.first()?;
    first
        .layer
        .filter(|_| Some(&first.rule) == decision.rule.as_ref())
}

fn removal(finding: &Finding, policy: &Policy) -> String {
    let file = finding.layer.and_then(|authority| {
        policy
            .layers()
            .iter()
            .find(|layer| layer.authority == authority)
            .map(|layer| layer.name.clone())
    });
    match (finding.method, file) {
        (Method::SessionBlacklist, _) => {
            "clear this session's rules (`holdpoint permissions clear`)".into()
        }
        (Method::Error, _) => "send a call that can be read".into(),
        (_, Some(profile)) if profile.starts_with("profile `") => {
            format!("{profile} has this rule; use another one, or a file of your own")
        }
        (_, Some(file)) => format!("remove or narrow this rule in {file}"),
        (_, None) => "change the call".into(),
    }
}

/// The commands no allow rule covers.
fn uncovered(call: &ToolCall, decision: &Decision) -> Vec<String> {
    let Ok(parts) = holdpoint_core::parts(call) else {
        return Vec::new();
    };
    let covered = |part: &Part| {
        decision.findings.iter().any(|finding| {
            finding.verdict.runs() && finding.span.is_none_or(|span| span == part.span)
        })
    };
    parts
        .iter()
        .filter(|part| !covered(part))
        .map(|part| part.text.clone())
        .take(8)
        .collect()
}

fn allow_hint(call: &ToolCall) -> String {
    match holdpoint_core::parts(call).ok().as_deref() {
        Some([only]) => format!(
            "such as `holdpoint permissions allow '{}'`",
            only.text.replace('\'', "'\\''")
        ),
        Some([_, ..]) => "one for each command, or make the calls one by one".to_owned(),
        _ => format!("such as `holdpoint permissions allow {}`", call.tool()),
    }
}
