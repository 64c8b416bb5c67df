//! The scripts of a `package.json`.
//!
//! npm runs `preNAME` and `postNAME` around a script, and scripts of its own accord around some
//! commands. Other package managers run the same or fewer. A dependency's own scripts are not here.

use serde_json::{Map, Value};

use crate::budget::MAX_FILE;

/// The file is not JSON: npm stops there, and others may be more lenient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

/// The lines `npm run NAME` runs, in order; empty if there is no such script.
pub(crate) fn script(text: &str, name: &str) -> Result<Vec<String>, NotJson> {
    let scripts = scripts(text)?;
    let mut lines = Vec::new();
    // npm runs nothing around a script that is not there.
    if scripts.contains_key(name) {
        around(&scripts, name, &mut lines);
    }
    Ok(lines)
}

/// The lines a command of the package manager itself (`install`, `publish`, `test` …) runs from
/// the project's file.
pub(crate) fn lifecycle(text: &str, command: &str) -> Result<Vec<String>, NotJson> {
    let scripts = scripts(text)?;
    let command = ALIASES
        .iter()
        .find(|(alias, _)| *alias == command)
        .map_or(command, |(_, command)| command);
    let mut lines = Vec::new();
    let known = LIFECYCLES.iter().find(|(known, _)| *known == command);
    for name in known.map_or(&[][..], |(_, names)| names) {
        lines.extend(line(&scripts, name));
    }
    if command == "restart" && !scripts.contains_key("restart") {
        for name in ["stop", "start"] {
            around(&scripts, name, &mut lines);
        }
    }
    Ok(lines)
}

/// The lines a command with these words may run from a file like `package.json`: scripts and tasks it
/// names, what runs by itself around them, and what is always run.
pub(crate) fn lines_for(text: &str, words: &[&str]) -> Result<Vec<String>, NotJson> {
    // Some of these files may have comments.
    let plain: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let text = plain.join("\n");
    let Ok(Value::Object(file)) = serde_json::from_str::<Value>(&text) else {
        return Err(NotJson);
    };
    let mut wanted: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    if wanted.is_empty() {
        wanted.push("install");
    }
    let mut lines = Vec::new();
    for word in &wanted {
        lines.extend(lifecycle(&text, word)?);
        lines.extend(script(&text, word)?);
    }
    for (key, value) in &file {
        match (key.as_str(), value) {
            ("scripts" | "tasks", Value::Object(scripts)) => {
                for (name, value) in scripts {
                    // `post-install-cmd` runs by itself, `tasks` are named.
                    let named = wanted
                        .iter()
                        .any(|word| name == word || (name.contains('-') && name.contains(*word)));
                    let always =
                        name.starts_with("post-autoload") || name.starts_with("pre-autoload");
                    if named || always {
                        texts_in(value, &mut lines);
                    }
                }
            }
            (
                "exec" | "execMap" | "lint-staged" | "prisma" | "gitHooks" | "simple-git-hooks",
                value,
            ) => texts_in(value, &mut lines),
            _ => {}
        }
    }
    lines.dedup();
    Ok(lines)
}

/// Every text of a value, which is not deep.
fn texts_in(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::String(line) => lines.push(line.clone()),
        Value::Array(items) => {
            lines.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        Value::Object(fields) => {
            lines.extend(fields.values().filter_map(Value::as_str).map(str::to_owned));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A script with those around it.
fn around(scripts: &Map<String, Value>, name: &str, lines: &mut Vec<String>) {
    for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
        lines.extend(line(scripts, &name));
    }
}

fn line(scripts: &Map<String, Value>, name: &str) -> Option<String> {
    scripts
        .get(name)
        .and_then(Value::as_str)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
}

/// The `scripts` of the file; as in node, the last of two equal keys counts.
fn scripts(text: &str) -> Result<Map<String, Value>, NotJson> {
    if text.len() > MAX_FILE {
        return Err(NotJson);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Ok(Value::Object(mut file)) = serde_json::from_str(text) else {
        return Err(NotJson);
    };
    match file.remove("scripts") {
        Some(Value::Object(scripts)) => Ok(scripts),
        _ => Ok(Map::new()),
    }
}

/// Other names of commands.
const ALIASES: &[(&str, &str)] = &[
    ("i", "install"),
    ("in", "install"),
    ("ins", "install"),
    ("isntall", "install"),
    ("add", "install"),
    ("ci", "install"),
    ("clean-install", "install"),
    ("ic", "install"),
    ("link", "install"),
    ("ln", "install"),
    ("t", "test"),
    ("tst", "test"),
    ("it", "install-test"),
    ("cit", "install-test"),
    ("install-ci-test", "install-test"),
    ("rb", "rebuild"),
];

/// What commands run by themselves.
const LIFECYCLES: &[(&str, &[&str])] = &[
    (
        "install",
        &[
            "preinstall",
            "install",
            "postinstall",
            "prepublish",
            "preprepare",
            "prepare",
            "postprepare",
        ],
    ),
    (
        "install-test",
        &[
            "preinstall",
            "install",
            "postinstall",
            "prepublish",
            "preprepare",
            "prepare",
            "postprepare",
            "pretest",
            "test",
            "posttest",
        ],
    ),
    (
        "rebuild",
        &[
            "preinstall",
            "install",
            "postinstall",
            "preprepare",
            "prepare",
            "postprepare",
        ],
    ),
    (
        "publish",
        &[
            "prepublishOnly",
            "prepublish",
            "prepack",
            "prepare",
            "postpack",
            "publish",
            "postpublish",
        ],
    ),
    ("pack", &["prepublish", "prepack", "prepare", "postpack"]),
    ("version", &["preversion", "version", "postversion"]),
    ("uninstall", &["preuninstall", "uninstall", "postuninstall"]),
    ("test", &["pretest", "test", "posttest"]),
    ("start", &["prestart", "start", "poststart"]),
    ("stop", &["prestop", "stop", "poststop"]),
    ("restart", &["prerestart", "restart", "postrestart"]),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = r#"{
        "name": "x",
        "scripts": {
            "prebuild": "echo before", "build": "tsc", "postbuild": "echo after",
            "test": "jest", "start": "node .", "stop": "kill 1", "prestart": "echo soon",
            "postinstall": "node hook.js", "prepare": "husky", "prepublishOnly": "npm test",
            "broken": 5, "empty": ""
        }
    }"#;

    fn run(name: &str) -> Vec<String> {
        script(FILE, name).unwrap()
    }

    fn alone(command: &str) -> Vec<String> {
        lifecycle(FILE, command).unwrap()
    }

    #[test]
    fn a_script_runs_with_those_around_it() {
        assert_eq!(run("build"), ["echo before", "tsc", "echo after"]);
        assert_eq!(run("test"), ["jest"]);
        assert_eq!(run("none"), [""; 0]);
        assert_eq!(run("broken"), [""; 0]);
        assert_eq!(run("empty"), [""; 0]);
    }

    #[test]
    fn commands_run_scripts_by_themselves() {
        assert_eq!(alone("install"), ["node hook.js", "husky"]);
        assert_eq!(alone("i"), alone("ci"));
        assert_eq!(alone("t"), ["jest"]);
        assert_eq!(alone("publish"), ["npm test", "husky"]);
        assert_eq!(alone("restart"), ["kill 1", "echo soon", "node ."]);
        assert_eq!(alone("outdated"), [""; 0]);
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        let text = r#"{"scripts": {"a": "x"}, "scripts": {"a": "y", "a": "z"}}"#;
        assert_eq!(script(text, "a").unwrap(), ["z"]);
    }

    #[test]
    fn a_file_that_is_not_json_is_not_guessed_at() {
        assert_eq!(
            script("{ // comment\n \"scripts\": {} }", "a"),
            Err(NotJson)
        );
        assert_eq!(script("[]", "a"), Err(NotJson));
        assert_eq!(script(&" ".repeat(MAX_FILE + 1), "a"), Err(NotJson));
        assert_eq!(script(&"[".repeat(100_000), "a"), Err(NotJson));
        assert_eq!(script("\u{feff}{}", "a"), Ok(vec![]));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in ".{0,200}", name in ".{0,10}") {
            let _ = script(&text, &name);
            let _ = lifecycle(&text, &name);
        }

        #[test]
        fn what_json_holds_comes_out_unchanged(name in "[a-z]{1,8}", line in "[^\\x00]{1,40}") {
            let text = serde_json::json!({ "scripts": { &name: &line } }).to_string();
            prop_assert_eq!(script(&text, &name), Ok(vec![line]));
        }
    }
}
