use std::cell::RefCell;
use std::io::Cursor;
use std::rc::Rc;

use serde_json::{Value, json};

use super::super::sample::{edited_request, request, waiting};
use super::*;

/// What a person saw, and what came of what they typed.
struct Conversed {
    said: Result<SignedAnswer, ChannelError>,
    seen: String,
}

#[derive(Clone, Default)]
struct Paper(Rc<RefCell<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn settings() -> Settings {
    Settings {
        approver: "ann".into(),
        colours: false,
        lock: None,
        editor: vec!["/nonexistent/editor".into()],
    }
}

fn ask_with(request: &Request, typed: &str, settings: Settings) -> Conversed {
    let paper = Paper::default();
    let mut console = Console::over(Cursor::new(typed.to_owned()), paper.clone(), settings);
    let said = console.ask(request, &waiting(10_000));
    let seen = String::from_utf8(paper.0.borrow().clone()).unwrap();
    Conversed { said, seen }
}

fn ask(request: &Request, typed: &str) -> Conversed {
    ask_with(request, typed, settings())
}

fn answer(request: &Request, typed: &str) -> Answer {
    ask(request, typed).said.unwrap().answer
}

fn refusal(request: &Request, typed: &str) -> String {
    match ask(request, typed).said {
        Err(ChannelError::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_a_person_needs_is_shown() {
    let seen = ask(&request(), "y\n").seen;
    for wanted in [
        "Tool:      Bash",
        "Agent:     claude-code (via reviewer)",
        "Intent:    publish the fix",
        "Reason:    a forced push throws away what others have pushed",
        "Rule:      git.force-push",
        "Risk:      high",
        "Directory: /work/shop",
        "Context:   session_id=s-1, turn_number=5",
        "  │ git push --force origin main",
        "Caught:    `--force` by git.force-push: it throws commits away",
        "Check:     passed: command validator: the command can be read",
        "Check:     warning: disk space: 120 MB are free",
        "Warning:   commits of others may be lost",
        "Time:      10 s left, then it is refused",
        "Options: [y]es, [n]o, [a]lways, [never], [once], [all], [t]urn, [i]dle, [c]omment, \
         [e]dit, [d]etails\n[10 s] > ",
    ] {
        assert!(seen.contains(wanted), "{wanted}\n---\n{seen}");
    }
    assert!(!seen.contains('\x1b'), "{seen}");
}

#[test]
fn colour_follows_the_risk_and_marks_what_was_caught() {
    let colours = Settings {
        colours: true,
        ..settings()
    };
    let seen = ask_with(&request(), "y\n", colours).seen;
    assert!(seen.contains("Risk:      \x1b[31mhigh\x1b[0m"), "{seen}");
    assert!(
        seen.contains("git push \x1b[1;4;31m--force\x1b[0m origin main"),
        "{seen}"
    );
}

// J-36
#[test]
fn words_answer_in_any_case_with_space_around() {
    let request = request();
    for (typed, wanted) in [
        ("y\n", Answer::Yes),
        (" YES \n", Answer::Yes),
        ("n\n", Answer::No),
        ("No\n", Answer::No),
        ("once\n", Answer::Once),
        ("ALL\n", Answer::All),
        ("t\n", Answer::Turn),
        ("idle\n", Answer::Idle),
        ("y", Answer::Yes),
        (
            "c: Use a Branch\n",
            Answer::Comment {
                comment: "Use a Branch".into(),
            },
        ),
        (
            "c\nUse a Branch\n",
            Answer::Comment {
                comment: "Use a Branch".into(),
            },
        ),
        ("d\ny\n", Answer::Yes),
    ] {
        assert_eq!(answer(&request, typed), wanted, "{typed:?}");
    }
    let said = ask(&request, "y\n").said.unwrap();
    assert_eq!(said.approver, "ann");
    assert_eq!(said.binding.as_deref(), Some("sha256:binding"));
}

// J-36, A-26: an empty line, the end of input, Ctrl-C.
#[test]
fn whatever_is_no_answer_refuses() {
    let request = request();
    assert_eq!(refusal(&request, "maybe\n"), "Unknown response: maybe");
    assert_eq!(refusal(&request, "\n"), "Unknown response: an empty line");
    assert_eq!(
        refusal(&request, "\x1b[2Jyes\n"),
        "Unknown response: \\u{1b}[2Jyes"
    );
    assert_eq!(refusal(&request, ""), "User cancelled input");
    assert_eq!(refusal(&request, "y\x03"), "User cancelled input");
    assert_eq!(
        refusal(&request, "c\n\n"),
        "Unknown response: an empty line"
    );
    assert_eq!(refusal(&request, "always\n"), "User cancelled input");
    assert_eq!(refusal(&request, "always\nyes\n"), "Unknown response: yes");
    assert_eq!(
        refusal(&request, "always\ntool\n"),
        "Unknown response: tool"
    );
    let seen = ask(&request, "maybe\n").seen;
    assert!(
        seen.contains("Unknown response: maybe: the call is refused"),
        "{seen}"
    );
}

//
#[test]
fn a_rule_is_shown_before_it_is_stored() {
    let request = request();
    let always = |scope| Answer::Always { scope: Some(scope) };
    let asked = ask(&request, "a\nprefix\n");
    assert_eq!(asked.said.unwrap().answer, always(Scope::Prefix));
    for wanted in [
        "From now on, what matches runs without asking:",
        "exact:     git push --force origin main (until the session ends)",
        "prefix:    git push  and  git push * (until the session ends)",
        "Store which rule? [exact], [prefix], [b]ack",
    ] {
        assert!(asked.seen.contains(wanted), "{wanted}\n---\n{}", asked.seen);
    }
    let asked = ask(&request, "always exact\n");
    assert_eq!(asked.said.unwrap().answer, always(Scope::Exact));
    assert!(
        asked
            .seen
            .contains("exact:     git push --force origin main"),
        "{}",
        asked.seen
    );
    assert!(!asked.seen.contains("prefix:"), "{}", asked.seen);
    let never = Answer::Never {
        scope: Some(Scope::Exact),
    };
    assert_eq!(answer(&request, "never\nEXACT\n"), never);
    assert_eq!(answer(&request, "always\nback\ny\n"), Answer::Yes);
    assert_eq!(answer(&request, "always tool\nn\n"), Answer::No);
}

#[test]
fn only_what_the_terms_leave_room_for_is_offered() {
    let mut request = request();
    request.terms.offers.clear();
    request.terms.suspendable = false;
    request.terms.editable.clear();
    let asked = ask(&request, "always\nall\nt\nidle\nnever\ne\ny\n");
    assert_eq!(asked.said.unwrap().answer, Answer::Yes);
    assert!(
        asked
            .seen
            .contains("Options: [y]es, [n]o, [once], [c]omment, [d]etails\n")
    );
    for word in ["always", "all", "turn", "idle", "never"] {
        let wanted = format!("`{word}` is not possible for this call");
        assert!(asked.seen.contains(&wanted), "{wanted}\n{}", asked.seen);
    }
    assert!(
        asked
            .seen
            .contains("nothing of this call can be changed here")
    );
    request.terms.required = 2;
    let asked = ask(&request, "y\n");
    assert!(asked.seen.contains("Yes from:  0 of 2"), "{}", asked.seen);
}

//
#[test]
fn a_phrase_is_typed_and_one_key_is_not_enough() {
    let mut request = request();
    request.terms.phrase = Some("release git".into());
    let asked = ask(&request, "release git\n");
    let said = asked.said.unwrap();
    assert_eq!(
        (said.answer, said.phrase.as_deref()),
        (Answer::Yes, Some("release git"))
    );
    assert!(
        asked
            .seen
            .contains("Options: type `release git` to release, [n]o, [a]lways")
    );
    assert!(!asked.seen.contains("[y]es"));
    let said = ask(&request, "y\n release git \n").said.unwrap();
    assert_eq!(said.phrase.as_deref(), Some("release git"));
    assert_eq!(refusal(&request, "y\ny\n"), "Unknown response: y");
    assert_eq!(
        refusal(&request, "Release Git\n"),
        "Unknown response: Release Git"
    );
    assert_eq!(ask(&request, "n\n").said.unwrap().phrase, None);
}

//
#[test]
fn details_show_every_argument_in_full() {
    let mut request = edited_request();
    let long = "§".repeat(5000);
    request
        .display
        .arguments
        .insert("body".into(), Value::String(long.clone()));
    request
        .display
        .arguments
        .insert("list".into(), json!([1, {"a": 2}]));
    request.display.truncated = true;
    request.display.original_lines = Some(900);
    let seen = ask(&request, "d\nn\n").seen;
    assert!(seen.contains("This is not all of 900 lines: answer d for every argument."));
    assert_eq!(seen.matches('§').count(), 5000);
    assert!(seen.contains("  │ [hidden]"), "{seen}");
    assert!(seen.contains("Hidden in: token"), "{seen}");
    assert!(!seen.contains("made-up-secret"), "{seen}");
}

#[test]
fn what_was_edited_is_shown_as_a_difference() {
    let seen = ask(&edited_request(), "n\n").seen;
    assert!(seen.contains("Changed:   command (ann)"), "{seen}");
    assert!(seen.contains("  │ -git push --force origin main\n  │ +git push origin main\n"));
    let mut request = request();
    request.display.format = crate::request::Format::Diff;
    request.display.details = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n".into();
    let colours = Settings {
        colours: true,
        ..settings()
    };
    let seen = ask_with(&request, "n\n", colours).seen;
    assert!(
        seen.contains("\x1b[31m-old\x1b[0m") && seen.contains("\x1b[32m+new\x1b[0m"),
        "{seen}"
    );
}

/// A program that stands in for an editor: a shell script with the file as its argument.
fn scripted(script: &str) -> Settings {
    Settings {
        editor: ["sh", "-c", script, "editor"].map(str::to_owned).to_vec(),
        ..settings()
    }
}

// J-44
#[test]
fn an_edit_gives_back_only_what_changed() {
    let edit = |request: &Request, script: &str| ask_with(request, "e\nn\n", scripted(script));
    let request = request();
    let asked = edit(&request, "sed -i 's/ --force//' \"$1\"");
    let input = json!({"command": "git push origin main"});
    let changed = |input: &Value| Answer::Edit {
        input: input.as_object().unwrap().clone(),
    };
    assert_eq!(asked.said.unwrap().answer, changed(&input));

    let mut both = request.clone();
    both.terms.editable.push("description".into());
    let asked = edit(&both, "sed -i 's/the fix/it/' \"$1\"");
    assert_eq!(
        asked.said.unwrap().answer,
        changed(&json!({"description": "Publish it"}))
    );
    let asked = edit(
        &both,
        "echo '{\"command\":\"ls\",\"command\":\"rm\"}' > \"$1\"",
    );
    assert!(
        asked.seen.contains("what you wrote is no JSON"),
        "{}",
        asked.seen
    );
    assert_eq!(asked.said.unwrap().answer, Answer::No);
    let asked = edit(&both, "echo '{\"path\":\"/\"}' > \"$1\"");
    assert!(
        asked
            .seen
            .contains("`path` cannot be changed; nothing was changed"),
        "{}",
        asked.seen
    );

    for (script, wanted) in [
        ("true", "nothing was changed"),
        ("exit 1", "failed (exit status: 1); nothing was changed"),
        ("rm \"$1\"", "what you wrote cannot be read"),
    ] {
        let asked = edit(&request, script);
        assert!(asked.seen.contains(wanted), "{script}\n{}", asked.seen);
        assert_eq!(asked.said.unwrap().answer, Answer::No, "{script}");
    }
    let asked = ask(&request, "e\nn\n");
    assert!(
        asked
            .seen
            .contains("`/nonexistent/editor` cannot be started"),
        "{}",
        asked.seen
    );
}

#[cfg(unix)]
#[test]
fn the_editors_file_is_private_and_gone_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let note = directory.path().join("note");
    let script = format!(
        "stat -c %a \"$1\" \"$(dirname \"$1\")\" > {0}; echo \"$1\" >> {0}",
        note.display()
    );
    let _ = ask_with(&request(), "e\nn\n", scripted(&script))
        .said
        .unwrap();
    let note = std::fs::read_to_string(note).unwrap();
    let lines: Vec<&str> = note.lines().collect();
    assert_eq!(&lines[..2], ["600", "700"]);
    assert!(lines[2].ends_with(".sh"));
    assert!(!Path::new(lines[2]).exists());
}

#[test]
fn an_argument_with_something_hidden_is_not_edited() {
    let mut request = request();
    request.display.hidden = vec!["command".into()];
    let asked = ask(&request, "e\nn\n");
    assert!(!asked.seen.contains("[e]dit"));
    assert!(
        asked
            .seen
            .contains("nothing of this call can be changed here")
    );
}

#[test]
fn time_runs_out_also_in_the_editor() {
    let mut console = Console::over(
        Cursor::new("e\ny\n"),
        Paper::default(),
        scripted("exec sleep 30"),
    );
    let started = std::time::Instant::now();
    assert_eq!(
        console.ask(&request(), &waiting(300)),
        Err(ChannelError::Timeout)
    );
    assert!(started.elapsed().as_secs() < 10);
    let mut console = Console::over(Cursor::new("y\n"), Paper::default(), settings());
    assert_eq!(
        console.ask(&request(), &waiting(0)),
        Err(ChannelError::Timeout)
    );
    let gone = Waiting {
        limit: None,
        cancelled: &|| true,
    };
    assert_eq!(console.ask(&request(), &gone), Err(ChannelError::Cancelled));
}

// J-45
#[test]
fn one_question_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let settings = Settings {
        lock: Some(directory.path().join("prompt.lock")),
        ..settings()
    };
    let console =
        |typed: &'static str| Console::over(Cursor::new(typed), Paper::default(), settings.clone());
    let (mut first, mut second) = (console("y\ny\n"), console("y\n"));
    assert_eq!(first.take_turn(&waiting(1000)), Ok(Turn::AtOnce));
    assert_eq!(
        second.ask(&request(), &waiting(150)),
        Err(ChannelError::Timeout)
    );
    assert!(first.ask(&request(), &waiting(1000)).is_ok());
    // What was answered must be remembered before the next one is judged.
    assert_eq!(
        second.ask(&request(), &waiting(150)),
        Err(ChannelError::Timeout)
    );
    first.end_turn();
    assert!(second.ask(&request(), &waiting(1000)).is_ok());
    drop(second);
    assert_eq!(first.take_turn(&waiting(1000)), Ok(Turn::AtOnce));
}

#[test]
fn what_came_of_an_answer_is_told() {
    let paper = Paper::default();
    let mut console = Console::over(Cursor::new(""), paper.clone(), settings());
    console.told(&request(), "nothing was\nchanged");
    let seen = String::from_utf8(paper.0.borrow().clone()).unwrap();
    assert_eq!(seen, "  Holdpoint: nothing was\\nchanged\n");
}

#[test]
fn the_environment_names_editor_and_colour() {
    let variables = |pairs: &[(&str, &str)]| {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        move |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        }
    };
    assert_eq!(editor_of(&variables(&[])), ["vi"]);
    assert_eq!(
        editor_of(&variables(&[("EDITOR", "nano -w"), ("VISUAL", " ")])),
        ["nano", "-w"]
    );
    assert_eq!(
        editor_of(&variables(&[("EDITOR", "nano"), ("VISUAL", "vim")])),
        ["vim"]
    );
    assert!(wants_no_colour(&variables(&[("NO_COLOR", "1")])));
    assert!(wants_no_colour(&variables(&[("TERM", "dumb")])));
    assert!(!wants_no_colour(&variables(&[("NO_COLOR", "")])));
}
