//! Awk: it has no files but those it prints into and reads by `getline`, and no programs but
//! those of `system` and of pipes. All of them stand in places of their own.

use std::collections::HashMap;
use std::ops::Range;

use super::names::Assignments;
use super::scopes::Scope;
use super::sockets;
use super::syntax::Syntax;
use super::tokens::{self, Kind, Piece, Tree};
use super::values::text_joined;
use super::{Carried, CodeEffect, CodeEffectKind, Language, Limits, Operand, Reading, Unfollowed};

pub(super) fn read(code: &str, limits: &Limits) -> Reading {
    let syntax = Syntax::for_language(Language::Awk);
    let (trees, fault) = tokens::trees(syntax, code, limits);
    let mut walker = Awk {
        limits,
        assignments: Assignments::from_trees(syntax, code, &trees),
        constants: HashMap::new(),
        reading: Reading::default(),
    };
    walker.collect(&trees);
    walker.list(&trees);
    walker.reading.opens_socket |= sockets::opens(Language::Awk, &trees);
    if let Some(fault) = fault {
        walker.reading.note(fault);
    }
    walker.reading
}

struct Awk<'t, 'l> {
    limits: &'l Limits,
    assignments: Assignments<'t>,
    constants: HashMap<&'t str, Operand>,
    reading: Reading,
}

impl<'t> Awk<'t, '_> {
    /// Finds the names with one constant value.
    fn collect(&mut self, trees: &[Tree<'t>]) {
        for (at, tree) in trees.iter().enumerate() {
            if let Kind::Group(_, inside) = &tree.kind {
                self.collect(inside);
            }
            if let (Some(name), Some(sign)) = (tree.as_word(), trees.get(at + 1))
                && sign.is_sign("=")
                && self.assignments.once(name, Scope::Module)
            {
                let value = self.value(operands(trees, at + 2));
                self.constants.insert(name, value);
            }
        }
    }

    fn effect(&mut self, kind: CodeEffectKind, span: Range<usize>) {
        self.reading.effects.push(CodeEffect::plain(kind, span));
    }

    fn list(&mut self, trees: &[Tree<'t>]) {
        let mut printing = false;
        // Where the operands in front of a pipe begin.
        let mut start = 0;
        for (at, tree) in trees.iter().enumerate() {
            let next = trees.get(at + 1);
            match &tree.kind {
                Kind::End => {
                    printing = false;
                    start = at + 1;
                }
                Kind::Group(_, inside) => {
                    self.list(inside);
                    if matches!(tree.kind, Kind::Group(b'{', _)) {
                        printing = false;
                        start = at + 1;
                    }
                }
                Kind::Word("print" | "printf") => {
                    printing = true;
                    start = at + 1;
                }
                Kind::Word("system") => {
                    if let Some(inside) = next.and_then(|next| next.group(b'(')) {
                        let line = self.value(inside);
                        let end = next.map_or(tree.span.end, |next| next.span.end);
                        self.effect(CodeEffectKind::Shell(line), tree.span.start..end);
                    }
                }
                Kind::Word("ENVIRON") if printing => {
                    let name = match next.and_then(|next| next.group(b'[')) {
                        Some([key]) => self.value(std::slice::from_ref(key)),
                        Some(_) | None => Operand::Unknown,
                    };
                    let what = match name {
                        Operand::Known(name) => Carried::Variable(name),
                        Operand::Starts(_) | Operand::Unknown => Carried::Environment,
                    };
                    self.effect(CodeEffectKind::Print(what), tree.span.clone());
                }
                Kind::Word("getline") => self.getline(trees, at),
                Kind::Word("if" | "while" | "else" | "do" | "return") => start = at + 1,
                Kind::Sign("@") => {
                    let loads = next.is_some_and(|next| next.is_word("load"));
                    let why = if loads {
                        Unfollowed::Native
                    } else {
                        Unfollowed::DynamicName
                    };
                    self.reading.note(why);
                }
                Kind::Sign("|") => {
                    // `|&` is a pipe both ways.
                    let by = 1 + usize::from(next.is_some_and(|next| next.is_sign("&")));
                    if trees
                        .get(at + by)
                        .is_some_and(|next| next.is_word("getline"))
                    {
                        let command = trees.get(start..at).unwrap_or(&[]);
                        self.command(self.value(command), tree.span.clone());
                    } else if printing {
                        let command = self.value(operands(trees, at + by));
                        self.command(command, tree.span.clone());
                    }
                    start = at + by;
                }
                Kind::Sign(sign @ (">" | ">>")) if printing => {
                    let path = self.value(operands(trees, at + 1));
                    self.printed(path, *sign == ">>", tree.span.clone());
                }
                Kind::Sign("=" | "," | "&&" | "||" | "!" | "==" | ">" | "<") => start = at + 1,
                Kind::Sign(_)
                | Kind::Word(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_) => {}
            }
        }
    }

    fn command(&mut self, command: Operand, span: Range<usize>) {
        let host = match &command {
            Operand::Known(text) | Operand::Starts(text) => text.starts_with("/inet"),
            Operand::Unknown => false,
        };
        let kind = if host {
            CodeEffectKind::Connect(command)
        } else {
            CodeEffectKind::Shell(command)
        };
        self.effect(kind, span);
    }

    fn printed(&mut self, path: Operand, append: bool, span: Range<usize>) {
        if let Operand::Known(known) = &path
            && matches!(
                known.as_str(),
                "/dev/stdout" | "/dev/stderr" | "/dev/null" | "-"
            )
        {
            return;
        }
        let kind = if append {
            CodeEffectKind::Append { path }
        } else {
            CodeEffectKind::Write { path }
        };
        self.effect(kind, span);
    }

    /// `getline < "file"`, `getline line < "file"`.
    fn getline(&mut self, trees: &[Tree<'t>], at: usize) {
        let piped = at
            .checked_sub(1)
            .and_then(|near| trees.get(near))
            .is_some_and(|tree| tree.is_sign("|") || tree.is_sign("&"));
        let less = trees
            .iter()
            .enumerate()
            .skip(at + 1)
            .take(4)
            .take_while(|(_, tree)| !tree.is_end())
            .find(|(_, tree)| tree.is_sign("<"));
        if let (false, Some((less, tree))) = (piped, less) {
            let path = self.value(operands(trees, less + 1));
            let kind = match &path {
                Operand::Known(text) | Operand::Starts(text) if text.starts_with("/inet") => {
                    CodeEffectKind::Connect(path)
                }
                Operand::Known(_) | Operand::Starts(_) | Operand::Unknown => {
                    CodeEffectKind::Read { path }
                }
            };
            self.effect(kind, tree.span.clone());
        }
    }

    /// Operands next to each other are one text.
    fn value(&self, trees: &[Tree<'t>]) -> Operand {
        let mut whole = Operand::Known(String::new());
        if trees.is_empty() {
            return Operand::Unknown;
        }
        for tree in trees {
            let part = match &tree.kind {
                Kind::Text(literal) => match literal.pieces.as_slice() {
                    [Piece::Text(text)] if self.limits.copies(text.len()) => {
                        Operand::Known(text.clone())
                    }
                    [] => Operand::Known(String::new()),
                    _ => Operand::Unknown,
                },
                Kind::Number(Some(number)) => Operand::Known(number.to_string()),
                Kind::Word(name) => match self.constants.get(name) {
                    Some(Operand::Known(text)) if self.limits.copies(text.len()) => {
                        Operand::Known(text.clone())
                    }
                    Some(Operand::Starts(text)) if self.limits.copies(text.len()) => {
                        Operand::Starts(text.clone())
                    }
                    Some(_) | None => Operand::Unknown,
                },
                Kind::Group(b'(', inside) => self.value(inside),
                Kind::Sign("$" | "-" | "+") => Operand::Unknown,
                // `a ? b : c`, `a == b`: the whole is something else.
                Kind::Sign(_) => return Operand::Unknown,
                Kind::Group(..)
                | Kind::Number(None)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::End => Operand::Unknown,
            };
            whole = text_joined(whole, part);
        }
        whole
    }
}

/// The operands from a place on, up to a sign or the end of the statement.
fn operands<'a, 't>(trees: &'a [Tree<'t>], from: usize) -> &'a [Tree<'t>] {
    let rest = trees.get(from..).unwrap_or(&[]);
    let end = rest
        .iter()
        .position(|tree| match &tree.kind {
            Kind::End | Kind::Group(b'{', _) => true,
            Kind::Sign(sign) => !matches!(*sign, "$" | "?" | ":"),
            Kind::Word(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Shell(_)
            | Kind::Words(_)
            | Kind::Regex(_)
            | Kind::Group(..) => false,
        })
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or(&[])
}
