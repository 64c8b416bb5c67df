//! Code that is kept and runs later: functions, aliases and traps.

use std::rc::Rc;
use std::sync::Arc;

use super::{
    Listing, Scope, Start, carried_code::UNKNOWN_WORD, carried_code::UNKNOWN_WORD_QUOTED,
    carried_code::parameters, failures::either,
};
use crate::budget::Resource;
use crate::opaque::Reason;
use crate::shell::commands::{Reached, Wrapping};
use crate::shell::environment::{Function, Origin, Value};
use crate::shell::input::Input;
use crate::shell::refusal::Refusal;
use crate::shell::texts::Argument;
use crate::shell::tree::{CommandKind, CommandNode, Part, Word};

/// Traps are walked where they are set and again at the end; nobody sets more.
const MAX_TRAPS: usize = 16;
/// Variables of single commands that are kept for traps; a line sets hardly more than a few.
const MAX_LENT: usize = 64;

/// A trap that was set.
pub(super) struct SetTrap {
    place: usize,
    code: Argument,
    start: Start,
}

impl<'w> Listing<'w> {
    /// Walks the bodies a function of the text may have, if that is what a command runs.
    pub(super) fn function(
        &mut self,
        place: usize,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let name = arguments.first().and_then(Argument::known);
        let definition = name.and_then(|name| self.environment.functions.get(name).cloned());
        let Some(definition) = definition else {
            return Ok(());
        };
        let outer = self.environment.clone();
        // Without a function of that name nothing changes.
        let mut after = definition.doubtful.then(|| outer.clone());
        for function in &definition.bodies {
            // A function may define another of its own name and run that.
            if self
                .calling
                .iter()
                .any(|calling| Rc::ptr_eq(calling, function))
            {
                self.mark(place, Reason::CallsItself);
                continue;
            }
            self.environment = outer.clone();
            self.body(function, arguments, start)?;
            after = either(after, Some(self.environment.clone()));
        }
        self.environment = after.unwrap_or(outer);
        Ok(())
    }

    /// Walks one body of a function.
    pub(super) fn body(
        &mut self,
        function: &Rc<Function>,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let outer = self.environment.clone();
        self.environment.positional = parameters(arguments.get(1..).unwrap_or_default());
        self.environment.locals = Rc::default();
        self.environment.in_function = true;
        if !self
            .called
            .iter()
            .any(|called| Rc::ptr_eq(called, function))
        {
            self.called.push(Rc::clone(function));
        }
        self.calling.push(Rc::clone(function));
        let scope = Scope {
            source: &function.source,
            held: function.held.clone(),
            reached: start.reached,
            depth: start.depth,
            documents: &function.documents,
        };
        let walked = self.leveled(&scope, &function.body.span, |listing| {
            listing.node(&function.body, false, &scope, &start.input)
        });
        self.calling.pop();
        self.environment.positional = outer.positional.clone();
        self.environment.in_function = outer.in_function;
        let locals = std::mem::replace(&mut self.environment.locals, Rc::clone(&outer.locals));
        for name in locals.iter() {
            self.environment.restore(name, outer.variable(name));
        }
        // `return` ends the function, not the shell.
        self.environment.ended = false;
        walked
    }

    /// Walks what an alias the text defines stands for.
    pub(super) fn alias(
        &mut self,
        place: usize,
        arguments: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        let Some((program, rest)) = arguments.split_first() else {
            return Ok(());
        };
        let name = program.known().unwrap_or_default();
        let aliases = [&self.environment.aliases, &self.environment.former_aliases];
        let aliases: Vec<Arc<str>> = aliases
            .into_iter()
            .filter_map(|known| known.get(name).cloned())
            .collect();
        aliases
            .iter()
            .try_for_each(|alias| self.stands_for(place, alias, program, rest, start))
    }

    /// Walks a command whose first word stands for this text.
    fn stands_for(
        &mut self,
        place: usize,
        alias: &str,
        program: &Argument,
        rest: &[Argument],
        start: &Start,
    ) -> Result<(), Refusal> {
        // What it calculates counts in the words behind it, which were read before.
        let calculates = alias.contains("$((") || alias.contains("$[");
        if alias.contains("<<") || alias.contains('\n') || calculates {
            // What follows on other lines is then part of it.
            self.mark(place, Reason::Unreadable);
        }
        let mut code = alias.to_string();
        for word in rest {
            code.push(' ');
            match word.known() {
                Some(text) if !word.text.glob => {
                    // A tilde that leads home is one no longer once it stands in quotes.
                    let leads_home = text.starts_with('~') && word.text.pattern.is_none();
                    let bare = match leads_home {
                        true => text.find('/').unwrap_or(text.len()),
                        false => 0,
                    };
                    let (home, name) = text.split_at_checked(bare).unwrap_or(("", text));
                    code.push_str(home);
                    if !name.is_empty() || home.is_empty() {
                        code.push_str(&format!("'{}'", name.replace('\'', "'\\''")));
                    }
                }
                Some(_) | None => {
                    // Quotes that came out of a variable would be read as such, and blanks that
                    // were quoted as what they are no more.
                    let quoted = word.text.text.starts_with('"');
                    let odd: &[char] = match quoted {
                        true => &['"', '\\', '`'],
                        false => &['"', '\\', '`', ' ', '{', '*', '\n', ';', '&', '|'],
                    };
                    if word.unquoted().contains(odd) {
                        self.mark(place, Reason::DynamicCode);
                    }
                    // What is shown of another command's output is not what stands in the text, and read
                    // again would be taken for known. `"${!a[@]}"` is as many words as there are.
                    let one = quoted && !word.text.text.contains('@');
                    code.push_str(match (word.origin.is_some(), one) {
                        (true, true) => UNKNOWN_WORD_QUOTED,
                        (true, false) => UNKNOWN_WORD,
                        (false, _) => &word.text.text,
                    });
                }
            }
        }
        let span = program.text.span.clone();
        self.known_code(place, Wrapping::Transparent, &code, &span, start)
    }

    /// Takes code a signal or the end runs: now, and at the end, when variables may hold other values.
    /// What only the end runs is not walked before something can bring it about.
    pub(in crate::shell) fn trap(
        &mut self,
        place: usize,
        code: Argument,
        start: Start,
        only_at_end: bool,
    ) -> Result<(), Refusal> {
        let set = SetTrap { place, code, start };
        if self.ending {
            return self.set_trap(&set);
        }
        if self.trapped.len() < MAX_TRAPS {
            self.trapped.push((place, set.code.clone()));
        } else {
            self.budget().overrun();
        }
        if !only_at_end {
            return self.set_trap(&set);
        }
        self.exit_traps.push(set);
        Ok(())
    }

    /// Walks code a trap was given, with what is known now. What it assigns counts from then on.
    fn set_trap(&mut self, set: &SetTrap) -> Result<(), Refusal> {
        let before = self.environment.clone();
        let walked = self.code(set.place, Wrapping::Commanding, &set.code, &set.start);
        let after = self.environment.clone();
        self.environment = before.either(after);
        walked
    }

    /// Walks what the end of the shell runs, unless the command that comes next cannot bring it about.
    pub(super) fn before(&mut self, next: &CommandNode) -> Result<(), Refusal> {
        match self.exit_traps.is_empty() || only_assigns(next) {
            true => Ok(()),
            false => self.reached_traps(),
        }
    }

    fn reached_traps(&mut self) -> Result<(), Refusal> {
        let traps = std::mem::take(&mut self.exit_traps);
        traps.iter().try_for_each(|set| self.set_trap(set))
    }

    /// Takes note of what variables hold for one command alone: a shell that ends while it puts the command
    /// together runs its traps with that.
    pub(super) fn lend(&mut self, assignments: &[(String, Argument)]) {
        if self.trapped.is_empty() || self.ending {
            return;
        }
        for (name, _) in assignments {
            if !self.lent.contains(name) && self.lent.len() < MAX_LENT {
                self.lent.push(name.clone());
            }
        }
    }

    pub(super) fn trapped_code(&mut self) -> Result<(), Refusal> {
        if self.trapped.is_empty() {
            return Ok(());
        }
        self.reached_traps()?;
        // Judged once with what was known when it was set; here only what came later matters.
        let before = self.environment.clone();
        self.environment.settle();
        for name in std::mem::take(&mut self.lent) {
            let before = self.environment.variable(&name);
            let mut values = before.map_or_else(|| vec![Value::Unset], |before| before.values);
            values.push(Value::Unknown(Origin::Elsewhere));
            self.environment.assign_any(&name, values);
        }
        self.ending = true;
        let mut trapped = std::mem::take(&mut self.trapped).into_iter();
        let walked = trapped.try_for_each(|(place, code)| {
            let start = Start {
                reached: Reached::Directly,
                depth: 1,
                input: Input::Inherited,
                // The shell itself runs it: with variables nobody exported, and its separators.
                in_shell: true,
                positional: None,
            };
            self.code(place, Wrapping::Commanding, &code, &start)
        });
        self.ending = false;
        self.environment = before;
        walked
    }

    /// Walks the functions nothing ran: another text may.
    pub(super) fn uncalled_functions(&mut self) -> Result<(), Refusal> {
        for function in std::mem::take(&mut self.defined) {
            let known =
                |called: &Rc<Function>| Rc::ptr_eq(called, &function) || called.is(&function);
            if self.called.iter().any(known) {
                continue;
            }
            let before = self.environment.clone();
            self.environment.positional = None;
            self.environment.in_function = true;
            self.calling.push(Rc::clone(&function));
            let scope = Scope {
                source: &function.source,
                held: function.held.clone(),
                reached: Reached::Directly,
                depth: 0,
                documents: &function.documents,
            };
            let walked = self.node(&function.body, false, &scope, &Input::Inherited);
            self.calling.pop();
            self.environment = before;
            walked?;
        }
        Ok(())
    }

    pub(super) fn define(
        &mut self,
        name: &Word,
        body: &CommandNode,
        scope: &Scope<'_>,
    ) -> Result<(), Refusal> {
        let known = self.expander(scope).argument(name, &name.span);
        let Some(name) = known.known() else {
            return self.apart(|listing| listing.node(body, false, scope, &Input::Inherited));
        };
        self.pay(Resource::Functions, 1, &scope.place(&body.span))?;
        let function = Rc::new(Function {
            body: body.clone(),
            source: Arc::from(scope.source),
            documents: scope.documents.to_vec(),
            held: scope.held.clone(),
        });
        self.defined.push(Rc::clone(&function));
        self.environment.define(name, function);
        Ok(())
    }
}

/// Whether a command gives values to variables and does nothing else, and putting them together cannot
/// end the shell as `${x:?}` and `$((1/0))` do.
fn only_assigns(node: &CommandNode) -> bool {
    let CommandKind::Simple(simple) = &node.kind else {
        return false;
    };
    let plain = |part: &Part| matches!(part, Part::Literal { .. } | Part::Command(_));
    let harmless = |part: &Part| {
        let quoted = matches!(
            part,
            Part::SingleQuoted(_) | Part::AnsiQuoted(_) | Part::Tilde(_)
        );
        let inside = matches!(part, Part::DoubleQuoted(parts) if parts.iter().all(plain));
        quoted || inside || plain(part)
    };
    simple.words.is_empty()
        && node.redirects.is_empty()
        && simple.assignments.iter().all(|assignment| {
            assignment.subscript.is_none() && assignment.value.parts.iter().all(harmless)
        })
}
