//! What a session has made and started, remembered beside its state, so that taking it away again needs no question.
//!
//! Before a call runs, what it would make where nothing lies yet is noted; once its result is told, what lies there now
//! is remembered by device, inode and birth, and what it left running by process id and start. A name alone says nothing:
//! what somebody else has put there since is not the session's. The list is only ever added to, and one that cannot be read
//! holds nothing.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Instant, SystemTime};

use holdpoint_core::paths::is_within;
use holdpoint_core::{ToolCall, digest_of};
use serde::{Deserialize, Serialize};

use crate::store::{append_private, read_bounded};

#[cfg(target_os = "linux")]
mod processes;

/// The longest list, some thousand entries: what a session makes beyond that is asked about.
const MAX_LIST: u64 = 512 << 10;

/// The most things that are noted of one call.
const MAX_NOTED: usize = 64;

/// The most entries below a directory that are looked at to know that all of them are as young as it is, and for how
/// long: a hook has to answer. A larger tree is not the session's own.
const MAX_ENTRIES: usize = 50_000;
const MAX_WALK_MS: u128 = 300;

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// A call that is about to run, and what it would make.
    Expected {
        call: String,
        #[serde(default)]
        makes: Vec<String>,
        /// When the hook was started that let it run, if it may leave something running.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        starts: Option<u64>,
        /// It opens terminals of tmux.
        #[serde(default)]
        terminals: bool,
    },
    Made(Made),
    Started(Started),
    /// A call that the agent's own dialog asks about, and the rules that would answer for it.
    Asked {
        asked: String,
        forms: Vec<Vec<String>>,
    },
    /// It ran, so somebody has released it.
    Answered {
        answered: String,
    },
}

/// What a session has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    path: String,
    #[serde(flatten)]
    identity: Identity,
}

/// What tells a file or directory from every other, also from a later one of the same name and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970, which fit for five hundred years.
    born: u64,
}

impl Identity {
    /// None where nothing is, or the file system does not say when it was made.
    #[cfg(unix)]
    fn at(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::symlink_metadata(path).ok()?;
        let born = found.created().ok()?;
        let born = born.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            born: u64::try_from(born.as_nanos()).ok()?,
        })
    }

    #[cfg(not(unix))]
    fn at(_: &Path) -> Option<Self> {
        None
    }
}

/// A process a session has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Started {
    process: u32,
    /// In ticks of the system's clock since it was started.
    start: u64,
}

/// What a call may leave running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    Nothing,
    Processes,
    Terminals,
}

impl Leaving {
    /// By what stands in a line: what is not noted is only asked about later.
    pub(crate) fn from_call(call: &ToolCall, line: &str) -> Self {
        let opens = [
            "new",
            "new-session",
            "new-window",
            "neww",
            "split-window",
            "splitw",
        ];
        let mut words = line.split_whitespace();
        if line.contains("tmux ") && words.any(|word| opens.contains(&word)) {
            return Self::Terminals;
        }
        let background = call.input().get("run_in_background");
        let background = background.and_then(serde_json::Value::as_bool) == Some(true);
        let mut bare = line.to_owned();
        for joined in ["&&", ">&", "&>", "|&"] {
            bare = bare.replace(joined, "");
        }
        match background || bare.contains('&') {
            true => Self::Processes,
            false => Self::Nothing,
        }
    }
}

/// What tells a call from others when its result is told: an agent repeats its tool and its arguments.
pub(crate) fn digest_of_call(call: &ToolCall) -> String {
    let input = serde_json::to_string(call.input()).unwrap_or_default();
    digest_of(format!("{}\n{input}", call.tool()).as_bytes())
}

/// Notes what a call would make, and that it may leave something running, before it runs.
pub(crate) fn expect(
    list: &Path,
    call: &str,
    makes: Vec<String>,
    leaving: Leaving,
) -> io::Result<()> {
    let terminals = leaving == Leaving::Terminals;
    let starts = (leaving != Leaving::Nothing).then(own_start).flatten();
    if makes.is_empty() && starts.is_none() {
        return Ok(());
    }
    let makes = makes.into_iter().take(MAX_NOTED).collect();
    add(
        list,
        &[Line::Expected {
            call: call.to_owned(),
            makes,
            starts,
            terminals,
        }],
    )
}

/// Remembers what a call has made and left running, now that it has ended.
pub(crate) fn confirm(list: &Path, call: &str) -> io::Result<()> {
    let lines = read(list);
    let expected = lines.iter().rev().find_map(|line| match line {
        Line::Expected {
            call: one,
            makes,
            starts,
            terminals,
        } if one == call => Some((makes, starts, *terminals)),
        Line::Expected { .. }
        | Line::Made(_)
        | Line::Started(_)
        | Line::Asked { .. }
        | Line::Answered { .. } => None,
    });
    let Some((makes, starts, terminals)) = expected else {
        return Ok(());
    };
    let made = makes.iter().filter_map(|path| {
        let identity = Identity::at(Path::new(path))?;
        let path = path.clone();
        Some(Line::Made(Made { path, identity }))
    });
    let started = starts
        .iter()
        .flat_map(|since| started_since(*since, terminals));
    let found: Vec<Line> = made.chain(started.map(Line::Started)).collect();
    let new: Vec<Line> = (found.into_iter())
        .filter(|line| !lines.contains(line))
        .collect();
    match new.is_empty() {
        true => Ok(()),
        false => add(list, &new),
    }
}

/// Notes that the agent's own dialog asks about a call, and which rules would have answered for it.
pub(crate) fn expect_answer(list: &Path, call: &str, forms: Vec<Vec<String>>) -> io::Result<()> {
    if forms.is_empty() {
        return Ok(());
    }
    add(
        list,
        &[Line::Asked {
            asked: call.to_owned(),
            forms,
        }],
    )
}

/// The rules that would have answered for a call that has run, if the agent's own dialog asked about it: somebody said yes. They
/// are told once for each question.
pub(crate) fn answered(list: &Path, call: &str) -> io::Result<Vec<Vec<String>>> {
    let last = read(list).into_iter().rev().find_map(|line| match line {
        Line::Asked { asked, forms } if asked == call => Some(forms),
        Line::Answered { answered } if answered == call => Some(Vec::new()),
        Line::Asked { .. }
        | Line::Answered { .. }
        | Line::Expected { .. }
        | Line::Made(_)
        | Line::Started(_) => None,
    });
    let forms = last.unwrap_or_default();
    if !forms.is_empty() {
        let answered = call.to_owned();
        add(list, &[Line::Answered { answered }])?;
    }
    Ok(forms)
}

fn add(list: &Path, lines: &[Line]) -> io::Result<()> {
    if fs::metadata(list).is_ok_and(|found| found.len() > MAX_LIST) {
        return Ok(());
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).map_err(io::Error::other)?);
        text.push('\n');
    }
    append_private(list, text.as_bytes())
}

fn read(list: &Path) -> Vec<Line> {
    // The last addition may have gone beyond the limit by some.
    let bytes = read_bounded(list, MAX_LIST * 2).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// Whether the session made what is at a path, and all that is in it.
pub(crate) fn holds(list: &Path, path: &str) -> bool {
    read(list).into_iter().any(|line| {
        let Line::Made(made) = line else {
            return false;
        };
        is_within(path, &made.path)
            && Identity::at(Path::new(&made.path)) == Some(made.identity)
            && is_as_young(Path::new(path), &made.identity)
    })
}

/// Whether a path and all below it came after something else was made, on the same file system: what was moved there
/// is older, and what is mounted there lies elsewhere.
fn is_as_young(path: &Path, than: &Identity) -> bool {
    let began = Instant::now();
    let young = |path: &Path| {
        Identity::at(path).is_some_and(|one| one.device == than.device && one.born >= than.born)
    };
    if !young(path) {
        return false;
    }
    let mut left = MAX_ENTRIES;
    let mut open = vec![path.to_owned()];
    while let Some(directory) = open.pop() {
        if !fs::symlink_metadata(&directory).is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let Ok(entries) = fs::read_dir(&directory) else {
            return false;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                return false;
            };
            if left == 0 || began.elapsed().as_millis() > MAX_WALK_MS || !young(&entry.path()) {
                return false;
            }
            left -= 1;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    true
}

/// Whether the session started a process, or one it comes from.
pub(crate) fn started(list: &Path, process: u32) -> bool {
    is_started(&read_started(list), process)
}

/// Whether something uses a port of this machine, and all that does was started by the session.
pub(crate) fn uses_port(list: &Path, port: u16) -> bool {
    let own = read_started(list);
    !own.is_empty() && is_own_port(&own, port)
}

/// Whether a shell waits in a terminal of tmux that the session has opened.
pub(crate) fn has_terminal(list: &Path, terminal: &str) -> bool {
    let own = read_started(list);
    !own.is_empty() && is_own_terminal(&own, terminal)
}

/// Whether the session has opened a terminal of tmux, whatever runs in it now.
pub(crate) fn has_opened_terminal(list: &Path, terminal: &str) -> bool {
    let own = read_started(list);
    !own.is_empty() && runs_in_own_terminal(&own, terminal).is_some()
}

fn read_started(list: &Path) -> Vec<Started> {
    let lines = read(list).into_iter();
    lines
        .filter_map(|line| match line {
            Line::Started(started) => Some(started),
            Line::Expected { .. } | Line::Made(_) | Line::Asked { .. } | Line::Answered { .. } => {
                None
            }
        })
        .collect()
}

#[cfg(target_os = "linux")]
use processes::{
    is_own_port, is_own_terminal, is_started, own_start, runs_in_own_terminal, started_since,
};

/// Elsewhere nobody looks at processes.
#[cfg(not(target_os = "linux"))]
fn own_start() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn started_since(_: u64, _: bool) -> Vec<Started> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn is_started(_: &[Started], _: u32) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn is_own_terminal(_: &[Started], _: &str) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn runs_in_own_terminal(_: &[Started], _: &str) -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
fn is_own_port(_: &[Started], _: u16) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn place() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        let list = real.join("s/a.own");
        (home, real, list)
    }

    fn text(path: &Path) -> String {
        path.to_str().unwrap().to_owned()
    }

    /// Where the file system does not say when something was made, nothing is the session's own.
    fn knows_births(place: &Path) -> bool {
        Identity::at(place).is_some()
    }

    #[test]
    fn what_a_call_made_is_own_and_what_it_only_announced_is_not() {
        let (_home, real, list) = place();
        let made = real.join("out");
        expect(&list, "c1", vec![text(&made)], Leaving::Nothing).unwrap();
        assert!(!holds(&list, &text(&made)));
        fs::create_dir(&made).unwrap();
        assert!(!holds(&list, &text(&made)), "its result was not told");
        confirm(&list, "another").unwrap();
        assert!(!holds(&list, &text(&made)), "it is of another call");
        confirm(&list, "c1").unwrap();
        fs::write(made.join("later"), "x").unwrap();
        assert_eq!(holds(&list, &text(&made)), knows_births(&real));
        assert_eq!(
            holds(&list, &text(&made.join("later"))),
            knows_births(&real)
        );
        assert!(!holds(&list, &text(&real)));
    }

    #[test]
    fn what_took_its_place_or_was_moved_into_it_is_not_own() {
        let (_home, real, list) = place();
        let old = real.join("old");
        fs::write(&old, "precious").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let made = real.join("out");
        expect(&list, "c", vec![text(&made)], Leaving::Nothing).unwrap();
        fs::create_dir(&made).unwrap();
        confirm(&list, "c").unwrap();
        fs::rename(&old, made.join("old")).unwrap();
        assert!(!holds(&list, &text(&made)), "somebody's file is in it");
        fs::remove_dir_all(&made).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
        fs::create_dir(&made).unwrap();
        assert!(!holds(&list, &text(&made)), "it has only the name");
    }

    #[test]
    fn what_may_be_left_running_is_seen_in_the_line() {
        let leaving = |line: &str| Leaving::from_call(&ToolCall::shell(line), line);
        assert_eq!(leaving("npm run dev &"), Leaving::Processes);
        assert_eq!(leaving("nohup ./server > log 2>&1 &"), Leaving::Processes);
        assert_eq!(leaving("make && make test 2>&1 | tail"), Leaving::Nothing);
        assert_eq!(leaving("tmux new-session -d -s work"), Leaving::Terminals);
    }

    #[test]
    fn a_torn_or_missing_list_holds_nothing() {
        let (_home, real, list) = place();
        assert!(!holds(&list, "/"));
        fs::create_dir_all(real.join("s")).unwrap();
        fs::write(&list, "{\"path\":\"/\",\"device\":").unwrap();
        assert!(!holds(&list, "/") && !started(&list, 1));
    }
}
