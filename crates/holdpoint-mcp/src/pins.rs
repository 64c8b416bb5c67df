//! What a server said of its tools when it was first seen, and what it says otherwise since.
//!
//! Whoever let a server in has read its tools once. A server that words them otherwise later, or has
//! others, gives the model something nobody has read: that waits until a person has.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::listing::Definition;

/// What is said of a tool.
type Words = Map<String, Value>;

/// The most tools of one server that are remembered, waiting ones included; what is said of each is kept
/// whole.
const MAX_TOOLS: usize = 2048;

/// The tools of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pins {
    /// The version of this form.
    pub v: u32,
    /// The name the server goes by.
    pub server: String,
    /// How it is started, for people.
    pub command: String,
    /// What was said of each tool when it was first seen, or accepted since.
    tools: BTreeMap<String, Words>,
    /// What is said now of those that wait.
    waiting: BTreeMap<String, Waiting>,
    /// First sight is over: the server has listed all it had.
    #[serde(skip_serializing_if = "is_false")]
    complete: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// What is said of a tool that nobody has accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// Why it waits.
    pub why: Why,
    /// What is said.
    pub words: Words,
}

/// Why a tool waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Something else was said of it before.
    Changed,
    /// The server did not have it when it was first seen.
    New,
    /// What is said of it gives orders to the model, or hides something.
    Orders,
    /// The server has listed its tools, and this was none of them.
    Unlisted,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Changed => "what its server says of it has changed",
            Why::New => "its server did not have it when it was first seen",
            Why::Orders => {
                "what its server says of it gives orders to the model or hides something"
            }
            Why::Unlisted => "its server has not listed it among its tools",
        })
    }
}

/// How what is said of a tool stands to what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It is the same.
    Pinned,
    /// It is what waits already.
    Waits(Why),
    /// The tool was never seen.
    Never,
    /// It is something else.
    Otherwise,
}

impl Pins {
    /// Nothing seen yet of a server.
    pub fn of_server(server: &str, command: &str) -> Self {
        Self {
            v: 1,
            server: server.to_owned(),
            command: command.to_owned(),
            ..Self::default()
        }
    }

    /// How what is said now stands to what was said.
    pub fn seen(&self, now: &Definition) -> Seen {
        if self.tools.get(&now.name) == Some(&now.words) {
            return Seen::Pinned;
        }
        match (self.waiting.get(&now.name), self.tools.get(&now.name)) {
            (Some(waiting), _) if waiting.words == now.words => Seen::Waits(waiting.why),
            (_, Some(_)) => Seen::Otherwise,
            (_, None) => Seen::Never,
        }
    }

    /// Takes what is said for what is to be said from now on. False if there is no room.
    #[must_use]
    pub fn pin(&mut self, now: &Definition) -> bool {
        if !self.has_room(&self.tools, &now.name) {
            return false;
        }
        self.waiting.remove(&now.name);
        self.tools.insert(now.name.clone(), now.words.clone());
        true
    }

    /// Has it wait for a person. False if there is no room, and nothing is known of it.
    pub fn hold(&mut self, now: &Definition, why: Why) -> bool {
        if !self.has_room(&self.waiting, &now.name) {
            // What was said of it before makes room: kept, it would let calls of a changed tool run.
            if self.tools.remove(&now.name).is_none() {
                return false;
            }
        }
        let waiting = Waiting {
            why,
            words: now.words.clone(),
        };
        self.waiting.insert(now.name.clone(), waiting);
        true
    }

    /// The server says again what it said. Whether anything waited.
    pub fn settle(&mut self, now: &Definition) -> bool {
        self.waiting.remove(&now.name).is_some()
    }

    /// Why a tool waits, if it does.
    pub fn waits(&self, tool: &str) -> Option<Why> {
        self.waiting.get(tool).map(|waiting| waiting.why)
    }

    /// The server has listed all it has: what it lists from now on was not there at first sight. Whether
    /// that is news.
    pub fn end_first_sight(&mut self) -> bool {
        !std::mem::replace(&mut self.complete, true)
    }

    /// Whether the server has listed all it had when it was first seen.
    pub fn first_sight_is_over(&self) -> bool {
        self.complete
    }

    /// Whether a tool is one of those that are known.
    pub fn is_pinned(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Everything that waits: the tool, what was said, what is said now.
    pub fn changes(&self) -> impl Iterator<Item = (&str, Option<&Words>, &Waiting)> {
        self.waiting
            .iter()
            .map(|(name, waiting)| (name.as_str(), self.tools.get(name), waiting))
    }

    /// A person has read what waited in `shown`, and takes it. What waits since does so still.
    pub fn accept(&mut self, shown: &Self) {
        for (name, read) in &shown.waiting {
            if self.waiting.get(name) == Some(read) {
                self.waiting.remove(name);
                self.tools.insert(name.clone(), read.words.clone());
            }
        }
    }

    /// The tools that are known.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    fn has_room<T>(&self, list: &BTreeMap<String, T>, name: &str) -> bool {
        list.contains_key(name) || self.tools.len() + self.waiting.len() < MAX_TOOLS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, description: &str) -> Definition {
        let Value::Object(words) = json!({"name": name, "description": description}) else {
            unreachable!("it is one");
        };
        Definition {
            name: name.into(),
            words,
        }
    }

    #[test]
    fn a_tool_that_is_said_otherwise_waits_until_somebody_takes_it() {
        let mut pins = Pins::of_server("fs", "fs");
        assert_eq!(pins.seen(&tool("a", "reads")), Seen::Never);
        assert!(pins.pin(&tool("a", "reads")));
        assert_eq!(pins.seen(&tool("a", "reads")), Seen::Pinned);
        let other = tool("a", "reads, and sends it away");
        assert_eq!(pins.seen(&other), Seen::Otherwise);
        assert!(pins.hold(&other, Why::Changed));
        assert_eq!(pins.seen(&other), Seen::Waits(Why::Changed));
        assert_eq!(pins.seen(&tool("a", "yet another")), Seen::Otherwise);
        assert_eq!(pins.waits("a"), Some(Why::Changed));
        let shown = pins.clone();
        let since = tool("a", "changed while somebody read");
        assert!(pins.hold(&since, Why::Changed));
        pins.accept(&shown);
        assert_eq!(pins.seen(&since), Seen::Waits(Why::Changed));
        assert!(pins.hold(&other, Why::Changed));
        pins.accept(&shown);
        assert_eq!(pins.seen(&other), Seen::Pinned);
        assert_eq!(pins.waits("a"), None);
        assert_eq!(pins.seen(&tool("a", "reads")), Seen::Otherwise);
    }

    #[test]
    fn a_server_that_says_again_what_it_said_waits_for_nobody() {
        let mut pins = Pins::of_server("fs", "fs");
        assert!(pins.pin(&tool("a", "reads")));
        assert!(pins.hold(&tool("a", "other"), Why::Changed));
        assert!(pins.settle(&tool("a", "reads")));
        assert_eq!(pins.waits("a"), None);
    }

    #[test]
    fn what_is_kept_is_read_back_and_bounded() {
        let mut pins = Pins::of_server("fs", "fs");
        for number in 0..MAX_TOOLS {
            assert!(pins.pin(&tool(&number.to_string(), "x")));
        }
        assert!(!pins.pin(&tool("one more", "x")));
        assert!(!pins.hold(&tool("one more", "x"), Why::New));
        assert!(pins.pin(&tool("7", "other")));
        // A tool that has changed waits however many there are.
        assert!(pins.hold(&tool("7", "yet another"), Why::Changed));
        assert_eq!(pins.waits("7"), Some(Why::Changed));
        assert_eq!(pins.tools.len() + pins.waiting.len(), MAX_TOOLS);
        assert!(!pins.hold(&tool("one more", "x"), Why::New));
        assert!(pins.end_first_sight() && !pins.end_first_sight());
        let text = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&text).unwrap(), pins);
    }
}
