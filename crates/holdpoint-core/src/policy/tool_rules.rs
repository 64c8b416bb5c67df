//! Rules for single tools: supervision, conditions, argument schemas, limits (A-01 … A-11, O-25).
//!
//! Of the rules that apply to a part of a call, those of the highest priority speak and the
//! strictest of them counts; a rule that denies speaks at any priority (A-05). Each command of a
//! shell line is a part, so `ls; rm x` is watched as closely as `rm x` (A-09).

use std::fmt::Write as _;

use serde_json::Value;

use super::document::{
    Check, Condition, Parameter, ParameterType, Restriction, RuleTerms, ToolRule, ToolRules,
};
use super::files::{PathPatterns, Subject};
use super::patterns::{CommandPatterns, LastStar, Patterns};
use super::reach;
use super::tool_names::{Naming, TO_THE_LETTER};
use super::values::Values;
use crate::call::push_python_str;
use crate::catalogue::{self, Effect, Identity, Tool, ToolSet};
use crate::facts::{FactConditions, FactUsed, Gathered, Purpose, say_facts};
use crate::glob::Glob;
use crate::literal_index::ByText;
use crate::paths::Surroundings;
use crate::session::SessionState;
use crate::understand::{Action, collect_texts};
use crate::verdict::{Risk, Supervision, Verdict};

/// The tool rules of one policy layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolTable {
    rules: Vec<Compiled>,
    /// Rules by the name they are for, in lower case; those that mean it to the letter with the mark.
    by_name: ByText<Vec<usize>>,
    any_exact: bool,
    by_glob: Vec<usize>,
    /// Rules for names agents have for tools.
    by_tool: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Compiled {
    key: String,
    name: Glob,
    /// The tool its key is a name of, unless it means the name to the letter.
    tool: Option<&'static Tool>,
    rule: ToolRule,
    conditions: Vec<CompiledCondition>,
}

#[derive(Clone, Debug)]
struct CompiledCondition {
    command_matches: Option<Patterns>,
    /// The same as it is written.
    command_written: Option<String>,
    /// The same, whatever the spelling.
    command_means: CommandPatterns,
    command_starts_with: Option<Vec<String>>,
    /// The same, whatever the spelling.
    command_starts_meaning: Values,
    path_matches: Option<Glob>,
    facts: Option<FactConditions>,
}

/// What the rules of a layer say about one part of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opinion {
    pub(crate) supervision: Option<Supervised>,
    pub(crate) risk: Risk,
    pub(crate) checks: Vec<Check>,
    /// What the model is to be told, as it is written.
    pub(crate) tell: Vec<String>,
}

/// A level of supervision and the rule it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Supervised {
    pub(crate) verdict: Verdict,
    pub(crate) rule: String,
    pub(crate) reason: String,
    /// How much of the call the rule's conditions fix.
    pub(crate) specificity: usize,
    /// How the rule names the tool.
    pub(crate) naming: Naming,
    /// What its conditions say of a command, as they are written.
    pub(crate) spelled: Option<String>,
}

impl Supervised {
    /// Whether it speaks in place of the default. A notice lets a call run only where it covers it, as an allow does. A
    /// rule that contains some commands is met by any spelling of them, so it may only add to a default that asks or
    /// refuses; one that speaks of the tool as a whole cannot be met by accident.
    pub(crate) fn replaces_default(&self) -> bool {
        match self.verdict {
            Verdict::Allow | Verdict::Notify => false,
            Verdict::Contain => self.specificity == 0 && self.naming.may_allow(),
            Verdict::Ask | Verdict::Review | Verdict::Deny => true,
        }
    }
}

/// A call that a rule refuses outright.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) rule: String,
    pub(crate) reason: String,
}

impl ToolTable {
    /// What its rules ask about besides the call.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &FactConditions> {
        let conditions = self.rules.iter().flat_map(|rule| &rule.conditions);
        conditions.filter_map(|condition| condition.facts.as_ref())
    }

    pub(crate) fn new<'d>(tools: impl IntoIterator<Item = (&'d String, &'d ToolRules)>) -> Self {
        let mut table = Self::default();
        for (key, rules) in tools {
            for rule in rules
                .as_slice()
                .iter()
                .filter(|rule| rule.enabled != Some(false))
            {
                let number = table.rules.len();
                let exact = key.starts_with(TO_THE_LETTER);
                table.any_exact |= exact;
                let name = match exact {
                    true => Glob::new(&Glob::escape(key)),
                    false => Glob::new(&key.to_lowercase()),
                };
                let tool = catalogue::tool_named(key);
                match name.only() {
                    Some(name) => table.by_name.entry(name).or_default().push(number),
                    None => table.by_glob.push(number),
                }
                if tool.is_some() {
                    table.by_tool.push(number);
                }
                table.rules.push(Compiled {
                    key: key.clone(),
                    name,
                    tool,
                    conditions: rule
                        .conditions
                        .0
                        .iter()
                        .map(CompiledCondition::new)
                        .collect(),
                    rule: rule.clone(),
                });
            }
        }
        table
    }

    /// Whether it says nothing about any tool.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules for a tool, and how each names it.
    fn named(&self, own: &str, identity: Identity) -> Vec<(&Compiled, Naming)> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let lower = own.to_lowercase();
        let mut numbers: Vec<(usize, Naming)> = Vec::new();
        let exact = self
            .any_exact
            .then(|| self.by_name.get(&format!("{TO_THE_LETTER}{own}")))
            .flatten();
        let rules = [self.by_name.get(&lower), exact];
        for number in rules.into_iter().flatten().flatten() {
            numbers.push((*number, Naming::Own));
        }
        let standing = identity
            .standing_name()
            .map(|name| name.text().to_lowercase());
        for number in &self.by_glob {
            let Some(rule) = self.rules.get(*number) else {
                continue;
            };
            if rule.name.matches(&lower) {
                numbers.push((*number, Naming::Unnamed));
            } else if standing
                .as_ref()
                .is_some_and(|name| rule.name.matches(name))
            {
                numbers.push((*number, Naming::Standing));
            }
        }
        if identity.tool().is_some() {
            for number in &self.by_tool {
                let rule = self.rules.get(*number);
                let tool = rule.and_then(|rule| rule.tool);
                let known = numbers.iter().any(|(known, _)| known == number);
                if let (Some(rule), Some(tool), false) = (rule, tool, known)
                    && identity.touches(tool)
                {
                    // A rule for a tool lets a call run if that is all the call does.
                    let stands = rule.key.eq_ignore_ascii_case(tool.name)
                        && identity.is_within(ToolSet::from_tool(tool));
                    numbers.push((
                        *number,
                        match stands {
                            true => Naming::Standing,
                            false => Naming::Kin,
                        },
                    ));
                }
            }
        }
        numbers.sort_unstable_by_key(|(number, _)| *number);
        numbers
            .into_iter()
            .filter_map(|(number, naming)| Some((self.rules.get(number)?, naming)))
            .collect()
    }

    /// The effect a rule declares for a tool.
    pub(crate) fn declared_effect(&self, tool: &str) -> Option<Effect> {
        // What one agent's tool does says nothing about another's of the same name.
        let by_name = |naming| matches!(naming, Naming::Own | Naming::Unnamed);
        self.named(tool, Identity::default())
            .into_iter()
            .filter(|(_, naming)| by_name(*naming))
            .find_map(|(rule, _)| rule.rule.effect)
    }

    /// Whether any rule forbids some commands of `tool`.
    pub(crate) fn denies_commands(&self, tool: &str) -> bool {
        let named = self.named(tool, Identity::of_name(tool));
        named.iter().any(|(rule, _)| {
            rule.rule.supervision == Some(Supervision::Deny) && !rule.conditions.is_empty()
        })
    }

    /// The terms rules for `tool` state, those that name it most closely first.
    pub(crate) fn terms(&self, tool: &str) -> Vec<&RuleTerms> {
        let mut named = self.named(tool, Identity::of_name(tool));
        named.sort_by_key(|(_, naming)| match naming {
            Naming::Own | Naming::Unnamed => 0,
            Naming::Standing => 1,
            Naming::Kin => 2,
        });
        named
            .into_iter()
            .filter_map(|(rule, _)| rule.rule.approval.as_ref())
            .collect()
    }

    /// All terms rules state, by the keys of those.
    pub(crate) fn every_terms(&self) -> impl Iterator<Item = (&str, &RuleTerms)> {
        let rules = self.rules.iter();
        rules.filter_map(|rule| Some((rule.key.as_str(), rule.rule.approval.as_ref()?)))
    }

    /// The arguments of `tool` that rules let a person change, if any rule says.
    pub(crate) fn editable(&self, tool: &str) -> Option<Vec<String>> {
        let named = self.named(tool, Identity::of_name(tool));
        let stated = |wanted: fn(Naming) -> bool| {
            named
                .iter()
                .filter(|(_, naming)| wanted(*naming))
                .find_map(|(rule, _)| rule.rule.editable.as_ref())
        };
        if let Some(keys) = stated(|naming| matches!(naming, Naming::Own | Naming::Unnamed)) {
            return Some(keys.clone());
        }
        let keys = stated(|naming| naming == Naming::Standing)?;
        let spelled = |key: &String| match catalogue::find_name(tool) {
            Some(name) => catalogue::rename(name, key).into_owned(),
            None => key.clone(),
        };
        Some(keys.iter().map(spelled).collect())
    }

    /// Whether any rule limits how often `tool` is called.
    pub(crate) fn limits_calls(&self, tool: &str) -> bool {
        self.named(tool, Identity::of_name(tool))
            .iter()
            .any(|(rule, _)| rule.rule.max_calls_per_session.is_some())
    }

    /// What the rules say about one command of the call, or about a call that is not a line.
    pub(crate) fn opinion(
        &self,
        view: &Action,
        command: Option<usize>,
        around: &Surroundings<'_>,
        facts: &Gathered<'_>,
    ) -> Opinion {
        let applying: Vec<(&Compiled, Naming, Vec<FactUsed>)> = self
            .named(view.call.tool(), view.identity)
            .into_iter()
            .filter_map(|(rule, naming)| {
                let rests_on = rule.applies(naming, view, command, around, facts)?;
                Some((rule, naming, rests_on))
            })
            .collect();
        let highest = applying
            .iter()
            .filter(|(rule, naming, _)| rule.supervision(*naming).is_some())
            .map(|(rule, ..)| rule.rule.priority)
            .max();
        let mut opinion = Opinion::default();
        for (rule, naming, rests_on) in applying {
            let speaks = highest.is_none_or(|highest| rule.rule.priority >= highest);
            if speaks {
                opinion.risk = opinion.risk.max(rule.rule.risk.unwrap_or_default());
                opinion.checks.extend(&rule.rule.checks);
                opinion
                    .tell
                    .extend(rule.rule.tell.clone().map(|tell| tell.0));
            }
            let Some(level) = rule.supervision(naming) else {
                continue;
            };
            let stricter = opinion
                .supervision
                .as_ref()
                .is_none_or(|strictest| strictest.verdict < level.verdict());
            if (speaks || level == Supervision::Deny) && stricter {
                let mut supervised = rule.supervised(level, naming, view);
                say_facts(&mut supervised.reason, &rests_on);
                opinion.supervision = Some(supervised);
            }
        }
        opinion
    }

    /// Arguments, sizes and numbers of calls that a rule refuses, whatever else it says.
    pub(crate) fn refusals(
        &self,
        view: &Action,
        session: &SessionState,
        around: &Surroundings<'_>,
        facts: &Gathered<'_>,
    ) -> Vec<Refusal> {
        if self.is_empty() {
            return Vec::new();
        }
        let parts: Vec<Option<usize>> = if view.commands.is_empty() {
            vec![None]
        } else {
            (0..view.commands.len()).map(Some).collect()
        };
        let mut found = Vec::new();
        for (rule, naming) in self.named(view.call.tool(), view.identity) {
            let applies = parts.iter().any(|command| {
                let rests_on = rule.applies(naming, view, *command, around, facts);
                rests_on.is_some()
            });
            if applies {
                rule.check_parameters(view, &mut found);
                rule.check_restrictions(view, around, &mut found);
                rule.check_calls(view, session, &mut found);
            }
        }
        found
    }
}

impl Compiled {
    /// The supervision it states for a tool named like this: another agent's name never loosens.
    fn supervision(&self, naming: Naming) -> Option<Supervision> {
        self.rule.supervision.filter(|level| match level {
            Supervision::Automatic | Supervision::Notify => naming.may_allow(),
            Supervision::Contain
            | Supervision::Confirm
            | Supervision::Manual
            | Supervision::Deny => true,
        })
    }

    /// Whether it is about a part of a call: the facts that rests on, if any of its conditions are about some. They are asked
    /// for where everything else holds.
    fn applies(
        &self,
        naming: Naming,
        view: &Action,
        command: Option<usize>,
        around: &Surroundings<'_>,
        facts: &Gathered<'_>,
    ) -> Option<Vec<FactUsed>> {
        let purpose = match self.supervision(naming) {
            Some(Supervision::Automatic | Supervision::Notify) => Purpose::Loosen,
            Some(
                Supervision::Contain
                | Supervision::Confirm
                | Supervision::Manual
                | Supervision::Deny,
            )
            | None => Purpose::Tighten,
        };
        let mut conditions = self.conditions.iter();
        if !conditions.all(|condition| condition.holds(purpose, view, command, around)) {
            return None;
        }
        let mut rests_on = Vec::new();
        for asked in self.conditions.iter().filter_map(|one| one.facts.as_ref()) {
            rests_on.extend(facts.hold(asked, purpose, command)?);
        }
        Some(rests_on)
    }

    fn supervised(&self, level: Supervision, naming: Naming, view: &Action) -> Supervised {
        let tool = view.call.tool();
        let because = self
            .rule
            .reason
            .as_deref()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        let said = self
            .rule
            .confirmation_message
            .as_deref()
            .map(|template| fill_in(template, self.tool, view));
        let reason = match (level, said) {
            (Supervision::Confirm | Supervision::Manual, Some(message)) => message,
            (Supervision::Automatic, _) => format!("Tool '{tool}' runs by itself{because}"),
            (Supervision::Notify, _) => format!("Tool '{tool}' runs with a notice{because}"),
            (Supervision::Contain, _) => format!("Tool '{tool}' runs inside the sandbox{because}"),
            (Supervision::Confirm, None) => format!("Tool '{tool}' requires confirmation{because}"),
            (Supervision::Manual, None) => format!("Tool '{tool}' requires review{because}"),
            (Supervision::Deny, _) => format!("Tool '{tool}' is forbidden{because}"),
        };
        Supervised {
            verdict: level.verdict(),
            rule: format!("tools.{}", self.key),
            reason,
            naming,
            spelled: self.conditions.iter().find_map(CompiledCondition::spelled),
            specificity: self
                .conditions
                .iter()
                .map(CompiledCondition::specificity)
                .sum(),
        }
    }

    fn check_parameters(&self, view: &Action, found: &mut Vec<Refusal>) {
        let mut refuse = |problem: String| {
            found.push(Refusal {
                rule: "invalid_parameters".into(),
                reason: format!("Invalid parameters for '{}': {problem}", view.call.tool()),
            });
        };
        let mut known: Vec<&str> = Vec::new();
        for (name, wanted) in &self.rule.parameters {
            let given = self.arguments(view, name);
            if given.is_empty() && wanted.required {
                refuse(format!("`{name}` is missing"));
            }
            for (key, value) in given {
                known.push(key);
                wanted
                    .problem(value)
                    .into_iter()
                    .for_each(|problem| refuse(format!("`{key}` {problem}")));
            }
        }
        if self.rule.additional_parameters == Some(false) {
            view.call
                .input()
                .keys()
                .filter(|name| !known.contains(&name.as_str()))
                .for_each(|name| refuse(format!("`{}` is not known", name.escape_debug())));
        }
    }

    /// The arguments of a call the rule means by a name.
    fn arguments<'c>(&self, view: &'c Action, name: &str) -> Vec<(&'c str, &'c Value)> {
        let (input, own) = (view.call.input(), view.call.tool());
        catalogue::meaning_argument(input, own, self.tool, name)
    }

    fn check_calls(&self, view: &Action, session: &SessionState, found: &mut Vec<Refusal>) {
        let Some(limit) = self.rule.max_calls_per_session else {
            return;
        };
        let tool = view.call.tool();
        let calls = match self.tool {
            _ if self.key.starts_with(TO_THE_LETTER) => session.calls_under(tool),
            Some(limited) => session.calls_counted_for(limited),
            None => session.calls_of(tool),
        };
        if calls >= limit {
            found.push(Refusal {
                rule: "rate_limit".into(),
                reason: format!(
                    "Tool '{tool}' was called {calls} times in this session; {limit} are allowed"
                ),
            });
        }
    }

    fn check_restrictions(
        &self,
        view: &Action,
        around: &Surroundings<'_>,
        found: &mut Vec<Refusal>,
    ) {
        for restriction in &self.rule.restrictions {
            let (rule, problem) = match restriction {
                Restriction::PathPattern { deny } => {
                    ("path_pattern", forbidden_path(deny, view, around))
                }
                Restriction::SizeLimit { max_bytes } => ("size_limit", oversize(*max_bytes, view)),
                Restriction::UrlScheme { allow } => ("url_scheme", wrong_scheme(allow, view)),
            };
            found.extend(problem.map(|reason| Refusal {
                rule: rule.into(),
                reason,
            }));
        }
    }
}

fn forbidden_path(deny: &[String], view: &Action, around: &Surroundings<'_>) -> Option<String> {
    let patterns = PathPatterns::new(deny);
    view.paths().iter().find_map(|path| {
        let pattern = patterns.matching(&Subject::from_path(&path.text, around))?;
        Some(format!(
            "Path `{}` is protected (matches `{pattern}`)",
            path.text
        ))
    })
}

fn oversize(max_bytes: u64, view: &Action) -> Option<String> {
    let mut largest = 0u64;
    for value in view.call.input().values() {
        collect_texts(value, &mut |text| {
            largest = largest.max(u64::try_from(text.len()).unwrap_or(u64::MAX));
        });
    }
    (largest > max_bytes)
        .then(|| format!("An argument has {largest} bytes; {max_bytes} are allowed"))
}

fn wrong_scheme(allow: &[String], view: &Action) -> Option<String> {
    let mut problem = None;
    for value in view.call.input().values() {
        collect_texts(value, &mut |text| {
            if let Some(scheme) = scheme_of(text)
                && !allow
                    .iter()
                    .any(|allowed| allowed.eq_ignore_ascii_case(scheme))
            {
                problem.get_or_insert(format!("Scheme `{scheme}` is not allowed"));
            }
        });
    }
    problem
}

/// The scheme of an address: what stands before `://`, or before `:` for schemes that need no more.
fn scheme_of(text: &str) -> Option<&str> {
    const BARE: &[&str] = &[
        "blob",
        "data",
        "dict",
        "file",
        "ftp",
        "gopher",
        "http",
        "https",
        "jar",
        "javascript",
        "ldap",
        "mailto",
        "ssh",
    ];
    let (scheme, rest) = text.trim_start().split_once(':')?;
    let plain = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let bare = || BARE.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    (plain && (rest.starts_with("//") || (bare() && !rest.starts_with(' ')))).then_some(scheme)
}

impl CompiledCondition {
    fn new(condition: &Condition) -> Self {
        let starts_with = condition.command_starts_with.clone();
        Self {
            command_matches: condition
                .command_matches
                .as_deref()
                .map(|pattern| Patterns::new([pattern])),
            command_written: condition.command_matches.clone(),
            command_means: CommandPatterns::new(condition.command_matches.as_deref()),
            command_starts_with: starts_with
                .as_deref()
                .map(|text| text.split_whitespace().map(str::to_owned).collect()),
            command_starts_meaning: Values::new(starts_with.as_slice()),
            path_matches: condition.path_matches.as_deref().map(Glob::new),
            facts: condition.facts.clone(),
        }
    }

    /// What it says of a command, as it is written.
    fn spelled(&self) -> Option<String> {
        let start = self.command_starts_with.as_ref();
        let start = start.map(|words| Glob::escape(&words.join(" ")));
        self.command_written.clone().or(start)
    }

    fn specificity(&self) -> usize {
        let command = self.command_matches.as_ref();
        let path = self.path_matches.as_ref().map(Glob::specificity);
        let words = self
            .command_starts_with
            .iter()
            .flatten()
            .map(|word| word.chars().count());
        command
            .map(|patterns| patterns.specificity(0))
            .into_iter()
            .chain(path)
            .chain(words)
            .sum()
    }

    fn holds(
        &self,
        purpose: Purpose,
        view: &Action,
        command: Option<usize>,
        around: &Surroundings<'_>,
    ) -> bool {
        let part = command.and_then(|index| view.commands.get(index));
        let tightens = purpose == Purpose::Tighten;
        let command_holds = self.command_matches.as_ref().is_none_or(|patterns| {
            let written = self.command_written.as_deref().unwrap_or_default();
            let star = LastStar::MayBeMissing;
            part.is_some_and(|part| {
                (!patterns.matching(part.line(), star).is_empty()
                    && (tightens || reach::stays(written, part.line(), part, around)))
                    || (tightens && !self.command_means.matching(part, star).is_empty())
            })
        });
        let start_holds = self.command_starts_with.as_ref().is_none_or(|words| {
            part.is_some_and(|part| {
                let mut line = part.line().split(' ');
                words.iter().all(|word| line.next() == Some(word))
                    || (tightens
                        && !self
                            .command_starts_meaning
                            .contained_in_command(part)
                            .is_empty())
            })
        });
        let path_holds = self.path_matches.as_ref().is_none_or(|glob| {
            let mut paths = view
                .paths()
                .iter()
                .filter(|path| path.command == command)
                .peekable();
            match purpose {
                Purpose::Tighten => paths.any(|path| {
                    let place = around.resolve(&path.text);
                    glob.matches(&path.text) || place.is_ok_and(|place| glob.matches(&place))
                }),
                Purpose::Loosen => {
                    paths.peek().is_some()
                        && paths.all(|path| {
                            // The place itself must match, or the text if it leads nowhere else.
                            around.resolve(&path.text).is_ok_and(|place| {
                                glob.matches(&place)
                                    || (glob.matches(&path.text) && place.ends_with(&path.text))
                            })
                        })
                }
            }
        });
        command_holds && start_holds && path_holds
    }
}

impl Parameter {
    /// What is wrong with a value, if anything.
    fn problem(&self, value: &Value) -> Option<String> {
        if let Some(kind) = self.kind
            && !kind.fits(value)
        {
            return Some(format!("must be {}", kind.as_str()));
        }
        if let Some(values) = &self.one_of
            && !values.contains(value)
        {
            return Some("is not one of the accepted values".into());
        }
        if self.min_length.is_some() || self.max_length.is_some() {
            let Value::String(text) = value else {
                return Some("must be text".into());
            };
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            if self.min_length.is_some_and(|least| length < least) {
                return Some(format!("has {length} characters, too few"));
            }
            if self.max_length.is_some_and(|most| length > most) {
                return Some(format!("has {length} characters, too many"));
            }
        }
        if let Some(pattern) = &self.pattern {
            let fits = value.as_str().is_some_and(|text| pattern.0.is_match(text));
            if !fits {
                return Some(format!("must match `{}`", pattern.0.as_str()));
            }
        }
        if self.minimum.is_some() || self.maximum.is_some() {
            let fits = value.as_f64().is_some_and(|number| {
                self.minimum.is_none_or(|least| number >= least)
                    && self.maximum.is_none_or(|most| number <= most)
            });
            if !fits {
                return Some("is not a number in the accepted range".into());
            }
        }
        None
    }
}

impl ParameterType {
    fn fits(self, value: &Value) -> bool {
        match self {
            ParameterType::String => value.is_string(),
            ParameterType::Number => value.is_number(),
            ParameterType::Integer => value.is_i64() || value.is_u64(),
            ParameterType::Boolean => value.is_boolean(),
            ParameterType::Array => value.is_array(),
            ParameterType::Object => value.is_object(),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            ParameterType::String => "text",
            ParameterType::Number => "a number",
            ParameterType::Integer => "a whole number",
            ParameterType::Boolean => "true or false",
            ParameterType::Array => "an array",
            ParameterType::Object => "an object",
        }
    }
}

/// The template with `{argument}` replaced; a name that is not an argument shows all of them, so
/// that a person never approves a sentence with a hole in it (O-10). What is filled in is text,
/// never another template.
fn fill_in(template: &str, tool: Option<&'static Tool>, view: &Action) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(&before.replace("}}", "}"));
        if let Some(after) = after.strip_prefix('{') {
            text.push('{');
            rest = after;
            continue;
        }
        let Some((name, after)) = after.split_once('}') else {
            text.push('{');
            rest = after;
            break;
        };
        let mut value = String::new();
        let given = catalogue::meaning_argument(view.call.input(), view.call.tool(), tool, name);
        // Where several arguments could be meant, none is left out.
        match given.as_slice() {
            [(_, argument)] => push_python_str(&mut value, argument),
            _ => {
                let _ = write!(value, "{}", Value::Object(view.call.input().clone()));
            }
        }
        push_shown(&mut text, &value);
        rest = after;
    }
    text.push_str(&rest.replace("}}", "}"));
    text
}

/// Adds a value for a person's eyes: line breaks stay, what a terminal would act on is escaped.
fn push_shown(text: &mut String, value: &str) {
    for c in value.chars() {
        if c.is_control() && c != '\n' {
            text.extend(c.escape_debug());
        } else {
            text.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use serde_json::json;

    fn filled(template: &str) -> String {
        let call = ToolCall::new("t", json!({"file_path": "a{b}.txt", "n": 2})).unwrap();
        fill_in(template, None, &Action::of(&call))
    }

    #[test]
    fn placeholders_take_arguments_and_nothing_is_filled_twice() {
        assert_eq!(filled("Edit {file_path}? ({n})"), "Edit a{b}.txt? (2)");
        assert_eq!(filled("{{literal}} {n}"), "{literal} 2");
        assert_eq!(filled("open {"), "open {");
    }

    #[test]
    fn a_missing_argument_shows_them_all() {
        assert_eq!(
            filled("Run {command}"),
            r#"Run {"file_path":"a{b}.txt","n":2}"#
        );
    }
}
