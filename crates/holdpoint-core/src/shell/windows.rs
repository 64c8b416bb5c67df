//! Windows' own shells: how PowerShell is told what to run, and lines of `cmd`.
//!
//! PowerShell takes its parameters in any case and cut short, and code in base64. A line of `cmd`
//! becomes the line of a shell that does the same: `rd /s x` is `rm -r x`.

use super::commands::Wrapping;
use super::input::Input;
use super::interpreters::Given;
use super::refusal::Refusal;
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

/// What PowerShell is given to run. Nothing is left to do where there is none.
pub(super) fn powershell(
    command: &mut Unwrapped<'_, '_>,
    name: &str,
) -> Result<Option<Given>, Refusal> {
    let words = command.words;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.unquoted();
        let parameter = text.strip_prefix(['-', '/', '–']).unwrap_or_default();
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
        let switch = text.starts_with('-') || (text.starts_with('/') && text.len() < 5);
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
    let line = Argument::literal(&translated(&line), switch.text.span.clone());
    command.runs(Wrapping::Commanding, &line)
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

/// A line of `cmd` as the line of a shell.
fn translated(line: &str) -> String {
    let mut made = String::with_capacity(line.len());
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    let end_word = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '^' if !quoted => word.extend(letters.next()),
            '&' | '|' | '\n' | '(' | ')' if !quoted => {
                end_word(&mut word, &mut words);
                finish(&mut made, &mut words);
                let double = letters.next_if_eq(&letter).is_some();
                made.push_str(match (letter, double) {
                    ('&', true) => " && ",
                    ('|', true) => " || ",
                    ('|', false) => " | ",
                    _ => "\n",
                });
            }
            '>' | '<' if !quoted => {
                end_word(&mut word, &mut words);
                let sign = match letters.next_if_eq(&letter) {
                    Some(_) => ">>".to_owned(),
                    None => letter.to_string(),
                };
                words.push(format!("{REDIRECTION}{sign}"));
            }
            letter if letter.is_whitespace() && !quoted => end_word(&mut word, &mut words),
            letter => word.push(letter),
        }
    }
    end_word(&mut word, &mut words);
    finish(&mut made, &mut words);
    // A line that ends in what ties it to nothing.
    let made = made.trim();
    let made = made.trim_end_matches(['&', '|', ' ', '\n']);
    made.to_owned()
}

/// Marks a sign that is a redirection, which no word begins with.
const REDIRECTION: char = '\u{1}';

/// Adds a command.
fn finish(made: &mut String, words: &mut Vec<String>) {
    let words = std::mem::take(words);
    let mut rest = words.iter().map(String::as_str).peekable();
    let name = loop {
        match rest.next() {
            Some(word) => match word.trim_start_matches('@').to_ascii_lowercase() {
                name if matches!(name.as_str(), "call" | "" | "start") => {}
                name => break (name, word),
            },
            None => return,
        }
    };
    let (name, word) = name;
    let rest: Vec<&str> = rest.collect();
    let given = |letter: char| rest.iter().any(|word| is_switch_of(word, letter));
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let (program, own): (Vec<&str>, bool) = match name {
        "del" | "erase" | "rd" | "rmdir" => (deleting(name, given).to_vec(), true),
        "copy" | "xcopy" | "robocopy" => (vec!["cp", "-r"], true),
        "move" | "ren" | "rename" => (vec!["mv"], true),
        "type" | "more" => (vec!["cat"], true),
        "md" | "mkdir" => (vec!["mkdir"], true),
        "mklink" => (vec!["ln", "-s"], true),
        "cd" | "chdir" | "pushd" => (vec!["cd"], true),
        "dir" => (vec!["ls"], true),
        "set" | "setlocal" | "endlocal" | "rem" | "title" | "cls" | "ver" | "vol" => {
            (vec!["true"], true)
        }
        _ => (vec![], false),
    };
    let mut line: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
    if !own {
        line.push(escaped(&slashed(word)));
    }
    let mut redirected = false;
    for word in rest {
        if let Some(sign) = word.strip_prefix(REDIRECTION) {
            line.push(sign.to_owned());
            redirected = true;
        } else if own && is_switch(word) {
        } else if redirected && word.eq_ignore_ascii_case("nul") {
            line.push("/dev/null".to_owned());
        } else if own || redirected {
            line.push(escaped(&slashed(word)));
            redirected = false;
        } else {
            line.push(escaped(word));
        }
    }
    made.push_str(&line.join(" "));
}

/// A word as a shell writes it: wild signs stay wild, and `%NAME%` is a variable.
fn escaped(word: &str) -> String {
    let mut made = String::with_capacity(word.len());
    let mut name = false;
    let count = word.matches('%').count();
    for (at, part) in word.split('%').enumerate() {
        let is_name = name && at < count && !part.is_empty();
        let plain = part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && plain {
            let variable = match part.to_ascii_lowercase().as_str() {
                "userprofile" | "homepath" => "\"$HOME\"".to_owned(),
                "systemroot" | "windir" => "/Windows".to_owned(),
                "systemdrive" => "/".to_owned(),
                "temp" | "tmp" => "/tmp".to_owned(),
                _ => format!("\"$W{part}\""),
            };
            made.push_str(&variable);
            name = false;
        } else {
            for letter in part.chars() {
                let plain = letter.is_alphanumeric() || "_-./:@+*?~=,".contains(letter);
                if !plain {
                    made.push('\\');
                }
                made.push(letter);
            }
            name = true;
        }
    }
    made
}
