use std::fs;

use holdpoint_core::{Policy, Session, Surroundings, judge, named, understand};
use serde_json::json;

use super::*;
use crate::disk::Disk;
use crate::without_secrets;

const SECRET: &str = "hunter2-Zq81kX";

fn shown_of(tool: &str, input: Value, workspace: &Path) -> Display {
    let call = ToolCall::new(tool, input).unwrap();
    let policy = Policy::compile(vec![]).unwrap();
    let around = Surroundings {
        workspace: workspace.to_str(),
        directory: None,
        home: Some("/home/dev"),
        lookup: &Disk,
        can_contain: false,
    };
    let action = understand(call, &policy, &around);
    let decision = without_secrets(judge(&action, &policy, &Session::default(), &around));
    let paths = named(&action).paths;
    let display = display(&action, &decision, &paths, workspace);
    let text = serde_json::to_string(&display).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    for mark in &display.marks {
        assert!(display.details.get(mark.span[0]..mark.span[1]).is_some());
    }
    display
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().canonicalize().unwrap();
    (place, path)
}

fn warned(display: &Display, text: &str) -> bool {
    display
        .warnings
        .iter()
        .any(|warned| warned.text.contains(text))
}

#[test]
fn a_command_is_shown_whole_and_redacted_with_the_parts_a_rule_caught() {
    let (_kept, place) = place();
    let line = format!("export DB_PASSWORD={SECRET}\ngit push --force origin main");
    let display = shown_of("Bash", json!({"command": line, "description": "x"}), &place);
    assert_eq!(
        (display.format, display.language.as_deref()),
        (Format::Code, Some("bash"))
    );
    assert_eq!(display.summary, "export DB_PASSWORD=[PASSWORD] …");
    assert_eq!(display.hidden, ["command"]);
    assert_eq!(display.arguments["description"], "x");
    let mark = display
        .marks
        .iter()
        .find(|mark| mark.rule.starts_with("git."));
    let [start, end] = mark.unwrap().span;
    assert!(
        display
            .details
            .get(start..end)
            .unwrap()
            .contains("git push --force"),
        "{display:?}"
    );
}

// J-55
#[test]
fn an_edit_is_shown_as_its_difference() {
    let (_kept, place) = place();
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    fs::write(place.join("x.txt"), &text).unwrap();
    let input = json!({"file_path": place.join("x.txt"), "old_string": "line 9\n", "new_string": "new\nlines\n"});
    let display = shown_of("Edit", input, &place);
    assert_eq!(display.format, Format::Diff);
    assert_eq!(display.summary, "Edit x.txt (+2 −1)");
    assert!(
        display.details.contains("-line 9\n+new\n+lines\n"),
        "{}",
        display.details
    );
    assert!(!display.details.contains("line 1\n"));
    assert!(display.warnings.is_empty(), "{:?}", display.warnings);

    let edits = json!([{"old_string": "line 1\n", "new_string": "one\n"}, {"old_string": "one", "new_string": "1"}]);
    let display = shown_of(
        "MultiEdit",
        json!({"file_path": "x.txt", "edits": edits}),
        &place,
    );
    assert!(
        display.details.contains("-line 1\n+1\n"),
        "{}",
        display.details
    );
}

#[test]
fn an_edit_that_cannot_work_is_told() {
    let (_kept, place) = place();
    fs::write(place.join("x"), "a\na\n").unwrap();
    let edit = |old: &str| {
        let input = json!({"file_path": "x", "old_string": old, "new_string": "b"});
        shown_of("Edit", input, &place)
    };
    assert!(warned(&edit("zzz"), "is not in x"));
    assert!(warned(&edit("a"), "2 times"));
    let missing = json!({"file_path": "none", "old_string": "a", "new_string": "b"});
    assert!(warned(&shown_of("Edit", missing, &place), "does not exist"));
}

#[test]
fn a_new_file_and_an_overwritten_one() {
    let (_kept, place) = place();
    let write = |content: &str| {
        shown_of(
            "Write",
            json!({"file_path": "n", "content": content}),
            &place,
        )
    };
    let display = write("a\nb\n");
    assert_eq!(display.summary, "Write n (new, 2 lines)");
    assert!(
        display.details.starts_with("--- /dev/null\n+++ n\n"),
        "{}",
        display.details
    );
    fs::write(place.join("n"), "a\nb\n").unwrap();
    assert!(warned(&write("a\nb\n"), "stay as it is"));
    assert_eq!(write("a\nc\n").summary, "Write n (+1 −1)");
}

#[test]
fn a_secret_in_place_of_another_is_a_change_nobody_can_read() {
    let (_kept, place) = place();
    fs::write(place.join("c"), "DB_PASSWORD=other-Xk18qZ77\n").unwrap();
    let input = json!({"file_path": "c", "content": format!("DB_PASSWORD={SECRET}\n")});
    let display = shown_of("Write", input, &place);
    assert_eq!(display.summary, "Write c (+1 −1)");
    assert!(
        display.details.contains("+DB_PASSWORD=[PASSWORD:"),
        "{}",
        display.details
    );
    assert!(!display.details.contains("other-Xk18qZ77"));
    assert_eq!(display.hidden, ["content"]);
}

// J-55
#[test]
fn binary_large_and_long_files() {
    let (_kept, place) = place();
    fs::write(place.join("bin"), [0u8, 1, 2, 255]).unwrap();
    let write = |name: &str, content: &str| {
        shown_of(
            "Write",
            json!({"file_path": name, "content": content}),
            &place,
        )
    };
    assert!(warned(
        &write("bin", "x"),
        "bin is a binary file of 4 bytes"
    ));
    fs::write(place.join("large"), "x".repeat((1 << 20) + 1)).unwrap();
    assert!(warned(&write("large", "x"), "large has 1.0 MB"));
    let long: String = (0..5000).map(|n| format!("{n}\n")).collect();
    let display = write("long", &long);
    assert!(display.truncated);
    assert_eq!(display.original_lines, Some(5003));
    assert_eq!(display.details.lines().count(), 2000);
    // All of it can still be reached.
    assert_eq!(display.arguments["content"], long);
    assert!(display.hidden.is_empty());
}

#[test]
fn other_tools_show_their_arguments_whole() {
    let (_kept, place) = place();
    let body = "word ".repeat(10_000);
    let display = shown_of(
        "mcp__mail__send",
        json!({"to": "a", "body": body, "token": SECRET}),
        &place,
    );
    assert_eq!(display.format, Format::Json);
    assert_eq!(display.arguments["body"], body);
    assert_eq!(display.hidden, ["token"]);
    assert!(display.details.contains(body.trim_end()));
}

#[test]
fn what_should_not_be_overlooked() {
    let (_kept, place) = place();
    let run = |line: &str| shown_of("Bash", json!({"command": line}), &place);
    assert!(warned(&run("ls 'x"), "cannot be read"));
    assert!(warned(
        &run("echo a\u{202e}b"),
        "1 character that cannot be seen"
    ));
    assert!(warned(&run("rm /data/x"), "outside the workspace: /data/x"));
    assert!(run("ls").warnings.is_empty());
    let listed = run("rm x; frobnicate word");
    let paths: Vec<&str> = listed.paths.iter().map(|path| path.what.as_str()).collect();
    assert_eq!(paths, ["delete"]);
}

#[test]
fn a_difference_of_arguments_hides_secrets_on_both_sides() {
    let object = |value: Value| value.as_object().unwrap().clone();
    let before = object(json!({"command": "ls\nrm x\n", "n": 1, "password": SECRET, "gone": true}));
    let after = object(json!({"command": "ls\nrm y\n", "n": 1, "password": "other-Xk18qZ77"}));
    let text = diff_of_arguments(&before, &after);
    assert!(text.contains("--- command\n+++ command\n"), "{text}");
    assert!(text.contains("-rm x\n+rm y\n"), "{text}");
    assert!(text.contains("--- gone\n+++ /dev/null\n"), "{text}");
    assert!(!text.contains(SECRET) && !text.contains("other-"), "{text}");
    assert!(text.contains("+++ password"), "{text}");
    assert_eq!(diff_of_arguments(&before, &before), "");
}

#[test]
fn a_whole_difference_leaves_nothing_out() {
    let object = |value: Value| value.as_object().unwrap().clone();
    let shown = |before: Value, after: Value| whole_difference(&object(before), &object(after));
    let long = "x\n".repeat(5000) + "the end";
    let text = shown(
        json!({"same": 1}),
        json!({"same": 1, "description": long, "password": SECRET}),
    )
    .unwrap();
    assert!(
        text.contains("+the end\n") && text.contains(SECRET),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| *line == "+x").count(), 5000);
    assert!(!text.contains("same"), "{text}");
    // Nothing that is another value looks the same.
    for (before, after) in [
        (json!({"a": "x"}), json!({"a": "x\n"})),
        (json!({"a": "true"}), json!({"a": true})),
        (json!({}), json!({"a": ""})),
        (json!({"a": null}), json!({})),
    ] {
        assert_ne!(shown(before, after).unwrap(), "");
    }
    let much = "x".repeat(2 << 20);
    assert_eq!(shown(json!({}), json!({"a": much})), None);
}
