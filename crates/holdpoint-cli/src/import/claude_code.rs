//! Claude Code: `permissions` in `settings.json`.

use holdpoint_core::document;
use serde_json::Value;

use super::Imported;

/// Which list an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Deny,
    Ask,
    Allow,
}

impl List {
    fn as_str(self) -> &'static str {
        match self {
            List::Deny => "deny",
            List::Ask => "ask",
            List::Allow => "allow",
        }
    }

    fn tightens(self) -> bool {
        self != List::Allow
    }
}

pub(super) fn read(name: &str, text: &str, into: &mut Imported) -> Result<(), String> {
    let settings: Value = document::read(name, text.as_bytes()).map_err(|error| error.message())?;
    let Some(permissions) = settings.get("permissions") else {
        return Err("it has no `permissions`: name a settings.json of Claude Code".into());
    };
    let permissions = permissions
        .as_object()
        .ok_or("`permissions` is not an object")?;
    for (key, value) in permissions {
        let place = format!("permissions.{key}");
        match key.as_str() {
            "deny" => entries(List::Deny, value, into)?,
            "ask" => entries(List::Ask, value, into)?,
            "allow" => entries(List::Allow, value, into)?,
            "defaultMode" => mode(value, into),
            "additionalDirectories" => into.left(
                place,
                "the workspace is one repository, and what is outside is judged as outside: allow single places with `files.write.allow`",
            ),
            _ => into.left(place, "it stays Claude Code's own setting"),
        }
    }
    for key in [
        "sandbox",
        "enableAllProjectMcpServers",
        "enabledMcpjsonServers",
    ] {
        if settings.get(key).is_some() {
            into.left(key, "it stays Claude Code's own setting");
        }
    }
    Ok(())
}

/// Where no rule speaks, the policy says nothing and the mode holds as before, but where it asks nobody.
fn mode(value: &Value, into: &mut Imported) {
    let place = "permissions.defaultMode";
    match value.as_str() {
        Some("default" | "acceptEdits" | "auto") => into.left(
            place,
            "it stays Claude Code's own: where no rule speaks, the policy leaves the call to it",
        ),
        Some("plan") => {
            into.set("autonomy", "readonly");
            into.tighter(
                place,
                "`plan` became autonomy `readonly`, also where the mode is changed",
            );
        }
        Some("dontAsk") => into.set("defaultPolicy", "deny"),
        Some("bypassPermissions") => into.left(
            place,
            "running without questions is not carried over: what the packs ask about is asked",
        ),
        _ => into.left(place, "it is no mode known here"),
    }
}

fn entries(list: List, value: &Value, into: &mut Imported) -> Result<(), String> {
    let problem = || format!("`permissions.{}` is not a list of texts", list.as_str());
    for item in value.as_array().ok_or_else(problem)? {
        entry(list, item.as_str().ok_or_else(problem)?.trim(), into);
    }
    Ok(())
}

fn entry(list: List, written: &str, into: &mut Imported) {
    let word = list.as_str();
    let (tool, what) = match written.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(what) => (tool.trim(), Some(what.trim())),
            None => return unclear(list, tool, written, into),
        },
        None => (written, None),
    };
    let what = what.filter(|what| !matches!(*what, "" | "*" | ":*"));
    match (tool, what) {
        ("" | "*", _) => match list.tightens() {
            true => into.push(&[word, "patterns"], "*"),
            false => into.left(
                written,
                "an allow for every tool is not carried over: name the tools",
            ),
        },
        (tool, what) if tool.starts_with("mcp__") => mcp(list, tool, what, written, into),
        (tool, None) if tool.contains(['*', '?', '[']) => unclear(list, tool, written, into),
        (tool, None) => into.push(&[word, "tools"], tool),
        ("Bash" | "PowerShell" | "Monitor", Some(what)) => command(list, what, written, into),
        ("Read" | "Grep" | "Glob" | "LS" | "NotebookRead", Some(what)) => {
            path(list, &["read"], what, written, into);
        }
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(what)) => {
            let kinds: &[&str] = match list.tightens() {
                true => &["write", "delete"],
                false => &["write"],
            };
            path(list, kinds, what, written, into);
        }
        ("WebFetch", Some(what)) => match what.strip_prefix("domain:") {
            Some(host) => domain(list, host.trim(), written, into),
            None => unclear(list, tool, written, into),
        },
        ("Agent" | "Task", Some(what)) => {
            named(list, "Agent", "subagent_type", what, written, into)
        }
        ("Skill", Some(what)) => named(list, "Skill", "skill", what, written, into),
        (tool, Some(_)) => unclear(list, tool, written, into),
    }
}

/// A rule about part of a tool that nobody here can read: a denial speaks of the whole tool, an allow of none.
fn unclear(list: List, tool: &str, written: &str, into: &mut Imported) {
    let plain = tool
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    match list.tightens() && plain && !tool.is_empty() {
        true => {
            into.push(&[list.as_str(), "tools"], tool);
            let why = format!(
                "what it says of `{tool}` cannot be expressed: it counts for the whole tool"
            );
            into.tighter(written, why);
        }
        // A glob over names: calls begin with the name.
        false if list.tightens() && what_is_glob(tool) => {
            into.push(&[list.as_str(), "patterns"], format!("{tool}(*"));
        }
        false if list.tightens() => {
            into.set("defaultPolicy", "ask");
            into.tighter(
                written,
                "it cannot be read: whatever no rule speaks of is asked about",
            );
        }
        false => into.left(
            written,
            "it cannot be expressed: such calls are asked about as before",
        ),
    }
}

fn what_is_glob(tool: &str) -> bool {
    !tool.is_empty()
        && tool
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-*?".contains(c))
}

fn command(list: List, what: &str, written: &str, into: &mut Imported) {
    // `npm run:*` is `npm run` with any words behind it.
    let pattern = match what.strip_suffix(":*") {
        Some(head) => format!("{} *", head.trim_end()),
        None => what.to_owned(),
    };
    let (program, rest) = match pattern.split_once(' ') {
        Some((program, rest)) => (program, Some(rest)),
        None => (pattern.as_str(), None),
    };
    // `npm*` is any program whose name begins so; here a star behind a name is of what the program is told.
    let Some(stem) = program
        .strip_suffix('*')
        .filter(|stem| !stem.is_empty() && !stem.contains('*'))
    else {
        into.push(&[list.as_str(), "patterns"], pattern);
        return;
    };
    let rest = rest.map(|rest| format!(" {rest}")).unwrap_or_default();
    match list.tightens() {
        true => {
            let bare = match rest.is_empty() {
                true => stem.to_owned(),
                false => format!("{stem}{rest}"),
            };
            into.push(&[list.as_str(), "patterns"], bare);
            into.push(&[list.as_str(), "patterns"], format!("{stem}?*{rest}"));
        }
        false => {
            let alone = match rest.is_empty() {
                true => format!("{stem} *"),
                false => format!("{stem}{rest}"),
            };
            into.push(&[list.as_str(), "patterns"], alone);
            let why =
                format!("it allows `{stem}` alone, and no other program whose name begins so");
            into.tighter(written, why);
        }
    }
}

fn path(list: List, kinds: &[&str], what: &str, written: &str, into: &mut Imported) {
    let Some(pattern) = pattern_of_path(list, what) else {
        return match list.tightens() {
            true => {
                for tool in match kinds.contains(&"read") {
                    true => &["Read"][..],
                    false => &["Edit", "Write"],
                } {
                    into.push(&[list.as_str(), "tools"], *tool);
                }
                into.tighter(
                    written,
                    "the path cannot be expressed: it counts for every path",
                );
            }
            false => into.left(
                written,
                "the path cannot be expressed: such calls are asked about as before",
            ),
        };
    };
    for kind in kinds {
        into.push(&["files", kind, list.as_str()], pattern.clone());
    }
}

/// The pattern for a path as `.gitignore` writes it, with `//` for the root.
fn pattern_of_path(list: List, what: &str) -> Option<String> {
    let what = what.strip_prefix("./").unwrap_or(what);
    if what.starts_with('!')
        || what.contains(['{', '\\'])
        || what.split('/').any(|part| part == "..")
    {
        return None;
    }
    let (root, path) = match what.strip_prefix("//") {
        Some(path) => ("/", path),
        None => match what.strip_prefix("~/") {
            Some(path) => ("~/", path),
            // From where the settings lie, which is the project's directory for a project's.
            None => match (what.strip_prefix('/'), list.tightens()) {
                (Some(path), true) => ("", path),
                (Some(_), false) => return None,
                (None, _) => ("", what),
            },
        },
    };
    let (path, all_below) = match path.strip_suffix("/**").or(path.strip_suffix("/*")) {
        Some(path) => (path, true),
        None => (path, path.ends_with('/')),
    };
    let path = path.trim_end_matches('/');
    // `**/x` is `x` anywhere.
    let (anywhere, path) = match path.strip_prefix("**/") {
        Some(path) => (true, path),
        None => (false, path),
    };
    if path.is_empty() || path == "**" || path == "*" {
        return Some(format!("{root}*"));
    }
    if path.contains("**") || (anywhere && path.contains('/') && !list.tightens()) {
        return None;
    }
    Some(match (list.tightens(), all_below) {
        // A directory and all in it.
        (true, true) => format!("{root}{path}/"),
        (false, true) => format!("{root}{path}/*"),
        (_, false) => format!("{root}{path}"),
    })
}

fn domain(list: List, host: &str, written: &str, into: &mut Imported) {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let is_host = !host.is_empty() && host.chars().all(plain);
    match (list, host.strip_prefix("*.").unwrap_or(host)) {
        (List::Deny | List::Ask, name) if !name.is_empty() && name.chars().all(plain) => {
            let host = match host.starts_with("*.") {
                true => format!("*.{name}"),
                false => name.to_owned(),
            };
            into.push(&["network", list.as_str()], host);
            into.tighter(written, "it holds for every command that goes there, too");
        }
        (List::Allow, name) if is_host => {
            into.push(&["allow", "arguments", "WebFetch", "url"], format!("https://{name}/"));
            into.tighter(written, "it allows addresses that begin with `https://` and the host, without a port");
        }
        (List::Allow, _) => into.left(
            written,
            "hosts with wildcards are not allowed by one rule: such calls are asked about as before",
        ),
        (List::Deny | List::Ask, _) => unclear(list, "WebFetch", written, into),
    }
}

fn mcp(list: List, tool: &str, what: Option<&str>, written: &str, into: &mut Imported) {
    let word = list.as_str();
    if what.is_some() {
        return unclear(list, tool, written, into);
    }
    let server = tool
        .strip_prefix("mcp__")
        .unwrap_or_default()
        .trim_end_matches("__*");
    match (server.contains("__"), tool.contains(['*', '?'])) {
        (true, false) => into.push(&[word, "tools"], tool),
        (true, true) => into.push(&[word, "patterns"], format!("{tool}(*")),
        // The whole server; a denial of every server has no name in it.
        (false, _) if server.is_empty() || server.contains(['*', '?']) => match list.tightens() {
            true => into.push(&[word, "patterns"], "mcp__*"),
            false => into.left(
                written,
                "an allow for every server is not carried over: name the servers",
            ),
        },
        (false, _) => into.push(&[word, "patterns"], format!("mcp__{server}__*")),
    }
}

fn named(list: List, tool: &str, argument: &str, what: &str, written: &str, into: &mut Imported) {
    match list.tightens() && !what.contains(['*', '?', ':']) {
        true => into.push(&[list.as_str(), "arguments", tool, argument], what),
        false => unclear(list, tool, written, into),
    }
}
