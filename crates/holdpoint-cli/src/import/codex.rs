//! Codex: `config.toml`, and the commands in its `.rules`.

use holdpoint_agents::own_rules::codex_rules;
use holdpoint_core::Glob;

use super::Imported;

pub(super) fn read(name: &str, text: &str, into: &mut Imported) -> Result<(), String> {
    match name.ends_with(".rules") {
        true => rules(text, into),
        false => settings(text, into),
    }
}

fn settings(text: &str, into: &mut Imported) -> Result<(), String> {
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let word = |key: &str| table.get(key).and_then(toml::Value::as_str);
    match word("approval_policy") {
        Some("untrusted") => into.set("defaultPolicy", "ask"),
        Some("on-request" | "on-failure") => into.left(
            "approval_policy",
            "it stays Codex's own: where no rule speaks, the policy leaves the call to it",
        ),
        Some("never") => into.left(
            "approval_policy",
            "running without questions is not carried over: what the packs ask about is asked",
        ),
        Some(_) => into.left("approval_policy", "it is no policy known here"),
        None if table.contains_key("approval_policy") => {
            into.set("defaultPolicy", "ask");
            into.tighter(
                "approval_policy",
                "its parts cannot be expressed: what no rule speaks of is asked about",
            );
        }
        None => {}
    }
    match word("sandbox_mode") {
        Some("read-only") => into.set("autonomy", "readonly"),
        Some("workspace-write") => into.left(
            "sandbox_mode",
            "Codex's own sandbox stays; what nobody can read before it runs is contained by the profile `balanced`",
        ),
        Some(_) => into.left("sandbox_mode", "it stays Codex's own"),
        None => {}
    }
    if let Some(sandbox) = table.get("sandbox_workspace_write") {
        for root in sandbox
            .get("writable_roots")
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
        {
            let place = format!("sandbox_workspace_write.writable_roots: {root}");
            into.left(place, "places outside the workspace are judged as such: allow them with `files.write.allow` or `sandbox.write`");
        }
    }
    let servers = table.get("mcp_servers").and_then(toml::Value::as_table);
    for (server, settings) in servers.into_iter().flatten() {
        let listed = |key: &str| -> Vec<String> {
            let tools = settings.get(key).and_then(toml::Value::as_array);
            let tools = tools.into_iter().flatten().filter_map(toml::Value::as_str);
            tools.map(|tool| format!("mcp__{server}__{tool}")).collect()
        };
        for tool in listed("disabled_tools") {
            into.push(&["deny", "tools"], tool);
        }
        if settings.get("enabled_tools").is_some() {
            let place = format!("mcp_servers.{server}.enabled_tools");
            into.left(
                place,
                "Codex offers no others; the policy says nothing about them",
            );
        }
    }
    Ok(())
}

/// The commands of `prefix_rule`, every spelling of one.
fn rules(text: &str, into: &mut Imported) -> Result<(), String> {
    for rule in codex_rules(text)? {
        let list = match rule.decision.as_str() {
            "forbidden" => "deny",
            "prompt" => "ask",
            "allow" => "allow",
            _ => {
                into.push(&["ask", "patterns"], "*");
                into.tighter(
                    rule.decision,
                    "the decision is not known here: every command is asked about",
                );
                continue;
            }
        };
        let mut lines = vec![String::new()];
        for spellings in &rule.pattern {
            // A rule of a few words with a few spellings each; what is more is no rule people write.
            if lines.len().saturating_mul(spellings.len()) > 256 {
                return Err("a rule has more than 256 spellings: split it".into());
            }
            lines = lines
                .iter()
                .flat_map(|line| spellings.iter().map(move |word| format!("{line}{word} ")))
                .collect();
        }
        for line in lines {
            match line.contains(['*', '?', '[', '\'', '"']) && list == "allow" {
                true => into.left(
                    line.trim_end(),
                    "an allow with signs of patterns in it is not carried over",
                ),
                // Codex compares words; a sign of patterns in one is itself.
                false => into.push(&[list, "patterns"], format!("{}*", Glob::escape(&line))),
            }
        }
    }
    Ok(())
}
