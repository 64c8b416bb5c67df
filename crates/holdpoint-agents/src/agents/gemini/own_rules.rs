//! Gemini CLI's own rules: its policies, and the tools its settings and extensions take from it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::own_rules::layers::{
    files_in, flag_values, json_file, listed, may_name, texts, toml_file, tool_and_what,
};
use crate::own_rules::pattern::Pattern;
use crate::own_rules::{Circumstances, Rules};

const PROGRAMS: [&str; 2] = ["gemini", "gemini-cli"];

/// The names of its shell, in policies and in settings.
const SHELLS: [&str; 2] = ["run_shell_command", "ShellTool"];

pub(super) fn read(around: &Circumstances<'_>) -> Rules {
    let mut rules = Rules::default();
    let machine = around.around.managed("gemini-cli");
    let moved = (around.around.variable)("GEMINI_CLI_HOME").map(PathBuf::from);
    let mut homes: Vec<PathBuf> = moved.iter().map(|home| home.join(".gemini")).collect();
    homes.extend(around.around.in_home(".gemini"));
    homes.extend(
        around
            .project_directories()
            .iter()
            .map(|one| one.join(".gemini")),
    );
    let variables = [
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    ];
    let named = variables.map(|name| (around.around.variable)(name).map(PathBuf::from));
    let mut settings = vec![
        machine.join("settings.json"),
        machine.join("system-defaults.json"),
    ];
    settings.extend(named.into_iter().flatten());
    settings.extend(homes.iter().map(|home| home.join("settings.json")));
    let mut policies = vec![machine.join("policies")];
    policies.extend(homes.iter().map(|home| home.join("policies")));
    for home in &homes {
        match files_in(&home.join("extensions"), "") {
            Ok(extensions) => {
                settings.extend(
                    extensions
                        .iter()
                        .map(|one| one.join("gemini-extension.json")),
                );
                policies.extend(extensions.iter().map(|one| one.join("policies")));
            }
            Err(problem) => rules.unread(problem),
        }
    }
    for path in settings {
        match json_file(&path) {
            Ok(Some(found)) => policies.extend(add_settings(&found, around, &mut rules)),
            Ok(None) => {}
            Err(problem) => rules.unread(problem),
        }
    }
    match around.arguments(&PROGRAMS) {
        Ok(all) => {
            for arguments in all {
                let named = flag_values(arguments, &["--policy", "--admin-policy"]);
                let paths = named.into_iter().flat_map(|paths| paths.split(','));
                policies.extend(paths.map(|path| around.around.directory.join(path.trim())));
                let excluded = flag_values(arguments, &["--exclude-tools"]);
                let excluded: Vec<String> = excluded.into_iter().flat_map(listed).collect();
                rules.add_all(excluded_tools(&excluded));
            }
        }
        Err(problem) => rules.unread(problem),
    }
    for path in policies {
        add_policies(&path, &mut rules);
    }
    rules
}

/// The rules in settings, and the places of policies they name.
fn add_settings(settings: &Value, around: &Circumstances<'_>, rules: &mut Rules) -> Vec<PathBuf> {
    let tools = &settings["tools"];
    let excluded = [
        &settings["excludeTools"],
        &tools["exclude"],
        &tools["confirmationRequired"],
    ];
    for listed in excluded {
        rules.add_all(texts(listed).and_then(|tools| excluded_tools(&tools)));
    }
    // A list of what it may run forbids everything else.
    for listed in [&settings["coreTools"], &tools["core"]] {
        match texts(listed) {
            Ok(tools) => {
                let narrow = |tool: &&&str| {
                    SHELLS.iter().any(|shell| tool.starts_with(shell)) && tool.contains('(')
                };
                if let Some(tool) = tools.iter().find(narrow) {
                    rules.add(Pattern::any(&format!("nothing but {tool}")));
                }
            }
            Err(problem) => rules.unread(problem),
        }
    }
    let mut named = Vec::new();
    for paths in [&settings["policyPaths"], &settings["adminPolicyPaths"]] {
        match texts(paths) {
            Ok(paths) => named.extend(paths.iter().map(|path| around.around.directory.join(path))),
            Err(problem) => rules.unread(problem),
        }
    }
    named
}

fn excluded_tools(tools: &[impl AsRef<str>]) -> Result<Vec<Pattern>, String> {
    let mut found = Vec::new();
    for rule in tools {
        let rule = rule.as_ref();
        let (tool, what) = tool_and_what(rule)?;
        if SHELLS.iter().any(|shell| may_name(tool, shell)) {
            found.push(match what {
                None => Pattern::any(rule),
                Some(what) => Pattern::command(rule, what, true),
            });
        }
    }
    Ok(found)
}

/// The rules of a file of policies, or of all in a directory.
fn add_policies(path: &Path, rules: &mut Rules) {
    if path.is_dir() {
        match files_in(path, ".toml") {
            Ok(files) => files.iter().for_each(|file| add_policy(file, rules)),
            Err(problem) => rules.unread(problem),
        }
    } else {
        add_policy(path, rules);
    }
}

fn add_policy(path: &Path, rules: &mut Rules) {
    let shown = path.display();
    match toml_file(path) {
        Ok(Some(table)) => {
            for key in ["rule", "safety_checker"] {
                match table.get(key) {
                    None => {}
                    Some(toml::Value::Array(all)) => {
                        for rule in all {
                            rules.add_all(policy_rule(&shown.to_string(), rule));
                        }
                    }
                    Some(_) => rules.unread(format!("{shown}: `{key}` is not a list of tables")),
                }
            }
        }
        Ok(None) => {}
        Err(problem) => rules.unread(problem),
    }
}

/// What a rule of a policy forbids or asks about.
fn policy_rule(file: &str, rule: &toml::Value) -> Result<Vec<Pattern>, String> {
    let decision = rule.get("decision").and_then(toml::Value::as_str);
    if decision == Some("allow") || rule.get("mcpName").is_some() {
        return Ok(Vec::new());
    }
    let said = |what: &str| format!("{file}: {} {what}", decision.unwrap_or("a check of"));
    if let Some(named) = rule.get("toolName") {
        let tools = toml_texts(file, named)?;
        let is_shell = |tool: &&str| SHELLS.iter().any(|shell| may_name(tool, shell));
        if !tools.iter().any(is_shell) {
            return Ok(Vec::new());
        }
    }
    match rule.get("commandPrefix") {
        Some(prefixes) if rule.get("commandRegex").is_none() => Ok(toml_texts(file, prefixes)?
            .into_iter()
            .map(|prefix| Pattern::command(&said(prefix), prefix, true))
            .collect()),
        // What a regular expression of another language matches is not told here.
        Some(_) | None => Ok(vec![Pattern::any(&said("any command"))]),
    }
}

fn toml_texts<'a>(file: &str, value: &'a toml::Value) -> Result<Vec<&'a str>, String> {
    let not_text = || format!("{file}: a rule names something that is not a text");
    match value {
        toml::Value::String(text) => Ok(vec![text]),
        toml::Value::Array(all) => all
            .iter()
            .map(|one| one.as_str().ok_or_else(not_text))
            .collect(),
        toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Table(_) => Err(not_text()),
    }
}
