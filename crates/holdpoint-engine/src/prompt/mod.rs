//! Prompts for agents: eleven sections in their order, and text from elsewhere that cannot pass for any of them.
//!
//! Pure: no files, clock or randomness; the secret that makes boundaries unguessable is an argument. What a person or a template
//! says are orders and stand as they are; all else is inspected, and stands between two lines that carry a boundary which nobody
//! who wrote it can have known, and which is not in it. The digest is of what was said, not of the boundary.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use holdpoint_core::digest_of;
use holdpoint_core::plan::{Kind, Manifest};
use holdpoint_core::text::inspection::Terms;
use holdpoint_core::text::{Action, Origin, escape_for_display};
use serde::Deserialize;

/// The sections, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Who the agent is and what it may do.
    IdentityAndPermissions,
    /// What is to be achieved.
    Objective,
    /// What it should know.
    Context,
    /// How it should think.
    Reasoning,
    /// What it hands over.
    Deliverables,
    /// When that is accepted.
    Acceptance,
    /// How it plans.
    Planning,
    /// What must hold before it goes on.
    ExecutionGates,
    /// What it does when something fails.
    Errors,
    /// What it tells.
    Observability,
    /// What protects the person it works for.
    SecurityControls,
}

impl Section {
    /// Every section, in order.
    pub const ALL: [Section; 11] = [
        Section::IdentityAndPermissions,
        Section::Objective,
        Section::Context,
        Section::Reasoning,
        Section::Deliverables,
        Section::Acceptance,
        Section::Planning,
        Section::ExecutionGates,
        Section::Errors,
        Section::Observability,
        Section::SecurityControls,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Section::IdentityAndPermissions => "Identity and permissions",
            Section::Objective => "Objective",
            Section::Context => "Context",
            Section::Reasoning => "Reasoning",
            Section::Deliverables => "Deliverables",
            Section::Acceptance => "Acceptance",
            Section::Planning => "Planning",
            Section::ExecutionGates => "Execution gates",
            Section::Errors => "Errors",
            Section::Observability => "Observability",
            Section::SecurityControls => "Security controls",
        }
    }
}

type Texts = BTreeMap<Section, String>;

#[derive(Deserialize)]
struct Templates {
    standing: Texts,
    kinds: BTreeMap<Kind, Texts>,
}

/// Why a prompt is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// A text holds orders to the model.
    #[error(
        "`{name}` is not put into a prompt: it {what} ({rule}): read it yourself, and take that out or leave it away"
    )]
    Refused {
        /// What the text is called.
        name: String,
        /// The worst that was found in it.
        what: String,
        /// The rule that found it.
        rule: String,
    },
    /// The templates cannot be read.
    #[error(
        "the templates of prompts cannot be read ({0}): this program is damaged, install it again"
    )]
    Templates(String),
    /// There is nothing to achieve.
    #[error("the prompt has no objective: say what is to be achieved")]
    NoObjective,
}

/// Text from elsewhere.
#[derive(Clone, Debug)]
struct Untrusted {
    name: String,
    origin: Origin,
    text: String,
}

/// A prompt that is put together.
#[derive(Clone, Debug)]
pub struct Prompt {
    sections: Texts,
    untrusted: Vec<Untrusted>,
}

/// A prompt as it is handed to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// All of it.
    pub text: String,
    /// The digest of what it says: the same whenever the same is put together, whatever the boundary.
    pub digest: String,
    /// What stands in both lines around each text from elsewhere.
    pub boundary: String,
    /// What was found in those texts and does not keep them out.
    pub notes: Vec<String>,
}

impl Prompt {
    /// What is always said, and what is said for a kind of task.
    pub fn of_kind(kind: Kind) -> Result<Self, PromptError> {
        let templates: Templates = serde_json::from_str(include_str!("templates.json"))
            .map_err(|error| PromptError::Templates(error.to_string()))?;
        let mut sections = templates.standing;
        for (own, texts) in templates.kinds {
            if own == kind {
                sections.extend(texts);
            }
        }
        Ok(Self {
            sections,
            untrusted: Vec::new(),
        })
    }

    /// The same for a plan: its objective, stories, criteria, constraints and phases. What a manifest says is inspected, since an
    /// agent may have written it.
    pub fn of_plan(manifest: &Manifest, kind: Kind) -> Result<Self, PromptError> {
        let objective = &manifest.objective;
        let mut stories = format!("{}\n", objective.summary);
        let mut acceptance = String::new();
        for story in &objective.user_stories {
            // A text in memory takes whatever is written to it.
            let _ = writeln!(
                stories,
                "- As {}, I want {}, so that {}.",
                story.as_a, story.i_want, story.so_that
            );
            acceptance.push_str(&listed(&story.acceptance_criteria));
        }
        acceptance.push_str(&listed(&objective.success_criteria));
        let mut phases = String::new();
        for (number, phase) in (1..).zip(&manifest.plan.phases) {
            let _ = writeln!(phases, "Phase {number}: {}", phase.name);
            phases.push_str(&listed(&phase.tasks));
        }
        let mut prompt = Self::of_kind(kind)?;
        for (section, text) in [
            (Section::Objective, stories),
            (Section::Context, listed(&manifest.constraints)),
            (Section::Acceptance, acceptance),
            (Section::Planning, phases),
        ] {
            admitted(&manifest.meta.epic_id, Origin::File, &text)?;
            prompt = prompt.with(section, &text);
        }
        Ok(prompt)
    }

    /// Adds to a section what whoever calls this wants said: it stands there as an order.
    #[must_use]
    pub fn with(mut self, section: Section, text: &str) -> Self {
        let text = text.trim();
        if !text.is_empty() {
            let known = self.sections.entry(section).or_default();
            if !known.is_empty() {
                known.push_str("\n\n");
            }
            known.push_str(text);
        }
        self
    }

    /// Adds a text from elsewhere, as data for the section on context.
    #[must_use]
    pub fn with_untrusted(mut self, name: &str, origin: Origin, text: &str) -> Self {
        self.untrusted.push(Untrusted {
            name: name.to_owned(),
            origin,
            text: text.to_owned(),
        });
        self
    }

    /// Puts it together. `secret` are random bytes, new ones for each prompt: who knows them can end a fence.
    pub fn build(&self, secret: &[u8; 32]) -> Result<Built, PromptError> {
        if !self.sections.contains_key(&Section::Objective) {
            return Err(PromptError::NoObjective);
        }
        let mut notes = Vec::new();
        for one in &self.untrusted {
            notes.extend(admitted(&one.name, one.origin, &one.text)?);
        }
        let boundary = self.boundary(secret);
        Ok(Built {
            text: self.text(&boundary),
            digest: digest_of(self.said().as_bytes()),
            boundary,
            notes,
        })
    }

    /// A boundary that none of the texts holds, nor any of what a reader may take for it.
    fn boundary(&self, secret: &[u8]) -> String {
        let mut number: u64 = 0;
        loop {
            let seed = [secret, &number.to_be_bytes()].concat();
            let digest = digest_of(&seed);
            let name: String = digest.chars().filter(char::is_ascii_hexdigit).collect();
            // `sha256:` has hexadecimal digits of its own.
            let name: String = name.chars().rev().take(40).collect();
            let held = |text: &str| {
                let plain = text.chars().filter(char::is_ascii_hexdigit);
                plain
                    .collect::<String>()
                    .to_ascii_lowercase()
                    .contains(&name)
            };
            let texts = self.untrusted.iter();
            if !texts
                .flat_map(|one| [&one.text, &one.name])
                .any(|text| held(text))
            {
                return name;
            }
            number = number.saturating_add(1);
        }
    }

    fn text(&self, boundary: &str) -> String {
        let mut text = String::new();
        for (number, section) in (1..).zip(Section::ALL) {
            let _ = writeln!(text, "## {number}. {}\n", section.title());
            let said = self.sections.get(&section).map(String::as_str);
            let said = said.filter(|said| !said.is_empty());
            let _ = writeln!(
                text,
                "{}\n",
                said.unwrap_or("Nothing besides the other sections.")
            );
            if section == Section::Context {
                for one in &self.untrusted {
                    let name = escape_for_display(&one.name, MAX_NAME);
                    let _ = writeln!(
                        text,
                        "BEGIN UNTRUSTED {boundary} origin={} name={name}\n{}\nEND UNTRUSTED {boundary}\n",
                        one.origin.name(),
                        one.text,
                    );
                }
            }
        }
        text
    }

    /// All that is said, each piece with its length, so that no two prompts say the same in two ways.
    fn said(&self) -> String {
        let mut said = String::new();
        let mut add = |what: &str, text: &str| {
            let _ = writeln!(said, "{what} {}\n{text}", text.len());
        };
        for section in Section::ALL {
            let text = self.sections.get(&section);
            add(section.title(), text.map_or("", String::as_str));
        }
        for one in &self.untrusted {
            add(one.origin.name(), &one.name);
            add("text", &one.text);
        }
        said
    }
}

/// The longest name of a text that is shown.
const MAX_NAME: usize = 200;

fn listed(items: &[String]) -> String {
    items.iter().map(|one| format!("- {one}\n")).collect()
}

/// What was found in a text that may stand in a prompt; one with orders in it may not.
fn admitted(name: &str, origin: Origin, text: &str) -> Result<Option<String>, PromptError> {
    let inspection = Terms::default().look(text, origin);
    let worst = inspection.findings.iter().max_by_key(|one| one.severity);
    let Some(worst) = worst else {
        return Ok(None);
    };
    let name = escape_for_display(name, MAX_NAME);
    let what = worst.family.deed().to_owned();
    match inspection.action {
        Action::Quarantine | Action::Block => Err(PromptError::Refused {
            name,
            what,
            rule: worst.rule.to_string(),
        }),
        Action::Annotate => Ok(Some(format!("`{name}` {what} ({})", worst.rule))),
        Action::Pass => Ok(None),
    }
}
