//! What lists say of a call by its effects (`"effects"`): what they allow whole, and what they refuse or ask about.
//!
//! An allow by effect answers for a part and for no question about it: whatever a rule objects to is asked about as if
//! the clauses were not there. What is not known to the end (code, a place, a program nobody has described) is covered by
//! nothing, so that reading less never allows more.

use std::collections::BTreeSet;
use std::ops::Range;

use super::coverage::Cover;
use super::findings::{PartFinding, Speaker};
use super::spelling::Spelled;
use super::{Judgement, harmless_settings, own_jobs};
use crate::call::digest_of;
use crate::catalogue;
use crate::effects::made::all_in;
use crate::effects::places::{GENERATED, Place, Places, TEMPORARY, WORKSPACE};
use crate::effects::{self, Effect, EffectKind, Subject};
use crate::paths::{Entry, FileText, Tracking, installed_name, is_within};
use crate::policy::Layer;
use crate::policy::clauses::{Clause, Facts};
use crate::policy::tool_names::Naming;
use crate::rules::steering;
use crate::shell::{Reached, Redirection, RedirectionKind, Text, UNKNOWN};
use crate::understand::CommandView;
use crate::verdict::{Method, Verdict};

/// The longest file that is compared with what the session wrote.
const MAX_COMPARED: usize = 1 << 20;

impl Judgement<'_> {
    /// Adds what allows parts by their effects to what allows them by name. Each command is covered for itself: what a
    /// wrapper may do says nothing of what it runs.
    pub(super) fn cover_by_effect(&self, covers: &mut [Vec<Cover>]) {
        let said = |(_, layer): &(Speaker, &Layer)| !layer.allow_list.effects.is_empty();
        let layers: Vec<(Speaker, &Layer)> = self.speakers().filter(said).collect();
        if layers.is_empty() {
            return;
        }
        // What programs do that are told otherwise by a variable nobody can know: inside the sandbox it does no harm.
        let steered = self.is_steered();
        if steered && !self.can_contain() {
            return;
        }
        let at_least = match steered {
            true => Verdict::Contain,
            false => Verdict::Allow,
        };
        let subjects = effects::subjects(self.view).filter_map(|subject| subject.command);
        let subjects: BTreeSet<usize> = subjects.collect();
        let helped = (0..self.view.commands.len()).filter(|index| !subjects.contains(index));
        let mut found: Vec<(usize, Cover)> = Vec::new();
        for (speaker, layer) in layers {
            let clauses = &layer.allow_list.effects;
            if steered && !clauses.iter().any(|one| one.contained) {
                continue;
            }
            let read = self.read_code(clauses);
            for subject in effects::subjects(self.view) {
                if let Some((label, verdict)) = self.covered(&subject, clauses, read) {
                    let verdict = verdict.max(at_least);
                    let cover = self.effect_cover(label, verdict, speaker, subject.command);
                    found.push((subject.command.unwrap_or_default(), cover));
                }
            }
            // A program that is only asked for its help does nothing else.
            found.extend(helped.clone().map(|index| {
                let label = "effects: its help".to_owned();
                (
                    index,
                    self.effect_cover(label, at_least, speaker, Some(index)),
                )
            }));
        }
        for (part, cover) in found {
            if let Some(slot) = covers.get_mut(part) {
                slot.push(cover);
            }
        }
    }

    fn effect_cover(
        &self,
        label: String,
        verdict: Verdict,
        speaker: Speaker,
        part: Option<usize>,
    ) -> Cover {
        let reason = match verdict {
            Verdict::Contain => {
                "Nobody can know before it runs what it does: it runs inside the sandbox"
            }
            Verdict::Allow | Verdict::Notify | Verdict::Ask | Verdict::Review | Verdict::Deny => {
                "All it does is allowed by effect"
            }
        };
        let found = self.found(Method::Whitelist, verdict, label, reason.to_owned(), part);
        Cover {
            speaker: Some(speaker),
            specificity: 0,
            naming: Naming::Unnamed,
            knows_of_mark: false,
            by_plan: false,
            spelled: Spelled::Effects,
            found: found.of_layer(speaker.authority),
        }
    }

    /// By which clauses all that a command or call does is allowed, and whether only inside the sandbox.
    fn covered(
        &self,
        subject: &Subject<'_>,
        clauses: &[Clause],
        read: ReadCode,
    ) -> Option<(String, Verdict)> {
        let plain = self
            .covered_as_it_is(subject, clauses)
            .filter(|_| read == ReadCode::Covered || !self.runs_read_code(subject));
        if let Some(labels) = plain {
            return Some((labels.join("; "), Verdict::Allow));
        }
        let mut contained = clauses.iter().filter(|one| one.contained);
        let clause =
            contained.find(|one| self.is_named(one, subject) && self.runs_in(one, subject))?;
        self.can_contain()
            .then(|| (clause.label(), Verdict::Contain))
    }

    /// Whether all that files do which the call runs, and which were read to the end, is allowed as well. Their commands
    /// are no parts of the call that anybody answers for, so whoever runs them must.
    fn read_code(&self, clauses: &[Clause]) -> ReadCode {
        let in_file = |subject: &Subject<'_>| {
            let view = subject.command.and_then(|at| self.view.commands.get(at));
            view.is_some_and(|view| view.command.file.is_some())
        };
        let mut of_files = effects::subjects(self.view).filter(in_file);
        match of_files.all(|subject| self.covered_as_it_is(&subject, clauses).is_some()) {
            true => ReadCode::Covered,
            false => ReadCode::DoesMore,
        }
    }

    /// Whether a command runs code that was read to the end, and nothing else.
    fn runs_read_code(&self, subject: &Subject<'_>) -> bool {
        let view = subject.command.and_then(|at| self.view.commands.get(at));
        view.is_some_and(|view| {
            view.command.whole == Some(true)
                && (is_plain_python(view) || self.is_script_of_project(view))
        })
    }

    /// Whether a command is a script by its path that lies where the project or the session has put it.
    fn is_script_of_project(&self, view: &CommandView) -> bool {
        let program = view.command.words.first().filter(|word| !word.dynamic);
        let Some(program) = program.filter(|word| installed_name(&word.text).contains('/')) else {
            return false;
        };
        let generated = self.policy.generated();
        let places = Places::new(&self.around, &generated);
        let places = places.of_word(&program.text, &view.command.directory);
        let near = |place: &Place| place.classes & (WORKSPACE | GENERATED | TEMPORARY) != 0;
        !places.is_empty() && places.iter().all(near)
    }

    /// Whether an effect is about a word that is handed to a script which was read to the end with it: what becomes of it is among
    /// the effects of the commands in the script.
    fn is_handed_to_script(&self, effect: &Effect, subject: &Subject<'_>) -> bool {
        let view = subject.command.and_then(|at| self.view.commands.get(at));
        effect.kind == EffectKind::Either
            && self.runs_read_code(subject)
            && view.is_some_and(|view| self.is_script_of_project(view))
    }

    /// The clauses that allow all that a command or call does, as it is.
    fn covered_as_it_is(&self, subject: &Subject<'_>, clauses: &[Clause]) -> Option<Vec<String>> {
        if subject.opaque != 0 || !subject.sql.is_empty() {
            return None;
        }
        let program = self.program_as_written(subject);
        if program.is_some_and(|name| !name.contains('/') && tells_its_version(name, subject)) {
            return Some(vec!["effects: its version".to_owned()]);
        }
        let mut labels = Vec::new();
        match subject.command {
            Some(index) => labels.extend(self.program_label(index, subject, clauses)?),
            // Of a tool nobody has described, the arguments say little about what it does.
            None if !self.is_described(subject) => return None,
            None => {}
        }
        for effect in subject.effects {
            if self.names_a_branch(effect, subject)
                || reads_command(effect)
                || self.is_handed_to_script(effect, subject)
            {
                continue;
            }
            let label = self.clause_for(effect, subject, clauses)?.label();
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        Some(labels)
    }

    /// Whether what may be a file of the project is none, so that git takes it for a branch: `git checkout topic`. A word
    /// with other signs may be a pattern to git (`:/`, `'*.rs'`), or a word the table does not know.
    fn names_a_branch(&self, effect: &Effect, subject: &Subject<'_>) -> bool {
        let checkout = self.program_as_written(subject) == Some("git")
            && (subject.reading.as_ref()).is_some_and(|one| one.begins_so("checkout").is_some());
        let of_name = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
        let plain = !effect.dynamic
            && !effect.glob
            && !effect.text.is_empty()
            && effect.text.chars().all(of_name)
            && effect.classes & !(WORKSPACE | GENERATED) == 0;
        checkout
            && plain
            && effect.kind == EffectKind::Either
            && (effect.place.path.as_deref())
                .is_some_and(|path| self.around.lookup.entry(path) == Entry::Missing)
    }

    /// The clause that allows an effect. Of the kinds of effects that a clause names together with programs, it alone
    /// speaks for these programs.
    fn clause_for<'c>(
        &self,
        effect: &Effect,
        subject: &Subject<'_>,
        clauses: &'c [Clause],
    ) -> Option<&'c Clause> {
        let plain = || clauses.iter().filter(|one| !one.contained);
        let own = |one: &&Clause| one.is_about(effect) && self.is_named(one, subject);
        let own: Vec<&Clause> = plain().filter(own).collect();
        let speaks = |one: &&Clause| {
            self.runs_in(one, subject)
                && one.speaks_of(effect, self.program_as_written(subject), subject, self)
        };
        match own.is_empty() {
            true => plain().find(speaks),
            false => own.into_iter().find(speaks),
        }
    }

    /// The program of a command: its name where it is looked for among what is installed, else its path. What lies
    /// in the project under the name of a tool is not that tool.
    fn program_as_written(&self, subject: &Subject<'_>) -> Option<&str> {
        let view = self.view.commands.get(subject.command?)?;
        let word = view.command.words.first().filter(|word| !word.dynamic)?;
        Some(installed_name(&word.text))
    }

    fn is_named(&self, clause: &Clause, subject: &Subject<'_>) -> bool {
        clause.names(self.program_as_written(subject), subject) || self.names_code(clause, subject)
    }

    /// Whether a command runs where a clause wants it to.
    fn runs_in(&self, clause: &Clause, subject: &Subject<'_>) -> bool {
        let Some(view) = subject.command.and_then(|at| self.view.commands.get(at)) else {
            return true;
        };
        if clause.directory.is_empty() {
            return true;
        }
        let generated = self.policy.generated();
        let places = Places::new(&self.around, &generated);
        let places = places.of_word(".", &view.command.directory);
        !places.is_empty() && places.iter().all(|place| clause.has_directory(place, self))
    }

    /// Whether the call is one of a tool whose arguments say all that it does.
    fn is_described(&self, subject: &Subject<'_>) -> bool {
        let tool = self.view.call.tool();
        catalogue::is_known(tool)
            && self.view.effect != catalogue::Effect::Unknown
            && (!subject.effects.is_empty() || catalogue::stays_with_the_agent(tool))
    }

    /// The clause that names the program of a command whose words are known; nothing to say of one that only sets
    /// variables.
    fn program_label(
        &self,
        index: usize,
        subject: &Subject<'_>,
        clauses: &[Clause],
    ) -> Option<Option<String>> {
        let view = self.view.commands.get(index)?;
        let given_up = (self.view.meanings.get(index)).is_some_and(|one| one.given_up.is_some());
        // Words only the shell will know may be flags. What changes nothing whatever it is told is no worse for them.
        let known = !view.is_dynamic()
            || is_harmless_whatever_told(view)
            || view.command.words.is_empty()
            || self.ends_own_jobs(subject)
            || self.is_filled_by_find(view)
            // They are data to code that was read: what it does with them is judged where it does it.
            || self.runs_read_code(subject);
        if given_up || !known || !view.command.opaque.is_empty() {
            return None;
        }
        if view.command.words.is_empty() {
            return Some(None);
        }
        let mut plain = clauses.iter().filter(|one| !one.contained);
        let clause = plain.find(|one| self.is_named(one, subject) && self.runs_in(one, subject))?;
        Some(Some(clause.label()))
    }

    /// Whether all that is not known of a command is what `find` puts in: paths below where it starts, so no flags.
    fn is_filled_by_find(&self, view: &CommandView) -> bool {
        let Reached::Within { wrapper, .. } = view.command.reached else {
            return false;
        };
        let wrapper = self.view.commands.get(wrapper);
        let program = wrapper.and_then(|one| one.command.words.first());
        let name = program.filter(|word| !word.dynamic);
        let name = name.map(|word| installed_name(&word.text));
        let is_path = |pattern: &str| pattern.starts_with(['.', '/']) && !pattern.contains(UNKNOWN);
        let mut unknown = view.command.words.iter().filter(|word| word.dynamic);
        name == Some("find")
            && unknown.all(|word| word.text == "{}" && word.pattern.as_deref().is_some_and(is_path))
    }

    /// Whether the line may set a variable that makes programs do something else than their words say: wherever such a
    /// name stands, as it is written or as the shell reads it, and is not only used, it may be set. A word that a program
    /// only looks for, or a text that goes into a file as it is, sets nothing.
    fn is_steered(&self) -> bool {
        let line = self.view.line.as_deref().unwrap_or_default();
        let texts = self.plain_texts(line);
        let written = steering::named(line).any(|(at, name)| {
            let behind = line.get(at + name.len()..).unwrap_or_default();
            !harmless_settings::is_one(name, behind) && !texts.iter().any(|text| text.contains(&at))
        });
        let commands = self
            .view
            .commands
            .iter()
            .filter(|view| !only_searches(view));
        let mut words = commands.flat_map(|view| view.command.words.iter().skip(1));
        written
            || words.any(|word| {
                let name = word.text.split(|c: char| !steering::is_of_name(c)).next();
                let behind = name.and_then(|name| word.text.get(name.len()..));
                name.zip(behind).is_some_and(|(name, behind)| {
                    steering::steers(name) && !harmless_settings::is_one(name, behind)
                })
            })
    }

    /// Where the line holds texts that a shell hands on as they are: words of programs that search, and here-documents
    /// that go into a file. Where a name may stand for something else than the program there are none.
    fn plain_texts(&self, line: &str) -> Vec<Range<usize>> {
        if ["()", "function", "alias"]
            .iter()
            .any(|sign| line.contains(sign))
        {
            return Vec::new();
        }
        let commands = self.view.commands.iter();
        let own = commands.filter(|view| view.command.file.is_none());
        let texts = own.flat_map(|view| {
            let words = view.command.words.iter().skip(1);
            let words = words.filter(|_| only_searches(view)).map(|word| &word.span);
            let redirects = view.command.redirects.iter();
            let documents = redirects
                .filter(|one| one.kind == RedirectionKind::HereDocument && !one.target.dynamic)
                .filter(|_| only_writes(view))
                .map(|one| &one.target.span);
            words.chain(documents)
        });
        // What the shell puts in may set a variable on the way: `${PATH:=x}`.
        let plain = |span: &Range<usize>| {
            let text = line.get(span.clone());
            text.is_some_and(|text| !text.contains(['$', '`']))
        };
        texts.filter(|span| plain(span)).cloned().collect()
    }

    /// What lists of a layer say of the call by its effects, each part with the clause that speaks of it.
    pub(super) fn touched_by_effect(
        &self,
        clauses: &[Clause],
        method: Method,
        verdict: Verdict,
    ) -> Vec<PartFinding> {
        if clauses.is_empty() {
            return Vec::new();
        }
        let subjects: Vec<Subject<'_>> = effects::subjects(self.view).collect();
        let pairs = clauses
            .iter()
            .flat_map(|clause| subjects.iter().map(move |subject| (clause, subject)));
        let touching = pairs.filter(|(clause, subject)| clause.touches(subject, self));
        let found = touching.map(|(clause, subject)| {
            let reason = "The policy names what it does".to_owned();
            self.found(method, verdict, clause.label(), reason, subject.command)
        });
        found.collect()
    }

    /// Whether what a command takes away it puts elsewhere in the workspace: `mv src/a src/b`.
    fn stays_in_workspace(&self, effect: &Effect, subject: &Subject<'_>) -> bool {
        let moves = self.program_as_written(subject) == Some("mv");
        let mut written = (subject.effects.iter())
            .filter(|one| one.kind == EffectKind::Write)
            .peekable();
        moves
            && effect.classes & WORKSPACE != 0
            && written.peek().is_some()
            && written.all(|one| one.classes & WORKSPACE != 0 && !one.dynamic && !one.glob)
    }

    /// Whether a file holds what git has, or what the session wrote, to the byte. What is not there cannot be lost.
    fn can_be_had_again(&self, path: &str) -> bool {
        let lookup = self.around.lookup;
        if lookup.entry(path) == Entry::Missing || lookup.tracking(path) == Tracking::Committed {
            return true;
        }
        let written = lookup.written();
        let Some(Some(digest)) = written.files.get(path) else {
            return false;
        };
        match lookup.read(path, MAX_COMPARED) {
            FileText::Text(text) => digest_of(text.as_bytes()) == *digest,
            FileText::Compiled
            | FileText::TooLarge
            | FileText::NotText
            | FileText::Unreadable
            | FileText::Missing
            | FileText::NotRead => false,
        }
    }
}

/// Whether what is read is what another command of the line prints, which is answered for itself: `diff <(ls a) <(ls b)`.
fn reads_command(effect: &Effect) -> bool {
    let text = effect.text.as_str();
    let whole = text.starts_with("<(") && text.ends_with(')');
    effect.kind == EffectKind::Read && effect.dynamic && whole && text.matches("<(").count() == 1
}

/// Programs that tell their version when they are told `-v` and nothing else; to others it is a word to say more.
const VERSION_BY_LETTER: &[&str] = &[
    "bun", "docker", "go", "kubectl", "nginx", "node", "npm", "npx", "perl", "php", "pnpm", "ruby",
    "tsc", "yarn",
];

/// Whether a program is asked for its version or its help, and for nothing else.
fn tells_its_version(program: &str, subject: &Subject<'_>) -> bool {
    let [word] = subject.words else {
        return false;
    };
    !word.dynamic
        && match word.text.as_str() {
            "--version" | "--help" | "version" | "-version" | "-V" => true,
            "-v" => VERSION_BY_LETTER.contains(&program),
            _ => false,
        }
}

/// Whether a command is one that looks for a text in files: its words are no commands to anybody.
fn only_searches(view: &CommandView) -> bool {
    let words = &view.command.words;
    let program = words.first().filter(|word| !word.dynamic);
    let searches = program.is_some_and(|word| {
        matches!(
            installed_name(&word.text),
            "egrep" | "fgrep" | "grep" | "rg"
        )
    });
    // `rg --pre` and its like run a program.
    let runs = |word: &Text| {
        word.dynamic
            || ["--pre", "--hostname-bin"]
                .iter()
                .any(|flag| word.text.starts_with(flag))
    };
    searches && !words.iter().skip(1).any(runs)
}

/// Whether a command does nothing but put a here-document into a file.
fn only_writes(view: &CommandView) -> bool {
    let into_file = |one: &Redirection| {
        let target = &one.target;
        one.kind.writing_sign().is_some()
            && !one.of_errors
            && !target.dynamic
            && !target.text.starts_with("/dev/")
            && !target.text.starts_with("/proc/")
    };
    matches!(view.command.words.as_slice(), [word] if !word.dynamic && installed_name(&word.text) == "cat")
        && view.command.redirects.iter().any(into_file)
}

/// Flags of Python that change nothing about what its code does.
const PLAIN_FLAGS: &[&str] = &["-u", "-B", "-s", "-S", "-E", "-I", "-q", "-O", "-OO"];

/// Whether a command is an installed Python that runs code and is told nothing else before it: `python3 -u app.py`.
fn is_plain_python(view: &CommandView) -> bool {
    let [program, words @ ..] = view.command.words.as_slice() else {
        return false;
    };
    let name = installed_name(&program.text);
    let version = name.strip_prefix("python").unwrap_or("x");
    let python = version.chars().all(|c| c.is_ascii_digit() || c == '.');
    let mut flags = words
        .iter()
        .take_while(|word| word.text.starts_with('-') && word.text != "-c" && word.text != "-");
    let behind = words.get(flags.clone().count()..).unwrap_or_default();
    python
        && !program.dynamic
        && !behind.first().is_some_and(|script| script.dynamic)
        && flags.all(|word| PLAIN_FLAGS.contains(&word.text.as_str()))
}

/// Programs that neither write nor run anything, whatever flags they are told; `find`, `date` and `grep` are none of them.
const HARMLESS: &[&str] = &[
    ":", "[", "basename", "cat", "cmp", "comm", "diff", "dirname", "echo", "expr", "false", "head",
    "ls", "printf", "pwd", "seq", "tail", "test", "true", "wc",
];

/// Whether a command changes nothing even if words of it that only the shell knows are flags.
fn is_harmless_whatever_told(view: &CommandView) -> bool {
    view.is_read_only() && view.program().is_some_and(|name| HARMLESS.contains(&name))
}

/// What is known of the files that a call runs and that were read to the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadCode {
    /// All they do is allowed.
    Covered,
    /// They do something nobody allows.
    DoesMore,
}

impl Facts for Judgement<'_> {
    fn names_code(&self, clause: &Clause, subject: &Subject<'_>) -> bool {
        clause.names_understood() && self.runs_read_code(subject)
    }

    fn is_recoverable(&self, effect: &Effect, subject: &Subject<'_>) -> bool {
        let known = !effect.dynamic && !effect.glob && effect.kind == EffectKind::Delete;
        let Some(path) = effect.place.path.as_deref().filter(|_| known) else {
            return false;
        };
        if self.stays_in_workspace(effect, subject) {
            return true;
        }
        match self.around.lookup.entry(path) {
            Entry::Directory => {
                effect.recursive
                    && all_in(self.around.lookup, path, &|path| {
                        self.can_be_had_again(path)
                    })
            }
            Entry::Missing | Entry::Link(_) | Entry::Other => self.can_be_had_again(path),
            Entry::Unreadable => false,
        }
    }

    fn ends_own_jobs(&self, subject: &Subject<'_>) -> bool {
        let view = subject.command.and_then(|at| self.view.commands.get(at));
        let line = self.view.line.as_deref().unwrap_or_default();
        view.is_some_and(|view| own_jobs::are_all_it_ends(view, line, self.around.lookup))
    }

    fn is_in_workspace(&self, place: &Place) -> bool {
        let workspace = self.around.workspace.or(self.around.directory);
        let workspace = workspace.and_then(|named| self.around.resolve_directory(named).ok());
        let path = place.path.as_deref();
        path.zip(workspace)
            .is_some_and(|(path, workspace)| is_within(path, &workspace))
    }
}
