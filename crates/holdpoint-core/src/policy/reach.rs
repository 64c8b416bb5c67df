//! How far a pattern that allows reaches: in a path its wildcards stay in the directory it names.
//!
//! `*` crosses everything (J-13), so as text `cat src/*` matches `cat src/../../etc/passwd`, a link in
//! `src` that leads elsewhere, and `cat src/a /etc/passwd`. Whoever wrote it meant what lies below
//! `src`. So the words of a command are laid against the words of the pattern, and what a wildcard
//! in a path stands for must lead into its directory, links followed. A star that stands alone
//! still means anything: `cat *` names no directory.

use crate::glob::Glob;
use crate::paths::{self, Surroundings, Unresolved, is_within};
use crate::rules;
use crate::shell::{Whereabouts, joined};
use crate::understand::{Action, CommandView, INNER_SPACE, collect_texts};

/// The most words of a command that are laid against a pattern; nobody means more by a wildcard.
const MAX_WORDS: usize = 512;

/// Stands for a directory nobody told, so that paths can still be compared with each other.
const SOMEWHERE: &str = "/\u{e001}/\u{e001}/\u{e001}/\u{e001}/\u{e001}/\u{e001}/\u{e001}/\u{e001}";

/// What a word of a pattern may stand for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted<'p> {
    /// Itself.
    Fixed,
    /// Any words.
    Open,
    /// Words that begin like this and lead below this directory; those that are no flags end like this.
    Below {
        start: &'p str,
        directory: &'p str,
        ending: &'p str,
    },
    /// A word that begins like this and leads below where the command runs; then any words.
    Begun(&'p str),
}

/// Whether everything a pattern's wildcards stand for in a command lies where the pattern says.
/// `text` is what the pattern matched, word by word.
pub(super) fn stays(
    pattern: &str,
    text: &str,
    command: &CommandView,
    around: &Surroundings<'_>,
) -> bool {
    let words: Vec<&str> = pattern.split(' ').collect();
    let program = text.split(' ').next().unwrap_or_default();
    if words.first().is_some_and(|first| goes_on(first, program)) {
        return false;
    }
    let wanted: Vec<Wanted<'_>> = (0..)
        .zip(&words)
        .map(|(index, word)| wanted(index, word, words.first().copied()))
        .collect();
    let bounded = |one: &Wanted<'_>| matches!(one, Wanted::Below { .. } | Wanted::Begun(_));
    if !wanted.iter().any(bounded) {
        return true;
    }
    // The line as it was read has no quotes; the line as it was written may have some.
    let as_read = text.starts_with(command.line());
    let given: Vec<String> = text
        .split(' ')
        .map(|word| handed_on(word, as_read))
        .collect();
    // Behind signs that the shell fills in, words are not what they look like.
    let filled_in = !as_read && text.contains(['{', '$', '`', '~']);
    if given.len() > MAX_WORDS || filled_in {
        return false;
    }
    let ground = Ground::of(command, around);
    // What a command reads besides is no word of it, and must lie there as well.
    let open = wanted.contains(&Wanted::Open);
    let read = command
        .command
        .redirects
        .iter()
        .filter(|one| one.kind == crate::shell::RedirectionKind::Read);
    let read_there = |target: &str| {
        wanted.iter().any(|one| match one {
            Wanted::Below { directory, .. } => ground.leads_below(target, directory),
            Wanted::Begun(_) => ground.leads_below(target, ""),
            Wanted::Fixed | Wanted::Open => false,
        })
    };
    if !open && !read.into_iter().all(|one| read_there(&one.target.text)) {
        return false;
    }
    laid_against(&words, &wanted, &given, &ground)
}

/// Whether the words can be laid against the pattern's, each wildcard taking one or more; a star that is
/// the last word may take none.
fn laid_against(
    words: &[&str],
    wanted: &[Wanted<'_>],
    given: &[String],
    ground: &Ground<'_>,
) -> bool {
    // The places in `given` that the pattern's words so far can end at.
    let mut ends = vec![false; given.len() + 1];
    if let Some(first) = ends.first_mut() {
        *first = true;
    }
    for (index, (word, wanted)) in words.iter().zip(wanted).enumerate() {
        let may_be_missing = *word == "*" && index > 0 && index + 1 == words.len();
        let mut next = match may_be_missing {
            true => ends.clone(),
            false => vec![false; given.len() + 1],
        };
        // Whether a run of words that this one stands for goes on to here.
        let mut running = false;
        for (at, one) in given.iter().enumerate() {
            let begins = ends.get(at).copied().unwrap_or_default();
            running = match wanted {
                Wanted::Fixed => begins && Glob::new(word).matches(one),
                Wanted::Open => begins || running,
                Wanted::Below {
                    start,
                    directory,
                    ending,
                } => {
                    ((begins && one.starts_with(start)) || running)
                        && (one.starts_with('-') || one.ends_with(ending))
                        && ground.word_leads_below(one, directory)
                }
                Wanted::Begun(start) => {
                    running
                        || (begins && one.starts_with(start) && ground.word_leads_below(one, ""))
                }
            };
            if running && let Some(end) = next.get_mut(at + 1) {
                *end = true;
            }
            running &= *wanted != Wanted::Fixed;
        }
        ends = next;
    }
    ends.last().copied().unwrap_or_default()
}

/// What the word at `index` of a pattern may stand for.
fn wanted<'p>(index: usize, word: &'p str, program: Option<&str>) -> Wanted<'p> {
    let Some(at) = word.find(['*', '?', '[']) else {
        return Wanted::Fixed;
    };
    if Glob::new(word).only().is_some() {
        return Wanted::Fixed;
    }
    let start = word.get(..at).unwrap_or_default();
    let only_wild = word.chars().all(|sign| matches!(sign, '*' | '?'));
    let bare_flag = word.starts_with('-') && !word.contains('/');
    if only_wild || bare_flag || (index == 0 && !start.contains('/')) {
        return Wanted::Open;
    }
    // `*.log` is of no other file, however many there are.
    let ending = word
        .rsplit(['*', '?', ']'])
        .next()
        .filter(|ending| !ending.contains('/'))
        .unwrap_or_default();
    let directory = path_part(start);
    if let Some((directory, _)) = directory.rsplit_once('/') {
        let directory = if directory.is_empty() { "/" } else { directory };
        return Wanted::Below {
            start,
            directory,
            ending,
        };
    }
    // `*.md` and `s*/x` are paths that start where the command runs. Of `diff*` nobody knows whether it
    // is one, unless the program takes nothing else.
    let takes_files = || {
        rules::program(program.unwrap_or_default())
            .is_some_and(|known| known.cases.is_empty() && known.roles.operands.is_some())
    };
    if start.is_empty() || word.contains('/') || takes_files() {
        return Wanted::Below {
            start,
            directory: "",
            ending,
        };
    }
    Wanted::Begun(start)
}

/// Whether a star behind the name of a program would stand for more of a name: `head*` is of what `head` is told, and says
/// nothing of `headroom`. Of `python*` and `python3`, `git*` and `git-lfs` it does.
fn goes_on(first: &str, program: &str) -> bool {
    let Some(stem) = first.strip_suffix('*') else {
        return false;
    };
    let more = program.strip_prefix(stem).unwrap_or_default();
    more.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && !stem.contains(['*', '?', '[', '/'])
        && crate::shell::is_program(stem)
}

/// What of a word is a path, if anything of it is: behind `--flag=`, behind `-f`.
fn path_part(word: &str) -> &str {
    if !word.starts_with('-') {
        return word;
    }
    match word.split_once('=') {
        Some((_, value)) => value,
        None => {
            let mut signs = word.chars();
            signs.by_ref().take(2).for_each(drop);
            signs.as_str()
        }
    }
}

/// A word as the shell hands it on.
fn handed_on(word: &str, as_read: bool) -> String {
    word.chars()
        .filter(|sign| as_read || !matches!(sign, '"' | '\'' | '\\'))
        .map(|sign| if sign == INNER_SPACE { ' ' } else { sign })
        .collect()
}

/// Whether the paths and addresses of a call lie where a pattern for its text form says:
/// `Read(file_path=src/*)`.
pub(super) fn form_stays(pattern: &str, view: &Action, around: &Surroundings<'_>) -> bool {
    let Some((_, arguments)) = pattern.split_once('(') else {
        return true;
    };
    let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
    let values = arguments
        .split(", ")
        .map(|one| one.split_once('=').map_or(one, |(_, value)| value));
    let directories: Vec<&str> = values
        .filter(|value| value.contains('/') || value.starts_with("*."))
        .filter_map(|value| match wanted(1, value, None) {
            Wanted::Below { directory, .. } => Some(directory),
            Wanted::Begun(_) => Some(""),
            Wanted::Fixed | Wanted::Open => None,
        })
        .collect();
    directories.is_empty() || lies_in(&directories, view, around)
}

/// Whether an argument's texts, as far as they are paths, lie below the directory a rule names.
pub(super) fn value_stays(
    directory: &str,
    texts: &[String],
    view: &Action,
    around: &Surroundings<'_>,
) -> bool {
    let is_path = |text: &&String| view.paths().iter().any(|path| path.text == **text);
    let ground = Ground::of_call(around);
    texts
        .iter()
        .filter(is_path)
        .all(|text| ground.leads_below(text, directory))
}

fn lies_in(directories: &[&str], view: &Action, around: &Surroundings<'_>) -> bool {
    let ground = Ground::of_call(around);
    let lies = |text: &str| directories.iter().any(|one| ground.leads_below(text, one));
    let addresses = directories.iter().any(|one| is_address(one));
    let mut all = true;
    if addresses {
        for value in view.call.input().values() {
            collect_texts(value, &mut |text| all &= !is_address(text) || lies(text));
        }
    }
    let places = directories.iter().any(|one| !is_address(one));
    all && (!places
        || view
            .paths()
            .iter()
            .all(|path| !path.dynamic && lies(&path.text)))
}

/// Whether an argument's value is an address and nothing else.
fn is_address(text: &str) -> bool {
    text.contains(":/")
        && !text
            .get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case("file:"))
}

/// Where the paths of a command start.
struct Ground<'a> {
    around: Surroundings<'a>,
    /// Where the command may stand, from where the call starts.
    places: &'a [String],
    /// It may stand elsewhere, too.
    unknown: bool,
    /// Its files are not this machine's.
    contained: bool,
}

impl<'a> Ground<'a> {
    fn of(command: &'a CommandView, around: &Surroundings<'a>) -> Self {
        let Whereabouts { places, unknown } = &*command.command.directory;
        Self {
            around: known(around),
            places,
            unknown: *unknown,
            contained: command.command.container.is_some(),
        }
    }

    fn of_call(around: &Surroundings<'a>) -> Self {
        Self {
            around: known(around),
            places: &[],
            unknown: false,
            contained: false,
        }
    }

    /// Whether a word, or what of it could be a path, leads below a directory.
    fn word_leads_below(&self, word: &str, directory: &str) -> bool {
        if word.len() > 1 && word.starts_with('-') {
            let value = path_part(word);
            let path = word.contains('/') || value.starts_with(['~', '.']);
            return !path || self.leads_below(value, directory);
        }
        self.leads_below(word, directory)
    }

    fn leads_below(&self, path: &str, directory: &str) -> bool {
        if path.contains(['*', '?', '[']) && paths::climbs(path) {
            // Out of what a wildcard stands for, which may be a link.
            return false;
        }
        if is_address(path) || is_address(directory) {
            return is_within(&tidy_address(path), &tidy_address(directory))
                && is_address(path) == is_address(directory);
        }
        let anchored = path.starts_with(['/', '~']);
        if self.unknown && !anchored {
            return false;
        }
        let from = [String::new()];
        let from = match self.places {
            [] => &from,
            _ if self.contained => &from,
            places => places,
        };
        let grounds = self.directories(directory);
        from.iter().all(|place| {
            let there = self.around.resolve(&joined(place, path));
            there.is_ok_and(|there| grounds.iter().any(|ground| is_within(&there, ground)))
        })
    }

    /// Where a directory of a pattern may lie: it starts in the workspace, and where the call starts if
    /// that is in it.
    fn directories(&self, directory: &str) -> Vec<String> {
        let directory = if directory.is_empty() { "." } else { directory };
        let mut found: Vec<String> = Vec::new();
        found.extend(self.around.resolve_root(directory));
        let inside = |(here, workspace): (String, String)| is_within(&here, &workspace);
        let here: Result<(String, String), Unresolved> =
            (|| Ok((self.around.resolve(".")?, self.around.resolve_root(".")?)))();
        if here.is_ok_and(inside) {
            found.extend(self.around.resolve(directory));
        }
        found
    }
}

/// The surroundings with a directory and a home, so that paths can be compared whatever is known.
fn known<'a>(around: &Surroundings<'a>) -> Surroundings<'a> {
    Surroundings {
        workspace: around.workspace.or(around.directory).or(Some(SOMEWHERE)),
        home: around.home.or(Some(SOMEWHERE)),
        ..*around
    }
}

/// An address with its path tidied, as whoever fetches it does.
fn tidy_address(text: &str) -> String {
    let text = text.replace("%2e", ".").replace("%2E", ".");
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let mut components: Vec<&str> = Vec::new();
    for component in rest.split(['/', '\\']) {
        match component {
            "" | "." => {}
            // The host stays whatever is climbed.
            ".." => components.truncate(components.len().saturating_sub(1).max(1)),
            other => components.push(other),
        }
    }
    format!("{}:/{}", scheme.to_ascii_lowercase(), components.join("/"))
}
