//! Where a text comes from, which decides how far it is trusted.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a text comes from.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The user typed it. It is warned about and never blocked, unless the policy says so.
    User,
    /// A tool answered it: a command's output, an MCP tool's result.
    #[default]
    Tool,
    /// It stands in a file.
    File,
    /// It came from the network.
    Web,
    /// It describes a tool to the model, as MCP servers do.
    Description,
}

impl Origin {
    /// Every origin.
    pub const ALL: [Origin; 5] = [
        Origin::User,
        Origin::Tool,
        Origin::File,
        Origin::Web,
        Origin::Description,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Origin::User => "user",
            Origin::Tool => "tool",
            Origin::File => "file",
            Origin::Web => "web",
            Origin::Description => "description",
        }
    }

    /// The origin somebody means by a word.
    pub fn named(word: &str) -> Option<Self> {
        let mut plain = word.trim().to_ascii_lowercase();
        plain.retain(|c| !matches!(c, '_' | '-' | ' '));
        SPELLINGS
            .iter()
            .find(|(_, words)| words.contains(&plain.as_str()))
            .map(|(origin, _)| *origin)
    }
}

/// What people and programs call the origins, without separators.
const SPELLINGS: [(Origin, &[&str]); 5] = [
    (
        Origin::User,
        &[
            "user",
            "userinput",
            "userprompt",
            "prompt",
            "input",
            "human",
        ],
    ),
    (
        Origin::Tool,
        &[
            "tool",
            "toolresult",
            "tooloutput",
            "toolresponse",
            "result",
            "output",
            "shell",
            "mcp",
            "mcpresult",
        ],
    ),
    (Origin::File, &["file", "files", "document", "repository"]),
    (
        Origin::Web,
        &["web", "http", "url", "page", "webpage", "fetch", "network"],
    ),
    (
        Origin::Description,
        &[
            "description",
            "tooldescription",
            "mcpdescription",
            "mcptool",
            "tooldefinition",
            "schema",
        ],
    ),
];

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_origin_is_known_by_its_own_word_and_by_what_others_call_it() {
        for origin in Origin::ALL {
            assert_eq!(Origin::named(origin.name()), Some(origin));
        }
        assert_eq!(Origin::named("tool_result"), Some(Origin::Tool));
        assert_eq!(Origin::named("MCP-Description"), Some(Origin::Description));
        assert_eq!(Origin::named("toool"), None);
    }
}
