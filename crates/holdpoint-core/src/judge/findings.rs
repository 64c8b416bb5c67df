//! What the rules find: everything that refuses a call, and everything that wants it asked about.

use std::ops::Range;

use super::Judgement;
use super::coverage::{Cover, last_star};
use super::guards::Guarded;
use super::spelling::Spelled;
use crate::decision::{Finding, span_of};
use crate::opaque::{Opaque, OpaqueKind, Reason};
use crate::policy::rules::{Match, MatchKind};
use crate::policy::tool_names::{Naming, TO_THE_LETTER};
use crate::policy::tool_rules::Opinion;
use crate::policy::{Authority, Trust};
use crate::shell::{Assignment, Command, MAX_COMMANDS};
use crate::understand::{CommandView, EscapeUnicode, Unreadable};
use crate::verdict::{Autonomy, Method, Risk, Verdict};

/// A finding, and the part of the call it is about.
#[derive(Clone, Debug)]
pub(super) struct PartFinding {
    pub(super) finding: Finding,
    pub(super) part: Option<usize>,
    /// The piece of the line that is the finding's part, unless it says another. It is copied into the
    /// findings a decision lists and no others: thousands may be about one long word of code.
    pub(super) piece: Option<Range<usize>>,
}

impl PartFinding {
    pub(super) fn of_layer(mut self, authority: Authority) -> Self {
        self.finding.layer = Some(authority);
        self
    }
}

/// The layer a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Speaker {
    pub(super) layer: usize,
    pub(super) authority: Authority,
    pub(super) trust: Trust,
}

/// A rule that wants a person asked (or told).
pub(super) struct Objection {
    /// Whose it is; none for Holdpoint's own.
    pub(super) speaker: Option<Speaker>,
    /// Whose allow answers it.
    pub(super) answerable: Answerable,
    /// Whether it stands in place of the default. What nobody vouches for, and what Holdpoint
    /// asks about by itself, only adds to it: a question must not replace a refusal.
    pub(super) replaces_default: bool,
    pub(super) specificity: usize,
    /// How its rule names the tool.
    pub(super) naming: Naming,
    /// Whether it is about code that nobody can know before it runs, so that the sandbox may answer it where anybody may.
    pub(super) is_unknown_code: bool,
    pub(super) found: PartFinding,
}

/// Whose allow answers an objection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answerable {
    /// Any that covers the part, as far as its layer may speak.
    Usually,
    /// None: what it asks about could be something a rule refuses, and hiding a command would be a
    /// way around the rule.
    Never,
    /// One that says in so many words what is asked about: what a rule of high risk wants to know, a
    /// rule that speaks of much else as well does not answer.
    InSoManyWords,
    /// One that a person gave for the session when they could know what it remembers.
    InItsKnowledge,
}

impl Objection {
    /// Whether an allow answers this objection: the session's rules answer what is only asked,
    /// except the managed layer's and what certain people must say yes to; a layer's own rules
    /// answer it if they are as specific. What Holdpoint asks about by itself, any allow
    /// answers that covers the part.
    pub(super) fn is_answered_by(&self, cover: &Cover, wants_certain_people: bool) -> bool {
        // A notice does not answer itself.
        if cover.found.finding.verdict >= self.found.finding.verdict {
            return false;
        }
        if cover.speaker.is_none() && wants_certain_people {
            return false;
        }
        // A plan answers questions. What is to run inside the sandbox still does, and what wants to be looked at, or is about
        // Holdpoint itself, is another question than the plan's.
        let asks = matches!(self.found.finding.verdict, Verdict::Ask | Verdict::Notify);
        if cover.by_plan && (!asks || self.found.finding.method == Method::SelfProtection) {
            return false;
        }
        // Clauses about effects know nothing of what a rule has found.
        if cover.spelled == Spelled::Effects {
            return false;
        }
        match self.answerable {
            Answerable::Usually | Answerable::InSoManyWords => {}
            Answerable::Never => return false,
            Answerable::InItsKnowledge => return cover.knows_of_mark,
        }
        match (self.speaker, cover.speaker) {
            (None, _) => true,
            (Some(objector), None) => {
                objector.authority != Authority::Managed
                    && self.found.finding.verdict <= Verdict::Ask
            }
            (Some(objector), Some(allower)) => {
                objector.layer == allower.layer
                    && cover.specificity >= self.specificity
                    && cover.naming.answers(self.naming)
            }
        }
    }
}

impl Judgement<'_> {
    /// Everything that refuses the call, in the order reported: what cannot be read, the
    /// sanitizer, the session, the deny lists, files, tool rules, autonomy (J-20).
    pub(super) fn refusals(
        &self,
        opinions: &[Vec<Opinion>],
        guarded: &[Guarded],
    ) -> Vec<PartFinding> {
        let mut found = Vec::new();
        found.extend(self.unreadable());
        found.extend(self.too_deep());
        let own = |guarded: &&Guarded| guarded.found.finding.method == Method::SelfProtection;
        found.extend(guarded.iter().filter(own).filter_map(Guarded::refusal));
        let layers = || self.policy.layers().iter();
        for layer in layers() {
            for violation in layer
                .sanitizer
                .iter()
                .flat_map(|sanitizer| sanitizer.violations(self.view, &self.around))
            {
                found.push(
                    self.deny(
                        Method::Sanitization,
                        violation.rule,
                        violation.reason,
                        violation.command,
                    )
                    .of_layer(layer.authority),
                );
            }
        }
        for matched in self.session.rules.denying(self.view, self.session_star()) {
            let reason = List::SessionBlacklist.reason(&matched, self.view.call.tool());
            found.push(self.deny(
                Method::SessionBlacklist,
                matched.rule,
                reason,
                matched.command,
            ));
        }
        for layer in layers() {
            for matched in layer.deny.touching(self.view, last_star(layer.profile)) {
                let reason = List::Blacklist.reason(&matched, self.view.call.tool());
                found.push(
                    self.deny(Method::Blacklist, matched.rule, reason, matched.command)
                        .of_layer(layer.authority),
                );
            }
            let clauses = &layer.deny_list.effects;
            let touched = self.touched_by_effect(clauses, Method::Blacklist, Verdict::Deny);
            found.extend(touched.into_iter().map(|one| one.of_layer(layer.authority)));
        }
        let refused = self.address_findings(Verdict::Deny);
        found.extend(refused.into_iter().map(|(_, one)| one));
        found.extend(
            self.path_findings(Verdict::Deny)
                .into_iter()
                .map(|(_, one)| one),
        );
        let session = &self.session.state;
        for layer in layers() {
            for refusal in layer
                .tools
                .refusals(self.view, session, &self.around, &self.facts)
            {
                found.push(
                    self.deny(Method::ToolPolicy, refusal.rule, refusal.reason, None)
                        .of_layer(layer.authority),
                );
            }
        }
        found.extend(self.forbidden(opinions));
        found.extend(self.beyond_autonomy());
        let others = guarded.iter().filter(|one| !own(one));
        found.extend(others.filter_map(Guarded::refusal));
        found
    }

    pub(super) fn unreadable(&self) -> Option<PartFinding> {
        let (rule, reason) = match self.view.trouble.as_ref()? {
            Unreadable::Malformed(what) => (
                "malformed_arguments",
                format!("Malformed arguments: {what}"),
            ),
            Unreadable::Oversize(length) => (
                "oversize",
                format!("The command has {length} bytes, more than can be judged"),
            ),
            Unreadable::TooMany => (
                "oversize",
                format!("The line runs more than {MAX_COMMANDS} commands, more than can be judged"),
            ),
            Unreadable::TooManyPaths(count) => (
                "oversize",
                format!("The call names {count} files, more than can be judged"),
            ),
            Unreadable::PathTooDeep => (
                "oversize",
                "A path leads through more directories than can be judged".to_owned(),
            ),
            Unreadable::TooComplex => (
                "oversize",
                "The command is longer or nested deeper than can be judged".to_owned(),
            ),
            Unreadable::Syntax(_) => return None,
        };
        Some(self.deny(Method::Error, rule, reason, None))
    }

    /// A command of the line itself that is wrapped deeper than is followed: nobody writes one to
    /// be read, and what it hides might be refused.
    fn too_deep(&self) -> Option<PartFinding> {
        let hidden = Opaque::run(Reason::TooDeep);
        let at = self.view.commands.iter().position(|view| {
            view.command.file.is_none() && view.command.opaque.contains(&hidden)
        })?;
        let reason = opaque_words(hidden).1;
        Some(self.deny(Method::Error, "oversize", reason.to_owned(), Some(at)))
    }

    pub(super) fn beyond_autonomy(&self) -> Vec<PartFinding> {
        self.policy
            .layers()
            .iter()
            .filter_map(|layer| {
                let level = layer.autonomy?;
                let reason = match level {
                    Autonomy::Locked => "Autonomy is locked: no tool runs".to_owned(),
                    Autonomy::Readonly if !self.view.effect.only_looks() => format!(
                        "Autonomy is readonly: tool '{}' may change something",
                        self.view.call.tool()
                    ),
                    Autonomy::Readonly | Autonomy::Supervised | Autonomy::Full => return None,
                };
                let rule = format!("autonomy={}", level.as_str());
                Some(
                    self.deny(Method::Autonomy, rule, reason, None)
                        .of_layer(layer.authority),
                )
            })
            .collect()
    }

    /// Everything that wants a person asked or told.
    pub(super) fn objections(
        &self,
        opinions: &[Vec<Opinion>],
        guarded: &[Guarded],
    ) -> Vec<Objection> {
        let mut found = Vec::new();
        for (speaker, layer) in self.speakers() {
            for matched in layer.ask.touching(self.view, last_star(layer.profile)) {
                let reason = List::Ask.reason(&matched, self.view.call.tool());
                let (specificity, naming) = (matched.specificity, matched.naming);
                let one = self.found(
                    Method::ToolPolicy,
                    Verdict::Ask,
                    matched.rule,
                    reason,
                    matched.command,
                );
                found.push(Objection {
                    speaker: Some(speaker),
                    answerable: Answerable::Usually,
                    replaces_default: speaker.trust == Trust::Trusted,
                    specificity,
                    naming,
                    is_unknown_code: false,
                    found: one.of_layer(layer.authority),
                });
            }
            let clauses = &layer.ask_list.effects;
            for one in self.touched_by_effect(clauses, Method::ToolPolicy, Verdict::Ask) {
                found.push(Objection {
                    speaker: Some(speaker),
                    answerable: Answerable::Usually,
                    replaces_default: speaker.trust == Trust::Trusted,
                    specificity: 0,
                    naming: Naming::Unnamed,
                    is_unknown_code: false,
                    found: one.of_layer(layer.authority),
                });
            }
        }
        let asked = |verdict| verdict > Verdict::Allow && verdict < Verdict::Deny;
        for (part, by_layer) in opinions.iter().enumerate() {
            for ((speaker, layer), opinion) in self.speakers().zip(by_layer) {
                let Some(supervised) = opinion
                    .supervision
                    .as_ref()
                    .filter(|one| asked(one.verdict))
                else {
                    continue;
                };
                let part = self.has_commands().then_some(part);
                let one = self.found(
                    Method::ToolPolicy,
                    supervised.verdict,
                    supervised.rule.clone(),
                    supervised.reason.clone(),
                    part,
                );
                found.push(Objection {
                    speaker: Some(speaker),
                    answerable: Answerable::Usually,
                    replaces_default: speaker.trust == Trust::Trusted
                        && supervised.replaces_default(),
                    specificity: supervised.specificity,
                    naming: supervised.naming,
                    is_unknown_code: false,
                    found: one.of_layer(layer.authority),
                });
            }
        }
        for (speaker, one) in self.address_findings(Verdict::Ask) {
            found.push(Objection {
                speaker: Some(speaker),
                answerable: Answerable::Usually,
                replaces_default: speaker.trust == Trust::Trusted && !self.view.is_shell(),
                specificity: 1,
                naming: Naming::Unnamed,
                is_unknown_code: false,
                found: one,
            });
        }
        for (speaker, one) in self.path_findings(Verdict::Ask) {
            found.push(Objection {
                speaker: Some(speaker),
                answerable: Answerable::Usually,
                // A rule about a file says nothing about the command that names it.
                replaces_default: speaker.trust == Trust::Trusted && !self.view.is_shell(),
                specificity: 1,
                naming: Naming::Unnamed,
                is_unknown_code: false,
                found: one,
            });
        }
        found.extend(guarded.iter().filter_map(Guarded::objection));
        found.extend(self.unknowns());
        found
    }

    /// What a command would do and nobody can know before it runs (invariant 5). For a tool that is
    /// not known to be a shell this matters only where a rule could be evaded.
    fn unknowns(&self) -> Vec<Objection> {
        let refuses = self.refuses_commands();
        let asks = self
            .policy
            .layers()
            .iter()
            .any(|layer| !layer.ask.is_empty());
        let mut found = Vec::new();
        if !self.view.is_shell() && !refuses && !asks {
            return found;
        }
        if let Some(Unreadable::Syntax(refusal)) = &self.view.trouble {
            let reason = format!("The command cannot be read: {refusal}");
            found.push(self.unknown("shell.unreadable", reason, None, refuses));
        }
        let mut dynamic = 0;
        for (index, command) in self.view.commands.iter().enumerate() {
            let followed = command.command.file.is_some();
            if let Some(word) = command.disguised().filter(|_| !followed) {
                let reason = format!(
                    "`{}` is written with letters that look like others",
                    word.escape_unicode_letters()
                );
                found.push(self.unknown("shell.disguised-word", reason, Some(index), refuses));
            }
            if !command.command.opaque.is_empty() {
                for opaque in &command.command.opaque {
                    let asked = match followed {
                        true => is_asked_in_script(opaque.reason),
                        false => opaque.reason.is_question(),
                    };
                    if !asked {
                        continue;
                    }
                    let (rule, reason) = opaque_words(*opaque);
                    let hides = refuses && opaque.reason.hides_commands();
                    found.push(Objection {
                        is_unknown_code: opaque.kind == OpaqueKind::Run,
                        ..self.unknown(rule, reason.into(), Some(index), hides)
                    });
                }
            } else if command.command.assignments.iter().any(holds_code)
                && self.calculates_besides(&command.command)
            {
                let reason = "A value holds code that bash runs where it calculates with it";
                found.push(self.unknown(
                    "shell.code-in-value",
                    reason.into(),
                    Some(index),
                    refuses,
                ));
            } else if (refuses || asks) && command.is_dynamic() {
                dynamic += 1;
                let pattern = self.possible_refusal(command);
                if pattern.is_some() || dynamic > MAX_DYNAMIC {
                    let pattern = pattern.unwrap_or("some rule");
                    let reason = format!(
                        "A word is only known when the shell runs it and could make this match `{pattern}`"
                    );
                    found.push(self.unknown("shell.dynamic-word", reason, Some(index), refuses));
                }
            }
        }
        found
    }

    fn unknown(
        &self,
        rule: &str,
        reason: String,
        command: Option<usize>,
        hides_refusal: bool,
    ) -> Objection {
        Objection {
            speaker: None,
            answerable: match hides_refusal {
                true => Answerable::Never,
                false => Answerable::Usually,
            },
            replaces_default: false,
            specificity: 0,
            naming: Naming::Unnamed,
            is_unknown_code: false,
            found: self.found(Method::Guard, Verdict::Ask, rule.into(), reason, command),
        }
    }

    /// Whether the line calculates anywhere but in the values a command assigns.
    fn calculates_besides(&self, command: &Command) -> bool {
        let Some(line) = &self.view.line else {
            return true;
        };
        let mut rest = line.clone();
        for assignment in &command.assignments {
            let span = assignment.value.span.clone();
            if rest.get(span.clone()).is_some() && rest.len() == line.len() {
                rest.replace_range(span, "");
            }
        }
        [
            "((", "${", "[[", "$[", "let ", "declare", "typeset", "local", "test ", "[ ", "printf",
            "read ", "unset",
        ]
        .iter()
        .any(|sign| rest.contains(sign))
    }

    /// Whether any rule refuses commands, so that one that is hidden could be one of those.
    fn refuses_commands(&self) -> bool {
        let in_layers = self.policy.layers().iter().any(|layer| {
            !layer.deny.is_empty()
                || layer.sanitizer.is_some()
                || layer.tools.denies_commands(self.view.call.tool())
        });
        in_layers || self.session.rules.denies()
    }

    /// A rule that refuses or asks about what a command could turn out to be.
    fn possible_refusal(&self, command: &CommandView) -> Option<&str> {
        self.session.rules.possible_denial(command).or_else(|| {
            self.policy
                .layers()
                .iter()
                .flat_map(|layer| [&layer.deny, &layer.ask])
                .find_map(|rules| rules.possible(command))
        })
    }

    /// What the file rules say, of one verdict.
    pub(super) fn path_findings(&self, verdict: Verdict) -> Vec<(Speaker, PartFinding)> {
        let mut found = Vec::new();
        for (speaker, layer) in self.speakers().filter(|(_, layer)| !layer.files.is_empty()) {
            for path in self.view.paths() {
                for finding in layer.files.findings(path, &self.around) {
                    if finding.verdict == verdict {
                        let mut one = self
                            .found(
                                Method::FileGuard,
                                verdict,
                                finding.rule,
                                finding.reason,
                                path.command,
                            )
                            .of_layer(layer.authority);
                        if path.command.is_none() {
                            one.finding.part = Some(path.text.clone());
                        }
                        if let Some(span) = &path.span {
                            one.finding.span = Some(span_of(span));
                        }
                        found.push((speaker, one));
                    }
                }
            }
        }
        found
    }

    /// Parts a tool rule forbids.
    fn forbidden(&self, opinions: &[Vec<Opinion>]) -> Vec<PartFinding> {
        let mut found = Vec::new();
        for (part, by_layer) in opinions.iter().enumerate() {
            let part = self.has_commands().then_some(part);
            for ((speaker, _), opinion) in self.speakers().zip(by_layer) {
                if let Some(one) = opinion
                    .supervision
                    .as_ref()
                    .filter(|one| one.verdict == Verdict::Deny)
                {
                    let one = self.deny(
                        Method::ToolPolicy,
                        one.rule.clone(),
                        one.reason.clone(),
                        part,
                    );
                    found.push(one.of_layer(speaker.authority));
                }
            }
        }
        found
    }

    pub(super) fn deny(
        &self,
        method: Method,
        rule: impl Into<String>,
        reason: String,
        command: Option<usize>,
    ) -> PartFinding {
        self.found(method, Verdict::Deny, rule.into(), reason, command)
    }

    pub(super) fn found(
        &self,
        method: Method,
        verdict: Verdict,
        rule: String,
        reason: String,
        command: Option<usize>,
    ) -> PartFinding {
        let view = command.and_then(|index| self.view.commands.get(index));
        let span = view
            .map(|view| &view.command.span)
            .filter(|_| self.view.is_shell());
        // The text as written, where it stands in the line.
        let piece = span.filter(|span| self.piece(span).is_some()).cloned();
        let part = view
            .filter(|_| piece.is_none())
            .map(|view| view.command.line());
        PartFinding {
            finding: Finding {
                rule,
                verdict,
                risk: match verdict {
                    Verdict::Allow | Verdict::Notify => Risk::None,
                    Verdict::Contain | Verdict::Ask | Verdict::Review => Risk::Medium,
                    Verdict::Deny => Risk::High,
                },
                reason,
                part,
                span: span.map(span_of),
                method,
                layer: None,
            },
            part: command,
            piece,
        }
    }

    /// A piece of the line.
    pub(super) fn piece(&self, span: &Range<usize>) -> Option<&str> {
        self.view.line.as_ref()?.get(span.clone())
    }
}

/// The lists a rule may stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Blacklist,
    Whitelist,
    Ask,
    SessionBlacklist,
    SessionWhitelist,
}

impl List {
    fn as_str(self) -> &'static str {
        match self {
            List::Blacklist => "blacklist",
            List::Whitelist => "whitelist",
            List::Ask => "ask list",
            List::SessionBlacklist => "session blacklist",
            List::SessionWhitelist => "session whitelist",
        }
    }

    /// Why a rule of this list matched, in jaato's words where it has them (J-19).
    pub(super) fn reason(self, matched: &Match, tool: &str) -> String {
        let (list, rule) = (self.as_str(), matched.rule.as_str());
        let (argument, value) = rule.split_once('=').unwrap_or(("", rule));
        match (matched.kind, self) {
            (MatchKind::Tool, List::Blacklist | List::Whitelist) => {
                // Under which name, if not its own.
                match rule.trim_start_matches(TO_THE_LETTER) == tool {
                    true => format!("Tool '{tool}' is {list}ed"),
                    false => format!("Tool '{tool}' is {list}ed as '{rule}'"),
                }
            }
            (MatchKind::Tool, List::Ask | List::SessionBlacklist | List::SessionWhitelist) => {
                format!("Tool '{tool}' is on the {list}: {rule}")
            }
            (MatchKind::Pattern, _) => format!("Command matches {list} pattern: {rule}"),
            (MatchKind::Argument, List::Blacklist | List::SessionBlacklist) => {
                format!("Argument '{argument}' contains blocked value: {value}")
            }
            (MatchKind::Argument, List::Whitelist | List::SessionWhitelist) => {
                format!("Argument '{argument}' matches allowed value: {value}")
            }
            (MatchKind::Argument, List::Ask) => {
                format!("Argument '{argument}' is on the {list}: {value}")
            }
        }
    }
}

/// The most dynamic commands of a line that are compared with every rule; more are asked about.
const MAX_DYNAMIC: usize = 200;

/// Whether something unknown is asked about although it stands in a script. A script says what it
/// says; what comes from elsewhere it does not say, and what was not read nobody has seen.
fn is_asked_in_script(reason: Reason) -> bool {
    reason.is_unread_text() || matches!(reason, Reason::Downloaded | Reason::Decoded)
}

/// Whether a value that looks like data is run by bash in arithmetic: `a[$(rm x)]`.
fn holds_code(assignment: &Assignment) -> bool {
    let text = &assignment.value.text;
    !assignment.value.dynamic && text.contains('[') && (text.contains("$(") || text.contains('`'))
}

/// The rule and reason for a command that cannot be known.
pub(super) fn opaque_words(opaque: Opaque) -> (&'static str, &'static str) {
    match opaque.reason {
        Reason::DynamicProgram => (
            "shell.dynamic-program",
            "Which program runs is only known when the shell runs it",
        ),
        Reason::DynamicCode => (
            "shell.dynamic-code",
            "The code a shell would run is only known when it runs",
        ),
        Reason::PipedIntoShell => (
            "shell.piped-into-shell",
            "A shell would run text that comes from another command or file",
        ),
        Reason::Downloaded => (
            "shell.downloaded",
            "Code from a network would be run without anybody having read it",
        ),
        Reason::Decoded => (
            "shell.decoded",
            "Code that is encoded would be decoded and run",
        ),
        Reason::CallsItself => (
            "shell.calls-itself",
            "A function runs itself and may never end",
        ),
        Reason::InlineCode => (
            "shell.inline-code",
            "An interpreter would run code given on the command line",
        ),
        Reason::ScriptFromInput => (
            "shell.script-from-input",
            "An interpreter would run code from its input",
        ),
        Reason::ExecutableSetting => (
            "shell.executable-setting",
            "A setting given with the command can make it run another program",
        ),
        Reason::Unreadable => (
            "shell.unreadable",
            "Code that a shell would run cannot be read",
        ),
        Reason::TooDeep => (
            "shell.too-deep",
            "Commands are nested deeper than can be judged",
        ),
        Reason::OverBudget => (
            "shell.over-budget",
            "There is more to read than can be judged",
        ),
        Reason::CannotRead => (
            "shell.unreadable",
            "A file that would be run cannot be opened to see what it does",
        ),
        Reason::TooLarge => (
            "shell.unreadable",
            "A file that would be run is too large to be judged",
        ),
        Reason::NotText => (
            "shell.unreadable",
            "A file that would be run as a script is not text",
        ),
        Reason::ChangedBefore => (
            "shell.changed-before",
            "A file is changed and then run: what it will do is not what it says now",
        ),
        Reason::BuiltBefore => (
            "shell.built-before",
            "A program is built and then run: what it will do is not seen here",
        ),
    }
}
