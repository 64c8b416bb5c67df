//! Files that commands of the line change, remembered for the commands after them.

use std::rc::Rc;

use super::Listing;
use crate::shell::changes::{self, Change, Outcome, Target};
use crate::shell::commands::{Redirection, RedirectionKind};
use crate::shell::environment::Origin;
use crate::shell::files::Content;
use crate::shell::foreseen;
use crate::shell::input::Input;

impl<'w> Listing<'w> {
    /// Remembers what the files a command writes will hold, the `at`-th of the list.
    pub(super) fn remember_writes(
        &mut self,
        redirects: &[Redirection],
        printed: &Input,
        at: usize,
    ) {
        for redirect in redirects {
            let append = match redirect.kind {
                RedirectionKind::Write | RedirectionKind::Clobber => false,
                // What was there before stays behind what is shorter.
                RedirectionKind::Append | RedirectionKind::ReadWrite => true,
                RedirectionKind::Read
                | RedirectionKind::HereDocument
                | RedirectionKind::HereString
                | RedirectionKind::Duplicate => continue,
            };
            if changes::writes_unknown(redirect) {
                Rc::make_mut(&mut self.environment.changers).add(at);
                continue;
            }
            let content = foreseen::content(printed);
            self.environment
                .write(&redirect.target.text, content, append, at);
        }
    }

    /// Remembers the files a listed command changes by its words: what they then hold where that is
    /// foreseen, and otherwise that it may have changed some.
    pub(super) fn remember_changes(&mut self, place: usize, input: &Input) {
        let Some(command) = self.commands.get(place) else {
            return;
        };
        let Some(program) = changes::changer(command) else {
            return;
        };
        if !program.foreseen || command.container.is_some() {
            Rc::make_mut(&mut self.environment.changers).add(place);
            return;
        }
        for change in changes::of(command, input) {
            let (Target::Path(path), Outcome::Holds { content, added }) =
                (&change.target, change.outcome)
            else {
                Rc::make_mut(&mut self.environment.changers).add(place);
                continue;
            };
            let content = match content {
                Content::Same(from) => self.environment.content(&from).unwrap_or_else(|| {
                    let names = self.environment.names_of(&from);
                    Content::Same(names.into_iter().next().unwrap_or(from))
                }),
                Content::Link(from) => {
                    let names = self.environment.names_of(&from);
                    Content::Link(names.into_iter().next().unwrap_or(from))
                }
                content @ (Content::Known(_) | Content::From(_) | Content::Edited) => content,
            };
            self.environment.write(path, content, added, place);
        }
    }

    /// The same for a command another one starts. Where it is not said what it reads, that is not
    /// nothing.
    pub(super) fn remember_started(&mut self, place: usize, input: &Input) {
        match input {
            Input::Inherited | Input::Empty => {
                self.remember_changes(place, &Input::Unknown(Origin::Elsewhere));
            }
            Input::Known(_) | Input::Partly(_) | Input::Unknown(_) => {
                self.remember_changes(place, input);
            }
        }
    }

    /// Forgets the commands from one on, and what they change.
    pub(in crate::shell) fn cut_to(&mut self, place: usize) {
        self.commands.truncate(place);
        self.changes.retain(|known, _| *known < place);
        Rc::make_mut(&mut self.environment.changers).forget_from(place);
    }

    /// What the command at a place of the list changes by its words, read when it is first asked for.
    pub(in crate::shell) fn changes_of(&mut self, place: usize) -> Rc<[Change]> {
        if let Some(known) = self.changes.get(&place) {
            return Rc::clone(known);
        }
        let command = self.commands.get(place);
        let changes: Rc<[Change]> = command
            .map(|command| changes::of(command, &Input::Unknown(Origin::Elsewhere)))
            .unwrap_or_default()
            .into();
        self.changes.insert(place, Rc::clone(&changes));
        changes
    }
}
