//! Settings of other tools as a policy: what `holdpoint import` is made of.
//!
//! Nothing gets looser in silence. What a policy cannot say exactly becomes tighter or is left out, and
//! either way it is in the report. What is made is a text of its own; nothing is read of it but what a
//! person could have written.

mod adh;
mod claude_code;
mod codex;
mod hooks;
mod jaato;
mod rrclaw;
mod yaml;

use std::fmt::Write;

use clap::ValueEnum;
use holdpoint_core::policy::Document;
use holdpoint_core::{Glob, document};
use serde_json::{Map, Value, json};

/// The largest file of settings that is read: as large as a policy may be.
pub const MAX_SETTINGS: u64 = 4 << 20;

/// Whose settings they are. What is said of each stands in `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum From {
    /// Claude Code: `permissions` of a settings.json
    ClaudeCode,
    /// Codex: config.toml, and .rules with commands
    Codex,
    /// jaato: permissions.json
    Jaato,
    /// adh-cli: policies and preferences in YAML
    Adh,
    /// RRClaw: `[security]` of a config.toml
    Rrclaw,
    /// Safety hooks: scripts with DENY_PATTERNS, ASK_PATTERNS, BLOCKED_FILES, CONFIRM_FILES
    Hooks,
}

/// What became of something that could not be carried over as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the policy, and stricter than it was.
    Tighter,
    /// It is not in the policy.
    Left,
}

impl Outcome {
    /// The words for it in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Tighter => "tighter",
            Outcome::Left => "left out",
        }
    }
}

/// A line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Where it stands in the settings.
    pub place: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, and what to do about it.
    pub why: String,
}

/// Why settings could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// They are not of their format.
    #[error("{0}: {1}")]
    Unread(String, String),
    /// What was made of them is no policy: a fault of ours, and nothing is written.
    #[error("what became of it is no policy ({0}): nothing is written")]
    NoPolicy(String),
}

/// A policy that is being made of somebody's settings.
#[derive(Debug, Default)]
pub struct Imported {
    policy: Map<String, Value>,
    remarks: Vec<Remark>,
}

impl Imported {
    /// Reads settings, several files in the order in which they count.
    pub fn read(from: From, files: &[(String, Vec<u8>)]) -> Result<Self, ImportError> {
        let mut imported = Self::default();
        imported.set("version", "1.0");
        match from {
            From::ClaudeCode => imported.start("balanced"),
            From::Codex => imported.start("balanced"),
            From::Jaato => imported.start("jaato"),
            From::Adh => imported.start("adh"),
            From::Rrclaw => imported.start("rrclaw"),
            From::Hooks => imported.start("hooks"),
        }
        for (name, bytes) in files {
            let unread = |problem: String| ImportError::Unread(name.clone(), problem);
            let text = std::str::from_utf8(bytes)
                .map_err(|_| unread("it is not UTF-8 text".into()))?
                .trim_start_matches('\u{feff}');
            match from {
                From::ClaudeCode => claude_code::read(name, text, &mut imported),
                From::Codex => codex::read(name, text, &mut imported),
                From::Jaato => jaato::read(name, text, &mut imported),
                From::Adh => adh::read(text, &mut imported),
                From::Rrclaw => rrclaw::read(text, &mut imported),
                From::Hooks => hooks::read(name, text, &mut imported),
            }
            .map_err(unread)?;
        }
        imported.drop_answered_allows();
        let text = imported.text();
        document::read::<Document>("the policy", text.as_bytes())
            .map_err(|error| ImportError::NoPolicy(error.message()))?;
        Ok(imported)
    }

    /// What could not be carried over as it was.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The policy as a file.
    pub fn text(&self) -> String {
        let mut text =
            String::from("// Made by `holdpoint import`; what it says is yours to change.\n");
        for remark in &self.remarks {
            let line = format!(
                "{} ({}): {}",
                remark.place,
                remark.outcome.as_str(),
                remark.why
            );
            let line: String = line.chars().filter(|c| !c.is_control()).collect();
            let _ = writeln!(text, "// {line}");
        }
        let whole = serde_json::to_string_pretty(&self.policy).unwrap_or_default();
        text.push_str(&whole);
        text.push('\n');
        text
    }

    fn start(&mut self, profile: &str) {
        self.set("profile", profile);
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.policy.insert(key.to_owned(), value.into());
    }

    /// Adds an item to the list at a path, once.
    fn push(&mut self, path: &[&str], item: impl Into<Value>) {
        let item = item.into();
        let Some((last, above)) = path.split_last() else {
            return;
        };
        let mut at = &mut self.policy;
        for key in above {
            let next = at.entry((*key).to_owned()).or_insert_with(|| json!({}));
            match next.as_object_mut() {
                Some(object) => at = object,
                None => return,
            }
        }
        let list = at.entry((*last).to_owned()).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut()
            && !list.contains(&item)
        {
            list.push(item);
        }
    }

    fn say(&mut self, place: impl Into<String>, outcome: Outcome, why: impl Into<String>) {
        self.remarks.push(Remark {
            place: place.into(),
            outcome,
            why: why.into(),
        });
    }

    fn tighter(&mut self, place: impl Into<String>, why: impl Into<String>) {
        self.say(place, Outcome::Tighter, why);
    }

    fn left(&mut self, place: impl Into<String>, why: impl Into<String>) {
        self.say(place, Outcome::Left, why);
    }

    /// An allow that is denied or asked about as well goes: elsewhere the stricter of two rules counts, and here
    /// an allow that spells out as much as a question answers it.
    fn drop_answered_allows(&mut self) {
        for kind in ["tools", "patterns"] {
            for (stricter, why) in [
                ("deny", "it is allowed and denied: the denial counts"),
                ("blacklist", "it is allowed and denied: the denial counts"),
                ("ask", "it is allowed and asked about: the question counts"),
            ] {
                let strict = self.texts(&[stricter, kind]);
                let globs: Vec<Glob> = match kind == "patterns" {
                    true => strict.iter().map(|written| Glob::new(written)).collect(),
                    false => Vec::new(),
                };
                for list in ["allow", "whitelist"] {
                    self.drop_from(&[list, kind], why, |allowed| {
                        strict.iter().any(|one| one == allowed)
                            || globs.iter().any(|glob| glob.matches(allowed))
                    });
                }
            }
        }
        for kind in ["read", "write"] {
            let asks = self.at(&["files", kind, "ask"]).is_some();
            let why =
                "other paths are asked about, and an allowed path would answer for those in it";
            self.drop_from(&["files", kind, "allow"], why, |_| asks);
        }
        let hosts: Vec<Glob> = self
            .texts(&["network", "ask"])
            .iter()
            .map(|host| Glob::new(host))
            .collect();
        let why = "it is allowed and asked about: the question counts";
        self.drop_from(&["allow", "arguments", "WebFetch", "url"], why, |address| {
            let host = address.trim_start_matches("https://").trim_end_matches('/');
            hosts.iter().any(|glob| glob.matches(host))
        });
    }

    /// Takes items out of the list at a path, and says so.
    fn drop_from(&mut self, path: &[&str], why: &str, goes: impl Fn(&str) -> bool) {
        let all = self.texts(path);
        let (gone, stay): (Vec<String>, Vec<String>) = all.into_iter().partition(|item| goes(item));
        if gone.is_empty() {
            return;
        }
        self.remove(path);
        for item in stay {
            self.push(path, item);
        }
        for item in gone {
            self.left(item, why);
        }
    }

    /// Removes the value at a path, and every object that is empty without it.
    fn remove(&mut self, path: &[&str]) {
        fn within(object: &mut Map<String, Value>, path: &[&str]) {
            let Some((first, rest)) = path.split_first() else {
                return;
            };
            if let Some(inner) = object.get_mut(*first).and_then(Value::as_object_mut)
                && !rest.is_empty()
            {
                within(inner, rest);
                if !inner.is_empty() {
                    return;
                }
            }
            object.remove(*first);
        }
        within(&mut self.policy, path);
    }

    fn at(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(self.policy.get(*first)?, |at, key| at.get(*key))
    }

    fn texts(&self, path: &[&str]) -> Vec<String> {
        let items = self
            .at(path)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests;
