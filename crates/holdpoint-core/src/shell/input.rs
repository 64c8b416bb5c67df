//! What a command reads on its standard input, as far as the text tells.
//!
//! Promises that a known input is exactly what the command would read: output is predicted
//! only for `echo`, `printf` with plain formats, and `cat` of a known input. Everything else
//! is unknown.

use std::rc::Rc;

use super::texts::Argument;

/// What a command reads.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// Whatever the shell itself reads.
    Inherited,
    /// Nothing.
    Empty,
    /// This text.
    Known(Rc<str>),
    /// A pipe or a file whose content is not in the text.
    Unknown,
}

/// What a command writes for the next one to read.
pub(super) fn output(arguments: &[Argument], input: &Input) -> Input {
    let Some((program, rest)) = arguments.split_first() else {
        return Input::Unknown;
    };
    let mut words = Vec::new();
    for argument in rest {
        match argument.known() {
            Some(text) if !argument.text.glob => words.push(text),
            Some(_) | None => return Input::Unknown,
        }
    }
    let text = match program.text.program() {
        Some("echo") => echo(&words),
        Some("printf") => printf(&words),
        Some("cat") if words.iter().all(|word| *word == "-") => return input.clone(),
        Some(_) | None => None,
    };
    text.map_or(Input::Unknown, |text| Input::Known(Rc::from(text)))
}

fn echo(words: &[&str]) -> Option<String> {
    let is_option = |word: &&&str| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty()
            && letters
                .bytes()
                .all(|byte| matches!(byte, b'n' | b'e' | b'E'))
    };
    let options = words.iter().take_while(is_option).count();
    let text = words.get(options..)?.join(" ");
    // Whether a backslash is an escape depends on the shell and its options.
    (!text.contains('\\')).then(|| text + "\n")
}

fn printf(words: &[&str]) -> Option<String> {
    let (format, values) = words.split_first()?;
    let format = format.replace("\\n", "\n");
    if format.contains('\\') || format.starts_with('-') {
        return None;
    }
    if !format.contains('%') {
        return Some(format);
    }
    let plain = format.replace("%s", "");
    let wanted = format.matches("%s").count();
    if plain.contains('%') || wanted == 0 {
        return None;
    }
    let mut text = String::new();
    for round in values.chunks(wanted) {
        let mut pieces = format.split("%s");
        text.push_str(pieces.next()?);
        for (at, piece) in pieces.enumerate() {
            text.push_str(round.get(at).copied().unwrap_or_default());
            text.push_str(piece);
        }
    }
    Some(text)
}
