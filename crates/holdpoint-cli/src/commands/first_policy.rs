//! The policy file a user starts with, and the schema beside it.
//!
//! `holdpoint init` writes it where there is none. It says what holds without it, too; what it adds is a place to
//! write rules in, and a `$schema` line by which editors complete and check them. The schema is a file beside
//! it, so that nobody has to reach a network, and it is that of the program that wrote it.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use holdpoint_core::policy::Profile;
use holdpoint_engine::store::{is_absent, make_private_directory, write_whole};
use holdpoint_engine::{Locations, Recorder, json_schema};
use holdpoint_ledger::Kind;
use serde_json::json;

use crate::terminal::{Terminal, escape_for_display};

/// The schema's name, beside the policy.
const SCHEMA: &str = "permissions.schema.json";

/// The file's text, on top of a profile.
fn text(profile: Profile) -> String {
    let about = match profile == Profile::Balanced {
        true => "As it stands it says what holds without it; `holdpoint profiles` lists others.",
        false => "`holdpoint profiles` says what the profile means, and lists others.",
    };
    format!(
        r#"// Your policy for AI agents. {about}
// Rules: "allow", "ask", "deny", "files", "network", "guards". Try them: `holdpoint policy test` and `policy lint`.
{{
  "$schema": "./permissions.schema.json",
  "profile": "{}"
}}
"#,
        profile.name()
    )
}

/// What is asked of whoever has no policy yet.
const QUESTION: &str = "\
How should Holdpoint answer your agents? You can change it later: `profile` in your policy.

  balanced   It objects: what is dangerous is refused, or you are asked. Everything else is left to the agent's own
             permission prompts, as if Holdpoint were not there.
  autopilot  Fewer prompts: what it has read to the end and what stays within the project (looking around, editing,
             building, testing, committing) is allowed, and the agent's own prompts for it go away. What nobody can
             read before it runs runs inside the sandbox (`holdpoint doctor` says if there is one here), or you are
             asked. What is dangerous is refused or asked about as in balanced.

Which one? [balanced]/autopilot: ";

/// Asks which profile a first policy is to start from.
pub(super) fn asked_profile(terminal: &mut Terminal) -> anyhow::Result<Profile> {
    write!(terminal.out, "{QUESTION}")?;
    terminal.out.flush()?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer)? == 0 {
        bail!("nobody answered: nothing was changed");
    }
    match answer.trim() {
        "" | "b" | "balanced" => Ok(Profile::Balanced),
        "a" | "autopilot" => Ok(Profile::Autopilot),
        other => bail!(
            "`{}` is neither of them: nothing was changed",
            escape_for_display(other, 60)
        ),
    }
}

/// A first policy that is to be written.
pub(super) struct FirstPolicy {
    file: PathBuf,
    profile: Profile,
}

impl FirstPolicy {
    /// The file, if this user has no policy and none is named in its place.
    pub(super) fn missing(locations: &Locations) -> Option<Self> {
        let file = locations
            .user
            .clone()
            .filter(|_| locations.named.is_none())?;
        is_absent(&file).then_some(Self {
            file,
            profile: Profile::Balanced,
        })
    }

    /// The same on top of another profile.
    pub(super) fn starting_from(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Shows what would be written.
    pub(super) fn show(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let path = escape_for_display(&self.file.display().to_string(), 500);
        writeln!(terminal.out, "{path}")?;
        for line in text(self.profile).lines() {
            writeln!(terminal.out, "+ {line}")?;
        }
        Ok(())
    }

    /// Writes it, and the schema first: an editor that opens one looks for the other.
    pub(super) fn write(
        &self,
        locations: &Locations,
        terminal: &mut Terminal,
    ) -> anyhow::Result<()> {
        let what = json!({ "action": "init", "file": self.file.display().to_string() });
        Recorder::at(locations)?.changes(Kind::PolicyChange, None, &what)?;
        let cannot = || format!("{}: it cannot be written", self.file.display());
        let directory = self.file.parent().unwrap_or(Path::new("."));
        make_private_directory(directory).with_context(cannot)?;
        let schema = serde_json::to_string_pretty(&json_schema())?;
        write_whole(&directory.join(SCHEMA), format!("{schema}\n").as_bytes())
            .with_context(cannot)?;
        write_whole(&self.file, text(self.profile).as_bytes()).with_context(cannot)?;
        writeln!(
            terminal.out,
            "Your rules go into {}; editors find the schema beside it.",
            escape_for_display(&self.file.display().to_string(), 500)
        )?;
        Ok(())
    }
}
