//! Packs as text: a user's own, loaded at run time, and the shipped ones with their examples.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::format::{CaseEntry, Example, OneOrMany, PackFile};
use super::{Case, Help, PACKS, Rule, TARGETS, Texts, traces, words};
use crate::call::{ToolCall, digest_of};
use crate::facts::{FactConditions, StatedFacts};
use crate::sql::StatementKind;
use crate::stores::StoreKind;
use crate::verdict::{Method, Risk, Verdict};

/// The longest pack that is read.
const MAX_LENGTH: usize = 1 << 20;

/// A pack, with its rules and their examples.
#[derive(Clone, Debug)]
pub struct Pack {
    name: String,
    title: String,
    digest: String,
    rules: Vec<Rule>,
    examples: Vec<(Vec<ExampleCall>, Vec<ExampleCall>)>,
}

/// Why a pack cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackError(pub(super) String);

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PackError {}

impl Pack {
    /// The packs that are compiled in.
    pub fn shipped() -> Result<Vec<Self>, PackError> {
        PACKS
            .iter()
            .map(|(name, _, text)| Self::read(name, text))
            .collect()
    }

    /// Reads a pack; `place` names it in errors.
    pub fn read(place: &str, text: &str) -> Result<Self, PackError> {
        if text.len() > MAX_LENGTH {
            return Err(PackError(format!(
                "{place}: the pack has {} bytes; at most {MAX_LENGTH} are read: split it",
                text.len()
            )));
        }
        let file: PackFile = toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .and_then(|span| text.get(..span.start))
                .map_or(1, |before| before.matches('\n').count() + 1);
            PackError(format!(
                "{place}:{line}: {}",
                error.message().replace('\n', "; ")
            ))
        })?;
        let method = match file.method.as_deref() {
            None | Some("guard") => Method::Guard,
            Some("file_guard") => Method::FileGuard,
            Some("self_protection") => Method::SelfProtection,
            Some(other) => {
                return Err(PackError(format!(
                    "{place}: unknown method `{other}`: use `guard` or `file_guard`"
                )));
            }
        };
        let mut rules: Vec<Rule> = Vec::new();
        let mut examples = Vec::new();
        for entry in file.rule {
            let id = entry.id;
            let wrong = |what: String| PackError(format!("{place}: rule `{id}`: {what}"));
            if !id.starts_with(&format!("{}.", file.pack)) {
                return Err(wrong(format!("its id must begin with `{}.`", file.pack)));
            }
            if rules.iter().any(|rule| rule.id == id) {
                return Err(wrong("it stands twice".to_owned()));
            }
            if entry.matches.is_empty() || entry.not_matches.is_empty() {
                return Err(wrong(
                    "it needs an example that matches and one that does not".into(),
                ));
            }
            if entry.when.is_empty() {
                return Err(wrong("it needs at least one [[rule.when]]".into()));
            }
            let help = Help::read(entry.tell, entry.rewrite).map_err(&wrong)?;
            let verdict = Verdict::from_word(&entry.verdict)
                // One that only helps objects to nothing.
                .filter(|verdict| *verdict > Verdict::Allow || help.is_some())
                .ok_or_else(|| {
                    let verdict = &entry.verdict;
                    wrong(format!(
                        "unknown verdict `{verdict}`: use notify, contain, ask, review or deny, or allow for a rule that only tells or rewrites"
                    ))
                })?;
            let risk = Risk::from_word(&entry.risk).ok_or_else(|| {
                let risk = &entry.risk;
                wrong(format!(
                    "unknown risk `{risk}`: use low, medium, high or critical"
                ))
            })?;
            let cases: Result<Vec<Case>, String> = entry.when.into_iter().map(case).collect();
            let tried = |list: Vec<Example>| -> Result<Vec<ExampleCall>, PackError> {
                let read = list.into_iter().map(example);
                read.collect::<Result<_, String>>().map_err(&wrong)
            };
            let tried = (tried(entry.matches)?, tried(entry.not_matches)?);
            rules.push(Rule {
                pack: Cow::Owned(file.pack.clone()),
                method,
                verdict,
                risk,
                reason: Cow::Owned(entry.reason),
                instead: Cow::Owned(entry.instead),
                when: Cow::Owned(cases.map_err(&wrong)?),
                help,
                id: Cow::Owned(id),
            });
            examples.push(tried);
        }
        Ok(Self {
            name: file.pack,
            title: file.title,
            digest: digest_of(text.as_bytes()),
            rules,
            examples,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is about.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// `sha256:…` of its text.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Its rules: id, verdict, risk, reason and what to do instead.
    pub fn descriptions(&self) -> impl Iterator<Item = Description<'_>> {
        self.rules
            .iter()
            .zip(&self.examples)
            .map(|(rule, (matches, not_matches))| Description {
                id: &rule.id,
                verdict: rule.verdict,
                risk: rule.risk,
                reason: &rule.reason,
                instead: &rule.instead,
                matches,
                not_matches,
            })
    }
}

/// A rule as it is shown and tried.
#[derive(Clone, Debug)]
pub struct Description<'p> {
    /// Its id.
    pub id: &'p str,
    /// What it wants.
    pub verdict: Verdict,
    /// How much harm it sees.
    pub risk: Risk,
    /// Why.
    pub reason: &'p str,
    /// What to do instead.
    pub instead: &'p str,
    /// Calls it must match.
    pub matches: &'p [ExampleCall],
    /// Calls it must not match.
    pub not_matches: &'p [ExampleCall],
}

/// A call a rule is tried with.
#[derive(Clone, Debug)]
pub struct ExampleCall {
    /// As it is written.
    pub text: String,
    /// The call.
    pub call: ToolCall,
    /// What is so besides.
    pub facts: StatedFacts,
}

fn example(example: Example) -> Result<ExampleCall, String> {
    let (text, call, facts) = match example {
        Example::Line(line) => (line.clone(), ToolCall::shell(&line), None),
        Example::LineWhere { line, facts } => (line.clone(), ToolCall::shell(&line), Some(facts)),
        Example::Call { tool, input, facts } => {
            let text = format!("{tool} {}", Value::Object(input.clone()));
            let call = ToolCall::new(&tool, Value::Object(input));
            // A call nobody can make matches nothing; the test of the pack shows it.
            (text, call.unwrap_or_else(|_| ToolCall::shell("")), facts)
        }
    };
    Ok(match facts {
        Some(facts) => ExampleCall {
            text: format!("{text} where {facts}"),
            call,
            facts: StatedFacts::from_value(facts)?,
        },
        None => ExampleCall {
            text,
            call,
            facts: StatedFacts::default(),
        },
    })
}

fn case(entry: CaseEntry) -> Result<Case, String> {
    let mask = |field: OneOrMany, known: &[&str], what: &str| {
        field.into_list().iter().try_fold(0, |mask, word| {
            words::bit(known, word)
                .map(|bit| mask | bit)
                .ok_or_else(|| format!("unknown {what} `{word}`: use one of {}", known.join(", ")))
        })
    };
    let kinds = entry.sql.clone().into_list();
    let known = |kind: &String| {
        StatementKind::from_word(kind).is_some() || StoreKind::from_word(kind).is_some()
    };
    if let Some(kind) = kinds.iter().find(|kind| !known(kind)) {
        let known: Vec<&str> = StatementKind::all().map(StatementKind::as_str).collect();
        return Err(format!(
            "unknown kind of statement `{kind}`: use one of {}",
            known.join(", ")
        ));
    }
    let path = texts(entry.path);
    Ok(Case {
        program: texts(entry.program),
        subcommand: texts(entry.subcommand),
        not_subcommand: texts(entry.not_subcommand),
        flags: texts(entry.flags),
        without: texts(entry.without),
        operands: texts(entry.operands),
        not_operands: texts(entry.not_operands),
        least_operands: entry.least_operands,
        most_operands: entry.most_operands,
        words: texts(entry.words),
        effect: mask(entry.effect, words::EFFECTS, "effect")?,
        target: mask(entry.target, TARGETS, "target")?,
        path_marks: path
            .iter()
            .map(|pattern| traces::mark_of_path_pattern(pattern))
            .collect(),
        path,
        not_path: texts(entry.not_path),
        host: texts(entry.host),
        not_host: texts(entry.not_host),
        recursive: entry.recursive,
        forced: entry.forced,
        sql: texts(entry.sql),
        opaque: mask(entry.opaque, words::OPAQUE, "reason")?,
        assigns: texts(entry.assigns),
        not_program: texts(entry.not_program),
        within: texts(entry.within),
        not_within: texts(entry.not_within),
        tool: texts(entry.tool),
        facts: (entry.facts)
            .map(|facts| FactConditions::from_value(facts).map(Box::new))
            .transpose()?,
    })
}

fn texts(field: OneOrMany) -> Texts {
    Cow::Owned(field.into_list().into_iter().map(Cow::Owned).collect())
}
