//! Files that a program is told to write by its own script or input, not by its words: `sed 'w f'`,
//! `ed` with `w f`, patches.
//!
//! Each is listed as a command that does the same to the file and nothing else, so that whatever
//! protects files sees it.

use super::commands::{RedirectionKind, Wrapping};
use super::input::Input;
use super::interpreters::{sed_scripts, skip_delimited};
use super::refusal::Refusal;
use super::scripts::ScriptSource;
use super::texts::Argument;
use super::unwrapping::Unwrapped;

/// The most files one script or patch is followed to; a longer one is asked about.
const MAX_FILES: usize = 256;

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeEffect {
    Writes,
    Deletes,
}

/// The files a `sed` script writes.
pub(super) fn sed(command: &mut Unwrapped<'_, '_>) -> Result<(), Refusal> {
    let mut files = Vec::new();
    for script in sed_scripts(command.words) {
        // The sign alone rules out nearly every script.
        if script.unquoted().contains('w') || script.unquoted().contains('W') {
            files.extend(sed_writes(script.unquoted()));
        }
    }
    list(
        command,
        files.into_iter().map(|file| (CodeEffect::Writes, file)),
    )
}

/// The files the lines `ed` reads have it write.
pub(super) fn ed(command: &mut Unwrapped<'_, '_>) -> Result<(), Refusal> {
    let Input::Known(text) = command.start.input.clone() else {
        return Ok(());
    };
    let files = text.lines().filter_map(|line| {
        // `1,$w f`, `w f`, `wq f`, `W f`
        let line = line.trim_start_matches(|sign: char| !sign.is_ascii_alphabetic());
        let rest = line.strip_prefix(['w', 'W'])?;
        let file = rest.strip_prefix('q').unwrap_or(rest);
        let named = file.starts_with([' ', '\t']) && !file.trim().is_empty();
        named.then(|| (CodeEffect::Writes, file.trim().to_owned()))
    });
    list(command, files.collect::<Vec<_>>().into_iter())
}

/// The files a patch changes: given as a word, as input, or in a file that can be read.
pub(super) fn patch(command: &mut Unwrapped<'_, '_>, from: usize) -> Result<(), Refusal> {
    let mut texts: Vec<String> = Vec::new();
    if let Input::Known(text) = &command.start.input {
        texts.push(text.to_string());
    }
    let place = command.place;
    let mut paths: Vec<String> = Vec::new();
    for word in command.words.get(from..).unwrap_or_default() {
        let text = word.unquoted();
        if text.contains('\n') {
            texts.push(text.to_owned());
        } else if let Some(path) = word.known().filter(|path| !path.is_empty()) {
            let value = path.split_once('=').map_or(path, |(_, value)| value);
            paths.push(value.trim_start_matches("-i").to_owned());
        }
    }
    let redirects = command.listing.commands.get(place);
    let read = redirects.into_iter().flat_map(|one| &one.redirects);
    let read = read.filter(|one| one.kind == RedirectionKind::Read && !one.target.dynamic);
    paths.extend(read.map(|one| one.target.text.clone()));
    for path in paths.iter().filter(|path| !path.starts_with('-')) {
        for found in command.look_up_on_disk(path) {
            if let ScriptSource::Text { text, .. } = found {
                texts.push(text.to_string());
            }
        }
    }
    let files: Vec<(CodeEffect, String)> = texts.iter().flat_map(|text| patched(text)).collect();
    list(command, files.into_iter())
}

fn list(
    command: &mut Unwrapped<'_, '_>,
    files: impl Iterator<Item = (CodeEffect, String)>,
) -> Result<(), Refusal> {
    let span = command
        .words
        .first()
        .map_or(0..0, |word| word.text.span.clone());
    let mut known: Vec<(CodeEffect, String)> = Vec::new();
    for one in files {
        if known.contains(&one) {
            continue;
        }
        if known.len() >= MAX_FILES {
            command.mark(crate::opaque::Reason::OverBudget);
            break;
        }
        known.push(one);
    }
    for (deed, file) in known {
        let program = match deed {
            CodeEffect::Writes => "tee",
            CodeEffect::Deletes => "rm",
        };
        let words = ["--", &file];
        let words = std::iter::once(program).chain(words);
        let words = words.map(|word| Argument::literal(word, span.clone()));
        command.starts_apart(Wrapping::Incidental, words.collect())?;
    }
    Ok(())
}

/// The files named behind `w`, `W` and the flag `w` of `s`. What cannot be followed names none: that
/// it may run something is said elsewhere.
fn sed_writes(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = script.chars().peekable();
    let mut file = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let name: String = rest.by_ref().take_while(|sign| *sign != '\n').collect();
        let name = name.trim().trim_end_matches('}').trim().to_owned();
        if !name.is_empty() && !name.starts_with("/dev/std") {
            found.push(name);
        }
    };
    while let Some(sign) = rest.next() {
        match sign {
            'w' | 'W' => file(&mut rest),
            '/' => {
                skip_delimited(&mut rest, '/');
            }
            '\\' => {
                if let Some(delimiter) = rest.next() {
                    skip_delimited(&mut rest, delimiter);
                }
            }
            's' | 'y' => {
                let Some(delimiter) = rest.next() else {
                    break;
                };
                skip_delimited(&mut rest, delimiter);
                skip_delimited(&mut rest, delimiter);
                while rest
                    .next_if(|flag| flag.is_ascii_alphanumeric() && *flag != 'w')
                    .is_some()
                {}
                if rest.next_if_eq(&'w').is_some() {
                    file(&mut rest);
                }
            }
            '#' | 'a' | 'i' | 'c' | 'r' | 'R' => {
                rest.by_ref().find(|letter| *letter == '\n');
            }
            'b' | 't' | 'T' | ':' => {
                rest.by_ref().find(|letter| matches!(letter, '\n' | ';'));
            }
            _ => {}
        }
    }
    found
}

/// The files a patch names, whatever it does to them.
pub(crate) fn patched_files(text: &str) -> Vec<String> {
    patched(text).into_iter().map(|(_, file)| file).collect()
}

/// The files a patch names: of git, of `diff`, or in the form agents write.
fn patched(text: &str) -> Vec<(CodeEffect, String)> {
    let mut found = Vec::new();
    // What git's own head names, until a line below it says more: an empty file, a mode, a binary patch have none.
    let mut headed: Option<&str> = None;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("diff --git ") {
            let named = head
                .rsplit_once(" b/")
                .map(|(_, name)| name.trim_end_matches('"'));
            let earlier = std::mem::replace(&mut headed, named);
            found.extend(earlier.map(|name| (CodeEffect::Writes, name.to_owned())));
            continue;
        }
        let headers = [
            ("*** Add File:", CodeEffect::Writes),
            ("*** Update File:", CodeEffect::Writes),
            ("*** Move to:", CodeEffect::Writes),
            ("*** Delete File:", CodeEffect::Deletes),
            ("+++ ", CodeEffect::Writes),
            ("--- ", CodeEffect::Writes),
            ("rename to ", CodeEffect::Writes),
            ("rename from ", CodeEffect::Deletes),
            ("copy to ", CodeEffect::Writes),
            ("Index: ", CodeEffect::Writes),
        ];
        let named = headers
            .iter()
            .find_map(|(header, deed)| Some((*deed, line.strip_prefix(header)?)));
        let Some((deed, name)) = named else {
            continue;
        };
        headed = None;
        let name = name.split('\t').next().unwrap_or_default().trim();
        let name = name.trim_matches('"');
        // `a/` and `b/` in front are how git says old and new.
        let name = match line.starts_with(['+', '-']) {
            true => name
                .strip_prefix("a/")
                .or_else(|| name.strip_prefix("b/"))
                .unwrap_or(name),
            false => name,
        };
        if !name.is_empty() && name != "/dev/null" {
            found.push((deed, name.to_owned()));
        }
    }
    found.extend(headed.map(|name| (CodeEffect::Writes, name.to_owned())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_the_files_they_write() {
        let files = |script: &str| sed_writes(script);
        assert_eq!(files("w out.txt"), ["out.txt"]);
        assert_eq!(files("1,5w out"), ["out"]);
        assert_eq!(files("/w x/w out"), ["out"]);
        assert_eq!(files("s/a/b/gw out"), ["out"]);
        assert_eq!(files("s,w a,w b,;p"), [""; 0]);
        assert_eq!(files("s/a/b/;W x\nw y"), ["x", "y"]);
        assert_eq!(files("y/w/x/"), [""; 0]);
    }

    #[test]
    fn patches_name_the_files_they_change() {
        let text =
            "diff --git a/x b/x\n--- a/x\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-a\n+b\n";
        let files: Vec<String> = patched(text).into_iter().map(|(_, file)| file).collect();
        assert_eq!(files, ["x", ".claude/settings.json"]);
        let text = "*** Begin Patch\n*** Delete File: a b\n*** End Patch";
        assert_eq!(patched(text), [(CodeEffect::Deletes, "a b".to_owned())]);
    }
}
