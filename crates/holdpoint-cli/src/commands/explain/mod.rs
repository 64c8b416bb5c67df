//! `holdpoint explain`: the call as it is understood, what matched, why the verdict is what it is,
//! and what would change it.

mod changes;
mod commands;
mod matched;
mod trial;
mod why;

use std::io::Write;
use std::path::Path;

use holdpoint_core::{Explained, Surroundings, explained};
use holdpoint_engine::containing::{self, Notice, Tier, Wanted};
use holdpoint_engine::{
    Decision, Engine, Layer, Locations, Part, Policy, SessionState, Trust, Verdict,
    working_directory,
};
use serde::Serialize;
use serde_json::Value;

use self::matched::Matched;
use self::trial::Trial;
use super::check::{caller, read_call};
use super::permissions::suspension_words;
use super::run::under_policy;
use super::sandbox_view::SandboxView;
use crate::cli;
use crate::exit::Exit;
use crate::layout::hanging;
use crate::terminal::{Terminal, escape_for_display};

pub(crate) fn run(args: &cli::Explain, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let under = &args.call.under;
    let directory = working_directory(under.cwd.as_deref())?;
    let engine = Engine::at(&Locations::of_this_machine());
    let caller = caller(&engine, "explain", under, &directory);
    let session = engine.session(&caller.session)?;
    let decided = engine.decide(read_call(&args.call)?, caller)?;
    let (action, policy) = (decided.action(), decided.policy());
    let decision = decided.decision().clone();
    // Why and what else is asked of what the policy says, whether or not anybody is held to it.
    let said = decision.as_if_enforced();
    let call = action.call();
    let workspace = directory.display().to_string();
    let understood = explained(action, &engine.surroundings(&workspace));
    let parts = holdpoint_core::parts(action);
    let trial = Trial {
        action,
        policy,
        session: session.state(),
        uncovered: changes::uncovered(action, &said),
        around: Surroundings {
            can_contain: said.verdict == Verdict::Contain,
            ..engine.surroundings(&workspace)
        },
    };
    let explanation = Explanation {
        v: 1,
        call: Call {
            tool: call.tool(),
            stands_for: holdpoint_core::standing_name(call.tool()).map(|(_, name)| name),
            input: Value::Object(call.input().clone()),
            directory: directory.display().to_string(),
            signature: call.signature(),
        },
        parts: parts.unwrap_or_default(),
        layers: policy.layers().iter().map(LayerView::from_layer).collect(),
        default: default_words(policy, session.state()),
        session: SessionView {
            id: &under.session,
            state: session.state(),
        },
        rules: matched::for_decision(&said, policy),
        why: why::sentences(&said, policy, session.state()),
        changes: changes::for_decision(&trial, &said),
        sandbox: sandbox(&decision, policy, &directory),
        understood,
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
    #[serde(flatten)]
    understood: Explained,
    layers: Vec<LayerView>,
    default: String,
    session: SessionView<'a>,
    rules: Vec<Matched>,
    decision: Decision,
    why: Vec<String>,
    changes: Vec<String>,
    /// What the sandbox would let the call do, if it runs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxView>,
}

/// What the sandbox would let a call do that starts in this directory.
fn sandbox(decision: &Decision, policy: &Policy, directory: &Path) -> Option<SandboxView> {
    if decision.verdict != Verdict::Contain {
        return None;
    }
    let wanted = Wanted {
        command: Vec::new(),
        directory: directory.to_owned(),
        writable: Vec::new(),
        time: None,
        floor: Tier::Full,
    };
    // Where none can be planned the hook asks, and says why.
    let plan = under_policy(&wanted, policy, Notice::Refusals).ok()?;
    let reached = containing::reachable(!plan.hosts.is_empty());
    Some(SandboxView::from_plan(&plan, reached))
}

#[derive(Serialize)]
struct Call<'a> {
    tool: &'a str,
    /// The name that stands for the tool in rules, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    stands_for: Option<&'static str>,
    input: Value,
    directory: String,
    signature: String,
}

impl Call<'_> {
    fn tool_words(&self) -> String {
        let tool = escape_for_display(self.tool, 200);
        match holdpoint_core::standing_name(self.tool) {
            Some((meaning, name)) => format!("{tool}  ({meaning}: rules for `{name}` count)"),
            None => tool,
        }
    }
}

#[derive(Serialize)]
struct LayerView {
    authority: &'static str,
    name: String,
    trusted: bool,
    profile: Option<&'static str>,
    default: Option<&'static str>,
    autonomy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
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
    fn from_layer(layer: &Layer) -> Self {
        let count = |list: &holdpoint_core::policy::RuleList| {
            let arguments = list.arguments.values().flat_map(|named| named.values());
            list.tools.len() + list.patterns.len() + arguments.map(Vec::len).sum::<usize>()
        };
        Self {
            authority: layer.authority.as_str(),
            name: layer.name.clone(),
            trusted: layer.trust == Trust::Trusted,
            profile: layer.profile.map(holdpoint_engine::Profile::name),
            default: layer.default.map(holdpoint_engine::DefaultPolicy::as_str),
            autonomy: layer.autonomy.map(holdpoint_engine::Autonomy::as_str),
            mode: layer.mode.map(holdpoint_core::policy::Mode::as_str),
            deny: count(&layer.deny_list),
            ask: count(&layer.ask_list),
            allow: count(&layer.allow_list),
        }
    }

    fn words(&self) -> String {
        let mut notes = Vec::new();
        let mut note = |name: &str, value: Option<&str>| {
            notes.extend(value.map(|value| format!("{name} {value}")));
        };
        note("profile", self.profile);
        note("default", self.default);
        note("autonomy", self.autonomy);
        note("mode", self.mode);
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
        format!("{}{notes}", escape_for_display(&self.name, 200))
    }
}

impl Explanation<'_> {
    fn print(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        heading("Call", terminal)?;
        row("tool", &self.call.tool_words(), terminal)?;
        row(
            "text",
            &escape_for_display(&self.call.signature, 500),
            terminal,
        )?;
        row(
            "in",
            &escape_for_display(&self.call.directory, 200),
            terminal,
        )?;
        commands::print(&self.understood, &self.call.directory, terminal)?;
        if !self.understood.files.is_empty() {
            heading("Scripts that were read", terminal)?;
            for file in &self.understood.files {
                writeln!(terminal.out, "  {}", escape_for_display(&file.path, 300))?;
                writeln!(terminal.out, "    {}", terminal.faint(&file.digest))?;
            }
        }
        if !self.decision.facts.is_empty() {
            heading("Facts that rules asked about", terminal)?;
            for fact in &self.decision.facts {
                text(&fact.to_string(), 2, terminal)?;
            }
        }
        heading("Rules that matched", terminal)?;
        matched::print(&self.rules, terminal)?;
        heading("Layers in force, the highest authority first", terminal)?;
        for layer in &self.layers {
            row(layer.authority, &layer.words(), terminal)?;
        }
        row("session", &session_words(&self.session), terminal)?;
        row("default", &self.default, terminal)?;
        let verdict = terminal.verdict(self.decision.verdict);
        let title = terminal.heading("Verdict");
        writeln!(
            terminal.out,
            "\n{title}: {verdict} by {} (risk {})",
            self.decision.method.as_str(),
            self.decision.risk.as_str()
        )?;
        text(&self.decision.reason, 2, terminal)?;
        if let Some(observed) = self.decision.observed {
            text(
                &format!(
                    "Nothing is enforced, for the policy only observes: the agent hears nothing, and the record says \
                     that it would have been: {}. `holdpoint init --enforce` has the policy held to.",
                    observed.as_str()
                ),
                2,
                terminal,
            )?;
        }
        heading("Why", terminal)?;
        for sentence in &self.why {
            text(sentence, 2, terminal)?;
        }
        for told in &self.decision.tell {
            text(&format!("The model is told: {told}"), 2, terminal)?;
        }
        if let Some(rewrite) = &self.decision.rewrite {
            let (rule, line) = (&rewrite.rule, &rewrite.line);
            let words = format!(
                "Its safe form is `{line}` ({rule}): a hook that can has that judged, and run if nobody has to be asked."
            );
            text(&words, 2, terminal)?;
        }
        if let Some(why) = self.decision.uncontained {
            text(
                &format!("It is not contained: {}.", why.words()),
                2,
                terminal,
            )?;
        }
        if let Some(sandbox) = &self.sandbox {
            heading("What the sandbox lets it do", terminal)?;
            sandbox.write("  ", &mut terminal.out)?;
        }
        if !self.changes.is_empty() {
            heading("What would change it", terminal)?;
            for change in &self.changes {
                write!(terminal.out, "  - ")?;
                let change = hanging(&escape_for_display(change, 500), 4, terminal.width());
                writeln!(terminal.out, "{change}")?;
            }
        }
        Ok(())
    }
}

/// The title of a section, set off from the one before it.
fn heading(title: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    // The first section has nothing before it.
    let gap = if title == "Call" { "" } else { "\n" };
    let title = terminal.heading(title);
    writeln!(terminal.out, "{gap}{title}")?;
    Ok(())
}

/// A name and what it stands for; the value's further lines stand below its first.
fn row(name: &str, value: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let value = hanging(value, 11, terminal.width());
    writeln!(terminal.out, "  {name:<8} {value}")?;
    Ok(())
}

/// A paragraph of somebody's text.
fn text(text: &str, indent: usize, terminal: &mut Terminal) -> anyhow::Result<()> {
    let text = hanging(&escape_for_display(text, 1000), indent, terminal.width());
    writeln!(terminal.out, "{:indent$}{text}", "")?;
    Ok(())
}

fn session_words(session: &SessionView<'_>) -> String {
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
            .map(|default| format!("default {}", default.as_str())),
    );
    notes.extend(suspension_words(state.suspended));
    notes.extend(state.mark.as_ref().map(|_| "marked".to_owned()));
    let plan = state.plan.as_ref();
    notes.extend(plan.map(|plan| format!("plan {} open", escape_for_display(&plan.name, 60))));
    let notes = if notes.is_empty() {
        "nothing said".to_owned()
    } else {
        notes.join(", ")
    };
    format!("{}  ({notes})", escape_for_display(session.id, 100))
}

fn default_words(policy: &Policy, session: &SessionState) -> String {
    let standing = policy.standing();
    let mut words = match (standing.default, standing.autonomy) {
        (Some(default), _) if !standing.stated => {
            format!("{} (no layer states a default)", default.as_str())
        }
        (Some(default), _) => default.as_str().to_owned(),
        (None, Some(autonomy)) => format!("as autonomy {} says", autonomy.as_str()),
        (None, None) => "allow".to_owned(),
    };
    if let Some(default) = session.default {
        words = format!("{} (session override, was: {words})", default.as_str());
    }
    words
}
