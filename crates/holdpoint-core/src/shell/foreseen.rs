//! Output that can be foreseen without running anything: `$(echo rm)`, `printf … | base64 -d`.
//!
//! Promises that a text said to be known is what the commands print, for the few programs
//! whose output depends on nothing but their words and input. For the others it says where
//! their output comes from, as far as that matters: a network, or something that decodes.

use std::sync::Arc;

use super::commands::Command;
use super::environment::{Origin, Value};
use super::files::Content;
use super::input::Input;
use super::listings;
use super::readings;
use super::redirects;
use super::texts::{Argument, Expander};
use super::tree::{
    CommandKind, CommandNode, Connector, HereDocument, Item, Part, Pipeline, RedirectKind, Script,
    Word,
};
use crate::rules::{DECODERS, FETCHERS};

/// Longest output that is foreseen: as long as the longest line, of which it is made. Of a longer
/// one only where it comes from is known.
const MAX_OUTPUT: usize = 1 << 20;

/// What stands for the name `mktemp` makes up.
const FRESH: &str = "/tmp/tmp.XXXXXXXXXX";

/// What a script prints.
pub(super) fn script(script: &Script, words: &Expander<'_>, input: &Input) -> Input {
    items(&script.items, &script.here_documents, words, input)
}

fn items(items: &[Item], documents: &[HereDocument], words: &Expander<'_>, input: &Input) -> Input {
    let mut text = String::new();
    let mut unknown: Option<Origin> = None;
    let mut partial = None;
    if let [first, rest @ ..] = items
        && let Some(directory) = changes_directory(first, words)
    {
        // `$(cd dir && pwd)` is a way to say `dir`.
        return match (directory, self::items(rest, documents, words, input)) {
            (Some(directory), Input::Known(text)) if &*text == "." => Input::text(&directory),
            (_, _) => Input::Unknown(Origin::Elsewhere),
        };
    }
    // How the command before ended, as far as that is known, and what that makes of the next.
    let mut success = Some(true);
    let mut runs = Some(true);
    let mut changed = false;
    let mut defined = false;
    for item in items {
        let mut flow = input.clone();
        for node in &item.pipeline.commands {
            flow = self::node(node, documents, words, &flow);
        }
        if runs != Some(false) {
            success = runs.and_then(|_| succeeds(&item.pipeline, words));
            success = success.filter(|_| !defined);
        }
        let may_run = runs;
        runs = match item.connector {
            Connector::Sequence | Connector::Background => Some(true),
            Connector::And => success,
            Connector::Or => success.map(|success| !success),
        };
        if may_run == Some(false) {
            continue;
        }
        // What an earlier command of the list did to the shell is not followed.
        let follows = !defined && (!changed || is_constant(&item.pipeline));
        defined |= may_define(&item.pipeline);
        changed |= item.pipeline.commands.len() == 1 && changes_state(&item.pipeline);
        let flow = match &flow {
            Input::Known(text) if text.is_empty() => continue,
            Input::Empty => continue,
            Input::Inherited | Input::Known(_) | Input::Partly(_) | Input::Unknown(_)
                if may_run.is_none() || !follows =>
            {
                Input::Unknown(flow.origin().unwrap_or(Origin::Elsewhere))
            }
            Input::Inherited | Input::Known(_) | Input::Partly(_) | Input::Unknown(_) => flow,
        };
        match flow {
            Input::Known(piece) if text.len() + piece.len() <= MAX_OUTPUT => text.push_str(&piece),
            Input::Empty => {}
            Input::Known(_) | Input::Inherited => {
                unknown = unknown.max(Some(Origin::Elsewhere));
            }
            Input::Partly(part) => {
                unknown = unknown.max(Some(part.origin));
                partial = Some(part);
            }
            Input::Unknown(origin) => unknown = unknown.max(Some(origin)),
        }
    }
    match (unknown, partial) {
        (Some(_), Some(partial)) if items.len() == 1 => Input::Partly(partial),
        (Some(origin), _) => Input::Unknown(origin),
        (None, _) => Input::text(&text),
    }
}

/// Whether a pipeline ends well, if that is known.
fn succeeds(pipeline: &Pipeline, words: &Expander<'_>) -> Option<bool> {
    let last = pipeline.commands.last()?;
    let CommandKind::Simple(simple) = &last.kind else {
        return None;
    };
    let success = match simple.words.first()?.plain()? {
        _ if !last.redirects.is_empty() => return None,
        name if words.environment.redefines(name) => return None,
        ":" | "true" | "echo" | "printf" => true,
        "false" => false,
        _ => return None,
    };
    Some(success != pipeline.negated)
}

/// Whether a pipeline of a list may change what words mean to those after it.
fn changes_state(pipeline: &Pipeline) -> bool {
    pipeline.commands.iter().any(|node| {
        let CommandKind::Simple(simple) = &node.kind else {
            return true;
        };
        let program = simple.words.first().and_then(Word::plain);
        let harmless = matches!(
            program,
            Some(":" | "true" | "false" | "echo" | "cat" | "seq" | "basename" | "dirname" | "tr")
        );
        let plain = simple.words.iter().all(|word| word.plain().is_some());
        let idle = plain && program == Some("pwd");
        !(idle || harmless && readings::assigns_nothing(&simple.words))
    })
}

/// Whether a pipeline of a list may give names another meaning to those after it.
fn may_define(pipeline: &Pipeline) -> bool {
    pipeline.commands.iter().any(|node| match &node.kind {
        CommandKind::Simple(simple) => match simple.words.first() {
            Some(program) => matches!(
                program.plain(),
                None | Some("." | "alias" | "builtin" | "command" | "eval" | "source")
            ),
            None => false,
        },
        CommandKind::Subshell(_) | CommandKind::Condition(_) | CommandKind::Arithmetic(_) => false,
        CommandKind::Group(_)
        | CommandKind::If { .. }
        | CommandKind::Loop { .. }
        | CommandKind::Each { .. }
        | CommandKind::ForArithmetic { .. }
        | CommandKind::Case { .. }
        | CommandKind::Function { .. }
        | CommandKind::Coproc { .. } => true,
    })
}

/// Whether a pipeline prints the same whatever the shell's state is.
fn is_constant(pipeline: &Pipeline) -> bool {
    pipeline.commands.iter().all(|node| {
        let CommandKind::Simple(simple) = &node.kind else {
            return false;
        };
        let program = simple.words.first().and_then(Word::plain);
        matches!(program, Some("echo" | "printf"))
            && node.redirects.is_empty()
            && simple.words.iter().all(|word| {
                let expands = |part: &Part| match part {
                    Part::Literal { .. } | Part::SingleQuoted(_) | Part::AnsiQuoted(_) => false,
                    Part::DoubleQuoted(inside) => !inside
                        .iter()
                        .all(|part| matches!(part, Part::Literal { .. })),
                    Part::Localized(_)
                    | Part::Parameter(_)
                    | Part::Command(_)
                    | Part::Process(_)
                    | Part::Arithmetic(_)
                    | Part::Glob(_)
                    | Part::Brace(_)
                    | Part::Extended(_)
                    | Part::Tilde(_)
                    | Part::Array(_) => true,
                };
                !word.parts.iter().any(expands)
            })
    })
}

/// Where a command that changes the directory goes, if it is one.
fn changes_directory(item: &Item, words: &Expander<'_>) -> Option<Option<String>> {
    let [only] = item.pipeline.commands.as_slice() else {
        return None;
    };
    let CommandKind::Simple(simple) = &only.kind else {
        return None;
    };
    let (program, operands) = simple.words.split_first()?;
    if !matches!(program.plain(), Some("cd" | "pushd")) {
        return None;
    }
    let arguments = words.all_arguments(operands, None);
    let target = arguments
        .iter()
        .rfind(|word| !word.unquoted().starts_with('-'));
    Some(target.and_then(|word| word.known().map(str::to_owned)))
}

/// What a command of a pipeline prints for the next.
pub(super) fn node(
    node: &CommandNode,
    documents: &[HereDocument],
    words: &Expander<'_>,
    input: &Input,
) -> Input {
    if redirects::diverts_output(&node.redirects) {
        return Input::Empty;
    }
    printed(node, documents, words, input)
}

/// What a command prints, wherever that goes.
pub(super) fn printed(
    node: &CommandNode,
    documents: &[HereDocument],
    words: &Expander<'_>,
    input: &Input,
) -> Input {
    let input = redirects::input(&node.redirects, words, documents, input);
    match &node.kind {
        CommandKind::Simple(simple) => {
            if !simple.assignments.is_empty() && simple.words.is_empty() {
                // What it assigns is not followed here, so nothing after it is known.
                return Input::Unknown(Origin::Elsewhere);
            }
            // `$(<file)` is what the file holds.
            if simple.words.is_empty() {
                return match (node.redirects.as_slice(), input) {
                    ([], _) | (_, Input::Inherited) => Input::Empty,
                    ([only], input) if only.kind == RedirectKind::Read => input,
                    (_, _) => Input::Empty,
                };
            }
            let arguments = words.all_arguments(&simple.words, None);
            let output = output(&arguments, &input, words);
            match redirects::may_fail(&node.redirects, words) {
                true => output.if_any(),
                false => output,
            }
        }
        CommandKind::Group(inside) | CommandKind::Subshell(inside) => {
            items(inside, documents, words, &input)
        }
        CommandKind::If { .. }
        | CommandKind::Loop { .. }
        | CommandKind::Each { .. }
        | CommandKind::ForArithmetic { .. }
        | CommandKind::Case { .. }
        | CommandKind::Condition(_)
        | CommandKind::Arithmetic(_)
        | CommandKind::Function { .. }
        | CommandKind::Coproc { .. } => Input::Unknown(input.origin().unwrap_or(Origin::Elsewhere)),
    }
}

/// What a simple command prints.
pub(super) fn output(arguments: &[Argument], input: &Input, words: &Expander<'_>) -> Input {
    let arguments = without_wrappers(arguments, words);
    let Some((program, rest)) = arguments.split_first() else {
        return Input::Empty;
    };
    let Some(name) = program.text.program() else {
        return Input::Unknown(input.origin().unwrap_or(Origin::Elsewhere));
    };
    let hidden = rest.iter().filter_map(|word| word.origin).max();
    if words.environment.redefines(&program.text.text) {
        let origin = input.origin().max(hidden);
        return Input::Unknown(origin.unwrap_or(Origin::Elsewhere));
    }
    let known: Option<Vec<&str>> = rest.iter().map(exactly).collect();
    if let (None, "echo" | "printf") = (&known, name) {
        if let Some(listed) = listings::names(name, rest, input) {
            return listed;
        }
        let make = if name == "echo" { echo } else { printf };
        return Input::from_value(&said(rest, make));
    }
    let foreseen = known
        .as_deref()
        .and_then(|known| text_of(name, known, input, words));
    if let Some(foreseen) = foreseen {
        return foreseen;
    }
    if FETCHERS.contains(name) {
        return Input::Unknown(Origin::Network);
    }
    if let Some(listed) = listings::names(name, rest, input) {
        return listed;
    }
    let origin = input.origin().max(hidden).unwrap_or(Origin::Elsewhere);
    let decodes = known.as_deref().is_none_or(|known| decodes(name, known));
    Input::Unknown(
        if decodes && DECODERS.iter().any(|(known, _)| *known == name) {
            origin.max(Origin::Decoder)
        } else {
            origin
        },
    )
}

/// A command without the programs in front of it that print what it prints.
fn without_wrappers<'a>(arguments: &'a [Argument], words: &Expander<'_>) -> &'a [Argument] {
    let mut inner = arguments;
    while let [program, rest @ ..] = inner
        && let Some("sudo" | "command" | "builtin" | "env" | "nice" | "nohup") =
            program.text.program()
        && !words.environment.redefines(&program.text.text)
        && rest
            .first()
            .and_then(exactly)
            .is_some_and(|inner| !inner.starts_with('-') && !inner.contains('='))
    {
        inner = rest;
    }
    inner
}

/// Whether a command decodes what it reads.
pub(super) fn is_decoder(command: &Command) -> bool {
    let words: Vec<&str> = command
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    command.program().is_some_and(|name| decodes(name, &words))
}

fn decodes(name: &str, words: &[&str]) -> bool {
    let Some((_, flags)) = DECODERS.iter().find(|(known, _)| *known == name) else {
        return false;
    };
    flags.is_empty()
        || words
            .iter()
            .any(|word| flags.iter().any(|flag| word.starts_with(flag)))
}

fn text_of(name: &str, words: &[&str], input: &Input, around: &Expander<'_>) -> Option<Input> {
    let operands = || words.iter().copied().filter(|word| !word.starts_with('-'));
    let text = match name {
        "echo" => echo(words)?,
        "printf" => printf(words)?,
        ":" | "true" | "false" | "cd" | "mkdir" | "touch" | "export" | "set" => String::new(),
        "cat" if operands().next().is_none() => return Some(input.clone()),
        "cat" => match (operands().next(), operands().nth(1)) {
            (Some(path), None) => match around.environment.content(path)? {
                Content::Known(text) => text.to_string(),
                Content::From(origin) => return Some(Input::Unknown(origin)),
                Content::Same(_) | Content::Link(_) | Content::Edited => return None,
            },
            _ => return None,
        },
        "pwd" => ".".to_owned(),
        "mktemp" => mktemp(words),
        "which" | "command" | "type" => match words {
            ["-v" | "-p" | "-P", program] => format!("/usr/bin/{program}"),
            [program] if name == "which" => format!("/usr/bin/{program}"),
            _ => return None,
        },
        "realpath" | "readlink" => operands().next()?.to_owned(),
        "basename" => basename(words)?,
        "dirname" => {
            let given = operands().next()?;
            let path = given.trim_end_matches('/');
            let directory = path
                .rsplit_once('/')
                .map(|(front, _)| front.trim_end_matches('/'));
            match directory {
                Some("") => "/".to_owned(),
                Some(directory) => directory.to_owned(),
                None if path.is_empty() && !given.is_empty() => "/".to_owned(),
                None => ".".to_owned(),
            }
        }
        "seq" => sequence(words)?,
        "git" if words == ["rev-parse", "--show-toplevel"] => {
            around.environment.workspace.as_deref()?.to_owned()
        }
        _ => return changed(name, words, input).map(|text| Input::text(&text)),
    };
    if text.len() > MAX_OUTPUT || around.environment.copies(text.len()).is_err() {
        around.environment.budget.overrun();
        return None;
    }
    Some(Input::text(&text))
}

/// What a filter makes of a known input.
fn changed(name: &str, words: &[&str], input: &Input) -> Option<String> {
    let Input::Known(text) = input else {
        return None;
    };
    match name {
        "rev" if words.is_empty() => {
            let lines: Vec<String> = text
                .lines()
                .map(|line| line.chars().rev().collect())
                .collect();
            Some(lines.join("\n") + "\n")
        }
        "tr" => translated(words, text),
        "tee" => Some(text.to_string()),
        "head" | "tail" if words.is_empty() && text.lines().count() <= 10 => Some(text.to_string()),
        "base64" if decodes(name, words) => base64(text),
        "openssl" if words.iter().any(|word| word.contains("base64")) && decodes(name, words) => {
            base64(text)
        }
        "xxd" if decodes(name, words) && words.iter().any(|word| word.contains('p')) => hex(text),
        _ => None,
    }
}

/// What is made of words of which not all is known, by a rule that keeps what it does not know.
pub(super) fn said(words: &[Argument], make: fn(&[&str]) -> Option<String>) -> Value {
    let known: Option<Vec<&str>> = words.iter().map(exactly).collect();
    if let Some(text) = known.and_then(|known| make(&known)) {
        return Value::Known(Arc::from(text));
    }
    // An unknown first word may be an option, or a format.
    let begins = words.first().is_none_or(|word| word.known().is_some());
    // What may be an error prints nothing.
    let begins = begins && !words.iter().any(Argument::may_fail);
    let patterns: Option<Vec<&str>> = words
        .iter()
        .map(|word| exactly(word).or(word.text.pattern.as_deref().filter(|_| is_one(word))))
        .collect();
    let pattern = patterns.filter(|_| begins).and_then(|texts| make(&texts));
    let written: Vec<&str> = words.iter().map(Argument::unquoted).collect();
    let written = make(&written).unwrap_or_else(|| written.join(" "));
    let origin = words.iter().filter_map(|word| word.origin).max();
    let origin = origin.unwrap_or(Origin::Elsewhere);
    Value::partly(origin, &written, pattern.as_deref())
}

/// The text of a word that is what a program gets, to the letter.
fn exactly(word: &Argument) -> Option<&str> {
    word.known().filter(|_| is_one(word))
}

/// Whether a word stays one word, and none that bash looks up.
fn is_one(word: &Argument) -> bool {
    !word.splits && !word.text.glob && !word.unquoted().starts_with('~')
}

fn echo(words: &[&str]) -> Option<String> {
    let is_option = |word: &&&str| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty()
            && letters
                .bytes()
                .all(|byte| matches!(byte, b'n' | b'e' | b'E'))
    };
    let count = words.iter().take_while(is_option).count();
    let (options, texts) = words.split_at_checked(count)?;
    let has = |letter: char| options.iter().any(|option| option.contains(letter));
    let mut text = texts.join(" ");
    if text.contains('\\') {
        if !has('e') {
            // Whether a backslash is an escape depends on the shell and its options.
            return None;
        }
        text = unescaped(&text)?;
    }
    if !has('n') {
        text.push('\n');
    }
    Some(text)
}

pub(super) fn printf(words: &[&str]) -> Option<String> {
    let words = match words {
        ["--", rest @ ..] => rest,
        ["-v", ..] => return Some(String::new()),
        words => words,
    };
    let (format, values) = words.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let mut text = String::new();
    let mut values = values.iter().copied();
    loop {
        let before = values.len();
        let mut rest = *format;
        while let Some(percent) = rest.find('%') {
            text.push_str(&unescaped(rest.get(..percent)?)?);
            rest = rest.get(percent + 1..)?;
            let conversion = rest.chars().next()?;
            rest = rest.get(conversion.len_utf8()..)?;
            match conversion {
                '%' => text.push('%'),
                's' => text.push_str(values.next().unwrap_or_default()),
                'b' => text.push_str(&unescaped(values.next().unwrap_or_default())?),
                'd' | 'i' => {
                    let value: i64 = values.next().unwrap_or("0").parse().ok()?;
                    text.push_str(&value.to_string());
                }
                'c' => text.extend(values.next().unwrap_or_default().chars().take(1)),
                _ => return None,
            }
        }
        text.push_str(&unescaped(rest)?);
        // The format is used again for values that are left, if it takes any.
        if values.len() == 0 || values.len() == before {
            return Some(text);
        }
        if text.len() > MAX_OUTPUT {
            return None;
        }
    }
}

/// Replaces the escapes of `echo -e` and `printf`.
fn unescaped(text: &str) -> Option<String> {
    let mut made = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            made.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let (most, radix) = match letters.next() {
            Some('n') => {
                made.push(b'\n');
                continue;
            }
            Some('t') => {
                made.push(b'\t');
                continue;
            }
            Some(sign @ ('a' | 'b' | 'e' | 'f' | 'r' | 'v')) => {
                made.push(match sign {
                    'a' => 7,
                    'b' => 8,
                    'e' => 27,
                    'f' => 12,
                    'r' => b'\r',
                    _ => 11,
                });
                continue;
            }
            Some(same @ ('\\' | '"' | '\'')) => {
                made.extend_from_slice(same.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            Some('x') => (2, 16),
            Some('u') => (4, 16),
            Some('0') => (3, 8),
            Some(digit @ '1'..='7') => {
                let mut code = digit.to_digit(8)?;
                for _ in 0..2 {
                    let Some(next) = letters.peek().and_then(|next| next.to_digit(8)) else {
                        break;
                    };
                    code = code * 8 + next;
                    letters.next();
                }
                made.push(u8::try_from(code).ok()?);
                continue;
            }
            Some(_) | None => return None,
        };
        let mut code = 0;
        for _ in 0..most {
            let Some(digit) = letters.peek().and_then(|next| next.to_digit(radix)) else {
                break;
            };
            code = code * radix + digit;
            letters.next();
        }
        if most == 4 {
            let letter = char::from_u32(code)?;
            made.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            made.push(u8::try_from(code).ok()?);
        }
    }
    String::from_utf8(made).ok()
}

fn mktemp(words: &[&str]) -> String {
    let template = words
        .iter()
        .find(|word| !word.starts_with('-') && word.ends_with("XXXXXX"));
    match template {
        Some(template) if template.contains('/') => (*template).to_owned(),
        Some(_) | None => FRESH.to_owned(),
    }
}

fn basename(words: &[&str]) -> Option<String> {
    let (path, suffix) = match words {
        // What looks like an option is one, and an error if it is none of its own.
        [path] if !path.starts_with('-') => (path, ""),
        [path, suffix] if !path.starts_with('-') => (path, *suffix),
        _ => return None,
    };
    let bare = path.trim_end_matches('/');
    if bare.is_empty() && !path.is_empty() {
        return Some("/".to_owned());
    }
    let name = bare.rsplit('/').next()?;
    let stem = name.strip_suffix(suffix).filter(|stem| !stem.is_empty());
    Some(stem.unwrap_or(name).to_owned())
}

fn sequence(words: &[&str]) -> Option<String> {
    let numbers: Option<Vec<i64>> = words.iter().map(|word| word.parse().ok()).collect();
    let (from, to) = match numbers?.as_slice() {
        [to] => (1, *to),
        [from, to] => (*from, *to),
        _ => return None,
    };
    if to.checked_sub(from)? > 100 {
        return None;
    }
    Some((from..=to).map(|number| format!("{number}\n")).collect())
}

/// `tr -d SET` and `tr SET SET` with plain letters and ranges.
fn translated(words: &[&str], text: &str) -> Option<String> {
    match words {
        ["-d", set] => {
            let set = letters(set)?;
            Some(
                text.chars()
                    .filter(|letter| !set.contains(letter))
                    .collect(),
            )
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (letters(from)?, letters(to)?);
            let last = to.last().copied()?;
            let change = |letter: char| {
                let at = from.iter().position(|known| *known == letter);
                at.map_or(letter, |at| to.get(at).copied().unwrap_or(last))
            };
            Some(text.chars().map(change).collect())
        }
        _ => None,
    }
}

fn letters(set: &str) -> Option<Vec<char>> {
    let set = set.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z");
    let set = if set.contains('\\') {
        unescaped(&set)?
    } else {
        set
    };
    if set.contains('[') {
        return None;
    }
    let signs: Vec<char> = set.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = signs.get(at) {
        if signs.get(at + 1) == Some(&'-')
            && let Some(last) = signs.get(at + 2)
        {
            if !first.is_ascii() || !last.is_ascii() {
                return None;
            }
            found.extend(*first..=*last);
            at += 3;
        } else {
            found.push(*first);
            at += 1;
        }
    }
    Some(found)
}

/// The text that is written so.
pub(crate) fn base64(text: &str) -> Option<String> {
    let mut made = Vec::new();
    let mut bits: u32 = 0;
    let mut count = 0;
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' | b' ' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            made.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    String::from_utf8(made).ok()
}

fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| letter.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

/// What a known text is, for those that keep it.
pub(super) fn content(output: &Input) -> Content {
    match output {
        Input::Known(text) => Content::Known(Arc::clone(text)),
        Input::Empty => Content::Known(Arc::from("")),
        Input::Inherited => Content::From(Origin::Elsewhere),
        Input::Partly(partial) => Content::From(partial.origin),
        Input::Unknown(origin) => Content::From(*origin),
    }
}
