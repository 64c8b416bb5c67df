//! `holdpoint acp` between a scripted agent and a scripted editor: what each of them is told, and
//! what is on record.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "acp/stage.rs"]
mod stage;

use serde_json::{Value, json};

use crate::stage::{Stage, request, selected};

const CANCELLED: &str = "cancelled";

/// What the agent was told.
fn outcome(answer: &Value) -> &str {
    let outcome = &answer["result"]["outcome"];
    match outcome["outcome"].as_str() {
        Some("selected") => outcome["optionId"].as_str().unwrap(),
        other => other.unwrap_or("none"),
    }
}

fn command(command: &str) -> Value {
    json!({"toolCallId": "c", "title": "run", "kind": "execute", "rawInput": {"command": command}})
}

#[test]
fn what_is_denied_is_refused_without_asking() {
    let mut stage =
        Stage::under(json!({"defaultPolicy": "defer", "deny": {"patterns": ["make *"]}}));
    stage.agent_asks(&request(json!(0), &command("make all")));
    assert_eq!(outcome(&stage.agent_hears()), "no-once");
    stage.agent_says(r#"{"jsonrpc":"2.0","method":"next"}"#);
    assert_eq!(
        stage.editor_hears()["method"],
        "next",
        "the editor was asked"
    );
    assert_eq!(stage.records(), ["decision deny"]);
    assert!(stage.end().1.contains("refused: "));
}

#[test]
fn what_a_rule_allows_is_allowed_once() {
    let mut stage =
        Stage::under(json!({"defaultPolicy": "ask", "allow": {"patterns": ["make *"]}}));
    stage.agent_asks(&request(json!("text id"), &command("make all")));
    let answer = stage.agent_hears();
    assert_eq!(
        (outcome(&answer), &answer["id"]),
        ("yes-once", &json!("text id"))
    );
    assert_eq!(stage.records(), ["decision allow"]);
}

#[test]
fn what_nothing_objects_to_is_the_editors_question() {
    let mut stage = Stage::under(json!({"defaultPolicy": "defer"}));
    let line = request(json!(3), &command("make all"));
    stage.agent_asks(&line);
    assert_eq!(stage.editor_hears_line(), line);
    stage.editor_says(&selected(json!(3), "yes-always"));
    assert_eq!(outcome(&stage.agent_hears()), "yes-always");
    assert_eq!(stage.records(), ["decision allow"]);
}

#[test]
fn what_is_asked_about_runs_by_the_editors_yes() {
    let mut stage = Stage::asking();
    stage.agent_asks(&request(json!(4), &command("make all")));
    let shown = stage.editor_hears();
    let call = &shown["params"]["toolCall"];
    let title = call["title"].as_str().unwrap();
    assert!(
        title.starts_with("Holdpoint: ") && title.ends_with(" · run"),
        "{title}"
    );
    assert_eq!(call["rawInput"], json!({"command": "make all"}));
    let options = shown["params"]["options"].as_array().unwrap();
    assert!(
        options
            .iter()
            .all(|option| option["kind"] != "allow_always"),
        "{options:?}"
    );
    stage.editor_says(&selected(json!(4), "yes-once"));
    assert_eq!(outcome(&stage.agent_hears()), "yes-once");
    assert_eq!(
        stage.records(),
        [
            "decision ask",
            "hold_opened",
            "hold_answered allow",
            "release allow"
        ]
    );
}

#[test]
fn what_is_asked_about_does_not_run_by_anything_else() {
    let error = r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"x"}}"#.to_owned();
    let cancelled = r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}"#;
    let unknown = r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"approved","optionId":"yes-once"}}}"#;
    for (said, told, record) in [
        (
            selected(json!(5), "no-once"),
            "no-once",
            "hold_answered deny",
        ),
        (
            selected(json!(5), "yes-always"),
            "no-once",
            "hold_answered deny",
        ),
        (
            selected(json!(5), "never offered"),
            "no-once",
            "hold_answered deny",
        ),
        (cancelled.to_owned(), CANCELLED, "hold_expired deny"),
        (unknown.to_owned(), "no-once", "hold_answered deny"),
        (error, "no-once", "hold_answered deny"),
    ] {
        let mut stage = Stage::asking();
        stage.agent_asks(&request(json!(5), &command("make all")));
        stage.editor_hears();
        stage.editor_says(&said);
        assert_eq!(outcome(&stage.agent_hears()), told, "{said}");
        assert_eq!(
            stage.records(),
            ["decision ask", "hold_opened", record],
            "{said}"
        );
    }
}

#[test]
fn an_answer_under_another_number_is_none() {
    let mut stage = Stage::asking();
    stage.agent_asks(&request(json!(6), &command("make all")));
    stage.editor_hears();
    stage.editor_says(&selected(json!("6"), "yes-once"));
    assert_eq!(stage.agent_hears()["id"], "6", "it is passed on as it is");
    stage.editor_says(&selected(json!(6), "no-once"));
    assert_eq!(outcome(&stage.agent_hears()), "no-once");
}

#[test]
fn a_command_that_stands_only_in_the_title_is_judged() {
    let mut stage = Stage::under(json!({"defaultPolicy": "defer"}));
    let call =
        json!({"toolCallId": "c", "title": "rm -rf /", "kind": "execute", "status": "pending"});
    stage.agent_asks(&request(json!(0), &call));
    assert_eq!(outcome(&stage.agent_hears()), "no-once");
    let call = json!({"toolCallId": "c", "title": "touch a (makes a file)", "kind": "execute"});
    stage.agent_asks(&request(json!(1), &call));
    let title = stage.editor_hears()["params"]["toolCall"]["title"].clone();
    assert!(
        title.as_str().unwrap().starts_with("Holdpoint: "),
        "{title}"
    );
}

#[test]
fn a_request_that_cannot_be_read_is_refused() {
    let mut stage = Stage::under(json!({"defaultPolicy": "defer"}));
    for (line, told) in [
        // Options can be read, the call cannot.
        (request(json!(1), &json!("make")), "no-once"),
        (request(json!(1), &json!({"kind": "execute"})), "no-once"),
        (
            request(json!(1), &command("make")).replace("\"s\"", "\"unknown\""),
            "no-once",
        ),
        (
            request(json!(1), &command("make")).replace("no-once", "yes-once"),
            CANCELLED,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission"}"#.into(),
            CANCELLED,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"session\/request_permission","params":7}"#.into(),
            CANCELLED,
        ),
        (
            request(json!(1), &command("make"))
                .replace("{\"command\":", "{\"command\":\"ls\",\"command\":"),
            CANCELLED,
        ),
    ] {
        stage.agent_asks(&line);
        assert_eq!(outcome(&stage.agent_hears()), told, "{line}");
    }
    for line in [
        r#"{"method":"session/request_permission","method":"x","id":1}"#,
        r#"[{"method":"session/request_permission","id":1}]"#,
        r#"{"method":"session/request_permission"}"#,
        "noise",
    ] {
        stage.agent_asks(line);
        assert_eq!(stage.agent_hears()["error"]["code"], -32700, "{line}");
    }
    stage.agent_says(r#"{"jsonrpc":"2.0","method":"next"}"#);
    assert_eq!(
        stage.editor_hears()["method"],
        "next",
        "none of it reached the editor"
    );
}

#[test]
fn a_line_without_end_goes_nowhere_and_the_next_one_does() {
    let mut stage = Stage::asking();
    let long = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(16 << 20));
    stage.editor_says(&long);
    assert_eq!(stage.editor_hears()["error"]["code"], -32700);
    stage.agent_says_from_file(&long);
    assert_eq!(stage.agent_hears()["error"]["code"], -32700);
    stage.agent_says(r#"{"jsonrpc":"2.0","method":"next"}"#);
    assert_eq!(stage.editor_hears()["method"], "next");
}

#[test]
fn lines_go_through_to_the_byte() {
    let mut stage = Stage::asking();
    let line =
        r#"{ "z":1.50, "jsonrpc":"2.0","method":"_x/y", "params":{"b":"\ud800","a":1e400} }"#;
    stage.agent_says(line);
    assert_eq!(stage.editor_hears_line(), line);
    stage.editor_says(line);
    assert_eq!(stage.agent_hears_line(), line);
}

#[test]
fn an_agent_that_dies_takes_its_question_along() {
    let mut stage = Stage::asking();
    stage.agent_asks(&request(json!(7), &command("make all")));
    stage.editor_hears();
    stage.agent_exits(9);
    assert_eq!(stage.end().0, Some(9));
    assert_eq!(
        stage.records(),
        ["decision ask", "hold_opened", "hold_expired deny"]
    );
}

#[test]
fn a_question_that_is_cancelled_by_either_side_is_withdrawn() {
    let by_agent = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}"#;
    let session = request(json!(8), &command("make all"));
    let session: Value = serde_json::from_str(&session).unwrap();
    let by_editor = json!({
        "jsonrpc": "2.0",
        "method": "session/cancel",
        "params": {"sessionId": session["params"]["sessionId"]},
    });
    for editor in [true, false] {
        let mut stage = Stage::asking();
        stage.agent_asks(&request(json!(8), &command("make all")));
        stage.editor_hears();
        match editor {
            true => {
                stage.editor_says(&by_editor.to_string());
                assert_eq!(stage.agent_hears(), by_editor, "it is passed on");
            }
            false => {
                stage.agent_says(by_agent);
                assert_eq!(stage.editor_hears_line(), by_agent, "it is passed on");
            }
        }
        let answer = stage.agent_hears();
        assert_eq!((outcome(&answer), &answer["id"]), (CANCELLED, &json!(8)));
        stage.editor_says(&selected(json!(8), "yes-once"));
        assert_eq!(
            stage.records(),
            ["decision ask", "hold_opened", "hold_expired deny"]
        );
    }
}

#[test]
fn an_editor_that_closes_has_said_no() {
    let mut stage = Stage::asking();
    stage.agent_asks(&request(json!(8), &command("make all")));
    stage.editor_hears();
    stage.editor_closes();
    assert_eq!(outcome(&stage.agent_hears()), "no-once");
    assert_eq!(stage.end().0, Some(0));
    assert_eq!(
        stage.records(),
        ["decision ask", "hold_opened", "hold_answered deny"]
    );
}

#[test]
fn an_agent_that_will_not_go_is_made_to() {
    let mut stage = Stage::stubborn();
    stage.editor_closes();
    assert_eq!(stage.end().0, Some(128 + 9));
}

#[test]
fn a_question_nobody_answers_in_time_is_refused_for_good() {
    let mut stage = Stage::under(json!({"defaultPolicy": "ask", "approval": {"deadline": 1}}));
    stage.agent_asks(&request(json!(2), &command("make all")));
    stage.editor_hears();
    assert_eq!(outcome(&stage.agent_hears()), "no-once");
    stage.editor_says(&selected(json!(2), "yes-once"));
    stage.editor_says(r#"{"jsonrpc":"2.0","method":"next"}"#);
    assert_eq!(
        stage.agent_hears()["method"],
        "next",
        "the late yes was heard"
    );
    assert_eq!(
        stage.records(),
        ["decision ask", "hold_opened", "hold_expired deny"]
    );
}

#[test]
fn an_editor_cannot_answer_for_certain_people() {
    let mut stage = Stage::under(json!({"defaultPolicy": "ask", "approval": {"required": 2}}));
    stage.agent_asks(&request(json!(2), &command("make all")));
    assert_eq!(outcome(&stage.agent_hears()), "no-once");
    assert_eq!(stage.records(), ["decision ask", "decision deny"]);
}

#[test]
fn questions_are_told_apart_and_the_agent_goes_on_talking() {
    let mut stage = Stage::asking();
    for id in [json!(1), json!("1")] {
        stage.agent_asks(&request(id.clone(), &command("make all")));
        assert_eq!(stage.editor_hears()["id"], id);
    }
    stage.agent_says(r#"{"jsonrpc":"2.0","method":"session/update"}"#);
    assert_eq!(stage.editor_hears()["method"], "session/update");
    stage.editor_says(&selected(json!("1"), "yes-once"));
    let answer = stage.agent_hears();
    assert_eq!((outcome(&answer), &answer["id"]), ("yes-once", &json!("1")));
    stage.editor_says(&selected(json!(1), "no-once"));
    let answer = stage.agent_hears();
    assert_eq!((outcome(&answer), &answer["id"]), ("no-once", &json!(1)));
}
