//! The servers of a list, and where in its text it says how they are started.

use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Deserialize;
use toml::Spanned;

/// What people who write such a list by hand call this program; it is looked for where programs are.
const OUR_NAME: &str = "holdpoint";

/// A server as a file lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name the agent has for it.
    pub name: String,
    /// How it is reached.
    pub start: Start,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A program is started and spoken to on its standard input.
    Program(Command),
    /// At an address.
    Address(String),
    /// In no way that is known here, for this reason.
    Unknown(&'static str),
}

/// A program, its arguments, and where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub(super) program: Word,
    /// The list and its words; none if there is no list.
    pub(super) arguments: Option<(Range<usize>, Vec<Word>)>,
}

/// A text, and where it stands with its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: Range<usize>,
}

impl Command {
    /// The program and its arguments.
    pub fn words(&self) -> Vec<String> {
        let arguments = self.arguments.iter().flat_map(|(_, words)| words);
        std::iter::once(&self.program)
            .chain(arguments)
            .map(|word| word.text.clone())
            .collect()
    }

    /// Where in its arguments the server's own program stands, if `program` or one called `holdpoint` is
    /// what starts it. Whatever else is started with our arguments does with them what it likes.
    pub(super) fn gated(&self, program: &str) -> Option<(&[Word], &Word)> {
        if self.program.text != program && self.program.text != OUR_NAME {
            return None;
        }
        let (_, words) = self.arguments.as_ref()?;
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        match texts.as_slice() {
            ["mcp", "proxy", "--name", _, "--", _, ..] => Some((words, words.get(5)?)),
            _ => None,
        }
    }

    /// Whether the server stands behind Holdpoint, whose path is `program`.
    pub fn is_gated(&self, program: &str) -> bool {
        self.gated(program).is_some()
    }
}

/// Whether a file has lists of its projects besides its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Projects {
    None,
    Each,
}

pub(super) fn of_json(text: &str, key: &str, projects: Projects) -> Result<Vec<Entry>, String> {
    let read = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = match read
        .map_err(|error| format!("it is no JSON: {error}"))?
        .value
    {
        None => return Ok(Vec::new()),
        Some(Value::Object(root)) => root,
        Some(_) => return Err("it is no JSON object".into()),
    };
    let mut entries = Vec::new();
    let mut lists = |of: &Object<'_>| -> Result<(), String> {
        if let Some(list) = only(of, key)?.and_then(|list| list.value.as_object()) {
            for server in &list.properties {
                let name = server.name.as_str();
                only(list, name)?;
                let start = match server.value.as_object() {
                    Some(server) => json_start(server)?,
                    None => Start::Unknown("it is no object"),
                };
                let name = name.to_owned();
                entries.push(Entry { name, start });
            }
        }
        Ok(())
    };
    lists(&root)?;
    if projects == Projects::Each
        && let Some(each) = only(&root, "projects")?.and_then(|each| each.value.as_object())
    {
        let each = each.properties.iter();
        each.filter_map(|project| project.value.as_object())
            .try_for_each(&mut lists)?;
    }
    Ok(entries)
}

/// The only member of this name. Of two an agent takes one and a reader the other.
fn only<'o, 'a>(of: &'o Object<'a>, name: &str) -> Result<Option<&'o ObjectProp<'a>>, String> {
    let mut named = of.properties.iter().filter(|it| it.name.as_str() == name);
    match (named.next(), named.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(format!("`{name}` stands in it twice")),
    }
}

fn json_start(server: &Object<'_>) -> Result<Start, String> {
    for key in ["url", "httpUrl", "serverUrl"] {
        if let Some(address) = only(server, key)?.and_then(|it| it.value.as_string_lit()) {
            return Ok(Start::Address(address.value.clone().into_owned()));
        }
    }
    let word = |value: &Value<'_>| {
        let text = value.as_string_lit()?.value.clone().into_owned();
        let Range { start, end } = value.start()..value.end();
        Some(Word {
            text,
            at: start..end,
        })
    };
    let Some(program) = only(server, "command")?.and_then(|it| word(&it.value)) else {
        return Ok(Start::Unknown("it has neither a command nor an address"));
    };
    let arguments = match only(server, "args")? {
        None => None,
        Some(arguments) => {
            let list = arguments.value.as_array();
            let words = list.and_then(|list| list.elements.iter().map(word).collect());
            let at = arguments.value.start()..arguments.value.end();
            match words {
                Some(words) => Some((at, words)),
                None => return Ok(Start::Unknown("its arguments are no list of texts")),
            }
        }
    };
    Ok(Start::Program(Command { program, arguments }))
}

#[derive(Deserialize)]
struct Toml {
    #[serde(default)]
    mcp_servers: BTreeMap<String, TomlServer>,
}

#[derive(Deserialize)]
struct TomlServer {
    command: Option<Spanned<String>>,
    args: Option<Spanned<Vec<Spanned<String>>>>,
    url: Option<String>,
}

pub(super) fn of_toml(text: &str) -> Result<Vec<Entry>, String> {
    let read: Toml = toml::from_str(text)
        .map_err(|error| format!("it is not the TOML Codex reads: {}", error.message()))?;
    let word = |word: Spanned<String>| Word {
        at: word.span(),
        text: word.into_inner(),
    };
    let servers = read.mcp_servers.into_iter();
    Ok(servers
        .map(|(name, server)| {
            let start = match (server.url, server.command) {
                (Some(address), _) => Start::Address(address),
                (None, Some(program)) => Start::Program(Command {
                    program: word(program),
                    arguments: server.args.map(|list| {
                        let at = list.span();
                        (at, list.into_inner().into_iter().map(word).collect())
                    }),
                }),
                (None, None) => Start::Unknown("it has neither a command nor an address"),
            };
            Entry { name, start }
        })
        .collect())
}
