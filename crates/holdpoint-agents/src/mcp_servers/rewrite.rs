//! A list of servers with each behind Holdpoint, and the list as it was.
//!
//! What goes in stands before the server's own arguments, and the server's program after it as it was
//! written, so that nothing has to be remembered to take it out again.

use std::ops::Range;

use serde_json::Value;

use super::ServersFile;
use super::entries::{Command, Entry, Start};

/// A list that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The text as it is to be.
    pub text: String,
    /// The servers that are started otherwise in it.
    pub servers: Vec<String>,
}

/// What may stand around the dots of a key of TOML.
const BLANK: [char; 2] = [' ', '\t'];

/// What separates our words from the server's own.
const BETWEEN: &str = ", ";

/// A piece of a text, and what is to stand in its place.
type Edit = (Range<usize>, String);

/// What is changed of an entry, and the program and arguments it is to start then.
struct Change {
    edits: Vec<Edit>,
    meant: Vec<String>,
}

/// The list with every server that is a program behind `program`, under the name `name_of` gives it.
pub fn wrapped(
    file: &ServersFile,
    text: &str,
    program: &str,
    name_of: &dyn Fn(&str) -> String,
) -> Result<Rewritten, String> {
    let made = rewritten(file, text, |entry, command| {
        if command.is_gated(program) {
            return None;
        }
        let own = text.get(command.program.at.clone())?;
        let ours = quoted(program);
        let name = name_of(&entry.name);
        let mut meant = [program, "mcp", "proxy", "--name", &name, "--"]
            .map(str::to_owned)
            .to_vec();
        meant.extend(command.words());
        let name = quoted(&name);
        let Some((list, words)) = &command.arguments else {
            // Written without spaces, which says that there was no list.
            let made = format!(r#"["mcp","proxy","--name",{name},"--",{own}]"#);
            let key = no_list(file, text, command.program.at.start);
            let at = command.program.at.clone();
            return Some(Change {
                edits: vec![(at, format!("{ours}{key}{made}"))],
                meant,
            });
        };
        let first = list.start.checked_add(1)?;
        let between = if words.is_empty() { "" } else { BETWEEN };
        let made = format!(r#""mcp", "proxy", "--name", {name}, "--", {own}{between}"#);
        Some(Change {
            edits: vec![(command.program.at.clone(), ours), (first..first, made)],
            meant,
        })
    })?;
    // What was gated before comes out of both.
    if unwrapped(file, &made.text, program)?.text != unwrapped(file, text, program)?.text {
        return Err("a server in it could not be taken out again as it was written".into());
    }
    Ok(made)
}

/// The list with every server as it was before [`wrapped`] put it behind `program`.
pub fn unwrapped(file: &ServersFile, text: &str, program: &str) -> Result<Rewritten, String> {
    rewritten(file, text, |_, command| {
        let (words, own) = command.gated(program)?;
        let (list, _) = command.arguments.as_ref()?;
        let original = text.get(own.at.clone())?.to_owned();
        let meant = words.iter().skip(5).map(|word| word.text.clone()).collect();
        let key = no_list(file, text, command.program.at.start);
        // Where the list stands first there is nothing between them.
        let between = text.get(command.program.at.end..list.start);
        let compact = text
            .get(list.clone())?
            .starts_with(r#"["mcp","proxy","--name","#);
        if words.len() == 6 && between == Some(key.as_str()) && compact {
            return Some(Change {
                edits: vec![(command.program.at.start..list.end, original)],
                meant,
            });
        }
        let after = text.get(own.at.end..)?;
        let separator = [BETWEEN, ","]
            .into_iter()
            .find(|separator| after.starts_with(separator));
        let end = own.at.end + separator.map_or(0, str::len);
        let first = words.first()?.at.start;
        Some(Change {
            edits: vec![
                (command.program.at.clone(), original),
                (first..end, String::new()),
            ],
            meant,
        })
    })
}

/// What introduces a list of arguments that stands right after the program.
fn no_list(file: &ServersFile, text: &str, program: usize) -> String {
    if !file.is_toml() {
        return ", \"args\": ".to_owned();
    }
    let before = text.get(..program).unwrap_or_default().trim_end();
    let key_end = before.strip_suffix('=').unwrap_or(before).trim_end();
    // `mcp_servers.fs.command` is beside `mcp_servers.fs.args`.
    let tables = without_last_part(key_end);
    let mut start = tables;
    while let Some(rest) = start.trim_end_matches(BLANK).strip_suffix('.') {
        start = without_last_part(rest.trim_end_matches(BLANK));
    }
    let tables = tables.get(start.len()..).unwrap_or_default();
    let between = match start.trim_end_matches(BLANK).ends_with(['{', ',']) {
        true => ", ",
        false => "\n",
    };
    format!("{between}{tables}args = ")
}

/// What stands before the last part of a dotted key of TOML.
fn without_last_part(key: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inside) = key.strip_suffix(quote) {
            return inside
                .rfind(quote)
                .map_or("", |at| inside.get(..at).unwrap_or_default());
        }
    }
    key.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// A text in quotes, as JSON and TOML both write it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn rewritten(
    file: &ServersFile,
    text: &str,
    change_of: impl Fn(&Entry, &Command) -> Option<Change>,
) -> Result<Rewritten, String> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut servers = Vec::new();
    let mut meant = Vec::new();
    for entry in file.entries(text)? {
        let words = match &entry.start {
            Start::Program(command) => match change_of(&entry, command) {
                Some(change) => {
                    edits.extend(change.edits);
                    servers.push(entry.name.clone());
                    Some(change.meant)
                }
                None => Some(command.words()),
            },
            Start::Address(_) | Start::Unknown(_) => None,
        };
        meant.push((entry.name, words));
    }
    // From the last on, so that those before stay where they are.
    edits.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut made = text.to_owned();
    for (at, with) in edits {
        if made.get(at.clone()).is_none() {
            return Err("it cannot be changed where it says how a server is started".into());
        }
        made.replace_range(at, &with);
    }
    // What was made must be what was meant.
    let found: Vec<_> = file
        .entries(&made)?
        .into_iter()
        .map(|entry| match entry.start {
            Start::Program(command) => (entry.name, Some(command.words())),
            Start::Address(_) | Start::Unknown(_) => (entry.name, None),
        })
        .collect();
    if found != meant {
        return Err("it says how a server is started in a way that cannot be changed safely: write `command` and `args` in a table of its own".into());
    }
    Ok(Rewritten {
        text: made,
        servers,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mcp_servers::files;
    use crate::setup::Around;

    fn file(agent: &str, end: &str) -> ServersFile {
        let around = Around {
            directory: "/work".into(),
            home: Some("/home/ann".into()),
            machine: "/etc".into(),
            search: Vec::new(),
            variable: |_| None,
        };
        let mut all = files(&around).into_iter();
        all.find(|one| one.agent == agent && one.path.ends_with(Path::new(end)))
            .unwrap()
    }

    fn there_and_back(file: &ServersFile, text: &str) -> Rewritten {
        let name = |name: &str| name.replace(' ', "-");
        let made = wrapped(file, text, "/opt/hold\"point", &name).unwrap();
        for entry in file.entries(&made.text).unwrap() {
            if let Start::Program(command) = &entry.start {
                assert!(command.is_gated("/opt/hold\"point"), "{}", made.text);
                assert_eq!(command.words()[0], "/opt/hold\"point");
            }
        }
        let again = wrapped(file, &made.text, "/opt/hold\"point", &name).unwrap();
        assert_eq!(again.text, made.text, "wrapped twice");
        let back = unwrapped(file, &made.text, "/opt/hold\"point").unwrap();
        assert_eq!(back.text, text);
        assert_eq!(back.servers, made.servers);
        made
    }

    #[test]
    fn a_list_of_json_goes_there_and_back_to_the_byte() {
        let file = file("claude-code", ".mcp.json");
        for text in [
            r#"{"mcpServers":{"fs":{"command":"npx","args":["-y","srv"]}}}"#,
            r#"{"mcpServers":{"fs":{"args":[],"command":"npx"},"b c":{"command":"x"}}}"#,
            "{\n  // comments stay\n  \"mcpServers\": {\n    \"a\": {\n      \"args\": [\n        \"-y\",\n        \"\\u0041\"\n      ],\n      \"command\": \"n\\u0070x\", // here, too\n      \"env\": {\"A\": \"1\"}\n    },\n    \"h\": {\"type\": \"http\", \"url\": \"https://x.example/mcp\"}\n  },\n  \"other\": [1.50]\n}\n",
            r#"{"mcpServers":{"a":{"command":"x","args":[ ]},"b":{"command":"y", "args": ["mcp"]}}}"#,
            r#"{"other": 1}"#,
            "",
        ] {
            there_and_back(&file, text);
        }
        let made = there_and_back(
            &file,
            r#"{"mcpServers":{"a b":{"command":"x"},"c":{"command":"y","args":["z"]}}}"#,
        );
        assert_eq!(made.servers, ["a b", "c"]);
        assert!(
            made.text
                .contains(r#""args":["mcp", "proxy", "--name", "c", "--", "y", "z"]"#)
        );
    }

    #[test]
    fn every_project_of_claude_code_is_among_them() {
        let file = file("claude-code", ".claude.json");
        let text = r#"{"mcpServers":{"a":{"command":"x"}},"projects":{"/p":{"mcpServers":{"b":{"command":"y","args":["1"]}}},"/q":{}}}"#;
        assert_eq!(there_and_back(&file, text).servers, ["a", "b"]);
    }

    #[test]
    fn a_list_of_toml_goes_there_and_back_to_the_byte() {
        let file = file("codex", "config.toml");
        for text in [
            "model = \"x\"\n\n[mcp_servers.fs]\ncommand = \"npx\"\nargs = [\"-y\", 'srv'] # why\nenv = { A = \"1\" }\n",
            "[mcp_servers.fs]\nargs = [\n  # first\n  '-y',\n]\ncommand = 'npx'\n",
            "[mcp_servers.a]\ncommand = 'C:\\bin\\x'\n[mcp_servers.\"b.c\"]\ncommand = \"y\"\nargs = []\n",
            "mcp_servers = { a = { command = \"x\" }, b = { command = \"y\", args = [\"1\"] } }\n",
            "[mcp_servers.h]\nurl = \"https://x.example/mcp\"\n",
            "# Mine.\n[mcp_servers.fs]\n# Files.\ncommand = \"npx\"\n",
            "mcp_servers.fs.command = \"npx\"\nmodel = \"x\"\n",
            "mcp_servers . 'a.b' .\"c{\\\"d\".x = 1\nmcp_servers.\"{,\" . command = 'npx' # why\n",
            "[mcp_servers]\na.command = 'x'\n  \"b c\".\"command\" = \"y\"\na.env.A = '1'\n",
            "mcp_servers = { a.command = \"x\", b . command = \"y\", c = { command='z' } }\n",
            "mcp_servers.fs.command = \"npx\"\nmcp_servers.fs.args = [\"-y\"]\n",
            "",
        ] {
            there_and_back(&file, text);
        }
    }

    #[test]
    fn what_one_server_has_before_it_stays_when_another_goes_behind() {
        let file = file("codex", "config.toml");
        let first = "mcp_servers.a.command = 'x'\n";
        let name = |name: &str| name.to_owned();
        let one = wrapped(&file, first, "/h", &name).unwrap();
        let text = format!("{}mcp_servers.b.command = 'y'\n", one.text);
        let both = wrapped(&file, &text, "/h", &name).unwrap();
        assert_eq!(both.servers, ["b"]);
        let back = unwrapped(&file, &both.text, "/h").unwrap();
        assert_eq!(back.text, format!("{first}mcp_servers.b.command = 'y'\n"));
    }

    #[test]
    fn what_would_not_come_back_as_it_was_is_left_alone() {
        let file = file("codex", "config.toml");
        // The quotation before the dot is no key whose start can be found.
        let text = "mcp_servers.\"a\\\"b\".command = \"npx\"\n";
        assert!(wrapped(&file, text, "h", &|name| name.into()).is_err());
    }

    #[test]
    fn a_list_that_was_laid_out_anew_still_comes_back() {
        let file = file("cursor", "mcp.json");
        let text = r#"{"mcpServers":{"a":{"command":"/h","args":["mcp","proxy","--name","a","--","x","y"]}}}"#;
        let back = unwrapped(&file, text, "/h").unwrap();
        assert_eq!(
            back.text,
            r#"{"mcpServers":{"a":{"command":"x","args":["y"]}}}"#
        );
    }

    #[test]
    fn our_arguments_do_not_make_another_program_ours() {
        let file = file("cursor", "mcp.json");
        let of = |program: &str| {
            format!(
                r#"{{"mcpServers":{{"a":{{"command":"{program}","args":["mcp","proxy","--name","x","--","y"]}}}}}}"#
            )
        };
        for other in ["/bin/evil", "/tmp/holdpoint", "./holdpoint", "holdpoint "] {
            let made = wrapped(&file, &of(other), "/h", &|name| name.into()).unwrap();
            assert_eq!(made.servers, ["a"], "{other}");
            assert!(made.text.contains(r#""command":"/h""#), "{}", made.text);
            let back = unwrapped(&file, &made.text, "/h").unwrap();
            assert_eq!(back.text, of(other));
            assert!(
                unwrapped(&file, &of(other), "/h")
                    .unwrap()
                    .servers
                    .is_empty()
            );
        }
        for ours in ["/h", "holdpoint"] {
            let made = wrapped(&file, &of(ours), "/h", &|name| name.into()).unwrap();
            assert!(made.servers.is_empty(), "{ours}");
        }
    }

    #[test]
    fn what_an_agent_could_read_otherwise_is_left_alone() {
        let file = file("cursor", "mcp.json");
        for text in [
            r#"{"mcpServers":{"a":{"command":"x","command":"y"}}}"#,
            r#"{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}"#,
            "[]",
            "{",
        ] {
            assert!(
                wrapped(&file, text, "h", &|name| name.into()).is_err(),
                "{text}"
            );
        }
        let odd = r#"{"mcpServers":{"a":{"command":7},"b":{"command":"x","args":[1]},"c":7}}"#;
        let made = wrapped(&file, odd, "h", &|name| name.into()).unwrap();
        assert_eq!((made.text.as_str(), made.servers.len()), (odd, 0));
    }
}
