//! The reader over the forms agents write, and over what nobody should.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(text: &[u8]) -> (Option<Writer>, Vec<Recorded>, Vec<(u64, String)>) {
    let mut seen = Seen::default();
    let mut reader = Reader::new(text, &mut seen);
    let (mut calls, mut problems) = (Vec::new(), Vec::new());
    while let Some(item) = reader.read_next().unwrap() {
        match item {
            Item::Call(call) => calls.push(*call),
            Item::Problem { line, problem } => problems.push((line, problem)),
        }
    }
    (reader.writer(), calls, problems)
}

fn lines(records: &[Value]) -> Vec<u8> {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    lines.join("\n").into_bytes()
}

/// What a call is, in one line.
fn brief(call: &Recorded) -> String {
    let made = match &call.call {
        Ok(made) => made.signature(),
        Err(problem) => format!("? {problem}"),
    };
    format!(
        "{} {} {} {}",
        call.line,
        call.tool,
        call.outcome.map_or("-", Outcome::as_str),
        made
    )
}

fn briefs(records: &[Value]) -> Vec<String> {
    let (_, calls, problems) = read(&lines(records));
    assert_eq!(problems, []);
    calls.iter().map(brief).collect()
}

fn assistant(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "assistant", "sessionId": "s", "cwd": "/work/app/src", "timestamp": "2026-11-16T03:47:08.551Z",
        "message": {"role": "assistant", "content": [
            {"type": "text", "text": "now"}, {"type": "tool_use", "id": id, "name": name, "input": input}]}})
}

fn result(id: &str, error: bool, text: &str) -> Value {
    json!({"type": "user", "sessionId": "s", "cwd": "/work/app",
        "message": {"content": [{"type": "tool_result", "tool_use_id": id, "is_error": error, "content": text}]}})
}

#[test]
fn claude_code_says_what_it_called_and_what_came_of_it() {
    let mut refused = result("c", true, "no");
    refused["permissionDecision"] = json!({"decision": "reject", "source": "hook"});
    let mut asked = result("d", true, "needs approval");
    asked["toolDenialKind"] = json!("user-rejected");
    let records = [
        json!({"type": "user", "sessionId": "s", "cwd": "/work/app", "message": {"content": "go"}}),
        assistant("a", "Bash", json!({"command": "ls"})),
        assistant("b", "Read", json!({"file_path": "x"})),
        assistant("c", "Bash", json!({"command": "rm -rf /"})),
        assistant("d", "Bash", json!({"command": "make"})),
        assistant("e", "Bash", json!({"command": "true"})),
        assistant("f", "Bash", json!({"command": "sleep 9"})),
        result("a", false, "files"),
        result("b", true, "File does not exist"),
        refused,
        asked,
        result(
            "e",
            true,
            "The user doesn't want to proceed with this tool use. Stop.",
        ),
        // The same calls again, inside the request they were sent back in.
        json!({"type": "api-request-blob", "sessionId": "s", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "z", "name": "Bash", "input": {"command": "ls"}}]}}),
        assistant("a", "Bash", json!({"command": "ls"})),
    ];
    assert_eq!(
        briefs(&records),
        [
            "2 Bash ran ls",
            "3 Read failed Read(file_path=x)",
            "4 Bash refused rm -rf /",
            "5 Bash rejected make",
            "6 Bash rejected true",
            "7 Bash - sleep 9"
        ]
    );
    let (writer, calls, _) = read(&lines(&records));
    assert_eq!(writer, Some(Writer::ClaudeCode));
    let call = calls.first().unwrap();
    assert_eq!(call.workspace.as_deref(), Some("/work/app"));
    assert_eq!(call.directory.as_deref(), Some("/work/app/src"));
    assert_eq!(call.session.as_deref(), Some("s"));
    assert_eq!(
        call.time.unwrap().to_string(),
        "2026-11-16T03:47:08.551000Z"
    );
}

#[test]
fn subagents_are_heard_beside_and_inside_their_parents_transcript() {
    let mut beside = assistant("a", "Bash", json!({"command": "ls"}));
    beside["isSidechain"] = json!(true);
    let inside = json!({"type": "progress", "sessionId": "s", "cwd": "/work/app", "data": {
        "type": "agent_progress", "message": assistant("b", "Bash", json!({"command": "pwd"}))}});
    let (_, calls, _) = read(&lines(&[beside, inside]));
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call.subagent));
}

#[test]
fn a_stream_of_claude_code_starts_with_its_directory() {
    let records = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/work/app", "tools": []}),
        json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {"content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "rm -rf x"}}]}}),
        json!({"type": "user", "session_id": "s", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": "no"}]},
            "tool_result_meta": [{"id": "a", "non_execution_kind": "permission-rule",
                "permission_decision": {"decision": "reject", "source": "config"}}]}),
        json!({"type": "result", "session_id": "s", "permission_denials": []}),
    ];
    assert_eq!(briefs(&records), ["2 Bash refused rm -rf x"]);
    let (_, calls, _) = read(&lines(&records));
    assert_eq!(calls[0].directory.as_deref(), Some("/work/app"));
    // The same, as one list.
    let (_, calls, _) = read(Value::from(records.to_vec()).to_string().as_bytes());
    assert_eq!(calls.len(), 1);
}

fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-11-16T03:47:17.564Z", "type": "response_item", "payload": payload})
}

#[test]
fn codex_is_read_in_the_words_of_its_hooks() {
    let call = |id: &str, name: &str, arguments: Value| {
        item(
            json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments.to_string()}),
        )
    };
    let output = |id: &str, text: &str| {
        item(json!({"type": "function_call_output", "call_id": id, "output": text}))
    };
    let records = [
        json!({"timestamp": "2026-11-16T03:47:17Z", "type": "session_meta",
            "payload": {"id": "s", "session_id": "s", "cwd": "/work/app"}}),
        json!({"type": "turn_context", "payload": {"cwd": "/work/app/sub"}}),
        call(
            "1",
            "exec_command",
            json!({"cmd": "ls", "workdir": "deeper", "yield_time_ms": 1}),
        ),
        call(
            "2",
            "shell",
            json!({"command": ["bash", "-lc", "git status && ls"], "workdir": "/else"}),
        ),
        call(
            "3",
            "shell",
            json!({"command": ["rm", "-rf", "a b", "it's"]}),
        ),
        item(
            json!({"type": "custom_tool_call", "call_id": "4", "name": "apply_patch",
            "input": "*** Begin Patch\n*** Add File: x\n*** End Patch\n"}),
        ),
        item(
            json!({"type": "local_shell_call", "call_id": "5", "action": {"type": "exec", "command": ["pwd"]}}),
        ),
        item(
            json!({"type": "function_call", "namespace": "mcp__demo__", "name": "drop", "call_id": "6", "arguments": "{}"}),
        ),
        call("7", "exec_command", json!({"cmd": "make"})),
        item(
            json!({"type": "function_call", "name": "exec_command", "call_id": "8", "arguments": "{\"cmd\":"}),
        ),
        output(
            "1",
            "Chunk ID: x\nProcess exited with code 0\nOutput:\nProcess exited with code 9",
        ),
        output("2", "exec command rejected by user"),
        output("3", "{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"),
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {
            "type": "CommandExecution", "id": "7", "command": ["/bin/bash", "-lc", "make"], "exit_code": 0, "status": "completed"}}}),
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {
            "type": "CommandExecution", "id": "n", "command": ["/bin/bash", "-lc", "rm -rf /"],
            "cwd": "file:///work/app", "status": "declined"}}}),
    ];
    assert_eq!(
        briefs(&records),
        [
            "3 Bash ran ls",
            "4 Bash rejected git status && ls",
            "5 Bash failed rm -rf 'a b' 'it'\\''s'",
            "6 apply_patch - apply_patch(command=*** Begin Patch\n*** Add File: x\n*** End Patch\n)",
            "7 Bash - pwd",
            "8 mcp__demo__drop - mcp__demo__drop()",
            "9 Bash ran make",
            "10 Bash - ? the arguments cannot be read (EOF while parsing a value)",
            "15 Bash rejected rm -rf /"
        ]
    );
    let (writer, calls, _) = read(&lines(&records));
    assert_eq!(writer, Some(Writer::Codex));
    let stands: Vec<_> = calls
        .iter()
        .map(|call| call.directory.as_deref().unwrap())
        .collect();
    assert_eq!(
        &stands[..3],
        ["/work/app/sub/deeper", "/else", "/work/app/sub"]
    );
    assert!(
        calls
            .iter()
            .all(|call| call.workspace.as_deref() == Some("/work/app"))
    );
}

#[test]
fn the_output_of_codex_exec_tells_calls_when_they_start_and_end() {
    let records = [
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "item.started", "item": {"id": "i1", "type": "command_execution",
            "command": "/bin/bash -lc 'ls'", "exit_code": null, "status": "in_progress"}}),
        json!({"type": "item.completed", "item": {"id": "i1", "type": "command_execution",
            "command": "/bin/bash -lc 'ls'", "exit_code": 1, "status": "failed"}}),
        json!({"type": "item.completed", "item": {"id": "i2", "type": "file_change", "status": "completed",
            "changes": [{"path": "/etc/passwd", "kind": "update"}]}}),
        json!({"type": "item.completed", "item": {"id": "i3", "type": "mcp_tool_call", "server": "d", "tool": "t",
            "arguments": {"x": 1}, "status": "completed"}}),
        json!({"type": "item.completed", "item": {"id": "i4", "type": "agent_message", "text": "done"}}),
    ];
    assert_eq!(
        briefs(&records),
        [
            "2 Bash failed /bin/bash -lc 'ls'",
            "4 apply_patch ran apply_patch(command=*** Begin Patch\n*** Update File: /etc/passwd\n*** End Patch\n)",
            "5 mcp__d__t ran mcp__d__t(x=1)"
        ]
    );
}

#[test]
fn rollouts_of_the_first_releases() {
    let shell = json!({"type": "local_shell_call", "call_id": "1", "action": {"command": ["ls"]}});
    assert_eq!(briefs(std::slice::from_ref(&shell)), ["1 Bash - ls"]);
    let document = json!({"session": {"id": "x"}, "items": [shell, {"type": "message"}]});
    assert_eq!(briefs(&[document]), ["1 Bash - ls"]);
}

fn gemini_call(id: &str, status: &str) -> Value {
    json!({"id": id, "name": "run_shell_command", "args": {"command": format!("echo {id}")}, "status": status})
}

#[test]
fn gemini_writes_a_message_again_when_it_changes() {
    let records = [
        json!({"sessionId": "s", "projectHash": "h", "startTime": "x", "kind": "main"}),
        json!({"id": "m", "timestamp": "2026-11-16T03:47:35.580Z", "type": "gemini", "content": ""}),
        json!({"id": "m", "type": "gemini", "toolCalls": [gemini_call("a", "executing")]}),
        json!({"id": "m", "type": "gemini", "toolCalls": [gemini_call("a", "success"), gemini_call("b", "cancelled")]}),
        json!({"$set": {"messages": [{"type": "gemini", "toolCalls": [gemini_call("c", "error"), gemini_call("a", "success")]}]}}),
    ];
    assert_eq!(
        briefs(&records),
        [
            "3 run_shell_command ran echo a",
            "4 run_shell_command rejected echo b",
            "5 run_shell_command failed echo c"
        ]
    );
}

#[test]
fn a_chat_in_one_document_has_lines_all_the_same() {
    let chat = json!({"sessionId": "s", "projectHash": "h", "messages": [
        {"type": "user", "content": "x"},
        {"type": "gemini", "toolCalls": [gemini_call("a", "success")]},
        {"type": "gemini", "toolCalls": [gemini_call("b", "success")]}]});
    let text = serde_json::to_string_pretty(&chat).unwrap();
    let (writer, calls, problems) = read(text.as_bytes());
    assert_eq!((writer, problems), (Some(Writer::GeminiCli), vec![]));
    let starts = |text: &str, id: &str| {
        let object = text.find(&format!("\"command\": \"echo {id}\"")).unwrap();
        let before = text.get(..object).unwrap();
        before.matches('\n').count() as u64
    };
    let found: Vec<u64> = calls.iter().map(|call| call.line).collect();
    // The object opens one line above its `args`, which open one above the command.
    assert_eq!(found, [starts(&text, "a") - 1, starts(&text, "b") - 1]);
}

#[test]
fn the_streams_of_gemini_and_qwen() {
    let gemini = [
        json!({"type": "init", "timestamp": "2026-11-16T03:47:35.197Z", "session_id": "s", "model": "m"}),
        json!({"type": "tool_use", "timestamp": "2026-11-16T03:47:35.403Z", "tool_name": "run_shell_command",
            "tool_id": "1", "parameters": {"command": "ls"}}),
        json!({"type": "tool_result", "tool_id": "1", "status": "success", "output": ""}),
    ];
    assert_eq!(briefs(&gemini), ["2 run_shell_command ran ls"]);
    let qwen = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w", "qwen_code_version": "0.24.4"}),
        json!({"type": "assistant", "session_id": "s", "message": {"content": [{"type": "tool_use", "id": "1",
            "name": "tool_call", "input": {"name": "run_shell_command", "arguments": "{\"command\":\"ls\"}"}}]}}),
        json!({"type": "user", "session_id": "s", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "1", "is_error": false}]}}),
    ];
    assert_eq!(briefs(&qwen), ["2 run_shell_command ran ls"]);
    assert_eq!(read(&lines(&qwen)).0, Some(Writer::QwenCode));
    let chat = [
        json!({"sessionId": "s", "type": "assistant", "cwd": "/w", "message": {"role": "model", "parts": [
            {"text": "x"}, {"functionCall": {"id": "1", "name": "edit", "args": {"file_path": "a"}}}]}}),
        json!({"sessionId": "s", "type": "tool_result", "cwd": "/w", "message": {"role": "user", "parts": []},
            "toolCallResult": {"callId": "1", "status": "cancelled"}}),
    ];
    assert_eq!(briefs(&chat), ["1 edit rejected edit(file_path=a)"]);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_read() {
    let good = assistant("a", "Bash", json!({"command": "ls"})).to_string();
    let deep = format!(
        r#"{{"type":"assistant","sessionId":"s","message":{{"content":[{{"type":"tool_use","id":"d","name":"Bash","input":{{"command":{}1{}}}}}]}}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    let mut text = Vec::new();
    for line in [
        b"YOLO mode is enabled".as_slice(),
        good.as_bytes(),
        b"{\"type\":\"assistant\",",
        b"\xff\xfe",
        b"{\"a\":\"\0\"}",
        br#"{"type":"assistant","type":"user"}"#,
        br#"{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"ls","command":"rm"}}]}}"#,
        deep.as_bytes(),
        br#"{"type":7,"timestamp":[],"sessionId":{},"message":"x","payload":3}"#,
        br#"{"type":"assistant","sessionId":"s","message":{"content":[3,null,{"type":"tool_use"},{"type":"tool_use","name":"Bash","input":"ls"}]}}"#,
        b"7",
        br#"{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","type":"text","id":"x","name":"Bash","input":{}}]}}"#,
        b"",
    ] {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    let (writer, calls, problems) = read(&text);
    assert_eq!(writer, Some(Writer::ClaudeCode));
    let problems: Vec<String> = problems
        .iter()
        .map(|(line, problem)| format!("{line}: {problem}"))
        .collect();
    assert_eq!(
        problems,
        [
            "1: the line is not JSON",
            "3: the line ends in the middle of its JSON",
            "4: the line is not UTF-8 text",
            "5: the line is not JSON",
            "6: a key is written twice in the line",
            "12: a key is written twice in the line"
        ]
    );
    let calls: Vec<String> = calls.iter().map(brief).collect();
    assert_eq!(
        calls,
        [
            "2 Bash - ls",
            "7 Bash - ? the arguments cannot be read (key `command` is written twice)",
            "8 Bash - ? the arguments cannot be read (recursion limit exceeded)",
            "10  - ? the call names no tool",
            "10 Bash - ? the arguments are a string, not an object"
        ]
    );
}

#[test]
fn a_file_whose_first_line_is_cut_off_is_read_from_its_second() {
    let good = assistant("a", "Bash", json!({"command": "ls"})).to_string();
    let (_, calls, problems) = read(format!("{{\"type\":\n{good}\n{good}").as_bytes());
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].line, 2);
    assert_eq!(
        problems,
        [(1, "the line ends in the middle of its JSON".to_owned())]
    );
}

#[test]
fn what_is_no_transcript_has_no_writer_and_no_problems() {
    for text in [
        "",
        "\n\n",
        "hello\nworld\n",
        "{}",
        "[1,2]",
        "{\"permissions\":{}}",
        "{\n  \"a\": 1\n}\n",
        "\0\0\0",
        "{\"type\":\"x\",\"payload\":{}}",
    ] {
        assert_eq!(read(text.as_bytes()), (None, vec![], vec![]), "{text}");
    }
    let (writer, ..) = read(&b"not json\n".repeat(2_000_000));
    assert_eq!(writer, None);
}

#[test]
fn a_call_continued_in_another_file_counts_once() {
    let text = lines(&[assistant("a", "Bash", json!({"command": "ls"}))]);
    let mut seen = Seen::default();
    let mut count = 0;
    for _ in 0..3 {
        let mut reader = Reader::new(text.as_slice(), &mut seen);
        while let Some(Item::Call(_)) = reader.read_next().unwrap() {
            count += 1;
        }
    }
    assert_eq!((count, seen.repeats()), (1, 2));
    // The same id at another time is another call.
    let mut later = assistant("a", "Bash", json!({"command": "ls"}));
    later["timestamp"] = json!("2026-11-17");
    let later = lines(&[later]);
    let mut reader = Reader::new(later.as_slice(), &mut seen);
    assert!(matches!(reader.read_next().unwrap(), Some(Item::Call(_))));
}

#[test]
fn a_result_far_behind_its_call_is_not_waited_for_for_ever() {
    let mut records: Vec<Value> = (0..2000)
        .map(|number| assistant(&number.to_string(), "Bash", json!({"command": "ls"})))
        .collect();
    records.push(result("0", false, ""));
    records.push(result("1999", false, ""));
    let (_, calls, _) = read(&lines(&records));
    assert_eq!(calls.len(), 2000);
    assert_eq!(calls[0].outcome, None);
    assert_eq!(calls[1999].outcome, Some(Outcome::Ran));
    assert!(calls.is_sorted_by_key(|call| call.line));
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (writer, calls, _) = read(&bytes);
        prop_assert!(writer.is_some() || calls.is_empty());
    }

    /// Pieces of records, put together at random and cut anywhere.
    #[test]
    fn broken_records_are_read_to_their_end(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40), cut in any::<prop::sample::Index>()
    ) {
        let whole = pieces.concat();
        let bytes = whole.as_bytes();
        let _ = read(&bytes[..cut.index(bytes.len() + 1)]);
    }

    /// Whatever stands around and between them.
    #[test]
    fn every_call_in_a_line_that_can_be_read_is_given(
        inputs in prop::collection::vec(json_value(), 1..20), noise in ".{0,40}", others in prop::collection::vec(json_value(), 0..5)
    ) {
        let mut records = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            records.push(assistant(&number.to_string(), "Bash", input.clone()));
            for other in &others {
                records.push(json!({"type": "user", "sessionId": "s", "message": {"content": other}, "extra": other}));
            }
        }
        let mut text = lines(&records);
        text.extend_from_slice(b"\n");
        text.extend_from_slice(noise.as_bytes());
        let (_, calls, _) = read(&text);
        prop_assert_eq!(calls.len(), inputs.len());
        for (call, input) in calls.iter().zip(&inputs) {
            match input {
                Value::Object(fields) => prop_assert_eq!(call.call.as_ref().unwrap().input(), fields),
                Value::Null => prop_assert!(call.call.is_ok()),
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    prop_assert!(call.call.is_err());
                }
            }
        }
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\"",
    "\"type\":",
    "\"assistant\"",
    "\"message\":",
    "\"content\":[",
    "\"tool_use\"",
    "\"name\":\"Bash\"",
    "\"input\":{\"command\":\"ls\"}",
    "\"payload\":{",
    "\"response_item\"",
    "\"function_call\"",
    "\"arguments\":\"{}\"",
    "\"toolCalls\":[",
    "\"args\":",
    "\"item\":",
    "\"item.completed\"",
    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{}}]}}\n",
    "null",
    "1e400",
    "\\u0000",
    "\"\\ud800\"",
];

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(".{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
