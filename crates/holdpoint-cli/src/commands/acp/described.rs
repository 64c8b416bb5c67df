//! What an agent says of a call it asks about, and the call that is.
//!
//! ACP names no tool: there is a kind, a title and, if the agent wants, the arguments. A kind is the
//! agent's word, so it makes a call one of a known tool only where the arguments fit. Any other is of
//! a tool nobody has described, `acp_` and its kind, with the files it is said to be about.

use holdpoint_engine::ToolCall;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A call as it is described.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Described {
    title: Option<String>,
    kind: Option<String>,
    raw_input: Option<Value>,
    locations: Option<Vec<Value>>,
    content: Option<Vec<Value>>,
}

impl Described {
    /// The call, or why there is none to judge.
    pub(super) fn call(&self) -> Result<ToolCall, String> {
        let kind = self.kind.as_deref().map(known_kind);
        let (tool, input) = match (&self.raw_input, kind) {
            (None, Some("execute")) => match &self.title {
                Some(title) => shell(Map::new(), title),
                None => return Err("a command was asked about without the command".into()),
            },
            (None, kind) => self.opaque(kind, Map::new()),
            (Some(Value::Object(input)), None | Some("execute")) => match commands(input)? {
                Some(command) => shell(input.clone(), &command),
                None => self.opaque(kind, input.clone()),
            },
            (Some(Value::Object(input)), Some(kind)) => self.of_kind(kind, input.clone()),
            (Some(Value::String(command)), Some("execute")) => shell(Map::new(), command),
            (Some(_), _) => return Err("`rawInput` must be an object".into()),
        };
        ToolCall::new(tool, Value::Object(input)).map_err(|error| error.to_string())
    }

    fn of_kind(&self, kind: &str, mut input: Map<String, Value>) -> (String, Map<String, Value>) {
        let has = |keys: &[&str]| {
            keys.iter()
                .any(|key| input.get(*key).is_some_and(Value::is_string))
        };
        let plain = commands(&input).is_ok_and(|found| found.is_none());
        let tool = match kind {
            "read" if plain && has(PATHS) => "Read",
            "edit" if plain && has(PATHS) => "Edit",
            "delete" if plain && has(PATHS) => "Delete",
            "fetch" if plain && has(&["url"]) => "WebFetch",
            _ => return self.opaque(Some(kind), input),
        };
        self.add_paths(&mut input);
        (tool.to_owned(), input)
    }

    /// A call of a tool nobody has described.
    fn opaque(
        &self,
        kind: Option<&str>,
        mut input: Map<String, Value>,
    ) -> (String, Map<String, Value>) {
        if self.raw_input.is_none()
            && let Some(title) = &self.title
        {
            input.insert("title".into(), json!(title));
        }
        self.add_paths(&mut input);
        (format!("acp_{}", kind.unwrap_or("other")), input)
    }

    /// Adds the files the call is said to be about, unless the arguments have them under that name.
    fn add_paths(&self, input: &mut Map<String, Value>) {
        let places = self
            .locations
            .iter()
            .flatten()
            .chain(self.content.iter().flatten());
        let paths: Vec<&str> = places
            .filter_map(|place| place.get("path")?.as_str())
            .collect();
        if !paths.is_empty() && !input.contains_key("paths") {
            input.insert("paths".into(), json!(paths));
        }
    }
}

/// The arguments in which agents' own file tools name their file.
const PATHS: &[&str] = &["file_path", "filePath", "path", "absolute_path"];

/// The kinds of ACP 1; any other word is as good as none.
fn known_kind(word: &str) -> &'static str {
    const KINDS: [&str; 10] = [
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    ];
    KINDS
        .into_iter()
        .find(|kind| *kind == word)
        .unwrap_or("other")
}

fn shell(mut input: Map<String, Value>, command: &str) -> (String, Map<String, Value>) {
    input.insert("command".into(), json!(command));
    ("Bash".into(), input)
}

/// Every command the arguments name, as one script: which of them the agent would run is not said.
fn commands(input: &Map<String, Value>) -> Result<Option<String>, String> {
    let mut found: Vec<String> = Vec::new();
    for key in ["command", "cmd", "commands", "script"] {
        let texts = match input.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(words)) => {
                let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                let words = words.ok_or_else(|| format!("`{key}` holds more than text"))?;
                match key {
                    "commands" => words.into_iter().map(str::to_owned).collect(),
                    _ => vec![words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")],
                }
            }
            Some(_) => return Err(format!("`{key}` is neither text nor a list of texts")),
        };
        for text in texts {
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    Ok((!found.is_empty()).then(|| found.join("\n")))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<(String, Value), String> {
        let described: Described = serde_json::from_str(text).unwrap();
        let call = described.call()?;
        Ok((call.tool().to_owned(), Value::Object(call.input().clone())))
    }

    #[test]
    fn a_command_is_found_wherever_an_agent_puts_it() {
        for (text, command) in [
            (
                r#"{"kind":"execute","title":"test","rawInput":{"command":"ls","commands":["ls"]}}"#,
                "ls",
            ),
            (
                r#"{"kind":"execute","rawInput":{"command":"ls","commands":["rm x"]}}"#,
                "ls\nrm x",
            ),
            (
                r#"{"kind":"execute","rawInput":{"command":["bash","-lc","echo 'a'"]}}"#,
                r"'bash' '-lc' 'echo '\''a'\'''",
            ),
            (r#"{"rawInput":{"command":"ls"}}"#, "ls"),
            (r#"{"kind":"execute","title":"touch a"}"#, "touch a"),
            (r#"{"kind":"execute","rawInput":"touch a"}"#, "touch a"),
        ] {
            let (tool, input) = call(text).unwrap();
            assert_eq!(
                (tool.as_str(), input["command"].as_str()),
                ("Bash", Some(command)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_kind_makes_a_known_tool_only_with_its_arguments() {
        for (text, tool) in [
            (r#"{"kind":"read","rawInput":{"path":"a"}}"#, "Read"),
            (r#"{"kind":"read","rawInput":{"id":7}}"#, "acp_read"),
            (
                r#"{"kind":"read","rawInput":{"path":"a","command":"rm a"}}"#,
                "acp_read",
            ),
            (
                r#"{"kind":"edit","title":"a","content":[{"type":"diff","path":"/a"}]}"#,
                "acp_edit",
            ),
            (r#"{"kind":"other","rawInput":{}}"#, "acp_other"),
            (r#"{"kind":"brand_new","title":"x"}"#, "acp_other"),
            (r#"{"title":"x"}"#, "acp_other"),
        ] {
            assert_eq!(call(text).unwrap().0, tool, "{text}");
        }
        let (_, input) =
            call(r#"{"kind":"edit","content":[{"type":"diff","path":"/a"}]}"#).unwrap();
        assert_eq!(input["paths"], json!(["/a"]));
    }

    #[test]
    fn what_cannot_be_told_is_no_call() {
        for text in [
            r#"{"kind":"execute"}"#,
            r#"{"kind":"execute","rawInput":7}"#,
            r#"{"kind":"execute","rawInput":{"command":7}}"#,
            r#"{"kind":"execute","rawInput":{"command":["a",7]}}"#,
            r#"{"kind":"other","rawInput":[]}"#,
        ] {
            assert!(call(text).is_err(), "{text}");
        }
    }
}
