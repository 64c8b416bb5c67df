//! Windows' own shells: how PowerShell is told what to run, and lines of `cmd`.
//!
//! PowerShell takes its parameters in any case and cut short, and code in base64. A line of `cmd`
//! becomes the line of a shell that does the same: `rd /s x` is `rm -r x`.

mod batch;

use std::sync::Arc;

use super::commands::Wrapping;
use super::input::Input;
use super::interpreters::Given;
use super::refusal::Refusal;
use super::scripts::{Asks, ScriptSource};
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use super::walk::opaque_origin;
use crate::code::slashed;
use crate::opaque::Reason;

/// Parameters of PowerShell with a value that is no code, in lower case.
const VALUES: [&str; 13] = [
    "configurationfile",
    "configurationname",
    "custompipename",
    "executionpolicy",
    "ep",
    "inputformat",
    "outputformat",
    "psconsolefile",
    "settingsfile",
    "version",
    "windowstyle",
    "workingdirectory",
    "wd",
];

/// PowerShell takes any of these for the one that begins a parameter.
const DASHES: [char; 4] = ['-', '–', '—', '―'];

/// What PowerShell is given to run. Nothing is left to do where there is none.
pub(super) fn powershell(
    command: &mut Unwrapped<'_, '_>,
    name: &str,
) -> Result<Option<Given>, Refusal> {
    let words = command.words;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.unquoted();
        let parameter = text.strip_prefix(DASHES).or(text.strip_prefix('/'));
        let parameter = parameter.unwrap_or_default();
        let parameter = parameter.trim_start_matches('-').to_ascii_lowercase();
        let is = |known: &str| !parameter.is_empty() && known.starts_with(&*parameter);
        if word.text.dynamic {
            return Ok(Some(Given::Hidden(opaque_origin(
                word.origin,
                Reason::DynamicCode,
            ))));
        }
        if text == "-" {
            break;
        }
        let slash =
            text.starts_with('/') && (text.len() < 5 || is("encodedcommand") || is("command"));
        let switch = text.starts_with(DASHES) || slash;
        if !switch {
            // Windows' own takes a line, the newer one a file.
            let file = name.starts_with("pwsh") || text.to_ascii_lowercase().ends_with(".ps1");
            return Ok(match file && !text.contains(' ') {
                true => Some(Given::File(at)),
                false => joined(words, at),
            });
        }
        if is("command") || is("commandwithargs") || parameter == "cwa" {
            let reads = words.get(at + 1).map(Argument::unquoted) == Some("-");
            if reads {
                break;
            }
            return Ok(joined(words, at + 1));
        }
        if is("encodedcommand") || parameter == "ec" {
            let code = words.get(at + 1);
            let known = code.filter(|code| !code.text.dynamic);
            let decoded = known.and_then(|code| Some((code, decoded(code.unquoted())?)));
            return Ok(Some(match decoded {
                Some((code, text)) => {
                    // What it says is known, and still nobody writes code like that openly.
                    command.mark(Reason::Decoded);
                    Given::Code(vec![Argument::literal(&text, code.text.span.clone())])
                }
                None => Given::Hidden(Reason::Decoded),
            }));
        }
        if is("file") {
            return Ok(match words.get(at + 1) {
                Some(file) if file.text.dynamic => Some(Given::Hidden(opaque_origin(
                    file.origin,
                    Reason::DynamicCode,
                ))),
                Some(file) if file.unquoted() == "-" => {
                    Some(Given::Hidden(Reason::ScriptFromInput))
                }
                Some(_) => Some(Given::File(at + 1)),
                None => None,
            });
        }
        // `-ex` is the policy, and `-e` was the encoded command.
        at += match VALUES.iter().any(|known| is(known)) {
            true => 2,
            false => 1,
        };
    }
    let input = &command.start.input;
    Ok(match input {
        Input::Known(_) => Some(Given::Input),
        Input::Partly(_) | Input::Unknown(_) => Some(Given::Hidden(opaque_origin(
            input.origin(),
            Reason::ScriptFromInput,
        ))),
        Input::Inherited | Input::Empty => None,
    })
}

/// All words from one on are the code.
fn joined(words: &[Argument], from: usize) -> Option<Given> {
    let words = words.get(from..).unwrap_or_default();
    let first = words.first()?;
    if let Some(dynamic) = words.iter().find(|word| word.text.dynamic) {
        return Some(Given::Hidden(opaque_origin(
            dynamic.origin,
            Reason::DynamicCode,
        )));
    }
    let texts: Vec<&str> = words.iter().map(Argument::unquoted).collect();
    let code = Argument::literal(&texts.join(" "), first.text.span.clone());
    Some(Given::Code(vec![code]))
}

/// Text in UTF-16, its lower byte first, in base64.
fn decoded(text: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim().trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = ((bits << 6) | u32::from(value)) & 0x3fff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    let units: Option<Vec<u16>> = bytes
        .chunks(2)
        .map(|pair| match pair {
            [low, high] => Some(u16::from_le_bytes([*low, *high])),
            _ => None,
        })
        .collect();
    String::from_utf16(&units?).ok()
}

/// Lists what a line of `cmd` runs, and what its commands do where they are typed into another
/// shell.
pub(super) fn launch(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    if !name.starts_with("cmd") {
        return lone(command, name);
    }
    let begins = |word: &Argument| {
        let text = word.unquoted().trim_start_matches('/').to_ascii_lowercase();
        word.unquoted().starts_with('/') && matches!(text.chars().next(), Some('c' | 'k' | 'r'))
    };
    let Some(at) = command.words.iter().position(begins) else {
        // It reads lines from its input.
        if matches!(
            command.start.input,
            Input::Known(_) | Input::Partly(_) | Input::Unknown(_)
        ) {
            command.mark(Reason::ScriptFromInput);
        }
        return Ok(());
    };
    let words = command.words.get(at..).unwrap_or_default();
    let Some((switch, rest)) = words.split_first() else {
        return Ok(());
    };
    if let Some(dynamic) = rest.iter().find(|word| word.text.dynamic) {
        let reason = opaque_origin(dynamic.origin, Reason::DynamicCode);
        command.mark(reason);
    }
    let glued: String = {
        let text = switch.unquoted().trim_start_matches('/');
        text.chars().skip(1).collect()
    };
    let texts = std::iter::once(glued.as_str()).chain(rest.iter().map(Argument::unquoted));
    let line = texts.collect::<Vec<_>>().join(" ");
    follow_batch(command, &line)?;
    let line = Argument::literal(&batch::translated(&line), switch.text.span.clone());
    command.runs(Wrapping::Commanding, &line)
}

/// Lists what a file of lines does that `cmd` is told to run: `cmd /c x.bat`, `cmd /c call x.cmd`.
fn follow_batch(command: &mut Unwrapped<'_, '_>, line: &str) -> Result<(), Refusal> {
    let mut words = line.split_whitespace();
    let first = words.find(|word| !word.eq_ignore_ascii_case("call") && !word.is_empty());
    let Some(path) = first.map(|word| slashed(word.trim_matches('"'))) else {
        return Ok(());
    };
    let small = path.to_ascii_lowercase();
    if !small.ends_with(".bat") && !small.ends_with(".cmd") {
        return Ok(());
    }
    for found in command.look_up(&path, Asks::Project) {
        let ScriptSource::Text { text, .. } = found else {
            continue;
        };
        let said = |line: &&str| {
            let small = line.to_ascii_lowercase();
            !line.is_empty() && !line.starts_with(':') && !small.starts_with("rem ")
        };
        let lines = text.lines().map(|line| line.trim().trim_start_matches('@'));
        let lines: Vec<String> = lines.filter(said).map(batch::translated).collect();
        command.follow_lines(Some(&Arc::from(path.as_str())), &lines)?;
    }
    Ok(())
}

/// `del /s x` outside of `cmd`, as an agent on Windows writes it.
fn lone(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    let Some(first) = command.words.first() else {
        return Ok(());
    };
    let switch = |word: &Argument| is_switch(word.unquoted());
    // Of these only `rmdir` is also a program elsewhere.
    if name == "rmdir" && !command.rest(1).iter().any(switch) {
        return Ok(());
    }
    let program = deleting(name, |letter| {
        command
            .rest(1)
            .iter()
            .any(|word| is_switch_of(word.unquoted(), letter))
    });
    let literal = |text: &str| Argument::literal(text, first.text.span.clone());
    let mut words: Vec<Argument> = program.iter().map(|word| literal(word)).collect();
    for word in command.rest(1).iter().filter(|word| !switch(word)) {
        words.push(match word.known().filter(|_| !word.text.glob) {
            Some(text) => literal(&slashed(text)),
            None => word.clone(),
        });
    }
    command.starts(Wrapping::Commanding, Vec::new(), words)
}

/// `/s`, `/q`, `/f`.
fn is_switch(text: &str) -> bool {
    let mut letters = text.trim_start_matches('/').chars();
    let letter = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic());
    text.starts_with('/') && letter && matches!(letters.next(), None | Some(':' | '/'))
}

fn is_switch_of(text: &str, letter: char) -> bool {
    is_switch(text)
        && text.split('/').any(|one| {
            one.chars()
                .next()
                .is_some_and(|first| first.eq_ignore_ascii_case(&letter))
        })
}

fn deleting(name: &str, given: impl Fn(char) -> bool) -> &'static [&'static str] {
    match (name, given('s')) {
        (_, true) => &["rm", "-r"],
        ("rd" | "rmdir", false) => &["rmdir"],
        (_, false) => &["rm"],
    }
}
