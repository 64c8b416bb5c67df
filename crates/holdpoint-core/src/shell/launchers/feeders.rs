//! Programs that run a command for each line of their input: `xargs` and `parallel`.

use crate::opaque::Reason;
use crate::rules::{self, Role};
use crate::shell::commands::Wrapping;
use crate::shell::input::Input;
use crate::shell::items::{items, line_item};
use crate::shell::listings;
use crate::shell::options::{self, Order, Spec};
use crate::shell::refusal::Refusal;
use crate::shell::texts::{Argument, UNKNOWN};
use crate::shell::unwrapping::Unwrapped;
use crate::shell::{Reached, Redirection, RedirectionKind};

const XARGS: Spec = Spec {
    values: "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args \
             --max-procs --max-chars --process-slot-var",
    flags: "-0 -e -i -l -o -p -r -t -x --null --eof --replace --interactive --no-run-if-empty \
            --verbose --exit --open-tty --show-limits",
};
const PARALLEL: Spec = Spec {
    values: "-a -j -P -n -N -L -S -C -I --arg-file --jobs --max-args --colsep --delay --timeout \
             --joblog --results --tmpdir --retries --sshlogin --workdir --arg-sep --tagstring --load",
    flags: "-0 -k -q -t -u -v -X -m -r --keep-order --bar --eta --progress --dry-run --null --quote \
            --will-cite --line-buffer --lb --ungroup --group --verbose --no-notice --tag --pipe --halt-on-error",
};

impl Unwrapped<'_, '_> {
    pub(super) fn xargs(&mut self) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            XARGS,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let Some(first) = reading.operands.first().copied() else {
                continue;
            };
            let marker = match reading.value(&["-I", "-J", "--replace"]) {
                Some(marker) => Some(marker.unquoted().to_owned()),
                None if reading.has(&["-i", "--replace"]) => Some("{}".to_owned()),
                None => None,
            };
            let mut words = self.rest(first).to_vec();
            let end = words.last().map_or(0, |word| word.text.span.end);
            match marker {
                Some(marker) if matches!(self.start.input, Input::Known(_)) => {
                    let Input::Known(text) = self.start.input.clone() else {
                        continue;
                    };
                    for line in text.lines() {
                        let unquoted = line_item(line);
                        let line = unquoted.as_deref().unwrap_or(line);
                        let filled = words
                            .iter()
                            .map(|word| {
                                let text = word.unquoted().replace(&marker, line);
                                Argument::literal(&text, word.text.span.clone())
                            })
                            .collect();
                        self.starts_apart(Wrapping::Incidental, filled)?;
                    }
                    continue;
                }
                Some(marker) => {
                    let fill = |word: Argument| {
                        let filled = word.unquoted().contains(&marker);
                        if filled { word.filled_with(None) } else { word }
                    };
                    words = words.into_iter().map(fill).collect();
                }
                None => match &self.start.input {
                    // What it adds stands in the text: `echo / | xargs rm -rf`.
                    Input::Known(text) => {
                        let whole = reading.has(&["-0", "--null", "-d", "--delimiter"]);
                        let plain = || text.split_whitespace().map(str::to_owned).collect();
                        let added: Vec<String> = if whole {
                            text.split(['\0', '\n'])
                                .filter(|line| !line.is_empty())
                                .map(str::to_owned)
                                .collect()
                        } else {
                            items(text).unwrap_or_else(plain)
                        };
                        let added = added.iter();
                        words.extend(added.map(|word| Argument::literal(word, end..end)));
                    }
                    Input::Inherited | Input::Empty | Input::Partly(_) | Input::Unknown(_) => {
                        let piped = !reading.has(&["-a", "--arg-file"])
                            && self.listing.reads_pipe(self.place);
                        if let Some(found) = self.edits_what_is_found(&words).filter(|_| piped) {
                            words.extend(found.into_iter().map(|pattern| {
                                let text = pattern.replace(UNKNOWN, "*");
                                Argument::supplied(&text, end..end).filled_with(Some(pattern))
                            }));
                            self.starts_apart(Wrapping::Incidental, words)?;
                            continue;
                        }
                        // The word says where it comes from.
                        let source = self.listing.last_of_pipeline();
                        let named = self
                            .ends_processes_named(&words)
                            .filter(|_| !reading.has(&["-a", "--arg-file"]));
                        let text = named.or(source.map(|line| format!("$({line})")));
                        let text = text.unwrap_or_else(|| "{}".to_owned());
                        let mut supplied = Argument::supplied(&text, end..end);
                        supplied.origin = self.start.input.origin();
                        words.push(supplied);
                    }
                },
            }
            self.starts_apart(Wrapping::Incidental, words)?;
        }
        Ok(())
    }

    /// What `kill` is given by a pipeline that finds processes by a name, in words that no line has: rules tell by them.
    fn ends_processes_named(&self, words: &[Argument]) -> Option<String> {
        let kills = words.first().and_then(|word| word.text.program()) == Some("kill");
        let command = self.listing.commands.get(self.place).filter(|_| kills)?;
        // What it reads is the pipeline's only where nothing else is put in its place.
        let writes = |one: &Redirection| {
            matches!(one.kind, RedirectionKind::Write | RedirectionKind::Append)
        };
        // `eval` is the same shell.
        let by_shell = match command.reached {
            Reached::Directly => true,
            Reached::Within { wrapper, .. } => {
                let wrapper = self.listing.commands.get(wrapper);
                wrapper.is_some_and(|one| {
                    one.program() == Some("eval") && one.reached == Reached::Directly
                })
            }
            Reached::Substituted => false,
        };
        if !by_shell || !command.redirects.iter().all(writes) {
            return None;
        }
        let name = listings::processes_named(self.listing.feeders(), command.reached)?;
        Some(format!("$(processes named {name})"))
    }

    /// What a command is given that looks at files or edits them, where it is known in which directories
    /// those were found. What deletes them, or runs something, is asked about as before: which
    /// files those are is the point.
    fn edits_what_is_found(&self, words: &[Argument]) -> Option<Vec<String>> {
        let name = words.first().and_then(|word| word.text.program())?;
        let program = rules::program(name)?;
        let role = program.roles.operands?;
        // Found by name, it is what `find -exec` would be given.
        let named = listings::found_by_name(self.listing.feeders());
        if named.is_some() && (role == Role::Delete || (role == Role::Read && !program.writes)) {
            return named;
        }
        if !matches!(role, Role::Read | Role::Write | Role::Append | Role::Mode) {
            return None;
        }
        listings::found_inside(self.listing.feeders())
    }

    pub(super) fn parallel(&mut self) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            PARALLEL,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let from = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            let separator = |word: &Argument| word.unquoted().starts_with(":::");
            let end = self
                .rest(from)
                .iter()
                .position(separator)
                .map_or(self.words.len(), |place| from + place);
            let template: Vec<&str> = self
                .words
                .get(from..end)
                .unwrap_or_default()
                .iter()
                .map(Argument::unquoted)
                .collect();
            // `-a FILE`, `:::: FILE`: what stands in the file.
            let in_file = reading.has(&["-a", "--arg-file"])
                || self.known(end).is_some_and(|word| word.starts_with("::::"));
            if template.is_empty() && in_file {
                self.mark(Reason::ScriptFromInput);
            } else if template.is_empty() && end < self.words.len() {
                for word in self.words.get(end + 1..).unwrap_or_default() {
                    self.runs(Wrapping::Incidental, word)?;
                }
            } else if template.is_empty() {
                self.may_read_input()?;
            } else {
                // What fills the template is input: to the reader, the value of a variable.
                let mut code = template.join(" ").replace("{}", "$_");
                if !code.contains("$_") {
                    code.push_str(" $_");
                }
                let span = self
                    .words
                    .get(from)
                    .map_or(0..0, |word| word.text.span.clone());
                let code = Argument::literal(&code, span);
                self.runs(Wrapping::Incidental, &code)?;
            }
        }
        Ok(())
    }
}
