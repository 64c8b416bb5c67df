//! What cmdlets do, as commands of a shell. Which cmdlet does what is in `rules/powershell.toml`.

use super::Reader;
use super::parameters::{Given, is_flag};
use super::paths::{is_memory, is_registry, quoted_but_wild};
use super::statements::{Pipe, evaluated_words, program, program_of, shown};
use super::tables::{self, Cmdlet, Does, UNKNOWN_VARIABLE};
use super::words::Word;
use crate::code::{CodeEffectKind, Language, Operand, Unfollowed};

/// What nobody knows, as a word of a shell.
fn unknown() -> String {
    format!("\"${{{UNKNOWN_VARIABLE}}}\"")
}

/// Files a listing finds.
struct Listing {
    places: String,
    filter: Option<String>,
    recursive: bool,
}

impl Reader<'_, '_> {
    /// The shell's counterpart of a command by its name.
    pub(super) fn cmdlet(&mut self, name: &str, arguments: &[&Word], pipe: Pipe<'_>) -> String {
        let lower = name.to_ascii_lowercase();
        // `sc.exe` is no alias of a cmdlet.
        let Some(cmdlet) = tables::cmdlet(&lower) else {
            return self.undescribed(name, &lower, arguments, pipe);
        };
        let given = Given::of(Some(cmdlet), arguments);
        let flags = arguments.iter().any(|word| is_flag(word));
        if tables::is_program(&lower) && flags && (given.foreign || given.flags_only) {
            // Elsewhere a program has this name, and only it takes such flags.
            let words: Vec<String> = arguments.iter().map(|word| word.path()).collect();
            return format!("{lower} {}", words.join(" "));
        }
        if cmdlet.dry && given.switch("whatif") && !given.splatted {
            return evaluated_words(arguments);
        }
        let places = |reader: &Self| reader.places(cmdlet, &given, pipe);
        match cmdlet.does {
            Does::Line(line) => self.filled(line, cmdlet, &given, pipe),
            Does::Look => handed_on(arguments, pipe),
            Does::List => format!("ls {}", given.places(Some(cmdlet))),
            Does::Read => self.read_files(cmdlet, &given, pipe),
            Does::Remove => self.remove(cmdlet, &given, pipe),
            Does::Write => written(cmdlet, &given, pipe, "tee"),
            Does::Append => written(cmdlet, &given, pipe, "tee -a"),
            Does::Create => create(cmdlet, &given),
            Does::Change => self.change(cmdlet, &given, &places(self)),
            Does::Fetch => fetch(cmdlet, &given),
            Does::Evaluate => self.evaluate(cmdlet, &given, pipe),
            Does::Start => self.start(cmdlet, &given),
            Does::Stop => stop(cmdlet, &given),
            Does::Blocks => self.blocks(cmdlet, &given, arguments, pipe),
            Does::Make => self.make(cmdlet, &given, arguments),
            Does::Question => {
                self.reading.note(Unfollowed::Evaluates);
                evaluated_words(arguments)
            }
        }
    }

    fn undescribed(
        &mut self,
        name: &str,
        lower: &str,
        arguments: &[&Word],
        pipe: Pipe<'_>,
    ) -> String {
        if tables::looks(lower) {
            return handed_on(arguments, pipe);
        }
        if tables::is_cmdlet(lower) {
            // The rules may know it by its name; what else it does nobody says.
            self.reading.note(Unfollowed::Evaluates);
            let name = tables::known_name(name).map_or_else(|| program(name), str::to_owned);
            return format!("{name} {}", shown(arguments));
        }
        format!("{} {}", program(name), shown(arguments))
    }

    /// A line of the table with its braces filled in.
    fn filled(&self, line: &str, cmdlet: &'static Cmdlet, given: &Given, pipe: Pipe<'_>) -> String {
        let mut made = String::with_capacity(line.len());
        let mut pieces = line.split('{');
        made.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let (name, after) = piece.split_once('}').unwrap_or((piece, ""));
            let (name, otherwise) = name.split_once('|').unwrap_or((name, ""));
            let value = match name {
                "all" => given.all(),
                "places" => self.places(cmdlet, given, pipe),
                name => given
                    .argument(cmdlet, name)
                    .map_or_else(|| otherwise.to_owned(), Word::path),
            };
            made.push_str(&value);
            made.push_str(after);
        }
        if given.splatted {
            made.push(' ');
            made.push_str(&unknown());
        }
        made
    }

    /// The places a cmdlet is given, by words or by what it reads.
    fn places(&self, cmdlet: &'static Cmdlet, given: &Given, pipe: Pipe<'_>) -> String {
        let mut places = given.places(Some(cmdlet));
        if given.splatted {
            places.push(' ');
            places.push_str(&unknown());
        }
        if !places.trim().is_empty() || !pipe.reads() {
            return places;
        }
        match listing(pipe) {
            Some(listing) => match (listing.recursive, listing.filter) {
                (false, Some(filter)) => format!("{}/{filter}", listing.places),
                (_, None) => listing.places,
                (true, Some(_)) => unknown(),
            },
            None => unknown(),
        }
    }

    fn read_files(&self, cmdlet: &'static Cmdlet, given: &Given, pipe: Pipe<'_>) -> String {
        let named = given.places(Some(cmdlet));
        if !named.trim().is_empty() || given.splatted {
            return format!("cat {}", self.places(cmdlet, given, pipe));
        }
        match listing(pipe) {
            Some(listing) if listing.recursive => {
                let name = listing
                    .filter
                    .map(|filter| format!("-name {}", tame(&filter)));
                let name = name.unwrap_or_default();
                format!("find {} {name} -exec cat {{}} +", listing.places)
            }
            Some(_) => format!("cat {}", self.places(cmdlet, given, pipe)),
            // It looks through a text.
            None => "cat".to_owned(),
        }
    }

    fn remove(&mut self, cmdlet: &'static Cmdlet, given: &Given, pipe: Pipe<'_>) -> String {
        if given.texts().any(is_registry) {
            return format!("reg delete {}", given.all());
        }
        if !given.splatted && given.texts().next().is_some() && given.texts().all(is_memory) {
            return String::new();
        }
        let program = match given.switch("recurse") || given.splatted {
            true => "rm -r",
            false => "rm",
        };
        let named = given.places(Some(cmdlet));
        if !named.trim().is_empty() || given.splatted {
            return format!("{program} {}", self.places(cmdlet, given, pipe));
        }
        match listing(pipe) {
            None if !pipe.reads() => String::new(),
            Some(Listing {
                places,
                filter: Some(filter),
                recursive: true,
            }) => format!("find {places} -name {} -delete", tame(&filter)),
            Some(Listing {
                places,
                filter: None,
                recursive: true,
            }) => format!("rm -r {places}"),
            Some(_) | None => format!("{program} {}", self.places(cmdlet, given, pipe)),
        }
    }

    fn change(&mut self, cmdlet: &'static Cmdlet, given: &Given, places: &str) -> String {
        let removes = cmdlet.name.starts_with("Remove") || cmdlet.name.starts_with("Clear");
        let text = given.texts().next().unwrap_or_default();
        if is_memory(text) {
            return String::new();
        }
        let lower = text.to_ascii_lowercase();
        if lower.starts_with("alias:") || lower.starts_with("function:") {
            self.reading.note(Unfollowed::Evaluates);
            return String::new();
        }
        let known = given
            .operands()
            .next()
            .is_none_or(|word| word.known.is_some());
        match given.texts().any(is_registry) || !known || removes {
            true if removes => format!("reg delete HKCU {}", given.all()),
            true => format!("reg add HKCU {}", given.all()),
            false => format!("chmod u+w {places}"),
        }
    }

    fn evaluate(&mut self, cmdlet: &'static Cmdlet, given: &Given, pipe: Pipe<'_>) -> String {
        let code = given.argument(cmdlet, "command").or_else(|| {
            // A text that is handed on.
            let (words, _) = program_of(&pipe.before?.words);
            let [word] = words else { return None };
            Some(word).filter(|word| word.quoted || word.variable.is_some())
        });
        match code {
            Some(Word {
                known: Some(code), ..
            }) => {
                let inner = self.limits.read_inside(Language::PowerShell, code);
                let mut line = String::new();
                for effect in &inner.effects {
                    if let CodeEffectKind::Shell(Operand::Known(made)) = &effect.kind {
                        line.push_str(made);
                    }
                }
                if let Some(why) = inner.opaque {
                    self.reading.note(why);
                }
                // Several statements, one command of this pipeline.
                match line.trim() {
                    "" => String::new(),
                    line => format!("{{ {line}\n}}"),
                }
            }
            Some(code) if !pipe.reads() => {
                self.reading.note(Unfollowed::Evaluates);
                format!("eval {}", code.shell)
            }
            Some(_) | None => {
                self.reading.note(Unfollowed::Evaluates);
                match pipe.reads() {
                    true => "bash".to_owned(),
                    false => String::new(),
                }
            }
        }
    }

    fn start(&mut self, cmdlet: &'static Cmdlet, given: &Given) -> String {
        let Some(program) = given.argument(cmdlet, "filepath") else {
            self.reading.note(Unfollowed::Evaluates);
            return String::new();
        };
        let arguments = given.argument(cmdlet, "argumentlist");
        let arguments = match arguments.or_else(|| given.value("args")) {
            // One text holds all of them.
            Some(Word {
                known: Some(text), ..
            }) => {
                let words = text.split_ascii_whitespace();
                let words: Vec<String> = words.map(quoted_but_wild).collect();
                words.join(" ")
            }
            Some(word) => word.shell.clone(),
            None => String::new(),
        };
        let mut line = String::new();
        let verb = given.value("verb").and_then(|verb| verb.known.as_deref());
        if verb.is_some_and(|verb| verb.eq_ignore_ascii_case("runas")) {
            line.push_str("sudo ");
        }
        if let Some(directory) = given.value("workingdirectory") {
            line.push_str(&format!("env -C {} ", directory.path()));
        }
        let splatted = match given.splatted {
            true => unknown(),
            false => String::new(),
        };
        format!("{line}{} {arguments} {splatted}", program.path())
    }

    /// A cmdlet that runs blocks. They were read where they stand; of other code nobody knows.
    fn blocks(
        &mut self,
        cmdlet: &'static Cmdlet,
        given: &Given,
        arguments: &[&Word],
        pipe: Pipe<'_>,
    ) -> String {
        let file = match cmdlet.positions.first() {
            Some(&"scriptblock") => given.value("filepath"),
            Some(_) | None => None,
        };
        if let Some(file) = file {
            return format!("pwsh -File {}", file.path());
        }
        let name = cmdlet.positions.first().copied().unwrap_or_default();
        let mut code: Vec<&Word> = given.operands().collect();
        code.extend(
            ["membername", name]
                .iter()
                .filter_map(|name| given.value(name)),
        );
        if given.splatted {
            self.reading.note(Unfollowed::Evaluates);
        }
        let mut deletes = false;
        for word in code.into_iter().filter(|word| !word.block) {
            match (&word.known, &word.variable) {
                (Some(member), None) if name == "process" => {
                    let member = member.to_ascii_lowercase();
                    deletes |= member == "delete";
                    if !tables::is_property(&member) && !tables::is_harmless_method(&member) {
                        self.reading.note(Unfollowed::DynamicName);
                    }
                }
                (_, Some(variable)) if self.constants.is_assigned(variable) => {}
                _ => self.reading.note(Unfollowed::Evaluates),
            }
        }
        match deletes {
            true => format!("rm -r {}", self.places(cmdlet, &Given::default(), pipe)),
            false => handed_on(arguments, pipe),
        }
    }

    fn make(&mut self, cmdlet: &'static Cmdlet, given: &Given, arguments: &[&Word]) -> String {
        let kind = given.argument(cmdlet, "typename");
        let kind = kind.and_then(|kind| kind.known.as_deref());
        let harmless = kind.is_some_and(|kind| self.is_harmless_object(&kind.to_ascii_lowercase()));
        if !harmless || given.value("comobject").is_some() || given.splatted {
            self.reading.note(Unfollowed::DynamicName);
        }
        evaluated_words(arguments)
    }
}

/// What the command before lists.
fn listing(pipe: Pipe<'_>) -> Option<Listing> {
    let (words, _) = program_of(&pipe.before?.words);
    let words: Vec<&Word> = words.iter().collect();
    let (first, rest) = words.split_first()?;
    let cmdlet = tables::cmdlet(&first.bare()?).filter(|cmdlet| cmdlet.does == Does::List)?;
    let given = Given::of(Some(cmdlet), rest);
    if given.splatted {
        return None;
    }
    let places = match given.places(Some(cmdlet)) {
        places if places.trim().is_empty() => ".".to_owned(),
        places => places,
    };
    let filter = given
        .argument(cmdlet, "filter")
        .or_else(|| given.value("include"));
    Some(Listing {
        places,
        filter: filter.map(Word::path),
        recursive: given.switch("recurse"),
    })
}

/// A pattern as a word that a shell leaves alone.
fn tame(pattern: &str) -> String {
    pattern.replace('*', "\\*").replace('?', "\\?")
}

/// What a cmdlet that changes nothing still runs, and that it hands on what it reads.
fn handed_on(arguments: &[&Word], pipe: Pipe<'_>) -> String {
    let ran: Vec<&str> = arguments
        .iter()
        .filter(|word| word.shell.contains("$("))
        .map(|word| word.shell.as_str())
        .collect();
    match (ran.is_empty(), pipe.reads()) {
        (true, false) => String::new(),
        (true, true) => "cat".to_owned(),
        (false, _) => format!("cat <<< {}", ran.concat()),
    }
}

fn written(cmdlet: &'static Cmdlet, given: &Given, pipe: Pipe<'_>, program: &str) -> String {
    let path = ["path", "literalpath", "filepath"];
    let path = path.iter().find_map(|name| given.argument(cmdlet, name));
    let path = match (path, given.splatted) {
        (Some(path), false) => path.path(),
        (_, true) => unknown(),
        (None, false) => return "cat".to_owned(),
    };
    if is_memory(&path) {
        return String::new();
    }
    if is_registry(&path) {
        return format!("reg add {path}");
    }
    let program = match given.switch("append") {
        true => "tee -a",
        false => program,
    };
    let text = given
        .argument(cmdlet, "value")
        .or_else(|| given.value("inputobject"));
    match text.filter(|_| !pipe.reads()) {
        Some(text) => format!("echo {} | {program} {path}", text.shell),
        None => format!("{program} {path}"),
    }
}

fn create(cmdlet: &'static Cmdlet, given: &Given) -> String {
    if given.texts().any(is_registry) {
        return format!("reg add {}", given.all());
    }
    let kind = given.value("itemtype").or_else(|| given.value("type"));
    let kind = kind
        .and_then(|kind| kind.known.as_deref())
        .unwrap_or_default();
    let kind = kind.to_ascii_lowercase();
    let mut places = given.places(Some(cmdlet));
    if let Some(name) = given.value("name") {
        let name = name.path();
        places = match places.trim() {
            "" => name,
            places => format!("{places}/{name}"),
        };
    }
    if given.splatted {
        places.push(' ');
        places.push_str(&unknown());
    }
    if is_memory(places.trim()) {
        return String::new();
    }
    let target = given.value("target").or_else(|| given.value("value"));
    match target.filter(|_| kind.contains("link") || kind.contains("junction")) {
        Some(target) => format!("ln -s {} {places}", target.path()),
        None if kind.starts_with("dir") => format!("mkdir -p {places}"),
        None => format!("tee {places}"),
    }
}

fn fetch(cmdlet: &'static Cmdlet, given: &Given) -> String {
    let mut line = "curl".to_owned();
    if let Some(file) = given.value("outfile") {
        line.push_str(&format!(" -o {}", file.path()));
    }
    if let Some(body) = given.value("body") {
        line.push_str(&format!(" --data {}", body.shell));
    }
    if let Some(file) = given.value("infile") {
        line.push_str(&format!(" -T {}", file.path()));
    }
    if given.value("form").is_some() || given.splatted {
        // Fields of a table may be files.
        line.push_str(&format!(" --form x=@{}", unknown()));
    }
    let method = given
        .value("method")
        .or_else(|| given.value("custommethod"));
    if let Some(method) = method {
        line.push_str(&format!(" -X {}", method.path()));
    }
    let address = given.argument(cmdlet, "uri");
    let address = address.map_or_else(String::new, |address| address.shell.clone());
    format!("{line} {address}")
}

fn stop(cmdlet: &'static Cmdlet, given: &Given) -> String {
    let name = given.value("processname").or_else(|| given.value("name"));
    match name {
        Some(name) => format!("pkill {}", name.path()),
        None => {
            let ids = given.argument(cmdlet, "id");
            format!("kill -9 {}", ids.map_or_else(unknown, Word::path))
        }
    }
}
