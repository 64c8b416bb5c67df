//! Whether a process belongs to an agent's call. A person's answer never comes from there.
//!
//! Agents mark the environment of what they run. A process can drop such a mark, but not from the
//! shell that started it: every process above it is looked at, too.

use std::fmt;
use std::fs;

/// Variables agents set for the commands they run.
const MARKS: &[&str] = &[
    "AMP_THREAD_ID",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLINE_ACTIVE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "HOLDPOINT_CALL",
    "KIRO_AGENT",
    "OPENCODE",
    "QWEN_CODE",
];

/// The most processes above that are looked at: far more than people nest their shells. Of a longer chain nobody
/// can say that no agent is above it.
const MAX_ABOVE: usize = 1024;

/// Why a process is taken for an agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// An agent's mark is on it, or on one above it.
    Mark(&'static str),
    /// There are too many above it to look at all of them.
    TooDeep,
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sign::Mark(mark) => write!(f, "{mark} is set above it"),
            Sign::TooDeep => write!(f, "more than {MAX_ABOVE} processes are above it"),
        }
    }
}

/// Whether a process can be looked at. One that has gone, or is somebody else's, cannot.
#[cfg(target_os = "linux")]
pub fn can_be_seen(process: u32) -> bool {
    fs::read(format!("/proc/{process}/environ")).is_ok()
}

/// Where there is no way to look, nothing is seen that speaks against a process.
#[cfg(not(target_os = "linux"))]
pub fn can_be_seen(_process: u32) -> bool {
    true
}

/// The sign of an agent on a process or on one above it.
pub fn agent_above(process: u32) -> Option<Sign> {
    let mut process = process;
    for _ in 0..MAX_ABOVE {
        if process <= 1 {
            return None;
        }
        if let Some(mark) = marked(process) {
            return Some(Sign::Mark(mark));
        }
        process = parent_of(process)?;
    }
    Some(Sign::TooDeep)
}

/// The same for this process.
pub fn agent_above_us() -> Option<Sign> {
    let own = MARKS
        .iter()
        .find(|mark| std::env::var_os(mark).is_some_and(|value| !value.is_empty()));
    let own = own.copied().map(Sign::Mark);
    own.or_else(|| agent_above(std::process::id()))
}

/// What is said to whoever should sit at a terminal and does not.
pub const NO_TERMINAL: &str = "nobody sits at a terminal here, so nobody is signed in and nothing is let run: do it in a terminal of \
    yours. A script that should answer is a person of its own, with a token (`holdpoint people add NAME`)";

/// The terminal a process is started from, if a login leads to it.
///
/// It stops slips, and programs that were started without a terminal: one that makes a terminal of its own on a machine that
/// keeps no list of logins, too. It does not stop one that makes a terminal of its own inside the login session of its owner.
#[cfg(target_os = "linux")]
pub fn terminal_of(process: u32) -> Option<String> {
    let terminal = terminal_number(process)?;
    leads_to_login(process).then(|| terminal_name(terminal))
}

/// Where there is no way to look, a terminal is taken for there.
#[cfg(not(target_os = "linux"))]
pub fn terminal_of(_process: u32) -> Option<String> {
    Some("terminal".into())
}

/// The same for this process.
pub fn terminal_of_ours() -> Option<String> {
    terminal_of(std::process::id())
}

/// The number of the controlling terminal, as the system counts devices.
#[cfg(target_os = "linux")]
fn terminal_number(process: u32) -> Option<u32> {
    let number: i64 = stat_field(process, 4)?.parse().ok()?;
    // Written as a signed number of 32 bits.
    u32::try_from(number & 0xffff_ffff)
        .ok()
        .filter(|number| *number != 0)
}

/// `pts/3`, `tty1`; by its numbers if it is of another kind.
#[cfg(target_os = "linux")]
fn terminal_name(number: u32) -> String {
    let major = (number >> 8) & 0xfff;
    let minor = (number & 0xff) | ((number >> 12) & 0xf_ff00);
    match major {
        136..=143 => format!("pts/{}", (major - 136) * 256 + minor),
        4 => format!("tty{minor}"),
        _ => format!("terminal {major}:{minor}"),
    }
}

/// Whether a login leads to a process: the kernel has counted one for it, the system's manager keeps it in the session of one, or
/// it was brought in from outside (a container's terminal), where nothing of that is kept.
#[cfg(target_os = "linux")]
fn leads_to_login(process: u32) -> bool {
    let counted = fs::read_to_string(format!("/proc/{process}/sessionid"))
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok())
        .is_some_and(|number| number != u32::MAX);
    let kept = fs::read_to_string(format!("/proc/{process}/cgroup"))
        .is_ok_and(|groups| groups.contains("/user.slice/"));
    if counted || kept {
        return true;
    }
    let mut top = process;
    for _ in 0..MAX_ABOVE {
        match parent_of(top) {
            // Its parent is outside of what can be seen from here. The first process of all has none, either: that it has a
            // terminal says that somebody started the container at one.
            Some(0) => return top != 1 || terminal_number(1).is_some(),
            Some(parent) => top = parent,
            None => return false,
        }
    }
    false
}

/// The mark in the environment a process was started with.
fn marked(process: u32) -> Option<&'static str> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let mut names = environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let mut sides = entry.splitn(2, |byte| *byte == b'=');
            Some((sides.next()?, sides.next()?))
        })
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, _)| name);
    names.find_map(|name| MARKS.iter().find(|mark| mark.as_bytes() == name).copied())
}

fn parent_of(process: u32) -> Option<u32> {
    stat_field(process, 1)?.parse().ok()
}

/// A field of what the system says of a process, counted from behind its name.
fn stat_field(process: u32, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(number).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_mark_cannot_be_dropped_from_the_shell_above() {
        let mut child = Command::new("sh")
            .args(["-c", "env -u CLAUDECODE sleep 5; true"])
            .env("CLAUDECODE", "1")
            .spawn()
            .unwrap();
        let shell = child.id();
        let children = format!("/proc/{shell}/task/{shell}/children");
        let sleeper = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            let text = fs::read_to_string(&children).ok()?;
            let found: u32 = text.split_whitespace().next()?.parse().ok()?;
            let name = fs::read_to_string(format!("/proc/{found}/comm")).ok()?;
            (name.trim() == "sleep").then_some(found)
        });
        let sleeper = sleeper.unwrap();
        assert_eq!(marked(sleeper), None);
        assert_eq!(agent_above(sleeper), Some(Sign::Mark("CLAUDECODE")));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
