//! Copilot CLI's own rules: `--deny-tool` and `--deny-url`, what its settings deny, and its bounds for paths.

use std::path::PathBuf;

use serde_json::Value;

use crate::own_rules::layers::{
    files_in, flag_values, has_flag, json_file, listed, texts, tool_and_what,
};
use crate::own_rules::pattern::Pattern;
use crate::own_rules::{Circumstances, Rules};

const PROGRAMS: [&str; 1] = ["copilot"];

/// How deep settings are looked through. They are two or three deep.
const MAX_DEPTH: usize = 12;

pub(super) fn read(around: &Circumstances<'_>) -> Rules {
    let mut rules = Rules::default();
    let mut files: Vec<PathBuf> = Vec::new();
    for directory in ["", "policy.d"] {
        match files_in(
            &around.around.managed("github-copilot").join(directory),
            ".json",
        ) {
            Ok(found) => files.extend(found),
            Err(problem) => rules.unread(problem),
        }
    }
    if let Some(own) = around.around.moved("COPILOT_HOME", ".copilot") {
        files.extend(["config.json", "settings.json"].map(|name| own.join(name)));
    }
    for directory in around.project_directories() {
        let names = ["settings.json", "settings.local.json"];
        files.extend(names.map(|name| directory.join(".github/copilot").join(name)));
    }
    for path in files {
        match json_file(&path) {
            Ok(Some(settings)) => add_settings(&settings, 0, &mut rules),
            Ok(None) => {}
            Err(problem) => rules.unread(problem),
        }
    }
    match around.arguments(&PROGRAMS) {
        Ok(all) => {
            for arguments in &all {
                let denied = flag_values(arguments, &["--deny-tool"]);
                let denied: Vec<String> = denied.into_iter().flat_map(listed).collect();
                rules.add_all(denied_tools(&denied));
                for url in flag_values(arguments, &["--deny-url"]) {
                    rules.add(Pattern::place(url, host(url)));
                }
            }
            if !has_flag(&all, &["--allow-all-paths", "--allow-all", "--yolo"]) {
                rules.add(Pattern::path_outside(
                    "paths outside of the directory are asked about",
                ));
            }
        }
        Err(problem) => rules.unread(problem),
    }
    rules
}

/// Whatever settings deny. Only addresses can be denied there; what else says so is of a release nobody here knows.
fn add_settings(settings: &Value, depth: usize, rules: &mut Rules) {
    if depth > MAX_DEPTH {
        return rules.unread("Copilot's settings are too deep");
    }
    let inner: Vec<(&str, &Value)> = match settings {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect(),
        Value::Array(all) => all.iter().map(|value| ("", value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    for (key, value) in inner {
        let is_empty = match value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(all) => all.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
        };
        let lower = key.to_lowercase();
        if is_empty {
            continue;
        } else if lower == "deniedurls" {
            let urls = texts(value);
            rules.add_all(urls.map(|urls| {
                urls.iter()
                    .map(|url| Pattern::place(url, host(url)))
                    .collect()
            }));
        } else if lower.contains("deny") || lower.contains("denied") || lower.contains("disallow") {
            rules.unread(format!(
                "Copilot's settings have `{key}`, which nobody here can read"
            ));
        } else if lower == "sandbox" {
            rules.unread("Copilot's own sandbox may be on, and one cannot be made inside of it");
        } else {
            add_settings(value, depth + 1, rules);
        }
    }
}

/// What stands for a host in an address.
fn host(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = behind.split(['/', ':']).next().unwrap_or(behind);
    host.trim_start_matches("*.")
}

fn denied_tools(rules: &[String]) -> Result<Vec<Pattern>, String> {
    let mut found = Vec::new();
    for rule in rules {
        let (tool, what) = tool_and_what(rule)?;
        match (
            tool.to_lowercase().as_str(),
            what.filter(|what| !what.is_empty()),
        ) {
            ("shell" | "bash" | "powershell" | "write" | "url" | "*", None) => {
                found.push(Pattern::any(rule));
            }
            ("shell" | "bash" | "powershell", Some(what)) => {
                let prefix = what.strip_suffix(":*");
                found.push(Pattern::command(rule, prefix.unwrap_or(what), true));
            }
            ("write", Some(path)) => found.push(Pattern::place(rule, path)),
            ("url", Some(url)) => found.push(Pattern::place(rule, host(url))),
            // A server's tool runs no command line.
            (_, _) => {}
        }
    }
    Ok(found)
}
