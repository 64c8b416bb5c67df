//! What a call would do, found out once: the commands it would run, their effects, the files read to
//! know that, and what could not be read.
//!
//! [`understand`] turns a call into an [`Action`], and everybody who wants to know something about
//! the call looks at that. A shell line is taken apart into its commands, each in the spellings
//! rules compare with, and each with the effects it has on places, hosts and databases. Nothing is
//! judged here, and what cannot be read is said.

mod containers;
mod nested;

use std::sync::OnceLock;

use serde_json::Value;

use crate::budget::Budget;
use crate::call::{self, ToolCall, push_python_str};
use crate::catalogue::{self, Effect, Identity, Name, Shape, Tool};
use crate::effects::{self, Limit, Meaning, PathEffect, places};
use crate::flags;
use crate::opaque::{Opaque, Reason};
use crate::paths::{Lookup, Remembering, Seen, Surroundings, base_name};
use crate::policy::Policy;
use crate::rules::{READ_ONLY, READ_ONLY_WHEN};
use crate::shell::{self, Command, FileRead, Listed, MAX_COMMANDS, Refusal, RefusalReason};
use crate::supposed::{self, Supposition, TooMany};

/// The longest command line that is read; a longer one is refused, whatever it says (H-10).
pub const MAX_COMMAND: usize = 1 << 20;

/// The most words of a line that may name files.
const MAX_WORDS: usize = 8000;

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

/// Why a call cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The command of a shell tool is not text (J-18).
    Malformed(&'static str),
    /// The command is longer than anything a person would approve.
    Oversize(usize),
    /// The line runs more commands than [`MAX_COMMANDS`].
    TooMany,
    /// The call names more files than that.
    TooManyPaths(usize),
    /// A path has more components than any that is used.
    PathTooDeep,
    /// The shell reader gives up on it.
    TooComplex,
    /// The shell reader refuses it.
    Syntax(Refusal),
}

impl Unreadable {
    /// Whether there is too much of it, which is refused whatever the rest of the call says.
    fn refuses(&self) -> bool {
        match self {
            Unreadable::Oversize(_)
            | Unreadable::TooMany
            | Unreadable::TooManyPaths(_)
            | Unreadable::PathTooDeep
            | Unreadable::TooComplex => true,
            Unreadable::Malformed(_) | Unreadable::Syntax(_) => false,
        }
    }

    fn from_refusal(refusal: Refusal) -> Self {
        let gives_up = matches!(
            refusal.reason,
            RefusalReason::TooDeep | RefusalReason::TooLong | RefusalReason::TooMuchWork
        );
        if gives_up {
            Unreadable::TooComplex
        } else {
            Unreadable::Syntax(refusal)
        }
    }
}

/// One command of a line, in the spellings rules compare with.
#[derive(Debug)]
pub(crate) struct CommandView {
    pub(crate) command: Command,
    /// Made when somebody asks: most policies have no patterns.
    spellings: OnceLock<Spellings>,
    /// Single letters (`-r`), whole clusters (`-rf`) and long flags (`--force`).
    pub(crate) flags: Vec<String>,
    /// The same for the options before a subcommand.
    pub(crate) outer_flags: Vec<String>,
    read_only: bool,
}

/// The words of a command as texts that patterns are compared with.
#[derive(Debug)]
struct Spellings {
    line: String,
    flagless: String,
    valueless: Option<String>,
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

    /// What a tool nobody has described may run of the texts it is given.
    fn suppositions_in_arguments(&self, here: &Here<'_>) -> Vec<Supposition> {
        let tool = self.call.tool();
        if self.is_shell() || catalogue::is_known(tool) || catalogue::stays_with_the_agent(tool) {
            return Vec::new();
        }
        let texts = nested::possible_commands(tool, self.call.input());
        // They belong to no command, but to the call.
        supposed::in_texts(&texts, self.commands.len(), &here.budget)
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

    /// `name(key=value, …)`.
    pub(crate) fn text_form(&self) -> &str {
        self.text_form.get_or_init(|| self.call.text_form())
    }

    /// The text form as the agent `name` is taken from would write it.
    pub(crate) fn form_named(&self, name: &'static Name) -> String {
        self.call.text_form_as(name)
    }

    /// The text forms under the name that stands for its tool, and under its own with the arguments
    /// named as that one names them; where they differ from its own.
    pub(crate) fn standing_forms(&self, tool: &Tool) -> Vec<String> {
        let mut forms = Vec::new();
        let own = self.text_form();
        if let Some(standing) = catalogue::find_name(tool.name) {
            let form = self.form_named(standing);
            let arguments = form.get(tool.name.len()..).unwrap_or_default();
            forms.push(format!("{}{arguments}", self.call.tool()));
            forms.push(form);
        }
        forms.retain(|form| form != own);
        forms
    }

    /// The text forms of what the call does under a name another agent's tool has; for a patch, of
    /// what it does to each file.
    pub(crate) fn forms_as(&self, name: &str) -> Vec<String> {
        let Some(known) = catalogue::find_name(name) else {
            return Vec::new();
        };
        let input = self.call.input();
        let as_given = input.iter().map(|(key, value)| (key.as_str(), value));
        let mut forms = vec![call::text_form(name, as_given), self.form_named(known)];
        forms.dedup();
        if self.identity.is_patch() {
            let path_key = catalogue::rename(known, "file_path");
            let patch = input.values().find(|value| value.is_string());
            for path in catalogue::patched_paths(&self.call).take(MAX_NAMED) {
                let path = Value::from(path);
                let mut arguments = vec![(path_key.as_ref(), &path)];
                let content = catalogue::rename(known, "content");
                arguments.extend(patch.map(|patch| (content.as_ref(), patch)));
                arguments.sort_by_key(|(key, _)| *key);
                forms.push(call::text_form(name, arguments.into_iter()));
            }
        }
        forms
    }

    /// Whether the text form could be read as another call: some value contains what separates
    /// two arguments. Such a form may refuse a call but never allow it (J-12).
    pub(crate) fn text_form_is_ambiguous(&self) -> bool {
        self.call.input().iter().any(|(key, value)| {
            let mut text = String::new();
            push_python_str(&mut text, value);
            // Whatever stands between a separator and the next may be taken for an argument.
            key.contains(['=', ',', '('])
                || text.split(", ").skip(1).any(|piece| piece.contains('='))
        })
    }

    /// Whether the commands of the call are one that is known to its last word and writes nothing.
    pub(crate) fn is_one_plain_command(&self) -> bool {
        match self.commands.as_slice() {
            [only] => {
                !only.is_dynamic()
                    && only.command.opaque.is_empty()
                    && only.command.redirects.is_empty()
                    && self.trouble.is_none()
            }
            _ => false,
        }
    }

    /// The command line of a shell tool, if it says everything the call would run and all of it is
    /// known: then whoever speaks of this very text speaks of each of its commands.
    pub(crate) fn known_line(&self) -> Option<&str> {
        let known = |command: &CommandView| {
            // What stands in a script is answered for with the script.
            command.command.file.is_some()
                || (!command.is_dynamic() && command.command.opaque.is_empty())
        };
        let whole = !self.commands.is_empty()
            && self.in_line == self.commands.len()
            && self.trouble.is_none()
            && self.commands.iter().all(known);
        self.line.as_deref().map(str::trim).filter(|_| whole)
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

    fn read_shell_call(&mut self, call: &ToolCall, key: &str, here: &Here<'_>) {
        let input = call.input();
        match input.get(key) {
            None => return,
            Some(Value::String(_)) => {}
            Some(
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_),
            ) => {
                self.trouble = Some(Unreadable::Malformed("the command is not text"));
                return;
            }
        }
        match input.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(args)) if args.iter().all(is_scalar) => {}
            Some(_) => {
                self.trouble = Some(Unreadable::Malformed("`args` is not a list of texts"));
                return;
            }
        }
        if let Some(line) = self.line.clone() {
            self.read_line(&line, here);
            self.in_line = self.commands.len();
        }
        self.read_literal_args(call, key, here);
    }

    /// A tool may pass `args` to the program as they are instead of to a shell: then they are
    /// words, whatever they contain. Both readings are judged.
    fn read_literal_args(&mut self, call: &ToolCall, key: &str, here: &Here<'_>) {
        let input = call.input();
        let (Some(Value::String(program)), Some(Value::Array(args))) =
            (input.get(key), input.get("args"))
        else {
            return;
        };
        let mut words: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        for arg in args {
            let mut word = String::new();
            push_python_str(&mut word, arg);
            words.push(word);
        }
        let plain = |word: &String| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-_./=:,@+%".contains(c))
        };
        if words.iter().all(plain) {
            return;
        }
        let words: Vec<Value> = words.into_iter().map(Value::String).collect();
        self.read_words(&words, here);
    }

    /// A command given as a list of words, which no shell takes apart.
    fn read_words(&mut self, words: &[Value], here: &Here<'_>) {
        let mut texts = Vec::new();
        for word in words {
            collect_texts(word, &mut |text| texts.push(text.to_owned()));
        }
        let words: Vec<&str> = texts.iter().map(String::as_str).collect();
        let whole = 0..self.line.as_ref().map_or(0, String::len);
        match shell::commands_of_words_in(&words, Some(here.around), &here.budget) {
            Ok(mut listed) => {
                // Words have no place in a line of their own; they are all of it.
                for command in &mut listed.commands {
                    command.span = whole.clone();
                }
                self.add_commands(listed);
            }
            Err(refusal) => self.trouble = Some(Unreadable::from_refusal(refusal)),
        }
    }

    fn read_line(&mut self, line: &str, here: &Here<'_>) {
        if line.len() > MAX_COMMAND {
            self.trouble = Some(Unreadable::Oversize(line.len()));
            return;
        }
        match shell::commands_in(line, Some(here.around), &here.budget) {
            Ok(listed) => self.add_commands(listed),
            Err(refusal) => self.trouble = Some(Unreadable::from_refusal(refusal)),
        }
    }

    fn add_commands(&mut self, listed: Listed) {
        let Listed { commands, files } = listed;
        for file in files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        // A second list's references to its own members move with it.
        let offset = self.commands.len();
        if offset + commands.len() > MAX_COMMANDS {
            self.trouble = Some(Unreadable::TooMany);
            return;
        }
        if offset == 0 {
            // For nearly every call this is all of them.
            self.commands.reserve_exact(commands.len());
        }
        for mut command in commands {
            if let shell::Reached::Within { wrapper, .. } = &mut command.reached {
                *wrapper += offset;
            }
            command.fed_by.start += offset;
            command.fed_by.end += offset;
            self.commands.push(CommandView::from_command(command));
        }
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

/// Signs that look like the dash of a flag.
const DASHES: [char; 8] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{fe63}', '\u{ff0d}',
];

/// Shows a text so that no letter of it can be taken for another.
pub(crate) trait EscapeUnicode {
    /// The text with every letter that is not ASCII written as its number.
    fn escape_unicode_letters(&self) -> String;
}

impl EscapeUnicode for str {
    fn escape_unicode_letters(&self) -> String {
        let mut shown = String::new();
        for letter in self.chars() {
            if letter.is_ascii() {
                shown.push(letter);
            } else {
                shown.extend(letter.escape_unicode());
            }
        }
        shown
    }
}

impl CommandView {
    fn from_command(command: Command) -> Self {
        let mut view = Self {
            command,
            spellings: OnceLock::new(),
            flags: Vec::new(),
            outer_flags: Vec::new(),
            read_only: false,
        };
        let (mut flags, mut outer_flags) = (Vec::new(), Vec::new());
        let program = view.first_name();
        let mut operands = [""; 3];
        let mut places = operands.iter_mut();
        for (kind, text) in view.kinds() {
            match kind {
                WordKind::Outer if text.starts_with('-') => {
                    flags::push(&mut outer_flags, program, text);
                }
                WordKind::Flag => flags::push(&mut flags, program, text),
                WordKind::Operand => {
                    if let Some(place) = places.next() {
                        // A word with blanks in it is no name of anything.
                        let name = text.len() <= MAX_NAME && !text.contains(char::is_whitespace);
                        *place = if name { text } else { INNER };
                    }
                }
                WordKind::Outer | WordKind::NoMoreFlags => {}
            }
        }
        flags::add_other_names(&mut flags, operands.into_iter());
        let [_, second, _] = operands;
        let read_only = view
            .program()
            .is_some_and(|program| only_reads(program, second, &flags));
        view.flags = flags;
        view.outer_flags = outer_flags;
        view.read_only = read_only;
        view
    }

    /// Words joined by single spaces, the program without the directory it is installed in. White
    /// space inside a quoted word is replaced, so that a rule of two words never matches inside it.
    pub(crate) fn line(&self) -> &str {
        &self.spelled().line
    }

    /// The same without flags and without the options before a subcommand, for rules that do not
    /// care where flags stand.
    pub(crate) fn flagless(&self) -> &str {
        &self.spelled().flagless
    }

    /// The same without the word behind each flag, which may be its value; if that differs.
    pub(crate) fn valueless(&self) -> Option<&str> {
        self.spelled().valueless.as_deref()
    }

    fn spelled(&self) -> &Spellings {
        self.spellings.get_or_init(|| {
            let mut line = String::new();
            for assignment in &self.command.assignments {
                let text = format!("{}={}", assignment.name, assignment.value.text);
                push_word(&mut line, &text);
            }
            let mut flagless = String::new();
            let mut valueless: Option<String> = None;
            let mut value_next = false;
            for (at, (kind, text)) in self.kinds().enumerate() {
                let written = match at {
                    0 => self.first_word().map_or("", installed_name),
                    _ => text,
                };
                push_word(&mut line, written);
                match kind {
                    WordKind::Outer => {
                        value_next = text.starts_with('-') && !text.contains('=');
                        valueless.get_or_insert_with(|| flagless.clone());
                    }
                    WordKind::Flag | WordKind::NoMoreFlags => {
                        value_next = kind == WordKind::Flag && !text.contains('=');
                        valueless.get_or_insert_with(|| flagless.clone());
                    }
                    WordKind::Operand => {
                        push_word(&mut flagless, text);
                        if let (false, Some(valueless)) =
                            (std::mem::take(&mut value_next), &mut valueless)
                        {
                            push_word(valueless, text);
                        }
                    }
                }
            }
            Spellings {
                line,
                valueless: valueless.filter(|text| *text != flagless),
                flagless,
            }
        })
    }

    fn first_word(&self) -> Option<&str> {
        self.command.words.first().map(|word| word.text.as_str())
    }

    /// The program's name without its directory, known or not.
    fn first_name(&self) -> &str {
        self.first_word().map_or("", base_name)
    }

    /// The words, the program without its directory, each with what it is.
    fn kinds(&self) -> impl Iterator<Item = (WordKind, &str)> {
        let program = self.first_name();
        let words = || self.command.words.iter().map(|word| word.text.as_str());
        let hidden = flags::before_subcommand(program, words().skip(1));
        let mut operands_only = false;
        words().enumerate().map(move |(index, text)| {
            let flag = index > 0 && !operands_only && text.len() > 1 && text.starts_with('-');
            let kind = match (index, flag) {
                (0, _) => return (WordKind::Operand, program),
                (index, _) if index <= hidden => WordKind::Outer,
                (_, true) if text == "--" => {
                    operands_only = true;
                    WordKind::NoMoreFlags
                }
                (_, true) => WordKind::Flag,
                (_, false) => WordKind::Operand,
            };
            (kind, text)
        })
    }

    /// The program's name without its directory, where it is known before running.
    pub(crate) fn program(&self) -> Option<&str> {
        self.command
            .words
            .first()
            .filter(|word| !word.dynamic)
            .map(|word| base_name(&word.text))
    }

    /// Every flag, wherever it stands.
    pub(crate) fn all_flags(&self) -> impl Iterator<Item = &String> {
        self.flags.iter().chain(&self.outer_flags)
    }

    /// A program or flag written with letters of other scripts, or with invisible ones: it may be
    /// read as something it is not, by a person as by a rule.
    pub(crate) fn disguised(&self) -> Option<&str> {
        let words = self.command.words.iter();
        let unusual = words.enumerate().filter(|(_, word)| !word.text.is_ascii());
        let mut suspects = unusual.filter_map(|(at, word)| {
            let text = word.text.as_str();
            let flag = text.starts_with(DASHES) || (text.starts_with('-') && !self.only_prints());
            let name = text.split('=').next().unwrap_or_default();
            match at {
                0 => Some(base_name(text)),
                _ if flag => Some(name),
                _ => None,
            }
        });
        suspects.find(|text| {
            let short = text.len() <= 64 && !text.contains(' ');
            short && !text.is_ascii()
        })
    }

    /// Whether any word depends on something only the shell will know.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.command.words.iter().any(|word| word.dynamic)
    }

    /// Whether its program is known to change nothing outside itself, its redirections aside.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether an option makes a program that otherwise only looks write a file.
    pub(crate) fn writes_by_option(&self) -> bool {
        let has = |wanted: &[&str]| {
            self.flags
                .iter()
                .any(|flag| wanted.iter().any(|start| flag.starts_with(start)))
        };
        match self.program() {
            Some("find") => has(&["-fprint", "-fls"]),
            Some("time" | "gtime" | "strace" | "ltrace") => has(&["-o", "--output"]),
            Some(_) | None => false,
        }
    }

    /// Whether the command only prints its arguments, so that they are data.
    pub(crate) fn only_prints(&self) -> bool {
        matches!(
            self.program(),
            Some("echo" | "printf" | ":" | "true" | "false")
        )
    }

    /// The files it writes by redirections, each with its sign.
    pub(crate) fn writes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.command.redirects.iter().filter_map(|redirect| {
            let target = redirect.target.text.as_str();
            let sign = redirect.kind.writing_sign()?;
            (!places::is_stream(target)).then_some((sign, target))
        })
    }

    /// The line with its redirections to files, or nothing if it has none that write one.
    pub(crate) fn line_with_writes(&self) -> Option<String> {
        self.writes().next()?;
        let mut text = self.line().to_owned();
        if text.is_empty() {
            // A redirection without a command writes like the command that does nothing.
            text.push(':');
        }
        for (sign, target) in self.writes() {
            push_word(&mut text, sign);
            push_word(&mut text, target);
        }
        Some(text)
    }
}

/// What a word of a command is, by how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordKind {
    /// An option before a subcommand, or its value.
    Outer,
    /// `-r`, `--force`.
    Flag,
    /// `--`.
    NoMoreFlags,
    /// The program, and every other word.
    Operand,
}

/// Whether a program changes nothing outside itself, by its first operand and its flags.
fn only_reads(program: &str, operand: &str, flags: &[String]) -> bool {
    READ_ONLY.binary_search(&program).is_ok()
        || READ_ONLY_WHEN.iter().any(|when| {
            let begins = |flag: &String| when.without.iter().any(|one| flag.starts_with(one));
            when.program == program
                && (when.subcommand.is_empty() || when.subcommand.contains(&operand))
                && !flags.iter().any(begins)
        })
}

/// Stands for white space inside a quoted word.
pub(crate) const INNER_SPACE: char = '\u{e000}';
/// Stands for a word that is no name of anything: with white space in it, or longer than any.
const INNER: &str = "\u{e000}";
/// No program or subcommand that is listed has a longer name.
const MAX_NAME: usize = 64;

fn push_word(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(' ');
    }
    if !word.is_ascii() {
        line.extend(
            word.chars()
                .map(|c| if c.is_whitespace() { INNER_SPACE } else { c }),
        );
        return;
    }
    // What nearly every word is: looked at byte by byte, and copied piece by piece.
    let bytes = word.bytes().enumerate();
    let mut from = 0;
    for (at, _) in bytes.filter(|(_, byte)| matches!(byte, b' ' | b'\t'..=b'\r')) {
        line.push_str(word.get(from..at).unwrap_or_default());
        line.push(INNER_SPACE);
        from = at + 1;
    }
    line.push_str(word.get(from..).unwrap_or_default());
}

/// The name of a program given by the full path of a directory programs are installed in. A path
/// into any other directory stays, since `/tmp/x/ls` is not `ls`.
pub(crate) fn installed_name(word: &str) -> &str {
    const INSTALLED: &[&str] = &[
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
    ];
    if !word.starts_with('/') {
        return word;
    }
    match word.rsplit_once('/') {
        Some((directory, name)) if INSTALLED.contains(&directory) && !name.is_empty() => name,
        _ => word,
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
