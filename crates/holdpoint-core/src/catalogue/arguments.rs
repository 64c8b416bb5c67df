//! What arguments are by their names, and which names of arguments mean the same.
//!
//! Names are compared without case and without `_` and `-`: `filePath`, `file_path` and `FILE-PATH`
//! are one.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::{
    ARGV_WORDS, Argument, CODE_WORDS, COMMAND_ENDINGS, COMMAND_WORDS, DATABASE_WORDS,
    DIRECTORY_WORDS, EVALUATES_WORDS, EXECUTES_ELSEWHERE_WORDS, EXECUTES_WORDS, LANGUAGES,
    LOOKS_WORDS, Name, OPERATION_WORDS, PATH_WORDS, PROGRAM_WORDS, PROGRAMS_BY_NAME, PROSE_WORDS,
    SEARCHES_WORDS, TYPED_WORDS, TYPES_ELSEWHERE_WORDS, TYPES_INTO_WORDS, TYPES_WORDS,
    TYPING_WORDS, Tool, find, name_words,
};

/// Whether an argument of this name holds a shell command in a tool that is not listed.
pub fn names_command(key: &str) -> bool {
    // Every such name begins with one of these letters.
    let listed = key.starts_with(['b', 'B', 'c', 'C', 'e', 'E', 'r', 'R', 's', 'S', '_', '-'])
        && is_among(key, COMMAND_WORDS);
    listed || ends_like_command(key)
}

/// Whether the last word of a name says that it is a command: `preCommand`, `before_script`. A name of
/// one word says it in full.
fn ends_like_command(key: &str) -> bool {
    let last = |word: &&str| {
        let front = key.len().checked_sub(word.len());
        let (Some(front), Some(behind)) = (front, front.and_then(|at| key.get(at..))) else {
            return false;
        };
        let before = key.get(..front).and_then(|front| front.chars().next_back());
        let apart = match before {
            None => false,
            Some('_' | '-' | '.' | ' ') => true,
            Some(before) => before.is_lowercase() && behind.starts_with(char::is_uppercase),
        };
        apart && behind.eq_ignore_ascii_case(word)
    };
    key.len() <= USUAL_LENGTH && COMMAND_ENDINGS.iter().any(last) && !names_code(key)
}

/// Whether an argument of this name is a text for people, or for a search, and not for a shell.
pub(crate) fn names_prose(key: &str) -> bool {
    is_among(key, PROSE_WORDS)
}

/// Whether an argument of this name is code in a language the tool knows.
pub(crate) fn names_code(key: &str) -> bool {
    is_among(key, CODE_WORDS)
}

/// Whether an argument of this name is a program whose arguments stand beside it.
pub(crate) fn names_program(key: &str) -> bool {
    is_among(key, PROGRAM_WORDS)
}

/// Whether an argument of this name says which of its works a tool shall do.
pub(crate) fn names_operation(key: &str) -> bool {
    is_among(key, OPERATION_WORDS)
}

/// Whether an argument of this name is what is typed, of a tool that types.
pub(crate) fn names_typed(key: &str) -> bool {
    is_among(key, TYPED_WORDS)
}

/// Whether a tool types into a shell that runs, whoever's it is: by its whole name, or because its words
/// say that it writes, and into what.
pub(crate) fn types_into_shell(tool: &str, input: &Map<String, Value>) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    if is_among(own, TYPING_WORDS) {
        return true;
    }
    let mut doing = name_words::words(own);
    if doing
        .iter()
        .any(|word| TYPES_ELSEWHERE_WORDS.contains(&word.as_str()))
    {
        return false;
    }
    let about = name_words::words(tool);
    if !about
        .iter()
        .any(|word| TYPES_INTO_WORDS.contains(&word.as_str()))
    {
        return false;
    }
    let operations = input.iter().filter(|(key, _)| names_operation(key));
    let operations = operations.filter_map(|(_, value)| value.as_str());
    for operation in operations.filter(|operation| operation.len() <= USUAL_LENGTH) {
        doing.extend(name_words::words(operation));
    }
    doing
        .iter()
        .any(|word| TYPES_WORDS.contains(&word.as_str()))
}

/// Whether a tool's own name says that it executes what it is given, under whichever name that is given to it.
pub(crate) fn executes(tool: &str) -> bool {
    says_so(tool, EXECUTES_WORDS)
}

/// Whether a tool's own name says that it runs code.
pub(crate) fn evaluates(tool: &str) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    says_so(tool, EVALUATES_WORDS) || language_named(own).is_some()
}

/// Whether a tool's own name has one of these words, and none that says that it looks or is about something else.
fn says_so(tool: &str, names: &[&str]) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let words = name_words::words(own);
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let looks = words
        .first()
        .is_some_and(|word| LOOKS_WORDS.contains(&word.as_str()));
    has(names) && !looks && !has(EXECUTES_ELSEWHERE_WORDS)
}

/// Whether a tool's own name, or the operation it is told, says that it types, into whatever.
pub(crate) fn types_somewhere(tool: &str, input: &Map<String, Value>) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let mut words = name_words::words(own);
    let operations = input.iter().filter(|(key, _)| names_operation(key));
    let operations = operations.filter_map(|(_, value)| value.as_str());
    for operation in operations.filter(|operation| operation.len() <= USUAL_LENGTH) {
        words.extend(name_words::words(operation));
    }
    words
        .iter()
        .any(|word| matches!(word.as_str(), "type" | "paste" | "keys" | "input" | "write"))
        && !words
            .iter()
            .any(|word| TYPES_ELSEWHERE_WORDS.contains(&word.as_str()))
}

/// The programs a tool is named after, which are told what its command says: `kubectl`, `redis-cli`.
pub(crate) fn programs_named(tool: &str) -> Vec<&'static str> {
    let words = name_words::words(tool);
    let mut found = Vec::new();
    for (program, names) in PROGRAMS_BY_NAME {
        if names
            .iter()
            .any(|name| words.iter().any(|word| word == name))
        {
            found.push(*program);
        }
    }
    found
}

/// The words of a tool's own name besides the program it is named after: what that is told to do.
pub(crate) fn verbs_named(tool: &str, program: &str) -> Vec<String> {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let names = PROGRAMS_BY_NAME
        .iter()
        .find(|(known, _)| *known == program)
        .map_or(&[][..], |(_, names)| *names);
    let mut words = name_words::words(own);
    words.retain(|word| !names.contains(&word.as_str()));
    words
}

/// The interpreter of the language a text names in one of its words, with the flag that takes code.
pub(crate) fn language_named(text: &str) -> Option<&'static str> {
    if text.len() > 2 * USUAL_LENGTH {
        return None;
    }
    let words = name_words::words(text);
    let named = |names: &&[&str]| {
        names
            .iter()
            .any(|name| words.iter().any(|word| word == name))
    };
    LANGUAGES
        .iter()
        .find(|(_, names)| named(names))
        .map(|(interpreter, _)| *interpreter)
}

/// Whether a tool's words say that it speaks to a database, or that what it is asked is no statement.
pub(crate) fn speaks_sql(tool: &str) -> SpeaksSql {
    let words = name_words::words(tool);
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    if has(DATABASE_WORDS) {
        SpeaksSql::Yes
    } else if has(SEARCHES_WORDS) {
        SpeaksSql::No
    } else if words.last().is_some_and(|word| word == "query") {
        SpeaksSql::Yes
    } else {
        SpeaksSql::Maybe
    }
}

/// What a tool's name says of its queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpeaksSql {
    /// They are statements for a database.
    Yes,
    /// They are words to look for.
    No,
    /// It says nothing.
    Maybe,
}

/// Whether an argument of this name is a list of words a program is started with.
pub(crate) fn names_words(key: &str) -> bool {
    is_among(key, ARGV_WORDS)
}

/// Whether an argument of this name is a file or directory, whatever the tool is called (A-04,
/// H-06, H-11).
pub(crate) fn names_path(key: &str) -> bool {
    is_among(key, PATH_WORDS)
}

/// Whether an argument of this name is the directory a command runs in.
pub(crate) fn names_directory(key: &str) -> bool {
    is_among(key, DIRECTORY_WORDS)
}

/// The arguments of a call that mean `argument` of `tool`, each with its name: the one of this very
/// name; those of its other names, also in lists of objects; and the texts in which the agent that
/// calls the tool `own` has it stand.
pub(crate) fn meaning_argument<'c>(
    input: &'c Map<String, Value>,
    own: &str,
    tool: Option<&'static Tool>,
    argument: &str,
) -> Vec<(&'c str, &'c Value)> {
    let mut found = Vec::new();
    let same = tool.and_then(|tool| tool.argument(argument));
    collect(input, argument, same, true, &mut found);
    if let (Some(same), Some(name)) = (same, find(own)) {
        for (meant, key) in name.texts {
            if *meant == same.name && argument != *key {
                found.extend(
                    input
                        .get_key_value(*key)
                        .map(|(key, value)| (key.as_str(), value)),
                );
            }
        }
    }
    found
}

/// Whether the agent that calls the tool `own` writes an argument somewhere into the text `key`, so
/// that what the text starts with says nothing about it.
pub(crate) fn is_free_text(own: &str, key: &str) -> bool {
    find(own).is_some_and(|name| name.texts.iter().any(|(_, text)| *text == key))
}

fn collect<'c>(
    input: &'c Map<String, Value>,
    argument: &str,
    same: Option<&'static Argument>,
    outermost: bool,
    found: &mut Vec<(&'c str, &'c Value)>,
) {
    for (key, value) in input {
        let means = (outermost && key == argument)
            || same.is_some_and(|same| same.folded.iter().any(|name| is_folded(key, name)));
        if means {
            found.push((key, value));
        } else if same.is_some() {
            collect_in(value, argument, same, found);
        }
    }
}

fn collect_in<'c>(
    value: &'c Value,
    argument: &str,
    same: Option<&'static Argument>,
    found: &mut Vec<(&'c str, &'c Value)>,
) {
    match value {
        Value::Array(items) => {
            for item in items {
                collect_in(item, argument, same, found);
            }
        }
        Value::Object(inner) => collect(inner, argument, same, false, found),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The name an argument has where its tool is called `name`; the key itself where nothing is known
/// of it.
pub(crate) fn rename<'k>(name: &'static Name, key: &'k str) -> Cow<'k, str> {
    let Some(argument) = name.tool().and_then(|tool| tool.argument(key)) else {
        return Cow::Borrowed(key);
    };
    let spelled = name
        .spelled
        .iter()
        .find(|(meant, _)| *meant == argument.name);
    Cow::Borrowed(spelled.map_or(argument.name, |(_, spelled)| spelled))
}

/// All the names an argument has where its tool is called `name`: a list of edits holds both the old
/// texts and the new ones.
pub(crate) fn renames<'k>(name: &'static Name, key: &'k str) -> Vec<Cow<'k, str>> {
    let arguments = name.tool().map_or(&[][..], |tool| tool.arguments);
    let means = |argument: &&Argument| argument.folded.iter().any(|name| is_folded(key, name));
    let others = arguments.iter().filter(means).map(|argument| argument.name);
    let mut found = vec![rename(name, key)];
    for other in others.map(|argument| rename(name, argument)) {
        if !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

impl Tool {
    /// Whether an argument of this name is the file the tool is about.
    pub(crate) fn names_file(&self, key: &str) -> bool {
        self.argument(key)
            .is_some_and(|argument| argument.folded.contains(&"path"))
    }

    /// The argument that has this name among its own.
    fn argument(&self, key: &str) -> Option<&'static Argument> {
        let mut arguments = self.arguments.iter();
        arguments
            .clone()
            .find(|argument| argument.name == key)
            .or_else(|| {
                arguments.find(|argument| argument.folded.iter().any(|name| is_folded(key, name)))
            })
    }
}

/// As long as names of arguments get, but for a few.
const USUAL_LENGTH: usize = 32;

fn is_among(key: &str, words: &[&str]) -> bool {
    // Most names of arguments are folded as they are written.
    if key.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return words.binary_search(&key).is_ok();
    }
    if key.is_ascii() && key.len() <= USUAL_LENGTH {
        // Folded once and not for every word it is compared with.
        let mut folded = [0; USUAL_LENGTH];
        let letters = key.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
        let mut length = 0;
        for (place, byte) in folded.iter_mut().zip(letters) {
            *place = byte.to_ascii_lowercase();
            length += 1;
        }
        let folded = folded.get(..length).unwrap_or_default();
        return words
            .binary_search_by(|word| word.as_bytes().cmp(folded))
            .is_ok();
    }
    words
        .binary_search_by(|word| compare_folded(word, key))
        .is_ok()
}

/// Whether `key` is `folded` without case and separators.
fn is_folded(key: &str, folded: &str) -> bool {
    // Separators only add, and no letter is shorter in lower case but some outside ASCII.
    (key.len() >= folded.len() || !key.is_ascii()) && compare_folded(folded, key) == Ordering::Equal
}

fn compare_folded(folded: &str, key: &str) -> Ordering {
    folded.chars().cmp(
        key.chars()
            .filter(|c| !matches!(c, '_' | '-'))
            .flat_map(char::to_lowercase),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::tool_named;
    use serde_json::json;

    fn keys(own: &str, tool: &str, argument: &str, input: Value) -> Vec<String> {
        let input = input.as_object().unwrap();
        meaning_argument(input, own, tool_named(tool), argument)
            .into_iter()
            .map(|(key, _)| key.to_owned())
            .collect()
    }

    #[test]
    fn other_names_of_an_argument_mean_the_same_at_any_depth() {
        assert_eq!(
            keys("write", "Write", "file_path", json!({"filePath": "a"})),
            ["filePath"]
        );
        assert_eq!(
            keys(
                "create",
                "Write",
                "content",
                json!({"path": "a", "file_text": "b"})
            ),
            ["file_text"]
        );
        assert_eq!(
            keys(
                "fs_read",
                "Read",
                "file_path",
                json!({"mode": {"x": [{"path": "a"}, {"path": "b"}]}})
            ),
            ["path", "path"]
        );
        assert!(keys("t", "t", "file_path", json!({"path": "a"})).is_empty());
    }

    #[test]
    fn a_page_named_in_a_prompt_is_found_for_the_agent_that_writes_it_there() {
        let input = || json!({"prompt": "read https://a.example"});
        assert_eq!(keys("web_fetch", "WebFetch", "url", input()), ["prompt"]);
        assert!(keys("WebFetch", "WebFetch", "url", input()).is_empty());
    }

    #[test]
    fn names_are_compared_without_case_and_separators() {
        assert!(names_path("filePath") && names_path("FILE-PATH") && names_path("_path"));
        assert!(!names_path("filepaths"));
        assert!(names_command("shellCommand") && !names_command("commander"));
    }
}
