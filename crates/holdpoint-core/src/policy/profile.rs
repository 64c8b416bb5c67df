//! The ready-made policies: ordinary policy files, compiled into the binary.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use super::document::{Document, FileRules, Files, RuleList};
use crate::document::{self, DocumentError};

/// The policies shipped with Holdpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Guards judge; nothing else has an opinion.
    Balanced,
    /// As balanced, and what is understood and stays within a few clauses is allowed without a question.
    Autopilot,
    /// Ask about everything no rule allows.
    Strict,
    /// Look, never touch.
    Readonly,
    /// A person reviews everything; deletion never runs.
    Paranoid,
    /// jaato's permission plugin.
    Jaato,
    /// The Claude Code safety hooks.
    Hooks,
    /// Obra's tool policy, and its detector as its code has it: high and critical are rejected.
    Obra,
    /// The same with its detector as its configuration has it: medium is rejected, too (X-06).
    #[serde(rename = "obra-config")]
    ObraConfig,
    /// adh-cli's supervision levels.
    Adh,
    /// RRClaw's autonomy and path sandbox.
    Rrclaw,
}

impl Profile {
    /// All of them, the default first.
    pub const ALL: [Profile; 11] = [
        Profile::Balanced,
        Profile::Autopilot,
        Profile::Strict,
        Profile::Readonly,
        Profile::Paranoid,
        Profile::Jaato,
        Profile::Hooks,
        Profile::Obra,
        Profile::ObraConfig,
        Profile::Adh,
        Profile::Rrclaw,
    ];

    /// The name used in `"profile": "…"`.
    pub fn name(self) -> &'static str {
        self.shipped().0
    }

    /// The text of the file.
    pub fn text(self) -> &'static str {
        self.shipped().1
    }

    fn shipped(self) -> (&'static str, &'static str) {
        macro_rules! shipped {
            ($name:literal) => {
                (
                    $name,
                    include_str!(concat!("../../../../profiles/", $name, ".json")),
                )
            };
        }
        match self {
            Profile::Balanced => shipped!("balanced"),
            Profile::Autopilot => shipped!("autopilot"),
            Profile::Strict => shipped!("strict"),
            Profile::Readonly => shipped!("readonly"),
            Profile::Paranoid => shipped!("paranoid"),
            Profile::Jaato => shipped!("jaato"),
            Profile::Hooks => shipped!("hooks"),
            Profile::Obra => shipped!("obra"),
            Profile::ObraConfig => shipped!("obra-config"),
            Profile::Adh => shipped!("adh"),
            Profile::Rrclaw => shipped!("rrclaw"),
        }
    }

    /// The document, read like any other.
    pub fn document(self) -> Result<Document, DocumentError> {
        document::read(
            &format!("profile `{}`", self.name()),
            self.text().as_bytes(),
        )
    }
}

impl Document {
    /// This document on top of the profile it names: lists grow, single values are replaced.
    pub fn with_profile(self) -> Result<Document, DocumentError> {
        let Some(profile) = self.profile else {
            return Ok(self);
        };
        let mut base = profile.document()?;
        join(&mut base.deny, self.deny);
        join(&mut base.blacklist, self.blacklist);
        join(&mut base.ask, self.ask);
        join(&mut base.allow, self.allow);
        join(&mut base.whitelist, self.whitelist);
        base.tools.extend(self.tools);
        base.files = match (base.files, self.files) {
            (Some(ours), Some(theirs)) => Some(ours.joined(theirs)),
            (ours, theirs) => theirs.or(ours),
        };
        base.network = match (base.network, self.network) {
            (Some(ours), Some(theirs)) => Some(ours.joined(theirs)),
            (ours, theirs) => theirs.or(ours),
        };
        base.guards = match (base.guards, self.guards) {
            (Some(ours), Some(theirs)) => Some(ours.joined(theirs)),
            (ours, theirs) => theirs.or(ours),
        };
        base.redaction = match (base.redaction, self.redaction) {
            (Some(ours), Some(theirs)) => Some(ours.joined(theirs)),
            (ours, theirs) => theirs.or(ours),
        };
        base.injection = match (base.injection, self.injection) {
            (Some(ours), Some(theirs)) => Some(ours.joined(theirs)),
            (ours, theirs) => theirs.or(ours),
        };
        base.sandbox = match (base.sandbox, self.sandbox) {
            (Some(ours), Some(theirs)) => Some(ours.joined(theirs)),
            (ours, theirs) => theirs.or(ours),
        };
        Ok(Document {
            opaque: self.opaque.or(base.opaque),
            schema: self.schema,
            version: self.version.or(base.version),
            profile: Some(profile),
            mode: self.mode.or(base.mode),
            default_policy: self.default_policy.or(base.default_policy),
            sanitization: self.sanitization.or(base.sanitization),
            channel: self.channel.or(base.channel),
            approval: self.approval.or(base.approval),
            autonomy: self.autonomy.or(base.autonomy),
            on_error: self.on_error.or(base.on_error),
            reply: self.reply.or(base.reply),
            ledger: self.ledger.or(base.ledger),
            external: self.external,
            ..base
        })
    }
}

fn join(ours: &mut Option<RuleList>, theirs: Option<RuleList>) {
    if let Some(theirs) = theirs {
        ours.get_or_insert_default().extend(theirs);
    }
}

impl RuleList {
    /// Adds the rules of another list.
    pub(super) fn extend(&mut self, other: RuleList) {
        self.tools.extend(other.tools);
        self.patterns.extend(other.patterns);
        self.effects.extend(other.effects);
        for (tool, named) in other.arguments {
            let entry = self.arguments.entry(tool).or_default();
            for (argument, values) in named {
                entry.entry(argument).or_default().extend(values);
            }
        }
    }
}

impl Files {
    fn joined(mut self, other: Files) -> Files {
        self.roots.extend(other.roots);
        self.blocked.extend(other.blocked);
        self.read.join(other.read);
        self.write.join(other.write);
        self.delete.join(other.delete);
        self
    }
}

impl FileRules {
    fn join(&mut self, other: FileRules) {
        self.deny.extend(other.deny);
        self.ask.extend(other.ask);
        self.allow.extend(other.allow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_profile_reads_and_says_what_its_default_is() {
        for profile in Profile::ALL {
            let document = profile.document().unwrap();
            assert!(
                document.default_policy.is_some() || document.autonomy.is_some(),
                "{} states neither",
                profile.name()
            );
            assert_eq!(document.profile, None, "profiles do not extend each other");
        }
    }

    #[test]
    fn a_file_adds_to_the_profile_it_names() {
        let document: Document = document::read(
            "test",
            br#"{"profile": "strict", "allow": {"tools": ["Read"]}, "defaultPolicy": "deny"}"#,
        )
        .unwrap();
        let whole = document.with_profile().unwrap();
        assert_eq!(whole.default_policy, Some(crate::DefaultPolicy::Deny));
        assert_eq!(whole.allow.unwrap().tools, ["Read"]);
    }
}
