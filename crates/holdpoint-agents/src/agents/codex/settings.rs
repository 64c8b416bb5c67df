//! Codex: `hooks.json` beside its configuration, the record that it trusts our entries, and the
//! machine's `requirements.toml`.
//!
//! Codex skips a hook whose hash nobody has approved, without a word when nobody is there to read
//! one. So the approval is registered with the hook: the user who runs `init` gives it.

use std::fs;
use std::path::Path;

use holdpoint_core::digest_of;
use serde_json::{Value, json};

use crate::setup::block::{Block, line_end};
use crate::setup::hooks::{ASKING, Event, Hooks, OnFailure, READING, TIMEOUT};
use crate::setup::{
    Around, Call, Dialect, Entry, Files, Form, FormError, Host, MAX_SETTINGS, Part,
};
use crate::setup::{Places, Scope, SetupError, Switch, broken, probe};
use holdpoint_engine::store::read_bounded;

/// OpenAI's Codex CLI.
pub(crate) static HOST: Host = Host {
    name: "codex",
    title: "Codex",
    programs: &["codex"],
    home: |around| around.moved("CODEX_HOME", ".codex"),
    files: Files::Own(hooks_and_trust),
    switched_off_by: Switch::unless_managed(
        "`/hooks`, `[features] hooks = false` or any change of the entry, which takes Codex's trust from it",
    ),
    canary: |directory| {
        let mut payload = probe::common("PreToolUse", "Bash", directory);
        if let Some(payload) = payload.as_object_mut() {
            payload.insert("turn_id".into(), probe::SESSION.into());
            payload.insert("tool_use_id".into(), probe::SESSION.into());
        }
        payload
    },
    dialect: Dialect::Strict,
    shows_results: true,
    remark: Some((
        Scope::Project,
        "Codex runs a project's hooks only where you have told it to trust the project",
    )),
};

/// A call is asked about, and what its sandbox or its rules would have the user asked; then what came of
/// it, what the user writes and when the turn ends. There is no switch that closes, so the line does.
static HOOKS: Hooks = Hooks {
    agent: "codex",
    events: &[
        Event::new("PreToolUse", Some("*"), ASKING, OnFailure::Close),
        Event::new("PermissionRequest", Some("*"), ASKING, OnFailure::Close),
        Event::new("PostToolUse", Some("*"), READING, OnFailure::Close),
        Event::new("UserPromptSubmit", None, READING, OnFailure::GoOn),
        Event::new("Stop", None, READING, OnFailure::Silent),
    ],
    forbidden_keys: &["async"],
    ..Hooks::GROUPED
};

const PLACES: Places = Places {
    user: "hooks.json",
    project: ".codex/hooks.json",
    local: None,
    managed: Some("codex/requirements.toml"),
};

/// The hooks and the record that they are trusted, which a machine's own need not be.
fn hooks_and_trust(
    host: &Host,
    scope: Scope,
    around: &Around,
    program: &str,
) -> Result<Vec<Part>, SetupError> {
    let hooks = PLACES.path(host, scope, around)?;
    if scope == Scope::Managed {
        return Ok(vec![Part::new(hooks, Requirements)]);
    }
    let trust = Trust::for_hooks(&hooks, program)?;
    let home = host.home(around).ok_or(SetupError::NoHome)?;
    Ok(vec![
        Part::new(hooks, &HOOKS),
        Part::new(home.join("config.toml"), trust),
    ])
}

/// The record, in the user's `config.toml`, that our entries are trusted.
struct Trust {
    /// The key and the hash of each.
    records: Vec<(String, String)>,
    /// Whether an entry has something in it of which the hash is not known.
    unknown: bool,
}

impl Trust {
    /// What is to be trusted once `hooks` holds the entries for `program`.
    fn for_hooks(hooks: &Path, program: &str) -> Result<Self, SetupError> {
        let text = read_bounded(hooks, MAX_SETTINGS)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or_default();
        let named = real_name(hooks);
        let problem = |problem| broken(hooks, problem);
        let (after, _) = HOOKS.registered(&text, program).map_err(problem)?;
        let mut trust = Self {
            records: Vec::new(),
            unknown: false,
        };
        for entry in HOOKS.positions(&after, program).map_err(problem)? {
            let event = snake_case(entry.event);
            let key = format!("{named}:{event}:{}:{}", entry.group, entry.handler);
            trust.unknown |= entry.extras;
            if !entry.extras {
                let hash = hash_of(
                    &event,
                    entry.matcher.as_deref(),
                    &entry.command,
                    entry.timeout.unwrap_or(TIMEOUT),
                );
                trust.records.push((key, hash));
            }
        }
        Ok(trust)
    }
}

impl Form for Trust {
    fn registered(&self, text: &str, _program: &str) -> Result<(String, bool), FormError> {
        if lines(text)
            .take_while(|(_, line)| !line.starts_with('['))
            .any(|(_, line)| value_of(line, "hooks").is_some() || line.starts_with("hooks."))
        {
            return Err(FormError::NoTable);
        }
        let mut after = text.to_owned();
        let mut known = false;
        for (key, hash) in &self.records {
            match record_in(&after, key) {
                Some(found) => {
                    known = true;
                    if found.hash != Some(json!(hash).to_string()) {
                        after.replace_range(found.span, &record(key, hash, line_end(text)));
                    }
                }
                None => {
                    let end = line_end(text);
                    if !after.is_empty() && !after.ends_with('\n') {
                        after.push_str(end);
                    }
                    if !after.is_empty() {
                        after.push_str(end);
                    }
                    after.push_str(&record(key, hash, end));
                }
            }
        }
        Ok((after, known))
    }

    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError> {
        let mut after = text.to_owned();
        for (key, _) in &self.records {
            while let Some(found) = record_in(&after, key) {
                // With the empty line in front that came with it.
                let mut start = found.span.start;
                let end = line_end(text);
                if after
                    .get(..start)
                    .is_some_and(|before| before.ends_with(&format!("{end}{end}")))
                {
                    start -= end.len();
                }
                after.replace_range(start..found.span.end, "");
            }
        }
        Ok(Some(after))
    }

    fn entries(&self, _text: &str) -> Result<Vec<Entry>, FormError> {
        Ok(Vec::new())
    }

    fn events(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn disabled_reason(&self, text: &str) -> Option<String> {
        if is_off(text) {
            return Some("`hooks` is false under `[features]` in Codex's configuration".into());
        }
        let trusted = |(key, hash): &(String, String)| {
            record_in(text, key).is_some_and(|found| found.hash == Some(json!(hash).to_string()))
        };
        (self.unknown || !self.records.iter().all(trusted)).then(|| {
            "Codex skips a hook it has not been told to trust: approve it with `/hooks` in Codex"
                .into()
        })
    }

    fn is_json(&self) -> bool {
        false
    }
}

/// The name by which Codex knows the file.
fn real_name(path: &Path) -> String {
    let real = fs::canonicalize(path).or_else(|_| {
        let parent = path.parent().unwrap_or(path);
        fs::canonicalize(parent).map(|parent| parent.join(path.file_name().unwrap_or_default()))
    });
    real.unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}

/// `PreToolUse` as it is written in keys.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// What Codex 0.166.0 computes of an entry: the digest of its meaning, keys in their order.
fn hash_of(event: &str, matcher: Option<&str>, command: &str, timeout: u64) -> String {
    let mut identity = json!({
        "event_name": event,
        "hooks": [{ "async": false, "command": command, "timeout": timeout, "type": "command" }],
    });
    if let Some(matcher) = matcher
        && let Some(identity) = identity.as_object_mut()
    {
        identity.insert("matcher".into(), matcher.into());
    }
    digest_of(identity.to_string().as_bytes())
}

fn header(key: &str) -> String {
    format!("[hooks.state.{}]", json!(key))
}

fn record(key: &str, hash: &str, end: &str) -> String {
    format!("{}{end}trusted_hash = {}{end}", header(key), json!(hash))
}

/// A record of trust in a configuration.
struct TrustRecord {
    span: std::ops::Range<usize>,
    /// As it is written.
    hash: Option<String>,
}

fn record_in(text: &str, key: &str) -> Option<TrustRecord> {
    let header = header(key);
    let mut rest = lines(text).skip_while(|(_, line)| *line != header);
    let (start, _) = rest.next()?;
    let mut found = TrustRecord {
        span: start..text.len(),
        hash: None,
    };
    for (at, line) in rest {
        // What the owner, or Codex, has put behind it is not part of it.
        if line.starts_with('[') || line.is_empty() || line.starts_with('#') {
            found.span.end = at;
            break;
        }
        if let Some(hash) = value_of(line, "trusted_hash") {
            found.hash = Some(hash.to_owned());
        }
    }
    Some(found)
}

/// Whether hooks are switched off altogether.
fn is_off(text: &str) -> bool {
    lines(text)
        .skip_while(|(_, line)| *line != "[features]")
        .skip(1)
        .take_while(|(_, line)| !line.starts_with('['))
        .any(|(_, line)| value_of(line, "hooks").is_some_and(|value| value.starts_with("false")))
}

fn value_of<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let (name, value) = line.split_once('=')?;
    (name.trim() == key).then(|| value.trim())
}

/// Each line without what surrounds it, and where it starts.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim())
    })
}

/// Our block in `requirements.toml`: trusted by policy, and nobody else can switch it off.
struct Requirements;

impl Requirements {
    fn block(text: &str) -> Result<Block<'_>, FormError> {
        Block::in_text(text)
    }

    fn content(program: &str, around: &str) -> String {
        let mut content = String::new();
        let has_table = lines(around).any(|(_, line)| line == "[hooks]");
        if !has_table {
            let directory = Path::new(program).parent().unwrap_or(Path::new("/"));
            content.push_str(&format!(
                "[hooks]\nmanaged_dir = {}\n",
                json!(directory.display().to_string())
            ));
        }
        for event in HOOKS.events {
            let name = event.name;
            let matcher = event.matcher.map_or_else(String::new, |matcher| {
                format!("matcher = {}\n", json!(matcher))
            });
            let time = event.timeout.map_or(TIMEOUT, |(_, time)| time);
            content.push_str(&format!(
                "[[hooks.{name}]]\n{matcher}[[hooks.{name}.hooks]]\ntype = \"command\"\n\
                 command = {}\ntimeout = {time}\n",
                json!(HOOKS.call_of(event, program).text())
            ));
        }
        content
    }
}

impl Form for Requirements {
    fn registered(&self, text: &str, program: &str) -> Result<(String, bool), FormError> {
        let block = Self::block(text)?;
        let content = Self::content(program, &block.around());
        Ok((block.with(&content), block.is_there()))
    }

    fn unregistered(&self, text: &str) -> Result<Option<String>, FormError> {
        Ok(Some(Self::block(text)?.around()))
    }

    fn entries(&self, text: &str) -> Result<Vec<Entry>, FormError> {
        let block = Self::block(text)?;
        let mut event = None;
        let mut entries = Vec::new();
        for (_, line) in lines(block.content()) {
            if let Some(known) = HOOKS
                .events
                .iter()
                .find(|event| line == format!("[[hooks.{}]]", event.name))
            {
                event = Some(known.name);
            }
            let command = value_of(line, "command")
                .and_then(|value| serde_json::from_str::<Value>(value).ok())
                .and_then(|value| value.as_str().map(str::to_owned));
            if let (Some(event), Some(line)) = (event, command) {
                entries.push(Entry {
                    event,
                    fails_closed: None,
                    call: Call::Line(line),
                    sees_all: true,
                });
            }
        }
        Ok(entries)
    }

    fn events(&self) -> Vec<&'static str> {
        HOOKS.events()
    }

    fn disabled_reason(&self, _text: &str) -> Option<String> {
        None
    }

    fn is_json(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/holdpoint";

    /// What `hooks/list` of Codex 0.166.0 said of these entries.
    #[test]
    fn the_hash_is_the_one_codex_computes() {
        for (event, matcher, command, timeout, expected) in [
            (
                "pre_tool_use",
                Some("*"),
                "/opt/holdpoint hook codex",
                600,
                "sha256:d5a9a48c39b994a06c54f57d7878946e7fc20fdcd9daef130c7c68c011a58ff1",
            ),
            (
                "permission_request",
                None,
                "/opt/holdpoint hook codex",
                600,
                "sha256:868d430ddccdbb70f78f0b88f2d2e36266401ab958e4fabaff03e9a18a4e852d",
            ),
            (
                "post_tool_use",
                Some("*"),
                "'/opt/my place/holdpoint' hook codex",
                30,
                "sha256:e657c9624e331729a9ed724be3b8a4a87dd728cb7f29c5db4e3b9d0b1fa3401b",
            ),
        ] {
            assert_eq!(hash_of(event, matcher, command, timeout), expected);
        }
    }

    fn trust() -> Trust {
        Trust::for_hooks(Path::new("/nowhere/hooks.json"), PROGRAM).unwrap()
    }

    #[test]
    fn trust_is_added_behind_what_is_there_and_taken_out_again() {
        for text in [
            "",
            "model = \"x\"",
            "# mine\r\nmodel = \"x\"\r\n\r\n[projects.\"/a\"]\r\ntrust_level = \"trusted\"\r\n",
            "[hooks.state.\"/other.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
        ] {
            let (after, known) = trust().registered(text, PROGRAM).unwrap();
            assert!(after.starts_with(text) && !known, "{after}");
            assert!(after.contains("[hooks.state.\"/nowhere/hooks.json:permission_request:0:0\"]"));
            assert!(toml::from_str::<toml::Table>(&after).is_ok(), "{after}");
            assert_eq!(trust().disabled_reason(&after), None);
            assert_eq!(
                trust().registered(&after, PROGRAM),
                Ok((after.clone(), true))
            );
            let left = trust().unregistered(&after).unwrap().unwrap();
            assert_eq!(left.trim_end(), text.trim_end());
            assert!(trust().disabled_reason(text).is_some());
        }
    }

    #[test]
    fn trust_in_an_old_entry_becomes_trust_in_the_new_one() {
        let (first, _) = trust().registered("", "").unwrap();
        let stale = first.replace("sha256:", "sha256:0");
        let stale = format!("{stale}\n[tui]\nx = 1\n");
        let (after, known) = trust().registered(&stale, PROGRAM).unwrap();
        assert!(known);
        assert_eq!(after, format!("{first}\n[tui]\nx = 1\n"));
    }

    #[test]
    fn a_configuration_that_cannot_be_extended_is_left_alone() {
        assert!(trust().registered("hooks = {}\n", PROGRAM).is_err());
        assert!(
            trust()
                .disabled_reason("[features]\nhooks = false\n")
                .is_some()
        );
    }

    #[test]
    fn the_machines_requirements_hold_a_block_of_ours() {
        for text in [
            "",
            "allowed_sandbox_modes = [\"read-only\"]\n",
            "# ours\n[hooks]\nmanaged_dir = \"/srv\"\n\n[[hooks.PreToolUse]]\nhooks = []",
        ] {
            let (after, _) = Requirements.registered(text, PROGRAM).unwrap();
            assert!(toml::from_str::<toml::Table>(&after).is_ok() || text.contains("hooks = []"));
            assert_eq!(Requirements.entries(&after).unwrap().len(), 5);
            assert_eq!(
                Requirements.registered(&after, PROGRAM),
                Ok((after.clone(), true))
            );
            let left = Requirements.unregistered(&after).unwrap().unwrap();
            assert_eq!(left.trim_end(), text.trim_end());
        }
    }
}
