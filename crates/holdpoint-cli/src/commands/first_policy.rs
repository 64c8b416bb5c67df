//! The policy file a user starts with, and the schema beside it.
//!
//! `holdpoint init` writes it where there is none. It says what holds without it, too; what it adds is a place to
//! write rules in, and a `$schema` line by which editors complete and check them. The schema is a file beside
//! it, so that nobody has to reach a network, and it is that of the program that wrote it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use holdpoint_engine::store::{is_absent, make_private_directory, write_whole};
use holdpoint_engine::{Locations, Recorder, json_schema};
use holdpoint_ledger::Kind;
use serde_json::json;

use crate::terminal::{Terminal, escape_for_display};

/// The schema's name, beside the policy.
const SCHEMA: &str = "permissions.schema.json";

/// The file's text.
const TEXT: &str = r#"// Your policy for AI agents. As it stands it says what holds without it; `holdpoint profiles` lists others.
// Rules: "allow", "ask", "deny", "files", "network", "guards". Try them: `holdpoint policy test` and `policy lint`.
{
  "$schema": "./permissions.schema.json",
  "profile": "balanced"
}
"#;

/// A first policy that is to be written.
pub(super) struct FirstPolicy {
    file: PathBuf,
}

impl FirstPolicy {
    /// The file, if this user has no policy and none is named in its place.
    pub(super) fn missing(locations: &Locations) -> Option<Self> {
        let file = locations
            .user
            .clone()
            .filter(|_| locations.named.is_none())?;
        is_absent(&file).then_some(Self { file })
    }

    /// Shows what would be written.
    pub(super) fn show(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let path = escape_for_display(&self.file.display().to_string(), 500);
        writeln!(terminal.out, "{path}")?;
        for line in TEXT.lines() {
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
        write_whole(&self.file, TEXT.as_bytes()).with_context(cannot)?;
        writeln!(
            terminal.out,
            "Your rules go into {}; editors find the schema beside it.",
            escape_for_display(&self.file.display().to_string(), 500)
        )?;
        Ok(())
    }
}
