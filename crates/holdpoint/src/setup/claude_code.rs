//! Claude Code's `settings.json`: our entries among its hooks.

use std::env;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::{Scope, SetupError};

/// A moment at which the agent asks.
struct Event {
    name: &'static str,
    /// Whether it takes place for a tool, which an entry may name.
    of_tool: bool,
    /// Seconds the agent waits.
    timeout: u64,
    /// What the agent does if the hook cannot be run or ends without a word.
    on_failure: Option<&'static str>,
}

/// Before each call, after it, and when the user has written something. What a user writes is never
/// stopped by a hook that fails: every call that follows is.
const EVENTS: [Event; 4] = [
    Event {
        name: "PreToolUse",
        of_tool: true,
        timeout: TIMEOUT,
        on_failure: Some("block"),
    },
    Event {
        name: "PostToolUse",
        of_tool: true,
        timeout: TIMEOUT_OF_TEXT,
        on_failure: Some("block"),
    },
    Event {
        name: "PostToolUseFailure",
        of_tool: true,
        timeout: TIMEOUT_OF_TEXT,
        on_failure: None,
    },
    Event {
        name: "UserPromptSubmit",
        of_tool: false,
        timeout: TIMEOUT_OF_TEXT,
        on_failure: None,
    },
];

/// What follows the program.
const ARGUMENTS: [&str; 2] = ["hook", "claude-code"];

/// Seconds the agent waits. A person may take their time: the hook waits for an answer for at most
/// 540 of them, and for anything else for 5.
const TIMEOUT: u64 = 600;

/// Seconds the agent waits where nobody is asked.
const TIMEOUT_OF_TEXT: u64 = 30;

/// What was set before calls could be held. Nobody has time to answer in it.
const OLD_TIMEOUT: u64 = 10;

/// What some editors write in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where the settings of a scope are.
pub(super) fn settings_file(scope: Scope, directory: &Path) -> Result<PathBuf, SetupError> {
    match scope {
        Scope::Project => Ok(directory.join(".claude/settings.json")),
        Scope::Local => Ok(directory.join(".claude/settings.local.json")),
        Scope::User => env::var_os("CLAUDE_CONFIG_DIR")
            .filter(|path| !path.is_empty())
            .map(|path| directory.join(path))
            .or_else(|| {
                let home = env::home_dir().filter(|home| home.is_absolute())?;
                Some(home.join(".claude"))
            })
            .map(|base| base.join("settings.json"))
            .ok_or(SetupError::NoHome),
    }
}

/// The text with current entries for `program`, and whether there were some that were kept or
/// brought up to date.
pub(super) fn registered(text: &str, program: &str) -> Result<(String, bool), String> {
    let settings = Settings::read(text)?;
    let mut known = false;
    let mut changed = false;
    for event in &EVENTS {
        let handlers = settings.handlers(event.name)?;
        let ours = || {
            handlers
                .iter()
                .filter(|handler| handler.is_ours(Some(program)) && handler.sees_everything())
        };
        known |= ours().next().is_some();
        if ours().any(|handler| handler.is_current(event, program)) {
            continue;
        }
        changed = true;
        match ours().next() {
            Some(stale) => stale.renew(event, program),
            None => settings.add(event, program)?,
        }
    }
    if changed {
        return Ok((settings.text(), known));
    }
    Ok((text.to_owned(), known))
}

/// The text without our entries.
pub(super) fn unregistered(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let settings = Settings::read(text)?;
    for event in &EVENTS {
        for handler in settings.handlers(event.name)? {
            if handler.is_ours(None) {
                handler.take_out();
            }
        }
    }
    Ok(settings.text())
}

/// Why the agent runs no hook of these settings, though they hold one. Observed of Claude Code
/// 2.1.325, which says so only when it ends.
pub(super) fn hindrance(text: &str) -> Option<String> {
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match serde_json::from_str::<Value>(plain) {
        Err(error) => Some(format!(
            "Claude Code does not load settings with comments or trailing commas (line {})",
            error.line()
        )),
        Ok(settings) => (settings.get("disableAllHooks") == Some(&Value::Bool(true)))
            .then(|| "`disableAllHooks` is true in these settings".into()),
    }
}

struct Settings {
    root: CstRootNode,
    marked: bool,
}

impl Settings {
    fn read(text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix(BYTE_ORDER_MARK);
        let root = CstRootNode::parse(plain.unwrap_or(text), &ParseOptions::default())
            .map_err(|error| error.to_string())?;
        Ok(Self {
            root,
            marked: plain.is_some(),
        })
    }

    fn text(&self) -> String {
        let mark = if self.marked { "\u{feff}" } else { "" };
        format!("{mark}{}", self.root)
    }

    /// Every command that is run at an event.
    fn handlers(&self, event: &str) -> Result<Vec<Handler>, String> {
        let object = match self.root.value() {
            Some(value) => value.as_object().ok_or("the settings are not an object")?,
            None => return Ok(Vec::new()),
        };
        let Some(hooks) = object.get("hooks").and_then(|hooks| hooks.value()) else {
            return Ok(Vec::new());
        };
        let hooks = hooks.as_object().ok_or("`hooks` is not an object")?;
        let Some(groups) = hooks.get(event).and_then(|groups| groups.value()) else {
            return Ok(Vec::new());
        };
        let groups = groups
            .as_array()
            .ok_or_else(|| format!("`hooks.{event}` is not an array"))?;
        let groups = groups.elements().into_iter();
        Ok(groups
            .filter_map(|group| group.as_object())
            .flat_map(|group| {
                let list = group.array_value("hooks");
                let handlers = list.iter().flat_map(CstArray::elements);
                let handlers: Vec<CstObject> =
                    handlers.filter_map(|handler| handler.as_object()).collect();
                handlers.into_iter().map(move |handler| Handler {
                    group: group.clone(),
                    handler,
                })
            })
            .collect())
    }

    fn add(&self, event: &Event, program: &str) -> Result<(), String> {
        let object = self.root.object_value_or_create();
        let groups = object
            .and_then(|object| object.object_value_or_create("hooks"))
            .and_then(|hooks| hooks.array_value_or_create(event.name))
            .ok_or("there is no place for a hook in it")?;
        let mut handler: Vec<(String, CstInputValue)> = vec![
            ("type".into(), "command".into()),
            ("command".into(), program.into()),
            ("args".into(), arguments()),
            ("timeout".into(), event.timeout.into()),
        ];
        if let Some(word) = event.on_failure {
            handler.push(("onFailure".into(), word.into()));
        }
        let mut group: Vec<(String, CstInputValue)> = Vec::new();
        if event.of_tool {
            group.push(("matcher".into(), "*".into()));
        }
        let handlers = vec![CstInputValue::Object(handler)];
        group.push(("hooks".into(), CstInputValue::Array(handlers)));
        groups.append(CstInputValue::Object(group));
        Ok(())
    }
}

fn arguments() -> CstInputValue {
    CstInputValue::Array(ARGUMENTS.map(CstInputValue::from).into())
}

/// One command, in the group that says for which tools it is run.
struct Handler {
    group: CstObject,
    handler: CstObject,
}

impl Handler {
    fn value(&self, key: &str) -> Value {
        value_of(&self.handler, key)
    }

    /// Whether it runs Holdpoint's hook, with its arguments apart or in a line for the shell.
    fn is_ours(&self, program: Option<&str>) -> bool {
        let command = self.value("command");
        let Some(command) = command.as_str() else {
            return false;
        };
        let args = self.value("args");
        let called = if args.is_null() {
            let line = command.trim();
            line.strip_suffix(&format!(" {}", ARGUMENTS.join(" ")))
                .map(|called| called.trim().trim_matches(['"', '\'']))
        } else {
            (args == Value::from(ARGUMENTS.to_vec())).then_some(command)
        };
        called.is_some_and(|called| {
            let file = called.rsplit(['/', '\\']).next().unwrap_or(called);
            Some(called) == program || matches!(file, "holdpoint" | "holdpoint.exe")
        })
    }

    /// Whether nothing keeps it from being asked at some time, or from being waited for.
    fn sees_everything(&self) -> bool {
        let everything = match value_of(&self.group, "matcher") {
            Value::Null => true,
            Value::String(matcher) => matcher.is_empty() || matcher == "*",
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        };
        let unconditional = ["if", "once", "async", "asyncRewake"]
            .iter()
            .all(|key| matches!(self.value(key), Value::Null | Value::Bool(false)));
        everything && unconditional
    }

    fn is_current(&self, event: &Event, program: &str) -> bool {
        self.value("type") == "command"
            && self.value("command") == program
            && self.value("args") == Value::from(ARGUMENTS.to_vec())
            && self.has_time()
            && event
                .on_failure
                .is_none_or(|word| self.value("onFailure") == word)
    }

    /// Whether its owner, or a recent version, has said how long the agent waits.
    fn has_time(&self) -> bool {
        self.value("timeout")
            .as_u64()
            .is_some_and(|seconds| seconds != OLD_TIMEOUT)
    }

    /// Sets what must be so, and leaves what its owner added.
    fn renew(&self, event: &Event, program: &str) {
        self.set("type", "command".into());
        self.set("command", program.into());
        self.set("args", arguments());
        if !self.has_time() {
            self.set("timeout", event.timeout.into());
        }
        if let Some(word) = event.on_failure {
            self.set("onFailure", word.into());
        }
    }

    fn set(&self, key: &str, value: CstInputValue) {
        match self.handler.get(key) {
            Some(property) => property.set_value(value),
            None => {
                self.handler.append(key, value);
            }
        }
    }

    /// Removes it, and whatever is empty without it.
    fn take_out(self) {
        let list = self.group.array_value("hooks");
        self.handler.remove();
        if !list.is_some_and(|list| is_empty(list.children())) {
            return;
        }
        let groups = self.group.parent().and_then(|parent| parent.as_array());
        self.group.remove();
        let Some(groups) = groups.filter(|groups| is_empty(groups.children())) else {
            return;
        };
        let event = groups.parent().and_then(|parent| parent.as_object_prop());
        let hooks = event
            .as_ref()
            .and_then(|event| event.parent())
            .and_then(|parent| parent.as_object());
        if let Some(event) = event {
            event.remove();
        }
        let Some(hooks) = hooks.filter(|hooks| is_empty(hooks.children())) else {
            return;
        };
        if let Some(hooks) = hooks.parent().and_then(|parent| parent.as_object_prop()) {
            hooks.remove();
        }
    }
}

/// Whether nothing is left between the brackets, not even a comment.
fn is_empty(children: Vec<CstNode>) -> bool {
    children
        .iter()
        .all(|child| !child.is_comment() && (child.is_trivia() || child.is_token()))
}

fn value_of(object: &CstObject, key: &str) -> Value {
    object
        .get(key)
        .and_then(|property| property.value())
        .and_then(|value| value.to_serde_value())
        .unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/holdpoint";

    fn add(text: &str) -> String {
        let (after, renewed) = registered(text, PROGRAM).unwrap();
        assert!(!renewed);
        after
    }

    #[test]
    fn an_empty_file_gets_a_whole_entry() {
        let expected = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdpoint",
            "args": ["hook", "claude-code"],
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdpoint",
            "args": ["hook", "claude-code"],
            "timeout": 30,
            "onFailure": "block"
          }
        ]
      }
    ],
    "PostToolUseFailure": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdpoint",
            "args": ["hook", "claude-code"],
            "timeout": 30
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdpoint",
            "args": ["hook", "claude-code"],
            "timeout": 30
          }
        ]
      }
    ]
  }
}"#;
        for text in ["", "\n", "{}"] {
            assert_eq!(add(text).trim(), expected, "{text:?}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        for text in [
            "{\n    // why\n    \"model\": \"x\", // here\n    \"env\": {\"A\":\"1\"},\n}\n",
            "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [],\r\n\t\t\"PreToolUse\": [\r\n\t\t\t{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"lint\"}]}\r\n\t\t]\r\n\t}\r\n}\r\n",
            "\u{feff}{\n  \"hooks\": {\n    \"PreToolUse\": [ /* none */ ]\n  }\n}",
        ] {
            let after = add(text);
            // What is there is the old text with something put in.
            let mut rest = after.chars();
            let kept = text.chars().all(|old| rest.any(|new| new == old));
            assert!(kept, "{after}");
            assert_eq!(registered(&after, PROGRAM), Ok((after.clone(), true)));
        }
    }

    #[test]
    fn an_old_entry_is_brought_up_to_date_in_its_place() {
        for old in [
            r#"{"type":"command","command":"/old/holdpoint","args":["hook","claude-code"],"timeout":10,"onFailure":"block"}"#,
            r#"{"type":"command","command":"holdpoint hook claude-code"}"#,
            r#"{"type":"command","command":"\"/old place/holdpoint\" hook claude-code","onFailure":"continue","statusMessage":"…"}"#,
        ] {
            let text = format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{old}]}}]}}}}"#);
            let (after, renewed) = registered(&text, PROGRAM).unwrap();
            assert!(renewed);
            let value: Value = serde_json::from_str(&after).unwrap();
            let handlers = &value["hooks"]["PreToolUse"][0]["hooks"];
            assert_eq!(handlers.as_array().unwrap().len(), 1, "{after}");
            assert_eq!(handlers[0]["command"], PROGRAM);
            assert_eq!(handlers[0]["onFailure"], "block");
            assert_eq!(handlers[0]["timeout"], 600);
            assert_eq!(registered(&after, PROGRAM), Ok((after.clone(), true)));
        }
    }

    #[test]
    fn a_registration_for_calls_alone_is_completed() {
        let whole = add("{}");
        let mut before: Value = serde_json::from_str(&whole).unwrap();
        let hooks = before["hooks"].as_object_mut().unwrap();
        for event in EVENTS.iter().skip(1) {
            hooks.remove(event.name).unwrap();
        }
        let (after, renewed) = registered(&before.to_string(), PROGRAM).unwrap();
        assert!(renewed);
        let after: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(after, serde_json::from_str::<Value>(&whole).unwrap());
    }

    #[test]
    fn an_entry_that_misses_calls_is_no_registration() {
        for (matcher, more) in [
            ("Bash", ""),
            ("*", r#","async":true"#),
            ("*", r#","if":"Bash(*)""#),
        ] {
            let text = format!(
                r#"{{"hooks":{{"PreToolUse":[{{"matcher":"{matcher}","hooks":[{{"type":"command","command":"{PROGRAM}","args":["hook","claude-code"],"timeout":10,"onFailure":"block"{more}}}]}}]}}}}"#
            );
            let value: Value = serde_json::from_str(&add(&text)).unwrap();
            assert_eq!(value["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
        }
    }

    #[test]
    fn what_is_taken_out_is_ours_and_only_that() {
        let others = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"type\":\"command\",\"command\":\"lint\"}]}\n    ]\n  },\n  \"model\": \"x\"\n}\n";
        assert_eq!(unregistered(&add(others)).unwrap(), others);
        assert_eq!(unregistered(others).unwrap(), others);
        assert_eq!(
            unregistered(&add("{\n  \"model\": \"x\"\n}\n")).unwrap(),
            "{\n  \"model\": \"x\"\n}\n"
        );
        assert_eq!(unregistered("").unwrap(), "");
    }

    #[test]
    fn an_entry_the_agent_does_not_load_is_no_guard() {
        assert_eq!(hindrance(&add("\u{feff}{\"model\":\"x\"}")), None);
        let commented = hindrance(&add("{\n  // why\n}")).unwrap();
        assert!(commented.ends_with("(line 2)"), "{commented}");
        assert!(hindrance(&add("{\"model\":\"x\",}")).is_some());
        assert!(hindrance(&add("{\"disableAllHooks\":true}")).is_some());
    }

    #[test]
    fn settings_of_another_shape_are_left_alone() {
        for text in [
            "[]",
            "1",
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"PreToolUse":{}}}"#,
        ] {
            assert!(registered(text, PROGRAM).is_err(), "{text}");
            assert!(unregistered(text).is_err(), "{text}");
        }
    }
}
