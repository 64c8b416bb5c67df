//! Scripts that are run from files: followed into the file where it can be read and is small.
//!
//! Promises that writing a script and running it is no way around: what the text itself writes
//! into a file is what running the file runs, and a file that is there already is read. A file
//! that is there and is not followed to its end is marked with the reason. One that is not there
//! runs nothing, and a compiled program is what it is, unless the text itself brings it along.

use std::rc::Rc;
use std::sync::Arc;

use super::changes::{Change, Outcome, Target};
use super::code;
use super::commands::{FileRead, RedirectionKind, Wrapping};
use super::environment::{Origin, Value, Variable, joined};
use super::files::{Content, Written, tidy};
use super::refusal::Refusal;
use super::secret_values::without_values;
use super::texts::Argument;
use super::unwrapping::Unwrapped;
use super::walk::{Start, opaque_origin, parameters};
use crate::budget::{MAX_FILE, Resource};
use crate::call::digest_of;
use crate::code::Language;
use crate::effects::places::{Places, SECRET};
use crate::effects::reading::ReadWords;
use crate::opaque::Reason;
use crate::paths::{FileText, Unresolved, base_name, is_within};
use crate::rules::{self, matching};

/// Commands taken from one file; whoever runs a longer script is asked about it.
const MAX_COMMANDS: usize = 1500;

/// The most commands up to which files are read: scripts that run scripts are each within their own limit, and together must
/// leave the line itself some of what it may run, or it would be refused for what nobody wrote into it.
const MAX_OF_FILES: usize = 1800;

/// Directories of programs that are installed: nobody writes those to get around a rule.
const INSTALLED: &[&str] = &["/bin", "/lib", "/opt", "/sbin", "/snap", "/usr"];

/// What a file that is run turned out to be.
pub(super) enum ScriptSource {
    /// A text, and the file it stands in, if it is on the disk.
    Text {
        text: Arc<str>,
        path: Option<Arc<str>>,
    },
    /// Text that comes from there.
    From(Origin),
    /// A program of the system's, with nothing to read in it.
    Compiled,
    /// It is there and is not read, or it is not what it was.
    Unread(Reason),
    /// A program the text itself makes of sources.
    Built,
    /// It is not there.
    Missing,
}

/// Who asks for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Something that runs it.
    Runner,
    /// A build or a package manager, which runs code by its nature whatever was checked out.
    Project,
}

/// Scripts by which a project is built, under the names they have everywhere.
const BUILDS: [&str; 3] = ["configure", "gradlew", "mvnw"];

impl Unwrapped<'_, '_> {
    /// Lists what the shell script named by a word does.
    pub(super) fn follow_script(&mut self, at: usize) -> Result<(), Refusal> {
        let Some(path) = self.known(at).map(str::to_owned) else {
            return Ok(());
        };
        for found in self.look_up(&path, Asks::Runner) {
            self.run_found(found, at, None)?;
        }
        Ok(())
    }

    /// Lists what the program of a command does, if it is a script.
    pub(super) fn follow_program(&mut self) -> Result<(), Refusal> {
        let Some(path) = self.known(0) else {
            return Ok(());
        };
        // Most programs are named without a place, and searched for where the system has its own.
        if self.listing.environment.search.is_empty() && !path.contains('/') {
            return Ok(());
        }
        let path = path.to_owned();
        // `/usr/../tmp/x` begins like an installed program and is none; `/usr/bin/../bin/vim` is one.
        let place = match path.split('/').any(|part| part == "..") {
            true => self.real(&path),
            false => Some(path.clone()),
        };
        let installed = place.is_some_and(|place| {
            let mut installed = INSTALLED.iter();
            installed.any(|directory| is_within(&place, directory))
        });
        if installed {
            return Ok(());
        }
        let asks = match BUILDS.contains(&base_name(&path)) {
            true => Asks::Project,
            false => Asks::Runner,
        };
        let all = if path.contains('/') {
            self.look_up(&path, asks)
        } else {
            self.look_up_in_search_path(&path)
        };
        for found in all {
            let mut installed = true;
            let language = match &found {
                ScriptSource::Text { text, .. } => match interpreter_of(text) {
                    Interpreter::Shell => None,
                    Interpreter::Code(language) => {
                        installed = first_line(text).is_some_and(is_installed_interpreter);
                        Some(language)
                    }
                    Interpreter::Other(interpreter) => {
                        let interpreter = interpreter.to_owned();
                        self.follow_interpreter(&interpreter, &path)?;
                        // All it does is that command, which is answered for by itself.
                        self.mark_whole(true);
                        continue;
                    }
                },
                ScriptSource::From(_)
                | ScriptSource::Compiled
                | ScriptSource::Unread(_)
                | ScriptSource::Built
                | ScriptSource::Missing => None,
            };
            self.run_found(found, 0, language)?;
            if !installed {
                self.mark_whole(false);
            }
        }
        Ok(())
    }

    /// Lists the command a script's first line says runs it, as the system puts it together: the
    /// program, all that follows as one word, and the script.
    fn follow_interpreter(&mut self, interpreter: &str, script: &str) -> Result<(), Refusal> {
        let span = self
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        // It is on its way already, or it names itself and nothing runs.
        if self.listing.interpreted.iter().any(|known| known == script) {
            return Ok(());
        }
        let interpreter = interpreter.trim();
        let (program, words) = match interpreter.split_once([' ', '\t']) {
            Some((program, words)) => (program, Some(words.trim())),
            None => (interpreter, None),
        };
        let mut all = vec![Argument::literal(program, span.clone())];
        match words.and_then(|words| words.strip_prefix("-S")) {
            // `env` takes the one word apart again.
            Some(apart) if base_name(program) == "env" => {
                let apart = apart.split_whitespace();
                all.extend(apart.map(|word| Argument::literal(word, span.clone())));
            }
            Some(_) | None => {
                all.extend(words.map(|words| Argument::literal(words, span.clone())));
            }
        }
        all.push(Argument::literal(script, span));
        all.extend(self.rest(1).iter().cloned());
        self.listing.interpreted.push(script.to_owned());
        let started = self.starts(Wrapping::Commanding, Vec::new(), all);
        self.listing.interpreted.pop();
        started
    }

    /// Lists what a script in another language does, named by a word.
    pub(super) fn follow_code(&mut self, at: usize, language: Language) -> Result<(), Refusal> {
        let Some(path) = self.known(at).map(str::to_owned) else {
            return Ok(());
        };
        for found in self.look_up(&path, Asks::Runner) {
            self.run_found(found, at, Some(language))?;
        }
        Ok(())
    }

    /// Hands on what a file of statements holds that the text itself writes: what is on the disk is
    /// read by who reads the statements, and is not what will be there.
    pub(super) fn follow_statements(&mut self) {
        let environment = &self.listing.environment;
        if environment.files.is_empty() && environment.changers.is_empty() {
            return;
        }
        let Some(command) = self.listing.commands.get(self.place) else {
            return;
        };
        let name = command.program().unwrap_or_default();
        let Some(database) = rules::program(name).and_then(|program| program.database.as_ref())
        else {
            return;
        };
        let read = ReadWords::read_command(command, name, command.words.len());
        let reading = read.of_command(command, command.words.len());
        let values = reading.values_of(database.files);
        let mut paths: Vec<String> = values
            .filter(|(_, word)| !word.dynamic)
            .map(|(value, _)| value.to_owned())
            .collect();
        let redirects = command.redirects.iter();
        let opened = redirects.filter(|one| one.kind == RedirectionKind::Read);
        paths.extend(opened.map(|one| one.target.text.clone()));
        for path in paths {
            for found in self.look_up(&path, Asks::Runner) {
                match found {
                    ScriptSource::Text { text, path: None } => self.add_input(&text),
                    ScriptSource::From(origin) => {
                        self.mark(opaque_origin(Some(origin), Reason::ChangedBefore));
                    }
                    ScriptSource::Unread(reason @ Reason::ChangedBefore) => self.mark(reason),
                    // Who reads the statements says what of the disk cannot be read.
                    ScriptSource::Text { .. }
                    | ScriptSource::Compiled
                    | ScriptSource::Unread(_)
                    | ScriptSource::Built
                    | ScriptSource::Missing => {}
                }
            }
        }
    }

    fn add_input(&mut self, text: &str) {
        if let Some(command) = self.listing.commands.get_mut(self.place) {
            let before = command.input.as_deref().unwrap_or_default();
            command.input = Some(Arc::from(format!("{before}\n{text}")));
        }
    }

    /// Lists lines a file of a project says are run.
    pub(super) fn follow_lines(
        &mut self,
        path: Option<&Arc<str>>,
        lines: &[String],
    ) -> Result<(), Refusal> {
        let span = self
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        let start = Start {
            in_shell: false,
            ..self.start.clone()
        };
        let place = self.place;
        self.in_file(path, |command| {
            for line in lines {
                command
                    .listing
                    .known_code(place, Wrapping::Commanding, line, &span, &start)?;
            }
            Ok(())
        })
    }

    /// The texts a file of the project may hold, relative to where the command runs, each with the
    /// file's name if it is on the disk. What of it cannot be known is marked.
    pub(super) fn project_file(&mut self, name: &str) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let mut texts = Vec::new();
        for found in self.look_up(name, Asks::Project) {
            match found {
                ScriptSource::Text { text, path } => texts.push((text, path)),
                ScriptSource::From(origin) => {
                    self.mark(opaque_origin(Some(origin), Reason::ChangedBefore));
                }
                ScriptSource::Compiled => self.mark(Reason::NotText),
                ScriptSource::Unread(reason) => self.mark(reason),
                ScriptSource::Built | ScriptSource::Missing => {}
            }
        }
        texts
    }

    /// Everything a file may be when it is run.
    pub(super) fn look_up(&mut self, path: &str, asks: Asks) -> Vec<ScriptSource> {
        self.listing.looked_up += 1;
        let files = Rc::clone(&self.listing.environment.files);
        if files.is_empty() && self.listing.environment.changers.is_empty() {
            return self.look_up_on_disk(path);
        }
        let mut names = self.listing.environment.names_of(path);
        let mut linked: Vec<String> = Vec::new();
        for name in &names {
            let (others, more) = files.aliases(name);
            linked.extend(others);
            if more {
                self.listing.budget().overrun();
            }
        }
        names.extend(linked.iter().cloned());
        let written = names.iter().find_map(|name| files.get(name));
        let written = written.or_else(|| {
            let real = self.real(path)?;
            files
                .names()
                .find(|(name, _)| self.real_name(name).as_deref() == Some(real.as_str()))
                .map(|(_, file)| file)
        });
        let mut all = match written {
            Some(file) => self.look_up_written(path, file),
            None => {
                let mut all = self.look_up_on_disk(path);
                self.look_up_copied(&names, &mut all);
                all
            }
        };
        // What a link leads to is looked at by its own name.
        for name in &linked {
            match files.get(name) {
                Some(file) => all.extend(self.look_up_written(name, file)),
                None => all.extend(self.look_up_name(name)),
            }
        }
        let since = match linked.is_empty() {
            true => written.map_or(0, |file| file.at),
            false => 0,
        };
        self.look_up_changed(&names, asks, since, &mut all);
        all
    }

    /// Whether the text itself brings a file here from elsewhere, or takes it out of a code.
    pub(super) fn is_fetched(&mut self, path: &str) -> bool {
        let found = self.look_up(path, Asks::Runner);
        found
            .iter()
            .any(|source| matches!(source, ScriptSource::From(_)))
    }

    /// What a file is that the text wrote.
    fn look_up_written(&mut self, path: &str, file: &Written) -> Vec<ScriptSource> {
        let mut all: Vec<ScriptSource> = Vec::new();
        if file.doubtful {
            all.extend(self.look_up_on_disk(path));
        }
        let mut edited = false;
        for content in &file.contents {
            match content {
                Content::Known(text) => all.push(ScriptSource::Text {
                    text: Arc::clone(text),
                    path: None,
                }),
                Content::Same(other) => {
                    let found = self.look_up_name(other);
                    // What is not there is not copied, and what was there stays.
                    if !file.doubtful && matches!(found, None | Some(ScriptSource::Missing)) {
                        all.extend(self.look_up_on_disk(path));
                    }
                    all.extend(found);
                }
                // Its other names are looked at by who asks.
                Content::Link(_) => {}
                Content::From(Origin::Elsewhere) => {
                    all.push(ScriptSource::Unread(Reason::ChangedBefore));
                }
                Content::From(origin) => all.push(ScriptSource::From(*origin)),
                Content::Edited => edited = true,
            }
        }
        // Where nothing is, nothing is edited.
        let there = all
            .iter()
            .any(|found| !matches!(found, ScriptSource::Missing));
        if edited && there {
            all.push(ScriptSource::Unread(Reason::ChangedBefore));
        }
        all
    }

    /// What a file is that lies in a directory the text copied or moved.
    fn look_up_copied(&mut self, names: &[String], all: &mut Vec<ScriptSource>) {
        let files = Rc::clone(&self.listing.environment.files);
        for (directory, written) in files.names() {
            for content in &written.contents {
                let Content::Same(from) = content else {
                    continue;
                };
                let below = names.iter().filter_map(|name| name.strip_prefix(directory));
                let below: Vec<String> = below
                    .filter(|rest| rest.starts_with('/'))
                    .map(|rest| format!("{from}{rest}"))
                    .collect();
                for name in below {
                    let found = self.look_up_name(&name);
                    all.extend(found.filter(|found| !matches!(found, ScriptSource::Missing)));
                }
            }
        }
    }

    /// What a file may be that commands of the text change by their words.
    fn look_up_changed(
        &mut self,
        names: &[String],
        asks: Asks,
        since: usize,
        all: &mut Vec<ScriptSource>,
    ) {
        let changers = Rc::clone(&self.listing.environment.changers);
        for place in changers.among(self.listing.commands.len()) {
            if place < since {
                continue;
            }
            let changes = self.listing.changes_of(place);
            let command = self.listing.commands.get(place);
            let inside = command.is_some_and(|command| command.container.is_some());
            let budget = self.listing.budget();
            if budget.spend(Resource::Steps, 1 + changes.len()).is_err() {
                budget.overrun();
                return;
            }
            for change in changes.iter() {
                let is_there = all
                    .iter()
                    .any(|found| !matches!(found, ScriptSource::Missing));
                let is_text = all
                    .iter()
                    .any(|found| matches!(found, ScriptSource::Text { .. }));
                let changed = match change.outcome {
                    Outcome::Anything(Origin::Elsewhere) => {
                        ScriptSource::Unread(Reason::ChangedBefore)
                    }
                    Outcome::Anything(origin) => ScriptSource::From(origin),
                    Outcome::Edited if is_there => ScriptSource::Unread(Reason::ChangedBefore),
                    // What is not under the project's control is not touched by its history.
                    Outcome::Perhaps if is_text && asks == Asks::Runner => {
                        ScriptSource::Unread(Reason::ChangedBefore)
                    }
                    Outcome::Built if !is_text && asks == Asks::Runner => ScriptSource::Built,
                    // What a container sees is not what is compared with here.
                    Outcome::Holds { .. } if inside => ScriptSource::Unread(Reason::ChangedBefore),
                    Outcome::Edited | Outcome::Perhaps | Outcome::Built | Outcome::Holds { .. } => {
                        continue;
                    }
                };
                if !self.reaches(change, place, names, asks) {
                    continue;
                }
                let built = matches!(changed, ScriptSource::Built);
                all.push(changed);
                if !built {
                    return;
                }
            }
        }
    }

    /// Whether what a command changes may be a file of one of these names.
    fn reaches(&self, change: &Change, place: usize, names: &[String], asks: Asks) -> bool {
        let (path, wild) = match &change.target {
            Target::Anywhere => return asks == Asks::Runner,
            Target::Path(path) => (path, false),
            Target::Pattern(path) => (path, true),
        };
        let Some(command) = self.listing.commands.get(place) else {
            return false;
        };
        let directory = &command.directory;
        if let Some(container) = &command.container {
            let mut here = directory.places.iter();
            return here.any(|from| {
                let target = container.on_host(&joined(from, path));
                target.is_some_and(|target| self.is_below(names, Some(&tidy(&target))))
            });
        }
        if directory.unknown && !path.starts_with(['/', '~']) {
            let last = path.rsplit('/').next().unwrap_or_default();
            let anywhere = format!("*{last}");
            return names.iter().any(|name| matching::wild(&anywhere, name));
        }
        directory.places.iter().any(|from| {
            let target = tidy(&joined(from, path));
            if wild {
                let below = format!("{target}/*");
                return names
                    .iter()
                    .any(|name| matching::wild(&target, name) || matching::wild(&below, name));
            }
            let files = &self.listing.environment.files;
            let (linked, more) = files.aliases(&target);
            if more {
                self.listing.budget().overrun();
            }
            let by_link = |one: &String| names.iter().any(|name| is_within(name, one));
            if asks == Asks::Runner && linked.iter().any(by_link) {
                return true;
            }
            match asks {
                Asks::Runner => self.is_below(names, Some(&target)),
                // A build brings its own files along; only this very one is asked about.
                Asks::Project => names.iter().any(|name| {
                    *name == target
                        || self
                            .real_name(name)
                            .is_some_and(|real| self.real_name(&target) == Some(real))
                }),
            }
        })
    }

    /// Whether a file is below a directory that was changed.
    fn is_below(&self, names: &[String], below: Option<&str>) -> bool {
        let Some(below) = below else {
            return true;
        };
        names.iter().any(|name| {
            let relative = !name.starts_with(['/', '~']) && !name.starts_with("..");
            (below.is_empty() && relative)
                || (!below.is_empty() && is_within(name, below))
                || match (self.real_name(name), self.real_name(below)) {
                    (Some(name), Some(below)) => is_within(&name, &below),
                    _ => false,
                }
        })
    }

    /// Where a path leads, if the shell is in one directory.
    fn real(&self, path: &str) -> Option<String> {
        let names = self.listing.environment.names_of(path);
        self.real_name(names.first()?)
    }

    /// Where a path that was put together with its directory leads.
    fn real_name(&self, name: &str) -> Option<String> {
        let around = self.listing.around?;
        let name = if name.is_empty() { "." } else { name };
        if self.listing.budget().spend(Resource::Steps, 16).is_err() {
            self.listing.budget().overrun();
            return None;
        }
        around.resolve(name).ok()
    }

    /// A name is looked up where the text itself says programs are.
    fn look_up_in_search_path(&mut self, name: &str) -> Vec<ScriptSource> {
        let search = Rc::clone(&self.listing.environment.search);
        for directory in search.iter() {
            let all = self.look_up(&joined(directory, name), Asks::Runner);
            if all
                .iter()
                .any(|found| !matches!(found, ScriptSource::Missing))
            {
                return all;
            }
        }
        Vec::new()
    }

    /// What is on the disk now, in every directory the shell may be in.
    pub(super) fn look_up_on_disk(&mut self, path: &str) -> Vec<ScriptSource> {
        let names = self.listing.environment.names_of(path);
        let mut all = Vec::new();
        for name in &names {
            all.extend(self.look_up_name(name));
        }
        all
    }

    /// What is on the disk now at a path that was put together with its directory.
    fn look_up_name(&mut self, name: &str) -> Option<ScriptSource> {
        let around = self.listing.around?;
        let real = match around.resolve(name) {
            Ok(real) => real,
            Err(Unresolved::Unreadable) => return Some(ScriptSource::Unread(Reason::CannotRead)),
            // It may lead to a file by more steps than are taken.
            Err(Unresolved::TooLong) => return Some(ScriptSource::Unread(Reason::OverBudget)),
            Err(
                Unresolved::NoDirectory
                | Unresolved::NoHome
                | Unresolved::OtherHome
                | Unresolved::Nul,
            ) => return None,
        };
        let text = match self.listing.texts.get(&real) {
            Some(text) => text.clone(),
            None => {
                let text = around.lookup.read(&real, MAX_FILE);
                self.listing.texts.insert(real.clone(), text.clone());
                if let FileText::Text(text) = &text {
                    let budget = self.listing.budget();
                    let spent = budget.spend(Resource::Files, 1);
                    if spent
                        .and_then(|()| budget.spend(Resource::FileBytes, text.len()))
                        .is_err()
                    {
                        self.listing.texts.insert(real, FileText::TooLarge);
                        return Some(ScriptSource::Unread(Reason::OverBudget));
                    }
                }
                text
            }
        };
        let text = match text {
            FileText::Text(text) => text,
            FileText::Compiled => {
                let written = around.lookup.written();
                return Some(match written.fetched.contains(&real) {
                    // Nobody has read it, and it is no program of the machine's or of the project's.
                    true => ScriptSource::Unread(Reason::NotText),
                    false if written.holds(&real) => ScriptSource::Built,
                    false => ScriptSource::Compiled,
                });
            }
            FileText::TooLarge => return Some(ScriptSource::Unread(Reason::TooLarge)),
            FileText::NotText => return Some(ScriptSource::Unread(Reason::NotText)),
            FileText::Unreadable => return Some(ScriptSource::Unread(Reason::CannotRead)),
            FileText::Missing | FileText::NotRead => return Some(ScriptSource::Missing),
        };
        let file = FileRead {
            path: real,
            digest: digest_of(text.as_bytes()),
        };
        if !self.listing.files.contains(&file) {
            self.listing.files.push(file);
        }
        Some(ScriptSource::Text {
            text: Arc::from(text),
            path: Some(Arc::from(name)),
        })
    }

    fn run_found(
        &mut self,
        found: ScriptSource,
        at: usize,
        language: Option<Language>,
    ) -> Result<(), Refusal> {
        let (text, path) = match found {
            // What is installed, committed or built is run as what it is; what the text brings
            // along was found before.
            ScriptSource::Missing | ScriptSource::Compiled => {
                self.mark_whole(false);
                return Ok(());
            }
            ScriptSource::Built => {
                self.mark(Reason::BuiltBefore);
                return Ok(());
            }
            ScriptSource::Unread(reason) => {
                self.mark(reason);
                return match matches!(reason, Reason::TooLarge | Reason::NotText) {
                    true => self.skim(at, language),
                    false => Ok(()),
                };
            }
            ScriptSource::From(origin) => {
                self.mark(opaque_origin(Some(origin), Reason::ChangedBefore));
                return Ok(());
            }
            ScriptSource::Text { text, path } => (text, path),
        };
        let span = self
            .words
            .get(at)
            .map_or(0..0, |word| word.text.span.clone());
        if let Some(language) = language {
            let named = self.known(at).and_then(|name| {
                let names = self.listing.environment.names_of(name);
                names.into_iter().next()
            });
            let file = path.as_deref().map(str::to_owned).or(named);
            return self.in_file(path.as_ref(), |command| {
                let source = code::Source::File;
                code::run(command, language, &text, &span, source, file.as_deref())
            });
        }
        let text = match path.as_deref().is_some_and(|path| self.holds_secrets(path)) {
            true => without_values(&text),
            false => text,
        };
        let start = Start {
            positional: parameters(self.rest(at + 1)),
            ..self.start.clone()
        };
        let place = self.place;
        let outer = self.name_script(at);
        let walked = self.in_file(path.as_ref(), |command| {
            command
                .listing
                .known_code(place, Wrapping::Commanding, &text, &span, &start)
        });
        for (name, before) in outer {
            self.listing.environment.restore(name, before);
        }
        // A shell reads its script while it runs it, so what comes next may not be written yet.
        self.mark_whole(false);
        walked
    }

    /// Lists what the lines do that can be read of a script which is too large or no text, besides the question it is: what is
    /// refused stays refused, whatever it is padded with.
    fn skim(&mut self, at: usize, language: Option<Language>) -> Result<(), Refusal> {
        let (Some(around), Some(path)) = (self.listing.around, self.known(at).map(str::to_owned))
        else {
            return Ok(());
        };
        for name in self.listing.environment.names_of(&path) {
            let real = around.resolve(&name).ok();
            let Some(text) = real.and_then(|real| around.lookup.skim(&real, MAX_FILE)) else {
                continue;
            };
            let budget = self.listing.budget();
            if budget.spend(Resource::FileBytes, text.len()).is_err() {
                // The question stands.
                continue;
            }
            // What is started by its own name says itself who reads it.
            let language = match (at, interpreter_of(&text)) {
                (1.., _) | (0, Interpreter::Shell) => language,
                (0, Interpreter::Code(own)) => Some(own),
                (0, Interpreter::Other(_)) => continue,
            };
            let found = ScriptSource::Text {
                text: Arc::from(text),
                path: Some(Arc::from(name)),
            };
            self.run_found(found, at, language)?;
        }
        Ok(())
    }

    /// Lets a script know its own name, as it was called: `cd "$(dirname "$0")/.."`. What the names
    /// stood for before.
    fn name_script(&mut self, at: usize) -> Vec<(&'static str, Option<Variable>)> {
        let name = match self.words.get(at).and_then(Argument::known) {
            Some(name) => Value::Known(Arc::from(name)),
            None => Value::Unknown(Origin::Elsewhere),
        };
        let sourced = matches!(self.known(0), Some("." | "source"));
        let names: &[&'static str] = match sourced {
            true => &["BASH_SOURCE"],
            false => &["BASH_SOURCE", "0"],
        };
        let environment = &mut self.listing.environment;
        names
            .iter()
            .map(|variable| {
                let before = environment.variable(variable);
                environment.assign(variable, name.clone());
                // The shell that runs the script gives them itself.
                environment.export(variable);
                (*variable, before)
            })
            .collect()
    }

    fn holds_secrets(&self, path: &str) -> bool {
        self.listing.around.is_some_and(|around| {
            let place = Places::new(around, &[]).of(path);
            place.classes & SECRET != 0
        })
    }

    /// Walks with the commands that are found marked as a file's. A file that is too much is
    /// marked and otherwise left alone: it must not make the whole text unreadable.
    pub(super) fn in_file(
        &mut self,
        path: Option<&Arc<str>>,
        walk: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some(path) = path else {
            return walk(self);
        };
        let before = self.listing.commands.len();
        let outer = self.listing.file.replace(Arc::clone(path));
        let saved = self.listing.save();
        let walked = walk(self).and_then(|()| self.listing.checked(&(0..0)));
        self.listing.file = outer;
        let most = (before + MAX_COMMANDS).min(MAX_OF_FILES).max(before);
        let too_many = self.listing.commands.len() > most;
        if walked.is_ok() && !too_many {
            return Ok(());
        }
        self.mark(Reason::OverBudget);
        self.listing.restore(saved);
        // What was read of it is judged; the rest is not known. It must not use up what the text
        // itself may cost.
        self.listing.cut_to(most);
        let read = self.listing.commands.get(before..).unwrap_or_default();
        let words = read.iter().map(|command| command.words.len() + 1).sum();
        if self.listing.budget().spend(Resource::Words, words).is_err() {
            self.listing.cut_to(before);
        }
        Ok(())
    }
}

enum Interpreter<'t> {
    Shell,
    Code(Language),
    /// What the line says.
    Other(&'t str),
}

/// What the first line of a script says runs it.
fn first_line(text: &str) -> Option<&str> {
    text.strip_prefix("#!").and_then(|rest| rest.lines().next())
}

/// The program the first line of a script says runs it.
pub(super) fn named_interpreter(text: &str) -> Option<&str> {
    let program = first_line(text)?
        .split_whitespace()
        .filter_map(|word| word.rsplit('/').next())
        .find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='));
    Some(program.unwrap_or_default())
}

/// Whether a first line names an interpreter where the system has its own, and tells it nothing else.
fn is_installed_interpreter(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("/usr/bin/env" | "/bin/env"), Some(name), None) => !name.contains(['/', '=', '-']),
        (Some(path), None, None) => ["/usr/bin/", "/bin/", "/usr/local/bin/"]
            .iter()
            .any(|place| {
                path.strip_prefix(place)
                    .is_some_and(|name| !name.contains('/'))
            }),
        _ => false,
    }
}

/// How a script is run, by its first line.
fn interpreter_of(text: &str) -> Interpreter<'_> {
    let (Some(first), Some(program)) = (first_line(text), named_interpreter(text)) else {
        // Without such a line the shell runs it itself.
        return Interpreter::Shell;
    };
    if ["sh", "bash", "dash", "zsh", "ksh", "ash"].contains(&program) {
        return Interpreter::Shell;
    }
    match code::language(program) {
        Some(language) => Interpreter::Code(language),
        None => Interpreter::Other(first),
    }
}
