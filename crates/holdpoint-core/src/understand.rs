//! What a call would do, found out once: the commands it would run, their effects, the files read to
//! know that, and what could not be read.
//!
//! [`understand`] turns a call into an [`Action`], and everybody who wants to know something about
//! the call looks at that. A shell line is taken apart into its commands, each in the spellings
//! rules compare with, and each with the effects it has on places, hosts and databases. Nothing is
//! judged here, and what cannot be read is said.

mod containers;
mod forms;
mod lines;
mod nested;
mod unreadable;
mod view;

use std::sync::OnceLock;

use serde_json::Value;

use crate::budget::Budget;
use crate::call::ToolCall;
use crate::catalogue::{self, Effect, Identity, Shape};
use crate::effects::{self, Limit, Meaning, PathEffect};
use crate::opaque::{Opaque, Reason};
use crate::paths::{Lookup, Remembering, Seen, Surroundings};
use crate::policy::Policy;
use crate::shell::FileRead;
use crate::supposed::{self, Supposition, TooMany};
pub(crate) use forms::EscapeUnicode;
pub use lines::MAX_COMMAND;
use lines::MAX_WORDS;
pub(crate) use unreadable::Unreadable;
pub(crate) use view::{CommandView, INNER_SPACE};

/// The most files a tool may be given at once, in a list or by a patch.
pub(crate) const MAX_NAMED: usize = 1000;

/// A call, understood: what it would do, as far as that can be known before it runs.
///
/// It owns its call and needs nothing of where it was made, so it can be kept while somebody is
/// asked, and judged again when what the session remembers has changed.
#[derive(Debug)]
pub struct Action {
    pub(crate) call: ToolCall,
    pub(crate) effect: Effect,
    /// Which tool it is, whatever its agent calls it.
    pub(crate) identity: Identity,
    /// How the tool's arguments are read.
    pub(crate) shape: Shape,
    /// The command line of a shell tool, as written.
    pub(crate) line: Option<String>,
    /// The commands of every argument that is one.
    pub(crate) commands: Vec<CommandView>,
    /// How many of them the command line of a shell tool accounts for; the others stand in other
    /// arguments, or are a second way to read these.
    in_line: usize,
    /// What each of the commands means; for a call without any, what the call does.
    pub(crate) meanings: Vec<Meaning>,
    /// What its commands may run besides, if they take their words for commands.
    pub(crate) supposed: Vec<Supposed>,
    /// Lines among the texts of code its commands run, not read yet.
    may_run: Vec<Supposition>,
    /// Scripts that were read to know what the commands do.
    pub(crate) files: Vec<FileRead>,
    /// Why a command line could not be taken apart.
    pub(crate) trouble: Option<Unreadable>,
    seen: Seen,
    paths: OnceLock<Vec<PathEffect>>,
    text_form: OnceLock<String>,
}

/// Reads a call as it is to be judged under a policy, following the scripts it names.
///
/// A policy may say what a tool does that nobody has described, and which directories hold generated
/// files; nothing else of it matters here.
pub fn understand(call: ToolCall, policy: &Policy, around: &Surroundings<'_>) -> Action {
    let effect = effect_of(&call, policy);
    read(call, effect, &policy.generated(), around)
}

/// Reads a call for whoever has no policy: an example, a record.
pub fn understand_alone(call: ToolCall, around: &Surroundings<'_>) -> Action {
    let effect = catalogue::effect(call.tool());
    read(call, effect, &[], around)
}

/// A line that may be run, and what it would do.
#[derive(Debug)]
pub(crate) struct Supposed {
    pub(crate) supposition: Supposition,
    pub(crate) action: Action,
}

fn read(call: ToolCall, effect: Effect, generated: &[String], around: &Surroundings<'_>) -> Action {
    let lookup = Remembering::new(around.lookup);
    let cwd = call.cwd().map(str::to_owned);
    let mut action = Action::unread(call, effect);
    // The call may say where it runs.
    let named = action.directory_argument().filter(|_| action.is_shell());
    let named = named.map(str::to_owned);
    let around = &Surroundings {
        directory: named.as_deref().or(cwd.as_deref()).or(around.directory),
        lookup: &lookup,
        ..*around
    };
    let here = Here {
        around,
        budget: Budget::new(),
    };
    action.read(&here);
    action.suppose(&here, generated);
    action.meanings = effects::meanings(&action, around, generated);
    action.answer_for_effects();
    action.seen = lookup.into_seen();
    action
}

/// What the readers of a call share.
struct Here<'a> {
    around: &'a Surroundings<'a>,
    /// What all of them spend from.
    budget: Budget,
}

/// The effect of a tool: what the catalogue knows, else what a trusted layer declares. A layer
/// cannot declare a tool harmless against one above it that says what may be done.
fn effect_of(call: &ToolCall, policy: &Policy) -> Effect {
    let known = catalogue::effect(call.tool());
    if known != Effect::Unknown {
        return known;
    }
    for layer in policy.layers() {
        if let Some(declared) = layer.tools.declared_effect(call.tool()) {
            return declared;
        }
        if layer.autonomy.is_some() {
            // From here on a declaration would loosen this layer.
            break;
        }
    }
    Effect::Unknown
}

impl Action {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The scripts that were read to know what it does.
    pub fn files_read(&self) -> &[FileRead] {
        &self.files
    }

    /// Whether everything that was looked at on the disk to know this is still there and the same:
    /// links, directories and the text of files. What is not must be read again.
    pub fn is_current(&self, lookup: &dyn Lookup) -> bool {
        self.seen.is_current(lookup)
    }

    /// A look-up that says what was seen when the call was read, and asks `lookup` for the rest.
    pub(crate) fn remembering<'a>(&'a self, lookup: &'a dyn Lookup) -> Remembering<'a> {
        Remembering::since(&self.seen, lookup)
    }

    /// A call nothing is known of yet.
    fn unread(call: ToolCall, effect: Effect) -> Self {
        Self {
            effect,
            identity: Identity::from_call(&call),
            shape: catalogue::shape(call.tool()),
            line: call.command_line(),
            call,
            commands: Vec::new(),
            in_line: 0,
            meanings: Vec::new(),
            supposed: Vec::new(),
            may_run: Vec::new(),
            files: Vec::new(),
            trouble: None,
            seen: Seen::default(),
            paths: OnceLock::new(),
            text_form: OnceLock::new(),
        }
    }

    /// Reads what the commands may run besides. What is no line is none that runs; what is more
    /// than can be read is said.
    fn suppose(&mut self, here: &Here<'_>, generated: &[String]) {
        let mut suppositions = match supposed::suppositions(&self.commands, &here.budget) {
            Ok(suppositions) => suppositions,
            Err(TooMany { by }) => return self.leave_unread(by),
        };
        suppositions.extend(self.suppositions_in_arguments(here));
        suppositions.extend(self.in_powershell());
        suppositions.append(&mut self.may_run);
        for supposition in suppositions {
            let mut action = Action::unread(ToolCall::shell(&supposition.line), self.effect);
            action.read_line(&supposition.line, here);
            match action.trouble {
                None => {}
                Some(Unreadable::Syntax(_)) => continue,
                Some(_) => {
                    self.leave_unread(supposition.by);
                    continue;
                }
            }
            action.meanings = effects::meanings(&action, here.around, generated);
            self.supposed.push(Supposed {
                supposition,
                action,
            });
        }
    }

    /// What a tool named after PowerShell is told, as PowerShell reads it.
    fn in_powershell(&self) -> Option<Supposition> {
        let named = self.is_shell() && self.call.tool().eq_ignore_ascii_case("powershell");
        let line = self.line.as_ref().filter(|_| named)?;
        Some(Supposition {
            by: 0,
            line: format!("pwsh -c '{}'", line.replace('\'', "'\\''")),
            is_itself: false,
        })
    }

    /// What a tool nobody has described may run of the texts it is given.
    fn suppositions_in_arguments(&self, here: &Here<'_>) -> Vec<Supposition> {
        let tool = self.call.tool();
        if self.is_shell() || catalogue::is_known(tool) || catalogue::stays_with_the_agent(tool) {
            return Vec::new();
        }
        let texts = nested::possible_commands(tool, self.call.input());
        let runs = catalogue::executes(tool) || catalogue::evaluates(tool);
        // They belong to no command, but to the call.
        supposed::in_texts(&texts, self.commands.len(), runs, &here.budget)
    }

    fn leave_unread(&mut self, command: usize) {
        if let Some(view) = self.commands.get_mut(command) {
            view.command.opaque.push(Opaque::run(Reason::OverBudget));
        }
    }

    fn read(&mut self, here: &Here<'_>) {
        // Arguments are shared, so holding on to them costs nothing.
        let call = self.call.clone();
        if let Shape::Shell { command } = self.shape {
            self.read_shell_call(&call, command, here);
            self.read_interpreter(call.input(), here);
            self.read_commands_in(call.input(), Some(command), here);
        } else if catalogue::types_into_shell(call.tool(), call.input()) {
            self.read_typed(call.input(), here);
            self.read_commands_in(call.input(), None, here);
        } else if !catalogue::is_known(call.tool()) {
            self.read_commands_in(call.input(), None, here);
        } else if self.identity.is_notebook() {
            let cells = call.input().values().filter_map(Value::as_str);
            for cell in cells.filter(|text| text.contains(['!', '%'])) {
                self.read_cell(cell, here);
            }
        }
        self.check_types(&call);
        self.count_paths();
    }

    /// Refuses a path that is no text: what a tool makes of it nobody knows.
    fn check_types(&mut self, call: &ToolCall) {
        let Some(tool) = self
            .identity
            .tool()
            .filter(|_| catalogue::is_known(call.tool()))
        else {
            return;
        };
        let wrong = |(key, value): (&String, &Value)| {
            tool.names_file(key)
                && matches!(value, Value::Object(_) | Value::Number(_) | Value::Bool(_))
        };
        if call.input().iter().any(wrong) {
            self.trouble = Some(Unreadable::Malformed("a path is not text"));
        }
    }

    /// The argument that says in which directory commands run.
    pub(crate) fn directory_argument(&self) -> Option<&str> {
        let mut input = self.call.input().iter();
        let (_, directory) = input.find(|(key, _)| catalogue::names_directory(key))?;
        directory.as_str()
    }

    /// Whether the call is a shell line, so that its commands are its parts.
    pub(crate) fn is_shell(&self) -> bool {
        self.line.is_some()
    }

    /// The text of every argument that is a command line.
    pub(crate) fn command_texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.line.iter().cloned().collect();
        if self.line.is_none() && !catalogue::is_known(self.call.tool()) {
            for (key, value) in self.call.input() {
                if catalogue::names_command(key) {
                    collect_texts(value, &mut |text| texts.push(text.to_owned()));
                }
            }
        }
        texts
    }

    /// The paths rules about places look at. Most policies never ask.
    pub(crate) fn paths(&self) -> &[PathEffect] {
        self.paths.get_or_init(|| effects::paths::of_action(self))
    }

    /// Says of commands that do more than was found out that this is so: in the call's own text
    /// there is more than can be judged, in a script it is not known.
    fn answer_for_effects(&mut self) {
        for (index, meaning) in self.meanings.iter().enumerate() {
            let Some(given_up) = meaning.given_up else {
                continue;
            };
            let mut command = self.commands.get_mut(index).map(|view| &mut view.command);
            if let Some(command) = &mut command {
                command.opaque.push(Opaque {
                    kind: given_up.kind,
                    reason: Reason::OverBudget,
                });
            }
            if command
                .as_ref()
                .is_some_and(|command| command.file.is_some())
            {
                continue;
            }
            let words = command.map_or(0, |command| command.words.len());
            self.trouble = Some(match given_up.limit {
                Limit::Effects => Unreadable::TooManyPaths(words),
                Limit::Components => Unreadable::PathTooDeep,
            });
        }
    }

    /// Refuses a call that names more files than anybody would look at.
    fn count_paths(&mut self) {
        let (count, most) = if self.is_shell() {
            let words = self.commands.iter().map(|view| view.command.words.len());
            (words.sum(), MAX_WORDS)
        } else {
            let texts: usize = self.call.input().values().map(count_texts).sum();
            let mut count = 0;
            if texts > MAX_NAMED || self.identity.is_patch() {
                effects::paths::each_argument(self, &mut |_, _| count += 1);
            }
            // A tool nobody has described may take any text for a path, and any key.
            if !catalogue::is_known(self.call.tool()) {
                count = count.max(effects::paths_in(self.call.input()).len());
                count = count.max(effects::patched_in(self.call.input()).len());
            }
            (count, MAX_NAMED)
        };
        if count > most {
            self.trouble = Some(Unreadable::TooManyPaths(count));
            self.paths = OnceLock::from(Vec::new());
        }
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// How many texts there are in `value`.
fn count_texts(value: &Value) -> usize {
    let mut count = 0;
    collect_texts(value, &mut |_| count += 1);
    count
}

/// Every text in `value`, however deep (J-17).
pub(crate) fn collect_texts(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, found)),
        Value::Object(map) => map.values().for_each(|item| collect_texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    impl Action {
        /// A call understood without a policy and without a place.
        pub(crate) fn of(call: &ToolCall) -> Self {
            understand_alone(call.clone(), &Surroundings::nowhere())
        }
    }

    #[test]
    fn an_action_may_be_kept_and_handed_to_another_thread() {
        fn is_send<T: Send + Sync + 'static>() {}
        is_send::<Action>();
    }

    #[test]
    fn a_command_is_seen_without_its_spelling() {
        let call = ToolCall::shell("'/bin/rm'  -r\\f \"a b\"  x");
        let view = Action::of(&call);
        let command = view.commands.first().unwrap();
        assert_eq!(command.line(), "rm -rf a\u{e000}b x");
        assert_eq!(command.flagless(), "rm a\u{e000}b x");
        assert!(
            ["-r", "-f"]
                .iter()
                .all(|flag| command.flags.iter().any(|one| one == flag))
        );
    }

    #[test]
    fn a_value_that_looks_like_two_arguments_makes_the_text_form_ambiguous() {
        let clear = ToolCall::new("t", json!({"a": "x, y", "b": 2})).unwrap();
        assert!(!Action::of(&clear).text_form_is_ambiguous());
        let unclear = ToolCall::new("t", json!({"a": "x, y=1"})).unwrap();
        assert!(Action::of(&unclear).text_form_is_ambiguous());
    }

    #[test]
    fn a_command_that_is_not_text_is_malformed() {
        for input in [
            json!({"command": 5}),
            json!({"command": ["rm"]}),
            json!({"command": "ls", "args": {"a": 1}}),
        ] {
            let call = ToolCall::new("Bash", input).unwrap();
            assert!(matches!(
                Action::of(&call).trouble,
                Some(Unreadable::Malformed(_))
            ));
        }
    }
}
