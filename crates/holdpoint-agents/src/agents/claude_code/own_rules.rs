//! Claude Code's own rules: `permissions.deny` and `permissions.ask` of every layer of settings, and its flags.

use std::path::PathBuf;

use serde_json::Value;

use crate::own_rules::layers::{
    files_in, flag_values, has_flag, json, json_file, listed, may_name, text, texts, tool_and_what,
};
use crate::own_rules::pattern::Pattern;
use crate::own_rules::{Circumstances, Rules};

const PROGRAMS: [&str; 2] = ["claude", "claude-code"];

/// The tools that run commands.
const SHELLS: [&str; 3] = ["Bash", "PowerShell", "Monitor"];

/// The tools whose rules about paths it holds commands to as well, as far as it understands them.
const FILES: [&str; 6] = ["Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep"];

/// The modes in which a call nobody has allowed beforehand is not to run, or nothing is to be changed.
const CLOSED_MODES: [&str; 2] = ["plan", "dontAsk"];

pub(super) fn read(around: &Circumstances<'_>) -> Rules {
    let mut rules = Rules::default();
    let (files, problem) = settings(around);
    problem
        .into_iter()
        .for_each(|problem| rules.unread(problem));
    for path in files {
        match json_file(&path) {
            Ok(Some(settings)) => add_settings(&settings, around, &mut rules),
            Ok(None) => {}
            Err(problem) => rules.unread(problem),
        }
    }
    add_subagents(around, &mut rules);
    match around.arguments(&PROGRAMS) {
        Ok(all) => all
            .iter()
            .for_each(|arguments| add_flags(arguments, around, &mut rules)),
        Err(problem) => rules.unread(problem),
    }
    if let Some(mode) = around.mode.filter(|mode| CLOSED_MODES.contains(mode)) {
        rules.unread(format!("Claude Code is in its mode `{mode}`"));
    }
    rules
}

/// Every file of settings there may be, and why that may not be all.
fn settings(around: &Circumstances<'_>) -> (Vec<PathBuf>, Option<String>) {
    let managed = around.around.managed("claude-code");
    let (mut files, problem) = match files_in(&managed.join("managed-settings.d"), ".json") {
        Ok(files) => (files, None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    files.push(managed.join("managed-settings.json"));
    if let Some(own) = around.around.moved("CLAUDE_CONFIG_DIR", ".claude") {
        let names = [
            "settings.json",
            "settings.local.json",
            "remote-settings.json",
        ];
        files.extend(names.map(|name| own.join(name)));
    }
    for directory in around.project_directories() {
        let names = ["settings.json", "settings.local.json"];
        files.extend(names.map(|name| directory.join(".claude").join(name)));
    }
    (files, problem)
}

/// Rules of subagents, which stand in the heads of their files. Which of them makes a call is not known here.
fn add_subagents(around: &Circumstances<'_>, rules: &mut Rules) {
    let own = around.around.moved("CLAUDE_CONFIG_DIR", ".claude");
    let projects = around.project_directories();
    let projects = projects.iter().map(|directory| directory.join(".claude"));
    for home in own.into_iter().chain(projects) {
        let files = match files_in(&home.join("agents"), ".md") {
            Ok(files) => files,
            Err(problem) => {
                rules.unread(problem);
                continue;
            }
        };
        for path in files {
            match text(&path) {
                Ok(Some(text)) if text.contains("disallowedTools") => rules.unread(format!(
                    "{}: a subagent has rules of its own",
                    path.display()
                )),
                Ok(Some(_) | None) => {}
                Err(problem) => rules.unread(problem),
            }
        }
    }
}

fn add_settings(settings: &Value, around: &Circumstances<'_>, rules: &mut Rules) {
    let permissions = &settings["permissions"];
    for key in ["deny", "ask"] {
        rules.add_all(texts(&permissions[key]).and_then(|all| patterns(&all)));
    }
    let mode = permissions["defaultMode"].as_str();
    let closed = mode.filter(|mode| CLOSED_MODES.contains(mode));
    // What it does now says more than what it does by default.
    if let (Some(mode), None) = (closed, around.mode) {
        rules.unread(format!("Claude Code may be in its mode `{mode}`"));
    }
    let sandbox = &settings["sandbox"];
    if !matches!(sandbox["enabled"], Value::Null | Value::Bool(false)) {
        rules.unread("Claude Code's own sandbox is on, and one cannot be made inside of it");
    }
}

fn add_flags(arguments: &[String], around: &Circumstances<'_>, rules: &mut Rules) {
    let denied = flag_values(arguments, &["--disallowedTools", "--disallowed-tools"]);
    let denied: Vec<String> = denied.into_iter().flat_map(listed).collect();
    rules.add_all(patterns(&denied));
    for settings in flag_values(arguments, &["--settings", "--managed-settings"]) {
        let read = if settings.trim_start().starts_with('{') {
            json("--settings", settings).map(Some)
        } else {
            json_file(&around.around.directory.join(settings))
        };
        match read {
            Ok(Some(settings)) => add_settings(&settings, around, rules),
            // Where it is looked for may be another directory by now.
            Ok(None) => rules.unread("the file of its flag --settings was not found"),
            Err(problem) => rules.unread(problem),
        }
    }
    let mode = flag_values(arguments, &["--permission-mode"]);
    if around.mode.is_none() && mode.iter().any(|mode| CLOSED_MODES.contains(mode)) {
        rules.unread("Claude Code was started in a mode that asks for nothing");
    }
    let prompts = flag_values(arguments, &["--permission-prompts"]);
    if prompts.contains(&"none") {
        rules.unread("Claude Code was told to deny what nobody has allowed");
    }
    let agents = flag_values(arguments, &["--agents"]);
    let named = has_flag(&[arguments], &["--agents"]);
    if named && agents.iter().any(|text| text.contains("disallowedTools")) {
        rules.unread("an agent of its flag --agents has rules of its own");
    }
}

fn patterns(rules: &[impl AsRef<str>]) -> Result<Vec<Pattern>, String> {
    let mut found = Vec::new();
    for rule in rules {
        let rule = rule.as_ref();
        let (tool, what) = tool_and_what(rule)?;
        let is = |names: &[&str]| names.iter().any(|name| may_name(tool, name));
        if is(&SHELLS) {
            found.push(match what {
                None => Pattern::any(rule),
                Some(what) => match what.strip_suffix(":*") {
                    Some(prefix) => Pattern::command(rule, prefix, true),
                    None => Pattern::command(rule, what, false),
                },
            });
        } else if is(&FILES) {
            found.push(Pattern::place(rule, what.unwrap_or_default()));
        }
    }
    Ok(found)
}
