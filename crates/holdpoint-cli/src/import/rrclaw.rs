//! RRClaw: `[security]` of its `config.toml`.

use serde_json::json;

use super::Imported;

/// The tools of RRClaw besides `shell`, which in full mode run without a question.
const TOOLS: &[&str] = &[
    "file_read",
    "file_write",
    "git",
    "http_request",
    "self_info",
    "config",
    "routine",
    "skill",
];

pub(super) fn read(text: &str, into: &mut Imported) -> Result<(), String> {
    let whole: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let security = whole.get("security").and_then(toml::Value::as_table);
    let security = security.ok_or("it has no `[security]`: name a config.toml of RRClaw")?;
    let words = |key: &str| -> Result<Vec<String>, String> {
        let problem = || format!("`security.{key}` is not a list of texts");
        match security.get(key) {
            None => Ok(Vec::new()),
            Some(list) => {
                let list = list.as_array().ok_or_else(problem)?.iter();
                list.map(|item| item.as_str().map(str::to_owned).ok_or_else(problem))
                    .collect()
            }
        }
    };
    let autonomy = match security.get("autonomy").map(|it| it.as_str()) {
        None => "supervised",
        Some(Some(word)) => word,
        Some(None) => return Err("`security.autonomy` is not a text".into()),
    };
    let commands = words("allowed_commands")?;
    match autonomy.to_lowercase().as_str() {
        "readonly" | "read_only" => into.set("autonomy", "locked"),
        "supervised" => {
            into.set("autonomy", "supervised");
            if !commands.is_empty() {
                into.left(
                    "security.allowed_commands",
                    "it holds in full mode only; a person answers for every call",
                );
            }
        }
        // Commands on the list run, all others are refused; tools run.
        "full" => {
            into.set("autonomy", "full");
            into.set("defaultPolicy", "deny");
            for command in &commands {
                into.push(&["allow", "patterns"], format!("{command} *"));
            }
            for tool in TOOLS.iter().filter(|tool| **tool != "config") {
                into.push(&["allow", "tools"], *tool);
            }
            into.push(&["allow", "patterns"], "memory_*(*");
            into.tighter("security.autonomy", "in full mode the tool `config` is denied: it changes the gate itself, and so are tools with names of their own");
        }
        _ => {
            return Err(format!(
                "`security.autonomy` is none of readonly, supervised, full: `{}`",
                autonomy.escape_debug()
            ));
        }
    }
    for path in words("blocked_paths")? {
        into.push(&["files", "blocked"], path);
    }
    let hosts = words("http_allowed_hosts")?;
    match hosts.is_empty() {
        // Whether it then allows all or none, its document does not say.
        true if security.contains_key("http_allowed_hosts") => into.left(
            "security.http_allowed_hosts",
            "it names no host: write `network.others` if all are to be denied",
        ),
        true => {}
        false => {
            let network = json!({"private": "deny", "allow": hosts, "others": "deny"});
            into.set("network", network);
            into.tighter(
                "security.http_allowed_hosts",
                "hosts that are not listed are denied, to commands as well as to `http_request`",
            );
        }
    }
    let checks = security
        .get("injection_check")
        .and_then(toml::Value::as_bool);
    if checks == Some(false) {
        into.tighter(
            "security.injection_check",
            "what tools answer is looked at all the same",
        );
    }
    if security
        .get("workspace_only")
        .and_then(toml::Value::as_bool)
        == Some(false)
    {
        into.tighter(
            "security.workspace_only",
            "paths stay in the workspace, as its document says",
        );
    }
    let known = [
        "autonomy",
        "allowed_commands",
        "blocked_paths",
        "http_allowed_hosts",
        "injection_check",
        "workspace_only",
        "workspace_dir",
    ];
    for key in security.keys().filter(|key| !known.contains(&key.as_str())) {
        into.left(format!("security.{key}"), "no such key is known");
    }
    Ok(())
}
