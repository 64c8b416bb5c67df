//! Texts of code that may be what it starts or removes, where that is not known: a literal goes through a
//! function, a parameter or a loop of the code's own.
//!
//! Only a text that is a command from its first word on counts, and words of a list that follow one another;
//! for what is removed, a place that a function is called with or that a list holds. A function of a library nobody has
//! described counts by its name (`d.spawn([…])`, `fs.rmtree("/home")`).

use super::syntax::Syntax;
use super::tokens::{Kind, Literal, Piece, Tree};
use super::{CodeEffectKind, Operand, Reading, Unfollowed};
use crate::paths::MAX_PATH;
use crate::supposed;

/// Lines taken out of one piece of code. What has more is a question of its own: an empty line.
const MAX_LINES: usize = 48;
/// The longest text taken for a line; longer ones are documents, of which the beginning counts.
const MAX_LINE: usize = 1000;

/// Notes the lines code may run besides what was found in it.
pub(super) fn note(reading: &mut Reading, syntax: &Syntax, trees: &[Tree<'_>]) {
    let starts = matches!(
        reading.opaque,
        Some(Unfollowed::Evaluates | Unfollowed::DynamicName | Unfollowed::Native)
    ) || reading.effects.iter().any(|one| starts_unknown(&one.kind));
    let removes = reading.effects.iter().any(|one| removes_unknown(&one.kind));
    reading.hands_on |= starts;
    let starts = starts || calls(trees, &STARTING);
    let removes = removes || calls(trees, &REMOVING);
    if !starts && !removes {
        return;
    }
    let mut found = Found {
        lines: Vec::new(),
        starts,
        removes,
        bare_calls: syntax.bare_calls,
    };
    found.among(trees, false);
    reading.may_run.extend(found.lines);
}

/// What functions are called that start programs, whoever has them, and nothing else is called so.
const STARTING: [&str; 9] = [
    "system",
    "popen",
    "spawn",
    "run_process",
    "open_process",
    "run_command",
    "shell_exec",
    "execvp",
    "posix_spawn",
];
/// What functions are called that remove directories and files. `remove` and `delete` are not: lists and requests have
/// them.
const REMOVING: [&str; 10] = [
    "rmtree",
    "_rmtree",
    "removetree",
    "remove_tree",
    "delete_tree",
    "rmdir",
    "rm",
    "unlink",
    "rm_rf",
    "deltree",
];

/// Whether a function of one of these names is called, or handed on by its name.
fn calls(trees: &[Tree<'_>], names: &[&str]) -> bool {
    trees.iter().any(|tree| match &tree.kind {
        Kind::Word(word) => names.contains(word),
        Kind::Group(_, inside) => calls(inside, names),
        Kind::Text(_)
        | Kind::Words(_)
        | Kind::Sign(_)
        | Kind::Regex(_)
        | Kind::Shell(_)
        | Kind::Number(_)
        | Kind::End => false,
    })
}

/// Whether a program is started, or code run, that is not known.
fn starts_unknown(kind: &CodeEffectKind) -> bool {
    match kind {
        CodeEffectKind::Shell(Operand::Unknown | Operand::Starts(_)) | CodeEffectKind::Eval => true,
        CodeEffectKind::Run(words) => match words.split_first() {
            Some((Operand::Known(program), rest)) => {
                supposed::runs_lines(program) && rest.iter().any(|word| !is_known(word))
            }
            // With words of its own, it is the program alone that is not known: `[sys.executable, '-m', 'app']`.
            Some((Operand::Unknown | Operand::Starts(_), rest)) => !rest.iter().any(is_known),
            None => false,
        },
        CodeEffectKind::Shell(Operand::Known(_))
        | CodeEffectKind::Delete { .. }
        | CodeEffectKind::Write { .. }
        | CodeEffectKind::Append { .. }
        | CodeEffectKind::Read { .. }
        | CodeEffectKind::ChangeMode { .. }
        | CodeEffectKind::Rename { .. }
        | CodeEffectKind::Connect(_)
        | CodeEffectKind::Send { .. }
        | CodeEffectKind::Print(_) => false,
    }
}

fn is_known(operand: &Operand) -> bool {
    matches!(operand, Operand::Known(_))
}

fn removes_unknown(kind: &CodeEffectKind) -> bool {
    matches!(
        kind,
        CodeEffectKind::Delete {
            path: Operand::Unknown,
            recursive: true
        }
    )
}

struct Found {
    lines: Vec<String>,
    starts: bool,
    removes: bool,
    bare_calls: bool,
}

impl Found {
    /// Looks through trees that follow one another; `given` if they are a list, or what a function is called with.
    fn among(&mut self, trees: &[Tree<'_>], given: bool) {
        let mut run: Vec<String> = Vec::new();
        for (at, tree) in trees.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|near| trees.get(near));
            match &tree.kind {
                Kind::Text(literal) => {
                    if let Some(text) = whole(literal) {
                        let called =
                            self.bare_calls && before.is_some_and(|one| one.as_word().is_some());
                        if given || called {
                            self.place(&text);
                        }
                        self.line(&text);
                        run.push(text);
                    } else {
                        self.words(&std::mem::take(&mut run));
                    }
                    for piece in &literal.pieces {
                        if let Piece::Hole(inside) = piece {
                            self.among(inside, false);
                        }
                    }
                }
                Kind::Words(words) => self.words(words),
                Kind::Sign(",") => {}
                Kind::Group(open, inside) => {
                    self.words(&std::mem::take(&mut run));
                    // `text.split("/")` is given a sign, `remove("/")` a place.
                    let word = before.and_then(|one| one.as_word());
                    let of_object = at
                        .checked_sub(2)
                        .and_then(|near| trees.get(near))
                        .is_some_and(|one| one.is_sign(".") || one.is_sign("->"));
                    let called = word.is_some_and(|word| !of_object || REMOVING.contains(&word));
                    let listed = *open == b'[' && before.is_none_or(|one| one.as_word().is_none());
                    self.among(inside, (*open == b'(' && called) || listed);
                }
                Kind::Regex(_)
                | Kind::Shell(_)
                | Kind::Word(_)
                | Kind::Number(_)
                | Kind::Sign(_)
                | Kind::End => self.words(&std::mem::take(&mut run)),
            }
        }
        self.words(&run);
    }

    /// A text that is a line by itself.
    fn line(&mut self, text: &str) {
        let line = beginning(text);
        if self.starts && supposed::is_line(line) {
            self.push(line.to_owned());
        }
    }

    /// Texts that follow one another, as a program and its words.
    fn words(&mut self, words: &[String]) {
        if !self.starts || words.len() < 2 {
            return;
        }
        if !words.first().is_some_and(|first| supposed::is_first(first)) {
            return;
        }
        let mut left = MAX_LINE;
        let some = words.iter().take_while(|word| {
            let fits = word.len() <= left;
            left = left.saturating_sub(word.len());
            fits
        });
        let quoted: Vec<String> = some.map(|word| quoted(word)).collect();
        self.push(quoted.join(" "));
    }

    /// A place that may be what is removed.
    fn place(&mut self, text: &str) {
        let is_place = text.starts_with('/') && !text.starts_with("//") && !text.contains(' ');
        if self.removes && is_place && text.len() <= MAX_PATH {
            self.push(format!("rm -r {}", quoted(text)));
        }
    }

    fn push(&mut self, line: String) {
        if self.lines.contains(&line) || self.lines.len() > MAX_LINES {
            return;
        }
        let full = self.lines.len() == MAX_LINES;
        self.lines.push(if full { String::new() } else { line });
    }
}

/// As much of a text as is taken for a line: up to the last blank, so that no word is another one.
fn beginning(text: &str) -> &str {
    if text.len() <= MAX_LINE {
        return text;
    }
    let cut = text
        .get(..text.floor_char_boundary(MAX_LINE))
        .unwrap_or(text);
    cut.rfind(char::is_whitespace)
        .and_then(|end| cut.get(..end))
        .unwrap_or(cut)
}

/// The text of a literal without holes.
fn whole(literal: &Literal<'_>) -> Option<String> {
    let mut text = String::new();
    for piece in &literal.pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Hole(_) => return None,
        }
    }
    Some(text)
}

/// A text as one word of a shell.
fn quoted(word: &str) -> String {
    crate::project_files::settings::quoted(word)
}
