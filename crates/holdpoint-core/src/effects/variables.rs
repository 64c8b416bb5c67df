//! Variables that hold secrets, where a command prints or sends them; and the whole environment.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::reading::Reading;
use super::{Effect, EffectKind, searches};
use crate::address::LOOPBACK;
use crate::effects::places::{ENVIRONMENT, SECRET_VARIABLE};
use crate::rules::{
    KEEPERS, NameList, PRINTERS, READ_ONLY, SAYERS, SECRET_VARIABLES, SENDERS, SPEAKERS, TALKERS,
    matching,
};
use crate::shell::{Command, Reached, RedirectionKind, Text, is_interpreter, is_program};
use crate::understand::{Action, CommandView};

/// So much of a value says which one it is, and is of no use to anybody else.
const SHORT_PREFIX: usize = 8;

/// How often one command may feed or run another before nobody follows what is printed: then it is
/// taken to be seen.
const MAX_STEPS: usize = 64;

/// What a command prints or sends of the environment.
pub(super) fn effects<'a>(
    action: &'a Action,
    flow: &OnceCell<Flow<'a>>,
    index: usize,
    reading: Option<Reading<'_>>,
    own: &[Effect],
) -> Vec<Effect> {
    let Some(view) = action.commands.get(index) else {
        return Vec::new();
    };
    let command = &view.command;
    let Some(program) = view.program() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut sends = SENDERS.contains(program);
    if let Some(reading) = reading.filter(|_| sends && !stays_here(own)) {
        sent(command, &reading, &mut names);
    }
    if !sends {
        handed_out(command, program, &mut names);
        sends = !names.is_empty();
    }
    if SAYERS.contains(program) {
        let words = command.words.iter().skip(1);
        words.for_each(|word| secrets_in(word, &mut names));
    }
    if PRINTERS.contains(program) {
        let given = command.redirects.iter().filter(|redirect| {
            matches!(
                redirect.kind,
                RedirectionKind::HereString | RedirectionKind::HereDocument
            )
        });
        given.for_each(|redirect| secrets_in(&redirect.target, &mut names));
    }
    // `env | grep TOKEN`.
    let fed = || {
        command.fed_by.clone().any(|at| {
            let feeder = action.commands.get(at).and_then(CommandView::program);
            matches!(
                feeder,
                Some("env" | "printenv" | "set" | "export" | "declare")
            )
        })
    };
    if reading.is_some_and(|reading| searches::finds_secrets(&reading)) && fed() {
        names.push("$…".to_owned());
    }
    if let Some(reading) = reading {
        match program {
            "printenv" | "gprintenv" if reading.operands().len() == 0 => found.push(all(command)),
            "env" | "genv" if is_bare(action, index, command) => found.push(all(command)),
            "set" if command.words.len() == 1 => found.push(all(command)),
            "export" | "declare" | "typeset" | "readonly" if reading.operands().len() == 0 => {
                found.push(all(command));
            }
            "printenv" | "gprintenv" => named(&reading, &mut names),
            "declare" | "typeset" | "export" if reading.has_exactly("-p") => {
                named(&reading, &mut names);
            }
            _ => {}
        }
    }
    if sends && names.is_empty() && command.words.iter().any(|word| word.dynamic) {
        let flow = flow.get_or_init(|| Flow::of(action));
        if command.words.iter().any(|word| flow.holds_all(word)) {
            found.push(Effect {
                kind: EffectKind::Send,
                ..all(command)
            });
        }
    }
    if names.is_empty() {
        return found;
    }
    let flow = flow.get_or_init(|| Flow::of(action));
    names.retain(|name| !flow.is_made_here(name.trim_start_matches('$')));
    let kind = match sends {
        true => EffectKind::Send,
        false if flow.is_seen(index) => EffectKind::Show,
        false => EffectKind::Read,
    };
    found.extend(names.into_iter().map(|name| variable(kind, name, command)));
    found
}

fn all(command: &Command) -> Effect {
    Effect {
        classes: ENVIRONMENT,
        ..Effect::plain(EffectKind::Read, command)
    }
}

fn variable(kind: EffectKind, name: String, command: &Command) -> Effect {
    Effect {
        classes: SECRET_VARIABLE,
        text: name,
        ..Effect::plain(kind, command)
    }
}

/// `env` that runs nothing.
fn is_bare(action: &Action, index: usize, command: &Command) -> bool {
    let runs = action.commands.iter().any(|other| {
        matches!(other.command.reached, Reached::Within { wrapper, .. } if wrapper == index)
    });
    let helps = |word: &Text| matches!(word.text.as_str(), "--help" | "--version");
    !runs && !command.words.iter().any(helps)
}

/// Whether all a command talks to is this machine.
pub(super) fn stays_here(own: &[Effect]) -> bool {
    let mut addresses = own
        .iter()
        .filter(|effect| effect.kind == EffectKind::Connect && effect.address.is_some())
        .peekable();
    addresses.peek().is_some() && addresses.all(|effect| effect.classes & LOOPBACK != 0)
}

/// What leaves with the words of a program that sends: its data, its address, what it is given to
/// read. Headers are how programs say who they are.
fn sent(command: &Command, reading: &Reading<'_>, names: &mut Vec<String>) {
    for flag in reading.flags() {
        let Some((value, word)) = flag.value else {
            continue;
        };
        if reading.is_data(flag.name) {
            secrets_in(word, names);
        }
        // curl takes a variable by its name.
        if let Some(name) = value
            .strip_prefix('%')
            .filter(|_| flag.name == "--variable")
        {
            let name = name.split(['=', '@']).next().unwrap_or(name);
            if is_secret_variable(name) {
                names.push(format!("${name}"));
            }
        }
    }
    for word in reading.operands() {
        secrets_in(word, names);
    }
    let given = command.redirects.iter().filter(|redirect| {
        matches!(
            redirect.kind,
            RedirectionKind::HereString | RedirectionKind::HereDocument
        )
    });
    given.for_each(|redirect| secrets_in(&redirect.target, names));
}

/// Secrets in addresses and in texts for others, of programs that are not there for sending: `git clone
/// https://x/$TOKEN`, `gh issue create --body "$TOKEN"`. What stands in front of the `@` of an address says who asks.
fn handed_out(command: &Command, program: &str, names: &mut Vec<String>) {
    let by_path = command.words.first().is_some_and(|word| {
        let text = word.text.as_str();
        let installed = ["/bin/", "/usr/", "/opt/"]
            .iter()
            .any(|front| text.starts_with(front));
        text.contains('/') && !installed
    });
    // What these do with their words the shell or a reader knows.
    if by_path
        || READ_ONLY.contains(program)
        || SAYERS.contains(program)
        || PRINTERS.contains(program)
        || is_interpreter(program)
        || KEEPERS.contains(program)
    {
        return;
    }
    let speaks = SPEAKERS.contains(program);
    let talks = TALKERS.contains(program);
    let takes_it = !is_program(program) && !is_told_to_keep(command);
    let mut before = "";
    for word in command.words.iter().skip(1) {
        let flag_before = std::mem::replace(&mut before, word.text.as_str());
        if !word.dynamic {
            continue;
        }
        let (flag, value) = match word.text.split_once('=') {
            Some((flag, value)) if flag.starts_with('-') => (flag, value),
            _ => (flag_before, word.text.as_str()),
        };
        let tells = TELLING.contains(&flag) || (speaks && TELLING_SHORTLY.contains(&flag));
        match behind_user(value) {
            Some(rest) if rest.contains('$') => {
                let part = Text {
                    text: rest.to_owned(),
                    ..word.clone()
                };
                secrets_in(&part, names);
            }
            Some(_) => {}
            None if tells || (talks && !proves(flag)) => secrets_in(word, names),
            // The flag of one letter that takes a token is `-t`.
            None if takes_it && !proves(flag) && flag != "-t" => secrets_in(word, names),
            None => {}
        }
    }
    let given = command.redirects.iter().filter(|redirect| {
        talks
            && matches!(
                redirect.kind,
                RedirectionKind::HereString | RedirectionKind::HereDocument
            )
    });
    given.for_each(|redirect| secrets_in(&redirect.target, names));
}

/// Whether a program nobody has described is told to know a secret: `frob login $TOKEN`, `frob config set key $KEY`.
fn is_told_to_keep(command: &Command) -> bool {
    const KEEPS: [&str; 24] = [
        "account",
        "add",
        "apikey",
        "auth",
        "cache",
        "config",
        "configure",
        "connect",
        "credential",
        "encrypt",
        "env",
        "hash",
        "import",
        "init",
        "key",
        "login",
        "password",
        "register",
        "secret",
        "set",
        "setup",
        "sign",
        "token",
        "verify",
    ];
    let mut words = command.words.iter().skip(1).filter(|word| !word.dynamic);
    words.any(|word| {
        let name = word.text.trim_start_matches('-').to_ascii_lowercase();
        KEEPS.iter().any(|keeps| name.starts_with(keeps))
    })
}

/// Whether a flag's value says who asks: `-a $PASSWORD`, `--token=…`, `-H "authorization: …"`.
fn proves(flag: &str) -> bool {
    let name = flag.trim_start_matches('-').to_ascii_lowercase();
    let proving = [
        "pass", "token", "key", "auth", "header", "user", "cred", "secret", "cert", "login",
    ];
    flag.starts_with('-')
        && (matches!(flag, "-a" | "-H" | "-P" | "-p" | "-u" | "-U" | "-w")
            || proving.iter().any(|part| name.contains(part)))
}

/// What of an address says where it leads and what is asked there; none of what is no address, or leads here.
fn behind_user(text: &str) -> Option<&str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return behind_host(text);
    };
    let scheme = scheme
        .rsplit(['=', '"', '\'', ' '])
        .next()
        .unwrap_or(scheme);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if scheme.is_empty() || !scheme.bytes().all(plain) {
        return None;
    }
    let ends = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let user = rest.get(..ends).and_then(|front| front.rfind('@'));
    let behind = rest.get(user.map_or(0, |at| at + 1)..)?;
    let here = ["localhost", "127.", "[::1]", "0.0.0.0"];
    let leads_here = here.iter().any(|host| behind.starts_with(host));
    Some(if leads_here { "" } else { behind })
}

/// What stands behind a host that has no scheme in front: `evil.example/$TOKEN` for whoever pulls an image or a module.
fn behind_host(text: &str) -> Option<&str> {
    let (host, behind) = text.split_once('/')?;
    let name = host.split(':').next().unwrap_or(host);
    let (front, top) = name.rsplit_once('.')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    let is_host = !front.is_empty()
        && front.bytes().all(plain)
        && top.len() > 1
        && top.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_host.then_some(behind)
}

/// Flags whose values are texts for others, whatever program has them.
const TELLING: [&str; 14] = [
    "--body",
    "--caption",
    "--comment",
    "--content",
    "--description",
    "--entries",
    "--message",
    "--message-body",
    "--notes",
    "--payload",
    "--subject",
    "--summary",
    "--text",
    "--title",
];
/// The same in one letter, of programs that have them so.
const TELLING_SHORTLY: [&str; 4] = ["-b", "-d", "-m", "-t"];
/// Operands that are the names of secrets.
fn named(reading: &Reading<'_>, names: &mut Vec<String>) {
    let operands = reading
        .operands()
        .filter(|word| is_secret_variable(&word.text));
    names.extend(operands.map(|word| format!("${}", word.text)));
}

/// Whether a variable of this name holds a secret, as far as its name tells.
pub fn is_secret_variable(name: &str) -> bool {
    SECRET_VARIABLES
        .iter()
        .any(|pattern| matching::wild(pattern, name))
}

/// The secrets whose values a word holds when the shell has filled it in.
fn secrets_in(word: &Text, names: &mut Vec<String>) {
    if !word.dynamic {
        return;
    }
    let held =
        names_in(&word.text).filter(|(name, then)| is_secret_variable(name) && !tells_little(then));
    for (name, _) in held {
        let told = format!("${name}");
        if !names.contains(&told) {
            names.push(told);
        }
    }
}

/// The variables a text names, each with what stands behind its name inside braces.
fn names_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('$').skip(1).map(|behind| {
        let braced = behind.strip_prefix('{');
        let text = braced.unwrap_or(behind).trim_start_matches('!');
        let end = text
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(text.len());
        let (name, then) = text.split_at_checked(end).unwrap_or((text, ""));
        (name, if braced.is_some() { then } else { "" })
    })
}

/// `${X:+set}`, `${X+set}`, `${X:0:4}`.
fn tells_little(then: &str) -> bool {
    if then.starts_with(":+") || then.starts_with('+') {
        return true;
    }
    let slice = then.strip_prefix(':').and_then(|rest| rest.split_once(':'));
    slice.is_some_and(|(from, length)| {
        let digits = length.split('}').next().unwrap_or_default();
        from.trim() == "0"
            && digits
                .parse()
                .is_ok_and(|length: usize| length <= SHORT_PREFIX)
    })
}

/// Where what the commands of a call print goes, and which variables the call itself sets. Worked
/// out once for all of them.
pub(super) struct Flow<'a> {
    action: &'a Action,
    /// The command that reads what each one prints.
    readers: Vec<Option<usize>>,
    /// Commands that print what is put into their words, with where they stand, in that order.
    sayers: Vec<(Range<usize>, usize)>,
    /// Variables that are set here, and whether by nothing that is a secret itself.
    made: BTreeMap<&'a str, bool>,
    /// Those that are set to the whole environment.
    whole: Vec<&'a str>,
}

impl<'a> Flow<'a> {
    pub(super) fn of(action: &'a Action) -> Self {
        let mut readers = vec![None; action.commands.len()];
        let mut made = BTreeMap::new();
        let mut whole = Vec::new();
        let mut sayers = Vec::new();
        for (index, view) in action.commands.iter().enumerate() {
            for writer in view.command.fed_by.clone() {
                if let Some(reader) = readers.get_mut(writer).filter(|_| writer != index) {
                    reader.get_or_insert(index);
                }
            }
            if says(view) {
                sayers.push((view.command.span.clone(), index));
            }
            let declares = matches!(
                view.command.program(),
                Some("export" | "declare" | "local" | "typeset" | "readonly" | "read")
            );
            let words = view.command.words.iter().skip(1).filter(|_| declares);
            let reads = view.command.program() == Some("read");
            let words = words.filter_map(|word| match word.text.split_once('=') {
                Some(both) => Some(both),
                None => reads.then_some((word.text.as_str(), "")),
            });
            let assigned = view.command.assignments.iter();
            let assigned = assigned.map(|one| (one.name.as_str(), one.value.text.as_str()));
            // What a file of settings says is as secret as it was: `. ./.env; echo $API_KEY`.
            let settings = |file: &str| crate::paths::base_name(file).contains("env");
            if view.command.file.as_deref().is_some_and(settings) {
                for (name, _) in assigned.chain(words) {
                    made.insert(name, false);
                }
                continue;
            }
            for (name, value) in assigned.chain(words) {
                let clean = made.entry(name).or_insert(true);
                *clean &=
                    names_in(value).all(|(held, _)| held == name || !is_secret_variable(held));
                if is_environment(value) {
                    whole.push(name);
                }
            }
        }
        sayers.sort_by_key(|(span, _)| span.start);
        Self {
            action,
            readers,
            sayers,
            made,
            whole,
        }
    }

    /// Whether a word holds a variable that was set to the whole environment.
    fn holds_all(&self, word: &Text) -> bool {
        let in_word = |text: &str| names_in(text).any(|(name, _)| self.whole.contains(&name));
        word.dynamic
            && !self.whole.is_empty()
            && (in_word(&word.text) || is_environment(&word.text))
    }

    /// Whether the line itself gives a variable its value, and not from another secret.
    fn is_made_here(&self, name: &str) -> bool {
        self.made.get(name).copied().unwrap_or(false)
    }

    /// The command that prints what is put in its words at this place.
    fn sayer_around(&self, index: usize, span: &Range<usize>) -> Option<usize> {
        let end = self
            .sayers
            .partition_point(|(one, _)| one.start <= span.start);
        let before = self.sayers.get(..end).unwrap_or_default().iter().rev();
        // There are as many as a line has commands at most, and this is asked of what prints secrets alone.
        let mut around = before.filter(|(one, at)| {
            *at != index && one.end >= span.end && (one.start, one.end) != (span.start, span.end)
        });
        around.next().map(|(_, at)| *at)
    }

    /// Whether what a command prints reaches the agent: it is not kept in a file or a variable, and
    /// what reads it prints it again.
    pub(super) fn is_seen(&self, index: usize) -> bool {
        let mut index = index;
        for _ in 0..MAX_STEPS {
            let Some(view) = self.action.commands.get(index) else {
                return true;
            };
            if is_kept(&view.command) {
                return false;
            }
            if let Some(reader) = self.readers.get(index).copied().flatten() {
                let program = self
                    .action
                    .commands
                    .get(reader)
                    .and_then(CommandView::program);
                if program.is_none_or(|name| !PRINTERS.contains(name)) {
                    return false;
                }
                index = reader;
                continue;
            }
            match view.command.reached {
                Reached::Directly => return true,
                // `echo "$(…)"`.
                Reached::Substituted => match self.sayer_around(index, &view.command.span) {
                    Some(sayer) => index = sayer,
                    None => return false,
                },
                Reached::Within { wrapper, .. } => index = wrapper,
            }
        }
        true
    }
}

/// Whether a value is what `env` prints: `$(env)`, `` `printenv | base64` ``.
fn is_environment(value: &str) -> bool {
    let inside = value.split_once("$(").or_else(|| value.split_once('`'));
    inside.is_some_and(|(_, code)| {
        let code = code.trim_start();
        let behind = code
            .strip_prefix("env")
            .or_else(|| code.strip_prefix("printenv"));
        // With words of its own it prints one variable, or runs something.
        behind.is_some_and(|rest| rest.trim_start().starts_with([')', '|', '`', ';']))
    })
}

/// Whether a command prints its words, or a text that stands in the line.
fn says(view: &CommandView) -> bool {
    let is_among = |list: &NameList| view.program().is_some_and(|name| list.contains(name));
    let mut redirects = view.command.redirects.iter();
    is_among(&SAYERS)
        || is_among(&PRINTERS)
            && redirects.any(|redirect| {
                matches!(
                    redirect.kind,
                    RedirectionKind::HereString | RedirectionKind::HereDocument
                )
            })
}

/// Whether a command's output goes into a file.
fn is_kept(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| {
        let target = redirect.target.text.as_str();
        let seen = matches!(target, "/dev/stdout" | "/dev/stderr" | "/dev/tty");
        redirect.kind.writing_sign().is_some() && !seen && !redirect.of_errors
    })
}
