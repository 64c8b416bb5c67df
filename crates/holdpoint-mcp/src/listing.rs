//! The tools a server lists: what it says of each, and the list without some of them.

use std::collections::BTreeSet;

use holdpoint_core::StrictValue;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::result::spliced;

/// The most tools of one list; real servers have a few dozen, and a model could not tell more apart.
const MAX_TOOLS: usize = 2048;

/// What a server says of a tool, as far as a model reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The tool, as the server names it.
    pub name: String,
    /// Everything said of it but its pictures and what is meant for programs.
    pub words: Map<String, Value>,
}

impl Definition {
    fn read(raw: &RawValue) -> Option<Self> {
        let Ok(StrictValue(Value::Object(mut words))) = serde_json::from_str(raw.get()) else {
            return None;
        };
        // No model reads them, and some servers have new ones every time.
        words.remove("_meta");
        words.remove("icons");
        let name = words.get("name")?.as_str()?.to_owned();
        Some(Self { name, words })
    }
}

/// The tools of a result of `tools/list`.
#[derive(Debug)]
pub struct Listing<'a> {
    /// The list as it stands in the result.
    text: &'a str,
    /// Each tool as it stands there, and as it is read; none if it cannot be, or has the name of one before
    /// it, of which a client might take either.
    tools: Vec<(&'a RawValue, Option<Definition>)>,
    /// Whether no other page follows.
    is_last: bool,
}

impl<'a> Listing<'a> {
    /// Reads a result; nothing if it lists no tools, an error if what it lists cannot be read.
    pub fn read(result: &'a RawValue) -> Result<Option<Self>, &'static str> {
        #[derive(Deserialize)]
        struct Lists<'a> {
            #[serde(borrow, default)]
            tools: Option<&'a RawValue>,
            #[serde(borrow, default, rename = "nextCursor")]
            next: Option<&'a RawValue>,
        }
        let lists: Lists<'_> = serde_json::from_str(result.get())
            .map_err(|_| "the list cannot be read, or names a field twice")?;
        let Some(tools) = lists.tools else {
            return Ok(None);
        };
        let text = tools.get();
        let tools: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|_| "the tools are no list")?;
        if tools.len() > MAX_TOOLS {
            return Err("it lists more than 2048 tools");
        }
        let mut names = BTreeSet::new();
        let read = |raw: &'a RawValue| {
            let definition = Definition::read(raw).filter(|one| names.insert(one.name.clone()));
            (raw, definition)
        };
        Ok(Some(Self {
            text,
            tools: tools.into_iter().map(read).collect(),
            is_last: lists.next.is_none(),
        }))
    }

    /// What it says of each tool that can be read.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.iter().filter_map(|(_, one)| one.as_ref())
    }

    /// Whether it ends here, and no other page follows.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// How many cannot be.
    pub fn unreadable(&self) -> usize {
        self.tools.iter().filter(|(_, one)| one.is_none()).count()
    }

    /// The line the list stands in with only the tools that are to be seen, each as it was; nothing if those
    /// are all of them.
    pub fn only(&self, line: &str, seen: impl Fn(&Definition) -> bool) -> Option<String> {
        let left: Vec<&str> = self
            .tools
            .iter()
            .filter(|(_, one)| one.as_ref().is_some_and(&seen))
            .map(|(raw, _)| raw.get())
            .collect();
        if left.len() == self.tools.len() {
            return None;
        }
        spliced(line, self.text, &format!("[{}]", left.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::Message;

    fn only(line: &str, seen: &[&str]) -> Option<String> {
        let message = Message::read(line).unwrap();
        let listing = Listing::read(message.result.unwrap()).unwrap().unwrap();
        listing.only(line, |one| seen.contains(&one.name.as_str()))
    }

    #[test]
    fn a_list_loses_a_tool_and_nothing_else() {
        let line = r#"{"id":1, "result":{"nextCursor":"\u0041","tools":[ {"name":"a", "x":1.0}, {"name":"b"} ]}}"#;
        assert_eq!(only(line, &["a", "b"]), None);
        assert_eq!(
            only(line, &["a"]).unwrap(),
            r#"{"id":1, "result":{"nextCursor":"\u0041","tools":[{"name":"a", "x":1.0}]}}"#
        );
        assert!(only(line, &[]).unwrap().contains(r#""tools":[]"#));
    }

    #[test]
    fn what_two_clients_could_take_for_two_tools_is_not_listed() {
        for tool in [
            r#"{"name":"a","description":"x","description":"y"}"#,
            r#"{"description":"x"}"#,
            r#"{"name":7}"#,
            "7",
        ] {
            let line = format!(r#"{{"id":1,"result":{{"tools":[{tool},{{"name":"b"}}]}}}}"#);
            let left = only(&line, &["a", "b"]).unwrap();
            assert!(left.contains(r#"[{"name":"b"}]"#), "{left}");
        }
        let twice = r#"{"id":1,"result":{"tools":[{"name":"a"},{"name":"a","title":"x"}]}}"#;
        assert!(only(twice, &["a"]).unwrap().contains(r#"[{"name":"a"}]"#));
    }

    #[test]
    fn pictures_and_words_for_programs_are_no_part_of_what_is_said() {
        let line = r#"{"id":1,"result":{"tools":[{"name":"a","_meta":{"t":1},"icons":[]}]}}"#;
        let message = Message::read(line).unwrap();
        let listing = Listing::read(message.result.unwrap()).unwrap().unwrap();
        let words: Vec<usize> = listing.definitions().map(|one| one.words.len()).collect();
        assert_eq!(words, [1]);
    }

    #[test]
    fn a_list_that_is_none_is_an_error_and_no_list_is_not() {
        let read = |text: &str| {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            Listing::read(&raw).map(|list| list.is_some())
        };
        assert_eq!(read(r#"{"resources":[]}"#), Ok(false));
        assert!(read(r#"{"tools":7}"#).is_err());
        assert!(read(r#"{"tools":[],"tools":[]}"#).is_err());
        assert!(read("7").is_err());
    }
}
