//! Which function of some Python each of its statements belongs to.
//!
//! A name that is given a value in a function is that function's own, whatever other functions call theirs. Python goes by how
//! far lines are indented, so this does, too; of code in which that could be read differently nothing is told apart.

use std::ops::Range;

use super::tokens::Tree;
use crate::seeded::SeededMap;

/// What a statement is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The code itself, outside of every function.
    Module,
    /// A function, by its number.
    Function(u32),
    /// The body of a class: what it names is neither the module's nor that of the function around it.
    Class,
}

/// The functions of some code, and which tokens of its statements are in which.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The scope of each token that stands in no bracket.
    of_tokens: Vec<Scope>,
    /// The scope around each function.
    around: Vec<Scope>,
    /// The function that each definition opens, by the place of its first word.
    opened: SeededMap<usize, u32>,
}

impl Scopes {
    /// None where nothing is to be told apart.
    pub(super) fn from_trees(code: &str, trees: &[Tree<'_>]) -> Option<Self> {
        // A line that goes on in the next is not indented by what it says.
        if !code.contains("def ") || code.contains("\\\n") || code.contains("\\\r") {
            return None;
        }
        let mut found = Self::default();
        // What is open around the token at hand, each with how far its first line is indented.
        let mut open: Vec<(&str, Scope)> = Vec::new();
        // The head of a definition or class whose colon is still to come.
        let mut head: Option<(&str, Option<usize>)> = None;
        for (at, tree) in trees.iter().enumerate() {
            let begins = at.checked_sub(1).and_then(|near| trees.get(near));
            let begins = begins.is_none_or(Tree::is_end);
            let indent = begins.then(|| indentation(code, tree)).flatten();
            if let Some(indent) = indent {
                if head.is_some() || !indent.chars().all(|c| matches!(c, ' ' | '\t')) {
                    return None;
                }
                while open.last().is_some_and(|(outer, _)| {
                    indent.len() <= outer.len() || !indent.starts_with(outer)
                }) {
                    open.pop();
                }
            }
            let around = open.last().map_or(Scope::Module, |(_, scope)| *scope);
            found.of_tokens.push(around);
            match tree.as_word() {
                Some("def") => head = Some((line_indentation(code, tree)?, Some(at))),
                Some("class") if begins => head = Some((line_indentation(code, tree)?, None)),
                _ => {}
            }
            if tree.is_sign(":")
                && let Some((indent, definition)) = head.take()
            {
                let scope = match definition {
                    Some(definition) => {
                        let number = u32::try_from(found.around.len()).ok()?;
                        found.around.push(around);
                        found.opened.insert(definition, number);
                        Scope::Function(number)
                    }
                    None => Scope::Class,
                };
                open.push((indent, scope));
            }
        }
        (!found.around.is_empty()).then_some(found)
    }

    /// The scope of a token that stands in no bracket.
    pub(super) fn of_token(&self, at: usize) -> Scope {
        self.of_tokens.get(at).copied().unwrap_or(Scope::Module)
    }

    /// The function that the definition at a token opens.
    pub(super) fn opened_at(&self, at: usize) -> Option<u32> {
        self.opened.get(&at).copied()
    }

    /// A function and those around it, the innermost first. Functions see through classes, which have nothing for them.
    pub(super) fn functions(&self, from: Scope) -> impl Iterator<Item = u32> {
        let up = |scope: Scope| match scope {
            Scope::Function(number) => Some(number),
            Scope::Module | Scope::Class => None,
        };
        std::iter::successors(up(from), move |number| {
            let outer = self.around.get(usize::try_from(*number).ok()?)?;
            up(*outer)
        })
    }

    /// The tokens in runs that are in one scope each.
    pub(super) fn runs(&self) -> Vec<(Scope, Range<usize>)> {
        let mut from = 0;
        let runs = self.of_tokens.chunk_by(|one, next| one == next).map(|run| {
            let start = from;
            from += run.len();
            (self.of_token(start), start..from)
        });
        runs.collect()
    }
}

/// What stands in front of the first token of a line; none for one further behind.
fn indentation<'c>(code: &'c str, tree: &Tree<'_>) -> Option<&'c str> {
    let before = code.get(..tree.span.start)?;
    let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let front = before.get(line..)?;
    front.trim().is_empty().then_some(front)
}

/// How far the line of a token is indented.
fn line_indentation<'c>(code: &'c str, tree: &Tree<'_>) -> Option<&'c str> {
    let before = code.get(..tree.span.start)?;
    let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line = code.get(line..)?;
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len())
}
