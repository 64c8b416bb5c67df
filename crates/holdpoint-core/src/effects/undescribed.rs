//! What a program nobody has described would do, going by the words it is told: that it destroys something, and that it is
//! handed everything a person has.
//!
//! Promises nothing about what it does; whoever judges asks. A script by its path is read, and what takes its words for
//! data does nothing they say.

use super::places::{HOME, Place, ROOT, SECRET};
use super::reading::Reading;
use super::subject::plain_effect;
use super::{Effect, EffectKind};
use crate::catalogue::{self, Told};
use crate::rules::{self, target_bit};
use crate::shell::{RedirectionKind, Text};
use crate::understand::CommandView;

/// What it is told to destroy, and what of its words reaches everything.
pub(super) fn effects(
    view: &CommandView,
    reading: Option<Reading<'_>>,
    own: &[Effect],
) -> Vec<Effect> {
    let Some((program, known)) = view
        .program()
        .and_then(|program| Some((program, how_known(view, program, reading)?)))
    else {
        return Vec::new();
    };
    // What stands behind the own words of a wrapper belongs to a command it runs.
    let described = reading.filter(|reading| reading.program().is_some());
    let words = match described {
        Some(reading) => reading.words(),
        None => view.command.words.get(1..).unwrap_or_default(),
    };
    let mut told = Told::default();
    let mut before = "";
    for word in words {
        let flag_before = std::mem::replace(&mut before, word.text.as_str());
        match word.text.as_str() {
            "--help" | "-h" | "--version" | "--dry-run" | "--dryrun" | "help" => return Vec::new(),
            flag if flag.starts_with('-') => {
                let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
                if !matches!(value, "false" | "no" | "none" | "0") {
                    told.flags.push(name);
                }
            }
            _ if word.dynamic => told.operands.push(""),
            // A text for people is no statement.
            text if text.contains(' ')
                && (flag_before == "-m" || crate::supposed::tells(flag_before)) => {}
            operand => told.operands.push(operand),
        }
    }
    let mut found = Vec::new();
    let classed = |class: &'static str| {
        let place = Place {
            classes: target_bit(class),
            ..Place::default()
        };
        plain_effect(EffectKind::Either, program, place)
    };
    let given = view.command.redirects.iter().filter(|redirect| {
        matches!(
            redirect.kind,
            RedirectionKind::HereString | RedirectionKind::HereDocument
        )
    });
    let statements = |text: &str| {
        text.split(';')
            .any(|one| catalogue::is_statement(one.trim()))
    };
    // What no rule says of a program by its name, its words may say.
    if told.reveals() {
        found.push(classed("program-reveals"));
    }
    if told.pays() {
        found.push(classed("program-pays"));
    }
    if known == Known::ByRules {
        if told.by_subcommand() {
            found.push(classed("program-destroys"));
        }
        return found;
    }
    if told.sends() {
        found.push(classed("program-sends"));
    }
    if told.destroys()
        || given
            .into_iter()
            .any(|redirect| statements(&redirect.target.text))
    {
        found.push(classed("program-destroys"));
    }
    // What it is given to read it may show, or send.
    let fed = own.iter().filter(|effect| {
        let redirects = &mut view.command.redirects.iter();
        effect.kind == EffectKind::Read
            && effect.classes & SECRET != 0
            && redirects.any(|redirect| redirect.target.span == effect.span)
    });
    found.extend(fed.map(|effect| Effect {
        kind: EffectKind::Either,
        ..effect.clone()
    }));
    let set_to_disk = |word: &Text| {
        word.text
            .split_once('=')
            .is_some_and(|(_, value)| is_disk(value))
    };
    if !told.only_looks()
        && (own.iter().any(|effect| reaches_everything(view, effect))
            || words.iter().any(set_to_disk))
    {
        found.push(classed("program-reaches"));
    }
    found
}

/// How a program is known whose words are taken for what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nobody has said what it does with its words.
    Undescribed,
    /// Rules speak of some of its subcommands.
    ByRules,
}

/// How a program is known, if its words say what it does. One whose files are described, but of which no rule
/// speaks, destroys by its words like any other.
fn how_known(view: &CommandView, program: &str, reading: Option<Reading<'_>>) -> Option<Known> {
    // A script by its path is read; one of the installed programs has its name.
    let by_name = view.command.words.first().is_some_and(|word| {
        let installed = ["/bin/", "/sbin/", "/usr/", "/opt/"];
        word.text == program || installed.iter().any(|front| word.text.starts_with(front))
    });
    if !by_name || crate::supposed::is_data(program) {
        return None;
    }
    let described = reading.is_some_and(|reading| reading.program().is_some());
    // What a program runs has words of its own.
    let runs = || crate::shell::is_interpreter(program) || rules::loads(program).is_some();
    match described {
        false => (!crate::shell::is_program(program)).then_some(Known::Undescribed),
        true if !rules::is_named(program) => Some(Known::Undescribed),
        true => (!runs()).then_some(Known::ByRules),
    }
}

/// Whether a word is the whole home, the root, or a disk, and not just the directory to work in.
fn reaches_everything(view: &CommandView, effect: &Effect) -> bool {
    let whole = effect.classes & (HOME | ROOT) != 0;
    let disk = effect.place.path.as_deref().is_some_and(is_disk);
    if effect.kind != EffectKind::Either || !(whole || disk) {
        return false;
    }
    let words = &view.command.words;
    // In code that is nested all words have one span.
    let is_it = |word: &Text| word.span == effect.span && word.text.contains(&effect.text);
    let at = words.iter().skip(1).position(is_it);
    let Some(at) = at.map(|at| at + 1) else {
        return true;
    };
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    // `.` is the directory one is in, whichever that is.
    let named = text(at).contains(['/', '~', '$']);
    let flag = text(at).split('=').next().unwrap_or_default();
    let starts = STARTING.contains(&flag)
        || at
            .checked_sub(1)
            .is_some_and(|before| STARTING.contains(&text(before)));
    disk || (named && !starts)
}

/// Flags that say where a program works, or what it takes for its root.
const STARTING: [&str; 16] = [
    "-C",
    "-d",
    "-t",
    "-w",
    "--chdir",
    "--cwd",
    "--dir",
    "--directory",
    "--home",
    "--path",
    "--prefix",
    "--root",
    "--target",
    "--workdir",
    "--working-dir",
    "--workspace",
];

/// Whether a path is that of a disk or a part of one. A serial line is none.
fn is_disk(path: &str) -> bool {
    const DISKS: [&str; 11] = [
        "disk", "dm-", "hd", "mapper/", "md", "mmcblk", "nvme", "rdisk", "sd", "vd", "xvd",
    ];
    path.strip_prefix("/dev/")
        .is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}
